"""Files of labelled lines, one JSON object a line: read with an error that names the line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def read(paths: Sequence[Path], parse: Callable[[str], T]) -> Iterator[T]:
    """What every line of the files means. ValueError names the line that is wrong."""
    for path in paths:
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
            if not line.strip():
                continue
            try:
                yield parse(line)
            except (KeyError, TypeError, ValueError) as error:
                raise ValueError(f"{path.name}:{number}: {error}") from None


def files_in(folder: Path) -> list[Path]:
    return sorted((folder / "data").glob("*.jsonl"))


def report(arguments: Sequence[str], folder: Path, describe: Callable[[list[Path]], str]) -> int:
    """Check the named files, or those of the folder, and print what they hold."""
    try:
        print(describe([Path(one) for one in arguments] or files_in(folder)))
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0
