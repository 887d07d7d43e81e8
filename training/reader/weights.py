"""What training leaves behind: weights by name in one file, and a description of the head.

Matrices of the layers are whole numbers with a step for each row (``NAME.steps``), as they were
rounded in training; everything else is in 16-bit floats. ``structure.weight`` has a row for each
combination of marks, ``head.weight`` one for each number that the description names. The table of
pieces is not in the file: it is that of the base. A large file is written in parts.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from standfast.understanding.reading.clauses import LABELS
from standfast.understanding.reading.decoding import TAGS, Head, head_of
from training.encoder.network import LEVELS, MATRIX, TABLE
from training.encoder.published import Floats
from training.reader.examples import CATEGORY_ORDER, DURATION_ORDER, FIXED
from training.reader.network import BITS, STRUCTURE, Weights, combinations

STEPS = ".steps"
PART_BYTES_MAX = 15_000_000  # small enough for every way a file travels
POINTER = 32  # numbers of a query and of a key
SIZES = {
    "tags": TAGS,
    "fixed": len(FIXED),
    "start_query": POINTER,
    "start_key": POINTER,
    "end_query": POINTER,
    "end_key": POINTER,
    "category": len(CATEGORY_ORDER),
    "lasts": len(DURATION_ORDER),
    "answers": 1,
}


def description(
    calibration: Mapping[str, Mapping[str, float]] | None = None,
    transitions: Sequence[Sequence[float]] = (),
) -> dict[str, Any]:
    """What each row of the head means, and what its probabilities are worth. ``transitions``: what
    each tag adds to the score of each that follows it."""
    stops = np.cumsum(list(SIZES.values())).tolist()
    parts = {
        name: [stop - size, stop] for (name, size), stop in zip(SIZES.items(), stops, strict=True)
    }
    return {
        "labels": list(LABELS),
        "parts": parts,
        "fixed": list(FIXED),
        "categories": list(CATEGORY_ORDER),
        "durations": list(DURATION_ORDER),
        "calibration": dict(calibration or {}),
        "transitions": [list(row) for row in transitions],
    }


def plain_head() -> Head:
    """The head without calibration."""
    return head_of(description())


def exported(weights: Weights) -> dict[str, Floats]:
    """The arrays of the ONNX graph by name, before they are packed."""
    return {**weights, STRUCTURE: combinations(weights[STRUCTURE])}


def trained(found: Weights, base: Weights) -> dict[str, Floats]:
    """The inverse of ``exported``, with the table: what a network in torch begins with."""
    single = [1 << bit for bit in range(BITS)]
    return {**found, TABLE: base[TABLE], STRUCTURE: found[STRUCTURE][single]}


def average(runs: Sequence[Weights]) -> dict[str, Floats]:
    """The mean of runs that began with the same head."""
    return {
        name: np.mean([one[name] for one in runs], axis=0, dtype=np.float32) for name in runs[0]
    }


def write(path: Path, weights: Weights) -> None:
    """``path``, or ``path.0`` and so on where one file would be too large."""
    arrays: dict[str, NDArray[Any]] = {}
    for name, value in weights.items():
        if MATRIX.fullmatch(name):
            arrays[name], arrays[name + STEPS] = _levels(value)
        else:
            arrays[name] = value.astype(np.float16)
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)  # type: ignore[arg-type]  # its one option is no array
    whole = content.getvalue()
    parts = [whole[at : at + PART_BYTES_MAX] for at in range(0, len(whole), PART_BYTES_MAX)]
    for number, part in enumerate(parts):
        name = path.name if len(parts) == 1 else f"{path.name}.{number}"
        path.with_name(name).write_bytes(part)


def read(path: Path) -> dict[str, Floats]:
    """What ``write`` wrote, matrices multiplied out. ValueError: no such file."""
    parts = [path] if path.exists() else sorted(path.parent.glob(f"{path.name}.*"))
    try:
        with np.load(io.BytesIO(b"".join(part.read_bytes() for part in parts))) as stored:
            arrays = {name: stored[name].astype(np.float32) for name in stored.files}
    except (EOFError, OSError, ValueError, zipfile.BadZipFile) as error:
        raise ValueError(f"cannot read the weights {path}: {error}") from None
    return {
        name: value * arrays.get(name + STEPS, np.float32(1))
        for name, value in arrays.items()
        if not name.endswith(STEPS)
    }


def describe(
    path: Path,
    calibration: Mapping[str, Mapping[str, float]],
    transitions: Sequence[Sequence[float]],
) -> None:
    text = json.dumps(description(calibration, transitions))
    path.write_text(text + "\n", "utf-8")


def _levels(value: Floats) -> tuple[NDArray[np.int8], Floats]:
    steps = np.maximum(np.abs(value).max(axis=1, keepdims=True), 1e-8) / LEVELS
    return np.round(value / steps).astype(np.int8), steps.astype(np.float32)
