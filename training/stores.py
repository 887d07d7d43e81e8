"""What training learns from: small memories, each with questions whose evidence is known."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

# How the evidence belongs to the question.
ANSWER = "answer"  # it holds the answer
TOPIC = "topic"  # it is about the same thing
WISH = "wish"  # it says how such a request is to be met
KINDS = (ANSWER, TOPIC, WISH)

TEXT_MAX = 1500  # characters of a turn: more than the model reads


class Turn(NamedTuple):
    speaker: str  # a name, "user", "assistant", or nobody
    text: str


class Place(NamedTuple):
    session: int
    turn: int


@dataclass(frozen=True, slots=True)
class Asked:
    """One question of a store, or of a session that will be part of one."""

    text: str
    evidence: Sequence[Place]
    kind: str = ANSWER


@dataclass(frozen=True, slots=True)
class Session:
    """Turns in order, with questions about them; the places say session 0."""

    turns: Sequence[Turn]
    questions: Sequence[Asked]


@dataclass(frozen=True, slots=True)
class Store:
    source: str
    sessions: Sequence[Sequence[Turn]]
    questions: Sequence[Asked]

    @property
    def turns(self) -> int:
        return sum(map(len, self.sessions))


def joined(source: str, sessions: Iterable[Session], turns_max: int) -> Iterator[Store]:
    """Sessions in order, as many together as have no more than ``turns_max`` turns. A session
    that is longer than that is a store of its own."""
    group: list[Session] = []
    for session in sessions:
        count = sum(len(one.turns) for one in group)
        if group and count + len(session.turns) > turns_max:
            yield _store(source, group)
            group = []
        group.append(session)
    if group:
        yield _store(source, group)


def _store(source: str, sessions: Sequence[Session]) -> Store:
    questions = [
        Asked(asked.text, [Place(number, place.turn) for place in asked.evidence], asked.kind)
        for number, session in enumerate(sessions)
        for asked in session.questions
    ]
    return Store(source, [session.turns for session in sessions], questions)


def voiced(texts: Sequence[str], names: Sequence[str], rng: random.Random) -> list[Turn]:
    """Text that nobody said: half of the time nobody says it, else two of ``names`` in turn."""
    if rng.random() < 0.5:
        return [Turn("", text) for text in texts]
    two = rng.sample(list(names), 2)
    return [Turn(two[number % 2], text) for number, text in enumerate(texts)]


def cleaned(store: Store) -> Store | None:
    """Without empty turns, questions without evidence, and evidence that is not there; None
    where nothing is left to learn."""
    texts = [[" ".join(turn.text.split())[:TEXT_MAX] for turn in one] for one in store.sessions]
    there = {
        Place(number, place)
        for number, session in enumerate(texts)
        for place, text in enumerate(session)
        if text
    }
    questions = []
    for asked in store.questions:
        evidence = sorted(set(asked.evidence) & there)
        text = " ".join(asked.text.split())
        if evidence and text:
            questions.append(Asked(text, evidence, asked.kind))
    if not questions:
        return None
    sessions = [
        [Turn(turn.speaker, text) for turn, text in zip(one, found, strict=True)]
        for one, found in zip(store.sessions, texts, strict=True)
    ]
    return Store(store.source, sessions, questions)


def write(stores: Iterable[Store], path: Path) -> None:
    """One JSON object a line; the same bytes for the same stores."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as file:
        for store in stores:
            row = {
                "source": store.source,
                "sessions": store.sessions,
                "questions": [[q.text, q.kind, list(q.evidence)] for q in store.questions],
            }
            file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")


def read(path: Path) -> Iterator[Store]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            yield Store(
                row["source"],
                [[Turn(*turn) for turn in session] for session in row["sessions"]],
                [
                    Asked(text, [Place(*place) for place in evidence], kind)
                    for text, kind, evidence in row["questions"]
                ],
            )
