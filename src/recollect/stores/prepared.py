"""A batch with all that can be computed before anything is locked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recollect.index.derived import check_finite, quantised
from recollect.stores.commit import checked
from recollect.stores.rows import (
    CHECKSUM_BYTES,
    RECORD_BIRTH,
    RECORD_UNBORN,
    plain,
    record_birth,
    record_changes,
    state_checksum,
)
from recollect.types import Batch, Record
from recollect.types.frozen import frozen

_CHECKSUM = RECORD_BIRTH.index("checksum")


@frozen(kw_only=False)
class PreparedRecord:
    birth: tuple[Any, ...]  # placeholders for a change
    changes: tuple[Any, ...]


@frozen(kw_only=False)
class Prepared:
    """A checked batch with all that can be computed before the file is locked."""

    batch: Batch
    records: Mapping[str, PreparedRecord]
    small: Mapping[str, bytes]  # the vectors in one byte per number, for stores that keep them
    size: int  # roughly, in bytes


def prepare(batch: Batch, *, small: bool = True) -> Prepared:
    """Check the batch by itself. Raises Invalid."""
    batch = checked(batch)
    records: dict[str, PreparedRecord] = {}
    for record in batch.records:
        records[record.id] = _prepared(record, batch, records.get(record.id))
    check_finite(batch.vectors.values())
    rounded = {id_: quantised(one) for id_, one in batch.vectors.items()} if small else {}
    size = sum(len(message.text) + len(message.original) for message in batch.messages)
    size += sum(len(record.text) for record in batch.records)
    size += sum(map(len, batch.vectors.values()))
    return Prepared(batch, records, rounded, size)


def _prepared(given: Record, batch: Batch, before: PreparedRecord | None) -> PreparedRecord:
    """``before``: as the same batch wrote it already."""
    if before is not None:
        birth = before.birth
    elif given.version == 0:
        birth = record_birth(given)
    else:
        birth = (plain(given.id), *RECORD_UNBORN)
    changes = record_changes(given, batch.at)
    born = birth[_CHECKSUM][:CHECKSUM_BYTES].ljust(CHECKSUM_BYTES, b"\0")
    told = (*birth[:_CHECKSUM], born + state_checksum(changes), *birth[_CHECKSUM + 1 :])
    return PreparedRecord(told, changes)
