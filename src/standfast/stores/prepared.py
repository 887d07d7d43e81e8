"""A batch with all that can be computed before anything is locked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import chain
from typing import Any

import numpy as np

from standfast.index.derived import check_finite, quantised, terms_blob
from standfast.stores.commit import checked
from standfast.stores.findable import MANY, terms_of
from standfast.stores.rows import (
    CHECKSUM_BYTES,
    RECORD_BIRTH,
    RECORD_UNBORN,
    record_birth,
    record_changes,
    state_checksum,
    told_by,
)
from standfast.types import Batch, Record, Vector
from standfast.types.frozen import frozen

_CHECKSUM = RECORD_BIRTH.index("checksum")
_TEXTS = frozenset((str,))
_UNSEALED = bytes(CHECKSUM_BYTES)


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
    records = _records(batch)
    if not _is_plainly_finite(batch.vectors.values()):
        check_finite(batch.vectors.values())
    rounded = {id_: quantised(one) for id_, one in batch.vectors.items()} if small else {}
    size = sum([len(message.text) + len(message.original) for message in batch.messages])
    size += sum([len(record.text) for record in batch.records])
    size += sum(map(len, batch.vectors.values()))
    return Prepared(batch, records, rounded, size)


def _is_plainly_finite(vectors: Iterable[Vector]) -> bool:
    """Then there is nothing to look for. What is not finite makes the sum so too; but so do very
    large numbers. Not by a product: of so many numbers it wakes threads, which then wait for more
    and keep a core busy."""
    numbers = np.frombuffer(b"".join(vectors), dtype="<f4")
    with np.errstate(all="ignore"):
        return math.isfinite(np.add.reduce(numbers))


def _records(batch: Batch) -> dict[str, PreparedRecord]:
    states = _States(batch.at)
    found: dict[str, PreparedRecord] = {}
    born = [record for record in batch.records if record.version == 0]
    if len(born) < MANY:
        found_by = iter([terms_blob(record.text, record.author) for record in born])
    else:
        found_by = iter(terms_of(born))
    for record in batch.records:
        changes, state = states.of(record)
        words = next(found_by) if record.version == 0 else None
        if record.id in found:  # the same batch wrote it already
            birth = _sealed(found[record.id].birth, state)
        elif words is not None:
            birth = record_birth(record, words, state)
        else:
            birth = _sealed((record.id, *RECORD_UNBORN), state)
        found[record.id] = PreparedRecord(birth, changes)
    return found


def _sealed(birth: tuple[Any, ...], state: bytes) -> tuple[Any, ...]:
    """What was written once, beside what is so now."""
    born = birth[_CHECKSUM][:CHECKSUM_BYTES] or _UNSEALED
    return (*birth[:_CHECKSUM], born + state, *birth[_CHECKSUM + 1 :])


def _are_texts(data: dict[Any, Any]) -> bool:
    return _TEXTS.issuperset(map(type, chain(data, data.values())))


class _States:
    """What may change in a record, and its checksum. Records of one batch are mostly alike in it:
    that is worked out once."""

    def __init__(self, at: datetime) -> None:
        self._at = at
        self._known: dict[tuple[Any, ...], tuple[tuple[Any, ...], bytes]] = {}

    def of(self, record: Record) -> tuple[tuple[Any, ...], bytes]:
        data = record.data
        if data and not (type(data) is dict and _are_texts(data)):
            return self._worked_out(record)  # 1 and True are equal, and are not the same
        key = (not record.hash, *told_by(record), *data.items())
        try:
            found = self._known.get(key)
        except TypeError:  # a list where a tuple belongs
            return self._worked_out(record)
        if found is None:
            found = self._known[key] = self._worked_out(record)
        return found

    def _worked_out(self, record: Record) -> tuple[tuple[Any, ...], bytes]:
        changes = record_changes(record, self._at)
        return changes, state_checksum(changes)
