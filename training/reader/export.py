"""``python -m training.reader.export WEIGHTS FOLDER``: the files of read-1.

WEIGHTS is an ``.npz`` of ``training.reader.train``, beside it its description (``.json``). FOLDER
receives ``read-1.onnx`` and ``read-1.json``, and their SHA-256 are printed.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np

from standfast.models.local.base import onnx_of_head
from training.reader.network import STRUCTURE
from training.reader.weights import read

NAME = "read-1"


def main(arguments: Sequence[str] | None = None) -> int:
    named = [Path(one) for one in (sys.argv[1:] if arguments is None else arguments)]
    if len(named) != 2:
        print("error: say WEIGHTS and FOLDER (see the docstring)", file=sys.stderr)
        return 2
    source, folder = named
    weights = read(source)
    marks = weights.pop(STRUCTURE).astype(np.float16)
    described = json.loads(source.with_suffix(".json").read_text("utf-8"))
    described["structure"] = base64.b64encode(marks.tobytes()).decode()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{NAME}.onnx").write_bytes(onnx_of_head(weights))
    (folder / f"{NAME}.json").write_text(json.dumps(described) + "\n", "utf-8")
    for file in (f"{NAME}.onnx", f"{NAME}.json"):
        content = (folder / file).read_bytes()
        print(f"{file}: {len(content):,} bytes, {sha256(content).hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
