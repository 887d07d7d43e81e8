"""The reference store: plain dicts in this process, gone when it ends.

It says what the contract means, and it holds the sessions of users who opted out of
persistence. Every read scans; use it for thousands of rows, not for millions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import TypeVar

from standfast.errors import Invalid, Unavailable
from standfast.ports import Capabilities
from standfast.scopes import root_of
from standfast.stores.commit import checked, decide, needs_of
from standfast.stores.dict.registry import DictRegistry
from standfast.stores.dict.search import count, listing, search
from standfast.stores.dict.tables import (
    Tables,
    detached_item,
    detached_record,
    detached_session,
    is_expired,
)
from standfast.types import (
    LIVE,
    Batch,
    Entry,
    Find,
    Hit,
    Item,
    Kind,
    Listing,
    Message,
    Record,
    Relation,
    Search,
    Session,
    SessionKey,
    Status,
    Summary,
    Type,
    Work,
    WorkKind,
)

__all__ = ["DictStore", "open_address"]

T = TypeVar("T")


class DictStore:
    """``standfast.ports.Store`` in plain dicts."""

    capabilities = Capabilities(
        name="dict", search="exact", erasure="memory", waits=True, processes=False
    )

    def __init__(self, beside: DictStore | None = None) -> None:
        """``beside``: another handle on what that one holds, in the same event loop."""
        tables = beside._open_tables() if beside else Tables()
        self._tables: Tables | None = tables
        self._registry: DictRegistry = beside._registry if beside else DictRegistry(tables.heads)
        # Its lock also keeps commits apart.
        self._changed: asyncio.Condition = beside._changed if beside else asyncio.Condition()
        self._handles: set[int] = beside._handles if beside else set()
        self._handles.add(id(self))
        self.trips = 0  # how often a commit went to the tables and back

    @property
    def registry(self) -> DictRegistry:
        return self._registry

    async def commit(self, batch: Batch) -> int:
        async with self._changed:
            tables = self._open_tables()
            batch = checked(batch)
            self.trips += 1
            held = tables.read(needs_of(batch))
            if held.number is not None:
                return held.number
            changes = decide(batch, held)
            self.trips += 1
            tables.write(changes)
            if batch.used:
                self._registry.stir(batch.root)
            self._changed.notify_all()
            return changes.seq

    async def records(self, root: str | None, ids: Sequence[str], *, now: datetime) -> list[Record]:
        rows = self._open_tables().rows
        found = [rows[id_].record for id_ in ids if id_ in rows]
        return [
            detached_record(record)
            for record in found
            if root in (None, root_of(record.scope)) and not is_expired(record, now)
        ]

    async def search(self, asked: Search) -> list[Hit]:
        return search(self._open_tables().rows.values(), asked)

    async def listing(self, asked: Listing) -> list[Record]:
        return listing(self._open_tables().rows.values(), asked)

    async def find(self, asked: Find) -> list[Record]:
        return listing(self._open_tables().rows.values(), asked)

    async def relations(self, root: str, ids: Sequence[str]) -> list[Relation]:
        asked = set(ids)
        return [
            relation
            for (source, _, target), relation in sorted(self._open_tables().relations.items())
            if root_of(relation.scope) == root and not asked.isdisjoint((source, target))
        ]

    async def sessions(
        self,
        root: str,
        keys: Sequence[SessionKey] = (),
        *,
        after: SessionKey | None = None,
        limit: int = 100,
    ) -> list[Session]:
        sessions = self._open_tables().sessions
        if keys:
            found = [sessions[key] for key in keys if key in sessions]
        else:
            found = [sessions[key] for key in sorted(sessions) if key > (after or ("", ""))]
        ours = [detached_session(session) for session in found if root_of(session.scope) == root]
        return ours if keys else _first(ours, limit)

    async def messages(
        self,
        session: SessionKey,
        *,
        now: datetime,
        ids: Sequence[str] = (),
        after: int = 0,
        before: int | None = None,
        limit: int = 100,
        newest: bool = False,
    ) -> list[Message]:
        messages = self._open_tables().messages
        found = [
            message
            for key, message in messages.items()
            if key[:2] == tuple(session) and not is_expired(message, now)
        ]
        found.sort(key=lambda message: message.seq)
        if ids:
            return [message for message in found if message.id in set(ids)]
        found = [m for m in found if m.seq > after and (before is None or m.seq < before)]
        return found[max(0, len(found) - max(0, limit)) :] if newest else _first(found, limit)

    async def summaries(
        self,
        session: SessionKey,
        *,
        after: int = 0,
        limit: int = 100,
        newest: bool = False,
    ) -> list[Summary]:
        found = [
            summary
            for summary in self._open_tables().summaries.values()
            if (summary.scope, summary.session) == tuple(session) and summary.to_seq > after
        ]
        found.sort(key=lambda one: (one.to_seq, one.from_seq, one.id))
        return found[max(0, len(found) - max(0, limit)) :] if newest else _first(found, limit)

    async def items(
        self,
        root: str,
        namespace: str | None,
        *,
        now: datetime,
        scopes: Sequence[str] = (),
        keys: Sequence[str] = (),
        prefix: str = "",
        after: Item | None = None,
        limit: int = 100,
    ) -> list[Item]:
        found = [
            detached_item(item)
            for item in sorted(self._open_tables().items.values(), key=_item_key)
            if root_of(item.scope) == root
            and namespace in (None, item.namespace)
            and (after is None or _item_key(item) > _item_key(after))
            and not is_expired(item, now)
            and (not scopes or item.scope in scopes)
            and (not keys or item.key in keys)
            and item.key.startswith(prefix)
        ]
        return _first(found, limit)

    async def journal(
        self,
        root: str | None,
        *,
        after: int = 0,
        before: int | None = None,
        limit: int = 100,
        newest: bool = False,
        change: str = "",
        touching: str = "",
        wait: float = 0.0,
    ) -> list[Entry]:
        if root is None and not (change or touching):
            raise Invalid("a journal without root needs a change or an id that it touches")

        def matching() -> list[Entry]:
            entries = sorted(self._open_tables().entries.items())
            found = (
                entry
                for _, entry in entries
                if root in (None, entry.root)
                and entry.seq > after
                and (before is None or entry.seq < before)
                and change in ("", entry.change)
                and (not touching or any(touch.id == touching for touch in entry.touched))
            )
            return list(found)[-limit:] if newest and limit > 0 else _first(found, limit)

        found = matching()
        if found or wait <= 0:
            return found
        try:
            async with asyncio.timeout(wait), self._changed:
                await self._changed.wait_for(lambda: self._tables is None or bool(matching()))
        except TimeoutError:
            return []
        return matching()

    async def due(
        self,
        now: datetime,
        *,
        root: str | None = None,
        kinds: Sequence[WorkKind] = (),
        space: str = "",
        reader: str = "",
        limit: int = 100,
    ) -> list[Work]:
        tables = self._open_tables()
        lag = (one for one in _lagging(tables) if reader in ("", one.detail))
        if reader:  # every recall asks; it need not go through all records
            return _first((one for one in lag if root in (None, one.root)), limit)
        work = [*_expired(tables, now), *lag]
        alive = [row for _, row in sorted(tables.rows.items()) if not is_expired(row.record, now)]
        work += [
            _work("embed", row.record.scope, row.record.id)
            for row in alive
            if space and space not in row.vectors
        ]
        work += [
            _work("review", row.record.scope, row.record.id)
            for row in alive
            if row.record.status in LIVE
            and row.record.review_at is not None
            and row.record.review_at <= now
        ]
        wanted = (one for one in work if not kinds or one.kind in kinds)
        return _first((one for one in wanted if root in (None, one.root)), limit)

    async def counts(
        self, scopes: Sequence[str], *, now: datetime, descend: bool = False
    ) -> dict[tuple[Kind, Type, Status], int]:
        return count(self._open_tables().rows.values(), scopes, now, descend=descend)

    async def roots(self, *, after: str = "", limit: int = 100) -> list[str]:
        tables = self._open_tables()
        return _first(sorted(root for root in tables.heads if root > after), limit)

    async def scrub(self) -> bool:
        self._open_tables()
        return True

    async def close(self) -> None:
        async with self._changed:
            self._tables = None
            self._handles.discard(id(self))
            if not self._handles:
                self._registry.close()
            self._changed.notify_all()

    def _open_tables(self) -> Tables:
        if self._tables is None:
            raise Unavailable("this store is closed; open it again")
        return self._tables


async def open_address(address: str, *, cache_bytes: int) -> DictStore:  # noqa: ARG001
    """``dict:``, empty each time."""
    return DictStore()


def _item_key(item: Item) -> tuple[str, str, str]:
    return (item.namespace, item.scope, item.key)


def _first(things: Iterable[T], limit: int) -> list[T]:
    return list(islice(things, max(0, limit)))


def _work(kind: WorkKind, scope: str, id_: str, detail: str = "") -> Work:
    return Work(kind=kind, root=root_of(scope), scope=scope, id=id_, detail=detail)


def _expired(tables: Tables, now: datetime) -> Iterator[Work]:
    for id_, row in sorted(tables.rows.items()):
        if is_expired(row.record, now):
            yield _work("expire", row.record.scope, id_, "record")
    for (scope, _, id_), message in sorted(tables.messages.items()):
        if is_expired(message, now):
            yield _work("expire", scope, id_, "message")
    for (scope, namespace, key), item in sorted(tables.items.items()):
        if is_expired(item, now):
            yield _work("expire", scope, f"{namespace}/{key}", "item")


def _lagging(tables: Tables) -> Iterator[Work]:
    behind = [
        (key, reader)
        for key, session in tables.sessions.items()
        for reader, position in session.cursors.items()
        if position < session.last_seq
    ]
    for (scope, id_), reader in sorted(behind):
        yield _work("fold", scope, id_, reader)
