"""recall-2, the model in the box that finds memories, in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from standfast.models.local import box
from standfast.models.local.base import END, START, UNKNOWN, WIDTH, BaseNetwork
from standfast.models.local.runtime import shared_network
from standfast.models.local.sentences import THREADS, LocalEmbedder, Row, SentenceNetwork

TOKENS_MAX = 256  # the rest of a longer text is not read


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

    def _shared(self) -> SentenceNetwork:
        return shared_network(_SearchNetwork, lambda: box.load_files(self._folder), self._threads)


class _SearchNetwork(BaseNetwork):
    width = WIDTH

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        return [self._marked(one.ids[: TOKENS_MAX - 2]) for one in self.base.encode(texts)]

    def _marked(self, ids: list[int]) -> list[int]:
        silent = {UNKNOWN, self.base.space}
        return [] if silent.issuperset(ids) else [START, *ids, END]

    def run(self, tokens: Sequence[Sequence[int]]) -> list[Row]:
        return [tuple(vector) for vector in super().run(tokens).tolist()]
