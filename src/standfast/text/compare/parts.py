"""What ``duplicates`` compares: one text taken apart into numbers, names, negations and words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

from standfast.text.analysis import WORDS_KEPT, diacritics, pieces, stem
from standfast.text.expressions import later
from standfast.text.normal import compatible, fold, straight
from standfast.text.words import any_of, counted, firsts, groups, meanings, word_set, words
from standfast.types.frozen import frozen

_NUMBER_WITH_UNIT = later(
    r"(?:[A-Z]{2})?[$€£¥]?\d+(?:[.,:]\d+)*(?:[A-Za-z]{1,3}|[%°]|-[A-Za-z]+)?\Z"
)
_QUOTED = later('["“„«「『]([^"“”„«»「」『』\n]{1,200})["”“»」』]')
_EDGES = "\"'“”„«»「」『』()[]{}<>.,;:!?…*`’‘"
_QUESTION = later("[?？؟]")


class Token(NamedTuple):
    """``text`` is folded; a number, date or name carries its kind beside it."""

    text: str
    kind: str = "word"  # word, number, date, comma, stop
    capital: bool = False


@frozen(kw_only=False)
class Passive:
    """``patient`` is being ``verb``-ed by ``agent`` (which may be unknown)."""

    verb: str
    patient: str
    agent: str

    def is_told_by(self, active: TextParts) -> bool:
        """Does the other text, in the active voice, give both the same part?"""
        if self.verb not in active.ordered:
            return False
        at = active.ordered.index(self.verb)
        before, after = active.ordered[:at], active.ordered[at + 1 :]
        if self.agent and self.agent not in before:
            return False
        return self.patient in after


class TextParts:
    """What a text consists of. Each part is read when it is asked for: of most texts that are held
    against a new one, the words alone show that they are about something else."""

    def __init__(self, text: str) -> None:
        self._plain = straight(compatible(text)).replace("n 't", "n't")
        identifiers, self._tokens, self.dense = _tokens(self._plain)
        self.identifiers = frozenset(identifiers)

    @cached_property
    def content(self) -> tuple[str, ...]:
        """Canonical words, in order."""
        empty = _empty_words()
        return tuple(
            [
                canonical(token.text) if token.kind == "word" else token.text
                for token in self._tokens
                if (token.text not in empty if token.kind == "word" else _is_content(token))
            ]
        )

    @cached_property
    def content_set(self) -> frozenset[str]:
        return frozenset(self.content)

    @cached_property
    def word_set(self) -> frozenset[str]:
        return self._of_kind("word")

    @cached_property
    def numbers(self) -> frozenset[str]:
        return self._of_kind("number") | (
            frozenset(self.dense) & word_set("compare.dense_numerals")
        )

    @cached_property
    def dates(self) -> frozenset[str]:
        return self._of_kind("date")

    def _of_kind(self, kind: str) -> frozenset[str]:
        return frozenset(token.text for token in self._tokens if token.kind == kind)

    @cached_property
    def quotations(self) -> frozenset[str]:
        return frozenset(fold(found).strip(_EDGES) for found in _QUOTED.findall(self._plain))

    @cached_property
    def written(self) -> dict[str, str]:
        """Each name as it is written, but for its capital, and in the form that ``content`` has."""
        return _names(self._tokens)

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(self.written.values())

    @cached_property
    def capitals(self) -> frozenset[str]:
        return frozenset(token.text for token in self._tokens if token.capital)

    @cached_property
    def diacritics(self) -> Mapping[str, str]:
        """Words that are written with an accent, by those without it; not with ё, which people
        leave out at will."""
        found = diacritics(self._plain)
        return {bare: word for bare, word in found if word.replace("\u0451", "\u0435") != bare}

    @cached_property
    def persons(self) -> frozenset[str]:
        persons = firsts("compare.persons")
        return frozenset(persons[one.text] for one in self._tokens if one.text in persons)

    @cached_property
    def modals(self) -> frozenset[str]:
        modals = firsts("compare.modals")
        return frozenset(modals[word] for word in self.word_set if word in modals)

    @cached_property
    def negated(self) -> tuple[str, ...]:
        """What follows each negation."""
        return _negated(self._tokens, self.dense)

    @cached_property
    def ordered(self) -> tuple[str, ...]:
        """The content, with harmless reorderings undone."""
        return _ordered(self._tokens)

    @cached_property
    def passives(self) -> tuple[Passive, ...]:
        return _passives(self._tokens)

    @cached_property
    def _verbs(self) -> tuple[frozenset[str], frozenset[str]]:
        return _tenses(self._tokens)

    @property
    def past_verbs(self) -> frozenset[str]:
        return self._verbs[0]

    @property
    def present_verbs(self) -> frozenset[str]:
        return self._verbs[1]

    @cached_property
    def symbols(self) -> frozenset[str]:
        if self._plain.isascii():
            return frozenset()
        return frozenset(c for c in self._plain if c > "\u2000" and unicodedata.category(c) == "So")

    @cached_property
    def question(self) -> bool:
        return _is_question(self._plain, self._tokens, self.dense)

    def has_active(self, verb: str) -> bool:
        return verb in self.content and all(voice.verb != verb for voice in self.passives)


CACHED_LENGTH_MAX = 2000
CACHED_CHUNK_MAX = 32


def read(text: str) -> TextParts:
    """A new text is compared with many known ones: short ones are read once."""
    return _read_once(text) if len(text) <= CACHED_LENGTH_MAX else TextParts(text)


@lru_cache(maxsize=1000)
def _read_once(text: str) -> TextParts:
    return TextParts(text)


def identifiers(text: str) -> frozenset[str]:
    """Only those: addresses, file names, versions and names from programs."""
    bare = [one.strip(_EDGES) for one in text.split() if len(one) <= CACHED_CHUNK_MAX]
    return frozenset([one.casefold() for one in bare if not _is_plain(one) and _is_identifier(one)])


@cache
def _equals() -> dict[str, str]:
    return {stem(word): stem(line[0]) for line in groups("compare.equals") for word in line}


@lru_cache(maxsize=WORDS_KEPT)
def canonical(word: str) -> str:
    """One form for all inflections and for words that say the same."""
    stemmed = stem(word)
    return _equals().get(stemmed, stemmed)


@cache
def _same() -> Mapping[str, Sequence[str]]:
    found: dict[str, list[str]] = {}
    for stemmed, first in _equals().items():
        found.setdefault(first, []).append(stemmed)
    return found


def stems_of(meant: str) -> Sequence[str]:
    """The stems of other words that have this canonical form."""
    return _same().get(meant, ())


def _canonical_of(token: Token) -> str:
    return canonical(token.text) if token.kind == "word" else token.text


def _is_content(token: Token) -> bool:
    if token.kind != "word":
        return token.kind in ("number", "date") and token.text != "one"
    return token.text not in _empty_words()


@cache
def _empty_words() -> frozenset[str]:
    """Words that are no content by themselves."""
    modals = firsts("compare.modals").keys()
    return word_set("compare.function_words") | word_set("compare.negators") | modals


def _tokens(text: str) -> tuple[list[str], list[Token], str]:
    chunks = [
        _chunk_once(chunk) if len(chunk) <= CACHED_CHUNK_MAX else _chunk(chunk)
        for chunk in text.split()
    ]
    tokens = [token for chunk in chunks for token in chunk.tokens]
    identifiers = [chunk.identifier for chunk in chunks if chunk.identifier]
    if not _counting().isdisjoint([token.text for token in tokens]):
        tokens = list(_spell_out(tokens))
    return identifiers, tokens, "".join([chunk.dense for chunk in chunks])


class _Chunk(NamedTuple):
    """What stands between two blanks."""

    identifier: str
    tokens: tuple[Token, ...]
    dense: str


@lru_cache(maxsize=10_000)
def _chunk_once(chunk: str) -> _Chunk:
    return _chunk(chunk)


def _is_plain(chunk: str) -> bool:
    """A word of plain letters, as most are."""
    return chunk.isascii() and chunk.isalpha() and (chunk.islower() or chunk[1:].islower())


def _chunk(chunk: str) -> _Chunk:
    if _is_plain(chunk):
        return _plain_word(chunk)
    bare = chunk.strip(_EDGES)
    if _is_identifier(bare):
        comma = (Token(",", "comma"),) if chunk[-1] in ",;" else ()
        return _Chunk(bare.casefold(), comma, "")
    tokens: list[Token] = []
    dense: list[str] = []
    for match in pieces(_join_initials(chunk)):
        if match.lastgroup == "dense":
            dense.append(match.group())
        else:
            tokens.extend(_tokens_of(match))
    return _Chunk("", tuple(tokens), "".join(dense))


def _plain_word(word: str) -> _Chunk:
    lowered = word.lower()
    if lowered == "cannot":
        return _Chunk("", tuple(_split_word(word)), "")
    return _Chunk("", (_word_token(lowered, lowered != word),), "")


def _is_identifier(chunk: str) -> bool:
    """An address, file name, handle, version or name from a program: compared as a whole."""
    if _NUMBER_WITH_UNIT.match(chunk):
        return False
    if "://" in chunk or "@" in chunk or "_" in chunk.strip("_") or chunk[:1] in ("#", "/", "~"):
        return True
    if not chunk.isascii():
        return False
    inner = [part for part in re.split(r"[./\\:]", chunk) if part]
    if len(inner) > 1 and ("." in chunk or "\\" in chunk or chunk.count("/") > 1):
        return any(len(part) > 1 for part in inner) and not all(p.isdigit() for p in inner)
    letters = chunk.replace("'", "")
    mixed = any(c.isdigit() for c in letters) and any(c.isalpha() for c in letters)
    camel = letters.isalpha() and re.search("[a-z][A-Z]", letters) is not None
    return (mixed and "-" not in letters and not _ordinal().match(letters)) or camel


@cache
def _ordinal() -> re.Pattern[str]:
    endings = any_of(words("compare.ordinal_endings"))
    return re.compile(rf"(\d+)(?:{endings})\Z", re.IGNORECASE)


def _join_initials(chunk: str) -> str:
    """ "U.S." and "p.m." are one word."""
    parts = chunk.strip(_EDGES).split(".")
    if len(parts) > 1 and all(len(part) == 1 and part.isalpha() for part in parts):
        return "".join(parts) + ("," if chunk[-1] in ",;" else "")
    return chunk


def _tokens_of(match: re.Match[str]) -> Iterator[Token]:
    kind, text = match.lastgroup, match.group()
    if kind == "number":
        yield Token(_plain_number(text), "number")
    elif kind == "mark":
        yield Token(text, "number")
    elif kind in ("comma", "stop"):
        yield Token(text[0], kind)
    else:
        yield from _split_word(text)


def _plain_number(text: str) -> str:
    """ "1,000.50" -> "1000.5"; a comma before anything but three digits is a decimal one."""
    sign = "-" if text[0] in "-\u2212" else ""
    digits = "".join(
        str(unicodedata.digit(c)) if c.isdigit() else c for c in text.lstrip("-\u2212")
    )
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", digits):
        digits = digits.replace(",", "")
    elif re.fullmatch(r"\d{1,3}(?:\.\d{3}){2,}", digits):
        digits = digits.replace(".", "")
    digits = digits.replace(",", ".")
    if digits.count(".") == 1:
        digits = digits.rstrip("0").rstrip(".")
    return sign + (digits.lstrip("0") or "0")


def _split_word(word: str) -> Iterator[Token]:
    """Contractions come apart: "isn't" -> is not, "l'ami" -> l' ami, "Ann's" -> ann."""
    capital = word[0].isupper() and word != "I" and not word.startswith("I'")
    folded = fold(word)
    if folded.endswith("n't") or folded == "cannot":
        base = meanings("compare.negated_stems").get(folded[:-3], folded[:-3])
        yield from (Token("can" if folded == "cannot" else base), Token("not"))
        return
    left, apostrophe, right = folded.partition("'")
    if not apostrophe:
        yield _word_token(folded, capital)
    elif left in word_set("compare.elided"):
        yield Token(left + "'")
        yield _word_token(right, word.partition("'")[2][:1].isupper())
    else:
        yield _word_token(left, capital)
        # After a name 's shows the owner, after a pronoun it is a verb.
        if right != "s" or left in word_set("compare.before_is"):
            yield Token("'" + right)


