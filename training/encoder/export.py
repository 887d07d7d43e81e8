"""``python -m training.encoder.export MEAN BASE FOLDER``: the files of recall-2.

MEAN is ``mean.npz`` of ``training.encoder.train``, BASE what ``training.encoder.base`` wrote.
FOLDER receives ``recall-2.onnx``, ``pieces.json`` and ``words.q4``, and their SHA-256 are printed.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np

from standfast.models.local.base import onnx_of_encoder

NAME = "recall-2.onnx"
SHARED = ("pieces.json", "words.q4")


def main(arguments: Sequence[str] | None = None) -> int:
    named = [Path(one) for one in (sys.argv[1:] if arguments is None else arguments)]
    if len(named) != 3:
        print("error: say MEAN, BASE and FOLDER (see the docstring)", file=sys.stderr)
        return 2
    mean, base, folder = named
    folder.mkdir(parents=True, exist_ok=True)
    with np.load(mean) as stored:
        weights = {name: stored[name].astype(np.float32) for name in stored.files}
    (folder / NAME).write_bytes(onnx_of_encoder(weights))
    for name in SHARED:
        shutil.copyfile(base / name, folder / name)
    for name in (NAME, *SHARED):
        content = (folder / name).read_bytes()
        print(f"{name}: {len(content):,} bytes, {sha256(content).hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
