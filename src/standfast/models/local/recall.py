"""recall-2, the model in the box that finds memories, in this process.

What all its vectors have in common says nothing about any text and brings all cosines near each
other, so it is subtracted: texts that have nothing to do with each other then lie near 0. That
vector and the calibration of the cosines were measured on development sets and lie beside the
weights.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from standfast.models.local import box
from standfast.models.local.base import END, START, UNKNOWN, WIDTH, BaseNetwork
from standfast.models.local.layers import Floats
from standfast.models.local.runtime import shared_network
from standfast.models.local.sentences import THREADS, LocalEmbedder, Row, SentenceNetwork
from standfast.profiles import Calibration, Cut

TOKENS_MAX = 256  # the rest of a longer text is not read
LENGTH_LEAST = 1e-6


class BoxedEmbedder(LocalEmbedder):
    """The model that comes with standfast."""

    space = f"{box.NAME}/{WIDTH}"
    succeeds = frozenset(f"{name}/{WIDTH}" for name in box.FORMER)

    def __init__(
        self,
        folder: Path,
        *,
        threads: int = THREADS,
        former: Mapping[str, LocalEmbedder] | None = None,
    ) -> None:
        """``former``: by space, models that were in the box before and are still at hand."""
        super().__init__(folder, threads=threads)
        self.former = dict(former or {})

    @cached_property
    def calibration(self) -> Calibration:
        return calibration_of(self._measured)

    @cached_property
    def _measured(self) -> Mapping[str, Any]:
        measured: Mapping[str, Any] = json.loads(box.load_calibration(self._folder))
        return measured

    @cached_property
    def _common(self) -> Floats:
        return np.array(self._measured["common"], dtype=np.float32)

    def _shared(self) -> SentenceNetwork:
        return shared_network(SearchNetwork, lambda: box.load_files(self._folder), self._threads)

    async def _rows(self, texts: Sequence[str]) -> list[Row]:
        found = np.array(await super()._rows(texts), dtype=np.float32)
        return list(map(tuple, subtract_common(found, self._common).tolist()))


def calibration_of(measured: Mapping[str, Any]) -> Calibration:
    cuts = {kind: Cut(**cut) for kind, cut in measured["cuts"].items()}
    return Calibration(**{**measured["calibration"], "cuts": cuts})


def subtract_common(vectors: Floats, common: Floats) -> Floats:
    """Of length 1 again; a vector of zeros says nothing and stays."""
    apart = np.where(vectors.any(axis=1, keepdims=True), vectors - common, 0)
    found: Floats = apart / np.maximum(np.linalg.norm(apart, axis=1, keepdims=True), LENGTH_LEAST)
    return found


class SearchNetwork(BaseNetwork):
    width = WIDTH

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        return [self._marked(one.ids[: TOKENS_MAX - 2]) for one in self.base.encode(texts)]

    def _marked(self, ids: list[int]) -> list[int]:
        silent = {UNKNOWN, self.base.space}
        return [] if silent.issuperset(ids) else [START, *ids, END]