def _word_token(word: str, capital: bool) -> Token:
    dates, capital_dates = meanings("compare.dates"), word_set("compare.capital_dates")
    if word in dates and (capital or word not in capital_dates):
        return Token(dates[word], "date", capital)
    if word.endswith("s") and word[:-1] in dates and word[:-1] not in capital_dates:
        return Token(dates[word[:-1]], "date", capital)
    return Token(word, "word", capital)


def _spell_out(tokens: Sequence[Token]) -> Iterator[Token]:
    """Number words become numbers: "twenty five" -> 25, "two hundred" -> 200, "2nd" -> #2."""
    pending: int | None = None
    scales = counted("compare.scales")
    for index, token in enumerate(tokens):
        value = _value(token)
        if token.text in scales and pending is not None:
            pending *= scales[token.text]
        elif value is not None and pending is not None and pending % 10 == 0 and value < 10:
            pending += value
        elif value is not None and value != 1:
            if pending is not None:
                yield Token(str(pending), "number")
            pending = value
        else:
            if pending is not None:
                yield Token(str(pending), "number")
                pending = None
            yield _ordinal_or_same(tokens, index)
    if pending is not None:
        yield Token(str(pending), "number")


@cache
def _counting() -> frozenset[str]:
    """The words that ``_spell_out`` makes something else of."""
    named = ("amounts", "ordinal_endings", "day_halves")
    return frozenset(("one",)).union(
        _number_words(),
        counted("compare.scales"),
        counted("compare.ordinals"),
        *(word_set(f"compare.{name}") for name in named),
    )


