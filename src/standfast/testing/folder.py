"""A store for reading: a folder with one file for each root. Start here to write one of your own.

All of a root is in its file, as JSON. A commit reads what it needs, decides, and puts a new file in
the place of the old one; that is atomic, and nothing else is needed. So it is slow where a root is
large, and right: it passes the whole suite, in one process at a time.

What it shares with every store: ``stores.commit`` knows what a batch means, ``index`` searches,
``types.serial`` turns values into JSON and back.
"""

from __future__ import annotations

import asyncio
import base64
import fcntl
import json
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from standfast.errors import Invalid, Unavailable
from standfast.index import search as indexed
from standfast.index.cache import IndexCache
from standfast.index.derived import quantised
from standfast.index.feed import index_row
from standfast.index.filters import check_asked, has_keys, ordered, passes
from standfast.ports import Capabilities, Cell, FeedChanges, FeedRecord, FeedStamps, LaterRecord
from standfast.scopes import is_visible, is_within, root_of
from standfast.stores.cells import check_cell, check_version
from standfast.stores.commit import (
    Changes,
    Held,
    Needs,
    checked,
    decide,
    is_over,
    needs_of,
    plain_json,
)
from standfast.stores.touches import without_details
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
    Vector,
    Work,
    WorkKind,
)
from standfast.types.serial import from_plain, to_plain

T = TypeVar("T")
CACHE_BYTES = 64 << 20
GONE_MAX = 1000
POLL_SECONDS = 0.02


@dataclass
class Root:
    """All of a root. The lists are in the order in which things were made."""

    name: str
    head: int = 0  # the number of its last entry
    stamp: int = 0  # raised with every commit that changes what can be searched
    records: dict[str, Record] = field(default_factory=dict)
    keys: dict[str, int] = field(default_factory=dict)  # record -> its number, as they came
    made: int = 0  # the last one
    changed: dict[str, int] = field(default_factory=dict)  # record -> the stamp of that change
    gone: list[tuple[str, int, int]] = field(default_factory=list)  # scope, key, stamp
    lost: int = 0  # up to this stamp nobody knows any more what is gone
    vectors: dict[str, dict[str, Vector]] = field(default_factory=dict)  # space -> by record
    relations: dict[tuple[str, str, str], Relation] = field(default_factory=dict)
    sessions: dict[SessionKey, Session] = field(default_factory=dict)
    messages: dict[tuple[str, str, str], Message] = field(default_factory=dict)
    summaries: dict[str, Summary] = field(default_factory=dict)
    items: dict[tuple[str, str, str], Item] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    also: dict[int, list[str | None]] = field(default_factory=dict)  # by entry, see ``Changes``


# Reading and writing a file


_KINDS: Mapping[str, type] = {
    "records": Record,
    "relations": Relation,
    "sessions": Session,
    "messages": Message,
    "summaries": Summary,
    "items": Item,
    "entries": Entry,
}


def root_in(file: Path) -> Root:
    """Raises Unavailable if it cannot be read."""
    try:
        plain = json.loads(file.read_bytes())
        things: dict[str, list[Any]] = {
            name: [from_plain(kind, one) for one in plain[name]] for name, kind in _KINDS.items()
        }
    except (OSError, ValueError, KeyError, Invalid) as error:
        raise Unavailable(f"cannot read {file}: {error}; restore it from a backup") from error
    return Root(
        name=plain["name"],
        head=plain["head"],
        stamp=plain["stamp"],
        records={one.id: one for one in things["records"]},
        keys=plain["keys"],
        made=plain["made"],
        changed=plain["changed"],
        gone=[(scope, key, stamp) for scope, key, stamp in plain["gone"]],
        lost=plain["lost"],
        vectors={
            space: {id_: base64.b64decode(vector) for id_, vector in rows.items()}
            for space, rows in plain["vectors"].items()
        },
        relations={(one.source, one.kind, one.target): one for one in things["relations"]},
        sessions={SessionKey(one.scope, one.id): one for one in things["sessions"]},
        messages={(one.scope, one.session, one.id): one for one in things["messages"]},
        summaries={one.id: one for one in things["summaries"]},
        items={(one.scope, one.namespace, one.key): one for one in things["items"]},
        entries=things["entries"],
        also={int(seq): names for seq, names in plain["also"].items()},
    )


