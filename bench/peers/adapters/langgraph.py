"""LangGraph's stores, in memory and on SQLite; a namespace per scope."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.peers.adapters.given import Given
from bench.peers.material import TOP, Asked, Rows
from bench.texts import DIMENSIONS


def _sqlite3() -> Any:
    """With loading of extensions, which many builds of Python leave out."""
    module: Any = importlib.import_module("sqlite3")
    if hasattr(module.Connection, "enable_load_extension"):
        return module
    return importlib.import_module("pysqlite3")


class Peer:
    def __init__(self, setting: str, how: str, folder: Path, scopes: Sequence[str]) -> None:
        del how, scopes
        self._given = Given()
        index = {"dims": DIMENSIONS, "embed": self._given.many, "fields": ["text"]}
        index["text_fields"] = ["text"]  # what the SQLite store calls it
        base: Any = importlib.import_module("langgraph.store.base")
        self._put = base.PutOp
        if setting == "memory":
            memory: Any = importlib.import_module("langgraph.store.memory")
            self._store = memory.InMemoryStore(index=index)
        else:
            sqlite3 = _sqlite3()
            sqlite: Any = importlib.import_module("langgraph.store.sqlite")
            file = sqlite3.connect(
                str(folder / "store.db"), check_same_thread=False, isolation_level=None
            )
            file.execute("PRAGMA synchronous = FULL")
            self._store = sqlite.SqliteStore(file, index=index)
            self._store.setup()

    def add(self, rows: Rows) -> None:
        self._given.expect(rows)
        self._store.batch(
            [
                self._put((rows.scope,), str(number), {"text": text})
                for number, text in zip(rows.numbers, rows.texts, strict=True)
            ]
        )

    def add_one(self, rows: Rows) -> None:
        self._given.expect(rows)
        self._store.put((rows.scope,), str(rows.numbers[0]), {"text": rows.texts[0]})

    def finish(self) -> None:
        """Nothing: there is no index to build."""

    def search(self, asked: Asked) -> Sequence[int]:
        self._given.expect(asked)
        found = self._store.search((asked.scope,), query=asked.text, limit=TOP)
        return [int(item.key) for item in found]

    def close(self) -> None:
        """Everything is written."""
