"""``python -m training.news.convert FILE WEIGHTS...``: several runs become news-1.onnx."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from standfast.errors import StandfastError
from standfast.models.providers.minilm.convert import TABLE, onnx_of_reader
from training import base, rows


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m training.news.convert", description=__doc__)
    add = parser.add_argument
    add("file", type=Path, metavar="FILE", help="where the graph is put")
    add("weights", type=Path, nargs="+", metavar="WEIGHTS", help="of the runs, one file each")
    add("--base", type=Path, required=True, help=base.HELP)
    options = parser.parse_args(arguments)
    try:
        runs = [rows.read([file]) for file in options.weights]
        found = rows.mixed(*((1.0, one) for one in runs))
        found[TABLE] = base.read(options.base).weights[TABLE]
        graph = onnx_of_reader(rows.rounded(found))
        options.file.write_bytes(graph)
    except (StandfastError, OSError, KeyError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{options.file}: {len(graph):,} bytes, SHA-256 {sha256(graph).hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
