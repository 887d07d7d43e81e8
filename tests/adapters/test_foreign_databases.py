"""SQLite files of others are hostile code: nothing of it runs, and they take no more than an honest
file of their size would."""

from __future__ import annotations

import hashlib
import io
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import apsw
import pytest

from standfast import Invalid, Memory, StandfastError
from standfast.adapters.importers import databases, import_foreign, qdrant
from standfast.adapters.importers.databases import database, quoted
from standfast.adapters.importers.files import json_items
from tests.adapters import samples
from tests.open_files import nameless

STORE = "CREATE TABLE store (prefix TEXT, key TEXT, value TEXT, created_at, updated_at{})"
VALUE = json.dumps({"text": "Ann drinks green tea"})
PAGE, INNER, LEAF = 512, 5, 13  # bytes of a page, and how those of a table begin
CANARY = "kumquat-marmalade"
ENDLESS = (
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
    "SELECT 'users.a' AS prefix, 'k' || n AS key, '{\"text\": \"x\"}' AS value, "
    "n AS created_at, n AS updated_at, n AS rowid FROM r"
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(str(tmp_path / "own.db"), background=False, embedder="none") as opened:
        yield opened


def made(path: Path, *statements: str) -> Path:
    db = apsw.Connection(str(path))
    for one in statements:
        db.execute(one)
    db.close()
    return path


def row(*, key: str = "tea", columns: str = "prefix, key, value") -> str:
    return f"INSERT INTO store ({columns}) VALUES ('users.ann', '{key}', '{VALUE}')"


def texts(memory: Memory) -> set[str]:
    return {one.text for one in memory.records(scope="app:langgraph", descend=True).items}


HARMFUL_NAMES = [
    'z" FROM "store"; ATTACH DATABASE \'{target}\' AS v; CREATE TABLE v.planted (x); --',
    'z" FROM "store"; ATTACH DATABASE \'{target}\' AS v; INSERT INTO v.victim VALUES (1); --',
    '"',
    '""; DROP TABLE store; --',
    "'; SELECT 1; --",
    "select",
    "z\x00y".replace("\x00", " "),
    "]`'\"",
]


@pytest.mark.parametrize("name", HARMFUL_NAMES)
def test_X13_a_column_may_have_any_name(name: str, memory: Memory, tmp_path: Path) -> None:
    target = made(tmp_path / "target.db", "CREATE TABLE victim (x)")
    before = target.read_bytes()
    named = quoted(name.format(target=target))
    evil = made(tmp_path / "evil.db", STORE.format(f", {named}"), row())
    for dry_run in (True, False):
        import_foreign(memory, "langgraph", evil, dry_run=dry_run)
    assert texts(memory) == {"Ann drinks green tea"}
    assert target.read_bytes() == before
    with database(evil, "store") as db:
        told = name.format(target=target)
        assert [one[told] for one in db.rows("store", [told])] == [None]
        assert [one["key"] for one in db.rows("store", ["key"], by=told)] == ["tea"]


def test_X13_the_users_own_store_takes_no_key_from_a_file(tmp_path: Path) -> None:
    """As it was done: a column whose name plants a key of all rights in the store."""
    own = tmp_path / "own.db"
    with Memory.open(str(own), background=False, embedder="none") as memory:
        memory.remember("Ann lives in Porto", scope="user:ann")
    secret = hashlib.sha256(b"mine").hexdigest()
    name = (
        f'z" FROM "store"; ATTACH DATABASE \'{own}\' AS v; INSERT INTO v.registry (key, value) '
        f"VALUES ('key' || char(9) || '{secret}', '{{}}'); SELECT prefix FROM \"store\"; --"
    )
    evil = made(tmp_path / "evil.db", STORE.format(f", {quoted(name)}"), row())
    command = [sys.executable, "-m", "standfast.interfaces.cli", "--store", str(own), "import"]
    done = subprocess.run(
        [*command, str(evil), "--from", "langgraph", "--dry-run"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    db = apsw.Connection(str(own), flags=apsw.SQLITE_OPEN_READONLY)
    assert not db.execute("SELECT count(*) FROM registry WHERE key LIKE '%' || ?", (secret,)).get
    db.close()


NO_TABLES = {
    "view": [f"CREATE VIEW store AS {ENDLESS}"],
    "view of a table": ["CREATE TABLE other AS SELECT 1", f"CREATE VIEW store AS {ENDLESS}"],
    "virtual": ["CREATE VIRTUAL TABLE store USING fts5(prefix, key, value)"],
    "called a table": [
        f"CREATE VIEW store AS {ENDLESS}",
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_schema SET type = 'table', rootpage = 2 WHERE name = 'store'",
    ],
    "called a created table": [
        STORE.format(""),
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_schema SET sql = 'CREATE TABLE store AS " + ENDLESS.replace("'", "''") + "'",
    ],
    "sorted": [
        STORE.format(", rowid"),
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 20000) "
        "INSERT INTO store SELECT 'u', n, '{}', 1, 1, n FROM r",
        f"ALTER TABLE store ADD COLUMN expires_at DEFAULT '{'x' * 90_000}'",
    ],
    "generated": [
        "CREATE TABLE store (prefix TEXT, key TEXT,"
        " value TEXT AS (hex(zeroblob(100000000))) VIRTUAL)",
        "INSERT INTO store VALUES ('users.a', 'k')",
    ],
}


@pytest.mark.parametrize("kind", NO_TABLES)
def test_X13_only_what_a_table_stores_is_read(kind: str, memory: Memory, tmp_path: Path) -> None:
    evil = made(tmp_path / "evil.db", *NO_TABLES[kind])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.monotonic()
    with pytest.raises(Invalid, match=r"no table store|damaged"):
        import_foreign(memory, "langgraph", evil)
    assert time.monotonic() - began < 10
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 100 << 10
    assert texts(memory) == set()


def test_X13_values_by_default_end(memory: Memory, tmp_path: Path) -> None:
    """A million characters that the file holds once, in each of its rows."""
    rows = [row(key=f"k{n}") for n in range(250)]
    grown = f"ALTER TABLE store ADD COLUMN expires_at DEFAULT '{'x' * 90_000}'"
    evil = made(tmp_path / "evil.db", STORE.format(""), *rows, grown)
    with pytest.raises(Invalid, match="more than a file of its size"):
        import_foreign(memory, "langgraph", evil)
    assert texts(memory) == set()


def many_rows(path: Path) -> Path:
    return made(
        path,
        f"PRAGMA page_size = {PAGE}",
        STORE.format(""),
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3000) "
        f"INSERT INTO store SELECT 'users.ann', 'k' || n, '{VALUE}', NULL, NULL FROM r",
    )


def test_X13_pages_that_lead_to_each_other_end(tmp_path: Path) -> None:
    """All that an inner page of a table leads to is the next one: few pages, endless rows."""
    evil = many_rows(tmp_path / "evil.db")
    data = bytearray(evil.read_bytes())
    inner = [at for at in range(0, len(data), PAGE) if data[at] == INNER]
    leaf = next(at for at in range(PAGE, len(data), PAGE) if data[at] == LEAF)
    for at, below in pairwise([*inner, leaf]):
        cells = int.from_bytes(data[at + 3 : at + 5], "big")
        pointers = (at + 12 + 2 * number for number in range(cells))
        places = [at + int.from_bytes(data[one : one + 2], "big") for one in pointers]
        for place in (*places, at + 8):
            data[place : place + 4] = (below // PAGE + 1).to_bytes(4, "big")
    evil.write_bytes(data)
    with (
        pytest.raises(Invalid, match="more than a file of its size"),
        database(evil, "store") as db,
    ):
        for _ in db.rows("store", ["key"]):
            pass


def test_X13_time_in_a_foreign_file_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "SECONDS_MIN", 0)
    monkeypatch.setattr(databases, "BYTES_PER_SECOND", 1 << 40)
    monkeypatch.setattr(databases, "STEPS_BETWEEN_LOOKS", 10)
    with (
        pytest.raises(Invalid, match="more time"),
        database(many_rows(tmp_path / "a.db"), "store") as db,
    ):
        list(db.rows("store", ["key"]))


def test_X13_no_other_table_can_be_read(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", STORE.format(""), row(), "CREATE TABLE private (key)")
    for statement in (
        "SELECT key FROM private",
        "SELECT 1 UNION ALL SELECT key FROM private",
        "SELECT load_extension('x')",
        "SELECT hex(key) FROM store",
        "ATTACH DATABASE ':memory:' AS other",
        "PRAGMA writable_schema = ON",
        "DELETE FROM store",
        "CREATE TEMP TABLE t (x)",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r",
    ):
        with (
            pytest.raises(Invalid, match=r"not authorized|prohibited"),
            database(path, "store") as db,
        ):
            list(db._stepped(statement))


# What an honest file holds


@pytest.mark.parametrize("page_size", [512, 4096, 65536])
def test_X13_what_its_log_has_committed_is_read(page_size: int, tmp_path: Path) -> None:
    """As the file of a program that runs, or was killed: the newest rows are in the log alone."""
    path = tmp_path / "live.db"
    writer = made_live(path, page_size)
    for number in range(40):
        writer.execute(row(key=f"late{number}"))
    writer.execute("UPDATE store SET key = 'changed' WHERE key = 'late3'")
    writer.execute("BEGIN; " + row(key="never committed"))
    writer.cache_flush()
    before = {one.name: one.read_bytes() for one in tmp_path.iterdir() if "-shm" not in one.name}
    with database(path, "store") as db:
        keys = [one["key"] for one in db.rows("store", ["key"])]
    assert sorted(keys) == sorted(
        {"early", "changed", *(f"late{n}" for n in range(40))} - {"late3"}
    )
    after = {one.name: one.read_bytes() for one in tmp_path.iterdir() if "-shm" not in one.name}
    assert after == before
    writer.execute("ROLLBACK")
    writer.close()


def made_live(path: Path, page_size: int) -> apsw.Connection:
    db = apsw.Connection(str(path))
    db.pragma("page_size", page_size)
    db.pragma("journal_mode", "wal")
    db.execute(STORE.format(""))
    db.execute(row(key="early"))
    db.pragma("wal_checkpoint", "truncate")
    db.pragma("wal_autocheckpoint", 0)
    return db


def test_X13_a_torn_log_is_read_up_to_its_last_whole_commit(tmp_path: Path) -> None:
    path = tmp_path / "live.db"
    writer = made_live(path, 4096)
    for number in range(3):
        writer.execute(row(key=f"late{number}"))
    log = tmp_path / "live.db-wal"
    copies = tmp_path / "copies"
    copies.mkdir()
    (copies / "a.db").write_bytes(path.read_bytes())
    whole = bytearray(log.read_bytes())
    whole[-100] ^= 1  # within the page of the last commit
    (copies / "a.db-wal").write_bytes(whole)
    writer.close()
    with database(copies / "a.db", "store") as db:
        keys = [one["key"] for one in db.rows("store", ["key"])]
    reread = apsw.Connection(str(copies / "a.db"))
    assert keys == [key for (key,) in reread.execute("SELECT key FROM store ORDER BY rowid")]
    assert keys == ["early", "late0", "late1"]
    reread.close()


def test_X13_a_file_that_is_being_written_is_not_read_half(tmp_path: Path) -> None:
    path = samples.langgraph_sqlite(tmp_path)
    numbers: list[int] = []

    def writes_meanwhile(_: Path) -> tuple[int, int]:
        numbers.append(0)
        return len(numbers), 0

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("standfast.adapters.importers.database_copies._state", writes_meanwhile)
        with pytest.raises(StandfastError, match="being written"), database(path, "store"):
            pass


def test_X13_no_copy_of_a_foreign_file_has_a_name_or_is_plain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    value = json.dumps({"text": CANARY})
    insert = f"INSERT INTO store (prefix, key, value) VALUES ('u', 'k', '{value}')"
    path = made(tmp_path / "a.db", STORE.format(""), insert)
    with database(path, "store") as db:
        rows = db.rows("store", ["value"])
        assert CANARY in next(rows)["value"]
        assert list((tmp_path / "tmp").iterdir()) == []
        assert CANARY.encode() not in nameless()
        rows.close()


def test_X13_a_large_file_takes_little_time(tmp_path: Path) -> None:
    path = made(
        tmp_path / "large.db",
        STORE.format(""),
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 50000) "
        f"INSERT INTO store SELECT 'users.ann', 'k' || n % 100, '{VALUE}', NULL, NULL FROM r",
    )
    begun = time.process_time()
    with database(path, "store") as db:
        assert sum(1 for _ in db.rows("store", ["prefix", "value"])) == 50_000
        keys = [one["key"] for one in db.rows("store", ["key"], by="key")]
    assert keys == sorted(keys)
    assert len(keys) == 50_000
    assert time.process_time() - begun < 15


def test_X13_a_point_that_would_become_many_lists_is_not_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A byte of a pickle makes a list of 80."""
    read: list[object] = []
    monkeypatch.setattr(qdrant, "_Reader", read.append)
    pickled = b"\x80\x04" + b"]" * (5 << 20) + b"."
    with pytest.raises(Invalid, match="no point of Qdrant"):
        qdrant._point(pickled, Path("storage.sqlite"))
    assert not read


def test_X13_an_item_is_not_read_beyond_its_limit() -> None:
    """What is packed takes little room: an archive of 1 MB could take 5 GB of memory."""
    with pytest.raises(Invalid, match="too large to be read"):
        list(json_items(io.BytesIO(b'["' + b"a" * (140 << 20)), "conversations.json"))
