"""A part of a search index as bytes: some arrays and what names them, one behind the other.

A store keeps parts beside its rows and hands them to a new process, which takes them in as they
are. Whether the bytes are still those that were written is the store's to know.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from standfast.text.analysis import ANALYSER_VERSION

Array = NDArray[Any]

LAYOUT = 1  # of the bytes, and of what the arrays mean
FORM = LAYOUT * 1000 + ANALYSER_VERSION  # a part of another form is none
ROWS_MAX = 65_536  # of a part with words, whose rows are numbers of two bytes
VECTORS_MAX = 16_384  # of a part with vectors

_ALIGNED = 8  # bytes


def packed(arrays: Mapping[str, Array], named: Mapping[str, Any]) -> bytes:
    """``named``: whatever JSON can hold."""
    shapes = [(name, array.dtype.str, len(array)) for name, array in arrays.items()]
    head = json.dumps([shapes, dict(named)], ensure_ascii=False).encode()
    pieces = [len(head).to_bytes(_ALIGNED, "little"), _filled(head)]
    pieces += [_filled(array.tobytes()) for array in arrays.values()]
    return b"".join(pieces)


def unpacked(body: bytes) -> tuple[dict[str, Array], dict[str, Any]]:
    """The arrays lie in the bytes: copy what has to last."""
    length = int.from_bytes(body[:_ALIGNED], "little")
    shapes, named = json.loads(body[_ALIGNED : _ALIGNED + length])
    place = _ALIGNED + length + -length % _ALIGNED
    arrays: dict[str, Array] = {}
    for name, dtype, count in shapes:
        arrays[name] = np.frombuffer(body, dtype=dtype, count=count, offset=place)
        size = arrays[name].nbytes
        place += size + -size % _ALIGNED
    return arrays, named


def _filled(piece: bytes) -> bytes:
    return piece + bytes(-len(piece) % _ALIGNED)


def shortened(array: Array) -> Array:
    """One value, if all are the same; what is assigned from it is the same."""
    return array[:1] if len(array) and bool((array == array[0]).all()) else array


def narrowed(numbers: Array) -> Array:
    """Whole numbers from 0 on, in as few bytes as they need."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))).newbyteorder("<"))
