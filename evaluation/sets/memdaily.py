"""MemDaily (MemSim): what a person says over some days, in Chinese, and questions about it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evaluation.cases import Case, DataSet, Question, Said, find
from evaluation.sets.reading import read_json, shape

EXPECTED = "trajectories with message_list and question_list (with target_step_id)"
SESSION = "days"


def load(paths: Sequence[Path]) -> Iterator[Case]:
    for path in paths:
        content = read_json(path)
        named = re.match(r"\d+_([a-z_]+)_[a-z]+$", path.stem)
        category = named[1] if named else path.stem
        with shape(path, EXPECTED):
            cases = [
                case
                for place, (kind, one) in enumerate(_trajectories(content, category))
                if (case := _case(one, f"{path.stem}/{place}", kind)).questions
            ]
        yield from cases


def _trajectories(content: Any, category: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """A list of them, or lists below the names of their kinds (all files merged into one)."""
    if isinstance(content, list):
        yield from ((category, one) for one in content)
        return
    for kind, below in content.items():
        for _, one in _trajectories(below, kind):
            yield kind, one


def _case(raw: Mapping[str, Any], name: str, category: str) -> Case:
    messages = [
        Said(id=str(one["mid"]), session=SESSION, text=one["message"], at=_time(one["time"]))
        for one in raw["message_list"]
    ]
    known = {said.id for said in messages}
    questions = [
        Question(
            id=f"{name}/{one['qid']}",
            text=one["question"],
            category=category,
            gold=frozenset(map(str, one["target_step_id"])) & known,
            gold_sessions=frozenset([SESSION]),
            now=_time(one["time"]),
        )
        for one in raw["question_list"]
    ]
    return Case(id=name, messages=messages, questions=[one for one in questions if one.gold])


def _time(text: str) -> datetime:
    """2024年04月01日 周一 08:12"""
    found = re.match(r"(\d+)年(\d+)月(\d+)日\D*(\d+):(\d+)", text)
    if not found:
        raise ValueError(f"{text!r} is no date")
    year, month, day, hour, minute = map(int, found.groups())
    return datetime(year, month, day, hour, minute, tzinfo=UTC)


SET = DataSet(
    name="memdaily",
    expected="01_simple_hybrid.json and its like, or memdaily.json (repository nuster1128/MemSim)",
    k=20,
    has_sessions=False,
    files=lambda folder: find(folder, "0[1-9]_*_*.json", "memdaily.json"),
    load=load,
)
