"""What the doctor finds, and what he can mend."""

import asyncio
from pathlib import Path

import apsw
import pytest

from recollect.errors import Incompatible, NotFound
from recollect.stores.sqlite import SqliteStore
from recollect.stores.sqlite.doctor import check, rebuild
from recollect.testing.values import CHAT, found_ids, make_message, make_record, put, unit
from recollect.types import CursorMove


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
