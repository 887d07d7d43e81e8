"""What a batch has to know, read in one go: everything but records in one statement, whose
columns are lists in JSON, and records in a second one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import apsw

from recollect.scopes import root_of
from recollect.stores.batches import scopes_of
from recollect.stores.commit import Held, Needs
from recollect.stores.sqlite.connection import select
from recollect.stores.sqlite.rows import (
    RECORD_WITH_SCOPE,
    RELATIONS,
    code,
    item_of,
    micros,
    moment_or_none,
    plain,
    record_of,
    relation_of,
    session_of,
    to_json,
)
from recollect.types import Batch, Item, Record, Session, SessionKey


@dataclass(slots=True)
class Keys:
    """The numbers in the file of what a batch names."""

    root: int | None = None
    stamp: int = 0  # of the root; see schema.sql
    scopes: dict[str, int] = field(default_factory=dict)  # by path
    unknown: set[str] = field(default_factory=set)  # scopes that the file has not seen yet
    space: int | None = None  # of the batch's vectors
    sweeps: bool = False  # it asks to drop what expired, and there are such records


_HEAD = (
    "root.pk, root.stamp, root.head,"
    " (SELECT seq FROM journal WHERE batch = ? AND journal.root = root.pk),"
    " (SELECT json_group_object(path, pk) FROM scope"
    " WHERE path IN (SELECT value FROM json_each(?)))"
)
# Each part takes one list in JSON (or a name) and answers with one.
_ASKED = "FROM json_each(?) AS asked CROSS JOIN scope ON scope.path = asked.value ->> 0"
_PARTS = {
    "sessions": (
        "(SELECT json_group_array(json_array(scope.path, session.id, last_seq, channel, policy,"
        " state, started_at, ended_at, version,"
        " (SELECT json_group_object(reader, seq) FROM cursor WHERE cursor.session = session.pk)))"
        f" {_ASKED} CROSS JOIN session ON session.scope = scope.pk"
        " AND session.id = asked.value ->> 1)"
    ),
    "messages": (
        "(SELECT json_group_array(json_array(scope.path, session.id, message.id,"
        f" message.expires_at)) {_ASKED} CROSS JOIN session ON session.scope = scope.pk"
        " AND session.id = asked.value ->> 1 CROSS JOIN message"
        " ON message.session = session.pk AND message.id = asked.value ->> 2)"
    ),
    "summaries": (
        "(SELECT json_group_array(json_array(summary.id, scope.path, summary.session))"
        " FROM summary JOIN scope ON scope.pk = summary.scope"
        " WHERE summary.id IN (SELECT value FROM json_each(?)))"
    ),
    "items": (
        "(SELECT json_group_array(json_array(scope.path, namespace, item.key, item.value,"
        f" expires_at, version)) {_ASKED} CROSS JOIN item ON item.root = scope.root"
        " AND item.namespace = asked.value ->> 1 AND item.scope = scope.pk"
        " AND item.key = asked.value ->> 2)"
    ),
    "relations": (
        "(SELECT json_group_array(json_array(scope.path, source.id, target.id, relation.kind,"
        " relation.learned_at, relation.retired_at, relation.version, relation.lineage))"
        " FROM json_each(?) AS asked CROSS JOIN record AS source ON source.id = asked.value ->> 0"
        " CROSS JOIN record AS target ON target.id = asked.value ->> 2"
        " CROSS JOIN relation ON relation.source = source.pk AND relation.target = target.pk"
        " AND relation.kind = asked.value ->> 1 JOIN scope ON scope.pk = relation.scope)"
    ),
    "space": "(SELECT json_array(pk, dimensions) FROM space WHERE name = ?)",
    "sweep": "EXISTS (SELECT 1 FROM record WHERE record.expires_at <= ? AND record.root = root.pk)",
}
_RECORDS = (
    f"SELECT {RECORD_WITH_SCOPE} FROM record JOIN scope ON scope.pk = record.scope"
    " WHERE record.id IN (SELECT value FROM json_each(?))"
)
_TWINS = (
    f" UNION ALL SELECT {RECORD_WITH_SCOPE} {_ASKED} CROSS JOIN record"
    " ON record.hash = asked.value ->> 1 AND record.hash <> '' AND record.scope = scope.pk"
    " WHERE record.status IN (0, 3, 4)"
)


def read(db: apsw.Connection, batch: Batch, needs: Needs) -> tuple[Held, Keys]:
    """The caller holds the lock of the file."""
    asked = {name: value for name, value in _asked(batch, needs) if value}
    paths = _paths(batch)
    columns = ", ".join([_HEAD, *(_PARTS[name] for name in asked)])
    head, *parts = _row(
        db,
        f"SELECT {columns} FROM (SELECT 1) LEFT JOIN root ON root.name = ?",
        (needs.batch, to_json(sorted(paths)), *asked.values(), needs.root),
    )
    root, stamp, number, seq, scopes = head
    found = dict(zip(asked, parts, strict=True))
    space = json.loads(found["space"]) if found.get("space") else (None, 0)
    known = json.loads(scopes)
    keys = Keys(
        root=root,
        stamp=stamp or 0,
        scopes=known,
        unknown=paths - set(known),
        space=space[0],
        sweeps=bool(found.get("sweep")),
    )
    held = Held(
        number=seq,
        head=number or 0,
        records=_records(db, needs),
        relations={
            (one.source, one.kind, one.target): one
            for one in map(relation_of, _list(found, "relations"))
        },
        sessions={SessionKey(one.scope, one.id): one for one in _sessions(found)},
        messages={
            (scope, session, id_): moment_or_none(expires)
            for scope, session, id_, expires in _list(found, "messages")
        },
        summaries={id_: SessionKey(*key) for id_, *key in _list(found, "summaries")},
        items={(one.scope, one.namespace, one.key): one for one in _items(found)},
        dimensions=space[1],
    )
    return held, keys


def _row(db: apsw.Connection, sql: str, bindings: Sequence[Any]) -> list[Any]:
    """Its first five columns together, then the others."""
    [row] = db.execute(sql, bindings).fetchall()
    return [row[:5], *row[5:]]


def _asked(batch: Batch, needs: Needs) -> Iterator[tuple[str, Any]]:
    """What each part is asked for; empty: nothing, and the part is left out."""
    yield "sessions", needs.sessions and to_json(needs.sessions)
    yield "messages", needs.messages and to_json(needs.messages)
    yield "summaries", needs.summaries and to_json(needs.summaries)
    yield "items", needs.items and to_json(needs.items)
    relations = [(source, code(RELATIONS, kind), end) for source, kind, end in needs.relations]
    yield "relations", relations and to_json(relations)
    yield "space", needs.space and plain(needs.space)
    yield "sweep", batch.sweep and micros(batch.at)


def _paths(batch: Batch) -> set[str]:
    paths = {batch.root, *scopes_of(batch)}
    return paths | ({batch.mark.scope} if batch.mark else set())


def _records(db: apsw.Connection, needs: Needs) -> Mapping[str, Record]:
    if not needs.records:
        return {}
    sql, bindings = _RECORDS, [to_json(needs.records)]
    if needs.hashes:
        sql += _TWINS
        bindings.append(to_json(needs.hashes))
    return {record.id: record for record in map(record_of, select(db, sql, *bindings))}


def _list(found: Mapping[str, str], name: str) -> list[Any]:
    answer = found.get(name, "[]")
    return [] if answer == "[]" else list(json.loads(answer))


def _sessions(found: Mapping[str, str]) -> Iterator[Session]:
    for scope, *row, cursors in _list(found, "sessions"):
        readers = json.loads(cursors) if isinstance(cursors, str) else cursors
        yield session_of(scope, row, readers)


def _items(found: Mapping[str, str]) -> Iterator[Item]:
    return map(item_of, _list(found, "items"))


def make_places(db: apsw.Connection, keys: Keys, root: str, paths: set[str]) -> None:
    """Give the root and these scopes a number, if they have none."""
    missing = sorted(paths & keys.unknown)
    if keys.root is None or missing:
        roots = sorted({root, *map(root_of, missing)})
        db.execute(
            "INSERT OR IGNORE INTO root (name) SELECT value FROM json_each(?)", (to_json(roots),)
        )
        keys.root = db.execute("SELECT pk FROM root WHERE name = ?", (plain(root),)).get
    if missing:
        named = to_json([(root_of(path), plain(path)) for path in missing])
        rows = db.execute(
            "INSERT INTO scope (root, path) SELECT root.pk, place.value ->> 1"
            " FROM json_each(?) AS place CROSS JOIN root ON root.name = place.value ->> 0"
            " RETURNING path, pk",
            (named,),
        ).fetchall()
        keys.scopes.update(rows)
