"""judge-1: what a new statement does to a known one, as the network in the box reads both."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime", reason="the local model needs the extra `local`")

from standfast import AsyncMemory
from standfast.errors import Unavailable
from standfast.models.local import box
from standfast.understanding.judging.judge import ChangeJudge, JudgedStatement, Judgment
from standfast.understanding.judging.layout import pair
from standfast.understanding.judging.network import NetworkJudge, network_in
from standfast.wiring.judge import boxed_judge
from tests.architecture.source import PROJECT


def judged(judge: ChangeJudge, new: str, *olds: str, before: str = "") -> list[Judgment]:
    said = JudgedStatement(text=new, before=before)
    return asyncio.run(judge.judge(said, [JudgedStatement(text=one) for one in olds]))


@pytest.mark.parametrize(
    ("known", "new", "relation"),
    [
        ("We deploy on Tuesdays.", "Deploys moved to Thursdays.", "replaces"),
        ("We have a beagle called Biscuit.", "Biscuit passed away on Sunday.", "ends"),
        ("I live in Leeds.", "I am still in Leeds, as you know.", "same"),
        ("We deploy on Tuesdays.", "The mobile team deploys on Mondays.", "unrelated"),
        ("Wir deployen dienstags.", "Ab jetzt deployen wir donnerstags.", "replaces"),
    ],
)
def test_X22_a_change_is_told_from_what_is_beside_it(known: str, new: str, relation: str) -> None:
    (found,) = judged(boxed_judge(), new, known)
    assert found.relation == relation
    assert 0 < found.probability <= 1


def test_an_answer_does_not_depend_on_what_else_is_asked() -> None:
    known = [f"I have {count} cats and a dog in the house." for count in range(8)]
    (alone,) = judged(boxed_judge(), "The cats are gone.", known[7])
    fresh = NetworkJudge(lambda: network_in(box.place() or Path(), 1))
    found = judged(fresh, "The cats are gone.", *known)[7]
    assert found.relation == alone.relation
    assert found.probability == pytest.approx(alone.probability, abs=1e-4)
    assert judged(fresh, "The cats are gone.") == []


def test_nobody_is_asked_about_more_than_eight_statements() -> None:
    with pytest.raises(ValueError, match="at most 8"):
        judged(boxed_judge(), "The cats are gone.", *map(str, range(9)))


def test_what_cannot_be_written_in_utf_8_is_read_all_the_same() -> None:
    assert len(judged(boxed_judge(), "a \ud800 half", "", "I live in \ud83d Leeds. " * 500)) == 2


def test_a_pair_is_of_bounded_length() -> None:
    assert pair([7, 8], [], [9]) == [0, 7, 8, 2, 2, 2, 2, 9, 2]
    assert len(pair([7] * 1000, [8] * 1000, [9] * 1000)) < 256


def test_the_shipped_files_are_those_that_are_pinned() -> None:
    for name in (f"{box.JUDGE}.onnx", f"{box.JUDGE}.json"):
        content = (PROJECT / "model" / box.PACKAGE / name).read_bytes()
        assert sha256(content).hexdigest() == box.SHA256[name]


def test_X18_without_it_equal_texts_merge_all_else_stays_and_that_is_said(tmp_path: Path) -> None:
    missing = NetworkJudge(lambda: network_in(tmp_path, 1))
    with pytest.raises(Unavailable, match="judge-1"):
        judged(missing, "I moved to Leeds.", "I live in York.")

    async def told() -> tuple[list[str], list[str]]:
        opened = AsyncMemory.open("dict:", embedder="hashing", background=False)
        async with await opened as memory:
            memory.engine.change_judge = missing
            for text in ("I live in York.", "I moved to Leeds.", "i live in york"):
                await memory.remember(text, scope="user:ann")
            notes = (await memory.maintain()).notes
            found = await memory.records(scope="user:ann", types=["fact"])
            return [f"{one.text}: {one.status}" for one in found.items], list(notes)

    found, notes = asyncio.run(told())
    assert sorted(found) == ["I live in York.: active", "I moved to Leeds.: active"]
    assert any("side by side" in note and "judge-1" in note for note in notes)
