"""Committing: everything comes back as written."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from datetime import timedelta, timezone
from itertools import pairwise
from typing import Any

from standfast.errors import Invalid
from standfast.ports import Store
from standfast.testing.harness import Contract, clause, refusal
from standfast.testing.values import (
    CHAT,
    NOW,
    ROOT,
    SPACE,
    found_ids,
    make_batch,
    make_item,
    make_message,
    make_record,
    make_relation,
    make_search,
    make_summary,
    moment,
    one_record,
    put,
    unit,
)
from standfast.types import Find, Record, Session, SessionKey, ToolCall, Where

EVERY_SCRIPT = (
    "Ünïcödé 北京市 日本語 한국어 ภาษาไทย עִבְרִית العربية हिन्दी 👩‍👩‍👧‍👦🏳️‍🌈"
    " \u202eRTL\u202c \t\r\n'\"%_\\"
)


def _find(**given: Any) -> Find:
    return Find(where=Where(scopes=(ROOT,), now=NOW), limit=10, **given)


async def _nothing(asked: Awaitable[Sequence[Any]]) -> None:
    with suppress(Invalid):
        assert await asked == []


def full_record(**fields: Any) -> Record:
    """A record that has something in every field."""
    given: dict[str, Any] = {
        "text": EVERY_SCRIPT,
        "data": {"steps": ["eins", "二"], "n": 1.5, "deep": {"none": None, "yes": True, "": []}},
        "tags": ("Deploy", "日本", "a b"),
        "importance": 0.123456789,
        "confidence": 0.1,
        "durability": "core",
        "status": "disputed",
        "source": "web",
        "trust": 0,
        "author": "Zoë",
        "origin": "origin-1",
        "session": "chat/42",
        "session_scope": f"{ROOT}:user:ann",
        "lineage": ("m1", "m2"),
        "derived_from": ("other",),
        "valid_from": moment(-10),
        "valid_to": moment(10),
        "retired_at": moment(20),
        "expires_at": moment(30),
        "review_at": moment(40),
        "uses": 7,
        "used_at": moment(-1),
        "hash": "hash-1",
        **fields,
    }
    return make_record("full", type_="procedure", scope=f"{ROOT}:agent:cto", **given)


class WritingClauses(Contract):
    @clause
    async def test_L2_record_comes_back_as_written(self, store: Store) -> None:
        """Every field of a record survives; only the version is the store's."""
        plain = make_record("full")
        same = [
            f.name
            for f in fields(Record)
            if getattr(plain, f.name) == getattr(full_record(), f.name)
        ]
        assert same == ["id", "learned_at", "version"], "a field of Record is not tried here"
        await put(store, full_record())
        [record] = await store.records(ROOT, ["full"], now=NOW)
        assert record == replace(full_record(), version=1)

    @clause
    async def test_M3_search_returns_the_same_record(self, store: Store) -> None:
        """A hit carries the whole record, not an excerpt."""
        await put(store, full_record())
        query = make_search(f"{ROOT}:agent:cto", text="Ünïcödé")
        [hit] = await store.search(query)
        assert hit.record == replace(full_record(), version=1)

    @clause
    async def test_record_with_defaults_comes_back_as_written(self, store: Store) -> None:
        """Empty fields stay empty."""
        await put(store, make_record("plain"))
        assert await one_record(store, "plain") == replace(make_record("plain"), version=1)

    @clause
    async def test_text_keeps_nul_and_large_size(self, store: Store) -> None:
        """Odd characters and long texts are neither cut nor changed."""
        odd, long = "before\x00after\ufeff\u200b", "word " * 200_000
        await put(store, make_record("odd", odd), make_record("long", long))
        assert (await one_record(store, "odd")).text == odd
        assert (await one_record(store, "long")).text == long

    @clause
    async def test_half_a_surrogate_pair_is_refused(self, store: Store) -> None:
        """It is no text: no store could give it back."""
        half = "half a pair \ud83d"
        await refusal(store, make_batch(make_record("a", half)), Invalid)
        await refusal(store, make_batch(make_message("a", half)), Invalid)
        await refusal(store, make_batch(make_message("a", original=half)), Invalid)
        await refusal(store, make_batch(make_summary("a", 1, 1, text=half)), Invalid)
        await refusal(store, make_batch(make_item(half)), Invalid)
        assert await store.roots() == []

    @clause
    async def test_names_without_nul(self, store: Store) -> None:
        """A NUL may be in a text but in no name: some stores would read a shorter one."""
        await refusal(store, make_batch(make_record("a\x00b")), Invalid)
        await refusal(store, make_batch(make_message("a\x00b")), Invalid)
        await refusal(store, make_batch(make_message("a", session="a\x00b")), Invalid)
        await refusal(store, make_batch(make_item("a\x00b")), Invalid)
        await refusal(store, make_batch(make_item("a", namespace="a\x00b")), Invalid)
        await refusal(store, make_batch(Session(scope=ROOT, id="a\x00b")), Invalid)
        await refusal(store, make_batch(make_item("a"), id="a\x00b"), Invalid)
        assert await store.roots() == []

    @clause
    async def test_A10_a_name_that_nobody_can_have_finds_nothing(self, store: Store) -> None:
        """Nothing, or Invalid; never what somebody else has, and no other error."""
        await put(store, make_record("a", author="ann"), make_message("a"), make_item("a"))
        for odd in ("a\x00", "\x00a", "a\x00b", "\ud800", "a\udfff"):
            scope = f"{ROOT}:agent:{odd}"
            for asked in (
                store.records(ROOT, [odd], now=NOW),
                store.records(None, [odd], now=NOW),
                store.relations(ROOT, [odd]),
                store.sessions(ROOT, [SessionKey(ROOT, odd)]),
                store.messages(SessionKey(ROOT, odd), now=NOW),
                store.messages(SessionKey(ROOT, "chat"), now=NOW, ids=[odd]),
                store.summaries(SessionKey(ROOT, odd)),
                store.items(ROOT, "policy", now=NOW, keys=[odd]),
                store.items(ROOT, odd, now=NOW),
                store.items(ROOT, "policy", now=NOW, scopes=[scope]),
                store.journal(ROOT, change=odd),
                store.journal(ROOT, touching=odd),
                store.find(_find(hashes=(odd,))),
                store.find(_find(lineage=(odd,))),
                store.due(NOW, root=f"user:{odd}", space=SPACE),
                store.registry.get([odd], now=NOW),
            ):
                await _nothing(asked)
        assert (await one_record(store, "a")).author == "ann"

    @clause
    async def test_who_did_it_and_why_are_names_too(self, store: Store) -> None:
        for odd in ("a\x00b", "\ud800"):
            for given in ({"actor": odd}, {"reason": odd}):
                await refusal(store, make_batch(make_record("a"), **given), Invalid)
            await refusal(store, make_batch(make_record("a", author=odd)), Invalid)
            await refusal(store, make_batch(make_record("a", tags=(odd,))), Invalid)
            await refusal(store, make_batch(make_message("a", author=odd)), Invalid)
        assert await store.roots() == []

    @clause
    async def test_message_comes_back_as_written(self, store: Store) -> None:
        """Every field of a message survives, the UTC offset of its time included."""
        berlin = moment(0).astimezone(timezone(timedelta(hours=5, minutes=45)))
        message = make_message(
            "m1",
            EVERY_SCRIPT,
            role="assistant",
            at=berlin,
            original='{"role": "assistant", "content": [{"type": "text"}]}',
            calls=(
                ToolCall(id="c1", name="grep", arguments='{"q": "é"}'),
                ToolCall(id="", name=""),
            ),
            answers=("c0", "c9"),
            author="Zoë",
            source="tool",
            trust=1,
            pending=True,
            expires_at=moment(5),
        )
        await put(store, message)
        [stored] = await store.messages(CHAT, now=NOW)
        assert stored == replace(message, seq=1)
        assert stored.at.utcoffset() == timedelta(hours=5, minutes=45)

    @clause
    async def test_session_comes_back_as_written(self, store: Store) -> None:
        """Every field of a session survives; its readers start where it says."""
        session = Session(
            scope=ROOT,
            id="chat",
            cursors={"fold": 0, "extract": 0},
            channel="slack/#général",
            policy="default",
            state={"task": {"n": [1, 2, None]}},
            started_at=moment(-1),
            ended_at=moment(1),
        )
        await put(store, session)
        assert await store.sessions(ROOT, [CHAT]) == [replace(session, version=1)]

    @clause
    async def test_summary_comes_back_as_written(self, store: Store) -> None:
        """Every field of a summary survives."""
        await put(store, make_message("m1"), make_message("m2"))
        summary = make_summary("s1", 1, 2, text=EVERY_SCRIPT, how="model", lineage=("m1", "m2"))
        await put(store, summary)
        assert await store.summaries(CHAT) == [summary]

    @clause
    async def test_L12_relation_comes_back_as_written(self, store: Store) -> None:
        """Every field of a relation survives, retired ones are still told."""
        edge = make_relation("a", "b", kind="caused_by", lineage=("m1", "é"), retired_at=moment(1))
        await put(store, make_record("a"), make_record("b"), edge)
        assert await store.relations(ROOT, ["a"]) == [replace(edge, version=1)]

    @clause
    async def test_item_comes_back_as_written(self, store: Store) -> None:
        """Any JSON value survives in an item."""
        values: list[Any] = [None, True, 0, -1.5, "", EVERY_SCRIPT, [], {}, {"ä": [1, {"b": None}]}]
        items = [make_item(f"k{n}", value) for n, value in enumerate(values)]
        await put(store, *items, make_item("late", 1, expires_at=moment(1)))
        stored = await store.items(ROOT, "policy", now=NOW)
        assert [item.value for item in stored] == [*values, 1]
        assert stored[0] == replace(items[0], version=1)
        assert stored[-1].expires_at == moment(1)

    @clause
    async def test_vectors_come_back_as_similarity(self, store: Store) -> None:
        """A vector written in the batch of its record is there at once."""
        await put(store, make_record("a"), vectors={"a": unit(1, 2, 3)}, space=SPACE)
        [hit] = await store.search(make_search(vector=unit(1, 2, 3), space=SPACE))
        assert hit.similarity is not None
        assert abs(hit.similarity - 1) < 1e-5

    @clause
    async def test_stored_values_cannot_be_changed_from_outside(self, store: Store) -> None:
        """Neither the writer's nor a reader's dict is the store's own."""
        mine = {"n": [1]}
        await put(store, make_record("a", data=mine), make_item("k", mine))
        mine["n"].append(2)
        first = await one_record(store, "a")
        assert first.data == {"n": [1]}
        first.data["n"].append(3)
        [item] = await store.items(ROOT, "policy", now=NOW)
        item.value["n"].append(3)
        assert (await one_record(store, "a")).data == {"n": [1]}
        [item] = await store.items(ROOT, "policy", now=NOW)
        assert item.value == {"n": [1]}

    @clause
    async def test_records_answer_in_the_order_asked_for(self, store: Store) -> None:
        """Missing ids are left out, the rest keeps the caller's order."""
        await put(store, *(make_record(id_) for id_ in ("a", "b", "c")))
        found = await store.records(ROOT, ["c", "nobody", "a", "b"], now=NOW)
        assert [record.id for record in found] == ["c", "a", "b"]
        assert await store.records(ROOT, [], now=NOW) == []

    @clause
    async def test_empty_batch_is_invalid(self, store: Store) -> None:
        """A batch has to say something."""
        await refusal(store, make_batch(), Invalid)
        assert await store.journal(ROOT) == []

    @clause
    async def test_batch_of_one_hundred(self, store: Store) -> None:
        """A hundred things of each kind fit into one batch and one journal entry."""
        ids = [f"r{n:03}" for n in range(100)]
        seq = await put(
            store,
            *(make_record(id_) for id_ in ids),
            *(make_message(f"m{n}") for n in range(100)),
            *(make_item(f"k{n:03}", n) for n in range(100)),
            *(make_relation(a, b) for a, b in pairwise(ids)),
            vectors={id_: unit(1, n, 0) for n, id_ in enumerate(ids)},
            space=SPACE,
        )
        assert seq == 1
        assert await found_ids(store, order="id") == ids
        assert len(await store.messages(CHAT, now=NOW)) == 100
        assert len(await store.items(ROOT, "policy", now=NOW)) == 100
        assert len(await store.search(make_search(vector=unit(1, 0, 0), space=SPACE))) == 100
        assert len(await store.journal(ROOT)) == 1
