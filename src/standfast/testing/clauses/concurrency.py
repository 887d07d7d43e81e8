"""Many writers at once: nothing is lost, nothing is counted twice."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from standfast.errors import Conflict
from standfast.ports import Store
from standfast.testing.harness import Contract, clause
from standfast.testing.values import (
    CHAT,
    NOW,
    ROOT,
    Thing,
    found_ids,
    make_item,
    make_message,
    make_move,
    make_record,
    one_record,
    put,
)

WRITERS = 16
ROUNDS = 5


async def _conflict(store: Store, *things: Thing) -> Conflict | None:
    """Try once: None if it was written, else why not."""
    try:
        await put(store, *things)
    except Conflict as conflict:
        return conflict
    return None


async def _raise_counter(store: Store) -> None:
    """Read, add one, write; again if somebody was quicker."""
    while True:
        record = await one_record(store, "counter")
        await asyncio.sleep(0)  # let the others read the same version
        more = replace(record, data={"n": record.data["n"] + 1})
        lost = await _conflict(store, more)
        if lost is None:
            return
        assert lost.kind == "record"


async def _write_all(store: Store, writer: int) -> None:
    """What one busy client does: counts, talks, uses and keeps things of its own."""
    for turn in range(ROUNDS):
        name = f"{writer}-{turn}"
        await _raise_counter(store)
        await put(store, make_message(f"{name}-a"), make_message(f"{name}-b"), used=("counter",))
        await put(store, make_record(name, f"word{writer}"), make_item(name, writer))


class ConcurrencyClauses(Contract):
    @clause
    async def test_X2_no_update_is_lost(self, store: Store) -> None:
        """Compare-and-set with retries counts every writer, and appends never collide."""
        await put(store, make_record("counter", data={"n": 0}))
        await asyncio.gather(*(_write_all(store, writer) for writer in range(WRITERS)))
        total = WRITERS * ROUNDS
        counter = await one_record(store, "counter")
        assert (counter.data["n"], counter.version, counter.uses) == (total, total + 1, total)
        messages = await store.messages(CHAT, now=NOW, limit=10_000)
        assert [message.seq for message in messages] == list(range(1, 2 * total + 1))
        assert len({message.id for message in messages}) == 2 * total
        # The two messages of one batch stay neighbours.
        for first, second in zip(messages[::2], messages[1::2], strict=True):
            assert (first.id[:-1], first.id[-1], second.id[-1]) == (second.id[:-1], "a", "b")
        assert len(await found_ids(store)) == total + 1
        assert len(await found_ids(store, text="word3")) == ROUNDS
        assert len(await store.items(ROOT, "policy", now=NOW, limit=10_000)) == total

    @clause
    async def test_X2_journal_has_no_gaps(self, store: Store) -> None:
        """Each commit gets its own number, and a reader who follows misses none."""
        done = asyncio.Event()

        async def follow() -> list[int]:
            seen: list[int] = []
            while True:
                last_look = done.is_set()
                after = seen[-1] if seen else 0
                seen += [entry.seq for entry in await store.journal(ROOT, after=after, limit=7)]
                if last_look and len(seen) >= WRITERS * ROUNDS:
                    return seen
                await asyncio.sleep(0)

        async def write(writer: int) -> list[int]:
            return [await put(store, make_item(f"{writer}-{n}")) for n in range(ROUNDS)]

        follower = asyncio.create_task(follow())
        numbers = await asyncio.gather(*(write(writer) for writer in range(WRITERS)))
        done.set()
        expected = list(range(1, WRITERS * ROUNDS + 1))
        assert sorted(number for own in numbers for number in own) == expected
        assert await asyncio.wait_for(follower, 30) == expected

    @clause
    async def test_L2_equal_texts_at_once_exactly_one_wins(self, store: Store) -> None:
        """The others are told whose text it is."""

        async def write(n: int) -> str:
            lost = await _conflict(store, make_record(f"r{n}", "the same", hash="h"))
            assert lost is None or lost.kind == "hash"
            return lost.ids[0] if lost else f"r{n}"

        winners = set(await asyncio.gather(*(write(n) for n in range(WRITERS))))
        assert winners == set(await found_ids(store))
        assert len(winners) == 1

    @clause
    async def test_X2_same_batch_at_once_is_applied_once(self, store: Store) -> None:
        """Impatient retries of one batch all get its number."""
        tries = [put(store, make_message("m"), make_record("r"), id="same") for _ in range(8)]
        assert set(await asyncio.gather(*tries)) == {1}
        assert len(await store.messages(CHAT, now=NOW)) == 1

    @clause
    async def test_X2_one_of_many_takes_the_lease(self, store: Store) -> None:
        """Creating an item is a lock."""
        tries = [_conflict(store, make_item("lease", n)) for n in range(WRITERS)]
        assert [*await asyncio.gather(*tries)].count(None) == 1

    @clause
    async def test_X2_one_of_many_moves_the_cursor(self, store: Store) -> None:
        """A late worker's move is dropped with everything it wanted to write."""
        await put(store, make_message("m1"), make_message("m2"))
        folds = [
            _conflict(store, make_move(0, 2), make_record(f"from {n}")) for n in range(WRITERS)
        ]
        lost = [conflict for conflict in await asyncio.gather(*folds) if conflict]
        assert [conflict.kind for conflict in lost] == ["cursor"] * (WRITERS - 1)
        assert len(await found_ids(store)) == 1

    @clause
    async def test_X2_roots_do_not_disturb_each_other(self, store: Store) -> None:
        """Many roots written at once, each with a journal of its own."""

        async def write(root: str) -> list[int]:
            return [await put(store, make_item(f"k{n}", scope=root)) for n in range(ROUNDS)]

        roots = [f"user:u{n:02}" for n in range(WRITERS)]
        numbers = await asyncio.gather(*(write(root) for root in roots))
        assert numbers == [list(range(1, ROUNDS + 1))] * WRITERS
        assert await store.roots() == roots

    @clause
    async def test_X2_readers_never_see_half_a_batch(self, store: Store) -> None:
        """Two records that change together are seen together."""
        await put(store, make_record("a", importance=0), make_record("b", importance=0))
        done = asyncio.Event()

        async def watch() -> int:
            looks = 0
            while not done.is_set():
                [a, b] = await store.records(ROOT, ["a", "b"], now=NOW)
                assert a.importance == b.importance
                looks += 1
                await asyncio.sleep(0)
            return looks

        watcher = asyncio.create_task(watch())
        for n in range(1, 30):
            pair = await store.records(ROOT, ["a", "b"], now=NOW)
            await put(store, *(replace(record, importance=n / 100) for record in pair))
            await asyncio.sleep(0)
        done.set()
        assert await watcher > 0
