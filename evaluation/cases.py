"""What every data set becomes: memory stores, each with questions whose evidence is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path


class DataError(Exception):
    """The data folder is not as expected; the message says what is expected where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One message. ``id`` is unique in its case."""

    id: str
    session: str
    text: str
    at: datetime
    role: str = "user"
    author: str = ""

    @property
    def spoken(self) -> str:
        """The text with its speaker, as the baselines read it."""
        return f'{self.author} said, "{self.text}"' if self.author else self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """``gold`` are the messages that hold the answer, ``gold_sessions`` their sessions."""

    id: str
    text: str
    category: str
    gold: frozenset[str]
    gold_sessions: frozenset[str]
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One store and what is asked of it."""

    id: str
    messages: Sequence[Said]
    questions: Sequence[Question]


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """``files`` finds the set below a data folder (none: it is not there); ``load`` reads it."""

    name: str
    expected: str  # what to put where, for people
    k: int  # how many memories are asked for
    has_sessions: bool
    files: Callable[[Path], Sequence[Path]]
    load: Callable[[Sequence[Path]], Iterator[Case]]


def find(folder: Path, *patterns: str, depth: int = 4) -> list[Path]:
    """Files whose name matches, at most ``depth`` folders down; those of the first pattern that
    has any. A file nearer to the top wins over its namesake further down."""
    for pattern in patterns:
        found: dict[str, Path] = {}
        for level in range(depth + 1):
            for path in sorted(folder.glob("*/" * level + pattern)):
                if path.is_file():
                    found.setdefault(path.name, path)
        if found:
            return list(found.values())
    return []
