"""A row that is not as it was written is no answer."""

from __future__ import annotations

from unittest import SkipTest

from recollect.errors import Unavailable
from recollect.ports import Store, leaving_out
from recollect.testing.harness import Contract, clause, failure
from recollect.testing.values import (
    CHAT,
    NOW,
    ROOT,
    make_message,
    make_record,
    make_search,
    put,
)
from recollect.types import Erase, Session

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
    async def test_X1_a_changed_record_can_be_erased(self, store: Store) -> None:
        await put(store, make_record("true", TRUE))
        await _damaged(self, store)
        await put(store, Erase(kind="record", id="true", scope=ROOT))
        assert await store.records(ROOT, ["true"], now=NOW) == []


async def _damaged(contract: Contract, store: Store) -> None:
    if not await contract.damage(store, TRUE, FALSE):
        raise SkipTest("nobody can write past this store")
