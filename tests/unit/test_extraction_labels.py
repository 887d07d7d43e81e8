"""The rules against labelled turns: 150 turns in five languages, 60 knowledge updates and 60
hard negatives, written for this project (see docs/explanation/learning.md)."""

from __future__ import annotations

import json
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from standfast.text.claims import extract
from standfast.text.claims.lessons import SPEAKER, Claim, Lesson
from standfast.types import Message

DATA = Path(__file__).parent / "data" / "learning"


def labelled(name: str) -> list[dict[str, Any]]:
    lines = (DATA / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def said(text: str, who: str, at: str, number: int = 1) -> Message:
    when = datetime.fromisoformat(at)
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return Message(
        id=f"m{number}", scope="s", session="c", role="user", text=text, at=when, author=who
    )


def lessons_of(turn: dict[str, Any]) -> tuple[Lesson, ...]:
    before = [
        said(text, turn["who"], turn["at"], number)
        for number, text in enumerate(turn.get("earlier", ()), 100)
    ]
    return extract([said(turn["text"], turn["who"], turn["at"])], earlier=before).lessons


def is_expected(lesson: Lesson, label: dict[str, Any]) -> bool:
    claim = lesson.claim
    if "slot" in label:
        wanted = (label["slot"], label.get("negated", False))
        if claim is None or (claim.slot, claim.negated) != wanted:
            return False
        if claim.value != label.get("value", claim.value):
            return False
        if claim.subject != label.get("subject", claim.subject):
            return False
    if lesson.type != label.get("type", lesson.type):
        return False
    if lesson.corrects != label.get("corrects", lesson.corrects):
        return False
    if "from" in label:
        begins = lesson.valid_from
        if begins is None or begins.date().isoformat() != label["from"]:
            return False
    return all(word.casefold() in lesson.text.casefold() for word in label.get("words", ()))


def scores(turns: list[dict[str, Any]]) -> tuple[float, float]:
    """Precision and recall; every lesson and every label counts once."""
    right = learned = labels = 0
    for turn in turns:
        open_labels = list(turn["expect"])
        labels += len(open_labels)
        for lesson in lessons_of(turn):
            learned += 1
            match = next((label for label in open_labels if is_expected(lesson, label)), None)
            if match is not None:
                open_labels.remove(match)
                right += 1
    return right / max(learned, 1), right / max(labels, 1)


def test_L6_the_rules_are_precise_and_useful_on_labelled_turns() -> None:
    turns = labelled("turns")
    assert len(turns) == 150
    by_language = defaultdict(list)
    for turn in turns:
        by_language[turn["lang"]].append(turn)
    assert set(by_language) == {"en", "de", "fr", "es", "zh"}
    for language, part in by_language.items():
        precision, recall = scores(part)
        print(f"{language}: precision {precision:.2f}, recall {recall:.2f} of {len(part)} turns")
        assert precision >= 0.9, language
        assert recall >= 0.6, language
    precision, recall = scores(turns)
    print(f"all: precision {precision:.3f}, recall {recall:.3f}")
    assert precision >= 0.9
    assert recall >= 0.6


def test_the_scores_see_what_is_wrong() -> None:
    right = {"who": "", "at": "2026-03-09", "text": "I live in Rome.", "expect": []}
    assert scores([right]) == (0.0, 0.0)
    missed = {**right, "text": "Hello!", "expect": [{"slot": "home"}]}
    assert scores([missed]) == (0.0, 0.0)
    found = {**right, "expect": [{"slot": "home", "value": "rome"}]}
    assert scores([found]) == (1.0, 1.0)


def claims_of(update: dict[str, Any]) -> list[tuple[datetime, Claim]]:
    """The claims about the updated slot, in the order they were said, with their valid times."""
    subject = update.get("subject") or update["who"].casefold() or SPEAKER
    earlier: list[Message] = []
    claims = []
    for number, (at, text) in enumerate(update["turns"]):
        message = said(text, update["who"], at, number)
        for lesson in extract([message], earlier=earlier).lessons:
            claim = lesson.claim
            if claim is not None and (claim.subject, claim.slot) == (subject, update["slot"]):
                claims.append((lesson.valid_from or message.at, claim))
        earlier.append(message)
    return claims


@pytest.mark.parametrize("update", labelled("updates"), ids=lambda update: update["id"])
def test_X5_a_later_statement_claims_the_same_slot(update: dict[str, Any]) -> None:
    claims = claims_of(update)
    assert claims, "nothing was learned"
    last = claims[-1][1]
    assert (last.value, last.negated) == (update["value"], update.get("negated", False))
    for day, value in update.get("as_of", ()):
        then = datetime.fromisoformat(day).replace(tzinfo=UTC)
        held = [claim for begins, claim in sorted(claims, key=lambda c: c[0]) if begins <= then]
        assert held, day
        assert held[-1].value == value, day


def first_claims(case: dict[str, Any]) -> list[Claim]:
    claims = []
    for text in case["texts"]:
        lessons = extract([said(text, "Ann", "2026-03-09")]).lessons
        claims.append(next(lesson.claim for lesson in lessons if lesson.claim is not None))
    return claims


@pytest.mark.parametrize("case", labelled("negatives"), ids=lambda case: case["id"])
def test_L6_hard_negatives(case: dict[str, Any]) -> None:
    if case["kind"] == "nothing":
        lessons = extract([said(case["texts"][0], "Ann", "2026-03-09")]).lessons
        assert not lessons, [lesson.text for lesson in lessons]
        return
    a, b = first_claims(case)
    same_slot = (a.subject, a.slot) == (b.subject, b.slot)
    if case["kind"] == "opposite":
        assert same_slot
        assert a.value == b.value
        assert a.negated != b.negated
    elif case["kind"] == "conflict":
        assert same_slot
        assert a.exclusive
        assert a.value != b.value
    else:
        assert not (same_slot and (a.exclusive or a.value == b.value))


def test_the_labelled_set_is_complete() -> None:
    assert len(labelled("updates")) == 60
    negatives = labelled("negatives")
    assert len(negatives) == 60
    assert {case["kind"] for case in negatives} == {"nothing", "opposite", "conflict", "apart"}
