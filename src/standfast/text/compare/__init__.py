"""Do two similar texts say the same? A guard behind the similarity of vectors.

Vectors of "I like tea" and "I do not like tea" are close, and so are those of two facts that
differ in one number or name. ``difference`` looks for what sets such texts apart. It prefers
to keep two memories over losing one: whatever it cannot match counts as different.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from hashlib import blake2b
from itertools import product

from standfast.text.analysis import stem
from standfast.text.compare.parts import TextParts, canonical, read
from standfast.text.normal import normalise
from standfast.text.words import groups, word_set, words

# How many further words one text may have and still say the same.
ENRICHMENT_WORDS_MAX = 2
COMPARED_MAX = 2_000  # characters: what is longer is a document, the same one or another
_REDACTED = "[redacted:"  # as ``standfast.text.redact`` writes it


def text_hash(text: str) -> str:
    """32 hexadecimal digits, equal for texts that are equal after ``normalise``."""
    data = normalise(text).encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=16).hexdigest()


def hides_value(text: str) -> bool:
    """Was a secret taken out of it? Two such texts may read alike and tell of two PINs."""
    return _REDACTED in text


def record_hash(text: str) -> str:
    """The hash by which a record's text is live only once in a scope; "" equals nothing."""
    return "" if hides_value(text) else text_hash(text)


def are_long(*texts: str) -> bool:
    """Is one of them too long to be held against another word by word? A short text may have
    long neighbours, and whoever says something short must not wait for all of them."""
    return any(len(text) > COMPARED_MAX for text in texts)


def difference(a: str, b: str) -> str:
    """Why two similar texts are not the same statement; empty if nothing stands against it.
    Swapping the texts swaps the words in the reason, never the verdict."""
    if _hide_values(a, b):
        return _UNKNOWN
    if _are_equal(a, b):
        return ""
    if are_long(a, b):
        return "one of them is too long to be compared"
    return next(_found(a, b), ("", ""))[1]


def each_difference(a: str, b: str) -> Iterator[tuple[str, str]]:
    """Everything that ``difference`` has against two texts, one after the other: the kind of each
    difference and the reason in words."""
    if _hide_values(a, b):
        return iter((("redaction", _UNKNOWN),))
    return iter(()) if _are_equal(a, b) else _found(a, b)


_UNKNOWN = "redacted values may differ"


def _hide_values(a: str, b: str) -> bool:
    return hides_value(a) and hides_value(b)


def _are_equal(a: str, b: str) -> bool:
    return _normal(a) == _normal(b)


def _normal(text: str) -> str:
    """A new text is held against many known ones, several times each."""
    return _normal_once(text) if len(text) <= COMPARED_MAX else normalise(text)


_normal_once = lru_cache(maxsize=1000)(normalise)


def _found(a: str, b: str) -> Iterator[tuple[str, str]]:
    first, second = read(a), read(b)
    for kind, check in _CHECKS.items():
        reason = check(first, second)
        if reason:
            yield kind, reason


def _against(what: str, a: Iterable[str], b: Iterable[str]) -> str:
    left, right = " ".join(sorted(a)[:5]), " ".join(sorted(b)[:5])
    return f"{what} {left or 'missing'} against {right or 'missing'}"


def _question(a: TextParts, b: TextParts) -> str:
    return "question against statement" if a.question != b.question else ""


def _identifier(a: TextParts, b: TextParts) -> str:
    if a.identifiers == b.identifiers:
        return ""
    return _against("name", a.identifiers - b.identifiers, b.identifiers - a.identifiers)


def _quotation(a: TextParts, b: TextParts) -> str:
    if not a.quotations or not b.quotations or a.quotations == b.quotations:
        return ""
    return _against("quotation", a.quotations - b.quotations, b.quotations - a.quotations)


def _number(a: TextParts, b: TextParts) -> str:
    only_a, only_b = a.numbers - b.numbers, b.numbers - a.numbers
    # "one" is often no count: "one man" and "a man".
    if {*only_a, *only_b} == {"one"}:
        return ""
    return _against("number", only_a, only_b) if only_a or only_b else ""


def _date(a: TextParts, b: TextParts) -> str:
    only_a, only_b = a.dates - b.dates, b.dates - a.dates
    return _against("date", only_a, only_b) if only_a or only_b else ""


def _negation(a: TextParts, b: TextParts) -> str:
    if len(a.negated) != len(b.negated):
        return "negation"
    if sorted(a.negated) != sorted(b.negated):
        return _against("negation of", set(a.negated), set(b.negated))
    return ""


def _modality(a: TextParts, b: TextParts) -> str:
    return _against("modality", a.modals, b.modals) if a.modals != b.modals else ""


def _person(a: TextParts, b: TextParts) -> str:
    only_a, only_b = a.persons - b.persons, b.persons - a.persons
    return _against("person", only_a, only_b) if only_a and only_b else ""


def _opposite(a: TextParts, b: TextParts) -> str:
    return next((f"{word} against {other}" for word, other in opposite_words(a, b)), "")


def opposite_words(a: TextParts, b: TextParts) -> Iterator[tuple[str, str]]:
    """Words of only one text, each with its opposite among those of only the other."""
    only_a, only_b = a.word_set - b.word_set, b.word_set - a.word_set
    prefixes = words("compare.opposing_prefixes")
    stems_a = {stem(word): word for word in only_a}
    stems_b = {stem(word): word for word in only_b}
    for stemmed, word in stems_a.items():
        others = _opposites().get(stemmed, frozenset()) | {
            *(prefix + stemmed for prefix in prefixes),
            *(stemmed.removeprefix(prefix) for prefix in prefixes),
        } - {stemmed}
        yield from ((word, stems_b[other]) for other in sorted(others & stems_b.keys()))


