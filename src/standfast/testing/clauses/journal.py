"""The journal: every commit of a root, in order, without gaps and without text."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import datetime

from standfast.errors import Invalid
from standfast.ports import Store
from standfast.testing.harness import Contract, clause, failure
from standfast.testing.values import (
    NOW,
    ROOT,
    make_item,
    make_message,
    make_move,
    make_record,
    make_relation,
    make_summary,
    moment,
    one_record,
    put,
    unit,
)
from standfast.types import Entry, Session, Touch


async def _last_touches(store: Store) -> list[Touch]:
    entries = await store.journal(ROOT, limit=1000)
    return list(entries[-1].touched)


class JournalClauses(Contract):
    @clause
    async def test_X4_entries_are_numbered_per_root(self, store: Store) -> None:
        """1, 2, 3 in each root, and commit says the number."""
        assert [await put(store, make_record(f"a{n}")) for n in range(3)] == [1, 2, 3]
        assert await put(store, make_record("b", scope="org:other")) == 1
        assert await put(store, make_record("a3", scope=f"{ROOT}:agent:cto")) == 4
        entries = await store.journal(ROOT)
        assert [(entry.root, entry.seq) for entry in entries] == [(ROOT, n) for n in (1, 2, 3, 4)]
        assert await store.journal("org:nobody") == []

    @clause
    async def test_X4_the_newest_entries_come_first_page_by_page(self, store: Store) -> None:
        """Backwards from the end: the last few, then those before them; each page in order."""
        for n in range(5):
            await put(store, make_record(f"a{n}"))
        await put(store, make_record("b", scope="org:other"))
        pages = []
        before = None
        while page := await store.journal(ROOT, before=before, newest=True, limit=2):
            pages.append([entry.seq for entry in page])
            before = page[0].seq
        assert pages == [[4, 5], [2, 3], [1]]
        between = await store.journal(ROOT, after=1, before=4, limit=9)
        assert [entry.seq for entry in between] == [2, 3]
        assert await store.journal(ROOT, before=1, newest=True) == []
        assert await store.journal(ROOT, newest=True, limit=0) == []

    @clause
    async def test_X4_entry_says_who_why_and_when(self, store: Store) -> None:
        """Time, batch, change, reason and actor come back as written."""
        at = moment(-7)
        await put(store, make_item("k"), id="b1", at=at, reason="extract é", actor="worker/1")
        await put(store, make_item("l"), id="b2", change="run-9")
        [first, second] = [replace(e, touched=()) for e in await store.journal(ROOT)]
        assert first == Entry(
            root=ROOT,
            seq=1,
            at=at,
            batch="b1",
            change="b1",
            reason="extract é",
            actor="worker/1",
        )
        assert (second.batch, second.change) == ("b2", "run-9")

    @clause
    async def test_X4_journal_is_read_in_pages(self, store: Store) -> None:
        """Behind a number, at most so many."""
        for n in range(7):
            await put(store, make_item(f"k{n}"))

        async def seqs(after: int = 0, limit: int = 100) -> list[int]:
            return [e.seq for e in await store.journal(ROOT, after=after, limit=limit)]

        assert await seqs(limit=3) == [1, 2, 3]
        assert await seqs(after=3, limit=3) == [4, 5, 6]
        assert await seqs(after=7) == []

    @clause
    async def test_X4_change_groups_commits(self, store: Store) -> None:
        """All commits of one run, also when their root is not known."""
        await put(store, make_item("a"), change="run")
        await put(store, make_item("b"))
        await put(store, make_item("c"), change="run")
        await put(store, make_item("d", scope="org:other"), change="run")
        assert [e.seq for e in await store.journal(ROOT, change="run")] == [1, 3]
        assert [e.seq for e in await store.journal(ROOT, change="run", after=1)] == [3]
        everywhere = await store.journal(None, change="run")
        assert sorted((e.root, e.seq) for e in everywhere) == [
            (ROOT, 1),
            (ROOT, 3),
            ("org:other", 1),
        ]
        assert await store.journal(ROOT, change="nobody") == []

    @clause
    async def test_X4_history_of_one_record(self, store: Store) -> None:
        """``touching`` finds the commits that wrote an id, and no other id that looks alike."""
        await put(store, make_record("a"), make_record("ab"))
        await put(store, make_record("b"))
        await put(store, replace(await one_record(store, "a"), importance=0.9))
        assert [e.seq for e in await store.journal(ROOT, touching="a")] == [1, 3]
        assert [e.seq for e in await store.journal(None, touching="a")] == [1, 3]
        assert [e.seq for e in await store.journal(ROOT, touching="b")] == [2]
        assert await store.journal("org:other", touching="a") == []

    @clause
    async def test_A10_whole_journal_needs_a_root(self, store: Store) -> None:
        """Nobody reads the journals of all roots at once."""
        await failure(store.journal(None), Invalid)

    @clause
    async def test_X4_touches_name_everything(self, store: Store) -> None:
        """Each thing a commit wrote is named once, under the id it is known by."""
        await put(
            store,
            Session(scope=ROOT, id="chat"),
            make_message("m1"),
            make_move(0, 1),
            make_summary("s1", 1, 1),
            make_record("a"),
            make_record("b", scope=f"{ROOT}:agent:cto"),
            make_relation("a", "b"),
            make_item("k"),
            vectors={"a": unit(1, 0)},
            space="s",
        )
        touched = [(t.kind, t.id, t.scope) for t in await _last_touches(store)]
        assert sorted(touched) == [
            ("cursor", "chat/fold", ROOT),
            ("item", "policy/k", ROOT),
            ("message", "m1", ROOT),
            ("record", "a", ROOT),
            ("record", "b", f"{ROOT}:agent:cto"),
            ("relation", "a supports b", ROOT),
            ("session", "chat", ROOT),
            ("summary", "s1", ROOT),
            ("vector", "a", ROOT),
        ]

    @clause
    async def test_X4_created_record_in_the_journal(self, store: Store) -> None:
        """Nothing before; version, status and type after."""
        await put(store, make_record("a", type_="preference", status="disputed"))
        [touch] = await _last_touches(store)
        assert touch.before is None
        assert touch.after == {"version": 1, "status": "disputed", "type": "preference"}

    @clause
    async def test_X4_update_can_be_undone_from_the_journal(self, store: Store) -> None:
        """The fields that changed, before and after, as plain JSON; nothing that did not."""
        await put(store, make_record("a", tags=("x",), data={"n": 1}, valid_to=moment(5)))
        old = await one_record(store, "a")
        new = replace(
            old,
            status="superseded",
            retired_at=moment(1),
            valid_to=None,
            tags=("y", "z"),
            data={"n": 2},
            importance=0.75,
        )
        await put(store, new)
        [touch] = await _last_touches(store)
        assert touch.before is not None
        assert touch.after is not None
        before, after = dict(touch.before), dict(touch.after)
        assert datetime.fromisoformat(before.pop("valid_to")) == moment(5)
        assert datetime.fromisoformat(after.pop("retired_at")) == moment(1)
        assert before == {
            "version": 1,
            "status": "active",
            "retired_at": None,
            "tags": ["x"],
            "data": {"n": 1},
            "importance": 0.5,
        }
        assert after == {
            "version": 2,
            "status": "superseded",
            "valid_to": None,
            "tags": ["y", "z"],
            "data": {"n": 2},
            "importance": 0.75,
        }
        assert json.loads(json.dumps(before)) == before

    @clause
    async def test_X4_relation_and_item_can_be_undone(self, store: Store) -> None:
        """What a relation and an item were before is in the journal."""
        await put(
            store, make_record("a"), make_record("b"), make_relation("a", "b"), make_item("k")
        )
        await put(
            store,
            make_relation("a", "b", version=1, retired_at=moment(1)),
            make_item("k", {"n": 2}, version=1),
        )
        touched = {touch.kind: touch for touch in await _last_touches(store)}
        assert (touched["relation"].before or {})["retired_at"] is None
        assert (touched["item"].before or {})["value"] == 1
        assert (touched["item"].after or {})["value"] == {"n": 2}

    @clause
    async def test_X10_journal_never_holds_text(self, store: Store) -> None:
        """Neither a record's nor a message's nor a summary's."""
        await put(store, make_record("a", "topsecret"), make_message("m1", "topsecret"))
        await put(store, make_summary("s1", 1, 1, text="topsecret"))
        await put(store, replace(await one_record(store, "a"), status="archived"))
        assert "topsecret" not in str(await store.journal(ROOT))

    @clause
    async def test_counters_and_sweep_take_no_number(self, store: Store) -> None:
        """They answer with the last number there is, 0 in a new root."""
        assert await put(store, used=("nobody",)) == 0
        assert await put(store, sweep=True) == 0
        await put(store, make_record("a"))
        assert await put(store, used=("a",), sweep=True) == 1
        assert await put(store, make_record("b")) == 2
        assert len(await store.journal(ROOT)) == 2

    @clause
    async def test_waiting_is_woken_by_a_commit(self, store: Store) -> None:
        """A waiting reader gets the entry soon after it was written."""
        waiting = asyncio.create_task(store.journal(ROOT, wait=20.0))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        await put(store, make_item("k"))
        [entry] = await asyncio.wait_for(waiting, 10)
        assert entry.seq == 1

    @clause
    async def test_waiting_minds_the_filters(self, store: Store) -> None:
        """A commit of another change or root does not end the wait."""
        waiting = asyncio.create_task(store.journal(ROOT, after=1, change="mine", wait=20.0))
        await put(store, make_item("k"), change="mine")
        await put(store, make_item("l"), change="other")
        await put(store, make_item("k", scope="org:other"), change="mine")
        await asyncio.sleep(0.05)
        assert not waiting.done()
        await put(store, make_item("m"), change="mine")
        [entry] = await asyncio.wait_for(waiting, 10)
        assert entry.seq == 3

    @clause
    async def test_waiting_ends_by_itself(self, store: Store) -> None:
        """Nothing new: an empty answer after the wait; something old: at once."""
        assert await asyncio.wait_for(store.journal(ROOT, wait=0.05), 10) == []
        await put(store, make_item("k"))
        [entry] = await asyncio.wait_for(store.journal(ROOT, wait=60.0), 10)
        assert entry.at == NOW

    @clause
    async def test_entries_are_pruned_one_by_one(self, store: Store) -> None:
        """Those that are named, of one root; numbers go on as if nothing had happened."""
        for n in range(4):
            await put(store, make_record(f"a{n}"), id=f"batch {n}", change="all")
        await put(store, make_record("b", scope="org:other"))
        assert await put(store, root=ROOT, prune=(1, 3, 99)) == 4
        assert [entry.seq for entry in await store.journal(ROOT)] == [2, 4]
        assert [entry.seq for entry in await store.journal(ROOT, change="all")] == [2, 4]
        assert await store.journal(ROOT, touching="a0") == []
        assert len(await store.journal("org:other")) == 1
        assert await put(store, make_record("a4")) == 5
        assert await put(store, make_item("k"), id="batch 1") == 2, "what is left is known"
        assert len(await store.records(ROOT, [f"a{n}" for n in range(5)], now=NOW)) == 5

    @clause
    async def test_the_last_entry_is_never_pruned(self, store: Store) -> None:
        """So that a journal ends where its number says."""
        for n in range(3):
            await put(store, make_record(f"a{n}"))
        await put(store, root=ROOT, prune=(1, 2, 3))
        await put(store, root="org:nobody", prune=(1,))
        assert [entry.seq for entry in await store.journal(ROOT)] == [3]
        assert await store.roots() == [ROOT]
