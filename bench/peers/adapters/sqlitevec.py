"""sqlite-vec and FTS5 in one SQLite file, both arms joined by reciprocal rank."""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.peers.material import TOP, Asked, Rows
from bench.texts import DIMENSIONS, FUNCTION_WORDS

DEPTH = 50
RANK_OFFSET = 60
STOP_WORDS = frozenset(word.lower() for word in FUNCTION_WORDS)


class Peer:
    def __init__(self, setting: str, how: str, folder: Path, scopes: Sequence[str]) -> None:
        del setting, scopes
        apsw: Any = importlib.import_module("apsw")
        self._how = how
        self._db = apsw.Connection(str(folder / "memory.db"))
        self._db.enable_load_extension(True)
        self._db.load_extension(importlib.import_module("sqlite_vec").loadable_path())
        for sql in (
            "PRAGMA journal_mode = WAL",
            "PRAGMA synchronous = FULL",
            "CREATE VIRTUAL TABLE IF NOT EXISTS near USING vec0(scope TEXT PARTITION KEY, "
            f"vector FLOAT[{DIMENSIONS}] distance_metric=cosine)",
            "CREATE VIRTUAL TABLE IF NOT EXISTS words USING "
            "fts5(text, scope UNINDEXED, tokenize='porter unicode61')",
        ):
            self._db.execute(sql).fetchall()

    def add(self, rows: Rows) -> None:
        records = zip(rows.numbers, rows.texts, rows.vectors, strict=True)
        with self._db:
            for number, text, vector in records:
                self._db.execute(
                    "INSERT INTO near (rowid, scope, vector) VALUES (?, ?, ?)",
                    (number, rows.scope, vector.tobytes()),
                )
                self._db.execute(
                    "INSERT INTO words (rowid, text, scope) VALUES (?, ?, ?)",
                    (number, text, rows.scope),
                )

    add_one = add

    def finish(self) -> None:
        self._db.execute("INSERT INTO words (words) VALUES ('optimize')").fetchall()
        self._db.execute("ANALYZE").fetchall()

    def search(self, asked: Asked) -> Sequence[int]:
        near = self._near(asked, TOP if self._how == "vector" else DEPTH)
        if self._how == "vector":
            return near
        return joined([near, self._words(asked)])[:TOP]

    def _near(self, asked: Asked, limit: int) -> list[int]:
        sql = "SELECT rowid FROM near WHERE scope = ? AND vector MATCH ? AND k = ?"
        rows = self._db.execute(sql, (asked.scope, asked.vector.tobytes(), limit))
        return [number for (number,) in rows]

    def _words(self, asked: Asked) -> list[int]:
        words = set(re.findall(r"\w+", asked.text.lower())) - STOP_WORDS
        rows = self._db.execute(
            "SELECT rowid FROM words WHERE words MATCH ? AND scope = ? ORDER BY rank LIMIT ?",
            (" OR ".join(f'"{word}"' for word in sorted(words)), asked.scope, DEPTH),
        )
        return [number for (number,) in rows]

    def close(self) -> None:
        self._db.close()


def joined(rankings: Sequence[Sequence[int]]) -> list[int]:
    """Reciprocal-rank fusion."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for place, number in enumerate(ranking):
            scores[number] = scores.get(number, 0.0) + 1 / (RANK_OFFSET + place)
    return sorted(scores, key=lambda number: -scores[number])
