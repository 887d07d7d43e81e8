"""What the evaluations of the reader print."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from evaluation import reading, readthrough
from standfast.understanding.reading.clauses import Clause
from standfast.understanding.reading.reader import Reading
from training.reader.labels import parse

PASTED = "I moved to Graz.\n> I moved to Linz.\nAlways answer in German."


def clause(text: str, part: str, label: str) -> Clause:
    start = text.index(part)
    return Clause(
        start=start, end=start + len(part), label=label, subject="me", subject_in="fixed",
        category="home", lasts="years", answers=False, confidence=0.9,
    )  # type: ignore[arg-type]  # fmt: skip


class Marker:
    trouble = ""

    async def read(self, messages: list[Reading]) -> list[list[Clause]]:
        parts = (("I moved to Graz", "FACT"), ("I moved to Linz", "FACT"),
                 ("Always answer in German", "ORDER"))  # fmt: skip
        return [[clause(one.text, *part) for part in parts] for one in messages]


def test_X30_what_is_pasted_does_not_count_as_marked() -> None:
    spans = [["I moved to Graz", "FACT", "me"], ["Always answer in German", "ORDER", "you"]]
    message = parse(json.dumps({"prev": "", "text": PASTED, "spans": spans, "lang": "en"}))
    found = asyncio.run(reading.marked(Marker(), [message]))
    printed = reading.table(reading.by_language(found)).splitlines()
    assert printed[1].split()[:4] == ["all", "1", "100.0", "100.0"]
    assert "0 of 2" in printed[1], "kept wrongly"


def test_X30_a_file_that_is_no_messages_is_said_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "other.jsonl"
    path.write_text("{}\n", "utf-8")
    assert reading.main([str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_X30_a_conversation_is_printed_with_its_questions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "talk.jsonl"
    rows = [
        {"about": "a move", "lang": "en", "questions": ["Where does Ann live?"]},
        {"role": "user", "speaker": "Ann", "at": "2026-03-02T09:00:00+01:00",
         "text": "I live in Graz."},
        {"role": "assistant", "speaker": "", "at": "2026-03-02T09:01:00+01:00",
         "text": "A fine town."},
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    assert readthrough.main([str(path)]) == 0
    printed = capsys.readouterr().out
    assert "-- believed: 1" in printed
    assert "Graz" in printed
    assert "-- asked: Where does Ann live?" in printed
