"""Everything that is read without a search: plain SQL, one look each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from standfast.errors import Invalid
from standfast.index.codes import micros, moment
from standfast.stores.postgres.connection import Db, from_text, select
from standfast.stores.postgres.held import (
    ITEM,
    RECORD_COLUMNS,
    RELATION,
    SESSION,
    as_record,
    told_row,
    with_cursors,
)
from standfast.stores.rows import (
    MESSAGE_COLUMNS,
    SUMMARY_COLUMNS,
    item_of,
    relation_of,
    session_of,
    sound,
    sound_messages,
    strictly_sound,
    summary_of,
    touch_of,
)
from standfast.types import (
    Entry,
    Item,
    Message,
    Record,
    Relation,
    Session,
    SessionKey,
    Summary,
)

_THERE = "(expires_at IS NULL OR expires_at > %s)"
_TOUCHED = (
    "(SELECT coalesce(json_agg(json_build_array(kind, ref, scope, before::text, after::text)"
    " ORDER BY place), '[]') FROM touch WHERE touch.root = journal.root"
    " AND touch.seq = journal.seq)"
)


def records(db: Db, root: str | None, ids: Sequence[str], now: datetime) -> list[Record]:
    sql = f"SELECT {RECORD_COLUMNS} FROM record WHERE id = ANY(%s) AND {_THERE}"
    given: list[Any] = [list(ids), micros(now)]
    if root is not None:
        sql += " AND root = %s"
        given.append(root)
    found = {record.id: record for record in map(as_record, select(db, sql, *given))}
    return [found[id_] for id_ in ids if id_ in found]


def relations(db: Db, root: str, ids: Sequence[str]) -> list[Relation]:
    sql = f"SELECT {RELATION} FROM relation WHERE root = %s"
    rows = select(
        db,
        f"{sql} AND source = ANY(%s) UNION ALL {sql} AND target = ANY(%s) AND source <> ALL(%s)",
        *(root, list(ids), root, list(ids), list(ids)),
    )
    found = sound("relation", rows, relation_of)
    return sorted(found, key=lambda edge: (edge.source, edge.kind, edge.target))


def sessions(
    db: Db, root: str, keys: Sequence[SessionKey], after: SessionKey | None, limit: int
) -> list[Session]:
    if keys:
        scopes, ids = zip(*keys, strict=True)
        rows = select(
            db,
            f"SELECT {SESSION} FROM unnest(%s::text[], %s::text[]) WITH ORDINALITY"
            " AS asked (scope, id, place) JOIN session USING (scope, id) WHERE root = %s"
            " ORDER BY asked.place",
            *(list(scopes), list(ids), root),
        )
    else:
        rows = select(
            db,
            f"SELECT {SESSION} FROM session WHERE root = %s AND (scope, id) > (%s, %s)"
            " ORDER BY scope, id LIMIT %s",
            *(root, *(after or ("", "")), max(0, limit)),
        )
    told = map(with_cursors, rows)
    if keys:
        return list(sound("session", told, session_of))
    return [session_of(row) for row in strictly_sound("session", told)]


def messages(
    db: Db,
    root: str,
    session: SessionKey,
    now: datetime,
    ids: Sequence[str],
    between: tuple[int, int | None],
    limit: int,
    newest: bool,
) -> list[Message]:
    sql = (
        f"SELECT {MESSAGE_COLUMNS}, checksum FROM message WHERE root = %s AND scope = %s"
        f" AND session = %s AND {_THERE} AND "
    )
    given: list[Any] = [root, *session, micros(now)]
    if ids:
        rows = select(db, f"{sql} id = ANY(%s) ORDER BY seq", *given, list(ids))
    else:
        way = "DESC" if newest else "ASC"
        condition = f"seq > %s AND seq < coalesce(%s, 1::bigint << 62) ORDER BY seq {way} LIMIT %s"
        rows = select(db, sql + condition, *given, *between, max(0, limit))
    told = (
        (*row, from_text(text), from_text(original), checksum)
        for *row, text, original, checksum in rows
    )
    found = sound_messages(*session, told)
    return found[::-1] if newest and not ids else found


def summaries(
    db: Db, root: str, session: SessionKey, after: int, limit: int, newest: bool
) -> list[Summary]:
    way = "DESC" if newest else "ASC"
    rows = select(
        db,
        f"SELECT {SUMMARY_COLUMNS}, checksum FROM summary WHERE root = %s AND scope = %s"
        " AND session = %s AND to_seq > %s"
        f" ORDER BY to_seq {way}, from_seq {way}, id {way} LIMIT %s",
        *(root, *session, after, max(0, limit)),
    )
    told = (told_row("summary", (*session, *row)) for row in rows)
    found = list(sound("summary", told, summary_of))
    return found[::-1] if newest else found


def items(
    db: Db,
    root: str,
    namespace: str | None,
    now: datetime,
    scopes: Sequence[str],
    keys: Sequence[str],
    prefix: str,
    after: Item | None,
    limit: int,
) -> list[Item]:
    conditions, given = ["root = %s", _THERE], [root, micros(now)]
    for condition, value in (
        ("namespace = %s", namespace),
        ("scope = ANY(%s)", list(scopes) or None),
        ("key = ANY(%s)", list(keys) or None),
        ("starts_with(key, %s)", prefix or None),
    ):
        if value is not None:
            conditions.append(condition)
            given.append(value)
    if after is not None:
        conditions.append("(namespace, scope, key) > (%s, %s, %s)")
        given += [after.namespace, after.scope, after.key]
    rows = select(
        db,
        f"SELECT {ITEM} FROM item WHERE {' AND '.join(conditions)}"
        " ORDER BY namespace, scope, key LIMIT %s",
        *(*given, max(0, limit)),
    )
    return list(sound("item", rows, item_of))


def journal(
    db: Db,
    root: str | None,
    between: tuple[int, int | None],
    limit: int,
    newest: bool,
    change: str,
    touching: str,
) -> list[Entry]:
    if root is None and not (change or touching):
        raise Invalid("a journal without root needs a change or an id that it touches")
    after, before = between
    conditions, given = ["seq > %s"], list[Any]([after])
    for condition, value in (
        ("seq < %s", before),
        ("root = %s", root),
        ("change = %s", change or None),
        ("(root, seq) IN (SELECT root, seq FROM touch WHERE ref = %s)", touching or None),
    ):
        if value is not None:
            conditions.append(condition)
            given.append(value)
    down = " DESC" if newest else ""
    rows = select(
        db,
        f"SELECT root, seq, at, batch, change, reason, actor, {_TOUCHED} FROM journal"
        f" WHERE {' AND '.join(conditions)} ORDER BY root{down}, seq{down} LIMIT %s",
        *(*given, max(0, limit)),
    )
    entries = [_entry(row) for row in rows]
    return entries[::-1] if newest else entries


def _entry(row: Sequence[Any]) -> Entry:
    root, seq, at, batch, change, reason, actor, touched = row
    return Entry(
        root=root,
        seq=seq,
        at=moment(at),
        batch=batch,
        change=change,
        reason=reason,
        actor=actor,
        touched=tuple(map(touch_of, json.loads(touched))),
    )


def roots(db: Db, after: str, limit: int) -> list[str]:
    sql = "SELECT name FROM root WHERE head > 0 AND name > %s ORDER BY name LIMIT %s"
    return [name for (name,) in select(db, sql, after, max(0, limit))]