def _value(token: Token) -> int | None:
    return _number_words().get(token.text) if token.kind == "word" else None


@cache
def _number_words() -> Mapping[str, int]:
    return {**counted("compare.tens"), **counted("compare.numbers")}


def _ordinal_or_same(tokens: Sequence[Token], index: int) -> Token:
    token = tokens[index]
    if token.kind != "word":
        return token
    if place := counted("compare.ordinals").get(token.text):
        return Token(f"#{place}", "number")
    if token.text in word_set("compare.amounts") or token.text in counted("compare.scales"):
        return Token(token.text, "number")
    if token.text == "one":
        return Token("one", "number")
    if index and (tokens[index - 1].kind == "number" or _value(tokens[index - 1]) is not None):
        if token.text in word_set("compare.ordinal_endings"):
            return Token("#", "number")
        if token.text in word_set("compare.day_halves"):
            return Token(token.text, "number")
    return token


def _names(tokens: Sequence[Token]) -> dict[str, str]:
    """Words with a capital that the beginning of a sentence does not explain."""
    found: dict[str, str] = {}
    beginning = True
    for index, token in enumerate(tokens):
        follower = tokens[index + 1] if index + 1 < len(tokens) else None
        in_sequence = follower is not None and follower.capital and follower.kind == "word"
        # A single letter names something too: "team A", but not "A team".
        is_letter = len(token.text) == 1 and not beginning
        is_name = token.capital and (_is_content(token) or is_letter)
        if is_name and (in_sequence or not beginning):
            found[token.text] = _canonical_of(token)
        beginning = token.kind == "stop"
    return found


