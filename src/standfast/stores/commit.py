"""What a commit means, once for every store.

A commit is four steps. ``checked`` and ``needs_of`` say, without a store, whether the batch can be
right and which keys it has to know about; the store reads them all in one call; ``decide`` answers
with every row that has to change, or raises; the store writes them all in one call. So a commit
takes two round trips, however much is in it.

Between the reading and the writing nobody else may commit to the same root. A lock on the root
will do; so will a number that every commit to the root raises, compared by the writing call and
the four steps done again if it moved.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cache
from itertools import chain, repeat
from operator import attrgetter, call
from typing import Any, TypeVar

from standfast.errors import Conflict, Invalid
from standfast.scopes import root_of
from standfast.stores import touches
from standfast.stores.batches import (
    check_batch,
    check_unchanged,
    is_journalled,
    next_seq,
    takes_a_number,
)
from standfast.types import (
    LIVE,
    Batch,
    CursorMove,
    Entry,
    Erase,
    Item,
    Message,
    Record,
    Relation,
    Session,
    SessionKey,
    Summary,
    Touch,
    Vector,
)

T = TypeVar("T")
_PLAIN_TYPES = frozenset((str,))

DATA_LENGTH_MAX = 1 << 20  # characters of a new record's data as JSON, however it comes in

RelationKey = tuple[str, str, str]  # source, kind, target
MessageKey = tuple[str, str, str]  # scope, session, id
ItemKey = tuple[str, str, str]  # scope, namespace, key


@dataclass(slots=True, kw_only=True)
class Needs:
    """What a batch has to know before anything of it can be decided."""

    root: str
    batch: str  # is its id in the journal of the root already?
    records: tuple[str, ...] = ()  # by id, of whatever root
    hashes: tuple[tuple[str, str], ...] = ()  # scope and hash: the live records that have it
    relations: tuple[RelationKey, ...] = ()
    sessions: tuple[SessionKey, ...] = ()
    messages: tuple[MessageKey, ...] = ()
    summaries: tuple[str, ...] = ()  # by id, of whatever root
    items: tuple[ItemKey, ...] = ()
    space: str = ""  # of how many numbers are its vectors?


@dataclass(slots=True, kw_only=True)
class Held:
    """What the store has of that; what it has not is left out. Expired rows may be among it."""

    number: int | None = None  # under which the journal has the batch already
    head: int = 0  # the number of the root's last entry
    records: Mapping[str, Record] = field(default_factory=dict)  # those with the hashes, too
    relations: Mapping[RelationKey, Relation] = field(default_factory=dict)
    sessions: Mapping[SessionKey, Session] = field(default_factory=dict)
    messages: Mapping[MessageKey, datetime | None] = field(default_factory=dict)  # they expire
    summaries: Mapping[str, SessionKey] = field(default_factory=dict)  # id -> whose it is
    items: Mapping[ItemKey, Item] = field(default_factory=dict)
    dimensions: int = 0  # of the space; 0: it has no vector yet


@dataclass(slots=True, kw_only=True)
class Changes:
    """Every row that a batch changes, to be written in this order: first what ``batch.sweep``
    and ``batch.drop_space`` ask for, then what is gone, then what is put, then the uses, then
    the entry. What is put replaces what was there under the same key."""

    batch: Batch
    seq: int = 0  # what the commit answers
    entry: Entry | None = None  # None: it is not journalled
    # For each touch of the entry a second thing that it mentions, if any: the session of a
    # message, the target of a relation. So that the journal can be silenced by it later.
    also: list[str | None] = field(default_factory=list)
    # Gone. A record takes its vectors and relations along, a session its messages and summaries.
    records_gone: dict[str, Record] = field(default_factory=dict)
    sessions_gone: list[SessionKey] = field(default_factory=list)
    messages_gone: list[MessageKey] = field(default_factory=list)
    summaries_gone: list[str] = field(default_factory=list)
    items_gone: list[ItemKey] = field(default_factory=list)
    pruned: tuple[int, ...] = ()  # entries of the root's journal, where they are there
    # The root's journal must not tell any more about these; see ``touches.without_details``.
    silenced: tuple[Erase, ...] = ()
    # Put.
    sessions: dict[SessionKey, Session] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)
    summaries: list[Summary] = field(default_factory=list)
    records: dict[str, Record] = field(default_factory=dict)
    made: set[str] = field(default_factory=set)  # those of the records that are new
    relations: dict[RelationKey, Relation] = field(default_factory=dict)
    vectors: dict[str, Vector] = field(default_factory=dict)  # by record, in ``batch.space``
    items: dict[ItemKey, Item] = field(default_factory=dict)
    # Counted, where the record is still of this root and has not expired.
    used: Mapping[str, int] = field(default_factory=dict)


def checked(batch: Batch) -> Batch:
    """The batch, if it can be right whatever the store holds. Raises Invalid."""
    check_batch(batch)
    for id_, vector in batch.vectors.items():
        if not vector or len(vector) % 4:
            raise Invalid(f"the vector of {id_!r} is not a row of float32 numbers")
    for record in batch.records:
        if record.data and not record.version and _length(record.data) > DATA_LENGTH_MAX:
            raise Invalid(
                f"the data of {record.id!r} is longer than a store keeps; keep less of it"
            )
    return batch


def _length(data: Mapping[str, Any]) -> int:
    """Of a record's data as JSON; what JSON cannot hold is refused elsewhere."""
    if type(data) is dict and _PLAIN_TYPES.issuperset(map(type, chain(data, data.values()))):
        size = sum(map(len, chain(data, data.values())))
        if 6 * (size + len(data)) < DATA_LENGTH_MAX:  # the most that JSON makes of it
            return size
    try:
        return len(json.dumps(data, default=_as_dict))
    except (TypeError, ValueError):
        return 0


