"""What is said when a database cannot be used: one line, what to do, and no secret."""

import asyncio
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from psycopg import sql

from standfast import AsyncMemory, Memory
from standfast.errors import Incompatible, Invalid, StandfastError, Unavailable
from standfast.interfaces.cli import main
from standfast.stores.postgres import PostgresStore, doctor, migrate
from standfast.stores.postgres.pool import ThreadPool
from standfast.stores.postgres.spread import spread
from standfast.testing.values import make_batch, make_message, make_record
from standfast.upkeep.inspection import inspect
from standfast.verbs.recall import NATIVE
from standfast.wiring.stores import scheme_of, without_password
from tests import postgres

SECRET = "hunter2-not-to-be-told"


@pytest.fixture
def address() -> Iterator[str]:
    with postgres.database() as found:
        yield found


def as_user(address: str, user: str, password: str = SECRET) -> str:
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{user}:{password}@{host}"))


def refusal(address: str) -> StandfastError:
    """The error with which this address is refused: one line, without the secret."""
    with pytest.raises(StandfastError) as raised:
        asyncio.run(PostgresStore.open(address))
    said = str(raised.value)
    assert SECRET not in said
    assert "\n" not in said
    return raised.value


def test_nobody_is_there() -> None:
    with socket.socket() as taken:  # and nobody listens on it
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        error = refusal(f"postgresql://ann:{SECRET}@127.0.0.1:{port}/memories")
    assert isinstance(error, Unavailable)
    assert f"127.0.0.1:{port}/memories" in str(error)
    assert "check that it is running" in str(error)
    assert error.retry_after is not None


def test_a_host_that_is_none() -> None:
    error = refusal(f"postgresql://ann:{SECRET}@no-such-host.invalid/memories")
    assert isinstance(error, Unavailable)
    assert "no-such-host.invalid" in str(error)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (f"postgresql://ann:{SECRET}@host:port/db", "no address of a PostgreSQL database"),
        (f"postgresql://ann:{SECRET}@host/db?sslmod=require", "sslmod"),
        (f"postgresql:/ann:{SECRET}/host/db", "postgresql://user:password@host:5432/database"),
    ],
)
def test_what_is_no_address(given: str, told: str) -> None:
    error = refusal(given)
    assert isinstance(error, Invalid)
    assert told in str(error)


def test_a_typo_in_the_scheme() -> None:
    with pytest.raises(Invalid) as raised:
        scheme_of(f"postgresq://ann:{SECRET}@host/db")
    assert "did you mean postgresql://?" in str(raised.value)
    assert "postgresq://ann:***@host/db" in str(raised.value)
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://host/db", "postgresql://host/db"),
        ("postgresql://ann@host/db", "postgresql://ann@host/db"),
        ("postgresql://ann:p:w@x@host/db", "postgresql://ann:***@host/db"),
        ("postgresql://ann:p/w?x@host/db", "postgresql://ann:***@host/db"),
        ("postgresql://h/db?password=abc&sslmode=require", "postgresql://h/db?password=***&sslmode=require"),
        ("memory.db", "memory.db"),
    ],
)  # fmt: skip
def test_an_address_is_shown_without_its_password(address: str, shown: str) -> None:
    assert without_password(address) == shown


def test_a_database_that_is_not_there(address: str) -> None:
    error = refusal(postgres.with_database(address, "nobody_made_it"))
    assert isinstance(error, Unavailable)
    assert "nobody_made_it" in str(error)
    assert "createdb" in str(error)


