"""``python -m evaluation.learning.sequels``: statements, and what the same person says weeks later.

A file of ``sets/sequels``: ``= `` a statement, below it ``+ `` messages that change it and ``- ``
messages that leave it true. Each message is said in a world of its own, through the public
interface. Right after ``+`` is that the statement is no longer plainly believed: closed, replaced,
disputed or questioned; right after ``-`` that it still is. What was never learned is right in
neither. ``open.txt`` is for tuning and fitting; nothing was tuned on ``held.txt``, and of it only
totals are printed. ``plain.txt`` are short everyday ones; rules were mended after they were seen.
``--news``: of what was written for news-1 the part that is held apart; ``~ `` are messages there
that leave the statement true and tell something else that lasts.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from evaluation.cases import DataError
from evaluation.learning.cases import FOLDER, START
from evaluation.learning.lives import KEPT
from evaluation.learning.living import MOMENT, Belief, believed, opened
from evaluation.learning.matching import covers, is_garbled
from evaluation.running import embedder_named
from standfast.ports import Embedder

SEQUELS = FOLDER / "sequels"
NEWS = FOLDER / "news"  # more of them, and whole lives, for training
NEWS_HELD = NEWS / "held" / "held.txt"
OPEN, HELD, PLAIN = "open.txt", "held.txt", "plain.txt"
LATER = timedelta(days=31)
WORLDS = 100  # in one store, each a scope of its own
AUTHORS = ("Ann", "")  # half of it is told by somebody with a name


@dataclass(frozen=True, slots=True)
class Sequel:
    """``changes``: whether what was said later makes the statement untrue."""

    statement: str
    said: str
    changes: bool
    author: str


@dataclass(frozen=True, slots=True)
class Ending:
    """``first``: what was learned of the statement; ``after``: all that is known at the end."""

    sequel: Sequel
    first: Sequence[Belief]
    after: Sequence[Belief]

    @property
    def learned(self) -> bool:
        return any(one.current and not is_garbled(one.text) for one in self.first)

    @property
    def right(self) -> bool:
        return self.learned and self.sequel.changes != self.stands

    @property
    def stands(self) -> bool:
        """Whether all of it is plainly believed, or said by something that is."""
        plain = [one for one in self.after if one.current and not one.doubted]
        return all(
            any(one.id == old.id or covers(one.text, old.text) for one in plain)
            for old in self.first
            if old.current
        )


def sequels(file: Path) -> list[Sequel]:
    """All of a file, or DataError with the place of the fault."""
    found: list[Sequel] = []
    statement, count = "", 0
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        mark, text = line[:2], line[2:].strip()
        if mark not in ("= ", "+ ", "- ", "~ ") or not text or (mark != "= " and not statement):
            raise DataError(f"{file.name}:{number} is no statement and no message after one")
        if mark == "= ":
            statement, count = text, count + 1
        else:
            found.append(Sequel(statement, text, mark == "+ ", AUTHORS[count % len(AUTHORS)]))
    return found


async def endings(told: Sequence[Sequel], embedder: Embedder | None) -> list[Ending]:
    found: list[Ending] = []
    for start in range(0, len(told), WORLDS):
        found += await _played(told[start : start + WORLDS], embedder)
    return found


async def _played(told: Sequence[Sequel], embedder: Embedder | None) -> list[Ending]:
    now = [START]
    async with await opened(embedder, now) as memory:
        scopes = [f"user:evaluated{place}" for place in range(len(told))]
        first: list[list[Belief]] = []
        for session, field in (("chat/1", "statement"), ("chat/2", "said")):
            for scope, one in zip(scopes, told, strict=True):
                said = {"role": "user", "content": getattr(one, field), "at": now[0]}
                await memory.observe(session, [said], scope=scope, author=one.author)
            now[0] += MOMENT
            await memory.maintain()
            after = [await believed(memory, now[0], KEPT, scope=scope) for scope in scopes]
            first = first or after
            now[0] = START + LATER
        return [Ending(*one) for one in zip(told, first, after, strict=True)]


def render(title: str, found: Sequence[Ending]) -> Iterator[str]:
    statements = {(one.sequel.statement, one.sequel.author): one.learned for one in found}
    yield f"{title}: {_share(list(statements.values()))} statements learned"
    for kind, changes in (("changes", True), ("harmless", False)):
        right = [one.right for one in found if one.sequel.changes == changes]
        known = [one.right for one in found if one.sequel.changes == changes and one.learned]
        yield f"  {kind:8} {_share(right)} right; of those to a learned statement {_share(known)}"


def _share(right: Sequence[bool]) -> str:
    return f"{sum(right)} of {len(right)}, {sum(right) / max(len(right), 1):.1%}"


def wrong(found: Sequence[Ending]) -> Iterator[str]:
    for one in found:
        if not one.right:
            mark = "+" if one.sequel.changes else "-"
            yield f"{'' if one.learned else 'NOT LEARNED '}= {one.sequel.statement}"
            yield f"    {mark} {one.sequel.said}"
            yield from (f"        {belief}" for belief in one.after)


async def _run(embedder_name: str, *, details: bool, news: bool) -> None:
    embedder = await embedder_named(embedder_name, None, os.cpu_count() or 1)
    files = {
        "open": SEQUELS / OPEN,
        "held apart": SEQUELS / HELD,
        "in plain words": SEQUELS / PLAIN,
    }
    for title, file in {"news, held apart": NEWS_HELD}.items() if news else files.items():
        found = await endings(sequels(file), embedder)
        if details and "held" not in title:
            print("\n".join(wrong(found)))
        print("\n".join(render(title, found)), flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m evaluation.learning.sequels")
    parser.add_argument("--failures", action="store_true", help="what is wrong in the open ones")
    parser.add_argument("--embedder", default="auto", help="auto (default), hashing, none")
    parser.add_argument("--news", action="store_true", help="what was written for news-1, instead")
    options = parser.parse_args(arguments)
    try:
        asyncio.run(_run(options.embedder, details=options.failures, news=options.news))
    except DataError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
