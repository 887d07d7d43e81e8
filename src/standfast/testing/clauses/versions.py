"""Compare-and-set, idempotency, and one live text per scope."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from standfast.errors import Conflict, Invalid
from standfast.ports import Store
from standfast.testing.harness import Contract, clause, refusal
from standfast.testing.snapshots import snapshot
from standfast.testing.values import (
    NOW,
    ROOT,
    found_ids,
    make_batch,
    make_item,
    make_message,
    make_record,
    make_relation,
    moment,
    one_record,
    put,
)


class VersionClauses(Contract):
    """Compare-and-set, idempotency and the fields that never change."""

    @clause
    async def test_versions_count_up(self, store: Store) -> None:
        """A write of version n is stored as n + 1."""
        await put(store, make_record("a"))
        for version in (1, 2, 3):
            await put(store, replace(await one_record(store, "a"), importance=version / 10))
            record = await one_record(store, "a")
            assert (record.version, record.importance) == (version + 1, version / 10)

    @clause
    async def test_stale_record_is_a_conflict(self, store: Store) -> None:
        """The second writer with the same version is told which record it was."""
        await put(store, make_record("a"))
        read = await one_record(store, "a")
        await put(store, replace(read, importance=0.9))
        error = await refusal(store, make_batch(replace(read, importance=0.1)), Conflict)
        assert (error.kind, error.ids) == ("record", ("a",))
        assert (await one_record(store, "a")).importance == 0.9

    @clause
    async def test_existing_id_cannot_be_created_again(self, store: Store) -> None:
        """Version 0 means create."""
        await put(store, make_record("a"))
        error = await refusal(store, make_batch(make_record("a", "other")), Conflict)
        assert (error.kind, error.ids) == ("record", ("a",))

    @clause
    async def test_A10_id_of_another_root_is_taken_too(self, store: Store) -> None:
        """Ids are unique in the store; another root's record cannot be written."""
        await put(store, make_record("a", scope="org:other"))
        for version in (0, 1):
            stolen = replace(make_record("a"), version=version)
            error = await refusal(store, make_batch(stolen), Conflict)
            assert error.kind == "record"
        assert (await one_record(store, "a")).scope == "org:other"

    @clause
    async def test_immutable_fields_are_refused(self, store: Store) -> None:
        """Text, scope, kind, hash and what a record was made from never change."""
        await put(store, make_record("a"))
        read = await one_record(store, "a")
        changes: dict[str, Any] = {
            "scope": f"{ROOT}:agent:cto",
            "kind": "episodic",
            "text": "other",
            "hash": "other",
            "lineage": ("m1",),
            "derived_from": ("b",),
            "session": "other",
            "session_scope": f"{ROOT}:agent:cto",
            "origin": "other",
            "author": "other",
            "learned_at": moment(1),
        }
        for name, value in changes.items():
            await refusal(store, make_batch(replace(read, **{name: value})), Invalid)
        assert await one_record(store, "a") == read

    @clause
    async def test_everything_else_of_a_record_may_change(self, store: Store) -> None:
        """Status, times, tags, data and weights are updated together."""
        await put(store, make_record("a"))
        changed = replace(
            await one_record(store, "a"),
            type="preference",
            data={"a": 1},
            tags=("x",),
            importance=0.25,
            confidence=0.5,
            durability="ephemeral",
            status="superseded",
            source="tool",
            trust=1,
            valid_from=moment(-5),
            valid_to=moment(5),
            retired_at=moment(1),
            expires_at=moment(60),
            review_at=moment(30),
        )
        await put(store, changed)
        assert await one_record(store, "a") == replace(changed, version=2)

    @clause
    async def test_item_versions(self, store: Store) -> None:
        """Items are compared and set like records."""
        await put(store, make_item("k", 1))
        error = await refusal(store, make_batch(make_item("k", 2)), Conflict)
        assert error.kind == "item"
        await put(store, make_item("k", 2, version=1))
        await refusal(store, make_batch(make_item("k", 3, version=1)), Conflict)
        await refusal(store, make_batch(make_item("nobody", 3, version=1)), Conflict)
        [item] = await store.items(ROOT, "policy", now=NOW)
        assert (item.value, item.version) == (2, 2)

    @clause
    async def test_relation_versions(self, store: Store) -> None:
        """A relation is keyed by its ends and its kind, and compared and set."""
        await put(store, make_record("a"), make_record("b"), make_relation("a", "b"))
        error = await refusal(store, make_batch(make_relation("a", "b")), Conflict)
        assert error.kind == "relation"
        await put(store, make_relation("a", "b", version=1, retired_at=moment(1)))
        await put(store, make_relation("a", "b", kind="part_of"), make_relation("b", "a"))
        edges = await store.relations(ROOT, ["b", "a"])
        assert sorted((edge.source, edge.kind, edge.version) for edge in edges) == [
            ("a", "part_of", 1),
            ("a", "supports", 2),
            ("b", "supports", 1),
        ]

    @clause
    async def test_relations_of_one_record(self, store: Store) -> None:
        """Edges are found from either end, each once, those of others are not."""
        await put(store, *(make_record(id_) for id_ in "abc"))
        await put(store, make_relation("a", "b"), make_relation("b", "c"))
        touching_a = await store.relations(ROOT, ["a"])
        assert [(edge.source, edge.target) for edge in touching_a] == [("a", "b")]
        assert len(await store.relations(ROOT, ["b"])) == 2
        assert await store.relations("org:other", ["a", "b"]) == []
        assert await store.relations(ROOT, []) == []

    @clause
    async def test_X2_same_batch_id_is_applied_once(self, store: Store) -> None:
        """Committing again after an unknown outcome changes nothing and says the number."""
        await put(store, make_record("first"))
        batch = make_batch(make_record("a"), make_message("m1"), make_item("k"), used=("first",))
        assert await store.commit(batch) == 2
        await put(store, make_record("later"))
        before = await snapshot(store)
        assert await store.commit(batch) == 2
        assert await snapshot(store) == before

    @clause
    async def test_batch_id_is_known_per_root(self, store: Store) -> None:
        """The same batch id in another root is another batch."""
        await put(store, make_record("a"), id="same")
        await put(store, make_record("b", scope="org:other"), id="same")
        assert (await one_record(store, "b")).scope == "org:other"

    @clause
    async def test_failed_batch_id_may_be_used_again(self, store: Store) -> None:
        """A refused batch leaves no trace of its id."""
        await put(store, make_record("a"))
        await refusal(store, make_batch(make_record("a"), id="retry"), Conflict)
        assert await put(store, make_record("b"), id="retry") == 2
        assert (await one_record(store, "b")).version == 1

    @clause
    async def test_L2_equal_text_lives_once_in_a_scope(self, store: Store) -> None:
        """The hash is unique among the live records of a scope, not across scopes."""
        await put(store, make_record("a", hash="h"))
        error = await refusal(store, make_batch(make_record("b", hash="h")), Conflict)
        assert (error.kind, error.ids) == ("hash", ("a",))
        await put(store, make_record("c", hash="h", scope=f"{ROOT}:agent:cto"))
        await put(store, make_record("d", hash="h", scope="org:other"))
        await put(store, make_record("e", hash="other"))

    @clause
    async def test_L2_one_batch_retires_a_text_and_says_it_again(self, store: Store) -> None:
        """What makes room for a text counts before what needs the room, new or brought back."""
        await put(store, make_record("b", "tea", hash="h"))
        gone: dict[str, Any] = {"status": "superseded", "retired_at": NOW}
        old = await one_record(store, "b")
        await put(store, replace(old, **gone), make_record("a", "tea", hash="h"))
        assert await found_ids(store) == ["a"]
        new, old = await one_record(store, "a"), await one_record(store, "b")
        back = replace(old, status="active", retired_at=None)
        await put(
            store, replace(old, importance=0.9), replace(new, **gone), replace(back, version=3)
        )
        assert await found_ids(store) == ["b"]
        assert await found_ids(store, statuses=("superseded",)) == ["a"]

    @clause
    async def test_L2_berlin_hamburg_berlin_are_three_facts(self, store: Store) -> None:
        """Superseded and archived texts may be written again."""
        await put(store, make_record("1", "lives in Berlin", hash="berlin"))
        gone: dict[str, Any] = {"status": "superseded", "retired_at": NOW}
        await put(
            store,
            replace(await one_record(store, "1"), **gone),
            make_record("2", "lives in Hamburg", hash="hamburg"),
        )
        await put(
            store,
            replace(await one_record(store, "2"), **gone),
            make_record("3", "lives in Berlin", hash="berlin"),
        )
        assert await found_ids(store) == ["3"]
        assert await found_ids(store, statuses=("superseded",)) == ["1", "2"]
        back = replace(await one_record(store, "1"), status="active")
        error = await refusal(store, make_batch(back), Conflict)
        assert (error.kind, error.ids) == ("hash", ("3",))

    @clause
    async def test_L2_hash_counts_for_every_live_status(self, store: Store) -> None:
        """Disputed and quarantined records are live; an empty hash never collides."""
        await put(store, make_record("a", hash="h1", status="disputed"))
        await put(store, make_record("b", hash="h2", status="quarantined"))
        await put(store, make_record("c", hash="h3", status="archived"))
        for hash_ in ("h1", "h2"):
            error = await refusal(store, make_batch(make_record("x", hash=hash_)), Conflict)
            assert error.kind == "hash"
        await put(store, make_record("x", hash="h3"))
        await put(store, make_record("turn1", hash=""), make_record("turn2", hash=""))

    @clause
    async def test_L2_equal_texts_in_one_batch_collide(self, store: Store) -> None:
        """A batch cannot bring its own duplicate."""
        twins = make_batch(make_record("a", hash="h"), make_record("b", hash="h"))
        error = await refusal(store, twins, Conflict)
        assert (error.kind, error.ids) == ("hash", ("a",))
        assert await found_ids(store) == []

    @clause
    async def test_updating_a_record_does_not_collide_with_itself(self, store: Store) -> None:
        """A record's own hash is no duplicate."""
        await put(store, make_record("a", hash="h"))
        await put(store, replace(await one_record(store, "a"), importance=0.9))
        assert (await one_record(store, "a")).version == 2

    @clause
    async def test_L5_two_scopes_of_a_root_in_one_batch(self, store: Store) -> None:
        """The organisation and its agent are written in one commit."""
        agent = f"{ROOT}:agent:cto"
        await put(
            store,
            make_record("org", origin="o", hash="h"),
            make_record("agent", scope=agent, origin="o", hash="h"),
        )
        assert await found_ids(store, agent, order="id", origins=("o",)) == ["agent", "org"]
