"""What the doctor finds, and what he can mend."""

import asyncio
from pathlib import Path

import apsw
import pytest

from standfast.errors import Incompatible, NotFound, Unavailable
from standfast.memory import AsyncMemory
from standfast.memory.health import Health
from standfast.memory.sync import Memory
from standfast.stores.sqlite import SqliteStore
from standfast.stores.sqlite.backup import prepare_restore
from standfast.stores.sqlite.doctor import check, rebuild
from standfast.testing.values import CHAT, found_ids, make_message, make_record, put, unit
from standfast.types import CursorMove
from standfast.upkeep.inspection import inspect
from tests.unit.stores.old_file import make_old_file


@pytest.fixture
def memory_db(tmp_path: Path) -> Path:
    path = tmp_path / "memory.db"

    async def fill() -> None:
        store = await SqliteStore.open(path)
        await put(
            store,
            make_message("m1", "hello"),
            make_record("a", "blue whale", lineage=("m1",), tags=("sea",)),
            make_record("b", "white whale", derived_from=("a",)),
            vectors={"a": unit(1, 2, 3), "b": unit(3, 2, 1)},
            space="s",
        )
        await put(store, CursorMove(session=CHAT, reader="fold", old=0, new=1))
        await store.close()

    asyncio.run(fill())
    return path


def damage(path: Path, sql: str) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(sql).fetchall()
    connection.close()


def findings(path: Path) -> set[tuple[str, tuple[str, ...]]]:
    return {(finding.part, finding.ids) for finding in check(path).findings}


def test_a_fresh_file_is_sound(memory_db: Path) -> None:
    report = check(memory_db)
    assert report.is_sound
    assert (report.records, report.messages, report.mode) == (2, 1, "600")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("UPDATE record SET text = 'blue shark' WHERE id = 'a'", ("rows", ("a",))),
        ("UPDATE record SET lineage = 'no JSON' WHERE id = 'a'", ("rows", ("a",))),
        ("UPDATE message SET text = 'goodbye'", ("rows", ("m1",))),
        ("UPDATE record SET kind = 77 WHERE id = 'b'", ("rows", ("b",))),
        ("UPDATE session SET last_seq = 7", ("rows", ("chat",))),
        ("UPDATE cursor SET seq = 0, behind = 1", ("rows", ("chat",))),
        ("UPDATE session SET checksum = x''", ("rows", ("chat",))),
        ("DELETE FROM scope", ("rows", ())),
        ("UPDATE root SET head = 5", ("journal", ())),
    ],
)
def test_damaged_rows_are_named(
    memory_db: Path, sql: str, expected: tuple[str, tuple[str, ...]]
) -> None:
    damage(memory_db, "PRAGMA foreign_keys = OFF; " + sql)
    assert expected in findings(memory_db)


@pytest.mark.parametrize(
    ("sql", "ids"),
    [
        ("UPDATE record SET terms = x'00' WHERE id = 'a'", ("a",)),
        ("UPDATE record SET labels = x'' WHERE id = 'a'", ("a",)),
        ("UPDATE record SET words = 9 WHERE id = 'b'", ("b",)),
        ("UPDATE vector SET f32 = x'0000803f0000803f0000803f'", ("a", "b")),
        ("UPDATE vector SET checksum = checksum + 1", ("a", "b")),
        ("DELETE FROM lineage WHERE source = 1", ("b",)),
        ("INSERT INTO lineage VALUES (1, 0, 'x', 999)", ()),
        ("UPDATE cursor SET behind = 1 - behind", ()),
    ],
)
def test_a_damaged_index_is_found_and_rebuilt(
    memory_db: Path, sql: str, ids: tuple[str, ...]
) -> None:
    damage(memory_db, sql)
    assert findings(memory_db) == {("index", ids)}
    rebuild(memory_db)
    assert check(memory_db).is_sound


def test_an_open_store_notices_the_rebuild(memory_db: Path) -> None:
    async def run() -> None:
        damage(memory_db, "UPDATE record SET terms = x'', words = 0 WHERE id = 'a'")
        store = await SqliteStore.open(memory_db)
        assert await found_ids(store, text="whale") == ["b"]
        rebuild(memory_db)
        assert await found_ids(store, text="whale") == ["a", "b"]
        await store.close()

    asyncio.run(run())


def test_a_file_that_others_may_read_is_reported(memory_db: Path) -> None:
    memory_db.chmod(0o644)
    assert findings(memory_db) == {("mode", ())}


