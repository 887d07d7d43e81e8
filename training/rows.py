"""Weights as they are kept: whole numbers of 8 bits, a step size for each row, in one file.

The numbers are those that the ONNX graph computes with, so that nothing is rounded twice.
Arrays that are no matrix (biases, norms) stay in 32-bit floats, the table of positions in 16.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from standfast.errors import Incompatible
from standfast.models.providers.minilm.convert import TABLE, table_rows, weight_rows

Floats = NDArray[np.float32]
Weights = dict[str, Floats]

STEPS = ".steps"
PRODUCT = re.compile(r"encoder\.layer\.\d+\..*(query|key|value|dense)\.weight")
PART_BYTES_MAX = 15_000_000  # small enough for every way a file travels


def rounded(weights: Mapping[str, Floats]) -> Weights:
    """What the weights are after a journey through the file."""
    return unpacked(packed(weights))


def packed(weights: Mapping[str, Floats], *, exact: bool = False) -> bytes:
    """The content of the file; the same bytes for the same weights. ``exact`` leaves the
    matrices of the products in 16-bit floats: to train on, not to run."""
    arrays: dict[str, NDArray[np.generic]] = {}
    for name in sorted(weights):
        value = np.asarray(weights[name], dtype=np.float32)
        if name == TABLE:
            arrays[name], arrays[name + STEPS] = table_rows(value)
        elif PRODUCT.fullmatch(name) and not exact:
            levels, steps = weight_rows(value)
            arrays[name], arrays[name + STEPS] = levels.T, steps[:, None]
        elif value.ndim == 2:
            arrays[name] = value.astype(np.float16)
        else:
            arrays[name] = value
    return _archive(arrays)


def _archive(arrays: Mapping[str, NDArray[np.generic]]) -> bytes:
    """Like ``numpy.savez``, but without the time of writing in it."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, value in arrays.items():
            stored = io.BytesIO()
            np.lib.format.write_array(stored, np.ascontiguousarray(value), allow_pickle=False)
            entry = zipfile.ZipInfo(name + ".npy")
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, stored.getvalue(), compresslevel=9)
    return content.getvalue()


def unpacked(content: bytes) -> Weights:
    """Incompatible: that is no such file."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise Incompatible(f"these are no weights of ours: {error}") from error
    weights: Weights = {}
    for name, value in arrays.items():
        if name.endswith(STEPS):
            continue
        number = value.astype(np.float32)
        weights[name] = number * arrays[name + STEPS] if value.dtype == np.int8 else number
    return weights


def read(paths: Sequence[Path]) -> Weights:
    """From a file, or from its parts in order."""
    try:
        return unpacked(b"".join(path.read_bytes() for path in paths))
    except OSError as error:
        raise Incompatible(f"cannot read the weights: {error}") from error


def write(weights: Mapping[str, Floats], folder: Path, name: str) -> list[Path]:
    """``name.npz``, or ``name.npz.0`` and so on where one file would be too large."""
    content = packed(weights)
    parts = [content[at : at + PART_BYTES_MAX] for at in range(0, len(content), PART_BYTES_MAX)]
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for number, part in enumerate(parts):
        path = folder / (f"{name}.npz" if len(parts) == 1 else f"{name}.npz.{number}")
        path.write_bytes(part)
        written.append(path)
    return written


def mixed(*shares: tuple[float, Mapping[str, Floats]]) -> Weights:
    """The weighted sum of several weights of the same names."""
    first = shares[0][1]
    total = sum(share for share, _ in shares)
    return {
        name: np.asarray(
            sum(share / total * weights[name] for share, weights in shares), dtype=np.float32
        )
        for name in first
    }
