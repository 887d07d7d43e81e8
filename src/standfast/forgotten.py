"""What was forgotten, remembered without keeping it; the one place that asks "was it forgotten?".

A tombstone is a keyed hash of a message or a text. It stops derivation, import and replay from
bringing back what was erased. It says nothing about anything stated after the erasure: who tells
us again, wants it known again; nor about what another author said in the same words. The key is
random per root, so equal texts of two tenants leave different traces.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import platform
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from standfast import compat
from standfast.changes import slices
from standfast.engine import Engine, every_item
from standfast.errors import Conflict, Unavailable
from standfast.ports import Cell, Store, breath, cell_key
from standfast.scopes import root_of
from standfast.text.compare import text_hash
from standfast.text.messages import searchable_text
from standfast.types import (
    BACKED_UP,
    EXPORTED,
    JOB,
    MIRROR,
    MIRRORED,
    Item,
    Message,
    Record,
    SessionKey,
    Summary,
)
from standfast.types.frozen import frozen

NAMESPACE = compat.TOMBSTONES
EVERYBODY = ""  # in place of the mark of an author: whoever said it
FORGOTTEN_AT = compat.FORGOTTEN_CELLS
EXPORTS = compat.EXPORTED_CELLS
BACKUPS = compat.BACKUP_CELLS
PAGE = 500

MessageKey = tuple[SessionKey, str]


@frozen
class Tombstones:
    """Those of one root in ``store``, and the key they were made with."""

    store: Store
    root: str
    key: bytes
    now: datetime

    @classmethod
    async def of(cls, store: Store, root: str, now: datetime) -> Tombstones | None:
        """None while nothing was ever forgotten in this root."""
        secret = await secret_of(store, root, now)
        key = secret_key(secret.value) if secret else b""
        return cls(store=store, root=root, key=key, now=now) if key else None

    # Was it forgotten?

    async def messages(self, messages: Sequence[Message]) -> set[MessageKey]:
        """The very message, or the same text said by the same author no later than the erasure."""
        by_id = {key_of(m): self.message_mark(key_of(m)) for m in messages}
        by_text = {key_of(m): self.text_mark(m.scope, searchable_text(m)) for m in messages}
        stones = await self.of_marks(
            [*by_id.values(), *by_text.values()], {message.scope for message in messages}
        )
        return {
            key_of(message)
            for message in messages
            if by_id[key_of(message)] in stones
            or self._covers(stones.get(by_text[key_of(message)]), message.at, message.author)
        }

    async def records(self, records: Sequence[Record]) -> set[str]:
        """Made from a forgotten message, or saying what was forgotten at or after they were
        learned."""
        marks = {record.id: self.text_mark(record.scope, record.text) for record in records}
        made_of = {record.id: self._lineage_marks(record) for record in records}
        stones = await self.of_marks(
            [*marks.values(), *(mark for marks in made_of.values() for mark in marks)]
        )
        return {
            record.id
            for record in records
            if self._covers(stones.get(marks[record.id]), record.learned_at, record.author)
            or any(mark in stones for mark in made_of[record.id])
        }

    async def summaries(self, summaries: Sequence[Summary]) -> set[str]:
        marks = {
            summary.id: [
                self.message_mark((SessionKey(summary.scope, summary.session), id_))
                for id_ in summary.lineage
            ]
            for summary in summaries
        }
        stones = await self.of_marks([mark for some in marks.values() for mark in some])
        return {id_ for id_, some in marks.items() if any(mark in stones for mark in some)}

    async def covers(self, scope: str, text: str, said: datetime, author: str = "") -> bool:
        """Was this text of this author, or of anybody, forgotten in this scope, and not said again
        since?"""
        mark = self.text_mark(scope, text)
        return self._covers((await self.of_marks([mark], (scope,))).get(mark), said, author)

    def _covers(self, stone: Item | None, moment: datetime, author: str) -> bool:
        if stone is None:
            return False
        times = _times_of(stone)
        if author:
            concerned = {EVERYBODY, self.author_mark(author)}
            times = {mark: time for mark, time in times.items() if mark in concerned}
        return any(moment <= time for time in times.values())

    async def erased_at(self, scope: str, hashes: Iterable[str]) -> dict[str, datetime]:
        """When texts with these hashes were forgotten in this scope, if they were."""
        marks = {_mark(self.key, "text", scope, hashed): hashed for hashed in hashes}
        stones = await self.of_marks(marks, (scope,))
        return {marks[mark]: max(_times_of(stone).values()) for mark, stone in stones.items()}

    # Marks

    def message_mark(self, message: MessageKey) -> str:
        (scope, session), id_ = message
        return _mark(self.key, "message", scope, session, id_)

    def text_mark(self, scope: str, text: str) -> str:
        return _mark(self.key, "text", scope, text_hash(text))

    def author_mark(self, author: str) -> str:
        return _mark(self.key, "author", author) if author else EVERYBODY

    def _lineage_marks(self, record: Record) -> list[str]:
        if not record.session:
            return []
        return [self.message_mark((record.session_key, id_)) for id_ in record.lineage]

    async def of_marks(self, marks: Iterable[str], scopes: Collection[str] = ()) -> dict[str, Item]:
        """Those of a few ``scopes`` are found without looking at all of the root's."""
        found: dict[str, Item] = {}
        for part in slices(list(dict.fromkeys(marks)), PAGE):
            items = await self.store.items(
                self.root, NAMESPACE, now=self.now, scopes=tuple(scopes), keys=part, limit=len(part)
            )
            found |= {item.key: item for item in items}
        return found


