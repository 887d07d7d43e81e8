"""news-1: who reads what is known and what is said together, and what is made of its answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime", reason="the local model needs the extra `local`")

from standfast import AsyncMemory
from standfast.errors import Unavailable
from standfast.lifecycle.bounds import LEAST, LIKELY
from standfast.lifecycle.merge import Known, judge
from standfast.models.local import box
from standfast.models.local.news import BEGIN, BREAK, BoxedReader, joined
from standfast.ports import ChangeReader
from standfast.types import Record
from tests.architecture.source import PROJECT

MAY = datetime(2026, 5, 1, 9, tzinfo=UTC)


@pytest.fixture(scope="module")
def reader() -> BoxedReader:
    folder = box.place()
    assert folder is not None, "a clone holds the model"
    return BoxedReader(folder, threads=1)


def changes(reader: BoxedReader, said: str, *known: str) -> list[float]:
    return asyncio.run(reader.changes(said, known))


@pytest.mark.parametrize(
    ("known", "change", "beside"),
    [
        ("I have a tabby called Miso.", "Miso got run over last night.", "Miso slept all day."),
        ("I'm vegetarian.", "Had my first steak in years, loved it.", "My sister eats meat again."),
        ("We deploy on Tuesdays.", "Releases go out on Thursdays now.", "Tuesday's deploy failed."),
    ],
)
def test_X22_a_change_is_told_from_what_is_beside_it(
    reader: BoxedReader, known: str, change: str, beside: str
) -> None:
    assert changes(reader, change, known)[0] > LIKELY
    assert changes(reader, beside, known)[0] < 0


def test_an_answer_does_not_depend_on_what_else_is_asked(reader: BoxedReader) -> None:
    known = [f"I have {count} cats and a dog in the house." for count in range(20)]
    (alone,) = changes(
        BoxedReader(box.place() or Path(), threads=1), "The cats are gone.", known[7]
    )
    assert changes(reader, "The cats are gone.", *known)[7] == pytest.approx(alone, abs=1e-4)
    assert changes(reader, "The cats are gone.") == []


def test_what_cannot_be_written_in_utf_8_is_read_all_the_same(reader: BoxedReader) -> None:
    assert len(changes(reader, "a \ud800 half", "", "I live in \ud83d Leeds. " * 500)) == 2


def test_both_sides_are_told_apart_and_are_of_bounded_length() -> None:
    ids, sides = joined([7, 8], [9])
    assert (ids, sides) == ([BEGIN, 7, 8, BREAK, 9, BREAK], [0, 0, 0, 0, 1, 1])
    assert joined([], [9]) == ([BEGIN, 9, BREAK], [1, 1, 1])
    assert len(joined([7] * 1000, [9] * 1000)[0]) < 256


def test_the_shipped_file_is_the_one_that_is_pinned() -> None:
    graph = PROJECT / "model" / box.PACKAGE / f"{box.NEWS}.onnx"
    assert sha256(graph.read_bytes()).hexdigest() == box.SHA256[graph.name]


def test_X18_without_it_memory_works_and_says_so(tmp_path: Path) -> None:
    missing = BoxedReader(tmp_path, threads=1)
    with pytest.raises(Unavailable, match="news-1"):
        changes(missing, "I moved to Leeds.", "I live in York.")
    found, notes = told([missing, missing], "I live in York.", "I moved to Leeds.")
    assert any("degraded" in note and "news-1" in note for note in notes)
    assert any("Leeds" in text for text in found)


class Sure:
    """Whatever is asked, the answer is the same."""

    trouble = ""

    def __init__(self, odds: float) -> None:
        self.odds = odds

    async def changes(self, said: str, known: Sequence[str]) -> list[float]:
        assert said
        return [self.odds] * len(known)


def told(readers: Sequence[ChangeReader], *said: str) -> tuple[dict[str, str], Sequence[str]]:
    """What is believed after these messages, each read by its own, and the notes on the last."""

    async def tell() -> tuple[dict[str, str], Sequence[str]]:
        now, notes = [MAY], ()
        opened = AsyncMemory.open(
            "dict:", embedder=box.NAME, background=False, clock=lambda: now[0]
        )
        async with await opened as memory:
            for reader, text in zip(readers, said, strict=True):
                memory.engine.change_reader = reader
                await memory.observe(f"chat {now[0]}", [text], scope="user:ann", author="Ann")
                now[0] += timedelta(days=40)
                notes = (await memory.maintain()).notes
            found = await memory.records(scope="user:ann", types=["fact"])
            return {record.text: record.status for record in found.items}, notes

    return asyncio.run(tell())


def believed(reader: Sure, *said: str) -> dict[str, str]:
    return told([Sure(0.0), reader], *said)[0]


def test_X22_nothing_is_replaced_where_who_reads_both_denies_it() -> None:
    said = "I drive a Volvo.", "Our neighbour swapped her old Volvo for a bike."
    assert believed(Sure(LEAST - 0.1), *said)["Ann drives a Volvo."] != "superseded"
    assert believed(Sure(LIKELY + 0.1), *said)["Ann drives a Volvo."] != "active"


def test_X22_news_that_who_reads_both_agrees_with_is_not_in_doubt_itself() -> None:
    old = Record(
        id="old",
        scope="user:ann",
        kind="semantic",
        type="fact",
        text="The orders DAG runs hourly.",
        learned_at=MAY,
        author="Ann",
    )
    new = replace(
        old,
        id="new",
        text="Orders DAG is every 15 minutes now.",
        learned_at=MAY + timedelta(days=40),
    )
    agreed, unread = Known(record=old, bears=3.0, odds=3.0), Known(record=old)
    for known, stands in ((agreed, True), (unread, False)):
        verdict = judge(new, [known], duplicate_above=2.0, wary=True)
        assert (verdict.kind, verdict.stands) == ("contradicts", stands)
