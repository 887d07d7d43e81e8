"""Is the file sound? And if its derived parts are not: make them anew."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import apsw

from standfast.errors import NotFound
from standfast.index.derived import labels_blob, terms_blob
from standfast.stores.report import Defect, DoctorReport
from standfast.stores.rows import (
    MESSAGE_COLUMNS,
    NAME_IN_ROW,
    RECORD_WITH_SCOPE,
    SEALED_KINDS,
    is_as_sealed,
    is_sound,
    is_sound_message,
    lineage_rows,
    read_record,
    record_of,
)
from standfast.stores.sqlite.connection import (
    check_library,
    connect,
    connect_reader,
    connect_writer,
    roll_back,
    select,
    snapshot,
)
from standfast.stores.sqlite.failures import speaking_of
from standfast.stores.sqlite.foreign_triggers import ForeignTrigger
from standfast.stores.sqlite.migrate import bring_up_to_date
from standfast.stores.sqlite.rebuild import (
    VECTORS,
    is_whole,
    pages,
    rebuild_cursors,
    rebuild_lineage,
    rebuild_terms,
    rebuild_vectors,
    sealed_rows,
)
from standfast.stores.sqlite.schema_check import schema_defects
from standfast.stores.sqlite.writer import wipe_pages


def check(path: str | os.PathLike[str]) -> DoctorReport:
    """Read the whole file once and compare all that can be computed again."""
    name = os.fspath(path)
    _must_exist(name)
    check_library()
    with speaking_of(name):
        try:
            records, messages, findings = _examined(name)
        except apsw.CorruptError as error:
            records, messages = 0, 0
            findings = (Defect(part="file", text=f"{error}; restore a backup"),)
    return DoctorReport(
        path=name,
        library=apsw.sqlite_lib_version(),
        mode=_mode(name),
        records=records,
        messages=messages,
        findings=findings,
    )


def _examined(path: str) -> tuple[int, int, tuple[Defect, ...]]:
    """How many records and messages there are, and what is wrong."""
    db = _as_found(path)
    try:
        with snapshot(db):
            schema = tuple(schema_defects(db))
            try:
                records = db.execute("SELECT count(*) FROM record").get
                messages = db.execute("SELECT count(*) FROM message").get
                return records, messages, _findings(db, path, schema)
            except apsw.SQLError:  # a table or a column is gone
                if schema:
                    return 0, 0, schema
                raise
    finally:
        db.close()


def rebuild(path: str | os.PathLike[str]) -> None:
    """Make words, labels, lineage and SQLite's own indexes anew, drop vectors that are not as they
    were written, since upkeep makes others, and write the file so that nothing is left where
    nothing is any more."""
    name = os.fspath(path)
    _must_exist(name)
    check_library()
    with speaking_of(name):
        _open(name).close()
        db = connect_writer(name)
        try:
            db.execute("BEGIN IMMEDIATE")
            rebuild_terms(db)
            rebuild_vectors(db)
            rebuild_lineage(db)
            rebuild_cursors(db)
            db.execute("REINDEX")
            db.execute("COMMIT")
            wipe_pages(db)
        finally:
            roll_back(db)
            db.close()


def _findings(db: apsw.Connection, path: str, schema: tuple[Defect, ...]) -> tuple[Defect, ...]:
    found = (*_file(db, path), *schema)
    if any(finding.part == "file" for finding in found):
        return found  # what a broken file says about its rows means nothing
    return (*found, *_rows(db), *_index(db), *_journal(db))


def _must_exist(path: str) -> None:
    if not os.path.exists(path):
        raise NotFound(f"there is no file {path}")


def _open(path: str) -> apsw.Connection:
    """A connection to a file that is ours and up to date."""
    first = connect(path)
    try:
        bring_up_to_date(first, path)
    finally:
        first.close()
    return connect_reader(path)


def _as_found(path: str) -> apsw.Connection:
    """The same; or as it is, where somebody put something into its schema."""
    try:
        return _open(path)
    except ForeignTrigger:
        return connect_reader(path)
    except apsw.SQLError:  # a view in the place of a table
        db = connect_reader(path)
        if any(schema_defects(db)):
            return db
        db.close()
        raise


def _mode(path: str) -> str:
    return f"{os.stat(path).st_mode & 0o777:o}"


def _file(db: apsw.Connection, path: str) -> Iterator[Defect]:
    if os.name == "posix" and os.stat(path).st_mode & 0o077:
        text = f"others may read the file (mode {_mode(path)}); chmod 600 it"
        yield Defect(part="mode", text=text)
    for (text,) in select(db, "PRAGMA integrity_check(20)"):
        if text != "ok":
            yield Defect(part="file", text=text)
    for table, _, parent, _ in select(db, "PRAGMA foreign_key_check"):
        yield Defect(part="rows", text=f"a row of {table} without its {parent}")


def _rows(db: apsw.Connection) -> Iterator[Defect]:
    bad = tuple(_bad_records(db))
    if bad:
        yield Defect(part="rows", text="records that are not as they were written", ids=bad)
    bad = tuple(_bad_messages(db))
    if bad:
        yield Defect(part="rows", text="messages that are not as they were written", ids=bad)
    for what, plural in SEALED_KINDS.items():
        rows = sealed_rows(db, what)
        bad = tuple(NAME_IN_ROW[what](row) for _, row in rows if not is_as_sealed(row))
        if bad:
            yield Defect(part="rows", text=f"{plural} that are not as they were written", ids=bad)


def _bad_records(db: apsw.Connection) -> Iterator[str]:
    sql = (
        f"SELECT record.pk, {RECORD_WITH_SCOPE} FROM record"
        " JOIN scope ON scope.pk = record.scope WHERE record.pk > ? ORDER BY record.pk LIMIT ?"
    )
    for rows in pages(db, sql):
        for _, *columns in rows:
            try:
                sound = is_sound(columns) and bool(read_record(columns))
            except Exception:  # whatever a damaged row makes of the decoder
                sound = False
            if not sound:
                yield str(columns[1])


def _bad_messages(db: apsw.Connection) -> Iterator[str]:
    columns = ", ".join(f"message.{name}" for name in (*MESSAGE_COLUMNS.split(", "), "checksum"))
    sql = (
        f"SELECT message.pk, scope.path, session.id, {columns} FROM message"
        " JOIN session ON session.pk = message.session JOIN scope ON scope.pk = session.scope"
        " WHERE message.pk > ? ORDER BY message.pk LIMIT ?"
    )
    for rows in pages(db, sql):
        for _, scope, session, *values in rows:
            if not is_sound_message(scope, session, values):
                yield str(values[1])


def _index(db: apsw.Connection) -> Iterator[Defect]:
    for text, ids in (
        ("word index differs from the text; rebuild it", _bad_words(db)),
        ("vector differs from what was written; rebuild it", _bad_vectors(db)),
        ("lineage index differs from the record; rebuild it", _bad_lineage(db)),
    ):
        found = tuple(ids)
        if found:
            yield Defect(part="index", text=text, ids=found)
    lost = db.execute(
        "SELECT count(*) FROM lineage WHERE record NOT IN (SELECT pk FROM record)"
    ).get
    if lost:
        yield Defect(part="index", text=f"{lost} index rows without their record; rebuild it")
    lagging = db.execute(
        "SELECT count(*) FROM cursor JOIN session ON session.pk = cursor.session"
        " WHERE cursor.behind <> (session.last_seq > cursor.seq)"
    ).get
    if lagging:
        yield Defect(part="index", text=f"{lagging} cursors are marked wrongly; rebuild it")


def _bad_words(db: apsw.Connection) -> Iterator[str]:
    sql = (
        f"SELECT record.pk, words, terms, labels, {RECORD_WITH_SCOPE} FROM record"
        " JOIN scope ON scope.pk = record.scope WHERE record.pk > ? ORDER BY record.pk LIMIT ?"
    )
    for rows in pages(db, sql):
        for _, words, terms, labels, *columns in rows:
            record = _record(columns)
            if record is None:
                continue
            found = labels_blob(record.tags, record.data)
            if (*terms_blob(record.text, record.author), found) != (words, terms, labels):
                yield record.id


def _bad_vectors(db: apsw.Connection) -> Iterator[str]:
    for rows in pages(db, VECTORS):
        for _, id_, f32, checksum in rows:
            if not is_whole(f32, checksum):
                yield id_


def _bad_lineage(db: apsw.Connection) -> Iterator[str]:
    sql = (
        f"SELECT record.pk, record.root, {RECORD_WITH_SCOPE} FROM record"
        " JOIN scope ON scope.pk = record.scope"
        " WHERE record.pk > ? AND (record.lineage <> '[]' OR record.derived_from <> '[]')"
        " ORDER BY record.pk LIMIT ?"
    )
    for rows in pages(db, sql):
        for pk, root, *columns in rows:
            record = _record(columns)
            if record and not all(
                db.execute(
                    "SELECT 1 FROM lineage"
                    " WHERE root = ? AND source = ? AND ref = ? AND record = ?",
                    row,
                ).get
                for row in lineage_rows(root, pk, record)
            ):
                yield record.id


def _record(columns: list[Any]) -> Any:
    """The record, or None if the row is damaged (which is reported elsewhere)."""
    try:
        return record_of(columns)
    except Exception:  # whatever a damaged row makes of the decoder
        return None


def _journal(db: apsw.Connection) -> Iterator[Defect]:
    rows = select(
        db,
        "SELECT root.name FROM root LEFT JOIN journal ON journal.root = root.pk"
        " LEFT JOIN upkeep ON upkeep.root = root.pk GROUP BY root.pk"
        " HAVING count(journal.seq) + coalesce(upkeep.pruned, 0) <> root.head"
        " OR coalesce(max(journal.seq), 0) <> root.head",
    )
    for (name,) in rows:
        yield Defect(part="journal", text=f"the journal of {name} has gaps")
