"""Lists: complete, in pages, and never more than a handle may see."""

from __future__ import annotations

import base64
import inspect
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from standfast import AsyncMemory, Denied, Invalid, Memory, NotFound
from standfast.access import keys as ids
from standfast.memory.lists import Lists
from standfast.models.budgets import Booking, Budgets, Price, Spending
from standfast.types import Usage
from standfast.types.pages import Page
from standfast.upkeep.leases import ATTEMPTS_MAX, failed
from tests.requirements.conftest import MovableClock, OpenMemory


def run(memory: Memory, work: Any) -> Any:
    return memory._loop.run(work)


def holder(
    memory: Memory, *scopes: str, rights: tuple[str, ...] = ("read", "write")
) -> AsyncMemory:
    engine = memory._memory._engine
    _, secret = run(memory, ids.create_key(engine, scopes=scopes, rights=rights))
    return AsyncMemory(run(memory, ids.with_key(engine, secret))[1])


def every(pages: Callable[[str], Page[Any]]) -> list[Any]:
    """All items, page by page."""
    found: list[Any] = []
    cursor = ""
    for _ in range(100):
        page = pages(cursor)
        found += page.items
        cursor = page.next
        if not cursor:
            return found
        assert page.items, "a page in the middle is not empty"
    raise AssertionError("the pages do not end")


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 100])
def test_records_come_in_pages_and_each_once(memory: Memory, limit: int) -> None:
    wanted = []
    for root in ("user:ann", "user:bob", "org:acme"):
        for number in range(3):
            receipt = memory.remember(f"fact {number} of {root}", scope=root)
            wanted.append(receipt.items[0].id)
    found = every(lambda cursor: memory.records(cursor=cursor, limit=limit))
    assert sorted(record.id for record in found) == sorted(wanted)
    assert [r.id for r in found if r.scope == "user:ann"] == wanted[:3]


def test_records_are_filtered(memory: Memory, clock: MovableClock) -> None:
    memory.remember("Ann likes tea", scope="user:ann", type="preference", tags=["drink"])
    later = clock.now + timedelta(days=1)
    clock.forward(days=2)
    kept = memory.remember("Deploys go out on Tuesdays", scope="user:ann:project:x")
    memory.archive([kept.items[0].id])
    assert [r.text for r in memory.records(types=["preference"]).items] == ["Ann likes tea"]
    assert [r.text for r in memory.records(tags=["drink", "food"]).items] == ["Ann likes tea"]
    assert [r.status for r in memory.records(since=later).items] == ["archived"]
    assert [r.status for r in memory.records(statuses=["active"]).items] == ["active"]
    assert len(memory.records(scope="user:ann:project:x").items) == 2  # with its parent
    assert len(memory.records(scope="user:ann").items) == 1
    assert len(memory.records(scope="user:ann", descend=True).items) == 2
    with pytest.raises(Invalid):
        memory.records(types=["nonsense"])


def test_sessions_and_messages_come_in_pages(memory: Memory) -> None:
    for number in range(5):
        memory.observe(f"chat/{number}", [f"m{n}" for n in range(4)], scope="user:ann")
    memory.note("chat/1", "a note", scope="user:ann")
    memory.observe("later", "wait", scope="user:ann", pending=True)
    names = [s.id for s in every(lambda c: memory.sessions(cursor=c, limit=2))]
    assert names == [f"chat/{n}" for n in range(5)]
    said = every(lambda c: memory.messages("chat/3", scope="user:ann", cursor=c, limit=3))
    assert [m.text for m in said] == ["m0", "m1", "m2", "m3"]
    back = every(
        lambda c: memory.messages("chat/3", scope="user:ann", newest=True, cursor=c, limit=3)
    )
    assert [m.text for m in back] == ["m3", "m2", "m1", "m0"]
    first = memory.messages("chat/3", scope="user:ann", newest=True, limit=1)
    with pytest.raises(Invalid, match="cursor"):  # of the other direction
        memory.messages("chat/3", scope="user:ann", cursor=first.next, limit=1)
    assert [m.text for m in memory.pending(scope="user:ann")] == ["wait"]
    with pytest.raises(NotFound):
        memory.messages("chat/9", scope="user:ann")
    with pytest.raises(Invalid):
        memory.messages("~pending", scope="user:ann")


