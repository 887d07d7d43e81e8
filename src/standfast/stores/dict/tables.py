"""What the dict store holds: how a commit reads it and how it changes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple, Protocol

from standfast.scopes import root_of
from standfast.stores.commit import (
    Changes,
    Held,
    ItemKey,
    MessageKey,
    Needs,
    RelationKey,
    is_over,
    plain_json,
)
from standfast.stores.touches import without_details
from standfast.text import analysis
from standfast.types import (
    LIVE,
    Batch,
    Entry,
    Item,
    Message,
    Record,
    Relation,
    Session,
    SessionKey,
    Summary,
    Vector,
)


class Expiring(Protocol):
    @property
    def expires_at(self) -> datetime | None: ...


def is_expired(thing: Expiring, now: datetime) -> bool:
    return is_over(thing.expires_at, now)


class Row(NamedTuple):
    """A record with everything that is indexed for it, so that dropping one drops the other."""

    record: Record
    counts: Mapping[str, int]  # how often it holds each term
    length: int  # in terms
    vectors: Mapping[str, Vector]  # by space


def row_of(record: Record) -> Row:
    found = analysis.document_terms(record.text, record.author)
    return Row(record, Counter(found), analysis.length_of(found), {})


class Tables:
    """Plain dicts of frozen values. Nothing depends on their order: every read sorts."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self.relations: dict[RelationKey, Relation] = {}
        self.sessions: dict[SessionKey, Session] = {}
        self.messages: dict[MessageKey, Message] = {}
        self.summaries: dict[str, Summary] = {}
        self.items: dict[ItemKey, Item] = {}
        self.entries: dict[tuple[str, int], Entry] = {}  # root, seq
        self.also: dict[tuple[str, int], list[str | None]] = {}  # see ``Changes.also``
        self.numbers: dict[tuple[str, str], int] = {}  # root, batch id -> seq
        self.heads: dict[str, int] = {}  # root -> seq of its last entry

    def read(self, needs: Needs) -> Held:
        records = {id_: self.rows[id_].record for id_ in needs.records if id_ in self.rows}
        hashes = set(needs.hashes)
        if hashes:
            records |= {
                id_: row.record
                for id_, row in self.rows.items()
                if row.record.status in LIVE and (row.record.scope, row.record.hash) in hashes
            }
        lengths = (
            len(row.vectors[needs.space]) // 4
            for row in self.rows.values()
            if needs.space in row.vectors
        )
        summaries = (self.summaries[id_] for id_ in needs.summaries if id_ in self.summaries)
        return Held(
            number=self.numbers.get((needs.root, needs.batch)),
            head=self.heads.get(needs.root, 0),
            records=records,
            relations={k: self.relations[k] for k in needs.relations if k in self.relations},
            sessions={k: self.sessions[k] for k in needs.sessions if k in self.sessions},
            messages={k: self.messages[k].expires_at for k in needs.messages if k in self.messages},
            summaries={one.id: SessionKey(one.scope, one.session) for one in summaries},
            items={k: self.items[k] for k in needs.items if k in self.items},
            dimensions=next(lengths, 0) if needs.space else 0,
        )

    def write(self, changes: Changes) -> None:
        """Nothing in here can fail: what could has been decided before."""
        new = {id_: row_of(changes.records[id_]) for id_ in changes.made}
        self._remove(changes)
        self.sessions |= changes.sessions
        self.messages |= {(one.scope, one.session, one.id): one for one in changes.messages}
        self.summaries |= {one.id: one for one in changes.summaries}
        for id_, record in changes.records.items():
            row = new[id_] if id_ in new else self.rows[id_]
            self.rows[id_] = row._replace(record=record)
        self.relations |= changes.relations
        for id_, vector in changes.vectors.items():
            row = self.rows[id_]
            self.rows[id_] = row._replace(vectors={**row.vectors, changes.batch.space: vector})
        self.items |= changes.items
        self._count_uses(changes)
        if changes.entry is not None:
            entry = changes.entry
            self.entries[entry.root, entry.seq] = entry
            self.also[entry.root, entry.seq] = list(changes.also)
            self.numbers[entry.root, entry.batch] = entry.seq
            self.heads[entry.root] = entry.seq

    def _remove(self, changes: Changes) -> None:
        if changes.batch.sweep:
            self._sweep(changes.batch)
        if changes.batch.drop_space:
            self._drop_space(changes.batch.root, changes.batch.drop_space)
        for seq in changes.pruned:
            entry = self.entries.pop((changes.batch.root, seq), None)
            if entry is not None:
                del self.numbers[entry.root, entry.batch]
                del self.also[entry.root, entry.seq]
        for id_ in changes.records_gone:
            self._drop_record(id_)
        for session in changes.sessions_gone:
            self.sessions.pop(session, None)
            for key in [key for key in self.messages if key[:2] == session]:
                del self.messages[key]
            for summary in [s for s in self.summaries.values() if (s.scope, s.session) == session]:
                del self.summaries[summary.id]
        for key in changes.messages_gone:
            self.messages.pop(key, None)
        for id_ in changes.summaries_gone:
            self.summaries.pop(id_, None)
        for item in changes.items_gone:
            self.items.pop(item, None)
        for erase in changes.silenced:
            for place, entry in self.entries.items():
                if entry.root == changes.batch.root:
                    quiet = without_details(entry, self.also[place], erase)
                    self.entries[place], self.also[place] = quiet

    def _sweep(self, batch: Batch) -> None:
        """Drop what expired in this root."""

        def is_swept(thing: Record | Message | Item) -> bool:
            return root_of(thing.scope) == batch.root and is_expired(thing, batch.at)

        for id_ in [id_ for id_, row in self.rows.items() if is_swept(row.record)]:
            self._drop_record(id_)
        for message in [key for key, message in self.messages.items() if is_swept(message)]:
            del self.messages[message]
        for item in [key for key, item in self.items.items() if is_swept(item)]:
            del self.items[item]

    def _drop_record(self, id_: str) -> None:
        """Remove a record with its index rows, vectors and relations."""
        self.rows.pop(id_, None)
        for key in [key for key in self.relations if id_ in (key[0], key[2])]:
            del self.relations[key]

    def _drop_space(self, root: str, space: str) -> None:
        for id_, row in self.rows.items():
            if space in row.vectors and root_of(row.record.scope) == root:
                left = {name: v for name, v in row.vectors.items() if name != space}
                self.rows[id_] = row._replace(vectors=left)

    def _count_uses(self, changes: Changes) -> None:
        batch = changes.batch
        for id_, count in changes.used.items():
            row = self.rows.get(id_)
            if row is None or root_of(row.record.scope) != batch.root:
                continue
            if not is_expired(row.record, batch.at):
                used = replace(row.record, uses=row.record.uses + count, used_at=batch.at)
                self.rows[id_] = row._replace(record=used)


def detached_record(record: Record) -> Record:
    """A copy that shares nothing that can be changed from outside."""
    return replace(record, data=plain_json(record.data)) if record.data else record


def detached_session(session: Session) -> Session:
    return replace(session, cursors=dict(session.cursors), state=plain_json(session.state))


def detached_item(item: Item) -> Item:
    return replace(item, value=plain_json(item.value))
