"""Raw scores over index arrays: exact BM25, and vectors in one byte per number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from standfast.index.derived import hash_of, quantised_numbers
from standfast.index.scan import dots as scanned
from standfast.index.scope import Array, ScopeIndex, Vectors
from standfast.index.ties import first_by_id
from standfast.text import analysis
from standfast.types import Vector
from standfast.types.frozen import frozen

# Beyond this share of rows that pass, scanning all is quicker than gathering those.
GATHER_SHARE = 0.3
FEW_ROWS = 20_000  # of which adding up all is quicker than looking for some, word by word

BLOCKS = 8  # for each value that is looked for; see ``kth_largest``
BLOCKS_FROM = 4096  # values

# Rounding to one byte moves a product by so many times its usual error at most; see ``doubt``.
SIGMAS = 4.5

Parts = list[tuple[Array, Array]]  # the rows that hold a word, and how often


@dataclass(slots=True)
class Share:
    """What one scope's index adds to an answer."""

    index: ScopeIndex
    alive: Array | None
    passing: Array
    found: list[Parts]  # per word of the query
    keyword: Array | None = None
    coverage: Array | None = None  # the weight of the words that each row holds; None: not added up


@frozen(kw_only=False)
class Words:
    """The query's words with their weights, over all rows that the query can see."""

    weights: Sequence[float]
    average: float

    @property
    def total(self) -> float:
        return analysis.total(self.weights)


def find_words(index: ScopeIndex, alive: Array | None, terms: Sequence[str]) -> list[Parts]:
    found = index.postings.find_all([hash_of(term) for term in terms])
    if alive is None:
        return found
    return [
        [(rows[kept], counts[kept]) for rows, counts in parts for kept in (alive[rows],)]
        for parts in found
    ]


def weigh(shares: Sequence[Share], terms: Sequence[str]) -> Words:
    """Word statistics of everything visible, so that they do not depend on how rows are
    spread over scopes."""
    documents = words = 0
    for share in shares:
        if share.alive is None:
            documents += share.index.size
            words += share.index.total_words
        else:
            documents += int(share.alive.sum())
            words += int(share.index.column("words")[share.alive].sum())
    containing = [
        sum(len(rows) for share in shares for rows, _ in share.found[place])
        for place in range(len(terms))
    ]
    return Words(
        analysis.weights(terms, documents, containing), words / documents if documents else 0.0
    )


def score_words(share: Share, words: Words) -> None:
    """BM25 of every row, in the very steps of ``analysis.bm25``."""
    parts = [part for parts in share.found for part in parts]
    if not parts:
        share.keyword = np.zeros(share.index.size)
        return
    rows = np.concatenate([owners for owners, _ in parts])
    frequency = np.concatenate([counts for _, counts in parts]).astype(np.float64)
    sizes = [sum(len(owners) for owners, _ in parts) for parts in share.found]
    weight = np.repeat(np.array(words.weights), sizes)
    lengths = share.index.column("words")[rows]
    norm = analysis.K1 * (1 - analysis.B + analysis.B * lengths / (words.average or 1.0))
    gains = weight * frequency * (analysis.K1 + 1) / (frequency + norm)
    # One after the other, word by word, as adding them up would.
    share.keyword = np.bincount(rows, weights=gains, minlength=share.index.size)
    if share.index.size <= FEW_ROWS:
        share.coverage = np.bincount(rows, weights=weight, minlength=share.index.size)


def coverage(share: Share, words: Words, rows: Array) -> Array:
    """The share of the query's word weight that each of these rows holds."""
    total = words.total
    if share.coverage is not None:
        held = share.coverage[rows]
        return held / total if total else held
    held = np.zeros(len(rows))
    for weight, parts in zip(words.weights, share.found, strict=True):
        for owners, _ in parts:
            if len(owners):
                held += weight * (owners.take(owners.searchsorted(rows), mode="clip") == rows)
    return held / total if total else held


@frozen(kw_only=False)
class Probe:
    """A query's vector in one byte per number."""

    numbers: Array  # int8, one row
    scale: float

    @classmethod
    def of(cls, vector: Vector) -> Probe:
        numbers = np.frombuffer(vector, dtype="<f4")
        scale, small = quantised_numbers(numbers.reshape(1, -1))
        return cls(small.astype(np.int8), scale.item(0))

    def products(self, vectors: Vectors, rows: Array, size: int) -> Array:
        """About the dot product with each of these rows."""
        if not len(rows):
            return np.zeros(0, dtype=np.float32)
        scales = vectors.scales[:size] if len(rows) == size else vectors.scales[rows]
        if len(rows) < GATHER_SHARE * size:
            dots = scanned(self.numbers, vectors.matrix[rows])
        else:
            dots = scanned(self.numbers, vectors.matrix[:size])
            dots = dots if len(rows) == size else dots[rows]
        products: Array = dots * (scales * np.float32(self.scale))
        return products

    def doubt(self, scales: Array) -> Array:
        """How far each product may be off. A number is off by half a step at most, evenly
        spread, so a product of unit vectors is off by about step / sqrt(12) on either side."""
        doubt: Array = np.sqrt((scales * scales + np.float32(self.scale) ** 2) / 12) * SIGMAS
        return doubt


@lru_cache(maxsize=16)  # both arms of a search look along it
def probe_of(vector: Vector) -> Probe:
    return Probe.of(vector)


def kth_largest(values: Array, k: int) -> float:
    """Exactly, for 1 <= k <= len(values). The k-th largest of the maxima of many blocks cannot be
    larger, and few values are as large: only those are sorted out, not all of them."""
    block = len(values) // (BLOCKS * k)
    if block > 1 and len(values) > BLOCKS_FROM:
        whole = len(values) // block * block
        # A block is a column: numpy compares whole rows at once.
        tops = values[:whole].reshape(block, -1).max(axis=0)
        bar = kth_largest(tops, k)
        above = values[values > bar]
        if len(above) < k:  # so many are as large as the bar; often all the others are
            return bar
        values = above
    return float(np.partition(values, len(values) - k)[len(values) - k])


def best(rows: Array, keys: Sequence[Array], ids: Array, limit: int) -> Array:
    """The ``limit`` rows with the largest keys, ties broken by the next key and at last by
    id. Not sorted. Each key is an array beside ``rows``; ``ids`` is over the whole index."""
    if len(rows) <= limit:
        return rows
    if limit <= 0:
        return rows[:0]
    if not keys:
        return first_by_id(rows, ids, limit)
    first, *others = keys
    bar = kth_largest(first, limit)
    above, tied = first > bar, first == bar
    rest = best(rows[tied], [key[tied] for key in others], ids, limit - int(above.sum()))
    return np.concatenate([rows[above], rest])
