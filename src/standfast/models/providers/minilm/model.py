"""Sentence vectors from all-MiniLM-L6-v2, and from our own descendant of it, in this process."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from standfast.errors import Incompatible, Invalid, Unavailable
from standfast.models.providers.minilm import box
from standfast.models.providers.minilm.runtime import (
    CHARACTERS_MAX,
    LoadedNetwork,
    batches,
    libraries,
    readable,
    shared_network,
)
from standfast.models.providers.minilm.weights import ModelFiles, load_files

DIMENSIONS = 384
TOKENS_MAX = 256  # what the model was trained for; the rest of a longer text is not read
QUERIES_KEPT = 256
THREADS = 2

Row = tuple[float, ...]
NOTHING: Row = (0.0,) * DIMENSIONS


class MiniLmEmbedder:
    """Implements ``ports.Embedder``. A text in which the model knows no token gives the zero
    vector: the caller treats it as "no vector". The model in ``folder`` is loaded by the first
    call and stays; a call that cannot load it raises Unavailable, and the next one tries
    again. Any number of coroutines and event loops may embed at once."""

    local = True
    space = f"minilm/{DIMENSIONS}"
    dimensions = DIMENSIONS

    def __init__(self, folder: Path, *, threads: int = THREADS) -> None:
        if threads < 1:
            raise Invalid(f"the minilm embedder needs at least 1 thread, not {threads}")
        self._folder = folder
        self._threads = threads
        self._network: _Network | None = None
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

    def _tokenised(self, texts: Sequence[str]) -> tuple[_Network, list[list[int]]]:
        network = self._load()
        return network, network.tokens(texts)

    def _load(self) -> _Network:
        with self._loading:
            if self._network is None:
                try:
                    libraries()  # before the files: what is missing is said first
                    self._network = shared_network(_Network, self._files, self._threads)
                except Incompatible as error:
                    # To a caller of embed() it is all the same: no vectors now, and a reason.
                    raise Unavailable(str(error)) from error
            return self._network

    def _files(self) -> ModelFiles:
        return load_files(self._folder)


class BoxedEmbedder(MiniLmEmbedder):
    """The model that comes with standfast: the same network, trained to find memories."""

    space = f"{box.NAME}/{DIMENSIONS}"
    succeeds = frozenset(f"{name}/{DIMENSIONS}" for name in box.FORMER)

    def __init__(self, folder: Path, *, threads: int = THREADS, kept: Path | None = None) -> None:
        """``kept``: the folder in which somebody may have kept the files of former models, each
        in a folder of its name."""
        super().__init__(folder, threads=threads)
        found = [FormerEmbedder(name, kept / name, threads) for name in box.FORMER if kept]
        self.former = {one.space: one for one in found if one.is_kept}

    def _files(self) -> ModelFiles:
        return box.load_files(self._folder)


class FormerEmbedder(MiniLmEmbedder):
    """A former model of ours: it reads questions for a store that still has its space."""

    def __init__(self, name: str, folder: Path, threads: int) -> None:
        super().__init__(folder, threads=threads)
        self._name = name
        self.space = f"{name}/{DIMENSIONS}"

    @property
    def is_kept(self) -> bool:
        return (self._folder / f"{self._name}.onnx").is_file()

    def _files(self) -> ModelFiles:
        return box.load_former(self._folder, self._name)


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


class _Network(LoadedNetwork):
    width = DIMENSIONS

    def __init__(self, files: ModelFiles, threads: int) -> None:
        super().__init__(files, threads)
        self.tokenizer.enable_truncation(max_length=TOKENS_MAX)
        self.tokenizer.no_padding()
        special = ("[CLS]", "[SEP]", "[UNK]", "[PAD]")
        self._silent = {self.tokenizer.token_to_id(token) for token in special}

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids per text; none for a text that says nothing to the model."""
        found = self.tokenizer.encode_batch([readable(text) for text in texts])
        return [[] if self._silent.issuperset(text.ids) else text.ids for text in found]

    def run(self, tokens: Sequence[Sequence[int]]) -> list[Row]:
        ids = np.zeros((len(tokens), max(map(len, tokens))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for place, found in enumerate(tokens):
            ids[place, : len(found)] = found
            mask[place, : len(found)] = 1
        try:
            answer = self.session.run(None, {"input_ids": ids, "attention_mask": mask})
        except Exception as error:
            raise Unavailable(f"minilm failed: {error}") from error
        vectors: NDArray[np.float32] = answer[0]
        return [tuple(vector) for vector in vectors.tolist()]