def plain_json(value: Any) -> Any:
    """The value as JSON gives it back, a copy; Invalid if JSON cannot hold it."""
    if value is None or value == {}:  # as most are
        return None if value is None else {}
    if type(value) is dict and _PLAIN_TYPES.issuperset(map(type, chain(value, value.values()))):
        return value.copy()  # names and texts, as of a turn: JSON changes nothing of them
    try:
        return json.loads(_encode(value))
    except (TypeError, ValueError) as error:
        raise Invalid(f"a stored value must be plain JSON: {error}") from error


def _as_dict(value: Any) -> Any:
    """Mappings that are no dicts are taken for such."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


_encode = json.JSONEncoder(allow_nan=False, default=_as_dict).encode


def needs_of(batch: Batch) -> Needs:
    """The keys that a checked batch has to know about."""
    needs = Needs(root=batch.root, batch=batch.id)
    if batch.records or batch.relations or batch.vectors or batch.erase:
        needs.records = tuple(dict.fromkeys(_record_ids(batch)))
        single = [one for one in batch.records if one.hash and _is_single(one, batch.at)]
        needs.hashes = tuple(dict.fromkeys((one.scope, one.hash) for one in single))
    if batch.relations:
        needs.relations = tuple((one.source, one.kind, one.target) for one in batch.relations)
    if batch.sessions or batch.messages or batch.cursors:
        needs.sessions = tuple(dict.fromkeys(_session_keys(batch)))
        needs.messages = tuple(dict.fromkeys(map(_message_key, batch.messages)))
    if batch.summaries or batch.erase:
        needs.summaries = tuple(dict.fromkeys(_summary_ids(batch)))
    if batch.items:
        needs.items = tuple(dict.fromkeys(map(_item_key, batch.items)))
    if batch.vectors:
        needs.space = batch.space
    return needs


def decide(batch: Batch, held: Held, *, prepared: bool = False) -> Changes:
    """What changes if a checked batch is applied to what the store holds. Raises Conflict or
    Invalid. The caller has looked at ``held.number``: this batch is not in the journal yet.
    ``prepared``: it has made the rows of records already; new ones among the changes may then be
    as they were given, without the number of their version."""
    return _Decision(batch, held, prepared).made()


def altered(value: T, /, **changed: Any) -> T:
    """``dataclasses.replace`` in a third of the time, for frozen values with slots: a commit makes
    several new ones of everything that is in it."""
    kind: Any = type(value)
    read, writers = _slots(kind)
    new: T = object.__new__(kind)
    deque(map(call, writers, repeat(new), read(value)), maxlen=0)
    for name, part in changed.items():
        object.__setattr__(new, name, part)
    return new


@cache
def _slots(kind: type) -> tuple[Callable[[Any], Any], list[Callable[[Any, Any], None]]]:
    names = [one.name for one in fields(kind)]
    return attrgetter(*names), [getattr(kind, name).__set__ for name in names]


def is_over(expires_at: datetime | None, now: datetime) -> bool:
    return expires_at is not None and expires_at <= now


def _record_ids(batch: Batch) -> Iterator[str]:
    yield from (record.id for record in batch.records)
    for relation in batch.relations:
        yield from (relation.source, relation.target)
    yield from batch.vectors
    yield from (erase.id for erase in batch.erase if erase.kind == "record")


def _session_keys(batch: Batch) -> Iterator[SessionKey]:
    yield from (SessionKey(session.scope, session.id) for session in batch.sessions)
    yield from (SessionKey(message.scope, message.session) for message in batch.messages)
    yield from (SessionKey(*move.session) for move in batch.cursors)


def _summary_ids(batch: Batch) -> Iterator[str]:
    yield from (summary.id for summary in batch.summaries)
    yield from (erase.id for erase in batch.erase if erase.kind == "summary")


def _message_key(message: Message) -> MessageKey:
    return message.scope, message.session, message.id


def _item_key(item: Item) -> ItemKey:
    return item.scope, item.namespace, item.key


def _is_single(record: Record, at: datetime) -> bool:
    """May no other record of its scope say the same?"""
    return bool(record.hash) and record.status in LIVE and not is_over(record.expires_at, at)


class _Decision:
    """One batch, step by step in the order of the contract, over its own copy of what is held."""

    def __init__(self, batch: Batch, held: Held, prepared: bool) -> None:
        self._batch = batch
        self._prepared = prepared
        self._head = held.head
        self._records = dict(held.records)
        self._relations = dict(held.relations)
        self._sessions = dict(held.sessions)
        self._messages = dict(held.messages)
        self._summaries = dict(held.summaries)
        self._items = dict(held.items)
        self._dimensions = held.dimensions
        self._twins: dict[tuple[str, str], dict[str, None]] = {}  # scope, hash -> ids
        for record in held.records.values():
            self._note_hash(record)
        self._changes = Changes(batch=batch, seq=held.head)
        self._touched: list[Touch] = []

    def made(self) -> Changes:
        batch, changes = self._batch, self._changes
        for erase in batch.erase:
            self._erase(erase)
        for session in batch.sessions:
            self._write_session(session)
        self._append(batch.messages)
        for move in batch.cursors:
            self._move_cursor(move)
        for summary in batch.summaries:
            self._add_summary(summary)
        self._write_records(batch.records)
        for relation in batch.relations:
            self._write_relation(relation)
        self._write_vectors(batch.vectors)
        for item in batch.items:
            old, new = self._put_item(item)
            if is_journalled(item):
                self._touch(touches.touch_item(old, new))
        changes.pruned = tuple(seq for seq in batch.prune if seq < self._head)
        changes.silenced = batch.erase
        changes.used = Counter(batch.used) if batch.used else {}
        if takes_a_number(batch):
            changes.entry = self._entry()
            changes.seq = changes.entry.seq
        return changes

    def _entry(self) -> Entry:
        batch = self._batch
        return Entry(
            root=batch.root,
            seq=self._head + 1,
            at=batch.at,
            batch=batch.id,
            change=batch.change or batch.id,
            reason=batch.reason,
            actor=batch.actor,
            touched=tuple(self._touched),
        )

    def _touch(self, touch: Touch, also: str | None = None) -> None:
        self._touched.append(touch)
        self._changes.also.append(also)

    def _is_over(self, expires_at: datetime | None) -> bool:
        return is_over(expires_at, self._batch.at)

    # Removing

    def _erase(self, erase: Erase) -> None:
        remove: Mapping[str, Callable[[Erase], str]] = {
            "record": self._erase_record,
            "summary": self._erase_summary,
            "message": self._erase_message,
            "session": self._erase_session,
            "item": self._erase_item,
        }
        scope = remove[erase.kind](erase) or erase.scope or self._batch.root
        self._touch(touches.touch_erased(erase, scope), erase.session or None)

    def _erase_record(self, erase: Erase) -> str:
        record = self._records.get(erase.id)
        if record is None or root_of(record.scope) != self._batch.root:
            return ""
        self._drop_record(record)
        return record.scope

    def _erase_summary(self, erase: Erase) -> str:
        session = self._summaries.get(erase.id)
        if session is None or root_of(session.scope) != self._batch.root:
            return ""
        del self._summaries[erase.id]
        self._changes.summaries_gone.append(erase.id)
        return session.scope

    def _erase_message(self, erase: Erase) -> str:
        key = (erase.scope, erase.session, erase.id)
        self._messages.pop(key, None)
        self._changes.messages_gone.append(key)
        return erase.scope

    def _erase_session(self, erase: Erase) -> str:
        key = SessionKey(erase.scope, erase.id)
        self._sessions.pop(key, None)
        for message in [one for one in self._messages if one[:2] == key]:
            del self._messages[message]
        for id_ in [id_ for id_, session in self._summaries.items() if session == key]:
            del self._summaries[id_]
        self._changes.sessions_gone.append(key)
        return erase.scope

    def _erase_item(self, erase: Erase) -> str:
        key = (erase.scope, erase.namespace, erase.id)
        self._items.pop(key, None)
        self._changes.items_gone.append(key)
        return erase.scope

    def _drop_record(self, record: Record) -> None:
        changes = self._changes
        del self._records[record.id]
        self._twins.get((record.scope, record.hash), {}).pop(record.id, None)
        changes.records.pop(record.id, None)
        if record.id in changes.made:
            changes.made.remove(record.id)  # by this very batch: it never was
        else:
            changes.records_gone[record.id] = record
        for key in [key for key in self._relations if record.id in (key[0], key[2])]:
            del self._relations[key]

    # Sessions

    def _write_session(self, given: Session) -> None:
        key = SessionKey(given.scope, given.id)
        stored = self._sessions.get(key)
        if given.version != (stored.version if stored else 0):
            raise Conflict(
                f"session {given.id!r} was changed meanwhile; read it again",
                kind="session",
                ids=(given.id,),
            )
        new = altered(
            given,
            state=plain_json(given.state),
            cursors=stored.cursors if stored else dict(given.cursors),
            last_seq=stored.last_seq if stored else 0,
            version=given.version + 1,
        )
        self._put_session(new)
        self._touch(touches.touch_session(stored, new), new.id)

    def _put_session(self, session: Session) -> None:
        key = SessionKey(session.scope, session.id)
        self._sessions[key] = self._changes.sessions[key] = session

    def _append(self, messages: tuple[Message, ...]) -> None:
        self._check_message_ids(messages)
        ends: dict[SessionKey, int] = {}
        for message in messages:
            key = SessionKey(message.scope, message.session)
            if key not in self._sessions:
                self._write_session(Session(scope=key[0], id=key[1], started_at=self._batch.at))
            last = ends[key] if key in ends else self._sessions[key].last_seq
            stored = altered(message, seq=next_seq(message, last))
            ends[key] = stored.seq
            self._changes.messages.append(stored)
            self._touch(touches.touch_message(stored), message.session)
        for key, last in ends.items():
            self._put_session(altered(self._sessions[key], last_seq=last))

    def _check_message_ids(self, messages: tuple[Message, ...]) -> None:
        """What expired makes room."""
        seen: set[MessageKey] = set()
        taken: dict[str, None] = {}
        for message in messages:
            key = _message_key(message)
            if key in seen:
                taken[message.id] = None
            elif key in self._messages:
                if self._is_over(self._messages[key]):
                    self._changes.messages_gone.append(key)
                else:
                    taken[message.id] = None
            seen.add(key)
        if taken:
            raise Conflict(
                f"message ids {', '.join(map(repr, taken))} are already in their session",
                kind="message",
                ids=tuple(taken),
            )

    def _move_cursor(self, move: CursorMove) -> None:
        session = self._sessions.get(SessionKey(*move.session))
        if session is None:
            raise Invalid(f"no session {move.session.id!r} in {move.session.scope!r} to move in")
        if session.cursors.get(move.reader, 0) != move.old:
            raise Conflict(
                f"cursor {move.reader!r} of session {session.id!r} was moved meanwhile",
                kind="cursor",
                ids=(f"{session.id}/{move.reader}",),
            )
        if not move.old <= move.new <= session.last_seq:
            raise Invalid(
                f"cursor {move.reader!r} cannot go from {move.old} to {move.new}: "
                f"it never goes back, and session {session.id!r} ends at {session.last_seq}"
            )
        self._put_session(altered(session, cursors={**session.cursors, move.reader: move.new}))
        self._touch(touches.touch_cursor(move), session.id)

    def _add_summary(self, summary: Summary) -> None:
        if summary.id in self._summaries:
            raise Conflict(
                f"summary {summary.id!r} exists; summaries are never edited",
                kind="summary",
                ids=(summary.id,),
            )
        self._summaries[summary.id] = SessionKey(summary.scope, summary.session)
        self._changes.summaries.append(summary)
        self._touch(touches.touch_summary(summary), summary.session)

    # Records

    def _write_records(self, records: tuple[Record, ...]) -> None:
        if self._are_new(records):
            self._make_all(records)
            return
        for record in records:
            self._write_record(record)

    def _are_new(self, records: tuple[Record, ...]) -> bool:
        """Does nothing that is held, nor one of them, stand in the way of another?"""
        if self._records or any(record.version for record in records):
            return False
        texts = [(record.scope, record.hash) for record in records if record.hash]
        ids = {record.id for record in records}
        return len(ids) == len(records) and len(set(texts)) == len(texts)

    def _make_all(self, records: tuple[Record, ...]) -> None:
        """The same as ``_write_record`` for each, where there is nothing to decide."""
        new = records
        if not self._prepared:
            new = tuple([altered(one, version=1, data=plain_json(one.data)) for one in records])
        made = {record.id: record for record in new}
        self._records.update(made)
        self._changes.records.update(made)
        self._changes.made.update(made)
        self._touched += touches.touch_made(new)
        self._changes.also += [None] * len(new)

    def _write_record(self, given: Record) -> None:
        stored = self._records.get(given.id)
        if stored is not None and self._is_over(stored.expires_at):
            self._drop_record(stored)
            stored = None
        # A record of another root answers like a stale one: nothing tells that it exists.
        foreign = stored is not None and root_of(stored.scope) != self._batch.root
        if foreign or given.version != (stored.version if stored else 0):
            raise Conflict(
                f"record {given.id!r} was changed meanwhile; read it again",
                kind="record",
                ids=(given.id,),
            )
        self._make_room(given)
        if stored is None:
            new = altered(given, version=1, data=plain_json(given.data))
            self._changes.made.add(new.id)
        else:
            check_unchanged(stored, given)
            # The counters have their own way in, which no version guards.
            new = altered(
                given,
                data=plain_json(given.data),
                version=given.version + 1,
                uses=stored.uses,
                used_at=stored.used_at,
            )
        self._records[new.id] = self._changes.records[new.id] = new
        self._note_hash(new)
        self._touch(touches.touch_record(stored, new))

    def _note_hash(self, record: Record) -> None:
        if record.hash:
            self._twins.setdefault((record.scope, record.hash), {})[record.id] = None

    def _make_room(self, given: Record) -> None:
        """One text at a time may live in a scope; what expired makes room."""
        if not _is_single(given, self._batch.at):
            return
        for id_ in list(self._twins.get((given.scope, given.hash), ())):
            other = self._records[id_]
            if other.id == given.id or other.status not in LIVE:
                continue
            if not self._is_over(other.expires_at):
                raise Conflict(
                    f"record {other.id!r} already says this in {given.scope!r}",
                    kind="hash",
                    ids=(other.id,),
                )
            self._drop_record(other)

    def _here(self, id_: str) -> Record | None:
        """The unexpired record of this root, if there is one."""
        record = self._records.get(id_)
        if record is None or root_of(record.scope) != self._batch.root:
            return None
        return None if self._is_over(record.expires_at) else record

    def _write_relation(self, given: Relation) -> None:
        key = (given.source, given.kind, given.target)
        for end in (given.source, given.target):
            if self._here(end) is None:
                raise Invalid(f"a relation needs both records; {end!r} is not in this root")
        stored = self._relations.get(key)
        if given.version != (stored.version if stored else 0):
            raise Conflict(
                f"relation {' '.join(key)!r} was changed meanwhile; read it again",
                kind="relation",
                ids=(given.source, given.target),
            )
        new = altered(given, version=given.version + 1)
        self._relations[key] = self._changes.relations[key] = new
        self._touch(touches.touch_relation(stored, new), new.target)

    def _write_vectors(self, vectors: Mapping[str, Vector]) -> None:
        if not vectors:
            return
        made, space, over = self._changes.made, self._batch.space, self._is_over
        dimensions = self._dimensions or len(next(iter(vectors.values()))) // 4
        records: list[Record] = []
        for id_, vector in vectors.items():
            record = self._records[id_] if id_ in made else self._here(id_)
            if record is None or (record.expires_at is not None and over(record.expires_at)):
                raise Invalid(f"a vector for {id_!r}, but no such record in this root")
            if len(vector) // 4 != dimensions:
                raise Invalid(
                    f"a vector of {len(vector) // 4} numbers for the space {space!r}, "
                    f"which has {dimensions}"
                )
            records.append(record)
        self._changes.vectors.update(vectors)
        self._touched += touches.touch_vectors(records, space)
        self._changes.also += [None] * len(records)

    # Items

    def _put_item(self, given: Item) -> tuple[Item | None, Item]:
        """The item as it was and as it is."""
        key = _item_key(given)
        stored = self._items.get(key)
        if stored is not None and self._is_over(stored.expires_at):
            stored = None
        if given.version != (stored.version if stored else 0):
            raise Conflict(
                f"item {given.key!r} of {given.namespace!r} was changed meanwhile; read it again",
                kind="item",
                ids=(given.key,),
            )
        new = altered(given, value=plain_json(given.value), version=given.version + 1)
        self._items[key] = self._changes.items[key] = new
        return stored, new
