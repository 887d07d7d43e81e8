"""What is due, what was used, and what is left when a store is closed."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import replace
from unittest import SkipTest

from standfast.errors import Unavailable
from standfast.ports import Store
from standfast.testing.harness import Contract, clause, failure
from standfast.testing.snapshots import snapshot
from standfast.testing.values import (
    CHAT,
    EVERY_STATUS,
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
    scores_of,
    unit,
)
from standfast.types import Erase, Session, Work


async def _due(store: Store, now_minutes: float = 0, space: str = "") -> list[Work]:
    work = await store.due(moment(now_minutes), space=space, limit=1000)
    return sorted(work, key=lambda one: (one.kind, one.scope, one.id, one.detail))


class UpkeepClauses(Contract):
    @clause
    async def test_O1_records_without_vector_are_due(self, store: Store) -> None:
        """Those without a vector in the asked space, in every root, retired ones included."""
        agent = f"{ROOT}:agent:cto"
        await put(
            store,
            make_record("has"),
            make_record("lacks", scope=agent),
            *(make_record(status, status=status) for status in EVERY_STATUS),
            make_record("expiring", expires_at=moment(1)),
            vectors={"has": unit(1, 0, 0)},
            space=SPACE,
        )
        await put(store, make_record("other", scope="user:ann"))
        due = await store.due(moment(1), space=SPACE, limit=1000)
        embed = {(work.root, work.scope, work.id) for work in due if work.kind == "embed"}
        assert embed == {
            (ROOT, agent, "lacks"),
            *((ROOT, ROOT, status) for status in EVERY_STATUS),
            ("user:ann", "user:ann", "other"),
        }
        assert len([w for w in await _due(store, space="new/3") if w.kind == "embed"]) == 9
        assert await _due(store) == []

    @clause
    async def test_due_work_can_be_asked_for_by_kind(self, store: Store) -> None:
        """So that much of one kind never hides the other."""
        await put(store, *(make_record(f"r{n}", expires_at=moment(1)) for n in range(5)))
        await put(store, make_record("lacks"))
        now = moment(2)
        assert [w.kind for w in await store.due(now, space=SPACE, limit=3)] == ["expire"] * 3
        [embed] = await store.due(now, kinds=["embed"], space=SPACE, limit=3)
        assert embed.id == "lacks"
        assert await store.due(now, kinds=["review"], space=SPACE) == []

    @clause
    async def test_A10_due_work_of_one_root_is_not_hidden_by_that_of_others(
        self, store: Store
    ) -> None:
        """Of each kind; and who asks for a part of it hides the rest from nobody."""
        roots = ("user:ann", ROOT, "user:zoe")
        for root in roots:
            records = [make_record(f"{root} {n}", scope=root, expires_at=moment(1)) for n in (1, 2)]
            await put(store, *records, make_record(f"{root} lacks", scope=root))
            await put(store, make_record(f"{root} old", scope=root, review_at=moment(1)))
            await put(store, Session(scope=root, id="chat", cursors={"fold": 0}))
            await put(store, make_message("m", scope=root, expires_at=moment(1)))
            await put(store, make_item("k", scope=root, expires_at=moment(1)))
        everything = await store.due(moment(1), space=SPACE, limit=1000)
        for root in roots:
            own = {work for work in everything if work.root == root}
            assert len({work.kind for work in own}) == 4
            assert {*await store.due(moment(1), root=root, space=SPACE, limit=len(own))} == own
            expired = {work for work in own if work.kind == "expire"}
            assert {*await store.due(moment(1), root=root, kinds=["expire"], limit=4)} == expired
            await put(store, sweep=True, at=moment(1), root=root)
            assert await store.due(moment(1), root=root, kinds=["expire"]) == []
        assert await store.due(moment(1), root="user:nobody", space=SPACE) == []
        left = {work for work in everything if work.kind != "expire"}
        assert {*await store.due(moment(1), space=SPACE, limit=1000)} == left

    @clause
    async def test_X13_a_space_is_dropped_in_one_root_only(self, store: Store) -> None:
        """Its vectors are gone at once, those of other spaces and roots stay."""
        for scope in (ROOT, "user:ann"):
            record = make_record(f"in {scope}", scope=scope)
            await put(store, record, vectors={record.id: unit(1, 0, 0)}, space=SPACE)
        await put(store, vectors={f"in {ROOT}": unit(0, 1, 0)}, space="new/3")
        head = len(await store.journal(ROOT))
        await put(store, drop_space=SPACE)
        assert len(await store.journal(ROOT)) == head
        query = make_search(vector=unit(1, 0, 0), space=SPACE)
        assert await store.search(query) == []
        assert len(await store.search(replace(query, space="new/3"))) == 1
        elsewhere = replace(query.where, scopes=("user:ann",))
        assert len(await store.search(replace(query, where=elsewhere))) == 1
        assert [w.id for w in await store.due(NOW, kinds=["embed"], space=SPACE)] == [f"in {ROOT}"]

    @clause
    async def test_X13_a_space_takes_the_place_of_another_record_by_record(
        self, store: Store
    ) -> None:
        """While vectors of a new space come, those of the old one answer; a record that has only
        a new one is due in the old space, and no record is due where it has its vector."""
        ids = [f"r{n}" for n in range(5)]
        records = [make_record(id_) for id_ in ids]
        await put(store, *records, vectors=dict.fromkeys(ids, unit(1, 0, 0)), space=SPACE)
        await put(store, make_record("fresh"), vectors={"fresh": unit(0, 1)}, space="new/2")
        old = {"vector": unit(1, 0, 0), "space": SPACE}
        new = {"vector": unit(0, 1), "space": "new/2"}
        for id_ in ids:
            assert sorted(await found_ids(store, **old)) == ids
            left = [w.id for w in await store.due(NOW, kinds=["embed"], space="new/2")]
            assert sorted(left) == ids[ids.index(id_) :]
            await put(store, root=ROOT, vectors={id_: unit(0, 1)}, space="new/2")
        assert await store.due(NOW, kinds=["embed"], space="new/2", limit=1) == []
        assert [w.id for w in await store.due(NOW, kinds=["embed"], space=SPACE)] == ["fresh"]
        await put(store, drop_space=SPACE)
        await put(store, drop_space=SPACE)  # again, after a crash
        assert sorted(await found_ids(store, **new)) == ["fresh", *ids]
        assert len(await store.due(NOW, kinds=["embed"], space=SPACE)) == 6

    @clause
    async def test_A10_expired_rows_are_due(self, store: Store) -> None:
        """Records, messages and items past their expiry, until they are swept."""
        soon = moment(1)
        await put(store, make_record("r", expires_at=soon), make_record("s", expires_at=moment(2)))
        await put(store, make_message("m", expires_at=soon), make_item("k", expires_at=soon))
        assert await _due(store, 0.9) == []
        due = await _due(store, 1)
        assert [work.kind for work in due] == ["expire"] * 3
        assert {work.id for work in due} >= {"r", "m"}
        await put(store, sweep=True, at=soon)
        assert await _due(store, 1) == []
        assert [work.id for work in await _due(store, 2)] == ["s"]

    @clause
    async def test_records_past_their_review_are_due(self, store: Store) -> None:
        """Live ones only, and no longer once the date is moved."""
        await put(
            store,
            make_record("a", review_at=moment(1)),
            make_record("done", review_at=moment(1), status="archived"),
            make_record("gone", review_at=moment(1), expires_at=moment(0.5)),
        )
        assert await _due(store, 0.4) == []
        due = [work for work in await _due(store, 1) if work.kind == "review"]
        assert due == [Work(kind="review", root=ROOT, scope=ROOT, id="a")]
        await put(store, replace(await one_record(store, "a"), review_at=moment(9)))
        assert [work for work in await _due(store, 1) if work.kind == "review"] == []

    @clause
    async def test_lagging_readers_are_due(self, store: Store) -> None:
        """One for each reader that is behind, none for those at the end."""
        session = Session(scope=ROOT, id="chat", cursors={"fold": 0, "extract": 0})
        await put(store, session)
        assert await _due(store) == []
        await put(store, make_message("m1"), make_message("m2"))
        lag = Work(kind="fold", root=ROOT, scope=ROOT, id="chat", detail="extract")
        assert await _due(store) == [lag, replace(lag, detail="fold")]
        await put(store, make_move(0, 2), make_move(0, 1, "extract"))
        assert await _due(store) == [lag]
        await put(store, make_move(1, 2, "extract"))
        assert await _due(store) == []

    @clause
    async def test_one_reader_is_asked_for(self, store: Store) -> None:
        """However many sessions another one lags behind in, and whatever else is due."""
        for number in range(12):
            await put(store, Session(scope=ROOT, id=f"s{number:02}", cursors={"fold": 0}))
            await put(store, make_message("m1", session=f"s{number:02}"))
        await put(store, Session(scope=ROOT, id="z", cursors={"fold": 0, "extract": 0}))
        await put(store, Session(scope="user:bob", id="z", cursors={"extract": 0}))
        await put(store, make_message("m1", session="z"), make_record("a", review_at=NOW))
        await put(store, make_message("m1", session="z", scope="user:bob"))
        lag = Work(kind="fold", root=ROOT, scope=ROOT, id="z", detail="extract")
        other = replace(lag, root="user:bob", scope="user:bob")
        assert await store.due(NOW, root=ROOT, reader="extract", limit=2) == [lag]
        assert {*await store.due(NOW, reader="extract", limit=5)} == {lag, other}
        assert len(await store.due(NOW, root=ROOT, reader="fold", limit=5)) == 5
        assert await store.due(NOW, root=ROOT, reader="nobody") == []

    @clause
    async def test_due_is_limited(self, store: Store) -> None:
        """At most so many; each once."""
        await put(store, *(make_record(f"r{n}") for n in range(9)))
        due = await store.due(NOW, space=SPACE, limit=4)
        assert len({work.id for work in due}) == len(due) == 4

    @clause
    async def test_M7_uses_are_counted(self, store: Store) -> None:
        """Each mention counts; no version, no journal entry, unknown ids ignored."""
        await put(store, make_record("a", uses=2), make_record("b"))
        await put(store, used=("a", "nobody", "a", "b"), at=moment(3))
        [a, b] = await store.records(ROOT, ["a", "b"], now=NOW)
        assert (a.uses, a.used_at, a.version) == (4, moment(3), 1)
        assert (b.uses, b.used_at, b.version) == (1, moment(3), 1)
        await put(store, used=("a",), at=moment(4))
        [hit] = await store.search(make_search(text="a", limit=1))
        assert (hit.record.uses, hit.record.used_at) == (5, moment(4))

    @clause
    async def test_M7_an_update_does_not_lose_uses(self, store: Store) -> None:
        """Counters move past the version, so a writer cannot set them back."""
        await put(store, make_record("a"))
        read = await one_record(store, "a")
        await put(store, used=("a",), at=moment(1))
        await put(store, replace(read, importance=0.9))
        record = await one_record(store, "a")
        assert (record.uses, record.used_at, record.importance) == (1, moment(1), 0.9)

    @clause
    async def test_roots_hold_what_was_written(self, store: Store) -> None:
        """A new store has none; a session, an item or a record makes one."""
        assert await store.roots() == []
        await put(store, make_message("m", scope="user:a"))
        await put(store, make_item("k", scope="user:b"))
        await put(store, make_record("r", scope="user:c:agent:x"))
        assert await store.roots() == ["user:a", "user:b", "user:c"]

    @clause
    async def test_closed_store_is_unavailable(self, store: Store) -> None:
        """Every call after close says so instead of answering emptily."""
        await put(store, make_record("a"))
        await store.close()
        calls: list[Awaitable[object]] = [
            store.commit(make_batch(make_record("b"))),
            store.records(ROOT, ["a"], now=NOW),
            store.search(make_search(text="a")),
            store.relations(ROOT, ["a"]),
            store.sessions(ROOT),
            store.messages(CHAT, now=NOW),
            store.summaries(CHAT),
            store.items(ROOT, "policy", now=NOW),
            store.journal(ROOT),
            store.due(NOW),
            store.roots(),
            store.scrub(),
        ]
        for call in calls:
            await failure(call, Unavailable)

    @clause
    async def test_X2_everything_is_there_after_reopening(self, store: Store) -> None:
        """A durable store gives back all of it, scores included, and goes on counting."""
        await put(
            store,
            make_record("a", "apple pie", data={"n": [1]}, hash="h"),
            make_record("b", "blue sky"),
            make_record("x", "erased"),
            make_relation("a", "b"),
            make_message("m1"),
            make_move(0, 1),
            make_summary("s1", 1, 1),
            make_item("k", {"v": None}),
            vectors={"a": unit(1, 2, 3)},
            space=SPACE,
            id="first",
        )
        await put(store, Erase(kind="record", id="x"), used=("a",))
        query = make_search(text="apple sky", vector=unit(3, 2, 1), space=SPACE)
        seen, scores = await snapshot(store, space=SPACE), await scores_of(store, query)
        await store.close()
        again = await self.reopen(store)
        if again is None:
            raise SkipTest("this store does not outlive its process")
        try:
            assert await snapshot(again, space=SPACE) == seen
            assert await scores_of(again, query) == scores
            assert await put(again, make_record("other"), id="first") == 1
            assert await put(again, make_message("m2")) == 3
            assert [m.seq for m in await again.messages(CHAT, now=NOW)] == [1, 2]
            assert await found_ids(again, text="erased") == []
        finally:
            await again.close()
