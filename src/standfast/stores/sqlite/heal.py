"""Rows that are not as they were written, made so again: from a backup, or from the messages that
they were made of. Whether that succeeds is not a matter of opinion: the row's own checksum says so,
and a row for which nothing fits stays as it is, refused to whoever reads it."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Sequence
from itertools import chain, product
from typing import Any

import apsw

from standfast.index.derived import labels_blob, terms_blob
from standfast.stores.rows import (
    MESSAGE_COLUMNS,
    NAME_IN_ROW,
    RECORD,
    RECORD_WITH_SCOPE,
    SEALED_KINDS,
    SESSION_COLUMNS,
    SUMMARY_COLUMNS,
    is_as_sealed,
    is_sound,
    is_sound_message,
)
from standfast.stores.sqlite.cipher import share_key
from standfast.stores.sqlite.connection import connect_reader, connect_writer, roll_back, select
from standfast.stores.sqlite.failures import speaking_of
from standfast.stores.sqlite.foreign_triggers import check_triggers
from standfast.stores.sqlite.rebuild import pages, renew_indexes, sealed_rows
from standfast.types.frozen import frozen

Columns = dict[str, Any]

_NAMES = ("scope", *RECORD.split(", "), "checksum")
_CHANGING = (
    "version, type, status, source, durability, trust, importance, confidence, retired_at, "
    "valid_from, valid_to, expires_at, review_at, author, tags, data"
).split(", ")
_BORN = tuple(name for name in RECORD.split(", ") if name not in (*_CHANGING, "uses", "used_at"))
_RECORDS = (
    f"SELECT record.pk, {RECORD_WITH_SCOPE} FROM record JOIN scope ON scope.pk = record.scope"
)
_MESSAGE_NAMES = (*MESSAGE_COLUMNS.split(", "), "checksum")
_MESSAGES = (
    "SELECT message.pk, scope.path, session.id, "
    + ", ".join(f"message.{name}" for name in _MESSAGE_NAMES)
    + " FROM message JOIN session ON session.pk = message.session"
    " JOIN scope ON scope.pk = session.scope"
)


@frozen
class Healing:
    """What was made good, and what was not."""

    healed: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


def heal(
    path: str | os.PathLike[str],
    backup: str | os.PathLike[str] | None = None,
    *,
    drop_lost: bool = False,
) -> Healing:
    """Make damaged rows as they were. The backup is only read. ``drop_lost``: what nothing can
    heal is removed, so that what stands around it can be used and forgotten again."""
    name = os.fspath(path)
    with speaking_of(name), contextlib.ExitStack() as stack:
        db = stack.enter_context(contextlib.closing(connect_writer(name)))
        check_triggers(db, name)
        other = None
        if backup is not None:
            share_key(backup, name)
            other = stack.enter_context(contextlib.closing(connect_reader(os.fspath(backup))))
        db.execute("BEGIN IMMEDIATE")
        try:
            done = {**_heal_messages(db, other), **_heal_records(db, other)}
            for what in SEALED_KINDS:
                done |= _heal_sealed(db, other, what)
            if drop_lost:
                _drop_damaged(db)
            if any(done.values()) or (drop_lost and done):
                renew_indexes(db)
            db.execute("COMMIT")
        finally:
            roll_back(db)
    healed = tuple(id_ for id_, well in done.items() if well)
    lost = tuple(id_ for id_, well in done.items() if not well)
    if drop_lost:
        return Healing(healed=healed, dropped=lost)
    return Healing(healed=healed, lost=lost)


def _drop_damaged(db: apsw.Connection) -> None:
    """With all that hangs on it."""
    for what in SEALED_KINDS:
        for at, row in [*sealed_rows(db, what)]:
            if not is_as_sealed(row):
                db.execute(f"DELETE FROM {what} WHERE {_KEYS[what]}", _key(at))
    for rows in list(pages(db, f"{_MESSAGES} WHERE message.pk > ? ORDER BY message.pk LIMIT ?")):
        bad = [(pk,) for pk, *row in rows if not is_sound_message(row[0], row[1], row[2:])]
        db.executemany("DELETE FROM message WHERE pk = ?", bad)
    for rows in list(pages(db, f"{_RECORDS} WHERE record.pk > ? ORDER BY record.pk LIMIT ?")):
        bad = [(pk,) for pk, *row in rows if not _is_sound(row)]
        db.executemany("DELETE FROM lineage WHERE record = ?", bad)
        db.executemany("DELETE FROM record WHERE pk = ?", bad)


def _key(at: Any) -> list[Any]:
    return json.loads(at) if isinstance(at, str) else [at]


def _heal_records(db: apsw.Connection, backup: apsw.Connection | None) -> dict[str, bool]:
    done: dict[str, bool] = {}
    sql = f"{_RECORDS} WHERE record.pk > ? ORDER BY record.pk LIMIT ?"
    for rows in list(pages(db, sql)):
        for pk, *row in rows:
            if not _is_sound(row):
                found = _fitting(db, backup, dict(zip(_NAMES, row, strict=True)))
                done[str(row[1])] = found is not None
                if found is not None:
                    _put_record(db, pk, found)
    return done


def _fitting(db: apsw.Connection, backup: apsw.Connection | None, row: Columns) -> Columns | None:
    """The row as its checksum says that it was; None if nothing known fits."""
    copies = list(_copies(backup, row))
    texts = [row["text"], *_told(db, row)]
    births = [{**row, "text": text} for text in texts] + copies
    for born, state in product(births, [row, *copies]):
        mixed = {**row, **{n: born[n] for n in _BORN}, **{n: state[n] for n in _CHANGING}}
        if _is_sound([mixed[name] for name in _NAMES]):
            return mixed
    # Perhaps it is the checksum itself that was hit: then all the rest is as the backup has it.
    for copy in copies:
        if all(copy[name] == row[name] for name in (*_BORN, *_CHANGING)):
            return {**row, "checksum": copy["checksum"]}
    return None


def _copies(backup: apsw.Connection | None, row: Columns) -> Iterator[Columns]:
    if backup is None:
        return
    for _, *columns in select(backup, f"{_RECORDS} WHERE record.id = ?", row["id"]):
        if _is_sound(columns):
            yield dict(zip(_NAMES, columns, strict=True))


def _told(db: apsw.Connection, row: Columns) -> Iterator[str]:
    """The texts of the messages that it was made of."""
    try:
        ids = [id_ for id_ in json.loads(row["lineage"]) if isinstance(id_, str)]
    except (TypeError, ValueError):
        return
    sql = f"{_MESSAGES} WHERE message.id IN (SELECT value FROM json_each(?)) AND session.id = ?"
    for _, scope, session, *columns in select(db, sql, json.dumps(ids), row["session"]):
        if is_sound_message(scope, session, columns):
            yield str(columns[_MESSAGE_NAMES.index("text")])


def _put_record(db: apsw.Connection, pk: int, row: Columns) -> None:
    names = (*_BORN, *_CHANGING, "checksum")
    words, terms = terms_blob(row["text"], row["author"])
    labels = labels_blob([str(tag) for tag in json.loads(row["tags"])], json.loads(row["data"]))
    derived = {"words": words, "terms": terms, "labels": labels}
    values = {**{name: row[name] for name in names}, **derived}
    assigned = ", ".join(f"{name} = ?" for name in values)
    db.execute(f"UPDATE record SET {assigned} WHERE pk = ?", (*values.values(), pk))


def _heal_messages(db: apsw.Connection, backup: apsw.Connection | None) -> dict[str, bool]:
    done: dict[str, bool] = {}
    sql = f"{_MESSAGES} WHERE message.pk > ? ORDER BY message.pk LIMIT ?"
    by_id = f"{_MESSAGES} WHERE scope.path = ? AND session.id = ? AND message.seq = ?"
    for rows in list(pages(db, sql)):
        for pk, scope, session, *row in rows:
            if is_sound_message(scope, session, row):
                continue
            done[str(row[1])] = False
            copies = select(backup, by_id, scope, session, row[0]) if backup is not None else []
            for _, _, _, *copy in copies:
                if is_sound_message(scope, session, copy):
                    assigned = ", ".join(f"{name} = ?" for name in _MESSAGE_NAMES)
                    db.execute(f"UPDATE message SET {assigned} WHERE pk = ?", (*copy, pk))
                    done[str(row[1])] = True
    return done


def _is_sound(row: Sequence[Any]) -> bool:
    try:
        return is_sound(row)
    except Exception:  # whatever a damaged row makes of the decoder
        return False


# Sessions, summaries, relations, items

# What may be put back into a row, behind its scope; the rest names it. "" is kept elsewhere.
_PUT_BACK = {
    "session": ("", *SESSION_COLUMNS.split(", ")[1:], "", "checksum"),
    "summary": ("session", "", *SUMMARY_COLUMNS.split(", ")[1:], "checksum"),
    "relation": ("", "", "", "learned_at", "retired_at", "version", "lineage", "checksum"),
    "item": ("", "", "value", "expires_at", "version", "checksum"),
}
_KEYS = {
    "session": "pk = ?",
    "summary": "pk = ?",
    "relation": "(source, target, kind) = (?, ?, ?)",
    "item": "(root, namespace, scope, key) = (?, ?, ?, ?)",
}


def _heal_sealed(db: apsw.Connection, backup: apsw.Connection | None, what: str) -> dict[str, bool]:
    done: dict[str, bool] = {}
    bad = [(at, row) for at, row in sealed_rows(db, what) if not is_as_sealed(row)]
    for at, row in bad:
        name = NAME_IN_ROW[what](row)
        same = [] if backup is None else _namesakes(backup, what, row)
        found = _mixed(row, [*same, *_told_by_messages(db, what, at, row)])
        done[name] = found is not None
        if found is not None:
            columns = zip(_PUT_BACK[what], found[1:], strict=True)
            values = {column: value for column, value in columns if column}
            assigned = ", ".join(f"{column} = ?" for column in values)
            sql = f"UPDATE {what} SET {assigned} WHERE {_KEYS[what]}"
            db.execute(sql, (*values.values(), *_key(at)))
            if what == "session":
                _put_cursors(db, at, found)
    return done


def _namesakes(backup: apsw.Connection, what: str, row: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The same row as a backup has it."""
    name = NAME_IN_ROW[what](row)
    found = (other for _, other in sealed_rows(backup, what, row[0]))
    return [one for one in found if NAME_IN_ROW[what](one) == name and is_as_sealed(one)]


