"""Two handles, and several processes, on one store: what one writes the other sees at once."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from unittest import SkipTest

from standfast.errors import Conflict
from standfast.ports import Cell, Store
from standfast.testing.elsewhere import raise_counter, run_elsewhere
from standfast.testing.harness import Contract, clause, second_handle
from standfast.testing.values import (
    CHAT,
    NOW,
    ROOT,
    SPACE,
    found_ids,
    make_batch,
    make_item,
    make_message,
    make_move,
    make_record,
    make_relation,
    make_search,
    make_summary,
    moment,
    one_record,
    put,
    unit,
)
from standfast.types import Erase

WRITERS = 8
ROUNDS = 4
PROCESSES = 3
WAIT_SECONDS = 20.0


class HandleClauses(Contract):
    """What is meant by fresh, and by at once, is between handles."""

    @clause
    async def test_X2_what_one_handle_writes_the_other_reads(self, store: Store) -> None:
        """Rows of every kind, as soon as the commit has returned."""
        other = await second_handle(self, store)
        try:
            await found_ids(other, text="soup")  # so that whatever it keeps is old now
            await put(
                store,
                make_record("a", "soup", tags=("x",)),
                make_record("b", "bread"),
                make_relation("a", "b"),
                make_message("m1"),
                make_move(0, 1),
                make_summary("s1", 1, 1),
                make_item("k", 1),
            )
            assert [r.id for r in await other.records(ROOT, ["b", "a"], now=NOW)] == ["b", "a"]
            assert len(await other.relations(ROOT, ["a"])) == 1
            [session] = await other.sessions(ROOT, [CHAT])
            assert (session.last_seq, list(session.cursors.values())) == (1, [1])
            assert [m.id for m in await other.messages(CHAT, now=NOW)] == ["m1"]
            assert [s.id for s in await other.summaries(CHAT)] == ["s1"]
            assert [item.value for item in await other.items(ROOT, "policy", now=NOW)] == [1]
            assert [entry.seq for entry in await other.journal(ROOT)] == [1]
            assert await other.roots() == [ROOT]
            assert sum((await other.counts([ROOT], now=NOW)).values()) == 2
            await store.registry.put(Cell(key="lease", value=1), now=NOW)
            assert [cell.value for cell in await other.registry.get(["lease"], now=NOW)] == [1]
            assert {work.id for work in await other.due(NOW, space=SPACE)} == {"a", "b"}
        finally:
            await other.close()

    @clause
    async def test_X2_what_one_handle_changes_the_other_searches(self, store: Store) -> None:
        """New words, new vectors, other labels, other status, erased and dropped: step by step."""
        other = await second_handle(self, store)
        near = {"vector": unit(1, 0, 0), "space": SPACE}
        try:
            assert await found_ids(other, text="soup") == []
            await put(store, make_record("a", "soup"), vectors={"a": unit(1, 0, 0)}, space=SPACE)
            assert await found_ids(other, text="soup") == ["a"]
            assert await found_ids(other, **near) == ["a"]
            await put(store, make_record("b", "soup"))
            await put(store, vectors={"b": unit(0, 1, 0)}, space=SPACE)
            assert await found_ids(other, **near) == ["a", "b"]
            await put(store, replace(await one_record(other, "a"), tags=("x",)))
            assert await found_ids(other, text="soup", tags=("x",)) == ["a"]
            await put(store, replace(await one_record(other, "a"), status="archived"))
            assert await found_ids(other, text="soup") == ["b"]
            await put(store, root=ROOT, drop_space=SPACE)
            assert await found_ids(other, **near) == []
            await put(store, Erase(kind="record", id="b"))
            assert await found_ids(other, text="soup") == []
            await put(store, make_record("b", "soup again"))
            assert await found_ids(other, text="again") == ["b"]
        finally:
            await other.close()

    @clause
    async def test_X2_what_expires_does_so_for_both(self, store: Store) -> None:
        """By the reader's clock, swept or not, and however warm its index is."""
        other = await second_handle(self, store)
        try:
            short = moment(10)
            await put(store, make_record("a", "soup", expires_at=short), make_record("b", "soup"))
            await put(store, make_item("k", 1, expires_at=short))
            for handle in (store, other):
                assert await found_ids(handle, text="soup") == ["a", "b"]
            for _ in ("before", "after sweeping"):
                for handle in (other, store):
                    assert await found_ids(handle, text="soup", now=short) == ["b"]
                    assert await handle.records(ROOT, ["a"], now=short) == []
                    assert await handle.items(ROOT, "policy", now=short) == []
                await put(store, root=ROOT, sweep=True, at=short)
            await put(other, make_record("a", "soup, the second"), at=short)
            assert await found_ids(store, text="second", now=short) == ["a"]
        finally:
            await other.close()

    @clause
    async def test_X2_no_update_is_lost_between_handles(self, store: Store) -> None:
        """Compare-and-set counts every writer, whichever handle it writes through."""
        other = await second_handle(self, store)
        try:
            await put(store, make_record("counter", data={"n": 0}))

            async def work(writer: int) -> None:
                handle = (store, other)[writer % 2]
                for turn in range(ROUNDS):
                    await raise_counter(handle, f"{writer}-{turn}")
                    await put(handle, make_message(f"{writer}-{turn}"), used=("counter",))

            await asyncio.gather(*(work(writer) for writer in range(WRITERS)))
            total = WRITERS * ROUNDS
            for handle in (store, other):
                counter = await one_record(handle, "counter")
                assert (counter.data["n"], counter.version) == (total, total + 1)
                assert counter.uses == total
                messages = await handle.messages(CHAT, now=NOW, limit=1000)
                assert [message.seq for message in messages] == list(range(1, total + 1))
                numbers = [entry.seq for entry in await handle.journal(ROOT, limit=1000)]
                assert numbers == list(range(1, 2 * total + 2))
        finally:
            await other.close()

    @clause
    async def test_X2_one_of_two_handles_wins(self, store: Store) -> None:
        """Equal texts, a cursor, one batch: applied once, and the loser knows why."""
        other = await second_handle(self, store)
        try:
            await put(store, make_message("m1"))
            same = make_batch(make_record("same"), id="same")
            assert len({await store.commit(same), await other.commit(same)}) == 1
            for race in (
                [make_record("r0", hash="h"), make_record("r1", hash="h")],
                [make_move(0, 1), make_move(0, 1)],
                [make_item("lease", 0), make_item("lease", 1)],
            ):
                tries = (put(store, race[0]), put(other, race[1]))
                answers = await asyncio.gather(*tries, return_exceptions=True)
                assert [type(answer) for answer in answers].count(Conflict) == 1
        finally:
            await other.close()

    @clause
    async def test_X2_whoever_waits_is_woken_by_the_other(self, store: Store) -> None:
        """Long before its time is over."""
        if not store.capabilities.waits:
            raise SkipTest("this store does not wait")
        other = await second_handle(self, store)
        try:
            begun = time.monotonic()
            waiting = asyncio.create_task(other.journal(ROOT, wait=WAIT_SECONDS))
            await asyncio.sleep(0.05)
            assert not waiting.done()
            await put(store, make_record("a"))
            [entry] = await waiting
            assert entry.seq == 1
            assert time.monotonic() - begun < WAIT_SECONDS / 2
        finally:
            await other.close()

    @clause
    async def test_X2_one_handle_outlives_the_other(self, store: Store) -> None:
        """Closing one closes nothing of the other."""
        other = await second_handle(self, store)
        await put(other, make_record("a", "soup"))
        await other.close()
        assert await found_ids(store, text="soup") == ["a"]
        await put(store, make_record("b", "soup"))
        assert await found_ids(store, text="soup") == ["a", "b"]

    @clause
    async def test_X2_several_processes_lose_nothing(self, store: Store) -> None:
        """Each counts, talks and writes; this one sees all of it at once."""
        address = self.elsewhere(store)
        if address is None:
            assert not store.capabilities.processes, "say how another process opens the store"
            raise SkipTest("one process at a time may open this store")
        await put(store, make_record("counter", data={"n": 0}))
        assert await found_ids(store, text="process") == []
        work = asyncio.to_thread(run_elsewhere, *address, PROCESSES, ROUNDS)
        seen: list[int] = []
        elsewhere = asyncio.create_task(work)
        while not elsewhere.done():  # a reader who follows misses none
            after = seen[-1] if seen else 0
            seen += [entry.seq for entry in await store.journal(ROOT, after=after, wait=0.05)]
            await raise_counter(store, f"reader at {len(seen)}")
            await asyncio.sleep(0.05)
        await elsewhere
        total = PROCESSES * ROUNDS
        own = (await one_record(store, "counter")).data["n"] - total
        assert own >= 0
        assert len(await found_ids(store, text="process")) == total
        messages = await store.messages(CHAT, now=NOW, limit=1000)
        assert [message.seq for message in messages] == list(range(1, total + 1))
        seen += [e.seq for e in await store.journal(ROOT, after=seen[-1], limit=10_000)]
        assert seen == list(range(1, 2 * total + own + 2))

    @clause
    async def test_X2_a_commit_takes_two_round_trips(self, store: Store) -> None:
        """One that reads and one that writes, whatever is in the batch."""
        await put(store, make_record("old", hash="h"), make_message("m0"), make_item("k0"))
        read = await one_record(store, "old")
        for batch in (
            make_batch(make_item("k1")),
            make_batch(
                replace(read, importance=0.9),
                *(make_record(f"r{n}", hash=f"h{n}") for n in range(30)),
                *(make_message(f"m{n}") for n in range(1, 30)),
                make_move(0, 1),
                make_summary("s1", 1, 1),
                make_relation("r1", "r2"),
                Erase(kind="item", scope=ROOT, namespace="policy", id="k0"),
                vectors={"r1": unit(1, 2, 3)},
                space=SPACE,
                used=("old",),
                sweep=True,
            ),
            make_batch(Erase(kind="record", id="r1"), Erase(kind="session", scope=ROOT, id="chat")),
        ):
            before = self.trips(store)
            await store.commit(batch)
            assert self.trips(store) - before <= 2
        assert (await store.search(make_search(text="fact")))[0].record.id != "r1"
