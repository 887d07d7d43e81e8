"""news-1: the model in the box that reads a known statement and a later message together.

A vector says what a text is about, and two texts about the same thing lie near each other whether
or not one of them is the end of the other. This network reads both at once and says how surely the
known one no longer holds.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from standfast.errors import Incompatible, Unavailable
from standfast.models.local import box
from standfast.models.local.files import ModelFiles
from standfast.models.local.runtime import (
    LoadedNetwork,
    batches,
    readable,
    shared_network,
)

TASKS: Final = ("changes", "lasts", "own")
HEAD, HEAD_BIAS = "head.weight", "head.bias"
KNOWN_MAX, SAID_MAX = 64, 128  # tokens: what is longer tells more than one thing
BEGIN, BREAK = 101, 102  # the tokens [CLS] and [SEP]
CHARACTERS_MAX = 2000  # far beyond so many tokens of any real text
KEPT_MAX = 512  # answers: the same message is asked about for each thing that is learned from it

# Of what stands around a passage: its beginning and its end, of which one says what it is for.
BEFORE, BEHIND = (32, 64), (40, 32)

Tokens = tuple[list[int], list[int]]
Asked = tuple[str, ...]  # what is known and what is said, or a passage between its neighbours


def joined(known: Sequence[int], said: Sequence[int]) -> Tokens:
    """The tokens of both as the network reads them, and on which side each of them stands."""
    before = [BEGIN, *known[:KNOWN_MAX], BREAK] if known else [BEGIN]
    after = [*said[:SAID_MAX], BREAK]
    side = 0 if known else 1
    return before + after, [side] * len(before) + [1] * len(after)


def placed(before: Sequence[int], passage: Sequence[int], behind: Sequence[int]) -> Tokens:
    """A passage among its neighbours: its tokens are on the other side."""
    head, middle, tail = (
        [BEGIN, *_ends(before, *BEFORE)],
        list(passage[:KNOWN_MAX]),
        [*_ends(behind, *BEHIND), BREAK],
    )
    return head + middle + tail, [0] * len(head) + [1] * len(middle) + [0] * len(tail)


def _ends(tokens: Sequence[int], first: int, last: int) -> Sequence[int]:
    whole = len(tokens) <= first + last
    return tokens if whole else [*tokens[:first], *tokens[-last:]]


class BoxedReader:
    """Implements ``ports.ChangeReader`` with the network in ``folder``, which is loaded by the
    first call and stays; a call that cannot load it raises Unavailable, and the next one tries
    again."""

    def __init__(self, folder: Path, *, threads: int) -> None:
        self._folder = folder
        self._threads = threads
        self.trouble = ""
        self._network: _News | None = None
        self._lock = threading.Lock()
        self._kept: OrderedDict[Asked, tuple[float, ...]] = OrderedDict()

    async def changes(self, said: str, known: Sequence[str]) -> list[float]:
        return [row[0] for row in await self._read([(one, said) for one in known])]

    async def _read(self, pairs: Sequence[Asked]) -> list[tuple[float, ...]]:
        if not pairs:
            return []
        try:
            found = await asyncio.to_thread(self._answered, pairs)
        except Unavailable as error:
            self.trouble = str(error)
            raise
        self.trouble = ""
        return found

    def _answered(self, pairs: Sequence[Asked]) -> list[tuple[float, ...]]:
        with self._lock:  # one at a time: it has all cores that it may have
            found = {pair: self._kept[pair] for pair in pairs if pair in self._kept}
            new = [pair for pair in dict.fromkeys(pairs) if pair not in found]
            found |= zip(new, self._load().run(new), strict=True) if new else {}
            self._kept |= found
            while len(self._kept) > KEPT_MAX:
                self._kept.popitem(last=False)
            return [found[pair] for pair in pairs]

    def _load(self) -> _News:
        if self._network is None:
            try:
                self._network = shared_network(_News, self._files, self._threads)
            except Incompatible as error:
                raise Unavailable(str(error)) from error
        return self._network

    def _files(self) -> ModelFiles:
        return box.load_news(self._folder)


def _tokens(read: Sequence[Sequence[int]]) -> Tokens:
    return joined(*read) if len(read) == 2 else placed(*read)


class _News(LoadedNetwork):
    width = len(TASKS)

    def __init__(self, files: ModelFiles, threads: int) -> None:
        super().__init__(files, threads)
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()

    def run(self, pairs: Sequence[Asked]) -> list[tuple[float, ...]]:
        """For each of them its answers, to every question."""
        texts = list(dict.fromkeys(text[:CHARACTERS_MAX] for pair in pairs for text in pair))
        read = self.tokenizer.encode_batch(list(map(readable, texts)), add_special_tokens=False)
        ids = {text: one.ids for text, one in zip(texts, read, strict=True)}
        tokens = [_tokens([ids[text[:CHARACTERS_MAX]] for text in pair]) for pair in pairs]
        found: list[tuple[float, ...]] = [()] * len(pairs)
        for batch in batches([len(one) for one, _ in tokens]):
            for place, row in zip(batch, self._run([tokens[at] for at in batch]), strict=True):
                found[place] = row
        return found

    def _run(self, tokens: Sequence[Tokens]) -> list[tuple[float, ...]]:
        ids = np.zeros((len(tokens), max(len(one) for one, _ in tokens)), dtype=np.int64)
        mask, sides = np.zeros_like(ids), np.zeros_like(ids)
        for place, (one, side) in enumerate(tokens):
            ids[place, : len(one)] = one
            mask[place, : len(one)] = 1
            sides[place, : len(one)] = side
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": sides}
        try:
            answer: Any = self.session.run(None, given)[0]
        except Exception as error:
            raise Unavailable(f"{box.NEWS} failed: {error}") from error
        return [tuple(row) for row in answer.tolist()]
