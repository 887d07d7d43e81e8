"""An embedder without a model: words and their letters hashed into a fixed number of places.

It knows no synonyms. It finds texts that share words, stems or, after a typo, most letters.
Every number comes from blake2b, additions and square roots, so the same text gives the same
vector in every process and on every machine.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from hashlib import blake2b

from standfast.errors import Invalid
from standfast.ports import BESIDE_CHARACTERS, beside, breath
from standfast.text import analysis

DIMENSIONS = 384
FEW = 8  # texts that keep nobody waiting

# All trigrams of a word together weigh this much beside the word itself. Between 0.5 and 1.5
# the rank correlation with human similarity ratings hardly moves; 0.7 keeps typos findable.
_TRIGRAMS_WEIGHT = 0.7
# Single characters of scripts without blanks say less than pairs.
_SHORT_PIECE_WEIGHT = 0.5
_CACHED_WORD_LENGTH_MAX = 32

# Stored vectors are of words without it, whatever the words of an index have.
_WITHOUT_BREVE = str.maketrans("йў", "иу")

Feature = tuple[int, float]


class HashingEmbedder:
    """Implements ``ports.Embedder``. A text without any word gives the zero vector, which
    has no direction: the caller treats it as "no vector"."""

    local = True

    def __init__(self, dimensions: int = DIMENSIONS) -> None:
        if dimensions < 1:
            raise Invalid(f"the hashing embedder needs at least 1 dimension, not {dimensions}")
        self._dimensions = dimensions

    @property
    def space(self) -> str:
        return f"hashing/{self._dimensions}"

    @property
    def dimensions(self) -> int:
        return self._dimensions

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector per text, of length 1 (or 0, see above)."""
        length = sum(map(len, texts))
        if len(texts) <= FEW and length <= BESIDE_CHARACTERS:
            return [self.vector(text) for text in texts]
        vectors = []
        for text in texts:
            await breath()
            vectors.append(await beside(len(text), partial(self.vector, text)))
        return vectors

    def vector(self, text: str) -> list[float]:
        places = [0.0] * self._dimensions
        for word, count in _content_words(text).items():
            weight = math.sqrt(count)  # the tenth mention says less than the first
            for place, value in _features(word, self._dimensions):
                places[place] += weight * value
        # fsum: the plain sum of floats differs between versions of Python.
        length = math.sqrt(math.fsum([value * value for value in places if value]))
        return [value / length for value in places] if length else places


def _content_words(text: str) -> Mapping[str, int]:
    """Words with their counts, without stop words unless there are only those."""
    found = Counter(analysis.words(text))
    kept = {word: count for word, count in found.items() if not _is_stop_word(word)} or found
    return {word.translate(_WITHOUT_BREVE): count for word, count in kept.items()}


def _is_stop_word(word: str) -> bool:
    if not word.isalnum():  # an apostrophe, perhaps
        word = word.replace("\u2019", "").replace("'", "")
    return analysis.is_stop_word(word)


def _features(word: str, dimensions: int) -> tuple[Feature, ...]:
    if len(word) > _CACHED_WORD_LENGTH_MAX:
        return _make_features(word, dimensions)
    return _cached_features(word, dimensions)


@lru_cache(maxsize=20_000)
def _cached_features(word: str, dimensions: int) -> tuple[Feature, ...]:
    return _make_features(word, dimensions)


def _make_features(word: str, dimensions: int) -> tuple[Feature, ...]:
    """Where a word lands, and with which sign and weight."""
    is_plain = word.isascii() and word.isalnum()
    pieces = [analysis.stemmed(word)] if is_plain else analysis.terms(word)
    if len(pieces) == 1:
        trigrams = _trigrams(word)
        weight = _TRIGRAMS_WEIGHT / math.sqrt(len(trigrams))
        letters = [_place_of_letters(part, dimensions) for part in trigrams]
        stem = _place(f"word:{pieces[0]}", dimensions)
        return (stem, *[(place, weight * sign) for place, sign in letters])
    longest = max(map(len, pieces), default=0)
    places = [_place(f"word:{part}", dimensions) for part in pieces]
    weights = [1.0 if len(part) == longest else _SHORT_PIECE_WEIGHT for part in pieces]
    return tuple((place, w * sign) for (place, sign), w in zip(places, weights, strict=True))


def _trigrams(word: str) -> list[str]:
    padded = f"<{word}>"
    return [padded[start : start + 3] for start in range(max(1, len(padded) - 2))]


@lru_cache(maxsize=50_000)
def _place_of_letters(part: str, dimensions: int) -> Feature:
    """Kept, because the same three letters stand in many words."""
    return _place(f"letters:{part}", dimensions)


def _place(name: str, dimensions: int) -> Feature:
    """A place, and a sign."""
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    number = int.from_bytes(digest, "little")
    # The sign comes from a bit that does not choose the place, so collisions cancel out.
    return (number >> 1) % dimensions, 1.0 if number & 1 else -1.0
