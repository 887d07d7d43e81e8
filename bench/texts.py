"""Texts and vectors that look real: a Zipf vocabulary of made-up words, topics, fixed seeds.

Everything follows from a seed and a position, so the same records can be made again for a
baseline or in another order, and nothing has to be kept.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

SEED = 20260101
DIMENSIONS = 384
SPACE = f"bench/{DIMENSIONS}"
VOCABULARY = 30_000
TOPICS = 200
TOPIC_WORDS = 400
COMMON_WORDS = 200  # too common to mark a topic
WORDS_MIN, WORDS_MAX = 8, 40
CHUNK = 1000  # records that are made together

# About the mix of English prose; the rest is drawn from the whole vocabulary.
FUNCTION_SHARE = 0.42
TOPIC_SHARE = 0.28
# Beside a centre of length 1: two texts of a topic have a cosine of about 0.6.
NOISE_LENGTH = 0.8

FUNCTION_WORDS = """the of and to in a is that it was for on are as with his they at be this from
I have or by one had not but what all were when we there can an your which their said if do will
each about how up out them then she many some so these would other into has more her two like him
see time could no make than first been its who now people my made over did down only way find use
may long little very after called just where most know""".split()

_ONSETS = """b c d f g h j k l m n p r s t v w y bl br ch cl cr dr fl fr gl gr pl pr qu sc sh sl sm
sn sp st str sw th tr wh""".split()
_NUCLEI = "a e i o u a e i o ai ea ee ie oa oo ou ay er or ar".split()
_CODAS = [
    "",
    "",
    "",
    *"b ck d ft g l ll lt m mp n nd ng nk nt p r rd rk rm rn s sh ss st t x".split(),
]
_ENDINGS = ["", "", "", "", *"s ed ing er ly ness ment ion able al ive y".split()]


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    vector: bytes


@dataclass(frozen=True, slots=True)
class Chunk:
    texts: list[str]
    vectors: Array  # float32, one row per text, length 1


class Corpus:
    def __init__(self, seed: int = SEED) -> None:
        rng = np.random.default_rng(seed)
        self._seed = seed
        self.words = np.array([*FUNCTION_WORDS, *_made_up_words(VOCABULARY, seed)], dtype=object)
        self._functions = _zipf(len(FUNCTION_WORDS))
        self._general = _zipf(VOCABULARY)
        self._in_topic = _zipf(TOPIC_WORDS)
        self._topics = rng.integers(COMMON_WORDS, VOCABULARY, (TOPICS, TOPIC_WORDS))
        self._centres = _unit(rng.standard_normal((TOPICS, DIMENSIONS), dtype=np.float32))

    def chunk(self, number: int) -> Chunk:
        """Records ``number * CHUNK`` and the following ``CHUNK - 1``."""
        rng = np.random.default_rng((self._seed, 1, number))
        topics = rng.integers(0, TOPICS, CHUNK)
        lengths = rng.integers(WORDS_MIN, WORDS_MAX + 1, CHUNK)
        words = self.words[self._draw(rng, np.repeat(topics, lengths))].tolist()
        ends = np.cumsum(lengths).tolist()
        starts = [0, *ends[:-1]]
        texts = [
            f"{' '.join(words[start:end]).capitalize()}."
            for start, end in zip(starts, ends, strict=True)
        ]
        return Chunk(texts, self._around(rng, topics))

    def records(self, start: int, end: int, size: int) -> Iterator[tuple[int, Chunk]]:
        """The records from ``start`` to before ``end`` in pieces of ``size`` or less, each with
        the number of its first record."""
        for number in range(start // CHUNK, -(-end // CHUNK)):
            chunk, base = self.chunk(number), number * CHUNK
            first, last = max(start, base), min(end, base + CHUNK)
            for begin in range(first, last, size):
                part = slice(begin - base, min(begin + size, last) - base)
                yield begin, Chunk(chunk.texts[part], chunk.vectors[part])

    def questions(self, count: int, series: int = 0) -> list[Question]:
        """Short questions: three function words, four words of a topic, one of any kind."""
        rng = np.random.default_rng((self._seed, 2, series))
        topics = rng.integers(0, TOPICS, count)
        vectors = self._around(rng, topics)
        found = []
        for topic, vector in zip(topics, vectors, strict=True):
            functions = _pick(rng, self._functions, 3)
            marked = self._topics[topic][_pick(rng, self._in_topic, 4)]
            general = np.append(marked, _pick(rng, self._general, 1)) + len(FUNCTION_WORDS)
            words = self.words[np.concatenate([functions, general])]
            found.append(Question(" ".join(words) + "?", vector.tobytes()))
        return found

    def _draw(self, rng: np.random.Generator, topics: Array) -> Array:
        """One word per entry of ``topics``."""
        count = len(topics)
        drawn = _pick(rng, self._general, count) + len(FUNCTION_WORDS)
        kind = rng.random(count)
        function = kind < FUNCTION_SHARE
        marked = kind > 1 - TOPIC_SHARE
        drawn[function] = _pick(rng, self._functions, int(function.sum()))
        places = _pick(rng, self._in_topic, int(marked.sum()))
        drawn[marked] = self._topics[topics[marked], places] + len(FUNCTION_WORDS)
        return drawn

    def _around(self, rng: np.random.Generator, topics: Array) -> Array:
        noise = rng.standard_normal((len(topics), DIMENSIONS), dtype=np.float32)
        noise *= np.float32(NOISE_LENGTH / DIMENSIONS**0.5)
        return _unit(self._centres[topics] + noise)


def _made_up_words(count: int, seed: int) -> list[str]:
    """Different words shaped like English, the short ones first: they are the common ones."""
    rng = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < count:
        syllables = rng.choices((1, 2, 3), (2, 5, 2))[0]
        parts = [
            rng.choice(_ONSETS) + rng.choice(_NUCLEI) + rng.choice(_CODAS) for _ in range(syllables)
        ]
        word = "".join(parts) + rng.choice(_ENDINGS)
        if len(word) > 2 and word not in FUNCTION_WORDS:
            found[word] = None
    return sorted(found, key=lambda word: len(word) + rng.random() * 6)


def _zipf(count: int) -> Array:
    """Cumulative shares of ranks 1 to ``count``."""
    weights = 1.0 / (np.arange(count) + 2.7)
    total: Array = np.cumsum(weights) / weights.sum()
    return total


def _pick(rng: np.random.Generator, shares: Array, count: int) -> Array:
    return np.minimum(np.searchsorted(shares, rng.random(count)), len(shares) - 1)


def _unit(rows: Array) -> Array:
    unit: Array = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit.astype("<f4", copy=False)