def _told_by_messages(
    db: apsw.Connection, what: str, pk: Any, row: Sequence[Any]
) -> Iterator[tuple[Any, ...]]:
    """How far a session goes is seen in its messages."""
    if what == "session":
        for (last,) in select(db, "SELECT max(seq) FROM message WHERE session = ?", pk):
            yield (*row[:2], last, *row[3:])


def _mixed(row: Sequence[Any], others: Sequence[Sequence[Any]]) -> tuple[Any, ...] | None:
    """Of each column what the row or one of the others has, so that it fits the row's checksum: a
    backup may be older than what was written last."""
    told = [other[:-1] for other in others]
    parts = [list(dict.fromkeys(values)) for values in zip(row[:-1], *told, strict=True)]
    mixed = ((*values, row[-1]) for values in product(*parts))
    # Perhaps it is the checksum itself that was hit.
    same = (tuple(other) for other in others if tuple(other[:-1]) == tuple(row[:-1]))
    return next((one for one in chain(same, mixed) if is_as_sealed(one)), None)


def _put_cursors(db: apsw.Connection, pk: Any, row: Sequence[Any]) -> None:
    db.execute("DELETE FROM cursor WHERE session = ?", (pk,))
    db.execute(
        "INSERT INTO cursor SELECT ?1, key, value, value < ?2 FROM json_each(?3)",
        (pk, row[2], row[-2]),
    )
