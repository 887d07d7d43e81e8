"""The store's side of a workspace: its facts, its log and its sessions, written into files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any

from standfast.engine import Engine, every_message, every_summary
from standfast.errors import Invalid
from standfast.interfaces.markdown.edits import Written
from standfast.interfaces.markdown.folders import Folder
from standfast.interfaces.markdown.history import (
    HistoryEntry,
    entry_of_episode,
    entry_of_summary,
    ids_in,
    torn_end,
    without,
    without_torn_end,
)
from standfast.interfaces.markdown.pages import EMPTY_HISTORY, FactLine, fact_line, render
from standfast.interfaces.markdown.patches import Wanted
from standfast.interfaces.markdown.view import (
    conflict_groups,
    count_of_waiting,
    episodes_of,
    records_by_id,
    sessions_of,
)
from standfast.interfaces.markdown.workspace import HISTORY_FILE, session_file
from standfast.scopes import root_of
from standfast.text.compare import text_hash
from standfast.text.dialects import original_of
from standfast.types import Message, Record, Session, SessionKey, Summary, origin_mark
from standfast.types.frozen import frozen
from standfast.types.invisible import spelled_out
from standfast.upkeep.fold import session_policy

SNAPSHOT_FILE = ".last.json"
SNAPSHOT_BYTES_MAX = 64 << 20
PAGE_BYTES_MAX = 5 << 20
PAGE_BYTES_WRITTEN_MAX = PAGE_BYTES_MAX - (64 << 10)  # room for titles and notices
HISTORY_BYTES_MAX = 1 << 30
PAGE = 500


@frozen
class WorkspaceSnapshot:
    """What the files held when we wrote them last. Texts are kept as hashes only."""

    scope: str
    lines: Mapping[str, Written] = field(default_factory=dict)
    sessions: tuple[str, ...] = ()  # names of the session files
    seen: Mapping[str, str] = field(default_factory=dict)  # of a person's texts: hash -> fact


def read_snapshot(folder: Folder) -> WorkspaceSnapshot | None:
    """None if there is none that can be read; then the files are compared without it."""
    try:
        found = folder.read(SNAPSHOT_FILE, SNAPSHOT_BYTES_MAX)
        told = json.loads(found[0]) if found else None
        if not isinstance(told, dict):
            return None
        return WorkspaceSnapshot(
            scope=str(told["scope"]),
            lines={str(id_): _written(line) for id_, line in told["lines"].items()},
            sessions=tuple(map(str, told["sessions"])),
            seen={str(hash_): str(id_) for hash_, id_ in told.get("seen", {}).items()},
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _written(line: Mapping[str, Any]) -> Written:
    until = line["expires_at"]
    return Written(
        hash=str(line["hash"]),
        at=datetime.fromisoformat(line["at"]),
        expires_at=datetime.fromisoformat(until) if until else None,
    )


def write_snapshot(folder: Folder, snapshot: WorkspaceSnapshot) -> None:
    told = {
        "scope": snapshot.scope,
        "lines": {
            id_: {
                "hash": line.hash,
                "at": line.at.isoformat(),
                "expires_at": line.expires_at.isoformat() if line.expires_at else None,
            }
            for id_, line in snapshot.lines.items()
        },
        "sessions": list(snapshot.sessions),
        "seen": dict(snapshot.seen),
    }
    folder.replace(SNAPSHOT_FILE, json.dumps(told, separators=(",", ":")).encode())


@frozen
class MemoryPage:
    """MEMORY.md as it would be if nobody else wrote in it, and the facts whose lines are in it."""

    text: str
    wanted: Wanted
    shown: tuple[Record, ...]
    conflicts: tuple[tuple[Record, ...], ...]
    left_out: int


async def memory_page(
    engine: Engine, scope: str, facts: Mapping[str, Record], notices: Sequence[str]
) -> MemoryPage:
    fitting = _fitting(facts.values())
    shown = {record.id: record for record in fitting}
    groups = await conflict_groups(engine, root_of(scope), shown)
    apart = {record.id for group in groups for record in group}
    left_out = len(facts) - len(shown)
    told = list(notices)
    if left_out:
        told.append(f"{left_out} facts did not fit into this file; the store has them.")
    if waiting := await count_of_waiting(engine, scope):
        lines = "1 line waits" if waiting == 1 else f"{waiting} lines wait"
        told.append(f"{lines} for approval, out of sight: see standfast review.")
    wanted = Wanted(
        facts=[_fact(record) for record in fitting if record.id not in apart],
        conflicts=[[_fact(record) for record in group] for group in groups],
        notices=told,
    )
    return MemoryPage(
        text=render(wanted.facts, wanted.conflicts, wanted.notices),
        wanted=wanted,
        shown=tuple(fitting),
        conflicts=tuple(tuple(group) for group in groups),
        left_out=left_out,
    )


def _fact(record: Record) -> FactLine:
    mark = origin_mark(record.source, record.trust)
    return FactLine(id=record.id, text=record.text, type=record.type, mark=mark)


def _fitting(facts: Iterable[Record]) -> list[Record]:
    """A file that we would refuse to read must not be written."""
    room = PAGE_BYTES_WRITTEN_MAX
    fitting: list[Record] = []
    for record in facts:
        room -= len(fact_line(_fact(record)).encode()) + 1
        if room < 0:
            break
        fitting.append(record)
    return fitting


def lines_written(
    shown: Iterable[Record], held: Iterable[str], last: Mapping[str, Written], now: datetime
) -> dict[str, Written]:
    """The snapshot's lines: a line that stood there before keeps its time."""
    lines = {id_: last[id_] for id_ in held if id_ in last}
    for record in shown:
        known = last.get(record.id)
        lines[record.id] = Written(
            hash=text_hash(record.text),
            at=known.at if known else now,
            expires_at=record.expires_at,
        )
    return lines


