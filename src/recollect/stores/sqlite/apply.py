"""One batch applied inside a savepoint: all of it, or an exception."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import apsw

from recollect.stores.batches import check_batch, takes_a_number
from recollect.stores.sqlite import erase, records, sessions
from recollect.stores.sqlite.ledger import Ledger
from recollect.stores.sqlite.records import PreparedRecord, prepare_record, prepare_vector
from recollect.types import Batch


@dataclass(frozen=True, slots=True)
class Prepared:
    """A checked batch with all that can be computed before the file is locked."""

    batch: Batch
    records: Sequence[PreparedRecord]
    small: Mapping[str, bytes]  # the vectors in one byte per number
    size: int  # roughly, in bytes


def prepare(batch: Batch) -> Prepared:
    """Check the batch by itself. Raises Invalid."""
    check_batch(batch)
    records = [prepare_record(record, batch.at) for record in batch.records]
    small = {id_: prepare_vector(id_, vector) for id_, vector in batch.vectors.items()}
    size = sum(len(message.text) + len(message.original) for message in batch.messages)
    size += sum(len(record.text) for record in batch.records)
    size += sum(map(len, batch.vectors.values()))
    return Prepared(batch, records, small, size)


def apply(db: apsw.Connection, prepared: Prepared) -> int:
    """The batch's number in the journal of its root. Raises Conflict or Invalid; the caller
    rolls back."""
    ledger, batch = Ledger(db, prepared.batch), prepared.batch
    if (earlier := ledger.earlier()) is not None:
        return earlier
    if batch.sweep:
        erase.sweep(ledger)
    if batch.drop_space:
        records.drop_space(ledger, batch.drop_space)
    if batch.prune:
        erase.prune(ledger, batch.prune)
    for one in batch.erase:
        erase.erase(ledger, one)
    for session in batch.sessions:
        sessions.write_session(ledger, session)
    sessions.append_messages(ledger, batch.messages)
    for move in batch.cursors:
        sessions.move_cursor(ledger, move)
    for summary in batch.summaries:
        sessions.add_summary(ledger, summary)
    _apply_records(ledger, prepared)
    _count_uses(ledger)
    return _finish(ledger)


def _apply_records(ledger: Ledger, prepared: Prepared) -> None:
    batch = prepared.batch
    for record in prepared.records:
        records.write_record(ledger, record)
    for relation in batch.relations:
        records.write_relation(ledger, relation)
    for id_, vector in batch.vectors.items():
        records.write_vector(ledger, id_, vector, prepared.small[id_])
    for item in batch.items:
        sessions.write_item(ledger, item)


def _count_uses(ledger: Ledger) -> None:
    root = ledger.find_root() if ledger.batch.used else None
    for id_, count in Counter(ledger.batch.used).items():
        ledger.db.execute(
            "UPDATE record SET uses = uses + ?, used_at = ? WHERE id = ? AND root = ?"
            " AND (expires_at IS NULL OR expires_at > ?)",
            (count, ledger.at, id_, root, ledger.at),
        )


def _finish(ledger: Ledger) -> int:
    batch = ledger.batch
    if takes_a_number(batch):
        return ledger.write_journal()
    return int(ledger.get("SELECT head FROM root WHERE name = ?", batch.root) or 0)
