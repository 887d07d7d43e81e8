"""The port of judging: what does a new statement do to those that are known?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from standfast.types.frozen import frozen

Judged = Literal["same", "refines", "replaces", "ends", "contradicts", "unrelated"]
PAIRS_MAX = 8  # known statements that one new statement is held against


@frozen
class JudgedStatement:
    """What a judge is shown. ``text``: the words as they were said, else as they are kept;
    ``before``: the line that they answer; ``key``: the id of the record."""

    text: str
    before: str = ""
    key: str = ""


@frozen(kw_only=False)
class Judgment:
    """What the new statement does to a known one, and how probable that is."""

    relation: Judged
    probability: float = 1.0


@frozen
class Thresholds:
    """Above which probability a judgment is believed. ``change`` is of "replaces" and "ends",
    ``change_unclear`` the same where it is not sure that both are about one subject."""

    same: float
    refines: float
    change: float
    change_unclear: float
    contradicts: float


CERTAIN = Thresholds(same=0, refines=0, change=0, change_unclear=0, contradicts=0)


class GivenJudge:
    """Implements ``ChangeJudge`` with what a language model has said about known records, by their
    ids, when it learned the new one."""

    trouble = ""

    def __init__(self, said: Mapping[str, Judged]) -> None:
        self.said = said

    async def thresholds(self) -> Thresholds:
        return CERTAIN

    async def judge(self, new: JudgedStatement, olds: Sequence[JudgedStatement]) -> list[Judgment]:
        if new.key in self.said:  # what refines a statement says it
            return [Judgment("same")] * len(olds)
        return [Judgment(self.said.get(one.key, "unrelated")) for one in olds]


class ChangeJudge(Protocol):
    """Judges a new statement with known ones. Raises Unavailable where it cannot run."""

    @property
    def trouble(self) -> str:
        """Why it could not judge when it was last asked to; "" if it could."""
        ...

    async def thresholds(self) -> Thresholds: ...

    async def judge(self, new: JudgedStatement, olds: Sequence[JudgedStatement]) -> list[Judgment]:
        """One judgment for each known statement."""
        ...
