"""Chroma, persistent client, HNSW by cosine, vectors given."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.peers.material import TOP, Asked, Rows

HNSW = {"space": "cosine", "ef_construction": 100, "ef_search": 200, "max_neighbors": 16}


class Peer:
    def __init__(self, setting: str, how: str, folder: Path, scopes: Sequence[str]) -> None:
        del setting, scopes
        chromadb: Any = importlib.import_module("chromadb")
        quiet = chromadb.config.Settings(anonymized_telemetry=False)
        self._how = how
        self._client = chromadb.PersistentClient(str(folder / "chroma"), settings=quiet)
        self._collections: dict[str, Any] = {}

    def _collection(self, scope: str) -> Any:
        """A collection per scope: the quickest way to keep scopes apart."""
        if scope not in self._collections:
            self._collections[scope] = self._client.get_or_create_collection(
                f"memories-{scope}", configuration={"hnsw": HNSW}, embedding_function=None
            )
        return self._collections[scope]

    def add(self, rows: Rows) -> None:
        self._collection(rows.scope).add(
            ids=[str(number) for number in rows.numbers],
            documents=rows.texts,
            embeddings=rows.vectors,
            metadatas=[{"scope": rows.scope}] * len(rows.numbers),
        )

    add_one = add

    def finish(self) -> None:
        """Nothing: the index grows with every record."""

    def search(self, asked: Asked) -> Sequence[int]:
        filtered = {"where": {"scope": asked.scope}} if self._how == "filtered" else {}
        answer = self._collection(asked.scope).query(
            query_embeddings=[asked.vector], n_results=TOP, include=["documents"], **filtered
        )
        return [int(number) for number in answer["ids"][0]]

    def close(self) -> None:
        self._collections.clear()