def test_X3_what_is_volatile_is_listed_too(memory: Memory) -> None:
    memory.remember("kept", scope="user:ann")
    memory.set_policy("user:ann", persist=False)
    memory.remember("not kept", scope="user:ann")
    found = every(lambda cursor: memory.records(cursor=cursor, limit=1))
    assert sorted(record.text for record in found) == ["kept", "not kept"]
    assert [(p.scope, p.author, p.persist) for p in memory.policies()] == [("user:ann", "", False)]


def test_changes_are_newest_first_and_complete(memory: Memory) -> None:
    for number in range(7):
        memory.remember(f"fact {number} is here", scope="user:ann")
    found = every(lambda cursor: memory.changes(scope="user:ann", cursor=cursor, limit=3))
    numbers = [entry.seq for entry in found]
    assert numbers == sorted(numbers, reverse=True)
    assert [e.reason for e in found].count("remember") == 7
    assert tuple(found[:5]) == memory.history(scope="user:ann", limit=5)


def test_relations_are_listed_from_both_ends(memory: Memory) -> None:
    a, b = (memory.remember(t, scope="user:ann").items[0].id for t in ("one is here", "two"))
    memory.relate(a, "supports", b)
    assert memory.relations(a) == memory.relations(b)
    assert [(e.source, e.kind, e.target) for e in memory.relations(a)] == [(a, "supports", b)]
    with pytest.raises(NotFound, match="there is no record 'nothing'"):
        memory.relations("nothing")


