"""Sessions: an append-only log whose numbers the store gives, and readers that only advance."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from standfast.errors import Conflict, Invalid
from standfast.ports import Store
from standfast.testing.harness import Contract, clause, refusal
from standfast.testing.values import (
    CHAT,
    NOW,
    ROOT,
    make_batch,
    make_message,
    make_move,
    make_summary,
    moment,
    put,
)
from standfast.types import Session, SessionKey

AGENT = f"{ROOT}:agent:cto"


class SessionClauses(Contract):
    @clause
    async def test_X2_messages_are_numbered_in_order(self, store: Store) -> None:
        """Numbers go 1, 2, 3 across batches."""
        await put(store, make_message("z"), make_message("y"))
        await put(store, make_message("x"))
        stored = await store.messages(CHAT, now=NOW)
        assert [(message.id, message.seq) for message in stored] == [("z", 1), ("y", 2), ("x", 3)]
        [session] = await store.sessions(ROOT, [CHAT])
        assert session.last_seq == 3

    @clause
    async def test_messages_create_their_session(self, store: Store) -> None:
        """Appending needs no session before it; it begins with the batch."""
        await put(store, make_message("m1"), at=moment(-3))
        [session] = await store.sessions(ROOT, [CHAT])
        expected = Session(scope=ROOT, id="chat", last_seq=1, started_at=moment(-3), version=1)
        assert session == expected
        error = await refusal(store, make_batch(Session(scope=ROOT, id="chat")), Conflict)
        assert error.kind == "session"

    @clause
    async def test_A10_sessions_are_named_inside_their_scope(self, store: Store) -> None:
        """Two scopes may use the same session id and the same message id."""
        await put(store, make_message("m1", "ours"), make_message("m1", "theirs", scope=AGENT))
        await put(store, make_message("m1", "foreign", scope="org:other"))
        await put(store, make_message("m1", "elsewhere", session="chat2"))
        for key, text in (
            (CHAT, "ours"),
            (SessionKey(AGENT, "chat"), "theirs"),
            (SessionKey("org:other", "chat"), "foreign"),
            (SessionKey(ROOT, "chat2"), "elsewhere"),
        ):
            [message] = await store.messages(key, now=NOW)
            assert (message.text, message.seq) == (text, 1)

    @clause
    async def test_taken_message_ids_are_named(self, store: Store) -> None:
        """The conflict lists every id that is taken, so that the rest can be sent again."""
        await put(store, make_message("m1"), make_message("m2"))
        again = make_batch(make_message("m2"), make_message("m3"), make_message("m1"))
        error = await refusal(store, again, Conflict)
        assert error.kind == "message"
        assert sorted(error.ids) == ["m1", "m2"]
        twice = make_batch(make_message("m4"), make_message("m4"))
        assert (await refusal(store, twice, Conflict)).ids == ("m4",)
        assert len(await store.messages(CHAT, now=NOW)) == 2

    @clause
    async def test_messages_are_read_in_pages(self, store: Store) -> None:
        """After a number and before one, at most so many, the newest if asked, always in order."""
        await put(store, *(make_message(f"m{n}") for n in range(1, 11)))

        async def seqs(**asked: Any) -> list[int]:
            return [message.seq for message in await store.messages(CHAT, now=NOW, **asked)]

        assert await seqs() == list(range(1, 11))
        assert await seqs(after=3, limit=2) == [4, 5]
        assert await seqs(limit=3, newest=True) == [8, 9, 10]
        assert await seqs(after=8, limit=5, newest=True) == [9, 10]
        assert await seqs(before=4) == [1, 2, 3]
        assert await seqs(after=3, before=9, limit=2, newest=True) == [7, 8]
        assert await seqs(after=3, before=9, limit=2) == [4, 5]
        assert await seqs(before=1) == []
        assert await seqs(after=10) == []
        assert await seqs(limit=0) == []
        assert await seqs(limit=0, newest=True) == []

    @clause
    async def test_messages_are_read_by_id(self, store: Store) -> None:
        """Asked for by id, wherever they are in the log; missing ones are left out."""
        await put(store, *(make_message(f"m{n}") for n in range(1, 6)))
        found = await store.messages(CHAT, now=NOW, ids=["m4", "nobody", "m2"])
        assert sorted(message.id for message in found) == ["m2", "m4"]

    @clause
    async def test_unknown_session_is_empty(self, store: Store) -> None:
        """Reading what is not there is no error."""
        assert await store.messages(CHAT, now=NOW) == []
        assert await store.summaries(CHAT) == []
        assert await store.sessions(ROOT, [CHAT]) == []
        assert await store.sessions(ROOT) == []

    @clause
    async def test_session_fields_are_compared_and_set(self, store: Store) -> None:
        """An update needs the version; appending and moving cursors do not change it."""
        await put(store, Session(scope=ROOT, id="chat", cursors={"fold": 0}))
        [read] = await store.sessions(ROOT, [CHAT])
        await put(store, make_message("m1"), make_move(0, 1))
        changed = replace(
            read,
            channel="slack",
            policy="otto",
            state={"task": "deploy"},
            started_at=moment(-9),
            ended_at=moment(9),
        )
        await put(store, changed)
        [session] = await store.sessions(ROOT, [CHAT])
        assert session == replace(changed, cursors={"fold": 1}, last_seq=1, version=2)
        error = await refusal(store, make_batch(changed), Conflict)
        assert (error.kind, error.ids) == ("session", ("chat",))

    @clause
    async def test_session_update_cannot_move_the_log(self, store: Store) -> None:
        """Positions given with an update are ignored."""
        await put(store, make_message("m1"), make_message("m2"))
        await put(store, make_move(0, 1))
        [read] = await store.sessions(ROOT, [CHAT])
        await put(store, replace(read, cursors={"fold": 0, "new": 2}, last_seq=50))
        [session] = await store.sessions(ROOT, [CHAT])
        assert (session.cursors, session.last_seq) == ({"fold": 1}, 2)

    @clause
    async def test_cursor_moves_by_compare_and_set(self, store: Store) -> None:
        """A reader starts at 0 and moves only from where it is."""
        await put(store, *(make_message(f"m{n}") for n in range(1, 6)))
        await put(store, make_move(0, 2), make_move(0, 5, "extract"))
        await put(store, make_move(2, 4))
        error = await refusal(store, make_batch(make_move(2, 5)), Conflict)
        assert error.kind == "cursor"
        [session] = await store.sessions(ROOT, [CHAT])
        assert session.cursors == {"fold": 4, "extract": 5}

    @clause
    async def test_cursor_never_goes_back(self, store: Store) -> None:
        """A step back can never work, not even from the right place."""
        await put(store, *(make_message(f"m{n}") for n in range(1, 6)))
        await put(store, make_move(0, 4))
        await refusal(store, make_batch(make_move(4, 3)), Invalid)
        [session] = await store.sessions(ROOT, [CHAT])
        assert session.cursors == {"fold": 4}

    @clause
    async def test_cursor_stays_inside_the_log(self, store: Store) -> None:
        """A reader cannot have read what is not there, but what the batch itself appends."""
        await put(store, make_message("m1"))
        await refusal(store, make_batch(make_move(0, 2)), Invalid)
        await put(store, make_message("m2"), make_move(0, 2))
        nowhere = make_move(0, 1, session=SessionKey(ROOT, "nowhere"))
        await refusal(store, make_batch(nowhere), Invalid)

    @clause
    async def test_summaries_are_a_chain(self, store: Store) -> None:
        """Written once, read in order behind a number."""
        await put(store, *(make_message(f"m{n}") for n in range(1, 10)))
        await put(store, make_summary("second", 4, 6))
        await put(store, make_summary("first", 1, 3), make_summary("third", 7, 9))

        async def ids(after: int = 0, limit: int = 100) -> list[str]:
            found = await store.summaries(CHAT, after=after, limit=limit)
            return [summary.id for summary in found]

        assert await ids() == ["first", "second", "third"]
        assert await ids(after=3) == ["second", "third"]
        assert await ids(after=4, limit=1) == ["second"]
        assert await ids(after=9) == []
        error = await refusal(store, make_batch(make_summary("first", 1, 9)), Conflict)
        assert error.kind == "summary"

    @clause
    async def test_the_newest_summaries_are_read_without_the_others(self, store: Store) -> None:
        """In order, like messages."""
        await put(store, *(make_message(f"m{n}") for n in range(6)))
        await put(store, *(make_summary(f"s{n}", n, n) for n in range(1, 6)))
        found = await store.summaries(CHAT, limit=2, newest=True)
        assert [summary.id for summary in found] == ["s4", "s5"]
        assert await store.summaries(CHAT, after=5, newest=True) == []

    @clause
    async def test_X13_a_message_may_keep_the_number_it_had(self, store: Store) -> None:
        """An import asks for it; what follows goes on from there, and none goes back."""
        await put(store, replace(make_message("a"), seq=3), replace(make_message("b"), seq=7))
        await put(store, make_message("c"))
        assert [m.seq for m in await store.messages(CHAT, now=NOW)] == [3, 7, 8]
        error = await refusal(store, make_batch(replace(make_message("d"), seq=8)), Conflict)
        assert (error.kind, error.ids) == ("seq", ("d",))

    @clause
    async def test_sessions_are_listed_in_pages(self, store: Store) -> None:
        """By scope and id, behind the last one seen; another root's are not there."""
        keys = [
            SessionKey(scope, id_)
            for scope in (ROOT, AGENT, f"{ROOT}:user:ann")
            for id_ in ("Z", "a", "chat/1", "é")
        ]
        await put(store, *(make_message("m", scope=key.scope, session=key.id) for key in keys))
        await put(store, make_message("m", scope="org:acme2"))
        seen: list[SessionKey] = []
        after: SessionKey | None = None
        while page := await store.sessions(ROOT, after=after, limit=5):
            assert len(page) <= 5
            assert after is None or (page[0].scope, page[0].id) > after
            seen += [SessionKey(session.scope, session.id) for session in page]
            after = seen[-1]
        assert seen == sorted(keys)

    @clause
    async def test_sessions_are_read_by_key(self, store: Store) -> None:
        """Several at once; those of another root are as good as missing."""
        other = SessionKey("org:other", "chat")
        await put(store, make_message("m"), make_message("m", session="b"))
        await put(store, make_message("m", scope="org:other"))
        found = await store.sessions(ROOT, [SessionKey(ROOT, "b"), other, CHAT])
        assert sorted(session.id for session in found) == ["b", "chat"]
