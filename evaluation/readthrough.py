"""``python -m evaluation.readthrough [FILES]``: what a memory holds after natural conversations.

A file is a conversation: a line of JSON that says what it is about and what to ask, then one line
for each message. Printed for somebody to read and to mark line by line: the memories that are
believed, what waits for a decision, what was said and no longer holds, and the context for each
question. Nothing is judged here.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from standfast import AsyncMemory
from standfast.types import Record, Type

FOLDER = Path(__file__).parent / "talks"
SCOPE = "user:reader"
PAUSE = timedelta(hours=3)  # after so long it is another session
KEPT: tuple[Type, ...] = ("fact", "preference", "user_request", "procedure", "episode")
TOKENS = 600


def conversation(path: Path) -> tuple[Mapping[str, Any], list[Mapping[str, Any]]]:
    """ValueError: the file is no conversation."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    if not rows or "about" not in rows[0]:
        raise ValueError(f"{path} does not begin with what it is about")
    return rows[0], rows[1:]


async def lived(messages: Sequence[Mapping[str, Any]]) -> tuple[AsyncMemory, datetime]:
    """A memory that heard them, each at its own time."""
    now = [datetime.fromisoformat(messages[0]["at"])]
    memory = await AsyncMemory.open("dict:", background=False, clock=lambda: now[0])
    session, before = 0, now[0]
    for row in messages:
        now[0] = datetime.fromisoformat(row["at"])
        session += now[0] - before > PAUSE
        before = now[0]
        said = {"role": row["role"], "content": row["text"], "at": row["at"]}
        author = row.get("speaker", "") if row["role"] == "user" else ""
        await memory.observe(f"talk {session}", [said], scope=SCOPE, author=author)
        await memory.maintain()
    return memory, now[0]


async def printed(path: Path) -> list[str]:
    about, messages = conversation(path)
    memory, _ = await lived(messages)
    async with memory:
        found = await memory.records(scope=SCOPE, types=KEPT, limit=500)
        lines = [f"== {path.stem}: {about['about']} ({about['lang']}, {len(messages)} messages)"]
        lines += _listed("believed", [one for one in found.items if one.status == "active"])
        lines += _listed("in doubt", [one for one in found.items if one.status == "disputed"])
        over = [one for one in found.items if one.status == "superseded"]
        lines += _listed("replaced", over)
        waiting = await memory.review(scope=SCOPE)
        lines += [
            f"-- review: {len(waiting)}",
            *(f"  {one.why}: {one.record.text}" for one in waiting if one.record),
        ]
        for question in about.get("questions", ()):
            packet = await memory.context(scope=SCOPE, query=question, tokens=TOKENS)
            lines += [f"-- asked: {question}", packet.text]
    return lines


def _listed(name: str, records: Sequence[Record]) -> Iterator[str]:
    yield f"-- {name}: {len(records)}"
    for one in records:
        until = f" (until {one.valid_to:%Y-%m-%d})" if one.valid_to else ""
        yield f"  {one.type:<13}{one.text}{until}"


def main(arguments: Sequence[str] | None = None) -> int:
    named = sys.argv[1:] if arguments is None else arguments
    paths = [Path(one) for one in named] or sorted(FOLDER.glob("*.jsonl"))
    for path in paths:
        try:
            print("\n".join(asyncio.run(printed(path))), flush=True)
        except (OSError, ValueError, KeyError) as error:
            print(f"error: {path}: {error}", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
