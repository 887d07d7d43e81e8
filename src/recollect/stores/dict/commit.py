"""One batch applied to the tables, step by step, in the order the contract names."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from recollect.errors import Conflict, Invalid
from recollect.scopes import root_of
from recollect.stores import touches
from recollect.stores.batches import check_unchanged, is_journalled, next_seq, takes_a_number
from recollect.stores.dict.tables import (
    Row,
    Tables,
    detached_item,
    detached_record,
    detached_session,
    is_expired,
    row_of,
)
from recollect.types import (
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
    Summary,
    Touch,
    Vector,
)


class Application:
    """Applies one checked batch; the caller takes everything back if it raises."""

    def __init__(self, tables: Tables, batch: Batch) -> None:
        self._tables = tables
        self._batch = batch
        self._touched: list[Touch] = []

    def run(self) -> int:
        """The batch's number in the journal, or the last one if it takes none."""
        batch = self._batch
        if batch.sweep:
            self._sweep()
        if batch.drop_space:
            self._drop_space(batch.drop_space)
        for seq in batch.prune:
            self._prune(seq)
        for erase in batch.erase:
            self._erase(erase)
        for session in batch.sessions:
            self._write_session(session)
        self._append(batch.messages)
        for move in batch.cursors:
            self._move_cursor(move)
        for summary in batch.summaries:
            self._add_summary(summary)
        for record in batch.records:
            self._write_record(record)
        for relation in batch.relations:
            self._write_relation(relation)
        for id_, vector in batch.vectors.items():
            self._write_vector(id_, vector)
        for item in batch.items:
            self._write_item(item)
        self._count_uses()
        if not takes_a_number(batch):
            return self._tables.heads.get(batch.root, 0)
        return self._add_entry()

    def _add_entry(self) -> int:
        batch, tables = self._batch, self._tables
        seq = tables.heads.get(batch.root, 0) + 1
        entry = Entry(
            root=batch.root,
            seq=seq,
            at=batch.at,
            batch=batch.id,
            change=batch.change or batch.id,
            reason=batch.reason,
            actor=batch.actor,
            touched=tuple(self._touched),
        )
        tables.put(tables.entries, (batch.root, seq), entry)
        tables.put(tables.numbers, (batch.root, batch.id), seq)
        tables.put(tables.heads, batch.root, seq)
        return seq

    # Removing

    def _prune(self, seq: int) -> None:
        tables, root = self._tables, self._batch.root
        entry = tables.entries.get((root, seq))
        if entry is not None and seq < tables.heads[root]:
            tables.drop(tables.entries, (root, seq))
            tables.drop(tables.numbers, (root, entry.batch))

    def _sweep(self) -> None:
        tables = self._tables
        for id_, row in list(tables.rows.items()):
            if self._is_swept(row.record):
                tables.drop_record(id_)
        for message_key, message in list(tables.messages.items()):
            if self._is_swept(message):
                tables.drop(tables.messages, message_key)
        for item_key, item in list(tables.items.items()):
            if self._is_swept(item):
                tables.drop(tables.items, item_key)

    def _is_swept(self, thing: Record | Message | Item) -> bool:
        return root_of(thing.scope) == self._batch.root and is_expired(thing, self._batch.at)

    def _erase(self, erase: Erase) -> None:
        scope = self._remove(erase) or erase.scope or self._batch.root
        self._touched.append(touches.touch_erased(erase, scope))
        tables = self._tables
        for key, entry in list(tables.entries.items()):
            silent = touches.without_details(entry, erase)
            if entry.root == self._batch.root and silent != entry:
                tables.put(tables.entries, key, silent)

    def _remove(self, erase: Erase) -> str:
        """Drop what is to be erased; the scope it was in, empty if it does not say."""
        tables = self._tables
        if erase.kind == "record":
            row = tables.rows.get(erase.id)
            if row is None or root_of(row.record.scope) != self._batch.root:
                return ""
            tables.drop_record(erase.id)
            return row.record.scope
        if erase.kind == "summary":
            summary = tables.summaries.get(erase.id)
            if summary is None or root_of(summary.scope) != self._batch.root:
                return ""
            tables.drop(tables.summaries, erase.id)
            return summary.scope
        if erase.kind == "message":
            tables.drop(tables.messages, (erase.scope, erase.session, erase.id))
        elif erase.kind == "item":
            tables.drop(tables.items, (erase.scope, erase.namespace, erase.id))
        else:
            self._remove_session(erase)
        return erase.scope

    def _remove_session(self, erase: Erase) -> None:
        tables, session = self._tables, (erase.scope, erase.id)
        tables.drop(tables.sessions, session)
        for key in [key for key in tables.messages if key[:2] == session]:
            tables.drop(tables.messages, key)
        for id_, summary in list(tables.summaries.items()):
            if (summary.scope, summary.session) == session:
                tables.drop(tables.summaries, id_)

    # Sessions

    def _write_session(self, given: Session) -> None:
        tables, key = self._tables, (given.scope, given.id)
        stored = tables.sessions.get(key)
        if given.version != (stored.version if stored else 0):
            raise Conflict(
                f"session {given.id!r} was changed meanwhile; read it again",
                kind="session",
                ids=(given.id,),
            )
        new = replace(
            detached_session(given),
            cursors=stored.cursors if stored else dict(given.cursors),
            last_seq=stored.last_seq if stored else 0,
            version=given.version + 1,
        )
        tables.put(tables.sessions, key, new)
        self._touched.append(touches.touch_session(stored, new))

    def _append(self, messages: tuple[Message, ...]) -> None:
        self._check_message_ids(messages)
        tables = self._tables
        for message in messages:
            key = (message.scope, message.session)
            if key not in tables.sessions:
                self._write_session(
                    Session(scope=key[0], id=key[1], started_at=self._batch.at),
                )
            session = tables.sessions[key]
            stored = replace(message, seq=next_seq(message, session.last_seq))
            tables.put(tables.messages, (*key, message.id), stored)
            tables.put(tables.sessions, key, replace(session, last_seq=stored.seq))
            self._touched.append(touches.touch_message(stored))

    def _check_message_ids(self, messages: tuple[Message, ...]) -> None:
        seen: set[tuple[str, str, str]] = set()
        taken: dict[str, None] = {}
        for message in messages:
            key = (message.scope, message.session, message.id)
            stored = self._tables.messages.get(key)
            if key in seen or (stored is not None and not is_expired(stored, self._batch.at)):
                taken[message.id] = None
            seen.add(key)
        if taken:
            raise Conflict(
                f"message ids {', '.join(map(repr, taken))} are already in their session",
                kind="message",
                ids=tuple(taken),
            )

    def _move_cursor(self, move: CursorMove) -> None:
        tables, key = self._tables, (move.session.scope, move.session.id)
        session = tables.sessions.get(key)
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
        moved = replace(session, cursors={**session.cursors, move.reader: move.new})
        tables.put(tables.sessions, key, moved)
        self._touched.append(touches.touch_cursor(move))

    def _add_summary(self, summary: Summary) -> None:
        tables = self._tables
        if summary.id in tables.summaries:
            raise Conflict(
                f"summary {summary.id!r} exists; summaries are never edited",
                kind="summary",
                ids=(summary.id,),
            )
        tables.put(tables.summaries, summary.id, summary)
        self._touched.append(touches.touch_summary(summary))

    # Records

    def _write_record(self, given: Record) -> None:
        tables, at = self._tables, self._batch.at
        row = tables.rows.get(given.id)
        if row is not None and is_expired(row.record, at):
            tables.drop_record(given.id)
            row = None
        stored = row.record if row is not None else None
        # A record of another root answers like a stale one: nothing tells that it exists.
        foreign = stored is not None and root_of(stored.scope) != self._batch.root
        if foreign or given.version != (stored.version if stored else 0):
            raise Conflict(
                f"record {given.id!r} was changed meanwhile; read it again",
                kind="record",
                ids=(given.id,),
            )
        self._check_hash(given)
        new = replace(detached_record(given), version=given.version + 1)
        if row is not None and stored is not None:
            check_unchanged(stored, new)
            # The counters have their own way in, which no version guards.
            new = replace(new, uses=stored.uses, used_at=stored.used_at)
            tables.put(tables.rows, new.id, row._replace(record=new))
        else:
            tables.put(tables.rows, new.id, row_of(new))
        self._touched.append(touches.touch_record(stored, new))

    def _check_hash(self, given: Record) -> None:
        """One text at a time may live in a scope; what expired makes room."""
        if not given.hash or given.status not in LIVE or is_expired(given, self._batch.at):
            return
        for other in [row.record for row in self._tables.rows.values()]:
            if (other.scope, other.hash) != (given.scope, given.hash):
                continue
            if other.id == given.id or other.status not in LIVE:
                continue
            if not is_expired(other, self._batch.at):
                raise Conflict(
                    f"record {other.id!r} already says this in {given.scope!r}",
                    kind="hash",
                    ids=(other.id,),
                )
            self._tables.drop_record(other.id)

    def _write_relation(self, given: Relation) -> None:
        tables, key = self._tables, (given.source, given.kind, given.target)
        for end in (given.source, given.target):
            if tables.record_in(self._batch.root, end, self._batch.at) is None:
                raise Invalid(f"a relation needs both records; {end!r} is not in this root")
        stored = tables.relations.get(key)
        if given.version != (stored.version if stored else 0):
            raise Conflict(
                f"relation {' '.join(key)!r} was changed meanwhile; read it again",
                kind="relation",
                ids=(given.source, given.target),
            )
        new = replace(given, version=given.version + 1)
        tables.put(tables.relations, key, new)
        self._touched.append(touches.touch_relation(stored, new))

    def _write_vector(self, id_: str, vector: Vector) -> None:
        tables, space = self._tables, self._batch.space
        record = tables.record_in(self._batch.root, id_, self._batch.at)
        if record is None:
            raise Invalid(f"a vector for {id_!r}, but no such record in this root")
        if not vector or len(vector) % 4:
            raise Invalid(f"the vector of {id_!r} is not a row of float32 numbers")
        lengths = {len(row.vectors[space]) for row in tables.rows.values() if space in row.vectors}
        if lengths - {len(vector)}:
            raise Invalid(f"the vector of {id_!r} has another length than those of {space!r}")
        row = tables.rows[id_]
        indexed: Row = row._replace(vectors={**row.vectors, space: vector})
        tables.put(tables.rows, id_, indexed)
        self._touched.append(touches.touch_vector(record, space))

    def _drop_space(self, space: str) -> None:
        tables = self._tables
        for id_, row in list(tables.rows.items()):
            if space in row.vectors and root_of(row.record.scope) == self._batch.root:
                left = {name: v for name, v in row.vectors.items() if name != space}
                tables.put(tables.rows, id_, row._replace(vectors=left))

    def _count_uses(self) -> None:
        tables, at = self._tables, self._batch.at
        for id_, count in Counter(self._batch.used).items():
            record = tables.record_in(self._batch.root, id_, at)
            if record is not None:
                used = replace(record, uses=record.uses + count, used_at=at)
                tables.put(tables.rows, id_, tables.rows[id_]._replace(record=used))

    # Items

    def _write_item(self, given: Item) -> None:
        old, new = self._put_item(given)
        if is_journalled(given):
            self._touched.append(touches.touch_item(old, new))

    def _put_item(self, given: Item) -> tuple[Item | None, Item]:
        """The item as it was and as it is."""
        tables, key = self._tables, (given.scope, given.namespace, given.key)
        stored = tables.items.get(key)
        if stored is not None and is_expired(stored, self._batch.at):
            stored = None
        if given.version != (stored.version if stored else 0):
            raise Conflict(
                f"item {given.key!r} of {given.namespace!r} was changed meanwhile; read it again",
                kind="item",
                ids=(given.key,),
            )
        new = replace(detached_item(given), version=given.version + 1)
        tables.put(tables.items, key, new)
        return stored, new
