"""JSON from disk, with errors that say which file and what was expected of it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from evaluation.cases import DataError


@contextmanager
def opened(path: Path) -> Iterator[IO[str]]:
    """A text file, gzipped or not."""
    try:
        if path.suffix == ".gz":
            with gzip.open(path, "rt", encoding="utf-8") as file:
                yield cast(IO[str], file)
        else:
            with path.open(encoding="utf-8") as file:
                yield file
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read: {error}") from error


def read_json(path: Path) -> Any:
    with opened(path) as file:
        try:
            return json.load(file)
        except ValueError as error:
            raise DataError(f"{path} is not JSON: {error}") from error


def read_lines(path: Path) -> Iterator[Any]:
    with opened(path) as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    yield json.loads(line)
                except ValueError as error:
                    raise DataError(f"{path}, line {number} is not JSON: {error}") from error


@contextmanager
def shape(path: Path, expected: str) -> Iterator[None]:
    """What goes wrong inside is a file of another shape."""
    try:
        yield
    except (KeyError, TypeError, IndexError, AttributeError, ValueError) as error:
        what = f"{type(error).__name__}: {error}"
        raise DataError(f"{path} has another shape ({what}); expected {expected}") from error
