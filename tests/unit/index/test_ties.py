"""The first by id found without sorting all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast.index.ties import FEW, first_by_id

LETTERS = st.text(alphabet="ab-é", min_size=1, max_size=20)


def sorted_out(rows: np.ndarray, ids: np.ndarray, limit: int) -> list[int]:
    return sorted(rows[np.argsort(ids[rows], kind="stable")[:limit]].tolist())


@given(st.lists(LETTERS, min_size=1, max_size=20), st.integers(1, 400))
def test_the_first_by_id_are_those_that_sorting_finds(names: list[str], limit: int) -> None:
    ids = np.array([name.encode() for name in (FEW * names)[: 20 * FEW]], dtype="S40")
    rows = np.arange(0, len(ids), 2)
    assert sorted(first_by_id(rows, ids, limit).tolist()) == sorted_out(rows, ids, limit)


@pytest.mark.parametrize("width", ["S40", "S37"])  # as in an index, and of no whole numbers
def test_and_so_they_are_among_many(width: str) -> None:
    dice = np.random.default_rng(7)
    stamps = dice.integers(0, 3, 5000).tolist()
    rest = dice.integers(0, 2**40, 5000).tolist()
    names = [f"{a:08x}-{b:010x}" for a, b in zip(stamps, rest, strict=True)]
    ids = np.array([name.encode() for name in names], dtype=width)
    rows = np.flatnonzero(dice.random(5000) < 0.9)
    for limit in (1, 240, 2000, len(rows)):
        assert sorted(first_by_id(rows, ids, limit).tolist()) == sorted_out(rows, ids, limit)