def test_stats_count(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.observe("chat", ["hello there", "again"], scope="user:ann")
    kept = memory.remember("Ann likes tea", scope="user:ann")
    memory.archive([kept.items[0].id])
    stats = memory.stats()
    assert (stats.records, stats.sessions, stats.complete) == (3, 1, True)
    assert stats.kinds == {"episodic": 2, "semantic": 1}
    assert stats.types == {"fact": 1, "turn": 2}
    assert stats.statuses == {"active": 2, "archived": 1}
    memory.observe("later", "hello there", scope="user:ann")
    monkeypatch.setattr("standfast.verbs.lists.upkeep.SESSIONS_COUNTED_MAX", 1)
    monkeypatch.setattr("standfast.verbs.lists.upkeep.PAGE", 1)
    counted = memory.stats()
    assert (counted.complete, counted.sessions, counted.records) == (False, 1, 4), "at least"


def test_X3_stats_count_what_can_be_seen_and_no_more(memory: Memory) -> None:
    memory.remember("Ann likes tea", scope="user:ann")
    memory.remember("Ann's project is blue", scope="user:ann:project:x")
    memory.remember("Bob likes beer", scope="user:bob")
    memory.set_policy("user:ann", persist=False)
    memory.remember("Ann's phone is red", scope="user:ann")
    ann = holder(memory, "user:ann:project:x")
    assert memory.stats().records == 4
    assert memory.stats(scope="user:ann").records == 2
    assert memory.stats(scope="user:ann", descend=True).records == 3
    assert run(memory, ann.stats()).records == 3  # with its parent
    with pytest.raises(Denied):
        run(memory, ann.stats(scope="user:bob"))


@pytest.mark.parametrize("limit", [1, 2, 7, 100])
def test_records_come_newest_first_over_all_roots(memory: Memory, limit: int) -> None:
    made = [
        memory.remember(f"fact {n} of {root}", scope=root, tags=["all"]).items[0].id
        for n in range(4)
        for root in ("user:ann", "org:acme", "user:ann:project:x")
    ]
    memory.set_policy("user:bob", persist=False)
    made.append(memory.remember("not kept", scope="user:bob", tags=["all"]).items[0].id)
    for filters in ({}, {"tags": ["all"]}):
        found = every(
            lambda c: memory.records(newest=True, cursor=c, limit=limit, **filters)  # noqa: B023
        )
        assert [record.id for record in found] == made[::-1]
    inside = every(lambda c: memory.records(scope="user:ann", newest=True, cursor=c, limit=limit))
    assert [record.id for record in inside] == [id_ for id_ in made[::-1] if id_ in made[:-1:3]]
    if limit == 1:
        with pytest.raises(Invalid, match="cursor"):
            memory.records(cursor=memory.records(newest=True, limit=1).next)


def test_X12_usage_is_listed_by_day_operation_and_model(
    memory: Memory, clock: MovableClock
) -> None:
    engine = memory._memory._engine
    ledger = Spending(engine.store, clock, engine.new_id, Budgets())

    async def spend(root: str, operation: str) -> None:
        price = Price(tokens_in=1, tokens_out=2)
        booking = Booking(
            root=root, operation=operation, model="m/1", tokens_in=10, tokens_out=5, price=price
        )
        await ledger.settle(await ledger.book(booking), Usage(calls=1, tokens_in=9, tokens_out=4))

    for root in ("user:ann", "user:bob"):
        run(memory, spend(root, "summarize"))
    clock.forward(days=1)
    run(memory, spend("user:ann", "extract"))
    found = every(lambda cursor: memory.usage(cursor=cursor, limit=1))
    assert [(s.scope, s.day, s.operation, s.model) for s in found] == [
        ("user:ann", "2026-11-15", "summarize", "m/1"),
        ("user:ann", "2026-11-16", "extract", "m/1"),
        ("user:bob", "2026-11-15", "summarize", "m/1"),
    ]
    assert (found[0].calls, found[0].tokens_in, found[0].tokens_out) == (1, 9, 4)
    assert [s.scope for s in memory.usage(day="2026-11-16").items] == ["user:ann"]
    with pytest.raises(Invalid):
        memory.usage(day="yesterday")
    part = holder(memory, "user:ann:project:x")
    assert run(memory, part.usage()).items == ()
    with pytest.raises(Denied):
        run(memory, part.usage(scope="user:ann"))


def test_due_work_and_what_is_stuck(open_memory: OpenMemory) -> None:
    memory = open_memory(background=False)
    memory.observe("chat", "hello there", scope="user:ann")
    engine = memory._memory._engine
    for _ in range(ATTEMPTS_MAX):
        run(memory, failed(engine, engine.store, "user:ann", "fold/chat", "the model is gone"))
    run(memory, failed(engine, engine.store, "user:bob", "fold/chat", "once only"))
    due = memory.due()
    assert {w.kind for w in due.work} == {"fold"}
    assert [(s.kind, s.scope) for s in due.stuck] == [("stuck", "user:ann")]
    assert run(memory, holder(memory, "user:bob").due()) == memory.due(scope="user:bob")
    assert memory.due(scope="user:bob").work == ()
    assert memory.due(scope="user:bob").stuck == ()


LISTS: dict[str, Callable[[AsyncMemory], Any]] = {
    "records": lambda m: m.records(),
    "sessions": lambda m: m.sessions(),
    "pending": lambda m: m.pending(),
    "changes": lambda m: m.changes(),
    "usage": lambda m: m.usage(),
    "due": lambda m: m.due(),
    "stats": lambda m: m.stats(),
    "policies": lambda m: m.policies(),
}


@pytest.mark.parametrize("name", LISTS)
def test_A10_a_list_shows_nothing_of_others(memory: Memory, name: str) -> None:
    def bobs(memory: Memory) -> None:
        memory.remember("Bob drinks secret tea", scope="user:bob")
        memory.observe("secret chat", "a secret turn", scope="user:bob")
        memory.observe("x", "a secret wait", scope="user:bob", pending=True)
        memory.set_policy("user:bob", persist=True, author="secret")

    ann = holder(memory, "user:ann")
    before = run(memory, LISTS[name](ann))
    bobs(memory)
    assert run(memory, LISTS[name](ann)) == before
    assert "secret" not in repr(before)


def test_A10_a_list_needs_its_right_and_its_scope(memory: Memory) -> None:
    memory.observe("chat", "hello", scope="user:bob")
    writer = holder(memory, "user:ann", rights=("write",))
    ann = holder(memory, "user:ann")
    for call in LISTS.values():
        with pytest.raises(Denied, match="the right to read"):
            run(memory, call(writer))
    for verb in ("records", "sessions", "pending", "changes", "due", "stats", "policies", "usage"):
        with pytest.raises(Denied):
            run(memory, getattr(ann, verb)(scope="user:bob"))
    with pytest.raises(Denied):
        run(memory, ann.messages("chat", scope="user:bob"))


def test_A10_every_list_needs_the_right_to_read() -> None:
    verbs = {n: v for n, v in vars(Lists).items() if not n.startswith("_")}
    assert all(hasattr(verb, "__wrapped__") for verb in verbs.values())
    assert {*LISTS, "messages", "relations", "scopes", "summaries"} == set(verbs)
    assert all(inspect.iscoroutinefunction(verb) for verb in verbs.values())


def forged(memory: Memory) -> list[str]:
    good = memory.records(scope="user:ann", limit=1).next
    raw = base64.urlsafe_b64decode(good + "=" * (-len(good) % 4))
    other = json.dumps(["user:bob", 0, ""]).encode()
    return [
        "x",
        "=" * 8,
        "é",
        "a" * 5000,
        good[:-2],
        good + "AAAA",
        base64.urlsafe_b64encode(raw[:12] + other).decode().rstrip("="),
        base64.urlsafe_b64encode(b"[" * 3000).decode().rstrip("="),
        memory.sessions(scope="user:ann", limit=1).next,  # of another list
    ]


def test_A10_a_cursor_that_was_made_up_is_refused(memory: Memory) -> None:
    for number in range(3):
        memory.observe(f"chat/{number}", "hello there", scope="user:ann")
    for cursor in forged(memory):
        with pytest.raises(Invalid, match="cursor"):
            memory.records(scope="user:ann", cursor=cursor)
    good = memory.records(scope="user:ann", limit=1).next
    with pytest.raises(Invalid, match="cursor"):
        memory.records(scope="user:ann", types=["turn"], cursor=good)
    assert memory.records(scope="user:ann", cursor=good).items


def test_a_confirmed_message_must_have_been_pending(memory: Memory) -> None:
    from dataclasses import replace

    for text in ("one", "two"):
        memory.observe("x", text, scope="user:ann", pending=True)
    packet = memory.context(scope="user:ann")
    first = packet.pending[0]
    far = replace(packet, pending=(replace(first, seq=10**6),))
    assert memory.confirm(far).items[0].status == "stored"
    assert [m.text for m in memory.context(scope="user:ann").pending] == ["two"]
    unknown = replace(packet, pending=(replace(first, id="nothing", seq=10**6),))
    assert memory.confirm(unknown).items[0].status == "skipped"
    assert [m.text for m in memory.pending(scope="user:ann")] == ["two"]
    with pytest.raises(Invalid, match="not pending"):
        memory.confirm(replace(packet, pending=(replace(first, session="chat"),)))


def test_A10_upkeep_by_hand_tells_an_admin_of_one_scope_nothing_of_others(
    open_memory: OpenMemory, clock: MovableClock
) -> None:
    memory = open_memory(background=False)
    memory.observe("secret chat", "Please always call me Bob from secret town", scope="user:bob")
    memory.remember("soon gone", scope="user:bob", expires_at=clock.now + timedelta(seconds=1))
    engine = memory._memory._engine
    for _ in range(ATTEMPTS_MAX):
        run(memory, failed(engine, engine.store, "user:bob", "fold/chat", "the model is gone"))
    bobs = {record.id for record in memory.records(scope="user:bob").items}
    clock.forward(minutes=1)
    ann = holder(memory, "user:ann", rights=("read", "write", "admin"))
    receipt = run(memory, ann.maintain(retry=True))
    assert "bob" not in repr(receipt)
    assert not bobs & {id_ for item in receipt.items for id_ in (item.id, item.record)}
    assert memory.due(scope="user:bob").stuck, "others' stuck work is not hers to try again"
    with pytest.raises(Denied, match="whole store"):
        run(memory, ann.reembed())


def test_A10_upkeep_by_hand_loses_nobodys_counters(open_memory: OpenMemory) -> None:
    memory = open_memory(background=False)
    memory.remember("Bob likes tea", scope="user:bob")
    memory.recall("tea", scope="user:bob")
    run(memory, holder(memory, "user:ann", rights=("read", "write", "admin")).maintain())
    assert [record.uses for record in memory.records(types=["fact"]).items] == [1]