def test_broken_pages_are_reported(memory_db: Path) -> None:
    content = bytearray(memory_db.read_bytes())
    for page in range(10, len(content) // 4096):
        content[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    memory_db.write_bytes(content)
    assert "file" in {part for part, _ in findings(memory_db)}


def test_the_doctor_makes_no_file_and_touches_no_foreign_one(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        check(tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()
    damage(tmp_path / "theirs.db", "CREATE TABLE theirs (a)")
    with pytest.raises(Incompatible):
        rebuild(tmp_path / "theirs.db")


PLANTED = [
    (
        "CREATE TRIGGER evil AFTER INSERT ON record BEGIN"
        " INSERT INTO registry (key, value) VALUES ('key', '{}'); END",
        'trigger "evil" is not of standfast',
    ),
    ("CREATE VIEW planted AS SELECT 1", 'view "planted" is not of standfast'),
    ("CREATE TABLE planted (a)", 'table "planted" is not of standfast'),
    ("CREATE INDEX planted ON record (text)", 'index "planted" is not of standfast'),
    ('CREATE VIEW "a\nb""c" AS SELECT 1', 'view "a\\nb""c" is not of standfast'),
    ("DROP INDEX record_single", 'index "record_single" is missing'),
    ("DROP VIEW semantic_memory", 'view "semantic_memory" is missing'),
    (
        "DROP VIEW semantic_memory; CREATE VIEW semantic_memory AS SELECT 1",
        'view "semantic_memory" is not as standfast makes it',
    ),
    (
        "DROP INDEX record_single; CREATE INDEX record_single ON record (scope, hash)",
        'index "record_single" is not as standfast makes it',
    ),
    (
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql ="
        " replace(sql, ' REFERENCES root (pk)', '') WHERE name = 'scope'",
        'table "scope" is not as standfast makes it',
    ),
    ("ALTER TABLE meta ADD COLUMN planted TEXT", 'table "meta" is not as standfast makes it'),
]


# Nothing works without these, so that nobody gets as far as the light doctor.
GONE = [
    (f"DROP TABLE {table}", f'table "{table}" is missing')
    for table in ("registry", "message", "vector")
]


@pytest.mark.parametrize(("sql", "said"), [*PLANTED, *GONE])
def test_a_schema_that_is_not_ours_is_named(memory_db: Path, sql: str, said: str) -> None:
    damage(memory_db, sql)
    found = [finding.text for finding in check(memory_db).findings if finding.part == "schema"]
    assert any(said in text for text in found), found
    assert all("\n" not in text for text in found)


@pytest.mark.parametrize(("sql", "said"), PLANTED)
def test_X20_the_light_doctor_names_a_schema_that_is_not_ours(
    memory_db: Path, sql: str, said: str
) -> None:
    async def look() -> tuple[str, str, str]:
        async with await AsyncMemory.open(
            memory_db, embedder="hashing", background=False
        ) as memory:
            before, _ = await Health(memory).look()
            damage(memory_db, sql)
            found = await inspect(memory.engine)
            after, _ = await Health(memory).look()
            return before, found, after

    before, found, after = asyncio.run(look())
    assert (before, after) == ("ok", "degraded")
    assert said in found


ENDLESS = "WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r)"


@pytest.mark.parametrize(
    "sql",
    [
        PLANTED[0][0],
        f"CREATE TRIGGER evil AFTER UPDATE ON root BEGIN DELETE FROM meta WHERE key IN"
        f" ({ENDLESS} SELECT n FROM r); END",
        "DROP TRIGGER record_used; CREATE TRIGGER record_used AFTER UPDATE OF used_at ON record"
        " BEGIN DELETE FROM upkeep; END",
        "CREATE TRIGGER evil AFTER UPDATE ON root BEGIN DELETE FROM meta; END;"
        " PRAGMA user_version = 2",
    ],
)
def test_a_file_with_a_planted_trigger_is_not_written(memory_db: Path, sql: str) -> None:
    """The doctor names it; nobody runs it."""
    damage(memory_db, sql)
    before = memory_db.read_bytes()
    for act in (rebuild, lambda path: Memory.open(path, embedder="hashing", background=False)):
        with pytest.raises(Incompatible, match=r"trigger that is not of standfast"):
            act(memory_db)
    assert memory_db.read_bytes() == before
    found = [finding.text for finding in check(memory_db).findings]
    assert any("the trigger" in text for text in found), found


def test_a_view_in_the_place_of_a_table_is_not_run(memory_db: Path) -> None:
    damage(
        memory_db,
        "ALTER TABLE meta RENAME TO kept;"
        f" CREATE VIEW meta AS {ENDLESS} SELECT n AS key, n AS value FROM r",
    )
    with pytest.raises(Unavailable, match="view"):
        Memory.open(memory_db, embedder="hashing", background=False)
    found = [finding.text for finding in check(memory_db).findings]
    assert any('the view "meta" is not of standfast' in text for text in found), found


def test_what_sqlite_counts_for_its_planner_is_no_defect(memory_db: Path) -> None:
    damage(memory_db, "ANALYZE")
    assert check(memory_db).is_sound


def test_a_file_of_the_first_schema_is_no_defect(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    make_old_file(path, records=4, leases=4)
    path.chmod(0o600)
    assert [one for one in check(path).findings if one.part == "schema"] == []


def test_a_backup_with_a_planted_trigger_is_not_restored(memory_db: Path, tmp_path: Path) -> None:
    damage(memory_db, PLANTED[0][0])
    with pytest.raises(Unavailable, match='trigger "evil"'):
        prepare_restore(memory_db, tmp_path / "restored.db")
    assert not (tmp_path / "restored.db").exists()
