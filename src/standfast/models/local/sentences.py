"""Sentence vectors from a network in this process."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from standfast.errors import Incompatible, Invalid, Unavailable
from standfast.models.local.runtime import (
    CHARACTERS_MAX,
    batches,
    libraries,
)

DIMENSIONS = 384
QUERIES_KEPT = 256
THREADS = 2

Row = tuple[float, ...]
NOTHING: Row = (0.0,) * DIMENSIONS


class SentenceNetwork(Protocol):
    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids per text; none for a text that says nothing to the model."""

    def run(self, tokens: Sequence[Sequence[int]]) -> Any: ...


class LocalEmbedder:
    """Implements ``ports.Embedder``. A text in which the model knows no token gives the zero
    vector: the caller treats it as "no vector". The model in ``folder`` is loaded by the first
    call and stays; a call that cannot load it raises Unavailable, and the next one tries
    again. Any number of coroutines and event loops may embed at once."""

    local = True
    space: str
    dimensions = DIMENSIONS

    def __init__(self, folder: Path, *, threads: int = THREADS) -> None:
        if threads < 1:
            raise Invalid(f"the local embedder needs at least 1 thread, not {threads}")
        self._folder = folder
        self._threads = threads
        self._network: SentenceNetwork | None = None
        self._loading = threading.Lock()
        self._queries = _RecentRows(QUERIES_KEPT)

    async def embed(self, texts: Sequence[str]) -> list[Row]:
        """One vector per text, of length 1 (or 0, see above). Work happens in other threads,
        batch by batch, so that a query never waits for all of somebody's thousand texts."""
        if len(texts) == 1:
            return [await self._query(texts[0])]
        return await self._rows(texts) if texts else []

    async def _query(self, text: str) -> Row:
        kept = self._queries.get(text)
        if kept is None:
            (kept,) = await self._rows([text])
            self._queries.put(text, kept)
        return kept

    async def _rows(self, texts: Sequence[str]) -> list[Row]:
        network, tokens = await asyncio.to_thread(self._tokenised, texts)
        rows = [NOTHING] * len(texts)
        coming = batches([len(found) for found in tokens])

        async def run_on() -> None:
            for batch in coming:
                found = await asyncio.to_thread(network.run, [tokens[index] for index in batch])
                for index, row in zip(batch, found, strict=True):
                    rows[index] = row

        try:
            # Batches side by side: within a small one there is little to share out.
            await asyncio.gather(*(run_on() for _ in range(self._threads)))
        finally:
            coming.close()  # if one fails, the others do no more
        return rows

    def _tokenised(self, texts: Sequence[str]) -> tuple[SentenceNetwork, list[list[int]]]:
        network = self._load()
        return network, network.tokens(texts)

    def _load(self) -> SentenceNetwork:
        with self._loading:
            if self._network is None:
                try:
                    libraries()  # before the files: what is missing is said first
                    self._network = self._shared()
                except Incompatible as error:
                    # To a caller of embed() it is all the same: no vectors now, and a reason.
                    raise Unavailable(str(error)) from error
            return self._network

    def _shared(self) -> SentenceNetwork:
        """Loaded once for all who use it at the same time."""
        raise NotImplementedError


class _RecentRows:
    """The last few rows by text; safe from several threads."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rows: OrderedDict[str, Row] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, text: str) -> Row | None:
        with self._lock:
            if text in self._rows:
                self._rows.move_to_end(text)
            return self._rows.get(text)

    def put(self, text: str, row: Row) -> None:
        if len(text) > CHARACTERS_MAX:  # a key would hold all of it in memory
            return
        with self._lock:
            self._rows[text] = row
            if len(self._rows) > self._limit:
                self._rows.popitem(last=False)
