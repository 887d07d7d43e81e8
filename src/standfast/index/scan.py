"""Products of one small vector with very many, shared out among the cores that have time.

A library's own threads wait for each other: on a busy machine a scan with two of them takes six
times as long as with one. Here who asks takes the next part as soon as it can, and waits for nobody
who has not begun.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import simsimd
from numpy.typing import NDArray

Array = NDArray[Any]

PART_ROWS_MIN = 32_768  # fewer take hardly longer than the way to another thread and back
HELPERS_MAX = 3  # more of them wait for the memory, not for the processor


def dots(small: Array, matrix: Array) -> Array:
    """``small`` is one row; both of one byte per number. Exact up to 2**24."""
    rows = len(matrix)
    helpers = min(_spare_cores(), rows // PART_ROWS_MIN - 1)
    if helpers < 1:
        return _dots(small, matrix)
    found = np.empty(rows, dtype=np.float32)
    size = -(-rows // (helpers + 1))  # large: after each part a thread waits for the interpreter
    starts = iter(range(0, rows, size))  # each is taken once, by any thread

    def scan() -> None:
        for start in starts:
            found[start : start + size] = _dots(small, matrix[start : start + size])

    helping = [_helpers().submit(scan) for _ in range(helpers)]
    scan()
    for one in helping:
        if not one.cancel():
            one.result()
    return found


def _dots(small: Array, matrix: Array) -> Array:
    products = simsimd.cdist(small, matrix, "dot", out_dtype="float32", threads=1)
    found: Array = np.asarray(products).reshape(-1)
    return found


@cache
def _spare_cores() -> int:
    ours = getattr(os, "sched_getaffinity", None)  # not every system tells
    return min((len(ours(0)) if ours else os.cpu_count() or 1) - 1, HELPERS_MAX)


@cache
def _helpers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(HELPERS_MAX, thread_name_prefix="standfast-scan")