async def stones_for(
    engine: Engine, root: str, records: Iterable[Record], messages: Mapping[MessageKey, Message]
) -> list[Item]:
    """The tombstones to put up for what is being erased now, with the key they are made with
    where nothing was forgotten before. A Conflict: another process made one meanwhile."""
    made: list[Item] = []
    stones = await Tombstones.of(engine.store, root, engine.now())
    if stones is None:
        secret = Item(
            scope=root, namespace=compat.SECRETS, key=NAMESPACE, value=engine.new_secret()
        )
        made.append(secret)
        key = secret_key(secret.value)
        stones = Tombstones(store=engine.store, root=root, key=key, now=engine.now())
    marks: dict[str, str] = {}
    authors: dict[str, set[str]] = {}
    for record in records:
        await breath()
        mark = stones.text_mark(record.scope, record.text)
        marks[mark] = record.scope
        authors.setdefault(mark, set()).add(stones.author_mark(record.author))
    for key_, message in messages.items():
        await breath()
        marks[stones.message_mark(key_)] = message.scope
        mark = stones.text_mark(message.scope, searchable_text(message))
        marks[mark] = message.scope
        authors.setdefault(mark, set()).add(stones.author_mark(message.author))
    known = {} if made else await stones.of_marks(marks, set(marks.values()))
    now = stones.now.isoformat()
    return made + [
        replace(
            known.get(mark, Item(scope=scope, namespace=NAMESPACE, key=mark, value=None)),
            value=_value_of(known.get(mark), authors.get(mark, {EVERYBODY}), now),
        )
        for mark, scope in marks.items()
    ]


def _value_of(known: Item | None, authors: Collection[str], now: str) -> Any:
    """The time, or the times by author; just the time where it was nobody's in particular."""
    before = {mark: time.isoformat() for mark, time in _times_of(known).items()} if known else {}
    times = {**before, **dict.fromkeys(authors, now)}
    return now if EVERYBODY in authors else times


