"""Words and meaning made one number, each counting as far as it is sure of itself.

No fixed weight is right for every store. So the keyword arm counts by how much of the query's
word weight its best hit holds, and the vector arm by how far a similarity stands out from all
the others: where everything is about as similar, similarity says little.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from recollect.types import Hit

# Of the weight of meaning: the record's own, the rest is that of its surroundings.
OWN_SHARE = 0.3


class Parts(NamedTuple):
    """What words and meaning add to a hit's score."""

    words: float
    meaning: float


def fused(hits: Sequence[Hit], weight: float) -> list[Parts]:
    """``weight`` is what one standard deviation of similarity counts where the best by words
    counts 1. The sums are scaled to the best calibrated relevance, so that scores mean the same
    in every answer and a poor best stays poor."""
    words = [hit.keyword_around or hit.keyword for hit in hits]
    best = max(words, default=0.0)
    sure = max((hit.coverage for hit in hits), default=0.0) ** 0.5
    per_word = sure / best if best > 0 else 0.0
    raw = []
    for hit, held in zip(hits, words, strict=True):
        by_word = per_word * held
        raw.append((by_word, max(weight * _lift(hit), -by_word)))
    top = max((by_word + meaning for by_word, meaning in raw), default=0.0)
    if top <= 0:
        return [Parts(0.0, max(hit.similarity or 0.0, 0.0)) for hit in hits]
    scale = _level(hits, raw) / top
    return [Parts(by_word * scale, meaning * scale) for by_word, meaning in raw]


def _lift(hit: Hit) -> float:
    if hit.lift is None:
        return 0.0
    around = hit.lift if hit.lift_around is None else hit.lift_around
    return OWN_SHARE * hit.lift + (1 - OWN_SHARE) * around


def _level(hits: Sequence[Hit], raw: Sequence[tuple[float, float]]) -> float:
    """The best relevance on a scale that needs no other hit: cosine and share of the words,
    mixed as the best hit's score is."""
    by_word, meaning = max(raw, key=lambda one: one[0] + one[1])
    share = max(meaning, 0.0) / (by_word + max(meaning, 0.0))
    return max(share * max(hit.similarity or 0.0, 0.0) + (1 - share) * hit.coverage for hit in hits)
