"""A scripted judge, which knows what it was told about pairs of texts and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from standfast.understanding.judging.judge import Judged, Judgment, Statement, Thresholds

THRESHOLDS = Thresholds(same=0.7, refines=0.5, change=0.8, change_unclear=0.9, contradicts=0.6)


class ScriptedJudge:
    """Implements ``ChangeJudge``. ``found``: of a known and a new text, as words that both hold,
    the relation and its probability; ``asked`` are the pairs that it was shown."""

    def __init__(self, found: Mapping[tuple[str, str], tuple[Judged, float]]) -> None:
        self._found = found
        self.asked: list[tuple[str, str]] = []
        self.trouble = ""

    async def thresholds(self) -> Thresholds:
        return THRESHOLDS

    async def judge(self, new: Statement, olds: Sequence[Statement]) -> list[Judgment]:
        self.asked += [(old.text, new.text) for old in olds]
        return [self._judgment(old.text, new.text) for old in olds]

    def _judgment(self, old: str, new: str) -> Judgment:
        for (known, said), (relation, probability) in self._found.items():
            if known in old and said in new:
                return Judgment(relation, probability)
        return Judgment("unrelated")