@dataclass(slots=True, kw_only=True)
class Forgotten:
    """What must not come back, as far as it is known: from tombstones, and derived from that."""

    messages: dict[SessionKey, dict[str, int]] = field(default_factory=dict)  # with numbers
    records: set[str] = field(default_factory=set)

    def add_message(self, message: Message) -> None:
        key, id_ = key_of(message)
        self.messages.setdefault(key, {})[id_] = message.seq

    def has_message(self, message: Message) -> bool:
        key, id_ = key_of(message)
        return id_ in self.messages.get(key, ())

    def has_record(self, record: Record) -> bool:
        """Is it forgotten itself, or made from something that is?"""
        messages = self.messages.get(record.session_key, {})
        return (
            record.id in self.records
            or any(id_ in messages for id_ in record.lineage)
            or any(id_ in self.records for id_ in record.derived_from)
        )

    def has_summary(self, summary: Summary) -> bool:
        """Does it cover a forgotten message, or build on a summary that did?"""
        messages = self.messages.get(SessionKey(summary.scope, summary.session), {})
        return any(id_ in messages for id_ in summary.lineage) or any(
            0 < seq <= summary.to_seq for seq in messages.values()
        )


def key_of(message: Message) -> MessageKey:
    return SessionKey(message.scope, message.session), message.id


async def secret_of(store: Store, root: str, now: datetime) -> Item | None:
    items = await store.items(root, compat.SECRETS, now=now, scopes=(root,), keys=(NAMESPACE,))
    return items[0] if items else None


def secret_key(value: object) -> bytes:
    """Empty if it is no key."""
    try:
        return bytes.fromhex(value) if isinstance(value, str) else b""
    except ValueError:
        return b""


def _mark(key: bytes, *parts: str) -> str:
    return hmac.new(key, "\0".join(parts).encode(), hashlib.sha256).hexdigest()


def _times_of(stone: Item) -> dict[str, datetime]:
    """When it was erased, by the mark of whose words it was. A stone whose time cannot be read
    stands for ever."""
    value = (
        stone.value if isinstance(stone.value, dict) and stone.value else {EVERYBODY: stone.value}
    )
    return {mark: _time_of(time) for mark, time in value.items()}


