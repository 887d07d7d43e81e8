"""standfast through its public interface, and its store alone."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from pathlib import Path

import numpy as np

from bench.peers.adapters.given import Given
from bench.peers.material import TOP, Asked, Rows
from bench.texts import DIMENSIONS
from standfast.changes import claim_space
from standfast.memory import AsyncMemory
from standfast.types import Batch, Record, Search, Where
from standfast.upkeep.background import save_closing
from standfast.wiring import open_engine

# The space of the local model, so that the same file can be asked with real embedding too.
SPACE = f"minilm/{DIMENSIONS}"
FIRST_DAY = datetime(2025, 1, 1, tzinfo=UTC)
NOW = datetime(2026, 1, 1, tzinfo=UTC)


class GivenEmbedder(Given):
    """``ports.Embedder`` over known vectors."""

    space = SPACE
    dimensions = DIMENSIONS
    local = True

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """As they are: to make lists of so many numbers is no part of writing."""
        return [array("f", self.known[text].tobytes()) for text in texts]


class Peer:
    """Ways of asking: "recall" (vectors given), "uncut" (the same without leaving out what does not
    answer), "embedding" (recall with the local model
    embedding the question), "store" (the vector arm of ``store.search``)."""

    def __init__(self, setting: str, how: str, folder: Path, scopes: Sequence[str]) -> None:
        del setting, scopes
        self._how = how
        self._given = GivenEmbedder()
        self._loop = asyncio.new_event_loop()
        embedder = "minilm" if how == "embedding" else self._given
        self._engine = self._loop.run_until_complete(
            open_engine(str(folder / "memory.db"), embedder=embedder)
        )
        if how == "uncut":
            profile = replace(self._engine.profile, cuts=None)
            self._engine = replace(self._engine, profile=profile)
        self._memory = AsyncMemory(self._engine)

    def add(self, rows: Rows) -> None:
        """What remember and observe end in: one durable, journalled write."""
        records = tuple(map(self._record, rows.numbers, rows.texts, [rows.scope] * len(rows.texts)))
        vectors = {
            record.id: vector.tobytes()
            for record, vector in zip(records, rows.vectors, strict=True)
        }
        batch = Batch(
            id=f"batch-{records[0].id}",
            root=records[0].scope,
            at=NOW,
            reason="bench",
            records=records,
            vectors=vectors,
            space=SPACE,
        )
        self._loop.run_until_complete(self._engine.store.commit(batch))

    def _record(self, number: int, text: str, scope: str) -> Record:
        return Record(
            id=f"{number:09d}",
            scope=f"user:{scope}",
            kind="semantic",
            type="fact",
            text=text,
            learned_at=FIRST_DAY + timedelta(seconds=number % 10_000_000),
            hash=blake2b(text.encode(), digest_size=16).hexdigest(),
        )

    def add_one(self, rows: Rows) -> None:
        """With everything that remembering does: redaction, duplicates, contradictions."""
        self._given.expect(rows)
        work = self._memory.remember(rows.texts[0], scope=f"user:{rows.scope}")
        self._loop.run_until_complete(work)

    def observe(self, rows: Rows) -> None:
        """A batch through the public interface: messages that become searchable turns."""
        self._given.expect(rows)
        work = self._memory.observe("s", rows.texts, scope=f"user:{rows.scope}")
        self._loop.run_until_complete(work)

    def finish(self) -> None:
        """The space of the vectors becomes the store's."""
        self._loop.run_until_complete(claim_space(self._engine, SPACE))

    def search(self, asked: Asked) -> Sequence[int]:
        if self._how == "store":
            return self._loop.run_until_complete(self._nearest(asked))
        self._given.expect(asked)
        work = self._memory.recall(asked.text, scope=f"user:{asked.scope}", limit=TOP, now=NOW)
        return [int(hit.record.id) for hit in self._loop.run_until_complete(work).hits]

    async def _nearest(self, asked: Asked) -> list[int]:
        query = Search(
            where=Where(scopes=(f"user:{asked.scope}",), now=NOW),
            text=asked.text,
            vector=np.asarray(asked.vector, dtype="<f4").tobytes(),
            space=SPACE,
            limit=TOP,
        )
        hits = await self._engine.store.search(query)
        best = sorted(hits, key=lambda hit: -(hit.similarity or 0.0))[:TOP]
        return [int(hit.record.id) for hit in best]

    def close(self) -> None:
        """As a memory is closed whose upkeep runs by itself, as it does unless told otherwise: what
        was written is left ready to be searched."""
        self._loop.run_until_complete(save_closing(self._engine))
        self._loop.run_until_complete(self._memory.close())
        self._loop.close()
