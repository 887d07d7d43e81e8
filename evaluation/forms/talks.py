"""The talks of ``talks.txt`` as stores, and which of their questions are held back from tuning."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from pathlib import Path

FILE = Path(__file__).with_name("talks.txt")
TOLD = Path(__file__).with_name("told.txt")
TALKS_PER_STORE = 4
BEGIN = datetime(2025, 1, 6, 18, tzinfo=UTC)
BETWEEN_SESSIONS = timedelta(days=4)
SAID_PER_SESSION = 6
# What an assistant says to it, in the words of the person.
REPLIES = (
    'Thank you for telling me. "{}" I will keep it in mind and come back to it when it helps.',
    "That is good to know: {} Shall we look at what follows from it? I can go through the next "
    "steps with you, list what is needed, or simply take a note.",
    "Understood. {} If anything changes, let me know; until then I work with that.",
)


@dataclass(frozen=True, slots=True)
class Asked:
    """``wanted`` are the ids of the messages that belong to the answer."""

    kind: str
    text: str
    wanted: frozenset[str]

    @property
    def held_back(self) -> bool:
        """Half of the questions: nothing was tuned on them."""
        return blake2b(self.text.encode(), digest_size=1).digest()[0] % 2 == 0


@dataclass(frozen=True, slots=True)
class Said:
    id: str
    session: str
    role: str
    text: str
    at: datetime


@dataclass(slots=True)
class Talk:
    name: str
    lines: list[tuple[str, str]] = field(default_factory=list)  # id, text
    questions: list[Asked] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class TalkStore:
    """Everything that one person said in some months, about several things."""

    messages: list[Said]
    questions: list[Asked]
    asked_at: datetime


def talks(file: Path = FILE) -> list[Talk]:
    """ValueError names the line that does not fit."""
    found: list[Talk] = []
    for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("= "):
            found.append(Talk(line[2:]))
        elif not found or not _taken(found[-1], line, number):
            raise ValueError(f"{file.name}, line {number}: {line!r} is no part of a talk")
    return found


def _taken(talk: Talk, line: str, number: int) -> bool:
    mark, _, rest = line.partition(" ")
    head, _, question = (part.strip() for part in rest.partition("|"))
    id_ = f"{talk.name}-{number}"
    if mark in ("!", "~") and question:
        talk.lines.append((id_, head))
        kind = "instruction" if mark == "!" else "preference"
        talk.questions.append(Asked(kind, question, frozenset([id_])))
    elif mark == "+":
        thread, _, text = head.partition(" ")
        talk.lines.append((f"{id_}-{thread}", text))
    elif mark == "-":
        talk.lines.append((id_, head))
    elif mark == "?" and question:
        kind, _, thread = head.partition(" ")
        wanted = frozenset(one for one, _ in talk.lines if one.endswith(f"-{thread}"))
        talk.questions.append(Asked(kind, question, wanted))
        return bool(wanted)
    else:
        return False
    return True


def stores(file: Path = FILE) -> Iterator[TalkStore]:
    """Talks of a few things, told by turns over the sessions; what happened stays in order."""
    found = talks(file)
    for start in range(0, len(found), TALKS_PER_STORE):
        group = found[start : start + TALKS_PER_STORE]
        questions = [asked for talk in group for asked in talk.questions]
        messages = _spoken(_mixed(group, seed=start))
        asked_at = max(said.at for said in messages) + BETWEEN_SESSIONS
        yield TalkStore(messages, questions, asked_at)


def told(file: Path = TOLD) -> list[TalkStore]:
    """What was told at other times than it happened; ValueError names the line that does not
    fit."""
    found: list[TalkStore] = []
    for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
        mark, _, rest = line.partition(" ")
        head, _, tail = (part.strip() for part in rest.partition("|"))
        if mark == "=":
            found.append(TalkStore([], [], _day(tail)))
        elif mark == "+":
            id_, day, text = head.split(" ", 2)
            found[-1].messages.append(Said(id_, f"session-{id_}", "user", text, _day(day)))
        elif mark == "?" and {said.id for said in found[-1].messages}.issuperset(tail.split()):
            found[-1].questions.append(Asked("told", head, frozenset(tail.split())))
        elif mark and mark != "#":
            raise ValueError(f"{file.name}, line {number}: {line!r} is no part of a store")
    return found


def _day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(hour=12, tzinfo=UTC)


def _mixed(group: list[Talk], seed: int) -> list[tuple[str, str]]:
    draw = random.Random(seed)
    lines = [line for talk in group for line in talk.lines]
    mixed = draw.sample(lines, len(lines))
    # Each thread takes the places that its lines were drawn to, in the order of what happened.
    threads: dict[str, list[tuple[str, str]]] = {}
    for line in lines:
        threads.setdefault(_thread(line[0]), []).append(line)
    return [threads[_thread(id_)].pop(0) for id_, _ in mixed]


def _thread(id_: str) -> str:
    talk, number, *thread = id_.split("-")
    return f"{talk}-{thread[0]}" if thread else f"{talk}-{number}"


def _spoken(lines: list[tuple[str, str]]) -> list[Said]:
    found: list[Said] = []
    for place, (id_, text) in enumerate(lines):
        session, turn = divmod(place, SAID_PER_SESSION)
        at = BEGIN + session * BETWEEN_SESSIONS + turn * timedelta(minutes=3)
        name = f"session-{session}"
        found.append(Said(id_, name, "user", text, at))
        reply = REPLIES[place % len(REPLIES)].format(text)
        found.append(Said(f"{id_}-reply", name, "assistant", reply, at + timedelta(minutes=1)))
    return found
