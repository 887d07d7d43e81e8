"""After an erase no byte is left: not in the file, not in its log."""

import asyncio
from pathlib import Path

import apsw

from standfast.stores.sqlite import SqliteStore
from standfast.testing.values import (
    NOW,
    ROOT,
    found_ids,
    make_batch,
    make_item,
    make_message,
    make_record,
    make_summary,
    moment,
    put,
    unit,
)
from standfast.types import Erase

SECRET = "Zitronenfalter"


def traces(path: Path, *words: str) -> list[str]:
    """The words that any file of the store still holds."""
    bytes_ = b"".join(
        file.read_bytes()
        for file in sorted(path.parent.iterdir())
        if file.name.startswith(path.name)
    )
    return [word for word in words if word.encode() in bytes_]


def run_on(path: Path, use) -> None:
    async def run() -> None:
        store = await SqliteStore.open(path)
        try:
            await use(store)
        finally:
            await store.close()

    asyncio.run(run())


def test_X10_no_byte_of_an_erased_record_is_left(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    secrets = [f"{SECRET}{part}" for part in ("Text", "Tag", "Data", "NewTag", "Author", "Message")]

    async def use(store: SqliteStore) -> None:
        # Among many others, in long and short texts, so that pages split and overflow.
        for number in range(30):
            await put(
                store,
                *(make_record(f"r{number}-{k}", f"filler {k} " * (k * 40)) for k in range(10)),
            )
            record = make_record(
                f"s{number}",
                f"{secrets[0]} {'abc ' * number * 50} {secrets[0]}",
                tags=(secrets[1],),
                data={"k": secrets[2]},
                author=secrets[4],
                lineage=("m",),
            )
            await put(store, record, vectors={record.id: unit(1, number, 2)}, space="s")
            await put(
                store,
                make_record(
                    record.id,
                    record.text,
                    version=1,
                    tags=(secrets[3],),
                    data={"k": secrets[2]},
                    author=secrets[4],
                    lineage=("m",),
                ),
            )
            await put(store, make_message(f"m{number}", secrets[5] + " x" * number * 100))
        assert traces(path, *secrets) == secrets
        erase = [Erase(kind="record", id=f"s{number}") for number in range(30)]
        erase += [
            Erase(kind="message", scope=ROOT, session="chat", id=f"m{number}")
            for number in range(30)
        ]
        await put(store, *erase)
        assert await store.scrub()
        assert traces(path, *secrets) == []
        assert len(await found_ids(store)) == 300

    run_on(path, use)
    assert traces(path, *secrets) == []


def test_X10_sessions_summaries_items_and_expired_rows_leave_no_byte(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    secrets = [f"{SECRET}{part}" for part in ("Message", "Summary", "Item", "Short")]

    async def use(store: SqliteStore) -> None:
        await put(
            store,
            make_message("m", secrets[0]),
            make_summary("s", 1, 1, text=secrets[1]),
            make_item("i", {"v": secrets[2]}),
            make_record("r", secrets[3], expires_at=moment(1)),
        )
        await put(store, make_item("i", {"v": secrets[2] + "2"}, version=1))
        await put(
            store,
            Erase(kind="session", scope=ROOT, id="chat"),
            Erase(kind="item", scope=ROOT, namespace="policy", id="i"),
        )
        await store.commit(make_batch(root=ROOT, at=moment(2), sweep=True))
        assert await store.scrub()
        assert traces(path, *secrets) == []

    run_on(path, use)


def test_X10_a_reader_with_an_old_snapshot_holds_the_scrub_back(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"

    async def use(store: SqliteStore) -> None:
        await put(store, make_record("a", SECRET))
        reader = apsw.Connection(str(path))
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM record").get == 1
        await put(store, Erase(kind="record", id="a"))
        assert not await store.scrub()
        assert await store.records(ROOT, ["a"], now=NOW) == []
        reader.execute("COMMIT")
        assert await store.scrub()
        reader.close()
        assert traces(path, SECRET) == []

    run_on(path, use)
