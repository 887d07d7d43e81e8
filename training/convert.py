"""``python -m training.convert FOLDER WEIGHTS...``: weights become a model that standfast loads.

FOLDER then holds the ONNX graph, the tokenizer and the manifest, as ``standfast model pull``
would leave them, so that ``STANDFAST_MODEL_PATH=FOLDER`` runs the new weights. The graph is
written without the package ``onnx``. Several files of weights are taken as parts of one.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from standfast.errors import StandfastError
from standfast.models.providers.minilm import sources
from standfast.models.providers.minilm import weights as minilm
from standfast.models.providers.minilm.convert import onnx_from_weights
from training import base, rows


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m training.convert", description=__doc__)
    add = parser.add_argument
    add("folder", type=Path, metavar="FOLDER", help="where the model is put")
    add("weights", type=Path, nargs="+", metavar="WEIGHTS", help="a file, or its parts in order")
    add("--base", type=Path, required=True, help=base.HELP)
    add("--keep", type=float, default=0.0, metavar="SHARE",
        help="the share of the published weights to mix in, 0 to 1")  # fmt: skip
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    try:
        published = base.read(options.base)
        found = {**published.weights, **rows.read(options.weights)}
        if options.keep:
            found = rows.mixed((options.keep, published.weights), (1 - options.keep, found))
        size = install(options.folder, rows.rounded(found), published.tokenizer)
    except (StandfastError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{options.folder / minilm.BUILT}: {size:,} bytes")
    return 0


def install(folder: Path, found: rows.Weights, tokenizer: bytes) -> int:
    """Returns the size of the graph in bytes."""
    graph = onnx_from_weights(found, small=True)
    manifest = {
        "format": minilm.FORMAT,
        "converter": minilm.CONVERTER,
        "sources": dict(minilm.SHA256),
        "built": sha256(graph).hexdigest(),
        "origin": "training",
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / minilm.BUILT).write_bytes(graph)
    (folder / sources.TOKENIZER).write_bytes(tokenizer)
    (folder / minilm.MANIFEST).write_text(json.dumps(manifest, indent=2), "utf-8")
    return len(graph)


if __name__ == "__main__":
    sys.exit(main())