def _negated(tokens: Sequence[Token], dense: str) -> tuple[str, ...]:
    found: list[str] = []
    open_negations = 0
    for index, token in enumerate(tokens):
        if token.kind == "word" and _negates(tokens, index):
            open_negations += 1
        elif _is_content(token):
            found.extend([_canonical_of(token)] * open_negations)
            open_negations = 0
    found.extend([""] * open_negations)
    for harmless in words("compare.dense_not_negating"):
        dense = dense.replace(harmless, "")
    for negator in words("compare.dense_negators"):
        found.extend([negator] * dense.count(negator))
    return tuple(found)


def _negates(tokens: Sequence[Token], index: int) -> bool:
    word = tokens[index].text
    follower = tokens[index + 1].text if index + 1 < len(tokens) else ""
    if word == "used" and follower == "to":
        return True
    if word == "not" and follower == "only":
        return False
    return word in word_set("compare.negators")


def _tenses(tokens: Sequence[Token]) -> tuple[frozenset[str], frozenset[str]]:
    past: set[str] = set()
    present: set[str] = set()
    be, have, articles = (
        word_set("compare.be"),
        word_set("compare.have"),
        word_set("compare.articles"),
    )
    before = ""
    for token in tokens:
        word = token.text
        if token.kind == "word" and _is_content(token):
            verb = canonical(word)
            if before in be and word.endswith("ing"):
                (past if before in word_set("compare.past_auxiliaries") else present).add(verb)
            elif word.endswith("ed") or word in word_set("compare.irregular_pasts"):
                if before not in be and before not in have:
                    past.add(verb)
            elif not word.endswith("ing") and before not in articles and before != "to":
                present.add(verb)
        if not word.endswith("ly"):
            before = word
    return frozenset(past), frozenset(present)