def save(root: Root, file: Path) -> None:
    plain: dict[str, Any] = {
        "name": root.name,
        "head": root.head,
        "stamp": root.stamp,
        "keys": root.keys,
        "made": root.made,
        "changed": root.changed,
        "gone": root.gone,
        "lost": root.lost,
        "also": root.also,
        "vectors": {
            space: {id_: base64.b64encode(vector).decode() for id_, vector in rows.items()}
            for space, rows in root.vectors.items()
        },
    }
    for name in _KINDS:
        things = getattr(root, name)
        values = things.values() if isinstance(things, dict) else things
        plain[name] = [to_plain(one) for one in values]
    write_whole(file, plain)


def write_whole(file: Path, plain: Any) -> None:
    """In one step: either the old file is there or the new one, whole and on the disk."""
    new = file.with_suffix(".new")
    with new.open("w", encoding="utf-8") as out:
        json.dump(plain, out, ensure_ascii=False, allow_nan=False)
        out.flush()
        os.fsync(out.fileno())
    new.replace(file)
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


# A commit: what it reads, and what it writes


def held(roots: Mapping[str, Root], needs: Needs) -> Held:
    """Ids of records and summaries belong to one root only, so all of them are looked at."""
    root = roots.get(needs.root) or Root(needs.root)
    everything = {id_: one for each in roots.values() for id_, one in each.records.items()}
    summaries = {id_: one for each in roots.values() for id_, one in each.summaries.items()}
    records = {id_: everything[id_] for id_ in needs.records if id_ in everything}
    records |= {
        one.id: one
        for one in root.records.values()
        if one.status in LIVE and (one.scope, one.hash) in needs.hashes
    }
    spaces = (each.vectors.get(needs.space, {}) for each in roots.values())
    lengths = (len(vector) // 4 for rows in spaces for vector in rows.values())
    numbers = {entry.batch: entry.seq for entry in root.entries}
    return Held(
        number=numbers.get(needs.batch),
        head=root.head,
        records=records,
        relations=_of(root.relations, needs.relations),
        sessions=_of(root.sessions, needs.sessions),
        messages={k: one.expires_at for k, one in _of(root.messages, needs.messages).items()},
        summaries={
            id_: SessionKey(one.scope, one.session)
            for id_, one in _of(summaries, needs.summaries).items()
        },
        items=_of(root.items, needs.items),
        dimensions=next(lengths, 0) if needs.space else 0,
    )


def _of(table: Mapping[Any, T], keys: Iterable[Any]) -> dict[Any, T]:
    return {key: table[key] for key in keys if key in table}


def applied(root: Root, changes: Changes) -> None:
    """The changes, in the order that ``Changes`` names."""
    batch = changes.batch
    root.stamp += 1
    if batch.sweep:
        for id_ in [r.id for r in root.records.values() if is_over(r.expires_at, batch.at)]:
            _drop_record(root, id_)
        root.messages = _unexpired(root.messages, batch.at)
        root.items = _unexpired(root.items, batch.at)
    root.entries = [entry for entry in root.entries if entry.seq not in changes.pruned]
    root.also = {seq: names for seq, names in root.also.items() if seq not in changes.pruned}
    if batch.drop_space:
        for id_ in root.vectors.pop(batch.drop_space, {}):
            root.changed[id_] = root.stamp
    for id_ in changes.records_gone:
        _drop_record(root, id_)
    for key in changes.sessions_gone:
        root.sessions.pop(key, None)
        root.messages = {k: one for k, one in root.messages.items() if k[:2] != key}
        root.summaries = {
            id_: one for id_, one in root.summaries.items() if (one.scope, one.session) != key
        }
    for message in changes.messages_gone:
        root.messages.pop(message, None)
    for summary in changes.summaries_gone:
        root.summaries.pop(summary, None)
    for item in changes.items_gone:
        root.items.pop(item, None)
    for erase in changes.silenced:
        for place, entry in enumerate(root.entries):
            quiet = without_details(entry, root.also[entry.seq], erase)
            root.entries[place], root.also[entry.seq] = quiet
    if len(root.gone) > GONE_MAX:
        root.lost = root.stamp
        root.gone.clear()
    _put(root, changes)


def _put(root: Root, changes: Changes) -> None:
    batch = changes.batch
    root.sessions |= changes.sessions
    root.messages |= {(one.scope, one.session, one.id): one for one in changes.messages}
    root.summaries |= {one.id: one for one in changes.summaries}
    root.records |= changes.records
    for id_ in (one for one in changes.records if one in changes.made):
        root.made += 1
        root.keys[id_] = root.made
    root.relations |= changes.relations
    root.items |= changes.items
    if changes.vectors:
        root.vectors.setdefault(batch.space, {}).update(changes.vectors)
    for id_ in (*changes.records, *changes.vectors):
        root.changed[id_] = root.stamp
    for id_, count in changes.used.items():
        record = root.records.get(id_)
        if record is not None and not is_over(record.expires_at, batch.at):
            root.records[id_] = replace(record, uses=record.uses + count, used_at=batch.at)
    if changes.entry is not None:
        root.entries.append(changes.entry)
        root.also[changes.entry.seq] = list(changes.also)
        root.head = changes.entry.seq


def _unexpired(table: dict[Any, Any], now: datetime) -> dict[Any, Any]:
    return {key: one for key, one in table.items() if not is_over(one.expires_at, now)}


def _drop_record(root: Root, id_: str) -> None:
    """With its vectors and relations; and the index is told."""
    record = root.records.pop(id_, None)
    if record is not None:
        root.gone.append((record.scope, root.keys.pop(id_), root.stamp))
        root.changed.pop(id_, None)
        for rows in root.vectors.values():
            rows.pop(id_, None)
        root.relations = {k: one for k, one in root.relations.items() if id_ not in (k[0], k[2])}


class FolderFeed:
    """``standfast.ports.Feed`` of one root, which nobody changes meanwhile."""

    def __init__(self, root: Root) -> None:
        self._root = root

    def stamps(self, scopes: Sequence[str], below: Sequence[str], space: str) -> FeedStamps:
        found: dict[str, int] = {}
        changes = [(one.scope, self._root.changed[id_]) for id_, one in self._root.records.items()]
        changes += [(scope, stamp) for scope, _, stamp in self._root.gone]
        for scope, stamp in changes:
            if scope in scopes or any(is_within(scope, above) for above in below):
                found[scope] = max(stamp, found.get(scope, 0))
        vectors = self._root.vectors.get(space, {}).values()
        return FeedStamps(found, next((len(vector) // 4 for vector in vectors), None))

    def changes(self, scope: str, after: int) -> FeedChanges:
        after = after if after >= self._root.lost else 0
        rows = [
            index_row(self._root.keys[id_], one)
            for id_, one in self._root.records.items()
            if one.scope == scope and self._root.changed[id_] > after
        ]
        gone = [key for one, key, stamp in self._root.gone if one == scope and stamp > after]
        return FeedChanges([rows] if rows else [], gone if after else None)

    def vectors(
        self, scope: str, space: str, keys: Sequence[int] | None
    ) -> Iterable[Sequence[tuple[int, bytes]]]:
        rows = [
            (self._root.keys[id_], quantised(vector))
            for id_, vector in self._root.vectors.get(space, {}).items()
            if self._root.records[id_].scope == scope
            and (keys is None or self._root.keys[id_] in keys)
        ]
        return [rows] if rows else []

    def records(self, keys: Sequence[int], space: str) -> Mapping[int, FeedRecord]:
        vectors = self._root.vectors.get(space, {})
        return {
            key: LaterRecord(partial(detached, self._root.records[id_]), vectors.get(id_))
            for id_, key in self._root.keys.items()
            if key in keys
        }


def detached(value: T) -> T:
    """A copy that shares nothing: what a caller does to it must not reach the store."""
    return from_plain(type(value), to_plain(value))


class FolderRegistry:
    """``standfast.ports.Registry`` in a file of its own."""

    def __init__(self, file: Path, heads: Callable[[], Mapping[str, int]]) -> None:
        """``heads``: the number of the last entry of each root; Unavailable if closed."""
        self._file = file
        self._heads = heads
        self._cells: dict[str, Cell] = {}
        self._settled: dict[str, tuple[int, datetime]] = {}  # root -> up to which entry, until
        self._version = 0
        if file.exists():
            plain = json.loads(file.read_bytes())
            self._version = plain["version"]
            self._cells = {one["key"]: from_plain(Cell, one) for one in plain["cells"]}
            settled = plain["settled"].items()
            self._settled = {k: (seq, datetime.fromisoformat(at)) for k, (seq, at) in settled}

    def _save(self) -> None:
        cells = [to_plain(one) for one in self._cells.values()]
        settled = {k: (seq, until.isoformat()) for k, (seq, until) in self._settled.items()}
        write_whole(self._file, {"version": self._version, "cells": cells, "settled": settled})

    async def get(self, keys: Sequence[str], *, now: datetime) -> list[Cell]:
        self._heads()
        found = (self._cells.get(key) for key in keys)
        return [detached(one) for one in found if one and not is_over(one.expires_at, now)]

    async def put(self, cell: Cell, *, now: datetime) -> Cell:
        self._heads()
        check_cell(cell)
        value = plain_json(cell.value)
        stored = _unexpired(self._cells, now).get(cell.key)
        check_version(cell, stored.version if stored else 0)
        self._version += 1
        new = replace(cell, value=value, version=self._version)
        self._cells = _unexpired({**self._cells, new.key: new}, now)
        self._save()
        return detached(new)

    async def settle(self, root: str, *, seq: int, until: datetime) -> None:
        if root in self._heads():
            self._settled[root] = (seq, until)
            self._save()

    async def unsettled(self, now: datetime, *, news: bool, limit: int = 100) -> list[str]:
        heads = {root: head for root, head in self._heads().items() if head}
        late = [(root in self._settled, self._rest(root, now), root) for root in heads]
        waited = [root for _, until, root in sorted(late) if until <= now]
        others = sorted(set(heads) - set(waited)) if news else []
        stirred = [root for root in others if self._settled[root][0] < heads[root]]
        return [*waited, *stirred][: max(0, limit)]

    def _rest(self, root: str, now: datetime) -> datetime:
        return self._settled[root][1] if root in self._settled else now

    def stir(self, root: str) -> None:
        """Something happened there that takes no number in the journal."""
        if root in self._settled:
            self._settled[root] = (-1, self._settled[root][1])
            self._save()

    async def list(
        self, prefix: str, *, now: datetime, after: str = "", limit: int = 100
    ) -> list[Cell]:
        self._heads()
        found = [
            detached(one)
            for key, one in sorted(self._cells.items())
            if key.startswith(prefix) and key > after and not is_over(one.expires_at, now)
        ]
        return found[: max(0, limit)]


class FolderStore:
    """``standfast.ports.Store`` in a folder. Use ``open``."""

    capabilities = Capabilities(
        name="folder", search="exact", erasure="engine", waits=True, processes=False
    )

    def __init__(self, folder: Path, lock: int) -> None:
        self._folder = folder
        self._file_lock = lock  # a descriptor, held as long as the store is open
        self._roots: dict[str, Root] | None = {}
        self._cache = IndexCache(CACHE_BYTES)
        self._registry = FolderRegistry(folder / "registry", self._heads)
        self._lock = threading.Lock()  # one call at a time, in whatever thread
        self.trips = 0

    @property
    def registry(self) -> FolderRegistry:
        return self._registry

    def _heads(self) -> Mapping[str, int]:
        return {name: root.head for name, root in self._open_roots().items()}

    @classmethod
    async def open(cls, folder: str | os.PathLike[str]) -> FolderStore:
        """Make it, if it is not there. Unavailable: somebody else has it open."""
        path = Path(folder)
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(path / "lock", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            raise Unavailable(f"{path} is open already; close it there first") from None
        store = cls(path, lock)
        try:
            for file in sorted(path.glob("*.json")):
                root = await asyncio.to_thread(root_in, file)
                store._open_roots()[root.name] = root
        except BaseException:
            await store.close()
            raise
        return store

    async def commit(self, batch: Batch) -> int:
        batch = checked(batch)
        return await asyncio.shield(asyncio.to_thread(self._commit, batch))

    def _commit(self, batch: Batch) -> int:
        with self._lock:
            roots = self._open_roots()
            self.trips += 1
            found = held(roots, needs_of(batch))
            if found.number is not None:
                return found.number
            changes = decide(batch, found)
            # A copy, so that nothing has happened if the disk is full.
            old = roots.get(batch.root) or Root(batch.root)
            new = replace(
                old, **{name: _copy(getattr(old, name)) for name in old.__dataclass_fields__}
            )
            applied(new, changes)
            self.trips += 1
            try:
                save(new, self._folder / f"{quote(batch.root, safe='')}.json")
            except OSError as error:
                raise Unavailable(f"cannot write to {self._folder}: {error}") from error
            roots[batch.root] = new
            if changes.used:
                self._registry.stir(batch.root)
            return changes.seq

    async def scrub(self) -> bool:
        self._open_roots()
        return True

    async def close(self) -> None:
        if self._roots is not None:
            self._roots = None
            self._cache.clear()
            os.close(self._file_lock)

    # Searching

    async def search(self, asked: Search) -> Sequence[Hit]:
        return await asyncio.to_thread(self._searched, asked)

    def _searched(self, asked: Search) -> Sequence[Hit]:
        with self._lock:
            roots = self._open_roots()
            if not check_asked(asked) or not (asked.text or asked.vector is not None):
                return []
            name = root_of(asked.where.scopes[0])
            return indexed.search(FolderFeed(roots.get(name) or Root(name)), self._cache, asked)

    async def listing(self, asked: Listing) -> list[Record]:
        if not check_asked(asked):
            return []
        return [detached(one) for one in ordered(self._passing(asked), asked)]

    async def find(self, asked: Find) -> list[Record]:
        if not check_asked(asked):
            return []
        found = (one for one in self._passing(asked) if has_keys(one, asked))
        return [detached(one) for one in ordered(found, asked)]

    def _passing(self, asked: Listing | Find) -> list[Record]:
        root = self._root(root_of(asked.where.scopes[0]))
        return [one for one in root.records.values() if passes(one, asked.where)]

    async def counts(
        self, scopes: Sequence[str], *, now: datetime, descend: bool = False
    ) -> dict[tuple[Kind, Type, Status], int]:
        found: dict[tuple[Kind, Type, Status], int] = {}
        for root in {root_of(scope) for scope in scopes}:
            for one in self._root(root).records.values():
                seen = is_visible(one.scope, scopes, descend=descend, exact=False)
                if seen and not is_over(one.expires_at, now):
                    key = (one.kind, one.type, one.status)
                    found[key] = found.get(key, 0) + 1
        return found

    # Reading

    async def records(self, root: str | None, ids: Sequence[str], *, now: datetime) -> list[Record]:
        roots = self._open_roots()
        asked = roots.values() if root is None else [self._root(root)]
        found = {id_: one for each in asked for id_, one in _of(each.records, ids).items()}
        return [
            detached(found[id_])
            for id_ in ids
            if id_ in found and not is_over(found[id_].expires_at, now)
        ]

    async def relations(self, root: str, ids: Sequence[str]) -> list[Relation]:
        found = sorted(self._root(root).relations.items())
        return [one for (source, _, target), one in found if source in ids or target in ids]

    async def sessions(
        self,
        root: str,
        keys: Sequence[SessionKey] = (),
        *,
        after: SessionKey | None = None,
        limit: int = 100,
    ) -> list[Session]:
        sessions = self._root(root).sessions
        if keys:
            return [detached(sessions[key]) for key in keys if key in sessions]
        behind = [key for key in sorted(sessions) if key > (after or ("", ""))]
        return [detached(sessions[key]) for key in behind[: max(0, limit)]]

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
        messages = self._root(root_of(session.scope)).messages
        found = [
            one
            for key, one in messages.items()
            if key[:2] == tuple(session) and not is_over(one.expires_at, now)
        ]
        found.sort(key=lambda one: one.seq)
        if ids:
            return [one for one in found if one.id in ids]
        found = [one for one in found if one.seq > after and (before is None or one.seq < before)]
        return _part(found, limit, newest)

    async def summaries(
        self, session: SessionKey, *, after: int = 0, limit: int = 100, newest: bool = False
    ) -> list[Summary]:
        found = [
            one
            for one in self._root(root_of(session.scope)).summaries.values()
            if (one.scope, one.session) == tuple(session) and one.to_seq > after
        ]
        found.sort(key=lambda one: (one.to_seq, one.from_seq, one.id))
        return _part(found, limit, newest)

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
            detached(item)
            for item in sorted(self._root(root).items.values(), key=_item_order)
            if namespace in (None, item.namespace)
            and (after is None or _item_order(item) > _item_order(after))
            and not is_over(item.expires_at, now)
            and (not scopes or item.scope in scopes)
            and (not keys or item.key in keys)
            and item.key.startswith(prefix)
        ]
        return found[: max(0, limit)]

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
        loop = asyncio.get_running_loop()
        deadline = loop.time() + wait
        while True:
            names = [root] if root is not None else sorted(self._open_roots())
            found = [
                entry
                for name in names
                for entry in self._root(name).entries
                if entry.seq > after
                and (before is None or entry.seq < before)
                and change in ("", entry.change)
                and (not touching or any(touch.id == touching for touch in entry.touched))
            ]
            if found or loop.time() >= deadline:
                return _part(found, limit, newest)
            await asyncio.sleep(POLL_SECONDS)

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
        roots = [one for name, one in sorted(self._open_roots().items()) if root in (None, name)]
        work = [one for found in roots for one in _due(found, now, space)]
        order = ("expire", "fold", "embed", "review")
        work.sort(key=lambda one: order.index(one.kind))
        if reader:
            work = [one for one in work if (one.kind, one.detail) == ("fold", reader)]
        return [one for one in work if not kinds or one.kind in kinds][: max(0, limit)]

    async def roots(self, *, after: str = "", limit: int = 100) -> list[str]:
        found = (name for name, root in sorted(self._open_roots().items()) if root.head)
        return list(islice((name for name in found if name > after), max(0, limit)))

    def _root(self, name: str) -> Root:
        return self._open_roots().get(name) or Root(name)

    def _open_roots(self) -> dict[str, Root]:
        if self._roots is None:
            raise Unavailable("this store is closed; open it again")
        return self._roots


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(part) for key, part in value.items()}
    return list(value) if isinstance(value, list) else value


def _item_order(item: Item) -> tuple[str, str, str]:
    return item.namespace, item.scope, item.key


def _part(found: list[T], limit: int, newest: bool) -> list[T]:
    limit = max(0, limit)
    return found[max(0, len(found) - limit) :] if newest else found[:limit]


def _due(root: Root, now: datetime, space: str) -> Iterable[Work]:
    def work(kind: WorkKind, scope: str, id_: str, detail: str = "") -> Work:
        return Work(kind=kind, root=root.name, scope=scope, id=id_, detail=detail)

    for id_, record in sorted(root.records.items()):
        if is_over(record.expires_at, now):
            yield work("expire", record.scope, id_, "record")
            continue
        if space and id_ not in root.vectors.get(space, {}):
            yield work("embed", record.scope, id_)
        if record.status in LIVE and is_over(record.review_at, now):
            yield work("review", record.scope, id_)
    for (scope, _, id_), message in sorted(root.messages.items()):
        if is_over(message.expires_at, now):
            yield work("expire", scope, id_, "message")
    for (scope, namespace, key), item in sorted(root.items.items()):
        if is_over(item.expires_at, now):
            yield work("expire", scope, f"{namespace}/{key}", "item")
    for (scope, id_), session in sorted(root.sessions.items()):
        for reader, position in sorted(session.cursors.items()):
            if position < session.last_seq:
                yield work("fold", scope, id_, reader)
