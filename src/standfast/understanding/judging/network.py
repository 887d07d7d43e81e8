"""The judge in the box: a network that reads a known and a new statement together."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from standfast.errors import Incompatible, Unavailable
from standfast.models.local import box
from standfast.models.local.base import BaseFiles, BaseNetwork
from standfast.models.local.runtime import shared_network
from standfast.types.frozen import frozen
from standfast.understanding.judging.judge import (
    PAIRS_MAX,
    Judged,
    JudgedStatement,
    Judgment,
    Thresholds,
)
from standfast.understanding.judging.layout import pair

CHARACTERS_MAX = 2000  # far beyond the pieces that are read of any real text
KEPT_MAX = 512  # judgments: a message is read again where its commit met a conflict

# What each relation of the network is to a memory.
MEANINGS: Mapping[str, Judged] = {
    "SAME": "same", "REFINES": "refines", "REPLACES": "replaces", "ENDS": "ends",
    "DOUBT": "contradicts", "ADDS": "unrelated", "TOUCHES": "unrelated",
}  # fmt: skip
# Whether something takes the place of what is over is the smaller question: how sure a change is,
# both say together.
GROUPS = (("SAME",), ("REFINES",), ("REPLACES", "ENDS"), ("DOUBT",), ("ADDS", "TOUCHES"))

Pair = tuple[JudgedStatement, JudgedStatement]
Floats = NDArray[np.float32]
T = TypeVar("T")


@frozen(kw_only=False)
class JudgeFiles(BaseFiles):
    relations: tuple[str, ...]
    temperature: float
    thresholds: Thresholds


class PairNetwork(BaseNetwork):
    """The network in the box, which any number of threads may use."""

    def __init__(self, files: JudgeFiles, threads: int) -> None:
        self.width, self._relations = len(files.relations), files.relations
        self._temperature, self.thresholds = files.temperature, files.thresholds
        super().__init__(files, threads)

    def judgments(self, pairs: Sequence[Pair]) -> list[Judgment]:
        return [judgment_of(shares) for shares in self.shares(pairs)]

    def shares(self, pairs: Sequence[Pair]) -> list[dict[str, float]]:
        """How probable each relation is."""
        texts = [text for old, new in pairs for text in _texts(old, new)]
        ids = [one.ids for one in self.base.encode(texts)]
        tokens = [pair(*ids[3 * place : 3 * place + 3]) for place in range(len(pairs))]
        return [self._shares(row) for row in self.run(tokens)]

    def _shares(self, row: Floats) -> dict[str, float]:
        scaled = np.exp((row - row.max()) / self._temperature)
        return dict(zip(self._relations, (scaled / scaled.sum()).tolist(), strict=True))


def judgment_of(shares: Mapping[str, float]) -> Judgment:
    """The likeliest of the groups that mean one thing, and the likelier of its relations."""
    best = max(GROUPS, key=lambda group: sum(shares[name] for name in group))
    likeliest = max(best, key=shares.__getitem__)
    return Judgment(MEANINGS[likeliest], sum(shares[name] for name in best))


def _texts(old: JudgedStatement, new: JudgedStatement) -> tuple[str, str, str]:
    before = new.before[-CHARACTERS_MAX:]
    return old.text[:CHARACTERS_MAX], before, new.text[:CHARACTERS_MAX]


def judge_files(folder: Path) -> JudgeFiles:
    """Unavailable: there are none. Incompatible: they are not those that were shipped."""
    found = box.load_files(folder, box.JUDGE)
    described = json.loads(box.read_file(folder, f"{box.JUDGE}.json"))
    return JudgeFiles(
        onnx=found.onnx,
        tokenizer=found.tokenizer,
        origin=found.origin,
        base=found.base,
        relations=tuple(described["relations"]),
        temperature=described["temperature"],
        thresholds=Thresholds(**described["thresholds"]),
    )


def network_in(folder: Path, threads: int) -> PairNetwork:
    """Loaded once for all who use it at the same time."""
    return shared_network(PairNetwork, lambda: judge_files(folder), threads)


class NetworkJudge:
    """Implements ``ChangeJudge``. The network is loaded by the first call and stays; a call that
    cannot load it raises Unavailable, and the next one tries again."""

    def __init__(self, load: Callable[[], PairNetwork]) -> None:
        self._load = load
        self._network: PairNetwork | None = None
        self._lock = threading.Lock()
        self._kept: OrderedDict[Pair, Judgment] = OrderedDict()
        self.trouble = ""

    async def thresholds(self) -> Thresholds:
        return await self._asked(lambda: self._loaded().thresholds)

    async def judge(self, new: JudgedStatement, olds: Sequence[JudgedStatement]) -> list[Judgment]:
        if len(olds) > PAIRS_MAX:
            raise ValueError(f"{len(olds)} statements at once; at most {PAIRS_MAX}")
        pairs = [(replace(old, key=""), replace(new, key="")) for old in olds]
        return await self._asked(lambda: self._judged(pairs))

    async def _asked(self, call: Callable[[], T]) -> T:
        try:
            found = await asyncio.to_thread(call)
        except Unavailable as error:
            self.trouble = str(error)
            raise
        self.trouble = ""
        return found

    def _judged(self, pairs: Sequence[Pair]) -> list[Judgment]:
        with self._lock:  # one at a time: it has all cores that it may have
            found = {one: self._kept[one] for one in pairs if one in self._kept}
            new = [one for one in dict.fromkeys(pairs) if one not in found]
            found |= zip(new, self._loaded().judgments(new), strict=True) if new else {}
            self._kept |= found
            while len(self._kept) > KEPT_MAX:
                self._kept.popitem(last=False)
        return [found[one] for one in pairs]

    def _loaded(self) -> PairNetwork:
        if self._network is None:
            try:
                self._network = self._load()
            except Incompatible as error:
                raise Unavailable(str(error)) from error
        return self._network
