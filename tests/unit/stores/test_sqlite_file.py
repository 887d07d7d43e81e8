"""The file itself: who may read it, whose it is, how it comes into being."""

import asyncio
import hashlib
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import apsw
import pytest

from standfast.errors import Incompatible, Unavailable
from standfast.stores.sqlite import SqliteStore, migrate
from standfast.testing.values import NOW, found_ids, make_record, make_summary, one_record, put
from standfast.text import analysis

OPEN_AND_COMMIT = """
import asyncio, sys
from standfast.stores.sqlite import SqliteStore
from standfast.testing.values import make_batch, make_record

async def main(path, name):
    store = await SqliteStore.open(path)
    await store.commit(make_batch(make_record(name), id=name))
    await store.close()

asyncio.run(main(*sys.argv[1:]))
"""


def with_store(path: Path, use: Callable[[SqliteStore], Awaitable[None]]) -> None:
    async def run() -> None:
        store = await SqliteStore.open(path)
        try:
            await use(store)
        finally:
            await store.close()

    asyncio.run(run())


def open_and_close(path: Path) -> None:
    async def nothing(_: SqliteStore) -> None: ...

    with_store(path, nothing)


def run_sql(path: Path, sql: str) -> list[tuple[object, ...]]:
    connection = apsw.Connection(str(path))
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


