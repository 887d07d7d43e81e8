"""Words and meaning made one number, each counting as far as it is sure of itself.

No fixed weight is right for every store. So the keyword arm counts by how much of the query's
word weight its best hit holds, and the vector arm by how far a similarity stands out from all
the others: where everything is about as similar, similarity says little.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from standfast.index.found import Array, FoundHits

# Of the weight of meaning: the record's own, the rest is that of its surroundings.
OWN_SHARE = 0.3


class Parts(NamedTuple):
    """What words and meaning add to the score of each hit."""

    words: Array
    meaning: Array


def fused(hits: FoundHits, weight: float) -> Parts:
    """``weight`` is what one standard deviation of similarity counts where the best by words
    counts 1. The sums are scaled to the best calibrated relevance, so that scores mean the same
    in every answer and a poor best stays poor."""
    if not len(hits):
        return Parts(np.zeros(0), np.zeros(0))
    words = np.where(hits.keyword_around != 0, hits.keyword_around, hits.keyword)
    best = float(words.max())
    sure = max(float(hits.coverage.max()), 0.0)
    by_word = (sure / best if best > 0 else 0.0) * words
    meaning = weight * _lift(hits)
    meaning = np.where(meaning >= -by_word, meaning, -by_word)
    both = by_word + meaning
    near = np.where(hits.similarity > 0, hits.similarity, 0.0)
    first = int(both.argmax())
    top = float(both[first])
    if top <= 0:
        return Parts(np.zeros(len(hits)), near)
    # The best relevance on a scale that needs no other hit: cosine and share of the words,
    # mixed as the best hit's score is.
    by_meaning = max(float(meaning[first]), 0.0)
    share = by_meaning / (float(by_word[first]) + by_meaning)
    scale = float((share * near + (1 - share) * hits.coverage).max()) / top
    return Parts(by_word * scale, meaning * scale)


def _lift(hits: FoundHits) -> Array:
    """0 where no vector was compared."""
    around = np.where(np.isnan(hits.lift_around), hits.lift, hits.lift_around)
    lift = OWN_SHARE * hits.lift + (1 - OWN_SHARE) * around
    return np.where(np.isnan(lift), 0.0, lift)
