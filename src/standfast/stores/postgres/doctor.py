"""Is the database sound, and set up so that nothing acknowledged is lost? And if its derived parts
are not sound: make them anew."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from standfast.index.derived import labels_blob, quantised, terms_blob
from standfast.stores.postgres.connection import (
    SCHEMA,
    DatabasePlace,
    Db,
    connect,
    from_text,
    roll_back,
    select,
    vector_of,
)
from standfast.stores.postgres.failures import speaking_of
from standfast.stores.postgres.held import RECORD_COLUMNS, SEALED_ROWS, sound_record, told_row
from standfast.stores.postgres.migrate import bring_up_to_date, cut_again
from standfast.stores.postgres.schema_check import schema_defects
from standfast.stores.report import Defect, DoctorReport
from standfast.stores.rows import (
    MESSAGE_COLUMNS,
    NAME_IN_ROW,
    SEALED_KINDS,
    is_as_sealed,
    is_sound_message,
)

CHUNK = 2000
SHOWN_MAX = 100

# Each must be empty: what is wrong, in which part, and the ids.
_CHECKS = (
    ("journal", "numbers are missing or doubled in the journals of these roots",
     "SELECT name FROM root WHERE head <> pruned + (SELECT count(*) FROM journal"
     " WHERE journal.root = root.name)"),
    ("journal", "entries lie behind the last number of these roots",
     "SELECT DISTINCT root FROM journal JOIN root ON root.name = journal.root"
     " WHERE journal.seq > root.head"),
    ("rows", "records of no root",
     "SELECT id FROM record WHERE NOT EXISTS (SELECT 1 FROM root WHERE name = record.root)"),
    ("rows", "records whose scope is not of their root",
     "SELECT id FROM record WHERE scope <> root AND NOT starts_with(scope, root || ':')"),
    ("rows", "messages of no session",
     "SELECT id FROM message WHERE NOT EXISTS (SELECT 1 FROM session WHERE"
     " session.root = message.root AND session.scope = message.scope"
     " AND session.id = message.session)"),
    ("rows", "relations without an end",
     "SELECT source FROM relation WHERE NOT EXISTS (SELECT 1 FROM record WHERE"
     " record.root = relation.root AND record.id = relation.source) OR NOT EXISTS"
     " (SELECT 1 FROM record WHERE record.root = relation.root AND record.id = relation.target)"),
    ("index", "vectors without a record",
     "SELECT record::text FROM embedding WHERE NOT EXISTS (SELECT 1 FROM record WHERE"
     " record.root = embedding.root AND record.key = embedding.record)"),
    ("index", "origins without a record",
     "SELECT ref FROM lineage WHERE NOT EXISTS (SELECT 1 FROM record WHERE"
     " record.root = lineage.root AND record.key = lineage.record)"),
    ("index", "scopes older than their records",
     "SELECT DISTINCT record.scope FROM record LEFT JOIN scope ON scope.root = record.root"
     " AND scope.path = record.scope WHERE scope.stamp IS NULL OR scope.stamp < record.changed"),
)  # fmt: skip


def check(address: str) -> DoctorReport:
    """Read the whole database once, as it is at one moment, and compare all that can be computed
    again."""
    place = DatabasePlace(address)
    with speaking_of(place.name):
        bring_up_to_date(place).close()
        db = connect(place)
        try:
            schema = tuple(schema_defects(db))
            db.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            [(version, vector)] = select(
                db,
                "SELECT current_setting('server_version'),"
                " (SELECT extversion FROM pg_extension WHERE extname = 'vector')",
            )
            [(records, messages)] = select(
                db, "SELECT (SELECT count(*) FROM record), (SELECT count(*) FROM message)"
            )
            findings = (*_settings(db), *schema, *_rows(db), *_checks(db))
        finally:
            db.close()
    return DoctorReport(
        path=place.name,
        library=f"{version}, pgvector {vector}",
        mode="",
        records=records,
        messages=messages,
        findings=findings,
        engine="PostgreSQL",
    )


def _settings(db: Db) -> Iterator[Defect]:
    """What would lose acknowledged writes when the machine fails."""
    for name in ("fsync", "full_page_writes"):
        [(value,)] = select(db, "SELECT current_setting(%s)", name)
        if value != "on":
            yield Defect(
                part="mode",
                text=f"{name} is {value}: acknowledged writes are lost if the machine fails; "
                f"set {name} = on",
            )


def _checks(db: Db) -> Iterator[Defect]:
    for part, text, sql in _CHECKS:
        found = select(db, f"SELECT * FROM ({sql}) AS wrong LIMIT %s", SHOWN_MAX)
        if found:
            yield Defect(part=part, text=text, ids=tuple(str(id_) for (id_,) in found))


def _rows(db: Db) -> Iterator[Defect]:
    bad: list[str] = []
    stale: list[str] = []
    sql = f"SELECT record.words, record.terms, record.labels, {RECORD_COLUMNS}"
    for words, terms, labels, *row in _all(db, f"{sql} FROM record"):
        record = sound_record(row)
        if record is None:
            bad.append(str(row[2]))
        elif (words, terms) != terms_blob(record.text, record.author) or labels != labels_blob(
            record.tags, record.data
        ):
            stale.append(record.id)
    if bad:
        yield Defect(part="rows", text="records that are not as they were written", ids=tuple(bad))
    if stale:
        yield Defect(part="index", text="records with other words or labels", ids=tuple(stale))
    bad = []
    for scope, session, *row, text, original, checksum in _all(
        db, f"SELECT scope, session, {MESSAGE_COLUMNS}, checksum FROM message"
    ):
        if not is_sound_message(
            scope, session, (*row, from_text(text), from_text(original), checksum)
        ):
            bad.append(str(row[1]))
    if bad:
        yield Defect(part="rows", text="messages that are not as they were written", ids=tuple(bad))
    for what, plural in SEALED_KINDS.items():
        told = (told_row(what, row) for row in _all(db, SEALED_ROWS[what]))
        bad = [NAME_IN_ROW[what](row) for row in told if not is_as_sealed(row)]
        if bad:
            text = f"{plural} that are not as they were written"
            yield Defect(part="rows", text=text, ids=tuple(bad))
    wrong = [
        str(key)
        for key, small, vector in _all(
            db, "SELECT record, small, vector_send(vector) FROM embedding"
        )
        if quantised(vector_of(vector)) != small
    ]
    if wrong:
        yield Defect(part="index", text="small vectors that differ", ids=tuple(wrong))


def _all(db: Db, sql: str) -> Iterator[tuple[Any, ...]]:
    with db.cursor(binary=True) as cursor:
        cursor.execute(f"DECLARE every NO SCROLL CURSOR FOR {sql}")
        while rows := cursor.execute(f"FETCH {CHUNK} FROM every").fetchall():
            yield from rows
        cursor.execute("CLOSE every")


def rebuild(address: str) -> None:
    """Make words, small vectors, origins, scopes and the database's own indexes anew."""
    place = DatabasePlace(address)
    with speaking_of(place.name):
        bring_up_to_date(place).close()
        db = connect(place)
        try:
            cut_again(db)
            _rebuild_vectors(db)
            db.execute(f"REINDEX SCHEMA {SCHEMA}")
        finally:
            roll_back(db)
            db.close()


def _rebuild_vectors(db: Db) -> None:
    for (root,) in select(db, "SELECT name FROM root ORDER BY name"):
        with db.transaction():
            db.execute("SELECT 1 FROM root WHERE name = %s FOR UPDATE", (root,))
            for table in ("embedding", "lineage"):
                db.execute(
                    f"DELETE FROM {table} WHERE root = %s AND NOT EXISTS (SELECT 1 FROM record"
                    f" WHERE record.root = {table}.root AND record.key = {table}.record)",
                    (root,),
                )
            sql = "SELECT scope, space, record, vector_send(vector) FROM embedding WHERE root = %s"
            new = [
                (quantised(vector_of(vector)), root, scope, space, key)
                for scope, space, key, vector in db.execute(sql, (root,), binary=True)
            ]
            with db.cursor() as cursor:
                cursor.executemany(
                    "UPDATE embedding SET small = %s WHERE root = %s AND scope = %s AND space = %s"
                    " AND record = %s",
                    new,
                )
