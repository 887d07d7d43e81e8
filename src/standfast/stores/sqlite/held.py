"""What a batch has to know, read in one go: everything but records in one statement, whose
columns are lists in JSON, and records in a second one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import apsw

from standfast.index.codes import code, micros, moment_or_none
from standfast.scopes import root_of
from standfast.stores.batches import scopes_of
from standfast.stores.commit import Held, Needs
from standfast.stores.rows import (
    RECORD_WITH_SCOPE,
    RELATIONS,
    SESSION_COLUMNS,
    cursors_json,
    item_of,
    plain,
    read_record,
    record_of,
    relation_of,
    session_of,
    strictly_sound,
    to_json,
)
from standfast.stores.sqlite.connection import select
from standfast.types import Batch, Record, SessionKey


@dataclass(slots=True)
class Keys:
    """The numbers in the file of what a batch names."""

    root: int | None = None
    stamp: int = 0  # of the root; see schema.sql
    scopes: dict[str, int] = field(default_factory=dict)  # by path
    unknown: set[str] = field(default_factory=set)  # scopes that the file has not seen yet
    space: int | None = None  # of the batch's vectors
    last: int = 0  # the number that was last given to a record, whatever became of it
    sweeps: bool = False  # it asks to drop what expired, and there are such records


FEW = 8  # keys that are named in the statement itself; more of them as one list in JSON


def _named(count: int, width: int) -> str:
    """So many keys as a table, with the columns column1, column2, ...; see ``_given``."""
    if count <= FEW:
        row = f"({', '.join('?' * width)})"
        return f"(VALUES {', '.join([row] * count)})"
    columns = ", ".join(f"value ->> {place} AS column{place + 1}" for place in range(width))
    return f"(SELECT {columns} FROM json_each(?))"


def _given(rows: Sequence[Sequence[Any]]) -> list[Any]:
    """What is bound for them."""
    if len(rows) <= FEW:
        return [value for row in rows for value in row]
    return [to_json([tuple(row) for row in rows])]


_HEAD = (
    "root.pk, root.stamp, root.head,"
    " max((SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'record'),"
    " (SELECT coalesce(max(pk), 0) FROM record)),"
    " (SELECT seq FROM journal WHERE batch = ? AND journal.root = root.pk),"
    " (SELECT json_group_object(path, pk) FROM scope WHERE path IN {asked})"
)
_TALK = ", ".join(f"session.{name}" for name in SESSION_COLUMNS.split(", "))
# Each part is asked with a table of keys and answers with a list in JSON.
_SCOPED = "FROM {asked} AS asked CROSS JOIN scope ON scope.path = column1"
_PARTS = {
    "sessions": (
        f"(SELECT json_group_array(json_array(scope.path, {_TALK},"
        " (SELECT json_group_object(reader, seq) FROM cursor WHERE cursor.session = session.pk),"
        " hex(session.checksum)))"
        f" {_SCOPED} CROSS JOIN session ON session.scope = scope.pk AND session.id = column2)"
    ),
    "messages": (
        "(SELECT json_group_array(json_array(scope.path, session.id, message.id,"
        f" message.expires_at)) {_SCOPED} CROSS JOIN session ON session.scope = scope.pk"
        " AND session.id = column2 CROSS JOIN message ON message.session = session.pk"
        " AND message.id = column3)"
    ),
    "summaries": (
        "(SELECT json_group_array(json_array(summary.id, scope.path, summary.session))"
        " FROM summary JOIN scope ON scope.pk = summary.scope WHERE summary.id IN {asked})"
    ),
    "items": (
        "(SELECT json_group_array(json_array(scope.path, namespace, item.key, item.value,"
        f" expires_at, version, hex(item.checksum))) {_SCOPED}"
        " CROSS JOIN item ON item.root = scope.root AND item.namespace = column2"
        " AND item.scope = scope.pk AND item.key = column3)"
    ),
    "relations": (
        "(SELECT json_group_array(json_array(scope.path, source.id, target.id, relation.kind,"
        " relation.learned_at, relation.retired_at, relation.version, relation.lineage,"
        " hex(relation.checksum)))"
        " FROM {asked} AS asked CROSS JOIN record AS source ON source.id = column1"
        " CROSS JOIN record AS target ON target.id = column3"
        " CROSS JOIN relation ON relation.source = source.pk AND relation.target = target.pk"
        " AND relation.kind = column2 JOIN scope ON scope.pk = relation.scope)"
    ),
    "space": "(SELECT json_array(pk, dimensions) FROM space WHERE name IN {asked})",
    "sweep": (
        "EXISTS (SELECT 1 FROM {asked} JOIN record ON record.expires_at <= column1"
        " AND record.root = root.pk)"
    ),
}
_RECORDS = (
    f"SELECT {RECORD_WITH_SCOPE} FROM record JOIN scope ON scope.pk = record.scope"
    " WHERE record.id IN {asked}"
)
_TWINS = (
    f" UNION ALL SELECT {RECORD_WITH_SCOPE} {_SCOPED} CROSS JOIN record"
    " ON record.hash = column2 AND record.scope = scope.pk AND {kept}"
    " WHERE record.status IN (0, 3, 4)"
)
# Each has an index of its own.
_KEPT = ("record.single = 1", "record.single = 0 AND record.hash <> ''")


@cache
def _select(scopes: int, parts: tuple[tuple[str, int, int], ...]) -> str:
    """``parts``: name, and how many keys of how many columns it is asked for."""
    columns = [_HEAD.format(asked=_named(scopes, 1))]
    columns += [_PARTS[name].format(asked=_named(count, width)) for name, count, width in parts]
    return f"SELECT {', '.join(columns)} FROM (SELECT 1) LEFT JOIN root ON root.name = ?"


@cache
def _select_records(ids: int, hashes: int) -> str:
    sql = _RECORDS.format(asked=_named(ids, 1))
    twins = [_TWINS.format(asked=_named(hashes, 2), kept=one) for one in _KEPT if hashes]
    return "".join([sql, *twins])


def _few(rows: Sized) -> int:
    """How many there are; more than a few are all the same to a statement."""
    return min(len(rows), FEW + 1)


def read(db: apsw.Connection, batch: Batch, needs: Needs) -> tuple[Held, Keys]:
    """The caller holds the lock of the file."""
    paths = _paths(batch)
    asked = [(name, rows) for name, rows in _asked(batch, needs) if rows]
    bindings = [needs.batch, *_given([(path,) for path in paths])]
    for _, rows in asked:
        bindings += _given(rows)
    bindings.append(needs.root)
    shape = tuple([(name, _few(rows), len(rows[0])) for name, rows in asked])
    row: Sequence[Any] = db.execute(_select(_few(paths), shape), bindings).fetchall()[0]
    root, stamp, number, last, seq, scopes = row[:6]
    places = json.loads(scopes)
    keys = Keys(root, stamp or 0, places, paths.difference(places), last=last)
    held = Held(number=seq, head=number or 0, records=_records(db, batch, needs))
    for (name, _), answer in zip(asked, row[6:], strict=True):
        if answer and answer != "[]":
            _take(name, answer, held, keys, batch)
    return held, keys


def _take(name: str, answer: Any, held: Held, keys: Keys, batch: Batch) -> None:
    """What a part has answered. What is damaged is not changed, but it can be erased."""
    gone = {(one.kind, one.scope, one.namespace, one.id) for one in batch.erase}
    match name:
        case "sessions":
            rows = [
                (*row[:-1], cursors_json(_object(row[-1])), seal)
                for *row, seal in _sealed_rows(answer)
            ]
            kept = [row for row in rows if ("session", row[0], "", row[1]) not in gone]
            sessions = [session_of(row) for row in strictly_sound("session", kept)]
            held.sessions = {SessionKey(one.scope, one.id): one for one in sessions}
        case "messages":
            held.messages = {
                (scope, session, id_): moment_or_none(expires)
                for scope, session, id_, expires in json.loads(answer)
            }
        case "summaries":
            held.summaries = {id_: SessionKey(*key) for id_, *key in json.loads(answer)}
        case "items":
            rows = _sealed_rows(answer)
            kept = [row for row in rows if ("item", *row[:3]) not in gone]
            items = [item_of(row) for row in strictly_sound("item", kept)]
            held.items = {(one.scope, one.namespace, one.key): one for one in items}
        case "relations":
            edges = [relation_of(row) for row in strictly_sound("relation", _sealed_rows(answer))]
            held.relations = {(one.source, one.kind, one.target): one for one in edges}
        case "space":
            keys.space, held.dimensions = json.loads(answer)
        case "sweep":
            keys.sweeps = True


def _asked(batch: Batch, needs: Needs) -> Iterator[tuple[str, Sequence[Sequence[Any]]]]:
    """What each part is asked for; empty: nothing, and the part is left out."""
    yield "sessions", needs.sessions
    yield "messages", needs.messages
    yield "summaries", [(id_,) for id_ in needs.summaries]
    yield "items", needs.items
    yield "relations", [(a, code(RELATIONS, kind), b) for a, kind, b in needs.relations]
    yield "space", [(plain(needs.space),)] if needs.space else []
    yield "sweep", [(micros(batch.at),)] if batch.sweep else []


def _paths(batch: Batch) -> set[str]:
    return scopes_of(batch) | {batch.root}


def _records(db: apsw.Connection, batch: Batch, needs: Needs) -> Mapping[str, Record]:
    """What is damaged is not changed, but it can be erased."""
    if not needs.records:
        return {}
    erased = {one.id for one in batch.erase if one.kind == "record"}
    sql = _select_records(_few(needs.records), _few(needs.hashes))
    bindings = _given([(id_,) for id_ in needs.records])
    bindings += (_given(needs.hashes) if needs.hashes else []) * len(_KEPT)
    rows = select(db, sql, *bindings)
    found = [read_record(row) if row[1] in erased else record_of(row) for row in rows]
    return {record.id: record for record in found}


def _sealed_rows(answer: str) -> list[tuple[Any, ...]]:
    return [(*row, bytes.fromhex(seal)) for *row, seal in json.loads(answer)]


def _object(value: Any) -> Mapping[str, int]:
    found: Mapping[str, int] = json.loads(value) if isinstance(value, str) else value
    return found


def make_places(db: apsw.Connection, keys: Keys, root: str, paths: set[str]) -> None:
    """Give the root and these scopes a number, if they have none."""
    missing = sorted(paths & keys.unknown)
    if missing or (paths and keys.root is None):
        roots = sorted({root, *map(root_of, missing)})
        db.execute(
            "INSERT OR IGNORE INTO root (name) SELECT value FROM json_each(?)", (to_json(roots),)
        )
        keys.root = db.execute("SELECT pk FROM root WHERE name = ?", (plain(root),)).get
    if missing:
        named = to_json([(root_of(path), plain(path)) for path in missing])
        made: list[Any] = db.execute(
            "INSERT INTO scope (root, path) SELECT root.pk, place.value ->> 1"
            " FROM json_each(?) AS place CROSS JOIN root ON root.name = place.value ->> 0"
            " RETURNING path, pk",
            (named,),
        ).fetchall()
        keys.scopes.update(made)