def _time_of(value: object) -> datetime:
    try:
        return datetime.fromisoformat(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return datetime.max.replace(tzinfo=UTC)


# Copies elsewhere: what others keep of it outside of the store


COPIES_KEPT = timedelta(days=2)  # no server keeps an export for so long


async def mark_forgotten(engine: Engine, root: str) -> None:
    """Exports that were begun before now are not handed out any more, by whichever process."""
    name, now = cell_key(FORGOTTEN_AT, _mark_of(root)), engine.now()
    known = await engine.store.registry.get((name,), now=now)
    version = known[0].version if known else 0
    cell = Cell(key=name, value=now.isoformat(), expires_at=now + COPIES_KEPT, version=version)
    with suppress(Conflict):  # another process forgot something there at this very moment
        await engine.store.registry.put(cell, now=now)


async def forgotten_marks(store: Store, roots: Collection[str], now: datetime) -> dict[str, int]:
    """What tells whether something was forgotten there meanwhile, or anywhere without ``roots``:
    then they are others."""
    prefix = cell_key(FORGOTTEN_AT, "")
    cells = await store.registry.list(prefix, now=now, limit=10_000)
    found = {cell.key.removeprefix(prefix): cell.version for cell in cells}
    marks = set(map(_mark_of, roots))
    return {mark: version for mark, version in found.items() if not marks or mark in marks}


def _mark_of(root: str) -> str:
    """Not its name: a root that was forgotten as a whole leaves none behind."""
    return hashlib.blake2b(root.encode(), digest_size=16).hexdigest()


async def note_export(engine: Engine, roots: Iterable[str], target: object) -> None:
    """Files that somebody exported to are told to whoever forgets something of these roots. Of a
    stream nobody knows where it leads."""
    name = getattr(target, "name", "") if hasattr(target, "write") else target
    if not isinstance(name, str | os.PathLike) or str(name).startswith("<") or not str(name):
        return
    file, now = os.path.abspath(name), engine.now()
    value = {"file": file, "host": platform.node(), "at": now.isoformat()}
    for root in roots:
        key = cell_key(EXPORTS, _mark_of(root), _mark_of(file))
        with suppress(Conflict, Unavailable):  # it is written all the same
            known = await engine.store.registry.get((key,), now=now)
            version = known[0].version if known else 0
            await engine.store.registry.put(Cell(key=key, value=value, version=version), now=now)


def backup_cell(file: str | os.PathLike[str], at: datetime) -> Cell:
    """Where a backup of the whole store is, for whoever forgets something of it."""
    name = os.path.abspath(file)
    value = {"file": name, "host": platform.node(), "at": at.isoformat()}
    return Cell(key=cell_key(BACKUPS, _mark_of(name)), value=value)


async def carry_copies(restored: Engine, current: Store) -> None:
    """A restored store knows of no copy that was made after its backup."""
    now = restored.now()
    for kind in (BACKUPS, EXPORTS):
        prefix = cell_key(kind, "")
        known = {
            c.key: c for c in await restored.store.registry.list(prefix, now=now, limit=10_000)
        }
        for cell in await current.registry.list(prefix, now=now, limit=10_000):
            version = known[cell.key].version if cell.key in known else 0
            with suppress(Conflict):
                await restored.store.registry.put(replace(cell, version=version), now=now)


@frozen
class _Copy:
    """A file outside of the store that somebody made of it."""

    file: str
    where: str
    at: str  # ISO 8601


async def _copies(engine: Engine, prefix: str) -> list[_Copy]:
    """The files that are still there. One that is gone from this machine is not mentioned any
    more; where a file is does not concern who is bound to some scopes of the store."""
    found: list[_Copy] = []
    now = engine.now()
    for cell in await engine.store.registry.list(prefix, now=now, limit=1000):
        file, host, at = (str(cell.value.get(name, "")) for name in ("file", "host", "at"))
        here = host == platform.node()
        if here and not os.path.exists(file):
            with suppress(Conflict):
                await engine.store.registry.put(replace(cell, expires_at=now), now=now)
            continue
        where = "one that was" if engine.bound else file if here else f"{file} on {host},"
        found.append(_Copy(file=file, where=where, at=at))
    return found


async def _exports(engine: Engine, root: str, served: Collection[str]) -> list[str]:
    return [
        f"{EXPORTED}{copy.where} written {copy.at[:10]}; delete it, or export anew"
        for copy in await _copies(engine, cell_key(EXPORTS, _mark_of(root), ""))
        if copy.file not in served
    ]


async def _backups(engine: Engine, since: datetime | None) -> list[str]:
    """Those that were made when the oldest of what is erased was there already."""
    return [
        f"{BACKED_UP}{copy.where} written {copy.at[:10]}; delete it, and make a new one"
        for copy in await _copies(engine, cell_key(BACKUPS, ""))
        if since is None or datetime.fromisoformat(copy.at) >= since
    ]


async def copies_elsewhere(engine: Engine, root: str, since: datetime | None) -> list[str]:
    """Where else it may still stand, and what becomes of that. ``since``: when the oldest of it was
    stored."""
    told = [
        f"{MIRRORED}{item.value['folder']}"
        async for item in every_item(engine.store, root, MIRROR, engine.now())
        if isinstance(item.value, dict) and item.value.get("folder")
    ]
    served: list[str] = []
    for cell in await engine.store.registry.list(cell_key(JOB, ""), now=engine.now(), limit=1000):
        entry = cell.value
        if not isinstance(entry, dict) or not entry.get("file"):
            continue
        served.append(str(entry["file"]))
        bound = entry.get("bound") or ()
        if not bound or root in map(root_of, bound):
            told.append(f"export {cell.key.partition(chr(9))[2]} is not handed out any more")
    return told + await _exports(engine, root, served) + await _backups(engine, since)
