"""A row that is not as it was written is no answer."""

from __future__ import annotations

from dataclasses import replace
from unittest import SkipTest

from standfast.errors import Unavailable
from standfast.ports import Store, leaving_out
from standfast.testing.harness import Contract, clause, failure
from standfast.testing.values import (
    CHAT,
    NOW,
    ROOT,
    make_message,
    make_record,
    make_search,
    put,
)
from standfast.types import Erase, Item, Relation, Session, Summary

TRUE, FALSE = "the door code is on the fridge", "the door code is on the ground"


class TruthClauses(Contract):
    @clause
    async def test_X1_a_changed_record_is_no_answer_and_is_named(self, store: Store) -> None:
        await put(store, make_record("true", TRUE), make_record("other", "the door is green"))
        await _damaged(self, store)
        said = await failure(store.records(ROOT, ["true"], now=NOW), Unavailable)
        assert "record true is not as it was written" in str(said)
        assert said.lasting
        [other] = await store.records(ROOT, ["other"], now=NOW)
        assert other.text == "the door is green"

    @clause
    async def test_X1_a_search_leaves_a_changed_record_out_and_says_so(self, store: Store) -> None:
        await put(store, make_record("true", TRUE), make_record("other", "the door is green"))
        await _damaged(self, store)
        with leaving_out() as left_out:
            hits = await store.search(make_search(ROOT, text="door code"))
        assert [hit.record.id for hit in hits] == ["other"]
        assert {*left_out} == {"true"}

    @clause
    async def test_X1_a_changed_message_is_no_answer_and_is_named(self, store: Store) -> None:
        await put(store, Session(scope=ROOT, id="chat"), make_message("said", TRUE))
        await _damaged(self, store)
        said = await failure(store.messages(CHAT, now=NOW), Unavailable)
        assert "message said is not as it was written" in str(said)

    @clause
    async def test_X1_every_other_kind_of_row_is_checked_too(self, store: Store) -> None:
        await _filled(store)
        await _damaged(self, store)
        for asked, name in (
            (store.sessions(ROOT, [CHAT]), "session chat"),
            (store.sessions(ROOT), "session chat"),
            (store.summaries(CHAT), "summary sum"),
            (store.relations(ROOT, ["one"]), "relation one"),
            (store.items(ROOT, "list", now=NOW), "item "),
        ):
            said = await failure(asked, Unavailable)
            assert f"{name}" in str(said)
            assert "is not as it was written" in str(said)
            assert said.lasting

    @clause
    async def test_X1_who_leaves_out_what_is_changed_is_told(self, store: Store) -> None:
        await _filled(store)
        await _damaged(self, store)
        with leaving_out() as left_out:
            assert await store.sessions(ROOT, [CHAT]) == []
            assert await store.summaries(CHAT) == []
            assert await store.relations(ROOT, ["one"]) == []
            # A rule that is left out would be another rule, a page that is short the last one.
            await failure(store.items(ROOT, "list", now=NOW), Unavailable)
            await failure(store.sessions(ROOT), Unavailable)
        assert [name.split()[0] for name in left_out] == ["session", "summary", "relation"]

    @clause
    async def test_X1_what_was_changed_is_not_sealed_again_by_changing_it(
        self, store: Store
    ) -> None:
        await _filled(store)
        await put(store, make_record("true", TRUE))
        [session] = await store.sessions(ROOT, [CHAT])
        [item] = await store.items(ROOT, "list", now=NOW)
        [edge] = await store.relations(ROOT, ["one"])
        [record] = await store.records(ROOT, ["true"], now=NOW)
        await _damaged(self, store)
        for thing in (
            replace(session, channel="other"),
            replace(item, value="other"),
            replace(edge, retired_at=NOW),
            replace(record, trust=1),
        ):
            said = await failure(put(store, thing), Unavailable)
            assert "is not as it was written" in str(said)
        said = await failure(put(store, make_message("more", "more")), Unavailable)
        assert "session chat" in str(said)

    @clause
    async def test_X1_every_kind_of_changed_row_can_be_erased(self, store: Store) -> None:
        await _filled(store)
        await _damaged(self, store)
        await put(
            store,
            Erase(kind="session", id="chat", scope=ROOT),
            Erase(kind="item", id="key", namespace="list", scope=ROOT),
            Erase(kind="record", id="one", scope=ROOT),
        )
        assert await store.sessions(ROOT) == []
        assert await store.summaries(CHAT) == []
        assert await store.items(ROOT, "list", now=NOW) == []
        assert await store.relations(ROOT, ["two"]) == []

    @clause
    async def test_X1_a_changed_record_can_be_erased(self, store: Store) -> None:
        await put(store, make_record("true", TRUE))
        await _damaged(self, store)
        await put(store, Erase(kind="record", id="true", scope=ROOT))
        assert await store.records(ROOT, ["true"], now=NOW) == []


async def _filled(store: Store) -> None:
    """A session, a summary, a relation and an item, each of which holds the text."""
    await put(
        store,
        Session(scope=ROOT, id="chat", state={"said": TRUE}),
        make_message("m", "something"),
        Summary(
            id="sum", scope=ROOT, session="chat", from_seq=1, to_seq=1, text=TRUE, how="extract",
            learned_at=NOW,
        ),
        make_record("one", "the first"),
        make_record("two", "the second"),
        Relation(
            scope=ROOT, source="one", target="two", kind="supports", learned_at=NOW,
            lineage=(TRUE,),
        ),
        Item(scope=ROOT, namespace="list", key="key", value=TRUE),
    )  # fmt: skip


async def _damaged(contract: Contract, store: Store) -> None:
    if not await contract.damage(store, TRUE, FALSE):
        raise SkipTest("nobody can write past this store")
