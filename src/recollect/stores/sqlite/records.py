"""Writing records, their relations and their vectors."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from recollect.errors import Conflict, Invalid
from recollect.stores import touches
from recollect.stores.batches import check_unchanged
from recollect.stores.sqlite.connection import select
from recollect.stores.sqlite.derived import lineage_rows, quantised
from recollect.stores.sqlite.erase import drop_record
from recollect.stores.sqlite.index import EVERYTHING
from recollect.stores.sqlite.ledger import Ledger
from recollect.stores.sqlite.rows import (
    RECORD_BIRTH,
    RECORD_CHANGES,
    RECORD_WITH_SCOPE,
    RELATIONS,
    code,
    is_single,
    micros,
    micros_or_none,
    plain,
    record_birth,
    record_changes,
    record_of,
    relation_of,
    to_json,
)
from recollect.types import Record, Relation, Touch, Vector

_COLUMNS = ("root", "scope", "changed", "space", *RECORD_BIRTH, *RECORD_CHANGES)
_INSERT = (
    f"INSERT INTO record ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"
    " ON CONFLICT (id) DO NOTHING"
)
_UPDATE = (
    "UPDATE record SET changed = ?, "
    + ", ".join(f"{name} = ?" for name in RECORD_CHANGES)
    + " WHERE pk = ?"
)


@dataclass(frozen=True, slots=True)
class PreparedRecord:
    record: Record  # as it will be stored, with its new version
    birth: tuple[Any, ...]  # empty for a change
    changes: tuple[Any, ...]


def prepare_record(given: Record, at: datetime) -> PreparedRecord:
    """Everything about a record that needs no file. Raises Invalid."""
    data = json.loads(to_json(dict(given.data))) if given.data else {}
    record = replace(given, data=data, version=given.version + 1)
    birth = record_birth(record) if given.version == 0 else ()
    return PreparedRecord(record, birth, record_changes(record, at))


def prepare_vector(id_: str, vector: Vector) -> bytes:
    """The vector in one byte per number. Raises Invalid."""
    if not vector or len(vector) % 4:
        raise Invalid(f"the vector of {id_!r} is not a row of float32 numbers")
    return quantised(vector)


def write_record(ledger: Ledger, prepared: PreparedRecord) -> None:
    record = prepared.record
    single = is_single(record, ledger.batch.at)
    if prepared.birth and not single and _create(ledger, prepared):
        return
    row = ledger.get("SELECT pk, root, version, expires_at FROM record WHERE id = ?", record.id)
    if row is not None and row[3] is not None and row[3] <= ledger.at:
        drop_record(ledger, row[0])
        row = None
    # A record of another root answers like a stale one: nothing tells that it exists.
    foreign = row is not None and row[1] != ledger.root
    if foreign or record.version - 1 != (row[2] if row else 0):
        raise Conflict(
            f"record {record.id!r} was changed meanwhile; read it again",
            kind="record",
            ids=(record.id,),
        )
    if single:
        _make_room(ledger, record)
    if row is None:
        _create(ledger, prepared)
    else:
        _change(ledger, row[0], prepared)


def _make_room(ledger: Ledger, record: Record) -> None:
    """One text at a time may live in a scope; what expired makes room."""
    others = select(
        ledger.db,
        "SELECT pk, id, expires_at FROM record"
        " WHERE hash = ? AND hash <> '' AND scope = ? AND status IN (0, 3, 4) AND id <> ?",
        record.hash,
        ledger.scope(record.scope),
        record.id,
    )
    for pk, id_, expires_at in others:
        if expires_at is None or expires_at > ledger.at:
            raise Conflict(
                f"record {id_!r} already says this in {record.scope!r}", kind="hash", ids=(id_,)
            )
        drop_record(ledger, pk)


def _create(ledger: Ledger, prepared: PreparedRecord) -> bool:
    """False if the id is taken."""
    record, root = prepared.record, ledger.root
    scope = ledger.scope(record.scope)
    changed = ledger.stamp(root, scope)
    vector = ledger.batch.vectors.get(record.id)
    space = _space(ledger, len(vector) // 4) if vector else None
    ledger.db.execute(_INSERT, (root, scope, changed, space, *prepared.birth, *prepared.changes))
    if not ledger.db.changes():
        return False
    pk = ledger.db.last_insert_rowid()
    if record.expires_at is None or record.expires_at > ledger.batch.at:
        ledger.made[record.id] = (pk, scope, record.scope)
    ledger.db.executemany("INSERT INTO lineage VALUES (?, ?, ?, ?)", lineage_rows(root, pk, record))
    ledger.touch(touches.touch_record(None, record))
    return True


def _change(ledger: Ledger, pk: int, prepared: PreparedRecord) -> None:
    new = prepared.record
    old = record_of(
        ledger.get(
            f"SELECT {RECORD_WITH_SCOPE} FROM record JOIN scope ON scope.pk = record.scope"
            " WHERE record.pk = ?",
            pk,
        )
    )
    check_unchanged(old, new)
    stamp = ledger.stamp(ledger.root, ledger.scope(new.scope))
    ledger.db.execute(_UPDATE, (stamp, *prepared.changes, pk))
    ledger.touch(touches.touch_record(old, new))


def _find(ledger: Ledger, id_: str) -> tuple[int, int, str] | None:
    """Key, scope and path of an unexpired record of this root."""
    found: tuple[int, int, str] | None = ledger.made.get(id_) or ledger.get(
        "SELECT record.pk, record.scope, scope.path FROM record"
        " JOIN scope ON scope.pk = record.scope WHERE record.id = ? AND record.root = ?"
        " AND (record.expires_at IS NULL OR record.expires_at > ?)",
        id_,
        ledger.root,
        ledger.at,
    )
    return found


def write_relation(ledger: Ledger, given: Relation) -> None:
    ends = []
    for end in (given.source, given.target):
        found = _find(ledger, end)
        if found is None:
            raise Invalid(f"a relation needs both records; {end!r} is not in this root")
        ends.append(found[0])
    key = (*ends, code(RELATIONS, given.kind))
    row = ledger.get(
        "SELECT scope.path, learned_at, retired_at, version, lineage FROM relation"
        " JOIN scope ON scope.pk = relation.scope WHERE source = ? AND target = ? AND kind = ?",
        *key,
    )
    old = relation_of((row[0], given.source, given.target, key[2], *row[1:])) if row else None
    if given.version != (old.version if old else 0):
        raise Conflict(
            f"relation {given.source} {given.kind} {given.target} was changed meanwhile; "
            "read it again",
            kind="relation",
            ids=(given.source, given.target),
        )
    new = replace(given, version=given.version + 1)
    ledger.db.execute(
        "INSERT OR REPLACE INTO relation VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *key,
            ledger.scope(new.scope),
            micros(new.learned_at),
            micros_or_none(new.retired_at),
            new.version,
            to_json(new.lineage),
        ),
    )
    ledger.touch(touches.touch_relation(old, new), also=new.target)


def write_vector(ledger: Ledger, id_: str, vector: Vector, small: bytes) -> None:
    """``small`` is the same in one byte per number."""
    found = _find(ledger, id_)
    if found is None:
        raise Invalid(f"a vector for {id_!r}, but no such record in this root")
    pk, scope, path = found
    space = _space(ledger, len(vector) // 4)
    ledger.db.execute(
        "INSERT INTO vector (record, space, f32) VALUES (?, ?, ?)"
        " ON CONFLICT (record, space) DO UPDATE SET f32 = excluded.f32",
        (pk, space, vector),
    )
    ledger.db.execute(
        "INSERT OR REPLACE INTO quantised VALUES (?, ?, ?, ?)",
        (scope, space, pk, small),
    )
    if id_ not in ledger.made:  # which was made with it
        stamp = ledger.stamp(ledger.root, scope)
        sql = "UPDATE record SET space = ?, changed = ? WHERE pk = ?"
        ledger.db.execute(sql, (space, stamp, pk))
    after = {"space": ledger.batch.space}
    ledger.touch(Touch(kind="vector", id=id_, scope=path, after=after))


def _space(ledger: Ledger, dimensions: int) -> int:
    """The key of the batch's vector space; its first vector fixes the dimensions."""
    name = ledger.batch.space
    row = ledger.space or ledger.get("SELECT pk, dimensions FROM space WHERE name = ?", name)
    if row is None:
        ledger.db.execute(
            "INSERT INTO space (name, dimensions) VALUES (?, ?)", (plain(name), dimensions)
        )
        row = (ledger.db.last_insert_rowid(), dimensions)
    if row[1] != dimensions:
        raise Invalid(
            f"a vector of {dimensions} numbers for the space {name!r}, which has {row[1]}"
        )
    ledger.space = row
    return int(row[0])


def drop_space(ledger: Ledger, name: str) -> None:
    """Every vector of a space, in this root only; other roots are left to their own batches."""
    space = ledger.get("SELECT pk FROM space WHERE name = ?", name)
    scopes = select(ledger.db, "SELECT pk FROM scope WHERE root = ?", ledger.root)
    if space is None:
        return
    for (scope,) in scopes:
        keys = (scope, space)
        ledger.db.execute(
            "DELETE FROM vector WHERE space = ? AND record IN"
            " (SELECT record FROM quantised WHERE scope = ? AND space = ?)",
            (space, *keys),
        )
        ledger.db.execute("DELETE FROM quantised WHERE scope = ? AND space = ?", keys)
        ledger.db.execute("UPDATE record SET space = NULL WHERE scope = ? AND space = ?", keys)
        stamp = ledger.stamp(ledger.root, scope)
        ledger.db.execute(
            "INSERT OR IGNORE INTO erased VALUES (?, ?, ?)", (scope, stamp, EVERYTHING)
        )
