"""LoCoMo: long conversations of two people, questions with the turns that answer them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evaluation.cases import Case, DataSet, Question, Said, find
from evaluation.sets.reading import read_json, shape

EXPECTED = "a list of conversations with `conversation` (session_1 ...) and `qa`"
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
UNKNOWN_TIME = datetime(2023, 1, 1, tzinfo=UTC)


def load(paths: Sequence[Path]) -> Iterator[Case]:
    for path in paths:
        conversations = read_json(path)
        with shape(path, EXPECTED):
            cases = [_case(one, number) for number, one in enumerate(conversations)]
        yield from cases


def _case(raw: Mapping[str, Any], number: int) -> Case:
    messages = list(_messages(raw["conversation"]))
    asked_at = max((said.at for said in messages), default=UNKNOWN_TIME)
    sessions = {said.id: said.session for said in messages}
    name = str(raw.get("sample_id", number))
    questions = []
    for place, one in enumerate(raw["qa"]):
        gold = frozenset(_evidence(one.get("evidence", []))) & sessions.keys()
        if not gold:
            continue  # a few questions cite nothing, or turns that do not exist
        questions.append(
            Question(
                id=f"{name}/{place}",
                text=str(one["question"]),
                category=CATEGORIES[one["category"]],
                gold=gold,
                gold_sessions=frozenset(sessions[id_] for id_ in gold),
                now=asked_at,
            )
        )
    return Case(id=name, messages=messages, questions=questions)


def _messages(conversation: Mapping[str, Any]) -> Iterator[Said]:
    at = UNKNOWN_TIME
    number = 1
    while f"session_{number}" in conversation or f"session_{number}_date_time" in conversation:
        at = _time(conversation.get(f"session_{number}_date_time", "")) or at
        for turn in conversation.get(f"session_{number}") or []:
            yield Said(
                id=turn["dia_id"],
                session=f"session-{number}",
                text=_text(turn),
                at=at,
                author=turn["speaker"],
            )
        number += 1


def _text(turn: Mapping[str, Any]) -> str:
    caption = turn.get("blip_caption")
    return f"{turn['text']} [shared image: {caption}]" if caption else str(turn["text"])


def _time(text: str) -> datetime | None:
    for form in ("%I:%M %p on %d %B, %Y", "%I:%M %p on %d %b, %Y"):
        try:
            return datetime.strptime(text.strip(), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None


def _evidence(entries: Sequence[object]) -> Iterator[str]:
    """Some entries are malformed: 'D8:6; D9:17', 'D:11:26', 'D30:05'."""
    for entry in entries:
        for session, turn in re.findall(r"D:?(\d+):(\d+)", str(entry)):
            yield f"D{int(session)}:{int(turn)}"


SET = DataSet(
    name="locomo",
    expected="locomo10.json (repository snap-research/LoCoMo, folder data)",
    k=50,
    has_sessions=True,
    files=lambda folder: find(folder, "locomo10.json", "locomo*.json"),
    load=load,
)
