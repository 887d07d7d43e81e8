"""LanceDB, one table, scope as a filter before the search."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from bench.peers.material import TOP, Asked, Rows
from bench.texts import DIMENSIONS

EF = 200
REFINE = 5  # candidates are compared again by their full vectors
WAIT = timedelta(minutes=10)


class Peer:
    def __init__(self, setting: str, how: str, folder: Path, scopes: Sequence[str]) -> None:
        del scopes
        lancedb: Any = importlib.import_module("lancedb")
        self._arrow: Any = importlib.import_module("pyarrow")
        self._setting, self._how = setting, how
        self._schema = self._arrow.schema(
            [
                self._arrow.field("id", self._arrow.int64()),
                self._arrow.field("text", self._arrow.string()),
                self._arrow.field("scope", self._arrow.string()),
                self._arrow.field("vector", self._arrow.list_(self._arrow.float32(), DIMENSIONS)),
            ]
        )
        db = lancedb.connect(str(folder / "lance"))
        self._table = db.create_table("memories", schema=self._schema, exist_ok=True)
        rerankers: Any = importlib.import_module("lancedb.rerankers")
        self._reranker = rerankers.RRFReranker()

    def add(self, rows: Rows) -> None:
        flat = self._arrow.array(rows.vectors.reshape(-1))
        columns = [
            self._arrow.array(rows.numbers),
            self._arrow.array(rows.texts),
            self._arrow.array([rows.scope] * len(rows.numbers)),
            self._arrow.FixedSizeListArray.from_arrays(flat, DIMENSIONS),
        ]
        self._table.add(self._arrow.Table.from_arrays(columns, schema=self._schema))

    add_one = add

    def finish(self) -> None:
        self._table.optimize()
        if self._setting == "indexed":
            self._table.create_index(
                metric="cosine", index_type="IVF_HNSW_SQ", num_partitions=1, wait_timeout=WAIT
            )
            self._table.create_fts_index("text", stem=True, remove_stop_words=True)
            self._table.create_scalar_index("scope", index_type="BITMAP")

    def search(self, asked: Asked) -> Sequence[int]:
        if self._how == "hybrid":
            query = self._table.search(query_type="hybrid").vector(asked.vector).text(asked.text)
            query = query.rerank(self._reranker)
        else:
            query = self._table.search(asked.vector)
        query = query.distance_type("cosine").where(f"scope = '{asked.scope}'", prefilter=True)
        if self._setting == "indexed":
            query = query.ef(EF).refine_factor(REFINE)
        return [row["id"] for row in query.limit(TOP).select(["id", "text"]).to_list()]

    def close(self) -> None:
        """Nothing is held open."""