def _passives(tokens: Sequence[Token]) -> tuple[Passive, ...]:
    found: list[Passive] = []
    for index, token in enumerate(tokens):
        if not _is_content(token) or token.kind != "word" or token.text.endswith("ing"):
            continue
        earlier = [t.text for t in tokens[max(0, index - 3) : index] if not t.text.endswith("ly")]
        later = [t.text for t in tokens[index + 1 : index + 8]]
        by = later.index("by") if "by" in later else -1
        before = earlier[-1] if earlier else ""
        if (
            before == "being"
            or (before in word_set("compare.be") and by >= 0)
            or (by == 0 and token.text.endswith(("ed", "en")))
        ):
            agent = _head(tokens, index + 2 + by) if by >= 0 else ""
            found.append(Passive(_canonical_of(token), _head(tokens, 0), agent))
    return tuple(found)


def _head(tokens: Sequence[Token], start: int) -> str:
    """The last of the first words with meaning: "by a young man in a hat" -> man."""
    head = ""
    for token in tokens[start : start + 12]:
        if _is_content(token):
            head = _canonical_of(token)
        elif head:
            break
    return head


def _ordered(tokens: Sequence[Token]) -> tuple[str, ...]:
    tokens = _fronted_phrase_last(tokens)
    dates = sum(token.kind == "date" for token in tokens)
    items: list[str] = []
    chain = 1  # how many words at the end of items are joined by "and"
    link: list[str] = []  # the words without meaning since the last one with meaning
    for token in tokens:
        if not _is_content(token) or token.text.endswith("ly"):
            link.append(token.text)
            continue
        if token.kind == "date" and dates == 1:
            continue  # "tomorrow" may stand anywhere
        bare = [text for text in link if text not in word_set("compare.articles")]
        link = []
        if items and bare in (["and"], ["or"], [",", "and"]):
            items.append(_canonical_of(token))
            chain += 1
            continue
        items[-chain:] = sorted(items[-chain:])
        chain = 1
        _append(items, _canonical_of(token), bare)
    items[-chain:] = sorted(items[-chain:])
    return tuple(items)


def _append(items: list[str], word: str, link: Sequence[str]) -> None:
    if not items or not _describes(link):
        items.append(word)
        return
    if items[-1] == "make":  # "made of"
        items.pop()
    items.insert(max(0, len(items) - 1), word)


def _describes(link: Sequence[str]) -> bool:
    """ "a dune of sand", "pieces that are thin": the second word describes the first."""
    if list(link) == ["of"]:
        return True
    tail = [text for text in link if text != ","]
    return (
        len(tail) == 2
        and tail[0] in ("that", "which", "who")
        and tail[1] in ("is", "are", "was", "were")
    )


def _fronted_phrase_last(tokens: Sequence[Token]) -> Sequence[Token]:
    """ "In Berlin, Ann works" is read as "Ann works in Berlin"."""
    if not tokens or tokens[0].text not in word_set("compare.prepositions"):
        return tokens
    for index, token in enumerate(tokens[:8]):
        if token.kind == "comma":
            return [*tokens[index + 1 :], *tokens[:index]]
    return tokens


def _is_question(text: str, tokens: Sequence[Token], dense: str) -> bool:
    if _QUESTION.search(text):
        return True
    if dense and any(dense.endswith(ending) for ending in words("compare.dense_questions")):
        return True
    return bool(tokens) and tokens[0].text in word_set("compare.question_openers")