@pytest.fixture
def memory_db(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def test_only_the_owner_may_read_it_whatever_the_umask(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "memory.db"

    async def modes(store: SqliteStore) -> None:
        await put(store, make_record("a"))
        for name in ("memory.db", "memory.db-wal", "memory.db-shm"):
            assert stat.S_IMODE((path.parent / name).stat().st_mode) == 0o600, name

    old = os.umask(0)
    try:
        with_store(path, modes)
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_X2_processes_that_create_it_at_once_all_succeed(memory_db: Path) -> None:
    names = [f"p{number}" for number in range(4)]
    children = [
        subprocess.Popen(
            [sys.executable, "-c", OPEN_AND_COMMIT, str(memory_db), name],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stderr=subprocess.PIPE,
        )
        for name in names
    ]
    for child in children:
        _, errors = child.communicate(timeout=60)
        assert child.returncode == 0, errors.decode()

    async def all_there(store: SqliteStore) -> None:
        assert sorted(await found_ids(store)) == names

    with_store(memory_db, all_there)


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_another_programs_database_is_refused_and_untouched(memory_db: Path, mode: str) -> None:
    run_sql(memory_db, f"PRAGMA journal_mode = {mode}; CREATE TABLE theirs (a); ")
    before = memory_db.read_bytes()
    with pytest.raises(Incompatible, match="another program"):
        open_and_close(memory_db)
    assert memory_db.read_bytes() == before


def test_a_file_that_is_no_database_is_refused_and_untouched(memory_db: Path) -> None:
    memory_db.write_bytes(b"dear diary, " * 1000)
    with pytest.raises(Incompatible, match="not a standfast store"):
        open_and_close(memory_db)
    assert memory_db.read_bytes() == b"dear diary, " * 1000


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Incompatible, match="folder"):
        open_and_close(tmp_path)


def test_an_empty_file_is_taken(memory_db: Path) -> None:
    memory_db.touch()
    open_and_close(memory_db)
    assert memory_db.stat().st_size > 0


def test_a_newer_schema_is_refused(memory_db: Path) -> None:
    open_and_close(memory_db)
    run_sql(memory_db, f"PRAGMA user_version = {len(migrate.migrations()) + 1}")
    with pytest.raises(Incompatible, match="newer standfast"):
        open_and_close(memory_db)


def test_a_changed_migration_is_refused(memory_db: Path) -> None:
    open_and_close(memory_db)
    run_sql(memory_db, "UPDATE migration SET sha256 = 'other' WHERE number = 1")
    with pytest.raises(Incompatible, match="0001_first"):
        open_and_close(memory_db)


def test_an_old_library_is_refused(memory_db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.51.2")
    with pytest.raises(Incompatible, match=r"SQLite 3\.51\.2"):
        open_and_close(memory_db)
    assert not memory_db.exists()


def test_the_schema_equals_all_migrations() -> None:
    def shape(sql: str) -> list[tuple[object, ...]]:
        connection = apsw.Connection(":memory:")
        connection.execute(sql).fetchall()
        return connection.execute(
            "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name"
        ).fetchall()

    whole = shape(migrate.schema())
    assert whole == shape("".join(migration.sql for migration in migrate.migrations()))
    assert len(whole) > 20


def test_migrations_are_numbered_without_gaps_and_their_hashes_are_kept(memory_db: Path) -> None:
    open_and_close(memory_db)
    known = migrate.migrations()
    assert [migration.number for migration in known] == list(range(1, len(known) + 1))
    kept = run_sql(memory_db, "SELECT name, sha256 FROM migration ORDER BY number")
    assert kept == [
        (migration.name, hashlib.sha256(migration.sql.encode()).hexdigest()) for migration in known
    ]


def test_an_older_file_is_migrated(memory_db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def write(store: SqliteStore) -> None:
        await put(store, make_record("a"))

    with_store(memory_db, write)
    later = migrate.Migration(
        len(migrate.migrations()) + 1, "9999_later.sql", "CREATE TABLE later (a)"
    )
    known = (*migrate.migrations(), later)
    monkeypatch.setattr(migrate, "migrations", lambda: known)

    async def still_there(store: SqliteStore) -> None:
        assert (await one_record(store, "a")).id == "a"

    with_store(memory_db, still_there)
    assert run_sql(memory_db, "SELECT count(*) FROM later") == [(0,)]
    assert run_sql(memory_db, "PRAGMA user_version") == [(later.number,)]


def test_words_are_cut_anew_when_the_analyser_changed(
    memory_db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def write(store: SqliteStore) -> None:
        await put(store, make_record("a", "blue whale"))

    with_store(memory_db, write)
    monkeypatch.setattr(analysis, "ANALYSER_VERSION", analysis.ANALYSER_VERSION + 1)
    monkeypatch.setattr(
        analysis, "document_words", lambda text, _: ([], [word + "!" for word in text.split()])
    )
    monkeypatch.setattr(analysis, "query_terms", lambda text: tuple(text.split()))

    async def find(store: SqliteStore) -> None:
        assert await found_ids(store, text="whale!") == ["a"]
        assert await found_ids(store, text="whale") == []

    with_store(memory_db, find)


def test_M1_four_read_only_views(memory_db: Path) -> None:
    async def write(store: SqliteStore) -> None:
        await put(
            store,
            make_record("f", "likes tea", type_="preference", tags=("drink",), confidence=0.8),
            make_record("gone", "old", status="superseded"),
            make_record("turn", "hello", type_="turn"),
            make_record("e", "met Bob", type_="episode", data={"channel": "slack"}),
            make_record("p", "deploy", type_="procedure", data={"steps": ["a", "b"]}, uses=3),
            make_summary("s", 1, 2, text="so far"),
        )

    with_store(memory_db, write)
    semantic = "SELECT id, content, category, confidence, source, tags FROM semantic_memory"
    assert run_sql(memory_db, semantic) == [
        ("f", "likes tea", "preference", 0.8, "user", '["drink"]')
    ]
    episodic = "SELECT id, summary, channel, created_at FROM episodic_memory"
    assert run_sql(memory_db, episodic) == [
        ("e", "met Bob", "slack", NOW.isoformat(timespec="milliseconds").replace("+00:00", "Z"))
    ]
    procedural = "SELECT id, steps, usage_count FROM procedural_memory"
    assert run_sql(memory_db, procedural) == [("p", '["a","b"]', 3)]
    working = "SELECT id, conversation_id, summary FROM working_memory_summaries"
    assert run_sql(memory_db, working) == [("s", "chat", "so far")]
    memories = "SELECT id, scopeId, content, memoryType, durability FROM memory ORDER BY id"
    assert run_sql(memory_db, memories) == [
        ("e", "org:acme", "met Bob", "episode", "standard"),
        ("f", "org:acme", "likes tea", "preference", "standard"),
        ("p", "org:acme", "deploy", "procedure", "standard"),
    ]
    assert run_sql(memory_db, 'SELECT "in", "out", relation FROM memoryRelation') == []
    for view in ("semantic", "episodic", "procedural"):
        with pytest.raises(apsw.SQLError, match="view"):
            run_sql(memory_db, f"INSERT INTO {view}_memory (id) VALUES ('x')")
    with pytest.raises(apsw.SQLError, match="view"):
        run_sql(memory_db, "DELETE FROM working_memory_summaries")


READ_ONLY = """
import asyncio, os, sys, urllib.parse
from standfast.text import analysis
from standfast.errors import Unavailable
from standfast.stores.sqlite import SqliteStore
from standfast.stores.sqlite.migrate import migrations
from standfast.testing.values import found_ids, make_record, put

# Whoever we become may not read our files.
migrations(), analysis.query_terms("load the stemmer and words")
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)

async def main(path):
    store = await SqliteStore.open(path)
    assert await found_ids(store, text="whale") == ["a"]
    try:
        await put(store, make_record("b"))
    except Unavailable as error:
        assert "read-only" in str(error), error
        assert not error.outcome_unknown
    else:
        raise AssertionError("written")
    assert await found_ids(store) == ["a"]
    await store.close()

asyncio.run(main(sys.argv[1]))
"""


@pytest.mark.parametrize(("folder", "file"), [(0o555, 0o444), (0o555, 0o666), (0o777, 0o444)])
def test_a_read_only_file_is_read_and_writing_says_so(folder: int, file: int) -> None:
    # Not below tmp_path: the child is another user, who may not go through its parents.
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "memory.db"

        async def write(store: SqliteStore) -> None:
            await put(store, make_record("a", "blue whale"))

        with_store(path, write)
        path.chmod(file)
        path.parent.chmod(folder)
        child = subprocess.run(
            [sys.executable, "-c", READ_ONLY, str(path)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            timeout=60,
            check=False,
        )
        path.parent.chmod(0o700)
        assert child.returncode == 0, child.stderr.decode()


def test_a_folder_that_does_not_let_us_in_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Unavailable, match="cannot create"):
        open_and_close(tmp_path / "file" / "memory.db")


def test_closing_twice_is_fine_and_a_closed_store_says_so(memory_db: Path) -> None:
    async def run() -> None:
        store = await SqliteStore.open(memory_db)
        await store.close()
        await store.close()
        with pytest.raises(Unavailable, match="closed"):
            await found_ids(store)
        with pytest.raises(Unavailable, match="closed"):
            await put(store, make_record("a"))

    asyncio.run(run())