def test_a_user_who_may_not(address: str) -> None:
    fresh = postgres.new_database()
    with psycopg.connect(fresh, autocommit=True) as db:
        db.execute("DROP ROLE IF EXISTS somebody")
        db.execute("CREATE ROLE somebody LOGIN")
    try:
        error = refusal(as_user(fresh, "somebody"))
        assert isinstance(error, Unavailable)
        assert "GRANT CREATE ON DATABASE" in str(error)
        with psycopg.connect(fresh, autocommit=True) as db:
            name = sql.Identifier(urlsplit(fresh).path[1:])
            db.execute(sql.SQL("GRANT CREATE ON DATABASE {} TO somebody").format(name))
        error = refusal(as_user(fresh, "somebody"))
        assert "CREATE EXTENSION vector" in str(error)
        with psycopg.connect(fresh, autocommit=True) as db:
            db.execute("CREATE EXTENSION vector")
        asyncio.run(opened_and_closed(as_user(fresh, "somebody")))
    finally:
        postgres.drop_database(fresh)
        with psycopg.connect(address, autocommit=True) as db:
            db.execute("DROP ROLE somebody")


async def opened_and_closed(address: str) -> None:
    await (await PostgresStore.open(address)).close()


def test_a_server_that_is_too_old(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrate, "OLDEST_SERVER", 990_000)
    error = refusal(address)
    assert isinstance(error, Incompatible)
    assert "15 or newer" in str(error)


