"""A store on a server that may be away: what the process has seen answers while it is.

Writes fail, and say so; reads come from copies of what went through this process, searches among
them by keyword only. ``trouble`` says why. Nobody has to do anything when the server is back.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any, TypeVar

from standfast.errors import Unavailable
from standfast.ports import Capabilities, Cell, Store
from standfast.scopes import root_of
from standfast.stores.commit import is_over
from standfast.stores.dict import DictStore
from standfast.stores.dict.tables import Tables, row_of
from standfast.stores.outage import Outage
from standfast.types import (
    Batch,
    Entry,
    Erase,
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

T = TypeVar("T")

COPIES_MAX = 20_000  # of each kind
MEANWHILE = "working on with what this process has: nothing new is kept, search is by keyword"


class Copies(DictStore):
    """What the process has seen. Never committed to: what it holds was read."""

    @property
    def held(self) -> Tables:
        return self._open_tables()

    def keep(self, *things: Any) -> None:
        held = self.held
        for one in things:
            match one:
                case Record():
                    held.rows.pop(one.id, None)
                    held.rows[one.id] = row_of(one)
                case Session():
                    held.sessions[SessionKey(one.scope, one.id)] = one
                case Message():
                    held.messages[one.scope, one.session, one.id] = one
                case Summary():
                    held.summaries[one.id] = one
                case Item():
                    held.items[one.scope, one.namespace, one.key] = one
            held.heads[root_of(one.scope)] = 1
        tables: tuple[dict[Any, Any], ...] = (held.rows, held.messages, held.items, held.summaries)
        for table in tables:
            for key in list(islice(table, max(0, len(table) - COPIES_MAX))):
                del table[key]

    def erase(self, erased: Iterable[Erase]) -> None:
        held = self.held
        for one in erased:
            match one.kind:
                case "record":
                    held.rows.pop(one.id, None)
                case "summary":
                    held.summaries.pop(one.id, None)
                case "item":
                    held.items.pop((one.scope, one.namespace, one.id), None)
                case "message":
                    held.messages.pop((one.scope, one.session, one.id), None)
                case "session":
                    held.sessions.pop(SessionKey(one.scope, one.id), None)
                    for key in [key for key in held.messages if key[:2] == (one.scope, one.id)]:
                        del held.messages[key]


class Standby:
    """``standfast.ports.Store`` in front of one that may be away; use ``open``."""

    def __init__(self, name: str, opener: Callable[[], Awaitable[Store]]) -> None:
        self._name = name
        self._opener = opener
        self._main: Store | None = None
        self._copies = Copies()
        self._registry = StandbyRegistry(self)
        self._outage = Outage(name, MEANWHILE)
        self._closed = False

    @property
    def trouble(self) -> str:
        return self._outage.trouble

    @property
    def pause(self) -> float:
        return self._outage.pause

    @classmethod
    async def open(cls, name: str, opener: Callable[[], Awaitable[Store]]) -> Standby:
        """``opener`` opens the store itself; it need not succeed now, but must not be wrong."""
        store = cls(name, opener)
        try:
            await store.reached()
        except Unavailable as error:
            store._outage.begins(error)
        return store

    @property
    def capabilities(self) -> Capabilities:
        if self._main is not None:
            return self._main.capabilities
        return replace(self._copies.capabilities, name=self._name)

    @property
    def registry(self) -> StandbyRegistry:
        return self._registry

    async def reached(self) -> Store:
        """The store itself. Unavailable if it is away, without a try if that was just seen."""
        if self._closed:
            raise Unavailable("this store is closed; open it again")
        self._outage.check()
        if self._main is None:
            self._main = await self._opener()
        return self._main

    async def asked(
        self, ask: Callable[[Store], Awaitable[T]], instead: Callable[[], Awaitable[T]]
    ) -> T:
        """Its answer, or that of the copies while it is away."""
        try:
            answer = await ask(await self.reached())
        except Unavailable as error:
            if self._closed:
                raise
            self._outage.begins(error)
            return await instead()
        self._outage.ends()
        return answer

    async def _kept(
        self, ask: Callable[[Store], Awaitable[list[T]]], instead: Callable[[], Awaitable[list[T]]]
    ) -> list[T]:
        away = bool(self.trouble)
        answer = await self.asked(ask, instead)
        if not (away and self.trouble):
            self._copies.keep(*answer)
        return answer

    # Writing

    async def commit(self, batch: Batch) -> int:
        try:
            seq = await (await self.reached()).commit(batch)
        except Unavailable as error:
            if self._closed:
                raise
            self._outage.begins(error)
            # Without a time to come again: the agent works on meanwhile.
            raise Unavailable(str(error), outcome_unknown=error.outcome_unknown) from error
        self._outage.ends()
        self._copies.erase(batch.erase)
        self._copies.keep(*(replace(one, version=one.version + 1) for one in batch.records))
        self._copies.keep(*(replace(one, version=one.version + 1) for one in batch.items))
        return seq

    async def scrub(self) -> bool:
        async def later() -> bool:
            return False

        return await self.asked(lambda store: store.scrub(), later)

    async def check_schema(self) -> str:
        """Of the store itself, where it has one and is there."""

        async def check(store: Store) -> str:
            found: Callable[[], Awaitable[str]] | None = getattr(store, "check_schema", None)
            return await found() if found is not None else ""

        async def unknown() -> str:
            return ""

        return await self.asked(check, unknown)

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            await self._copies.close()
            if self._main is not None:
                await self._main.close()

    # Reading

    async def search(self, asked: Search) -> Sequence[Hit]:
        words = replace(asked, vector=None, space="")
        hits = await self.asked(
            lambda store: store.search(asked), lambda: self._copies.search(words)
        )
        if not self.trouble:
            self._copies.keep(*(hit.record for hit in hits))
        return hits

    async def records(self, root: str | None, ids: Sequence[str], *, now: datetime) -> list[Record]:
        return await self._kept(
            lambda store: store.records(root, ids, now=now),
            lambda: self._copies.records(root, ids, now=now),
        )

    async def listing(self, asked: Listing) -> list[Record]:
        return await self._kept(
            lambda store: store.listing(asked), lambda: self._copies.listing(asked)
        )

    async def find(self, asked: Find) -> list[Record]:
        return await self._kept(lambda store: store.find(asked), lambda: self._copies.find(asked))

    async def relations(self, root: str, ids: Sequence[str]) -> list[Relation]:
        return await self.asked(
            lambda store: store.relations(root, ids), lambda: self._copies.relations(root, ids)
        )

    async def sessions(
        self, root: str, keys: Sequence[SessionKey] = (), **page: Any
    ) -> list[Session]:
        return await self._kept(
            lambda store: store.sessions(root, keys, **page),
            lambda: self._copies.sessions(root, keys, **page),
        )

    async def messages(self, session: SessionKey, **page: Any) -> list[Message]:
        return await self._kept(
            lambda store: store.messages(session, **page),
            lambda: self._copies.messages(session, **page),
        )

    async def summaries(self, session: SessionKey, **page: Any) -> list[Summary]:
        return await self._kept(
            lambda store: store.summaries(session, **page),
            lambda: self._copies.summaries(session, **page),
        )

    async def items(self, root: str, namespace: str | None, **page: Any) -> list[Item]:
        return await self._kept(
            lambda store: store.items(root, namespace, **page),
            lambda: self._copies.items(root, namespace, **page),
        )

    async def journal(self, root: str | None, **page: Any) -> list[Entry]:
        async def nothing() -> list[Entry]:
            return []

        return await self.asked(lambda store: store.journal(root, **page), nothing)

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
        async def nothing() -> list[Work]:
            return []

        return await self.asked(
            lambda store: store.due(
                now, root=root, kinds=kinds, space=space, reader=reader, limit=limit
            ),
            nothing,
        )

    async def counts(
        self, scopes: Sequence[str], *, now: datetime, descend: bool = False
    ) -> dict[tuple[Kind, Type, Status], int]:
        return await self.asked(
            lambda store: store.counts(scopes, now=now, descend=descend),
            lambda: self._copies.counts(scopes, now=now, descend=descend),
        )

    async def roots(self, *, after: str = "", limit: int = 100) -> list[str]:
        return await self.asked(
            lambda store: store.roots(after=after, limit=limit),
            lambda: self._copies.roots(after=after, limit=limit),
        )


class StandbyRegistry:
    """``standfast.ports.Registry`` of a store that may be away."""

    def __init__(self, store: Standby) -> None:
        self._store = store
        self._cells: dict[str, Cell] = {}

    def _keep(self, *cells: Cell) -> None:
        self._cells |= {cell.key: cell for cell in cells}
        for key in list(islice(self._cells, max(0, len(self._cells) - COPIES_MAX))):
            del self._cells[key]

    async def get(self, keys: Sequence[str], *, now: datetime) -> list[Cell]:
        async def copies() -> list[Cell]:
            found = (self._cells[key] for key in keys if key in self._cells)
            return [cell for cell in found if not is_over(cell.expires_at, now)]

        cells = await self._store.asked(lambda store: store.registry.get(keys, now=now), copies)
        self._keep(*cells)
        return cells

    async def put(self, cell: Cell, *, now: datetime) -> Cell:
        async def refused() -> Cell:
            raise Unavailable(self._store.trouble, retry_after=self._store.pause)

        new = await self._store.asked(lambda store: store.registry.put(cell, now=now), refused)
        self._keep(new)
        return new

    async def settle(self, root: str, *, seq: int, until: datetime) -> None:
        async def later() -> None:
            return None

        await self._store.asked(
            lambda store: store.registry.settle(root, seq=seq, until=until), later
        )

    async def unsettled(self, now: datetime, *, news: bool, limit: int = 100) -> list[str]:
        async def nothing() -> list[str]:
            return []

        return await self._store.asked(
            lambda store: store.registry.unsettled(now, news=news, limit=limit), nothing
        )

    async def list(
        self, prefix: str, *, now: datetime, after: str = "", limit: int = 100
    ) -> list[Cell]:
        async def copies() -> list[Cell]:
            found = (self._cells[key] for key in sorted(self._cells) if key.startswith(prefix))
            there = [one for one in found if one.key > after and not is_over(one.expires_at, now)]
            return there[: max(0, limit)]

        return await self._store.asked(
            lambda store: store.registry.list(prefix, now=now, after=after, limit=limit), copies
        )
