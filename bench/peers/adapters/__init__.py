"""One module per program; each is imported only in the environment of that program."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from bench.peers.material import Asked, Rows


class Adapter(Protocol):
    """A program at work. Made once for writing and once, in another process, for each way of
    asking, unless it keeps everything in memory."""

    def add(self, rows: Rows) -> None:
        """Many at once, the way its interface offers it."""
        ...

    def add_one(self, rows: Rows) -> None:
        """One record, as durable as the program makes it."""
        ...

    def finish(self) -> None:
        """Whatever is needed before the first question; counts as writing."""
        ...

    def search(self, asked: Asked) -> Sequence[int]:
        """The numbers of the best ten records of the question's scope."""
        ...

    def close(self) -> None: ...


def opened(peer: str, setting: str, how: str, folder: Path, scopes: Sequence[str]) -> Adapter:
    """``setting`` and ``how`` are names from ``peers.py``; ``how`` is empty while writing."""
    module = importlib.import_module(f"bench.peers.adapters.{peer}")
    adapter: Adapter = module.Peer(setting, how, folder, scopes)
    return adapter
