"""``python -m evaluation.learning.lives``: whole lives of invented people, months of talk with many
facts and changes side by side. What must be known at the end, and what must no longer be?

A pair of sentences shows whether a change is seen; only a life shows what else it takes away. A
file: the name; ``@N`` begins the session of day N; ``> `` the user, ``< `` the assistant; ``+ ``
a form of what must be believed or openly doubted at the end, ``- `` of what must not be believed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from evaluation.learning.living import SCOPE, Belief, believed, opened
from evaluation.running import embedder_named
from standfast.ports import Embedder
from standfast.types import Type

FOLDER = Path(__file__).parent / "lives"
HELD = "held"  # the folder of those that nothing was tuned on
BEGUN = datetime(2026, 9, 1, 9, tzinfo=UTC)
KEPT: Sequence[Type] = (
    "fact",
    "preference",
    "user_request",
    "interest",
    "entity",
    "procedure",
)  # no episodes
MINUTE = timedelta(minutes=1)
_OVER = re.compile(r"no longer|not any ?more|used to|\bleft\b|\bwas\b")


@dataclass(frozen=True, slots=True)
class Life:
    name: str
    who: str
    sessions: Sequence[tuple[int, Sequence[tuple[str, str]]]]
    holds: Sequence[str]
    gone: Sequence[str]


@dataclass(frozen=True, slots=True)
class Outcome:
    """``taken``: what must hold, and was known once and taken away; ``unknown``: never learned;
    ``still``: what is believed though it is over. ``doubted``: what holds and is openly doubted,
    which is no fault but a question too many."""

    life: Life
    taken: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    still: list[str] = field(default_factory=list)
    doubted: list[str] = field(default_factory=list)

    @property
    def checks(self) -> int:
        return len(self.life.holds) + len(self.life.gone)

    @property
    def right(self) -> int:
        return self.checks - len(self.taken) - len(self.unknown) - len(self.still)


def lives(folder: Path = FOLDER) -> list[Life]:
    return [_life(file) for file in sorted(folder.glob("*.txt"))]


def _life(file: Path) -> Life:
    who, *lines = file.read_text("utf-8").splitlines()
    sessions: list[tuple[int, list[tuple[str, str]]]] = []
    holds: list[str] = []
    gone: list[str] = []
    for line in filter(None, lines):
        mark, rest = line[0], line[1:].strip()
        if mark == "@":
            sessions.append((int(rest), []))
        elif mark in "><":
            sessions[-1][1].append(("user" if mark == ">" else "assistant", rest))
        else:
            {"+": holds, "-": gone}[mark].append(rest)
    return Life(file.stem, who, sessions, holds, gone)


async def outcome(life: Life, embedder: Embedder | None) -> Outcome:
    """After the last session; each is ended, and upkeep runs behind it."""
    now = [BEGUN]
    async with await opened(embedder, now) as memory:
        for day, lines in life.sessions:
            session = f"day {day}"
            now[0] = BEGUN + timedelta(days=day)
            for role, text in lines:
                now[0] += MINUTE
                author = life.who if role == "user" else "assistant"
                said = {"role": role, "content": text, "author": author}
                await memory.observe(session, [said], scope=SCOPE)
            await memory.end(session, scope=SCOPE)
            await memory.maintain()
        return _compared(life, await believed(memory, now[0], KEPT))


def _compared(life: Life, beliefs: Sequence[Belief]) -> Outcome:
    found = Outcome(life)
    current = [one for one in beliefs if one.current]
    for form in life.holds:
        if not _any(form, current):
            (found.taken if _any(form, beliefs) else found.unknown).append(form)
        elif not _any(form, [one for one in current if one.status != "disputed"]):
            found.doubted.append(form)
    sure = [one for one in current if not one.doubted and not _OVER.search(one.text)]
    found.still.extend(form for form in life.gone if _any(form, sure))
    return found


def _any(form: str, beliefs: Sequence[Belief]) -> bool:
    return any(re.search(form, one.text) for one in beliefs)


def render(title: str, found: Sequence[Outcome], *, details: bool) -> Iterator[str]:
    if details:
        for one in found:
            yield f"{one.life.name}: {one.right} of {one.checks}"
            for what in ("taken", "unknown", "still", "doubted"):
                yield from (f"  {what}: {form}" for form in getattr(one, what))
    right, checks = sum(one.right for one in found), sum(one.checks for one in found)
    taken, unknown, still, doubted = (
        sum(len(getattr(one, what)) for one in found)
        for what in ("taken", "unknown", "still", "doubted")
    )
    yield (
        f"{title}: {len(found)} lives, {right} of {checks} right, {right / max(checks, 1):.0%}"
        f" (taken away {taken}, never learned {unknown}, still believed {still};"
        f" in doubt though it holds {doubted})"
    )


async def _run(names: Sequence[str], embedder_name: str, *, details: bool) -> None:
    embedder = await embedder_named(embedder_name, None, os.cpu_count() or 1)
    for title, folder in (("open", FOLDER), ("held back", FOLDER / HELD)):
        chosen = [one for one in lives(folder) if not names or one.name in names]
        found = [await outcome(one, embedder) for one in chosen]
        if found:
            print("\n".join(render(title, found, details=details and folder == FOLDER)))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m evaluation.learning.lives")
    parser.add_argument("life", nargs="*", help="only these")
    parser.add_argument("--details", action="store_true", help="what is wrong in the open ones")
    parser.add_argument("--embedder", default="auto", help="auto (default), hashing, none")
    options = parser.parse_args(arguments)
    known = {one.name for folder in (FOLDER, FOLDER / HELD) for one in lives(folder)}
    if unknown := sorted(set(options.life) - known):
        parser.error(f"there is no life {unknown[0]!r}; there are {', '.join(sorted(known))}")
    asyncio.run(_run(options.life, options.embedder, details=options.details))
    return 0


if __name__ == "__main__":
    sys.exit(main())
