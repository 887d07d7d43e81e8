"""A decided batch as keys to drop and values to put."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from datetime import datetime

from standfast.index.codes import micros
from standfast.index.derived import quantised
from standfast.index.feed import index_row
from standfast.stores.commit import Changes, MessageKey, altered, is_over
from standfast.stores.keyspace.engine import KeyChanges, NearChange
from standfast.stores.keyspace.held import FoundKeys, item_key
from standfast.stores.keyspace.keys import (
    HEADER,
    Header,
    RecordBody,
    below,
    body_of,
    entry_bytes,
    key,
    parts_of,
    place,
    row_bytes,
    time_place,
    told_as,
    written,
)
from standfast.stores.touches import without_details
from standfast.types import (
    LIVE,
    Entry,
    Item,
    Message,
    Record,
    Relation,
    Session,
    SessionKey,
    Vector,
)

GONE_MAX = 10_000  # so many are remembered, for search indexes that hold them


class Rewrite:
    """What the engine has to change. ``needs_edges`` names records whose relations have to be
    read into ``found.edges`` first."""

    def __init__(self, changes: Changes, found: FoundKeys) -> None:
        self._changes = changes
        self._batch = changes.batch
        self._found = found
        self._header = found.header
        self._swept = [body_of(raw) for at, raw in found.expired if parts_of(at)[2] == "r" and raw]
        self._ops: dict[bytes, bytes | None] = {}
        self._spans: list[tuple[bytes, bytes]] = []
        self._bodies = dict(found.bodies)
        self._dirty: dict[str, bool] = {}  # of them; True: a search index must see it
        self._scopes: set[str] = set()
        self._near: dict[int, NearChange] = {}

    @property
    def needs_edges(self) -> list[str]:
        gone = (*self._changes.records_gone, *(body.record.id for body in self._swept))
        return [id_ for id_ in dict.fromkeys(gone) if id_ not in self._found.edges]

    def made(self) -> KeyChanges:
        changes, batch = self._changes, self._batch
        if self._is_searched():
            self._header = self._header._replace(stamp=self._header.stamp + 1)
        self._sweep()
        self._drop_space()
        for id_ in changes.records_gone:
            self._drop_record(self._bodies[id_])
        self._remove()
        self._silence()
        self._put()
        for id_, count in changes.used.items():
            self._count_use(id_, count, batch.at)
        for id_, searched in self._dirty.items():
            self._write_body(self._bodies[id_], searched)
        for scope in self._scopes:
            stamp = str(self._header.stamp).encode()
            self._ops[key(".s", scope)] = stamp
            self._ops[key("s", scope)] = b""
        if changes.entry is not None:
            self._write_entry(changes.entry)
        return self._key_changes()

    def _key_changes(self) -> KeyChanges:
        header = self._header
        if header.gone > GONE_MAX:
            self._spans.append((b"x\0", b"x\1"))
            header = header._replace(gone=0, lost=header.stamp)
        self._ops[HEADER] = raised(header).written()
        return KeyChanges(
            expected={HEADER: self._found.raw},
            spans_gone=self._spans,
            gone=[name for name, value in self._ops.items() if value is None],
            puts={name: value for name, value in self._ops.items() if value is not None},
            near=list(self._near.values()),
            space_gone=self._batch.drop_space,
            scopes_gone=sorted({scope for scope, _ in self._found.numbered}),
            entered=self._changes.entry is not None,
            used=bool(self._changes.used),
        )

    def _is_searched(self) -> bool:
        changes = self._changes
        return bool(
            changes.records
            or changes.records_gone
            or changes.vectors
            or self._swept
            or self._batch.drop_space
        )

    # What is gone

    def _sweep(self) -> None:
        for body in self._swept:
            self._drop_record(body)
        for at, raw in self._found.expired:
            _, _, kind, *parts = parts_of(at)
            self._ops[at] = None
            if kind == "o" and raw:
                scope, session, id_ = parts
                self._ops[key(".p", scope, session, id_)] = None
                self._ops[key("o", scope, session, _seq_in(raw))] = None
            elif kind == "b":
                self._ops[key("b", *parts)] = None

    def _drop_space(self) -> None:
        space = self._batch.drop_space
        if space:
            self._spans.append(below("q", space))
            for _, number in self._found.numbered:
                self._ops[key(".v", space, number)] = None
            self._ops[key(".d", space)] = None
            stamp = self._header.stamp
            self._header = self._header._replace(lost=stamp, floor=stamp)

    def _drop_record(self, body: RecordBody) -> None:
        record, stamp = body.record, self._header.stamp
        if self._bodies.pop(record.id, None) is None and body not in self._swept:
            return
        for name in (*_fixed_keys(body), *_row_keys(body), *_vector_keys(body)):
            self._ops[name] = None
        for edge in self._found.edges.get(record.id, ()):
            self._ops |= dict.fromkeys(_edge_keys(edge))
        self._ops[key("x", record.scope, place(stamp), place(body.number))] = b""
        self._header = self._header._replace(gone=self._header.gone + 1)
        self._scopes.add(record.scope)
        self._near[body.number] = NearChange(number=body.number, old=record, spaces=body.spaces)

    def _remove(self) -> None:
        """Sessions, messages, summaries, items and entries."""
        changes, found = self._changes, self._found
        for session in changes.sessions_gone:
            self._drop_session(session)
        for message in changes.messages_gone:
            self._drop_message(message)
        for id_ in changes.summaries_gone:
            self._drop_summary(id_)
        for one in changes.items_gone:
            if one in found.items:
                self._drop_item(found.items[one])
        for seq in changes.pruned:
            if seq in found.entries:
                self._drop_entry(found.entries[seq])

    def _drop_session(self, session: SessionKey) -> None:
        self._ops[key("t", *session)] = None
        self._spans.append(below("k", *session))
        for message in self._found.talks.get(session, ()):
            self._ops |= dict.fromkeys(_message_keys(message))
        for id_, at in self._found.summaries.items():
            if parts_of(at)[1:3] == list(session):
                self._drop_summary(id_)

    def _drop_message(self, message: MessageKey) -> None:
        seq = self._found.messages.get(message)
        if seq is None:
            return
        self._ops[key(".p", *message)] = None
        self._ops[key("o", *message[:2], place(seq))] = None
        expires = self._found.held.messages.get(message)
        if expires is not None:
            self._ops[key("w", time_place(expires), "o", *message)] = None

    def _drop_summary(self, id_: str) -> None:
        if id_ in self._found.summaries:
            self._ops[self._found.summaries[id_]] = None
            self._ops[key(".u", id_)] = None

    def _drop_item(self, item: Item) -> None:
        self._ops |= dict.fromkeys(_item_keys(item))

    def _drop_entry(self, entry: Entry) -> None:
        self._ops |= dict.fromkeys(_entry_keys(entry, self._found.also[entry.seq]))

    def _silence(self) -> None:
        """The journal tells no more about what was erased."""
        pruned = set(self._changes.pruned)
        for seq, entry in self._found.entries.items():
            quiet, also = entry, self._found.also[seq]
            for erase in self._changes.silenced:
                quiet, also = without_details(quiet, also, erase)
            if (quiet, also) != (entry, self._found.also[seq]) and seq not in pruned:
                at = key("j", place(seq))
                names = dict.fromkeys(_entry_names(entry, self._found.also[seq]))
                self._ops |= {**names, **dict.fromkeys(_entry_names(quiet, also), at)}
                self._ops[at] = entry_bytes(quiet, also)

    # What is put

    def _put(self) -> None:
        changes = self._changes
        for session in changes.sessions.values():
            self._put_session(session)
        for message in changes.messages:
            self._put_message(message)
        for summary in changes.summaries:
            numbers = (place(summary.to_seq), place(summary.from_seq))
            at = key("u", summary.scope, summary.session, *numbers, summary.id)
            self._ops[at] = written(summary)
            self._ops[key(".u", summary.id)] = at
        for record in changes.records.values():
            self._put_record(record)
        for edge in changes.relations.values():
            self._ops |= dict.fromkeys(_edge_keys(edge), written(edge))
        for id_, vector in changes.vectors.items():
            self._put_vector(id_, vector)
        for one, item in changes.items.items():
            if one in self._found.items:
                self._drop_item(self._found.items[one])
            self._ops |= dict.fromkeys(_item_keys(item), item_key(one))
            self._ops[item_key(one)] = written(item)

    def _put_session(self, session: Session) -> None:
        self._ops[key("t", session.scope, session.id)] = written(session)
        for reader, position in session.cursors.items():
            lags = position < session.last_seq
            self._ops[key("k", session.scope, session.id, reader)] = b"" if lags else None

    def _put_message(self, message: Message) -> None:
        at, *others = _message_keys(message)
        self._ops |= dict.fromkeys(others, at)
        self._ops[at] = written(message)
        expires = "" if message.expires_at is None else micros(message.expires_at)
        name = key(".p", message.scope, message.session, message.id)
        self._ops[name] = f"{message.seq} {expires}".encode()

    def _put_record(self, record: Record) -> None:
        old = self._bodies.get(record.id)
        if old is None:
            self._header = self._header._replace(made=self._header.made + 1)
            new = RecordBody(self._header.made, self._header.stamp, (), "", record)
            self._ops |= dict.fromkeys(_fixed_keys(new), new.key)
        else:
            for name in _row_keys(old):
                self._ops[name] = None
            new = RecordBody(old.number, old.changed, old.spaces, old.newest, record)
        self._bodies[record.id] = new
        self._dirty[record.id] = True
        self._near_of(new, old)

    def _near_of(self, new: RecordBody, old: RecordBody | None) -> NearChange:
        was = old.record if old else None
        fresh = NearChange(number=new.number, old=was, spaces=old.spaces if old else ())
        return self._near.setdefault(new.number, fresh)

    def _put_vector(self, id_: str, vector: Vector) -> None:
        space, old = self._batch.space, self._bodies[id_]
        since = self._found.since or self._header.stamp
        for name in _row_keys(old):
            self._ops[name] = None
        spaces = (*(one for one in old.spaces if one != space), space)
        new = RecordBody(old.number, old.changed, spaces, f"{space}\0{place(since)}", old.record)
        number = place(new.number)
        self._ops[key(".v", space, number)] = vector
        self._ops[key("q", space, new.record.scope, number)] = quantised(vector)
        self._ops[key(".d", space)] = f"{len(vector) // 4} {since}".encode()
        self._bodies[id_] = new
        self._dirty[id_] = True
        near = self._near_of(new, old)
        near.vectors = {**near.vectors, space: vector}

    def _count_use(self, id_: str, count: int, at: datetime) -> None:
        body = self._bodies.get(id_)
        if body is None or is_over(body.record.expires_at, at):
            return
        record = altered(body.record, uses=body.record.uses + count, used_at=at)
        self._bodies[id_] = RecordBody(body.number, body.changed, body.spaces, body.newest, record)
        self._dirty.setdefault(id_, False)

    def _write_body(self, body: RecordBody, searched: bool) -> None:
        if searched:
            body.changed = self._header.stamp
            self._scopes.add(body.record.scope)
            at, *others = _row_keys(body)
            self._ops |= dict.fromkeys(others, body.key)
            near, row = self._near[body.number], index_row(body.number, body.record)
            near.new, near.row = body.record, row
            self._ops[at] = row_bytes(row)
        self._ops[body.key] = body.written()

    def _write_entry(self, entry: Entry) -> None:
        at = key("j", place(entry.seq))
        self._ops |= dict.fromkeys(_entry_keys(entry, self._changes.also), at)
        self._ops[at] = entry_bytes(entry, self._changes.also)
        self._ops[key(".b", entry.batch)] = str(entry.seq).encode()
        self._header = self._header._replace(head=entry.seq)


def raised(header: Header) -> Header:
    """As the next write leaves it: no two write the same."""
    return header._replace(writes=header.writes + 1, token=secrets.randbits(62))


# Which keys something has; all but the first point to the first.


def _fixed_keys(body: RecordBody) -> Iterator[bytes]:
    """Those that stay as long as the record lives."""
    record, number = body.record, place(body.number)
    yield body.key
    yield key(".i", record.id)
    yield key("a", record.scope, record.id)
    if record.hash:
        yield key("h", record.hash, record.scope, number)
    if record.origin:
        yield key("g", record.origin, number)
    yield from (key("l", one, number) for one in record.lineage)
    yield from (key("m", one, number) for one in record.derived_from)


def _row_keys(body: RecordBody) -> Iterator[bytes]:
    """Those that move; the first is its row in the search index."""
    record, number = body.record, place(body.number)
    yield key("c", record.scope, place(body.changed), number)
    yield key("y", *body.newest.split("\0"), number)
    if record.expires_at is not None:
        yield key("w", time_place(record.expires_at), "r", record.scope, number)
    if record.review_at is not None and record.status in LIVE:
        yield key("z", time_place(record.review_at), number)


def _vector_keys(body: RecordBody) -> Iterator[bytes]:
    for space in body.spaces:
        yield key(".v", space, place(body.number))
        yield key("q", space, body.record.scope, place(body.number))


def _edge_keys(edge: Relation) -> Iterator[bytes]:
    yield key("e", edge.source, edge.kind, edge.target)
    yield key("f", edge.target, edge.source, edge.kind)


def _message_keys(message: Message) -> Iterator[bytes]:
    talk = (message.scope, message.session)
    yield key("o", *talk, place(message.seq))
    yield key(".p", *talk, message.id)
    if message.expires_at is not None:
        yield key("w", time_place(message.expires_at), "o", *talk, message.id)


def _item_keys(item: Item) -> Iterator[bytes]:
    parts = (item.namespace, item.scope, item.key)
    yield key("b", *parts)
    if item.expires_at is not None:
        yield key("w", time_place(item.expires_at), "b", *parts)


def _entry_keys(entry: Entry, also: Iterable[str | None]) -> Iterator[bytes]:
    seq = place(entry.seq)
    yield key("j", seq)
    yield key(".b", entry.batch)
    yield key("jc", entry.change, seq)
    yield from _entry_names(entry, also)


def _entry_names(entry: Entry, also: Iterable[str | None]) -> Iterator[bytes]:
    """By which it is found."""
    seq = place(entry.seq)
    yield from (key("jt", one, seq) for one in dict.fromkeys(t.id for t in entry.touched))
    yield from (key("ja", one, seq) for one in dict.fromkeys(also) if one is not None)


def _seq_in(raw: bytes) -> str:
    return place(told_as(Message, raw).seq)
