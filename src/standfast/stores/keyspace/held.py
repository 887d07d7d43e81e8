"""What a batch has to know, as questions to the engine, and what they answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, cast

from standfast.index.codes import moment_or_none
from standfast.stores.commit import Held, ItemKey, MessageKey, Needs
from standfast.stores.keyspace.engine import Ask, Get, KeySpan, Pairs
from standfast.stores.keyspace.keys import (
    HEADER,
    Header,
    RecordBody,
    body_of,
    entry_of,
    is_sound_body,
    key,
    parts_of,
    place,
    read_as,
    record_in,
    span,
    time_place,
    told_as,
)
from standfast.types import LIVE, Batch, Entry, Erase, Item, Message, Relation, Session, SessionKey

T = TypeVar("T")
Answer = bytes | Pairs | None


@dataclass(slots=True)
class FoundKeys:
    """What the engine has of it. ``bodies`` are of this root; what is swept, pruned or silenced
    is read along, so that all keys that point to it are known."""

    raw: bytes | None = None
    header: Header = field(default_factory=Header)
    held: Held = field(default_factory=Held)
    bodies: dict[str, RecordBody] = field(default_factory=dict)
    edges: dict[str, list[Relation]] = field(default_factory=dict)  # by record, if it was asked
    messages: dict[MessageKey, int] = field(default_factory=dict)  # their numbers
    talks: dict[SessionKey, list[Message]] = field(default_factory=dict)  # of erased sessions
    summaries: dict[str, bytes] = field(default_factory=dict)  # id -> key
    items: dict[ItemKey, Item] = field(default_factory=dict)
    since: int = 0  # when the space of the batch came
    expired: list[tuple[bytes, bytes]] = field(default_factory=list)  # of index w, followed
    entries: dict[int, Entry] = field(default_factory=dict)  # to be pruned or silenced
    also: dict[int, list[str | None]] = field(default_factory=dict)  # what they mention beside
    # Root and id of expired records of others that have lost their ids to this batch.
    left_behind: list[tuple[str, str]] = field(default_factory=list)
    # Records with a vector in a space that is dropped: scope and number.
    numbered: list[tuple[str, str]] = field(default_factory=list)


class Questions:
    """Asked in one go; ``found`` reads the answers in the same order."""

    def __init__(self, batch: Batch, needs: Needs) -> None:
        self._batch = batch
        self._needs = needs
        self._erased = batch.erase
        self._records = list(dict.fromkeys((*needs.records, *batch.used)))
        self._messages = [*needs.messages]
        self._items = [*needs.items]
        for erase in batch.erase:
            if erase.kind == "message":
                self._messages.append((erase.scope, erase.session, erase.id))
            if erase.kind == "item":
                self._items.append((erase.scope, erase.namespace, erase.id))
        self._talks = [SessionKey(one.scope, one.id) for one in batch.erase if _is_session(one)]
        self._dropped = [one.id for one in batch.erase if one.kind == "record"]
        self.asks: Sequence[Ask] = list(self._asks())

    def _asks(self) -> Iterator[Ask]:
        batch, needs = self._batch, self._needs
        yield Get(HEADER)
        yield Get(key(".b", needs.batch))
        yield Get(key(".d", needs.space))
        yield from (Get(key(".i", id_), follow=True) for id_ in self._records)
        yield from (span("h", hash_, scope, follow=True) for scope, hash_ in needs.hashes)
        yield from (Get(key("e", *edge)) for edge in needs.relations)
        yield from (Get(key("t", *one)) for one in needs.sessions)
        yield from (Get(key(".p", *one)) for one in self._messages)
        yield from (Get(key(".u", id_)) for id_ in needs.summaries)
        yield from (Get(item_key(one)) for one in self._items)
        yield from edge_asks(self._dropped)
        for talk in self._talks:
            yield span("o", *talk)
            yield span("u", *talk)
        for erase in batch.erase:
            yield from _mentions(erase)
        yield from (Get(key("j", place(seq))) for seq in batch.prune)
        if batch.sweep:
            yield KeySpan(b"w\0", key("w", time_place(batch.at)) + b"\1", follow=True)
        if batch.drop_space:
            yield span("q", batch.drop_space)._replace(bare=True)

    def found(self, answers: Sequence[Answer]) -> FoundKeys:
        batch, needs, rest = self._batch, self._needs, iter(answers)
        result = FoundKeys(raw=_value(next(rest)))
        result.header = Header.read(result.raw)
        held = result.held
        held.head = result.header.head
        number, space = _value(next(rest)), _value(next(rest))
        held.number = int(number) if number else None
        if space and needs.space:
            held.dimensions, result.since = map(int, space.split())
        self._take_records(result, rest)
        held.relations = {
            edge: read_as(Relation, raw) for edge in needs.relations if (raw := _value(next(rest)))
        }
        held.sessions = {
            one: self._read(Session, raw, one in self._talks)
            for one in needs.sessions
            if (raw := _value(next(rest)))
        }
        self._take_messages(result, rest)
        for id_ in needs.summaries:
            if at := _value(next(rest)):
                result.summaries[id_] = at
        held.summaries = {id_: _session_of(at) for id_, at in result.summaries.items()}
        for one in self._items:
            if raw := _value(next(rest)):
                scope, namespace, name = one
                erased = Erase(kind="item", scope=scope, namespace=namespace, id=name)
                result.items[one] = self._read(Item, raw, erased in batch.erase)
        held.items = {one: result.items[one] for one in needs.items if one in result.items}
        result.edges = edges_in(self._dropped, rest)
        for talk in self._talks:
            result.talks[talk] = [told_as(Message, raw) for _, raw in _pairs(next(rest))]
            result.summaries |= {parts_of(at)[-1]: at for at, _ in _pairs(next(rest))}
        entries = [
            raw for erase in batch.erase for _ in _mentions(erase) for _, raw in _pairs(next(rest))
        ]
        entries += [raw for _ in batch.prune if (raw := _value(next(rest)))]
        for raw in filter(None, entries):
            entry, also = entry_of(raw, told_as)
            result.entries[entry.seq], result.also[entry.seq] = entry, also
        if batch.sweep:
            result.expired = _pairs(next(rest))
        if batch.drop_space:
            vectors = (parts_of(at) for at, _ in _pairs(next(rest)))
            result.numbered = [(scope, number) for _, _, scope, number in vectors]
        return result

    @staticmethod
    def _read(kind: type[T], raw: bytes, erased: bool) -> T:
        """What is damaged is not changed, but it can be erased."""
        return told_as(kind, raw) if erased else read_as(kind, raw)

    def _take_records(self, result: FoundKeys, rest: Iterator[Answer]) -> None:
        bodies = [(id_, raw) for id_ in self._records if (raw := _value(next(rest)))]
        twins = [raw for _ in self._needs.hashes for _, raw in _pairs(next(rest)) if raw]
        for id_, raw in bodies:
            if id_ not in self._dropped and not is_sound_body(raw):
                if id_ in self._needs.records:
                    record_in(raw)  # Unavailable, by its name
                continue  # it was used, but nobody counts that any more
            body = body_of(raw)
            result.bodies[body.record.id] = body
        records = {id_: result.bodies[id_].record for id_ in result.bodies}
        for raw in twins:
            body = body_of(raw)
            if body.record.status in LIVE:
                result.bodies[body.record.id] = body
                records[body.record.id] = body.record
        result.held.records = records

    def _take_messages(self, result: FoundKeys, rest: Iterator[Answer]) -> None:
        expiries = {}
        for one in self._messages:
            if raw := _value(next(rest)):
                seq, _, expires = raw.partition(b" ")
                result.messages[one] = int(seq)
                expiries[one] = moment_or_none(int(expires) if expires else None)
        wanted = set(self._needs.messages)
        result.held.messages = {one: at for one, at in expiries.items() if one in wanted}


def item_key(item: ItemKey) -> bytes:
    scope, namespace, name = item
    return key("b", namespace, scope, name)


def edge_asks(ids: Sequence[str]) -> Iterator[Ask]:
    for id_ in ids:
        yield span("e", id_)
        yield span("f", id_)


def edges_in(ids: Sequence[str], answers: Iterator[Answer]) -> dict[str, list[Relation]]:
    return {
        id_: [told_as(Relation, raw) for _ in "ef" for _, raw in _pairs(next(answers))]
        for id_ in ids
    }


def _mentions(erase: Erase) -> Iterator[KeySpan]:
    """Entries of the journal that may tell about it."""
    name = f"{erase.namespace}/{erase.id}" if erase.kind == "item" else erase.id
    yield span("jt", name, follow=True)
    if erase.kind == "record":  # a relation is named by its ends; "!" follows the blank
        yield KeySpan(key("jt", f"{name} "), key("jt", f"{name}!"), follow=True)
    if erase.kind in ("record", "session"):
        yield span("ja", name, follow=True)


def _is_session(erase: Erase) -> bool:
    return erase.kind == "session"


def _session_of(at: bytes) -> SessionKey:
    _, scope, session, *_ = parts_of(at)
    return SessionKey(scope, session)


def _value(answer: Answer) -> bytes | None:
    return cast(bytes | None, answer)


def _pairs(answer: Answer) -> Pairs:
    return cast(Pairs, answer)
