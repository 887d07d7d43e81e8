"""Equal texts, and words that exclude each other.

Two texts are the same to every store if their hashes are equal. Whether two statements mean the
same is for a judge (``standfast.understanding.judging``).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from itertools import product

from standfast.text.analysis import stem
from standfast.text.compare.parts import TextParts
from standfast.text.normal import normalise
from standfast.text.words import groups, words

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
