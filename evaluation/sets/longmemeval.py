"""LongMemEval S: one haystack of some fifty chat sessions per question."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evaluation.cases import Case, DataError, DataSet, Question, Said, find
from evaluation.sets.reading import read_json, read_lines, shape

EXPECTED = "questions with haystack_session_ids, haystack_dates and haystack_sessions"
WHOLE = ("longmemeval_s_cleaned.json*", "longmemeval_s.json*", "longmemeval_s")
QUESTIONS, SESSIONS = "questions_s.jsonl*", "sessions.jsonl*"


def files(folder: Path) -> Sequence[Path]:
    """The published file, or questions and sessions apart (each session once)."""
    questions, sessions = find(folder, QUESTIONS), find(folder, SESSIONS)
    if questions and sessions:
        return [questions[0], sessions[0]]
    return find(folder, *WHOLE)[:1]


def load(paths: Sequence[Path]) -> Iterator[Case]:
    for raw in _raw(paths):
        with shape(paths[0], EXPECTED):
            case = None if raw["question_id"].endswith("_abs") else _case(raw)
        if case and case.questions:
            yield case


def _raw(paths: Sequence[Path]) -> Iterator[dict[str, Any]]:
    if len(paths) == 1:
        yield from read_json(paths[0])
        return
    with shape(paths[1], "one session per line with ref and turns"):
        sessions = {one["ref"]: one["turns"] for one in read_lines(paths[1])}
    for question in read_lines(paths[0]):
        refs = question["haystack_refs"]
        if missing := [ref for ref in refs if ref not in sessions]:
            raise DataError(f"{paths[1]} lacks {len(missing)} sessions of {paths[0]}")
        yield {**question, "haystack_sessions": [sessions[ref] for ref in refs]}


def _case(raw: Mapping[str, Any]) -> Case:
    messages: list[Said] = []
    gold: set[str] = set()
    haystack = zip(
        raw["haystack_session_ids"], raw["haystack_dates"], raw["haystack_sessions"], strict=True
    )
    for session, date, turns in haystack:
        at = _time(date)
        for place, turn in enumerate(turns):
            if turn["content"].strip():
                id_ = f"{session}/{place}"
                messages.append(
                    Said(id=id_, session=session, text=turn["content"], at=at, role=turn["role"])
                )
                if turn.get("has_answer"):
                    gold.add(id_)
    question = Question(
        id=raw["question_id"],
        text=raw["question"],
        category=raw["question_type"],
        gold=frozenset(gold),
        gold_sessions=frozenset(raw["answer_session_ids"]),
        now=_time(raw["question_date"]),
    )
    return Case(id=question.id, messages=messages, questions=[question])


def _time(text: str) -> datetime:
    """2023/06/23 (Fri) 07:31"""
    found = re.match(r"(\d+)/(\d+)/(\d+) \(\w+\) (\d+):(\d+)", text)
    if not found:
        raise ValueError(f"{text!r} is no date")
    year, month, day, hour, minute = map(int, found.groups())
    return datetime(year, month, day, hour, minute, tzinfo=UTC)


SET = DataSet(
    name="longmemeval",
    expected="longmemeval_s_cleaned.json or longmemeval_s.json (repository xiaowu0162/LongMemEval)",
    k=200,
    has_sessions=True,
    files=files,
    load=load,
)