def _place(a: TextParts, b: TextParts) -> str:
    strong = word_set("compare.strong_prepositions")
    strong_a = {canonical(w) for w in (a.word_set - b.word_set) & strong}
    strong_b = {canonical(w) for w in (b.word_set - a.word_set) & strong}
    only_a, only_b = strong_a - strong_b, strong_b - strong_a
    return _against("place", only_a, only_b) if only_a and only_b else ""


def _tense(a: TextParts, b: TextParts) -> str:
    auxiliaries = word_set("compare.past_auxiliaries")
    for past, present in ((a, b), (b, a)):
        changed = past.past_verbs & present.present_verbs - present.past_verbs
        if changed:
            return f"tense of {min(changed)}"
        was = past.word_set & auxiliaries
        if was and not present.word_set & auxiliaries:
            now = present.word_set & word_set("compare.present_auxiliaries") - past.word_set
            if now:
                return f"tense {min(was)} against {min(now)}"
    return ""


def _symbol(a: TextParts, b: TextParts) -> str:
    only_a, only_b = a.symbols - b.symbols, b.symbols - a.symbols
    return _against("symbol", only_a, only_b) if only_a and only_b else ""


def _name(a: TextParts, b: TextParts) -> str:
    only_a, only_b = _only_named(a, b), _only_named(b, a)
    return _against("name", only_a, only_b) if only_a or only_b else ""


def _only_named(a: TextParts, b: TextParts) -> set[str]:
    """Names of one that the other has neither as a name nor as a plain word, or with other accents.
    A name has no other forms: Boots is not Boot; but two words for the same thing are one."""
    same = {bare: a.diacritics.get(bare, bare) for bare in a.capitals & b.capitals}
    other_accents = {w for bare, w in same.items() if w != b.diacritics.get(bare, bare)}
    plain = b.content_set - {form for name, form in b.written.items() if form == stem(name)}
    return other_accents | {
        name
        for name, form in a.written.items()
        if name not in b.written
        and form not in plain
        and (form == stem(name) or form not in b.names)
    }


def _content(a: TextParts, b: TextParts) -> str:
    only_a = _unmatched(a, b)
    only_b = _unmatched(b, a)
    if only_a and only_b:
        # "back yard" and "backyard"
        if "".join(only_a) == "".join(only_b):
            return ""
        return _against("word", only_a, only_b)
    further = [word for word in only_a or only_b if word not in word_set("compare.fillers")]
    if len(further) > ENRICHMENT_WORDS_MAX:
        return f"more is said: {' '.join(further[:5])}"
    return ""


def _unmatched(a: TextParts, b: TextParts) -> list[str]:
    known = b.content_set
    return list(dict.fromkeys(word for word in a.content if word not in known))


def _dense(a: TextParts, b: TextParts) -> str:
    """Scripts without blanks have no words to match, so only the part in the middle that is
    not common to both is looked at."""
    left, right = _middle(a.dense, b.dense)
    if {*left, *right} <= word_set("compare.dense_fillers"):
        return ""
    return f"{left[:20] or 'nothing'} against {right[:20] or 'nothing'}"


def _middle(a: str, b: str) -> tuple[str, str]:
    shorter = min(len(a), len(b))
    start = next((i for i in range(shorter) if a[i] != b[i]), shorter)
    a, b = a[start:], b[start:]
    shorter = min(len(a), len(b))
    end = next((i for i in range(shorter) if a[-1 - i] != b[-1 - i]), shorter)
    return a[: len(a) - end], b[: len(b) - end]


def _order(a: TextParts, b: TextParts) -> str:
    """The same words in another order ("Ann loves Bob") differ, unless one of the texts is
    in the passive voice and turns them around for that reason."""
    for passive, active in ((a, b), (b, a)):
        for voice in passive.passives:
            if active.has_active(voice.verb):
                return "" if voice.is_told_by(active) else "order of words"
    alike = _in_order(a.ordered, b.ordered) or _in_order(a.content, b.content)
    return "" if alike else "order of words"


def _in_order(a: Sequence[str], b: Sequence[str]) -> bool:
    """Do the words that both have follow each other in the same order?"""
    shared = set(a) & set(b)
    order_a = [word for word in a if word in shared]
    order_b = [word for word in b if word in shared]
    if len(order_a) != len(order_b):
        order_a, order_b = list(dict.fromkeys(order_a)), list(dict.fromkeys(order_b))
    return order_a == order_b


@cache
def _opposites() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in groups("compare.opposites"):
        columns = [[stem(word) for word in column.split("/")] for column in line]
        for column, other in product(columns, columns):
            if column is not other:
                for word in column:
                    found.setdefault(word, set()).update(other)
    return {word: frozenset(others) for word, others in found.items()}


_CHECKS: Mapping[str, Callable[[TextParts, TextParts], str]] = {
    "question": _question,
    "identifier": _identifier,
    "number": _number,
    "date": _date,
    "negation": _negation,
    "modality": _modality,
    "opposite": _opposite,
    "place": _place,
    "person": _person,
    "tense": _tense,
    "quotation": _quotation,
    "symbol": _symbol,
    "name": _name,
    "content": _content,
    "dense": _dense,
    "order": _order,
}
