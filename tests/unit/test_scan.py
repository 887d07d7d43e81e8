"""The scan of all small vectors: the same numbers, whoever helps."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import Any

import numpy as np
import pytest

from standfast.index import scan

ROWS = 2 * scan.PART_ROWS_MIN + 7


@pytest.fixture(scope="module")
def vectors() -> Any:
    drawn = np.random.default_rng(5)
    return drawn.integers(-127, 128, (ROWS, 40), dtype=np.int8)


@pytest.mark.parametrize("rows", [1, 2, 1000, scan.PART_ROWS_MIN + 1, ROWS])
@pytest.mark.parametrize("cores", [0, 1, 3])
def test_products_are_exact_with_any_number_of_cores(
    vectors: Any, rows: int, cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "_spare_cores", lambda: cores)
    small = vectors[3:4]
    exact = vectors[:rows].astype(np.int64) @ small[0].astype(np.int64)
    found = scan.dots(small, vectors[:rows])
    assert found.dtype == np.float32
    assert np.array_equal(found.astype(np.int64), exact)


def test_who_asks_waits_for_no_helper_that_has_not_begun(
    vectors: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    handed: list[Future[None]] = []

    class Busy:
        def submit(self, work: object) -> Future[None]:
            del work
            handed.append(Future())
            return handed[-1]

    monkeypatch.setattr(scan, "_spare_cores", lambda: 1)
    monkeypatch.setattr(scan, "_helpers", Busy)
    found = scan.dots(vectors[:1], vectors)
    assert handed[0].cancelled()
    exact = vectors.astype(np.int64) @ vectors[0].astype(np.int64)
    assert np.array_equal(found.astype(np.int64), exact)


def test_many_at_once_do_not_mix_their_parts(vectors: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "_spare_cores", lambda: 2)
    wrong: list[int] = []

    def ask(number: int) -> None:
        exact = vectors.astype(np.int64) @ vectors[number].astype(np.int64)
        for _ in range(5):
            found = scan.dots(vectors[number : number + 1], vectors)
            if not np.array_equal(found.astype(np.int64), exact):
                wrong.append(number)

    asking = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for one in asking:
        one.start()
    for one in asking:
        one.join()
    assert not wrong
