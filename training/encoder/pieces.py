"""Which pieces of a tokenizer thirteen languages need, for a smaller table of them.

A piece counts as much as its largest share in any of the languages: six parts words by frequency,
four parts running text. Single characters and special pieces always stay.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

WORD_SHARE = 0.6
AT_ONCE = 20_000

Numbers = NDArray[np.float64]
# Texts -> the pieces of each.
Split = Callable[[Sequence[str]], Sequence[Sequence[int]]]


def shares(split: Split, size: int, texts: Sequence[str], weights: Sequence[float] = ()) -> Numbers:
    """How often each piece occurs, together 1. ``weights``: how much each text counts."""
    found = np.zeros(size)
    for start in range(0, len(texts), AT_ONCE):
        for number, pieces in enumerate(split(texts[start : start + AT_ONCE]), start=start):
            np.add.at(found, list(pieces), weights[number] if len(weights) else 1.0)
    total: float = found.sum()
    return found / total if total else found


def best(
    pieces: Sequence[str], languages: Iterable[tuple[Numbers, Numbers]], count: int
) -> NDArray[Any]:
    """The numbers of so many pieces, in rising order. ``languages``: of each the shares by words
    and by running text."""
    score = np.zeros(len(pieces))
    for words, running in languages:
        score = np.maximum(score, WORD_SHARE * words + (1 - WORD_SHARE) * running)
    score[[number for number, piece in enumerate(pieces) if number < 4 or _is_single(piece)]] = 2.0
    order = np.lexsort((np.arange(len(pieces)), -score))
    return np.sort(order[:count])


def _is_single(piece: str) -> bool:
    bare = piece.lstrip("▁")
    return len(bare) <= 1 and not (bare and unicodedata.category(bare) in ("Cn", "Co"))
