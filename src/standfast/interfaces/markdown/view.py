"""What the store holds for a workspace: its facts, their conflicts, and what became of lines."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from standfast.changes import slices
from standfast.engine import Engine, every_entry, every_record, every_session
from standfast.forgotten import Tombstones
from standfast.interfaces.markdown.edits import KnownLine, Written
from standfast.interfaces.markdown.pages import MEMORY_TYPES, PageLine
from standfast.scopes import root_of
from standfast.text.compare import text_hash
from standfast.types import Entry, Listing, Record, Relation, Session, Where

PAGE = 500
HOPS_MAX = 100
# Whatever changes a file of the workspace; numbers, leases and vectors do not.
TELLING = ("record", "message", "session", "summary", "relation")


async def facts_of(engine: Engine, scope: str) -> dict[str, Record]:
    """The long-term facts of one scope, in the order they were learned."""
    query = _listing(engine, scope, kinds=("semantic",), types=MEMORY_TYPES)
    found = [record async for record in every_record(engine.store, query)]
    found.sort(key=lambda record: (record.learned_at, record.id))
    return {record.id: record for record in found}


def _listing(engine: Engine, scope: str, **filters: Any) -> Listing:
    where = Where(scopes=(scope,), now=engine.now(), exact=True, **filters)
    return Listing(where=where, order="id")


async def count_of_waiting(engine: Engine, scope: str) -> int:
    """How many facts of a scope are not shown because they look like orders to a model."""
    query = _listing(
        engine, scope, kinds=("semantic",), types=MEMORY_TYPES, statuses=("quarantined",)
    )
    return len(await engine.store.listing(replace(query, limit=PAGE)))


async def episodes_of(engine: Engine, scope: str) -> list[Record]:
    query = _listing(engine, scope, types=("episode",))
    return [record async for record in every_record(engine.store, query)]


async def records_by_id(engine: Engine, root: str, ids: Iterable[str]) -> dict[str, Record]:
    found: dict[str, Record] = {}
    for part in _parts(ids):
        records = await engine.store.records(root, part, now=engine.now())
        found |= {record.id: record for record in records}
    return found


async def edges(engine: Engine, root: str, ids: Iterable[str], kind: str) -> list[Relation]:
    """Relations of one kind that still hold and touch these records."""
    found: dict[tuple[str, str], Relation] = {}
    for part in _parts(ids):
        for edge in await engine.store.relations(root, part):
            if edge.kind == kind and edge.retired_at is None:
                found[edge.source, edge.target] = edge
    return list(found.values())


def _parts(ids: Iterable[str]) -> Iterable[Sequence[str]]:
    return slices(list(dict.fromkeys(ids)), PAGE)


async def known_about(
    engine: Engine,
    scope: str,
    lines: Sequence[PageLine],
    last: Mapping[str, Written],
    seen: Iterable[str] = (),
) -> KnownLine:
    """``seen`` are ids of facts that were made of a person's own texts."""
    root = root_of(scope)
    facts = await facts_of(engine, scope)
    told = (*(line.id for line in lines if line.id), *last, *seen)
    named = [id_ for id_ in told if id_ not in facts]
    others = await records_by_id(engine, root, named)
    # Somebody else's record is not what this file speaks of.
    here = {id_: record for id_, record in others.items() if record.scope == scope}
    superseded = [id_ for id_, record in here.items() if record.status == "superseded"]
    hashes = [text_hash(line.text) for line in lines]
    hashes += [written.hash for written in last.values()]
    stones = await Tombstones.of(engine.store, root, engine.now())
    return KnownLine(
        facts=facts,
        records={**here, **facts},
        heads=await heads_of(engine, root, superseded, facts),
        graves=await stones.erased_at(scope, hashes) if stones else {},
    )


async def heads_of(
    engine: Engine, root: str, ids: Sequence[str], facts: Mapping[str, Record]
) -> dict[str, Record]:
    """What a superseded record became in the end, as far as that is still believed."""
    becomes: dict[str, str] = {}
    ask = list(ids)
    for _ in range(HOPS_MAX):
        if not ask:
            break
        found = {e.target: e.source for e in await edges(engine, root, ask, "supersedes")}
        becomes |= {old: found[old] for old in ask if old in found}
        ask = [new for new in found.values() if new not in becomes and new not in facts]
    heads: dict[str, Record] = {}
    for id_ in ids:
        at, steps = id_, 0
        while at in becomes and at not in facts and steps < HOPS_MAX:
            at, steps = becomes[at], steps + 1
        if at in facts:
            heads[id_] = facts[at]
    return heads


async def conflict_groups(
    engine: Engine, root: str, facts: Mapping[str, Record]
) -> list[list[Record]]:
    """Facts that contradict each other, each group in the order they were learned."""
    group_of: dict[str, set[str]] = {}
    for edge in await edges(engine, root, facts, "contradicts"):
        if edge.source in facts and edge.target in facts:
            one = group_of.get(edge.source, {edge.source})
            joined = one | group_of.get(edge.target, {edge.target})
            for id_ in joined:
                group_of[id_] = joined
    seen: set[str] = set()
    groups: list[list[Record]] = []
    for id_ in facts:
        if id_ in group_of and id_ not in seen:
            seen |= group_of[id_]
            groups.append([facts[member] for member in facts if member in group_of[id_]])
    return groups


async def sessions_of(engine: Engine, scope: str) -> AsyncIterator[Session]:
    """The callers' sessions of one scope; those that begin with ~ are standfast's own."""
    async for session in every_session(engine.store, root_of(scope)):
        if session.scope == scope and not session.id.startswith("~"):
            yield session


async def entries_after(engine: Engine, root: str, number: int) -> list[Entry]:
    return [entry async for entry in every_entry(engine.store, root, after=number)]


async def last_number(engine: Engine, root: str) -> int:
    """Of the journal, which has no gaps: so it need not be read to find its end."""

    async def is_there(number: int) -> bool:
        return bool(await engine.store.journal(root, after=number - 1, limit=1))

    high = 1
    while await is_there(high):
        high *= 2
    low = high // 2  # there, or 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if await is_there(middle) else (low, middle)
    return low


def tells_something(entry: Entry) -> bool:
    return any(touch.kind in TELLING for touch in entry.touched)


def sessions_touched(entries: Iterable[Entry], scope: str) -> set[str] | None:
    """Which sessions these changes concern; None: perhaps all, as something was erased."""
    found: set[str] = set()
    for entry in entries:
        for touch in entry.touched:
            if touch.kind not in ("message", "summary", "session"):
                continue
            if touch.after is None:
                return None
            if touch.scope == scope:
                session = touch.id if touch.kind == "session" else touch.after.get("session", "")
                found.add(str(session))
    return found
