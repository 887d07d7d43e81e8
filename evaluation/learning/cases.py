"""The sets: one file of JSON lines each, one case a line.

A case has an ``id``, a language, the ``turns`` (plain strings are the user's), and what should come
of them as groups of keywords, see ``matching``:

- ``believe``: each of these must be believed at the end;
- ``gone``: none of these may be believed as current any more (``pairs``, ``corrections``), or ever
  (``talks`` with an assistant, who asks and guesses);
- ``also``: what may be believed besides (elsewhere);
- ``end``: the change is an end, so it is enough that what was believed is closed.

``at`` gives the times of the turns where they matter, ``author`` who speaks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args

from evaluation.cases import DataError

SetName = Literal["pairs", "corrections", "tricky", "pastes", "harmless", "everyday", "talks"]
Half = Literal["tune", "held"]
Part = Literal[
    "tune",
    "held",
    "second",
    "third, tune",
    "third, held",
    "fourth, tune",
    "fourth, held",
    "fifth, tune",
    "fifth, held",
    "sixth, held",
    "seventh, tune",
    "seventh, held",
    "eighth, tune",
    "eighth, held",
]
SETS: tuple[SetName, ...] = get_args(SetName)
HALVES: tuple[Half, ...] = get_args(Half)
PARTS: tuple[Part, ...] = get_args(Part)
LANGUAGES = ("en", "de", "fr", "es", "zh")
FOLDER = Path(__file__).parent / "sets"
LATER = (
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",  # all of it is held back
    "seventh",
    "eighth",
)  # each written when the rules had been tuned on those before it
FIELDS = {"id", "lang", "turns", "believe", "gone", "also", "end", "at", "author"}

START = datetime(2026, 3, 9, 9, 0, tzinfo=UTC)  # a Monday
PAUSE: Mapping[SetName, timedelta] = {  # between two turns of a case that gives no times
    "pairs": timedelta(days=31),
    "corrections": timedelta(minutes=1),
    "tricky": timedelta(hours=1),
    "pastes": timedelta(hours=1),
    "harmless": timedelta(days=2),
    "everyday": timedelta(hours=1),
    "talks": timedelta(minutes=1),
}
SESSION_PAUSE = timedelta(hours=6)  # whoever comes back later begins a new conversation


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message, and the session it belongs to."""

    text: str
    role: str
    at: datetime
    session: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What is said, and what should be believed after it."""

    id: str
    set: SetName
    lang: str
    turns: Sequence[Turn]
    believe: Sequence[str]
    gone: Sequence[str]
    also: Sequence[str]
    end: bool
    author: str
    later: str = ""  # one of LATER

    @property
    def half(self) -> Part:
        return _PARTS[self.later, half_of(self.id)]

    @property
    def text(self) -> str:
        return " >> ".join(turn.text for turn in self.turns)


_PARTS: Mapping[tuple[str, Half], Part] = {
    ("", "tune"): "tune",
    ("", "held"): "held",
    ("second", "tune"): "second",
    ("second", "held"): "second",
    ("third", "tune"): "third, tune",
    ("third", "held"): "third, held",
    ("fourth", "tune"): "fourth, tune",
    ("fourth", "held"): "fourth, held",
    ("fifth", "tune"): "fifth, tune",
    ("fifth", "held"): "fifth, held",
    ("sixth", "tune"): "sixth, held",
    ("sixth", "held"): "sixth, held",
    ("seventh", "tune"): "seventh, tune",
    ("seventh", "held"): "seventh, held",
    ("eighth", "tune"): "eighth, tune",
    ("eighth", "held"): "eighth, held",
}


def half_of(id_: str) -> Half:
    """By the id alone, so that a case never changes sides when others come or go."""
    return HALVES[_digest(id_)[0] % 2]


def author_of(id_: str) -> str:
    """Half of the cases are told by somebody with a name: lessons are worded differently then."""
    return ("Ann", "")[_digest(id_)[1] % 2]


def _digest(id_: str) -> bytes:
    return sha256(id_.encode()).digest()


def load(name: SetName, folder: Path = FOLDER, later: str = "") -> list[Case]:
    """All cases of a set, or DataError with the place of the fault."""
    path = folder / later / f"{name}.jsonl"
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error}") from error
    return [
        _case(name, line, f"{path.name}:{number}", later) for number, line in enumerate(lines, 1)
    ]


def load_all(name: SetName) -> list[Case]:
    """The set, and what the later ones have of its kind."""
    sets = [later for later in ("", *LATER) if (FOLDER / later / f"{name}.jsonl").exists()]
    return [case for later in sets for case in load(name, later=later)]


def _case(name: SetName, line: str, place: str, later: str) -> Case:
    try:
        given = json.loads(line)
        if unknown := set(given) - FIELDS:
            raise DataError(f"{place}: unknown fields {sorted(unknown)}; known: {sorted(FIELDS)}")
        return Case(
            id=given["id"],
            set=name,
            lang=given["lang"],
            turns=list(_turns(name, given)),
            believe=given.get("believe", []),
            gone=given.get("gone", []),
            also=given.get("also", []),
            end=given.get("end", False),
            author=given.get("author", author_of(given["id"])),
            later=later,
        )
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{place} is no case: {error!r}") from error


def _turns(name: SetName, given: Mapping[str, Any]) -> Iterator[Turn]:
    times = _times(name, given)
    session = 1
    for place, (said, at) in enumerate(zip(given["turns"], times, strict=True)):
        if place and at - times[place - 1] > SESSION_PAUSE:
            session += 1
        message = said if isinstance(said, dict) else {"role": "user", "content": said}
        yield Turn(text=message["content"], role=message["role"], at=at, session=f"chat/{session}")


def _times(name: SetName, given: Mapping[str, Any]) -> list[datetime]:
    if "at" not in given:
        return [START + PAUSE[name] * place for place in range(len(given["turns"]))]
    times = [_moment(text) for text in given["at"]]
    if any(later <= earlier for earlier, later in pairwise(times)):
        raise ValueError("the times of the turns must rise")
    return times


def _moment(text: str) -> datetime:
    """A day alone is its morning."""
    at = datetime.fromisoformat(text).replace(tzinfo=UTC)
    return at.replace(hour=START.hour) if "T" not in text else at
