"""What a workspace held before standfast came: its sessions and its log, read in once.

Messages get an id made of their place, where they have none, and entries of the log get the comment
of the episode that they became: so whatever is read a second time is known.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

from standfast.errors import StandfastError
from standfast.interfaces.markdown.edits import flat
from standfast.interfaces.markdown.folders import Folder
from standfast.interfaces.markdown.history import HistoryEntry, id_of_entry
from standfast.interfaces.markdown.intake import ACTOR, EditOutcome
from standfast.interfaces.markdown.mirror import read_history
from standfast.interfaces.markdown.view import episodes_of
from standfast.interfaces.markdown.workspace import HISTORY_FILE, session_file
from standfast.memory import AsyncMemory
from standfast.types.frozen import frozen

SUFFIX = ".jsonl"
KEPT_AS = ".before"  # a file of which not every line was understood
SESSION_BYTES_MAX = 64 << 20
MESSAGES_PER_CALL = 500
# Where other programs write when something was said.
TIMES = ("at", "timestamp", "time", "created_at", "ts")
SECONDS_MAX = 1e11  # larger numbers are milliseconds

_ENTRY = re.compile(
    r"[-*]?\s*\[?(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(?::\d\d)?)?Z?\]?\s*[:-]?\s+(\S.*)"
)


@dataclass(slots=True)
class FoundSession:
    """A session's file: its messages, and how many lines are none."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    strange: int = 0


async def take_in_sessions(
    memory: AsyncMemory, scope: str, folder: Folder, ours: Sequence[str], outcome: EditOutcome
) -> None:
    """Sessions whose files are not ours. What cannot be read is named, and nothing of it lost."""
    foreign = [name for name in folder.names() if name.endswith(SUFFIX) and name not in ours]
    for name in sorted(foreign):
        try:
            found = folder.read(name, SESSION_BYTES_MAX)
        except StandfastError:
            continue  # a link, or far too long: not a session that somebody left
        if found is None:
            continue
        session = _session_of(name)
        read = read_session(found[0], session)
        try:
            stored = await _observed(memory, scope, session, read.messages)
        except StandfastError as error:
            outcome.notes.append(f"sessions/{name} was not read in: {error}")
            read.strange += 1
            stored = 0
        if read.strange and folder.create(name + KEPT_AS, found[0]):
            outcome.notes.append(
                f"sessions/{name}: {read.strange} lines are no messages; the file as it was is "
                f"kept as {name}{KEPT_AS}"
            )
        if stored:
            outcome.notes.append(f"sessions/{name} was read in: {stored} messages")


async def _observed(
    memory: AsyncMemory, scope: str, session: str, messages: Sequence[dict[str, Any]]
) -> int:
    stored = 0
    for start in range(0, len(messages), MESSAGES_PER_CALL):
        part = messages[start : start + MESSAGES_PER_CALL]
        receipt = await memory.observe(session, part, scope=scope, actor=ACTOR)
        stored += sum(item.status == "stored" for item in receipt.items)
    return stored


def _session_of(name: str) -> str:
    stem = name.removesuffix(SUFFIX)
    plain = unquote(stem)
    return plain if session_file(plain) == name else stem


def read_session(data: bytes, session: str) -> FoundSession:
    """One JSON object a line; what has no role is no message. Pure."""
    found = FoundSession()
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        message = _message(line, f"{session}\0{number}")
        if message is None:
            found.strange += 1
        else:
            found.messages.append(message)
    return found


def _message(line: bytes, place: str) -> dict[str, Any] | None:
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict) or not isinstance(told.get("role"), str):
        return None
    if not told.get("id"):
        named = place.encode("utf-8", "surrogatepass") + b"\0" + line.strip()
        told["id"] = hashlib.blake2b(named, digest_size=16).hexdigest()
    at = next((moment for name in TIMES if (moment := _moment(told.get(name)))), None)
    if at is not None:
        told = {name: value for name, value in told.items() if name not in TIMES}
        told["at"] = at.isoformat()
    return told


def _moment(value: Any) -> datetime | None:
    try:
        if isinstance(value, bool) or value is None:
            return None
        if isinstance(value, int | float):
            return datetime.fromtimestamp(value / 1000 if value > SECONDS_MAX else value, UTC)
        moment = datetime.fromisoformat(str(value))
    except (ValueError, OverflowError, OSError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


# The log


@frozen
class FoundEntry:
    first: int
    last: int  # behind its last line
    at: datetime
    text: str


async def take_in_log(
    memory: AsyncMemory, scope: str, folder: Folder, outcome: EditOutcome, *, torn: bool
) -> None:
    """Entries that are not ours become episodes of their time. ``torn``: a last line without an
    end may be one of ours that a killed writer began."""
    text = read_history(folder)
    complete = text[: text.rfind("\n") + 1] if torn else text
    entries = list(entries_in(complete))
    if not entries:
        return
    known = {flat(record.text): record.id for record in await episodes_of(memory.engine, scope)}
    lines: list[str | None] = list(text.split("\n"))
    taken = 0
    for entry in entries:
        try:
            id_ = known.get(flat(entry.text)) or await _remembered(memory, scope, entry)
        except StandfastError as error:
            outcome.notes.append(f"HISTORY.md line {entry.first + 1} was not read in: {error}")
            continue
        known[flat(entry.text)] = id_
        lines[entry.first : entry.last] = [None] * (entry.last - entry.first)
        written = HistoryEntry(id=f"episode:{id_}", at=entry.at, text=entry.text)
        lines[entry.first] = written.line.removesuffix("\n")
        taken += 1
    if taken:
        kept = "\n".join(line for line in lines if line is not None)
        folder.replace(HISTORY_FILE, kept.encode())
        outcome.notes.append(f"HISTORY.md was read in: {taken} entries")


async def _remembered(memory: AsyncMemory, scope: str, entry: FoundEntry) -> str:
    receipt = await memory.remember(
        entry.text,
        scope=scope,
        type="episode",
        source="file",
        valid_from=entry.at.isoformat(),
        actor=ACTOR,
    )
    return receipt.items[0].id


def entries_in(text: str) -> Iterator[FoundEntry]:
    """Entries of somebody else's: a line that begins with a time, and the lines right below it
    that begin with none and are no headings. Pure."""
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        found = _ENTRY.match(lines[number].rstrip())
        first, number = number, number + 1
        if found is None or id_of_entry(lines[first]):
            continue
        told = [found[3]]
        while number < len(lines) and _goes_on(lines[number]):
            told.append(lines[number].strip())
            number += 1
        try:
            at = datetime.fromisoformat(f"{found[1]}T{found[2] or '00:00'}:00+00:00")
        except ValueError:
            continue  # a 31st of February is no time
        yield FoundEntry(first=first, last=number, at=at, text=" ".join(told))


def _goes_on(line: str) -> bool:
    plain = line.strip()
    return (
        bool(plain) and not plain.startswith(("#", "[", "<!--", "---")) and not _ENTRY.match(plain)
    )
