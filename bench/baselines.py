"""What one would write without standfast, as bare as it gets. Same data, same disk settings."""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import simsimd

from bench.texts import DIMENSIONS, Array, Chunk
from standfast.text.analysis import is_stop_word

PRUNED_TERMS = 4
KEYWORD_LIMIT = 50
VECTOR_LIMIT = 12
SCOPE = "org:bench"


class BareFile:
    """A plain table with texts and float32 blobs, and one FTS5 table. No scopes, no versions,
    no journal, no duplicates, no expiry."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.db = apsw.Connection(str(path))
        self.db.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL").fetchall()
        self.db.execute(
            "CREATE TABLE IF NOT EXISTS note"
            " (id INTEGER PRIMARY KEY, text TEXT NOT NULL, vector BLOB NOT NULL);"
            "CREATE VIRTUAL TABLE IF NOT EXISTS words"
            " USING fts5(text, content='', tokenize='porter unicode61')"
        ).fetchall()

    def add(self, first: int, chunk: Chunk) -> None:
        """One durable transaction."""
        numbers = range(first + 1, first + 1 + len(chunk.texts))
        with self.db:
            self.db.executemany(
                "INSERT INTO note VALUES (?, ?, ?)",
                zip(numbers, chunk.texts, map(bytes, chunk.vectors), strict=True),
            )
            self.db.executemany(
                "INSERT INTO words (rowid, text) VALUES (?, ?)",
                zip(numbers, chunk.texts, strict=True),
            )

    def by_words(self, expression: str) -> list[Any]:
        return self.db.execute(
            "SELECT rowid, rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?",
            (expression, KEYWORD_LIMIT),
        ).fetchall()

    def rarest(self, text: str) -> str:
        """The rarest few words of a question: found beforehand, so it costs nothing."""
        words = words_of(text, stop_words=False)
        counts = {word: self._containing(word) for word in words}
        return any_of(sorted(words, key=lambda word: counts[word])[:PRUNED_TERMS])

    def _containing(self, word: str) -> int:
        sql = "SELECT count(*) FROM words WHERE words MATCH ?"
        return int(self.db.execute(sql, (any_of([word]),)).get)

    def matrix(self) -> Array:
        """All vectors, read from the blobs."""
        count = self.db.execute("SELECT count(*) FROM note").get
        rows = np.empty((count, DIMENSIONS), dtype="<f4")
        for place, (blob,) in enumerate(self.db.execute("SELECT vector FROM note ORDER BY id")):
            rows[place] = np.frombuffer(blob, dtype="<f4")
        return rows

    def close(self) -> None:
        self.db.close()


def words_of(text: str, *, stop_words: bool) -> list[str]:
    """The words of a question, once each; all of them, or those that are no stop words."""
    words = dict.fromkeys(re.findall(r"[a-z]+", text.lower()))
    return [word for word in words if stop_words or not is_stop_word(word)]


def any_of(words: Sequence[str]) -> str:
    """An FTS5 expression."""
    return " OR ".join(f'"{word}"' for word in words)


def rounded(matrix: Array) -> Array:
    """One signed byte per number, one scale for all: the vectors have length 1."""
    largest = np.abs(matrix).max() if len(matrix) else 1.0
    small: Array = np.rint(matrix * (127 / largest)).astype(np.int8)
    return small


def nearest_by_simd(matrix: Array, vector: Array) -> Array:
    """One scan over all rows and the choice of the best, the way simsimd offers it."""
    products = np.asarray(simsimd.cdist(vector.reshape(1, -1), matrix, "dot"))[0]
    return _largest(products)


def nearest_by_numpy(matrix: Array, vector: Array) -> Array:
    return _largest(matrix @ vector)


def _largest(values: Array) -> Array:
    if len(values) <= VECTOR_LIMIT:
        return np.arange(len(values))
    return np.argpartition(values, -VECTOR_LIMIT)[-VECTOR_LIMIT:]


class VectorTable:
    """sqlite-vec: float32 in a vec0 table, partitioned by scope."""

    def __init__(self, path: Path) -> None:
        self.db = apsw.Connection(str(path))
        self.db.enable_load_extension(True)
        self.db.load_extension(importlib.import_module("sqlite_vec").loadable_path())
        self.db.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL").fetchall()
        self.db.execute(
            "CREATE VIRTUAL TABLE near USING vec0"
            f" (scope TEXT PARTITION KEY, vector FLOAT[{DIMENSIONS}])"
        )

    @staticmethod
    def is_installed() -> bool:
        return importlib.util.find_spec("sqlite_vec") is not None

    def add(self, first: int, chunk: Chunk) -> None:
        numbers = range(first + 1, first + 1 + len(chunk.texts))
        with self.db:
            self.db.executemany(
                "INSERT INTO near (rowid, scope, vector) VALUES (?, ?, ?)",
                (
                    (number, SCOPE, bytes(row))
                    for number, row in zip(numbers, chunk.vectors, strict=True)
                ),
            )

    def nearest(self, vector: bytes) -> list[Any]:
        return self.db.execute(
            "SELECT rowid, distance FROM near WHERE scope = ? AND vector MATCH ? AND k = ?",
            (SCOPE, vector, VECTOR_LIMIT),
        ).fetchall()

    def close(self) -> None:
        self.db.close()
