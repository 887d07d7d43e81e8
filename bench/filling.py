"""Records into a store, and questions to it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import blake2b

import numpy as np

from bench.baselines import VECTOR_LIMIT
from bench.running import Bench
from bench.texts import DIMENSIONS, SPACE, Array, Chunk, Question
from bench.timing import Times
from standfast.ports import Store
from standfast.scopes import root_of
from standfast.types import Batch, Record, Search, Where

BATCH = 100
AT_ONCE = 8  # batches on their way when nobody looks at the clock
FIRST_DAY = datetime(2025, 1, 1, tzinfo=UTC)
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def batch_of(scope: str, first: int, chunk: Chunk) -> Batch:
    """A piece of the corpus as one write. Ids hold the scope, so that scopes can be filled from
    the same records."""
    owner = blake2b(scope.encode(), digest_size=4).hexdigest()
    records = tuple(
        _record(scope, f"{owner}-{first + place:09d}", first + place, text)
        for place, text in enumerate(chunk.texts)
    )
    vectors = {record.id: row.tobytes() for record, row in zip(records, chunk.vectors, strict=True)}
    return Batch(
        id=f"batch-{records[0].id}",
        root=root_of(scope),
        at=NOW,
        reason="bench",
        records=records,
        vectors=vectors,
        space=SPACE,
    )


def _record(scope: str, id_: str, number: int, text: str) -> Record:
    return Record(
        id=id_,
        scope=scope,
        kind="semantic",
        type="fact",
        text=text,
        learned_at=FIRST_DAY + timedelta(seconds=number),
        hash=blake2b(text.encode(), digest_size=16).hexdigest(),
    )


async def fill(bench: Bench, store: Store, scope: str, start: int, end: int, of: int = 0) -> None:
    """As quick as it goes. ``of``: how many the file will hold at last, for the progress."""
    waiting: list[asyncio.Future[int]] = []
    for first, chunk in bench.corpus.records(start, end, BATCH):
        bench.count("written", first, of or end)
        waiting.append(asyncio.ensure_future(store.commit(batch_of(scope, first, chunk))))
        if len(waiting) == AT_ONCE:
            await asyncio.gather(*waiting)
            waiting.clear()
    await asyncio.gather(*waiting)


async def fill_timed(bench: Bench, store: Store, scope: str, start: int, end: int) -> Times:
    """One batch after the other; the making of the records is not counted."""
    times = Times()
    for first, chunk in bench.corpus.records(start, end, BATCH):
        bench.count("written", first, end)
        batch = batch_of(scope, first, chunk)
        with times.one():
            await store.commit(batch)
    return times


def query_of(question: Question, scope: str) -> Search:
    return Search(
        where=Where(scopes=(scope,), now=NOW),
        text=question.text,
        vector=question.vector,
        space=SPACE,
        limit=VECTOR_LIMIT,
    )


@dataclass(slots=True)
class GivenVectors:
    """An embedder that was told its vectors, so that embedding costs nothing."""

    known: dict[str, Array] = field(default_factory=dict)
    space: str = SPACE
    dimensions: int = DIMENSIONS
    local: bool = True

    @classmethod
    def of(cls, questions: Sequence[Question]) -> GivenVectors:
        return cls({one.text: np.frombuffer(one.vector, dtype="<f4") for one in questions})

    def learn(self, chunk: Chunk) -> None:
        self.known.update(zip(chunk.texts, chunk.vectors, strict=True))

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        known: Mapping[str, Array] = self.known
        return [known[text] for text in texts]  # type: ignore[misc]
