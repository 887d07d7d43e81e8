"""Erasing: the thing is gone, with all that was indexed for it and said about it."""

from __future__ import annotations

from dataclasses import replace

from standfast.errors import Invalid
from standfast.ports import Store
from standfast.testing.harness import Contract, clause, refusal
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
from standfast.types import Erase, Session, SessionKey, Touch


async def _touches(store: Store, id_: str) -> list[Touch]:
    """Everything the journal says about this id."""
    entries = await store.journal(ROOT, limit=1000)
    return [touch for entry in entries for touch in entry.touched if id_ in touch.id]


class EraseClauses(Contract):
    @clause
    async def test_X10_erased_record_is_found_no_way(self, store: Store) -> None:
        """Not by id, word, vector, tag, hash, listing or status."""
        record = make_record("a", "secret plan", tags=("t",), hash="h", derived_from=("z",))
        twin = make_record("b", "open plan")
        vectors = {"a": unit(1, 0, 0), "b": unit(0, 1, 0)}
        await put(store, record, twin, vectors=vectors, space=SPACE)
        await put(store, Erase(kind="record", id="a"))
        assert await store.records(ROOT, ["a"], now=NOW) == []
        assert await found_ids(store, statuses=EVERY_STATUS) == ["b"]
        assert await found_ids(store, text="secret plan") == ["b"]
        assert await found_ids(store, vector=unit(1, 0, 0), space=SPACE) == ["b"]
        assert await found_ids(store, tags=("t",)) == []
        assert await found_ids(store, hashes=("h",)) == []
        assert await found_ids(store, derived_from=("z",)) == []
        assert await found_ids(store, known_at=NOW) == ["b"]
        assert await store.due(NOW, space=SPACE) == []

    @clause
    async def test_X10_erased_record_counts_in_no_statistic(self, store: Store) -> None:
        """Scores are as if it had never been."""
        await put(store, make_record("a", "apple pie"), make_record("b", "blue sky"))
        query = make_search(text="apple")
        alone = await scores_of(store, query)
        await put(store, *(make_record(f"x{n}", "apple tree") for n in range(9)))
        await put(store, *(Erase(kind="record", id=f"x{n}") for n in range(9)))
        assert await scores_of(store, query) == alone

    @clause
    async def test_X10_erased_record_takes_its_relations(self, store: Store) -> None:
        """Edges from it and to it go; edges of others stay."""
        await put(store, *(make_record(id_) for id_ in "abc"))
        await put(store, make_relation("a", "b"), make_relation("c", "a"), make_relation("b", "c"))
        await put(store, Erase(kind="record", id="a"))
        edges = await store.relations(ROOT, ["a", "b", "c"])
        assert [(edge.source, edge.target) for edge in edges] == [("b", "c")]
        await refusal(store, make_batch(make_relation("b", "a")), Invalid)

    @clause
    async def test_X10_journal_forgets_the_details(self, store: Store) -> None:
        """That it was touched stays known; what was said about it does not."""
        await put(store, make_record("a", tags=("private",)), make_record("b"))
        read = await one_record(store, "a")
        await put(store, replace(read, tags=("secret",)), vectors={"a": unit(1, 0)}, space="s")
        await put(store, make_relation("a", "b"), make_relation("b", "a"))
        await put(store, Erase(kind="record", id="a"), reason="gdpr", actor="ann")
        touches = await _touches(store, "a")
        kinds = [touch.kind for touch in touches]
        assert kinds == ["record", "record", "vector", "relation", "relation", "record"]
        assert all(touch.before is None and touch.after is None for touch in touches)
        assert [touch.after is None for touch in await _touches(store, "b")] == [False, True, True]
        entries = await store.journal(ROOT)
        assert [entry.seq for entry in entries] == [1, 2, 3, 4]
        assert (entries[-1].reason, entries[-1].actor) == ("gdpr", "ann")
        assert "secret" not in str(entries)

    @clause
    async def test_X10_erased_id_starts_anew(self, store: Store) -> None:
        """Its id and text may be used again, with nothing of the old one attached."""
        old = make_record("a", "old words", hash="h")
        await put(store, old, make_record("b"), vectors={"a": unit(1, 0, 0)}, space=SPACE)
        await put(store, make_relation("a", "b"))
        await put(store, Erase(kind="record", id="a"))
        await put(store, make_record("a", "new", hash="h"))
        assert (await one_record(store, "a")).version == 1
        assert await found_ids(store, text="old words") == []
        assert await store.relations(ROOT, ["a"]) == []
        assert await store.search(make_search(vector=unit(1, 0, 0), space=SPACE)) == []

    @clause
    async def test_erase_comes_before_the_writes_of_its_batch(self, store: Store) -> None:
        """A batch may erase a text and write it again."""
        await put(store, make_record("a", "old", hash="h"), make_item("k", 1))
        await put(
            store,
            Erase(kind="record", id="a"),
            Erase(kind="item", scope=ROOT, namespace="policy", id="k"),
            make_record("a", "new", hash="h"),
            make_record("b"),
            make_item("k", 2),
        )
        assert (await one_record(store, "a")).text == "new"
        [item] = await store.items(ROOT, "policy", now=NOW)
        assert (item.value, item.version) == (2, 1)

    @clause
    async def test_X10_erased_message(self, store: Store) -> None:
        """It leaves a hole in the numbers; its namesakes elsewhere stay."""
        await put(store, make_message("m1"), make_message("m2"), make_message("m3"))
        await put(store, make_message("m2", session="other"))
        await put(store, Erase(kind="message", scope=ROOT, session="chat", id="m2"))
        stored = await store.messages(CHAT, now=NOW)
        assert [(message.id, message.seq) for message in stored] == [("m1", 1), ("m3", 3)]
        assert await store.messages(CHAT, now=NOW, ids=["m2"]) == []
        assert len(await store.messages(SessionKey(ROOT, "other"), now=NOW)) == 1
        details = [touch.after for touch in await _touches(store, "m2")]
        assert [one is None for one in details] == [True, False, True]
        await put(store, make_message("m2", "again"))
        assert [message.seq for message in await store.messages(CHAT, now=NOW)] == [1, 3, 4]

    @clause
    async def test_X10_last_number_is_not_given_twice(self, store: Store) -> None:
        """Erasing the newest message does not free its number."""
        await put(store, make_message("m1"), make_message("m2"))
        await put(store, Erase(kind="message", scope=ROOT, session="chat", id="m2"))
        await put(store, make_message("m3"))
        assert [message.seq for message in await store.messages(CHAT, now=NOW)] == [1, 3]

    @clause
    async def test_X10_erased_session(self, store: Store) -> None:
        """Messages, summaries and cursors go along; its namesake in another scope stays."""
        other = f"{ROOT}:agent:cto"
        await put(store, make_message("m1"), make_message("m2"), make_message("m1", scope=other))
        await put(store, make_summary("s1", 1, 2), make_move(0, 1))
        await put(store, make_summary("s2", 1, 1, scope=other))
        await put(store, Erase(kind="session", scope=ROOT, id="chat"))
        assert await store.sessions(ROOT, [CHAT]) == []
        assert await store.messages(CHAT, now=NOW) == []
        assert await store.summaries(CHAT) == []
        assert await store.due(NOW) == []
        kept = SessionKey(other, "chat")
        assert len(await store.messages(kept, now=NOW)) == 1
        assert len(await store.summaries(kept)) == 1
        await put(store, make_message("m1", "fresh"))
        [session] = await store.sessions(ROOT, [CHAT])
        assert (session.last_seq, session.cursors, session.version) == (1, {}, 1)

    @clause
    async def test_X10_journal_forgets_an_erased_session(self, store: Store) -> None:
        """It is silent about its fields, messages, summaries and cursors; about those of a
        session whose name only begins alike it is not."""
        await put(store, Session(scope=ROOT, id="chat", channel="private"))
        [read] = await store.sessions(ROOT, [CHAT])
        await put(store, replace(read, channel="hush", state={"task": "hush"}))
        await put(store, make_message("m1"), make_move(0, 1), make_summary("s1", 1, 1))
        kept = SessionKey(ROOT, "chat/2")
        await put(store, make_message("m1", session=kept.id), make_move(0, 1, session=kept))
        await put(store, Erase(kind="session", scope=ROOT, id="chat"))
        entries = await store.journal(ROOT)
        said = [[touch.after is not None for touch in entry.touched] for entry in entries]
        assert said == [[False], [False], [False] * 3, [True] * 3, [False]]
        assert all(touch.before is None for entry in entries[:3] for touch in entry.touched)

    @clause
    async def test_X10_an_erased_session_leaves_no_name_in_the_journal(self, store: Store) -> None:
        """Neither its own nor those of its messages, erased before or with it; nor the keys of
        erased items. Namesakes elsewhere keep theirs."""
        other = f"{ROOT}:agent:cto"
        await put(store, make_message("msg-one"), make_message("msg-two"), make_move(0, 1))
        await put(store, make_summary("s1", 1, 1), make_item("key-of-chat"))
        await put(store, make_message("msg-one", scope=other))
        await put(store, Erase(kind="message", scope=ROOT, session="chat", id="msg-two"))
        await put(store, Erase(kind="item", scope=ROOT, namespace="policy", id="key-of-chat"))
        await put(store, Erase(kind="session", scope=ROOT, id="chat"))
        told = [
            (touch.kind, touch.id)
            for entry in await store.journal(ROOT)
            for touch in entry.touched
            if touch.scope == ROOT
        ]
        assert ("summary", "s1") in told
        assert {id_ for kind, id_ in told if kind in ("session", "message", "cursor")} == {
            "forgotten"
        }
        assert {id_ for kind, id_ in told if kind == "item"} == {"policy/forgotten"}
        for name in ("chat", "msg-two", "policy/key-of-chat", "chat/fold"):
            found = await store.journal(ROOT, touching=name)
            assert all(touch.scope == other for entry in found for touch in entry.touched)
        assert len(await store.journal(ROOT, touching="msg-one")) == 1
        assert len(await store.journal(ROOT, touching="s1")) == 1

    @clause
    async def test_X10_erased_summary(self, store: Store) -> None:
        """The other links of the chain stay."""
        await put(store, make_message("m1"), make_message("m2"))
        await put(store, make_summary("s1", 1, 1), make_summary("s2", 2, 2))
        await put(store, Erase(kind="summary", id="s1"))
        assert [summary.id for summary in await store.summaries(CHAT)] == ["s2"]
        await put(store, make_summary("s1", 1, 1))
        assert len(await store.summaries(CHAT)) == 2

    @clause
    async def test_X10_erased_item(self, store: Store) -> None:
        """Only that key of that namespace in that scope; the journal forgets its value."""
        await put(store, make_item("k", 1), make_item("k", 2, namespace="other"))
        await put(store, make_item("k", "hush", version=1), make_item("l"))
        await put(store, Erase(kind="item", scope=ROOT, namespace="policy", id="k"))
        assert [item.key for item in await store.items(ROOT, "policy", now=NOW)] == ["l"]
        assert len(await store.items(ROOT, "other", now=NOW)) == 1
        assert "hush" not in str(await store.journal(ROOT))
        await put(store, make_item("k", 3))

    @clause
    async def test_X10_erasing_the_unknown_is_no_error(self, store: Store) -> None:
        """Forgetting twice does nothing the second time."""
        await put(store, make_record("a"), make_message("m1"))
        before = await snapshot(store)
        await put(
            store,
            Erase(kind="record", id="nobody"),
            Erase(kind="summary", id="nobody"),
            Erase(kind="message", scope=ROOT, session="chat", id="nobody"),
            Erase(kind="session", scope=ROOT, id="nobody"),
            Erase(kind="item", scope=ROOT, namespace="policy", id="nobody"),
        )
        after = await snapshot(store)
        assert after.records == before.records
        assert after.messages == before.messages
        assert after.journal[:1] == before.journal

    @clause
    async def test_X10_scrub_after_erase(self, store: Store) -> None:
        """Scrubbing works, and leaves what was not erased."""
        await put(store, make_record("a"), make_record("b"))
        await put(store, Erase(kind="record", id="a"), at=moment(1))
        assert await store.scrub() is True
        assert await found_ids(store) == ["b"]
