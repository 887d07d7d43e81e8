"""Vectors that are computed once: embedding costs far more than everything else here.

The file is named after what the embedder answers to a fixed text, so that a changed model or
tokenizer never meets vectors of the old one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from standfast.ports import Embedder

PROBES = ("The user moved to Berlin in May and likes green tea.", "我的上司是银行的行长。")
BUSY_MS = 60_000
ASKED_AT_ONCE = 500

Row = NDArray[np.float32]


class CachedEmbedder:
    """Implements ``ports.Embedder``; anything else that the inner one can do is passed on."""

    local = True  # also around a service: here a write waits for its vectors

    def __init__(self, inner: Embedder, folder: Path) -> None:
        self._inner = inner
        self._folder = folder
        self._path: Path | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    @property
    def space(self) -> str:
        return self._inner.space

    @property
    def dimensions(self) -> int:
        return self._inner.dimensions

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self._path = self._path or await self._place()
        keys = [_key(text) for text in texts]
        with closing(_opened(self._path)) as file:
            known = _known(file, keys)
            new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
            if new:
                rows = np.asarray(await self._inner.embed(list(new.values())), dtype="<f4")
                known |= dict(zip(new, rows, strict=True))
                pairs = [(key, known[key].tobytes()) for key in new]
                with file:
                    file.executemany("INSERT OR IGNORE INTO vector VALUES (?, ?)", pairs)
        return [known[key] for key in keys]  # type: ignore[misc]  # rows serve as sequences

    async def _place(self) -> Path:
        answers = np.asarray(await self._inner.embed(PROBES), dtype="<f4")
        mark = blake2b(np.round(answers, 2).tobytes(), digest_size=6).hexdigest()
        self._folder.mkdir(parents=True, exist_ok=True)
        return self._folder / f"{self.space.replace('/', '-')}-{mark}.db"


def _opened(path: Path) -> sqlite3.Connection:
    file = sqlite3.connect(path, timeout=BUSY_MS / 1000)
    file.execute("PRAGMA journal_mode = WAL")
    file.execute("PRAGMA synchronous = OFF")  # losing it costs time, nothing else
    file.execute("CREATE TABLE IF NOT EXISTS vector (key BLOB PRIMARY KEY, row BLOB NOT NULL)")
    return file


def _key(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _known(file: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, Row]:
    found: dict[bytes, Row] = {}
    for start in range(0, len(keys), ASKED_AT_ONCE):
        some = keys[start : start + ASKED_AT_ONCE]
        marks = ", ".join("?" * len(some))
        rows = file.execute(f"SELECT key, row FROM vector WHERE key IN ({marks})", some)
        found |= {key: np.frombuffer(row, dtype="<f4") for key, row in rows}
    return found
