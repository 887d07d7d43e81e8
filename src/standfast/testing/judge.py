"""A scripted judge, which knows what it was told about pairs of texts and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from standfast.understanding.judging.judge import Judged, JudgedStatement, Judgment, Thresholds

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

    async def judge(self, new: JudgedStatement, olds: Sequence[JudgedStatement]) -> list[Judgment]:
        self.asked += [(old.text, new.text) for old in olds]
        return [self._judgment(old.text, new.text) for old in olds]

    def _judgment(self, old: str, new: str) -> Judgment:
        for (known, said), (relation, probability) in self._found.items():
            if known in old and said in new:
                return Judgment(relation, probability)
        return Judgment("unrelated")


class WordJudge:
    """Implements ``ChangeJudge`` for tests of what follows from a judgment: by the words of two
    short statements that are built alike. "Ann lives in Rome" replaces "Ann lives in Bonn", "Ann
    no longer lives in Bonn" ends it, "Ann lives in Bonn by the river" refines it."""

    trouble = ""

    async def thresholds(self) -> Thresholds:
        return THRESHOLDS

    async def judge(self, new: JudgedStatement, olds: Sequence[JudgedStatement]) -> list[Judgment]:
        return [Judgment(_by_words(_words(old.text), _words(new.text))) for old in olds]


_ENDS = frozenset(("not", "no", "never", "longer", "anymore", "does", "do", "doesn't", "don't"))
_FILLERS = frozenset(("now", "the", "a", "an"))


def _words(text: str) -> list[str]:
    found = (one.strip(".,!?\"'").casefold() for one in text.split())
    return [one for one in found if one and one not in _FILLERS]


def _by_words(old: Sequence[str], new: Sequence[str]) -> Judged:
    left = [one for one in new if one not in _ENDS]
    if list(old) == list(new):
        return "same"
    if len(left) < len(new) and _stems(left) == _stems(old):
        return "ends"
    if len(old) < len(new) and new[: len(old)] == old:
        return "refines"
    if len(new) < len(old) and old[: len(new)] == new:
        return "same"
    is_value = len(old) == len(new) >= 3 and old[:-1] == new[:-1]
    return "replaces" if is_value else "unrelated"


def _stems(words: Sequence[str]) -> list[str]:
    return [one.rstrip("s") for one in words]
