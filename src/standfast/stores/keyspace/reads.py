"""Reading by name and in order: records, sessions, messages, summaries, items, the journal."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from datetime import datetime
from heapq import nlargest, nsmallest
from typing import Any, TypeVar, cast

from standfast.errors import Invalid, Unavailable
from standfast.index.filters import check_asked, has_keys, ordered, passes
from standfast.ports import check_process
from standfast.scopes import root_of, visible_from
from standfast.stores.commit import is_over
from standfast.stores.keyspace.engine import Ask, Get, KeyEngine, KeySpan, Pairs
from standfast.stores.keyspace.keys import (
    HEADER,
    Header,
    below,
    entry_of,
    if_sound,
    key,
    parts_of,
    place,
    read_as,
    record_in,
    span,
)
from standfast.types import (
    Entry,
    Find,
    Item,
    Listing,
    Message,
    Record,
    Relation,
    Session,
    SessionKey,
    Summary,
    Where,
)

T = TypeVar("T")

PAGE_MIN = 32
LAST = (1 << 63) - 1
LOOK_SECONDS = 1.0  # a reader who waits looks by itself this often: news are hints


class KeyReads:
    """The reading half of the store."""

    def __init__(self, engine: KeyEngine) -> None:
        self._engine = engine
        self._closed = False
        self._process = os.getpid()

    def _check(self) -> None:
        check_process(self._process)
        if self._closed:
            raise Unavailable("this store is closed; open it again")

    async def _read(self, root: str, asks: Sequence[Ask]) -> list[Any]:
        self._check()
        return cast(list[Any], await self._engine.read(root, asks)) if asks else []

    async def _page(
        self, root: str, asked: KeySpan, limit: int, taken: Callable[[bytes], T | None]
    ) -> list[T]:
        """The first ``limit`` values of a span that are taken; the last, if it asks for them."""
        found: list[T] = []
        while len(found) < limit:
            asked = asked._replace(limit=max(PAGE_MIN, limit - len(found)))
            pairs: Pairs = (await self._read(root, [asked]))[0]
            read = [taken(raw) for _, raw in pairs if raw]
            found += [one for one in read if one is not None]
            if len(pairs) < asked.limit:
                break
            last = pairs[-1][0]
            asked = asked._replace(end=last) if asked.newest else asked._replace(start=last + b"\0")
        self._check()
        found = found[: max(0, limit)]
        return found[::-1] if asked.newest else found

    # Records

    async def records(self, root: str | None, ids: Sequence[str], *, now: datetime) -> list[Record]:
        self._check()
        if root is not None:
            found = await self._records_in(root, ids)
        else:
            owners = await self._engine.owners(ids)
            found = {}
            for owner in sorted(set(owners.values())):
                found |= await self._records_in(owner, [i for i in ids if owners.get(i) == owner])
        return [
            found[id_] for id_ in ids if id_ in found and not is_over(found[id_].expires_at, now)
        ]

    async def _records_in(self, root: str, ids: Sequence[str]) -> dict[str, Record]:
        answers = await self._read(root, [Get(key(".i", id_), follow=True) for id_ in ids])
        return {id_: record_in(raw) for id_, raw in zip(ids, answers, strict=True) if raw}

    async def relations(self, root: str, ids: Sequence[str]) -> list[Relation]:
        self._check()
        asks = [span(end, id_) for id_ in dict.fromkeys(ids) for end in "ef"]
        answers = await self._read(root, asks)
        found = (
            if_sound(Relation, raw) for raw in {raw: 0 for pairs in answers for _, raw in pairs}
        )
        return sorted(filter(None, found), key=lambda one: (one.source, one.kind, one.target))

    async def find(self, asked: Find) -> list[Record]:
        self._check()
        if not check_asked(asked):
            return []
        keys = (
            ("h", asked.hashes),
            ("g", asked.origins),
            ("l", asked.lineage),
            ("m", asked.derived_from),
        )
        kind, values = next(((kind, values) for kind, values in keys if values), ("", ()))
        if not kind:
            raise Invalid("nothing to find records by; name a key, or ask for a listing")
        root = root_of(asked.where.scopes[0])
        answers = await self._read(root, [span(kind, one, follow=True) for one in values])
        read = [record_in(raw) for pairs in answers for _, raw in pairs if raw]
        records = {record.id: record for record in read}
        chosen = (one for one in records.values() if has_keys(one, asked))
        return ordered((one for one in chosen if passes(one, asked.where)), asked)

    @staticmethod
    def is_walk(asked: Listing) -> bool:
        """By id with no other filter than scope and status: see ``stores.sqlite.walk``."""
        where = asked.where
        plain = Where(
            scopes=where.scopes,
            now=where.now,
            descend=where.descend,
            exact=where.exact,
            statuses=where.statuses,
        )
        return asked.order in ("id", "newest") and where == plain

    async def walked(self, asked: Listing) -> list[Record]:
        """Page by page along the ids of each scope, without an index in memory."""
        root, newest = root_of(asked.where.scopes[0]), asked.order == "newest"

        def taken(raw: bytes) -> Record | None:
            record = record_in(raw)
            return record if passes(record, asked.where) else None

        found: list[Record] = []
        for scope in await self._visible(root, asked.where):
            start, end = below("a", scope)
            if asked.after and newest:
                end = key("a", scope, asked.after)
            elif asked.after:
                start = key("a", scope, asked.after) + b"\0"
            pages = KeySpan(start, end, newest=newest, follow=True)
            found += await self._page(root, pages, asked.limit, taken)
        best = nlargest if newest else nsmallest
        return best(asked.limit, found, key=lambda record: record.id)

    async def _visible(self, root: str, where: Where) -> list[str]:
        named = where.scopes if where.exact else sorted(visible_from(where.scopes))
        under = where.scopes if where.descend else ()
        spans = [KeySpan(key("s", f"{one}:"), key("s", f"{one};"), bare=True) for one in under]
        answers = await self._read(root, spans)
        below_ = [parts_of(at)[1] for pairs in answers for at, _ in pairs]
        return list(dict.fromkeys((*named, *below_)))

    # Conversations

    async def sessions(
        self,
        root: str,
        keys: Sequence[SessionKey] = (),
        *,
        after: SessionKey | None = None,
        limit: int = 100,
    ) -> list[Session]:
        self._check()
        if keys:
            answers = await self._read(root, [Get(key("t", *one)) for one in keys])
            return [one for raw in answers if raw and (one := if_sound(Session, raw))]
        start, end = below("t")
        if after is not None:
            start = key("t", *after) + b"\0"
        return await self._page(root, KeySpan(start, end), limit, lambda raw: read_as(Session, raw))

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
        self._check()
        root = root_of(session.scope)

        def taken(raw: bytes) -> Message | None:
            message = if_sound(Message, raw)
            return None if message is None or is_over(message.expires_at, now) else message

        if ids:
            names = dict.fromkeys(ids)
            places = await self._read(root, [Get(key(".p", *session, one)) for one in names])
            seqs = [int(raw.split()[0]) for raw in places if raw]
            answers = await self._read(root, [Get(key("o", *session, place(n))) for n in seqs])
            read = [taken(raw) for raw in answers if raw]
            return sorted((one for one in read if one), key=lambda one: one.seq)
        asked = _between("o", session, after, before, newest)
        return await self._page(root, asked, limit, taken)

    async def summaries(
        self, session: SessionKey, *, after: int = 0, limit: int = 100, newest: bool = False
    ) -> list[Summary]:
        self._check()
        asked = _between("u", session, after, None, newest)
        return await self._page(
            root_of(session.scope), asked, limit, lambda raw: if_sound(Summary, raw)
        )

    # Items

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
        self._check()

        def taken(raw: bytes) -> Item | None:
            item = read_as(Item, raw)
            fits = (
                (not scopes or item.scope in scopes)
                and (not keys or item.key in keys)
                and item.key.startswith(prefix)
                and not is_over(item.expires_at, now)
                and (after is None or _item_order(item) > _item_order(after))
            )
            return item if fits else None

        if namespace is not None and scopes and keys:
            names = dict.fromkeys((one, name) for one in scopes for name in keys)
            answers = await self._read(root, [Get(key("b", namespace, *one)) for one in names])
            found = sorted(filter(None, map(taken, filter(None, answers))), key=_item_order)
            return found[: max(0, limit)]
        start, end = below("b") if namespace is None else below("b", namespace)
        if namespace is not None and len(set(scopes)) == 1:
            start, end = below("b", namespace, scopes[0])
        if after is not None:
            start = max(start, key("b", *_item_order(after)) + b"\0")
        return await self._page(root, KeySpan(start, end), limit, taken)

    # The journal

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
        self._check()
        if root is None and not (change or touching):
            raise Invalid("a journal without root needs a change or an id that it touches")

        def taken(raw: bytes) -> Entry | None:
            entry, _ = entry_of(raw)
            touched = not touching or any(touch.id == touching for touch in entry.touched)
            return entry if touched and change in ("", entry.change) else None

        parts = ["jt", touching] if touching else ["jc", change] if change else ["j"]
        start, end = key(*parts, place(max(0, after + 1))), below(*parts)[1]
        if before is not None:
            end = key(*parts, place(min(max(0, before), LAST)))
        asked = KeySpan(start, end, newest=newest, follow=len(parts) > 1)

        async def look() -> list[Entry]:
            if root is not None:
                return await self._page(root, asked, limit, taken)
            names = await self.roots(limit=LAST)
            found = [one for name in names for one in await self._page(name, asked, limit, taken)]
            return found[max(0, len(found) - max(0, limit)) :] if newest else found[:limit]

        return await self._waited(root, look, wait)

    async def _waited(
        self, root: str | None, look: Callable[[], Any], seconds: float
    ) -> list[Entry]:
        found: list[Entry] = await look()
        if found or seconds <= 0:
            return found
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        async with self._engine.news(root or "") as news:
            while True:  # it may have come before anybody listened
                found = await look()
                left = deadline - loop.time()
                if found or left <= 0:
                    return found
                await news.wait(min(left, LOOK_SECONDS))

    async def roots(self, *, after: str = "", limit: int = 100) -> list[str]:
        """Those in which something is."""
        self._check()
        found: list[str] = []
        while len(found) < limit:
            size = min(1000, limit)
            names = await self._engine.roots(after, size)
            headers = await asyncio.gather(*(self._read(one, [Get(HEADER)]) for one in names))
            heads = (Header.read(raw).head for [raw] in headers)
            found += [name for name, head in zip(names, heads, strict=True) if head]
            if len(names) < size:
                break
            after = names[-1]
        return found[: max(0, limit)]


def _between(
    kind: str, session: SessionKey, after: int, before: int | None, newest: bool
) -> KeySpan:
    _, end = below(kind, *session)
    if before is not None:
        end = key(kind, *session, place(min(max(0, before), LAST)))
    return KeySpan(key(kind, *session, place(min(max(0, after + 1), LAST))), end, newest=newest)


def _item_order(item: Item) -> tuple[str, str, str]:
    return item.namespace, item.scope, item.key
