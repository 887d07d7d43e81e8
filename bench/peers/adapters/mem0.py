"""mem0 without a language model (``infer=False``) on its default local store."""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.peers.adapters.given import Given
from bench.peers.material import TOP, Asked, Rows
from bench.texts import DIMENSIONS


class Peer:
    def __init__(self, setting: str, how: str, folder: Path, scopes: Sequence[str]) -> None:
        del setting, how, scopes
        # It wants a key to start; nothing is ever sent, because we embed and nobody infers.
        os.environ.update(OPENAI_API_KEY="none", MEM0_DIR=str(folder / "mem0"))
        self._given = Given()
        store = {
            "path": str(folder / "qdrant"),
            "embedding_model_dims": DIMENSIONS,
            "on_disk": True,
            "collection_name": "memories",
        }
        embedder = {"api_key": "none", "embedding_dims": DIMENSIONS}
        memory: Any = importlib.import_module("mem0").Memory
        self._memory = memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": store},
                "embedder": {"provider": "openai", "config": embedder},
                "history_db_path": str(folder / "history.db"),
            }
        )
        model = self._memory.embedding_model
        model.embed = lambda text, *_, **__: self._given.one(text)
        model.embed_batch = lambda texts, *_, **__: self._given.many(texts)

    def add(self, rows: Rows) -> None:
        """One call per record: with ``infer=False`` a list is written one by one anyway."""
        self._given.expect(rows)
        for number, text in zip(rows.numbers, rows.texts, strict=True):
            self._memory.add(text, user_id=rows.scope, infer=False, metadata={"number": number})

    add_one = add

    def finish(self) -> None:
        """Nothing: the local store compares with every vector."""

    def search(self, asked: Asked) -> Sequence[int]:
        self._given.expect(asked)
        filters = {"user_id": asked.scope}
        answer = self._memory.search(asked.text, filters=filters, top_k=TOP, threshold=0.0)
        return [int(found["metadata"]["number"]) for found in answer["results"]]

    def close(self) -> None:
        self._memory.vector_store.client.close()
