"""The k-th largest found without sorting all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast.index.scoring import kth_largest


@given(
    st.lists(st.sampled_from([-1.0, 0.0, 0.25, 0.5, 1.0, 2.0]), min_size=1, max_size=400),
    st.integers(1, 400),
)
def test_the_kth_largest_is_the_one_that_sorting_finds(values: list[float], k: int) -> None:
    k = min(k, len(values))
    assert kth_largest(np.array(values), k) == sorted(values, reverse=True)[k - 1]


@pytest.mark.parametrize("size", [1, 17, 1000, 99_991])
@pytest.mark.parametrize("k", [1, 12, 50])
def test_and_so_it_is_among_many(size: int, k: int) -> None:
    values = np.random.default_rng(size).standard_normal(size).astype(np.float32)
    k = min(k, size)
    assert kth_largest(values, k) == np.sort(values)[-k]