# The log


async def summaries_of(engine: Engine, key: SessionKey) -> list[Summary]:
    return [summary async for summary in every_summary(engine.store, key)]


def read_history(folder: Folder) -> str:
    found = folder.read(HISTORY_FILE, HISTORY_BYTES_MAX)
    if found is None:
        folder.create(HISTORY_FILE, EMPTY_HISTORY.encode())
        return EMPTY_HISTORY
    try:
        return found[0].decode("utf-8")
    except UnicodeDecodeError:
        raise Invalid("memory/HISTORY.md is not UTF-8 and was left alone; repair it") from None


def append_history(folder: Folder, entries: Sequence[HistoryEntry]) -> list[HistoryEntry]:
    """Add those that are not there yet, oldest first; answers with them."""
    text = read_history(folder)
    known = set(ids_in(text))
    fresh = [e for e in sorted(entries, key=lambda e: (e.at, e.id)) if e.id not in known]
    if not fresh:
        return []
    torn = torn_end(text, fresh)
    apart = "" if torn or not text or text.endswith("\n") else "\n"
    data = (apart + "".join(entry.line for entry in fresh)).encode()
    folder.append(HISTORY_FILE, data, cut=len(torn.encode()))
    return fresh


def drop_history(folder: Folder, gone: set[str], *, torn: bool) -> list[str]:
    """Entries whose summary or episode was erased go; answers with their ids. ``torn``: so does
    the beginning of one that a killed writer left, as it may tell of the same."""
    text = read_history(folder)
    found = [id_ for id_ in ids_in(text) if id_ in gone]
    kept = without(text, gone)
    if torn:
        kept = without_torn_end(kept)
    if kept != text:
        folder.replace(HISTORY_FILE, kept.encode())
    return found


async def history_gone(
    engine: Engine, scope: str, ids: Iterable[str], summaries: set[str] | None
) -> set[str]:
    """Which entries stand for something that is no more; ``summaries`` are those that are
    there, None where nothing was erased."""
    listed = list(ids)
    episodes = [id_.removeprefix("episode:") for id_ in listed if id_.startswith("episode:")]
    there = await records_by_id(engine, root_of(scope), episodes)
    gone = {f"episode:{id_}" for id_ in episodes if id_ not in there}
    if summaries is not None:
        gone |= {id_ for id_ in listed if id_.startswith("summary:") and id_ not in summaries}
    return gone


async def episode_entries(engine: Engine, scope: str, known: set[str]) -> list[HistoryEntry]:
    """Those that the log does not have."""
    return [
        entry_of_episode(record, await _last_said(engine, record.session_key, record.lineage))
        for record in await episodes_of(engine, scope)
        if f"episode:{record.id}" not in known
    ]


async def summary_entries(
    engine: Engine, summaries: Sequence[Summary], told: Mapping[str, str], known: set[str]
) -> list[HistoryEntry]:
    """Of one session, in order, those that the log does not have; ``told`` are a model's accounts
    by id."""
    before = ["", *(summary.text for summary in summaries)]
    return [
        entry_of_summary(
            summary,
            before[place],
            told=told.get(summary.id, ""),
            said_at=await _last_said(
                engine, SessionKey(summary.scope, summary.session), summary.lineage
            ),
        )
        for place, summary in enumerate(summaries)
        if f"summary:{summary.id}" not in known
    ]


async def _last_said(engine: Engine, key: SessionKey, messages: Sequence[str]) -> datetime | None:
    """When the last of these was said: a log tells of the talk, not of the fold."""
    if not key.id or not messages:
        return None
    found = await engine.store.messages(key, now=engine.now(), ids=messages[-1:], limit=1)
    return found[0].at if found else None


# Sessions


async def write_sessions(
    engine: Engine, scope: str, folder: Folder, ours: Iterable[str], touched: set[str] | None
) -> set[str]:
    """The recent messages of each session that was touched; answers with the files there are."""
    files = set(ours)
    there: set[str] = set()
    async for session in sessions_of(engine, scope):
        name = session_file(session.id)
        there.add(name)
        if touched is not None and session.id not in touched:
            continue
        messages = await recent_messages(engine, session)
        if messages:
            _write_if_new(folder, name, b"".join(map(message_line, messages)))
            files.add(name)
        elif name in files:
            there.discard(name)
    for name in files - there:
        folder.remove(name)
    return files & there


async def recent_messages(engine: Engine, session: Session) -> list[Message]:
    key = SessionKey(session.scope, session.id)
    policy = session_policy(engine, session)
    newest = await engine.store.summaries(key, limit=1, newest=True)
    after = newest[0].to_seq if newest else 0
    now = engine.now()
    if policy.rule == "window" and policy.above == 0:
        return await engine.store.messages(
            key, now=now, after=after, limit=policy.keep, newest=True
        )
    return [message async for message in every_message(engine.store, key, now, after=after)]


def message_line(message: Message) -> bytes:
    body: dict[str, Any] = {"role": message.role, "content": message.text}
    body |= original_of(message)
    body |= {"id": message.id, "at": message.at.isoformat()}
    if message.author:
        body["author"] = message.author
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    # At a separator some readers would end the line; what is invisible deceives the others.
    return spelled_out(text).encode() + b"\n"


def _write_if_new(folder: Folder, name: str, data: bytes) -> None:
    stamp = folder.stamp(name)
    if stamp is not None and stamp.size == len(data):
        found = folder.read(name, len(data))
        if found is not None and found[0] == data:
            return
    folder.replace(name, data)