def test_a_server_without_pgvector(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = postgres.new_database()

    def no_such_file(db: object, query: str, *rest: object) -> object:
        if "CREATE EXTENSION" in str(query):
            raise psycopg.errors.FeatureNotSupported('extension "vector" is not available')
        return execute(db, query, *rest)

    execute = psycopg.Connection.execute
    monkeypatch.setattr(psycopg.Connection, "execute", no_such_file)
    try:
        error = refusal(fresh)
    finally:
        monkeypatch.undo()
        postgres.drop_database(fresh)
    assert isinstance(error, Incompatible)
    assert "has no pgvector; install it" in str(error)


def test_a_wrong_password(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server of the tests trusts everybody, so the answer of a stricter one is played."""

    def refuse(*_: object, **__: object) -> object:
        raise psycopg.OperationalError(
            'connection failed: FATAL:  password authentication failed for user "ann"'
        )

    monkeypatch.setattr(psycopg, "connect", refuse)
    error = refusal(as_user(address, "ann"))
    assert isinstance(error, Unavailable)
    assert error.lasting
    assert "wrong user or password" in str(error)


def test_X2_a_newer_database_is_left_alone(address: str) -> None:
    asyncio.run(opened_and_closed(address))
    try:
        with psycopg.connect(address, autocommit=True) as db:
            db.execute("INSERT INTO standfast.migration VALUES (99, '0099_later.sql', 'x')")
        asyncio.run(opened_and_closed(address))  # one that older programs can live with
        with psycopg.connect(address, autocommit=True) as db:
            db.execute("UPDATE standfast.meta SET value = '99' WHERE key = 'oldest'")
        error = refusal(address)
        assert isinstance(error, Incompatible)
        assert "upgrade standfast" in str(error)
    finally:
        with psycopg.connect(address, autocommit=True) as db:
            db.execute("DELETE FROM standfast.migration WHERE number = 99")
            db.execute("UPDATE standfast.meta SET value = '2' WHERE key = 'oldest'")


def test_X2_a_database_of_other_migrations_is_refused(address: str) -> None:
    asyncio.run(opened_and_closed(address))
    with psycopg.connect(address, autocommit=True) as db:
        [was] = (
            db.execute("SELECT sha256 FROM standfast.migration WHERE number = 1").fetchone() or []
        )
        db.execute("UPDATE standfast.migration SET sha256 = 'x' WHERE number = 1")
        error = refusal(address)
        db.execute("UPDATE standfast.migration SET sha256 = %s WHERE number = 1", (was,))
    assert isinstance(error, Incompatible)
    assert "0001_first.sql" in str(error)


def test_X2_an_older_database_is_sealed_in_place_and_takes_no_older_writers() -> None:
    old = postgres.new_database()
    kinds = ("session", "summary", "relation", "item")
    try:
        with Memory.open(old, embedder="hashing", background=False, profile="agtos") as memory:
            said = [{"role": "user", "content": f"I like tea number {n}"} for n in range(60)]
            memory.observe("s", said, scope="user:ann")
            memory.set_state("s", {"step": 1}, scope="user:ann")
            memory.set_policy("user:ann:topic:diary", persist=False)
            ids = [
                memory.remember(f"Fact {n} of all", scope="user:ann").items[0].id for n in (1, 2)
            ]
            memory.relate(ids[0], "supports", ids[1])
            memory.pin([ids[0]])
            memory.maintain()
        with psycopg.connect(old, autocommit=True) as db:  # as the first version left it
            for table in kinds:
                [count] = db.execute(f"SELECT count(*) FROM standfast.{table}").fetchone() or []
                assert count, table
                db.execute(f"ALTER TABLE standfast.{table} DROP COLUMN checksum")
            db.execute("DELETE FROM standfast.migration WHERE number = 2")
            db.execute("DELETE FROM standfast.meta WHERE key = 'oldest'")
            # It kept the checksum of a record's first state.
            db.execute("UPDATE standfast.record SET checksum = substring(checksum FOR 8)"
                       " || '\\x0011223344556677' WHERE version > 1")  # fmt: skip
        assert {one.part for one in doctor.check(old).findings} == {"mode"}  # as tests set it up
        with Memory.open(old, embedder="hashing", background=False) as memory:
            assert memory.get([ids[0]])[0].durability == "core"
            assert memory.sessions(scope="user:ann").items
            assert memory.relations(ids[0])
        with psycopg.connect(old) as db, pytest.raises(psycopg.errors.NotNullViolation):
            db.execute("INSERT INTO standfast.item (root, namespace, scope, key, version, value)"
                       " VALUES ('user:ann', 'n', 'user:ann', 'k', 1, '1')")  # fmt: skip
    finally:
        postgres.drop_database(old)


def test_X2_many_who_open_a_new_database_at_once_make_it_once() -> None:
    fresh = postgres.new_database()

    async def run() -> None:
        stores = await asyncio.gather(*(PostgresStore.open(fresh) for _ in range(6)))
        for store in stores:
            await store.close()

    try:
        asyncio.run(run())
        with psycopg.connect(fresh) as db:
            [count] = db.execute("SELECT count(*) FROM standfast.migration").fetchone() or []
            assert count == len(migrate.migrations())
    finally:
        postgres.drop_database(fresh)


def test_M1_L13_the_views_can_be_read(address: str) -> None:
    with Memory.open(address, embedder="hashing", background=False) as memory:
        memory.remember("Ann lives in Berlin", scope="user:ann")
        memory.save_procedure("deploy", ["build", "push"], triggers=["release"], scope="user:ann")
    with psycopg.connect(address) as db:

        def rows(view: str) -> list[tuple[object, ...]]:
            query = sql.SQL("SELECT * FROM standfast.{}").format(sql.Identifier(view))
            return db.execute(query).fetchall()

        assert "Ann lives in Berlin" in {row[2] for row in rows("semantic_memory")}
        assert [row[2] for row in rows("procedural_memory")] == ["deploy"]
        assert len(rows("memory")) == 2
        for view in ("working_memory_summaries", "episodic_memory", "memoryRelation"):
            assert rows(view) == []


def test_the_command_line_takes_the_address(
    address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--store", address, "--no-background", "remember", "Ann has a cat"]) == 0
    assert main(["--store", address, "--no-background", "recall", "cat"]) == 0
    assert "Ann has a cat" in capsys.readouterr().out
    # The server of the tests syncs no disk, and the doctor says so.
    assert main(["--store", address, "doctor"]) in (0, 8)
    told = capsys.readouterr().out
    assert "PostgreSQL" in told
    assert "1 records" in told
    assert "rows:" not in told
    assert "index:" not in told
    assert main(["--store", as_user(address, "postgres"), "backup", "copy.db"]) == 2
    told = capsys.readouterr().err
    assert "pg_dump" in told
    assert SECRET not in told


def test_the_doctor_finds_what_is_wrong(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    with Memory.open(address, embedder="hashing", background=False) as memory:
        memory.remember("Ann lives in Berlin", scope="user:ann")
    with psycopg.connect(address, autocommit=True) as db:
        db.execute("UPDATE standfast.record SET text = 'Ann lives in Bremen'")
        db.execute("DELETE FROM standfast.journal")
    assert main(["--store", address, "doctor"]) == 8
    told = capsys.readouterr().out
    assert "not as they were written" in told
    assert "numbers are missing" in told


def test_the_doctor_makes_indexes_anew(address: str) -> None:
    with Memory.open(address, embedder="hashing", background=False) as memory:
        memory.remember("Ann lives in Berlin", scope="user:ann")
    with psycopg.connect(address, autocommit=True) as db:
        db.execute("UPDATE standfast.record SET words = 0, terms = ''")
        db.execute("UPDATE standfast.embedding SET small = ''")
        db.execute("DELETE FROM standfast.scope")
    assert main(["--store", address, "doctor", "--rebuild"]) in (0, 8)
    with Memory.open(address, embedder="hashing", background=False) as memory:
        assert memory.recall("Berlin", scope="user:ann").hits


def test_X2_every_key_begins_with_the_root(address: str) -> None:
    """So the tables can be spread by it. The store's own few have none."""
    asyncio.run(opened_and_closed(address))
    with psycopg.connect(address) as db:
        keys = db.execute(
            "SELECT conrelid::regclass::text, attname FROM pg_constraint"
            " JOIN pg_attribute ON attrelid = conrelid AND attnum = conkey[1]"
            " WHERE contype = 'p' AND connamespace = 'standfast'::regnamespace"
        ).fetchall()
    first = {table.removeprefix("standfast."): column for table, column in keys}
    own = {"meta", "migration", "space", "registry"}
    assert {table for table, column in first.items() if column != "root"} == {*own, "root"}
    assert first["root"] == "name"


def test_the_size_from_which_on_the_database_searches(address: str) -> None:
    with Memory.open(f"{address}?native_above=3", embedder="hashing", background=False) as memory:
        for number in range(3):
            memory.remember(f"Ann has cat number {number}", scope="user:ann")
        little = memory.recall("cat", scope="user:ann")
        assert not any(NATIVE in note for note in little.notes)
    with Memory.open(f"{address}?native_above=2", embedder="hashing", background=False) as memory:
        much = memory.recall("cat", scope="user:ann")
        assert any(NATIVE in note for note in much.notes)
        texts = {hit.record.text for hit in little.hits}
        assert {hit.record.text for hit in much.hits} == texts
    assert "native_above" in str(refusal(f"{address}?native_above=many"))


@pytest.mark.parametrize("level", ["serializable", "repeatable read"])
def test_X2_the_databases_own_defaults_change_nothing(address: str, level: str) -> None:
    """Many writers in one root lose nothing, whatever isolation the database begins with."""
    name = sql.Identifier(urlsplit(address).path[1:])
    begun = sql.SQL("ALTER DATABASE {} SET default_transaction_isolation TO {}").format(
        name, sql.Literal(level)
    )

    async def run() -> None:
        stores = [await PostgresStore.open(address) for _ in range(2)]
        batches = [make_batch(make_record(f"r{n}"), make_message(f"m{n}")) for n in range(24)]
        numbers = await asyncio.gather(
            *(stores[place % 2].commit(batch) for place, batch in enumerate(batches))
        )
        assert sorted(numbers) == list(range(1, 25))
        for store in stores:
            await store.close()

    with psycopg.connect(address, autocommit=True) as db:
        db.execute(begun)
        try:
            asyncio.run(run())
        finally:
            reset = "ALTER DATABASE {} RESET default_transaction_isolation"
            db.execute(sql.SQL(reset).format(name))


def test_X2_a_failed_commit_leaves_no_statement_that_nobody_prepared(address: str) -> None:
    """What stands behind it in a pipeline is never prepared; the driver believes it is."""
    behind = "SELECT %s::text"

    def work(db: psycopg.Connection[tuple[object, ...]], fails: bool) -> None:
        db.execute("CREATE TEMP TABLE IF NOT EXISTS t (a int UNIQUE DEFERRABLE INITIALLY DEFERRED)")
        with db.pipeline():
            db.execute("BEGIN")
            if fails:
                db.execute("INSERT INTO t VALUES (1), (1)")
            db.execute("SELECT %s::int", (1,)).fetchall()
            db.execute("COMMIT")
            db.execute(behind, ("not prepared",))

    async def use() -> None:
        store = await PostgresStore.open(address)
        pool = ThreadPool(store._place, 1, "test")
        for _ in range(2):
            await pool.run(lambda db: work(db, fails=False))
        for _ in range(6):
            with pytest.raises(StandfastError, match="duplicate key"):
                await pool.run(lambda db: work(db, fails=True))
        rows = await pool.run(lambda db: db.execute(behind, ("well",)).fetchall())
        assert rows == [("well",)]
        pool.close()
        await store.close()

    asyncio.run(use())


PLANTED = [
    (
        "CREATE FUNCTION standfast.evil() RETURNS trigger LANGUAGE plpgsql"
        " AS 'BEGIN RETURN NEW; END';"
        " CREATE TRIGGER evil AFTER INSERT ON standfast.record"
        " FOR EACH ROW EXECUTE FUNCTION standfast.evil()",
        ["trigger evil on record is not of standfast", "function evil is not of standfast"],
        True,
    ),
    (
        "CREATE RULE evil AS ON DELETE TO standfast.record DO INSTEAD NOTHING",
        ["rule evil on record is not of standfast"],
        True,
    ),
    ("CREATE VIEW standfast.planted AS SELECT 1", ["view planted is not of standfast"], False),
    ("CREATE TABLE standfast.planted (a int)", ["column planted.a is not of standfast"], False),
    ("DROP INDEX standfast.record_single", ["index record_single is missing"], False),
    (
        "DROP INDEX standfast.record_single;"
        " CREATE INDEX record_single ON standfast.record (scope)",
        ["index record_single is not as standfast makes it"],
        False,
    ),
    (
        "ALTER TABLE standfast.meta ALTER COLUMN value DROP NOT NULL",
        ["column meta.value is not as standfast makes it"],
        False,
    ),
]


@pytest.fixture
def own_address() -> Iterator[str]:
    """Of a database that no other test gets, with whatever was planted in it."""
    made = postgres.new_database()
    yield made
    postgres.drop_database(made)


@pytest.mark.parametrize(("statement", "said", "is_code"), PLANTED)
def test_the_doctor_names_a_schema_that_is_not_ours(
    own_address: str, statement: str, said: list[str], is_code: bool
) -> None:
    asyncio.run(opened_and_closed(own_address))
    assert [one for one in doctor.check(own_address).findings if one.part == "schema"] == []
    with psycopg.connect(own_address, autocommit=True) as db:
        for one in statement.split("; CREATE TRIGGER"):
            db.execute(
                one if one.startswith(("CREATE", "DROP", "ALTER")) else f"CREATE TRIGGER{one}"
            )
    found = [one.text for one in doctor.check(own_address).findings if one.part == "schema"]
    for text in said:
        assert any(text in one for one in found), found

    async def look() -> str:
        async with await AsyncMemory.open(
            own_address, embedder="hashing", background=False
        ) as memory:
            return await inspect(memory.engine)

    assert bool(asyncio.run(look())) == is_code
    with psycopg.connect(own_address) as db:  # what the doctor made to compare is gone
        assert not db.execute(
            "SELECT 1 FROM pg_namespace WHERE nspname = 'standfast_doctor'"
        ).fetchall()


def test_the_doctor_of_a_spread_store_names_planted_code(own_address: str) -> None:
    shard = postgres.new_database()
    spread(own_address, [shard])
    try:
        for one in (own_address, shard):
            assert [f for f in doctor.check(one).findings if f.part == "schema"] == []
        with psycopg.connect(shard, autocommit=True) as db:
            db.execute("CREATE RULE evil AS ON DELETE TO standfast.record DO INSTEAD NOTHING")
        assert any("rule evil" in one.text for one in doctor.check(shard).findings)
    finally:
        postgres.drop_database(shard)
