"""Consolidation: a daily run that destroys nothing, is one change, and asks before it goes far."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from standfast import Conflict, Denied, Memory, Receipt, Unavailable
from standfast.changes import Change
from standfast.ports import Prompt, Reply
from standfast.testing.judge import ScriptedJudge
from standfast.testing.snapshots import Snapshot, snapshot
from standfast.types import Item, Listing, Record, Relation, Usage, Where
from standfast.upkeep.consolidate import apply_held, consolidate, consolidate_due, drop_held
from standfast.upkeep.leases import hold
from tests.requirements.asking import stored, stored_all, texts
from tests.requirements.conftest import MovableClock, OpenMemory

ANN = "user:ann"


def run(memory: Memory, work: Any) -> Any:
    return memory._loop.run(work)


def engine_of(memory: Memory) -> Any:
    return memory._memory._engine


def record(memory: Memory, id_: str) -> Record:
    [found] = memory.get([id_])
    return found


def light(memory: Memory, count: int, **options: Any) -> list[str]:
    """Facts that will be stale after ninety days without use."""
    chosen = {"scope": ANN, "durability": "ephemeral", "importance": 0.2, **options}
    texts = (f"Parcel number {n} is on its way" for n in range(count))
    return stored_all(memory, texts, **chosen)


def heavy(memory: Memory, count: int) -> list[str]:
    texts = (f"Contract {n} names supplier {n * 7}" for n in range(count))
    return stored_all(memory, texts, scope=ANN, importance=0.9)


def taken(memory: Memory) -> Snapshot:
    engine = engine_of(memory)
    return run(memory, snapshot(engine.store, ANN, now=engine.now(), namespaces=("policy",)))


def lines(receipt: Receipt) -> str:
    return "\n".join(f"{item.status} {item.reason}" for item in receipt.items)


def held(memory: Memory) -> list[Item]:
    engine = engine_of(memory)
    return run(memory, engine.store.items(ANN, "proposal", now=engine.now()))


def test_L11_stale_memories_are_archived_and_undo_brings_them_back(
    memory: Memory, clock: MovableClock
) -> None:
    old, kept = light(memory, 3), heavy(memory, 10)
    pinned = stored(memory, "Pinned parcel", scope=ANN, durability="ephemeral", importance=0.1,
                    tags=["pinned"])  # fmt: skip
    core = stored(memory, "Ann is allergic to nuts", scope=ANN, durability="core", importance=0.0)
    memory.observe("chat", ["I wait for a parcel"], scope=ANN)
    clock.forward(days=100)
    receipt = memory.maintain()
    assert "archived: unused for 100 days, importance 0.20" in lines(receipt)
    assert [record(memory, id_).status for id_ in old] == ["archived"] * 3
    assert {record(memory, id_).status for id_ in (*kept, pinned, core)} == {"active"}
    assert "I wait for a parcel" in texts(memory, "parcel", scope=ANN)
    memory.undo(receipt.change)
    assert [record(memory, id_).status for id_ in old] == ["active"] * 3
    clock.forward(days=2)
    memory.maintain()
    assert [record(memory, id_).status for id_ in old] == ["active"] * 3, "brought back: it stays"


def test_L11_a_dry_run_writes_nothing_and_says_what_it_would_do(
    memory: Memory, clock: MovableClock
) -> None:
    old = light(memory, 2)
    heavy(memory, 10)
    clock.forward(days=120)
    before = taken(memory)
    receipt = memory.maintain(dry_run=True)
    assert taken(memory) == before
    assert receipt.change == ""
    assert {item.status for item in receipt.items} == {"pending"}
    first = next(item for item in receipt.items if item.id == old[0])
    assert first.reason.startswith('would archive: "Parcel number 0 is on its way" (unused for 120')
    done = memory.maintain()
    assert {item.id for item in done.items} == {item.id for item in receipt.items}


def comparable(taken_: Snapshot) -> tuple[Any, ...]:
    """What undo must restore: everything but versions, uses, and what was made, archived now."""
    records = [
        replace(r, version=0, uses=0, used_at=None)
        for r in taken_.records
        if r.status != "archived"
    ]
    edges = [replace(e, version=0) for e in taken_.relations if e.retired_at is None]
    return records, edges, taken_.messages, taken_.summaries


def disputed_pair(memory: Memory, **second: Any) -> tuple[str, str]:
    """Two homes at once; who is right is unknown."""
    engine = engine_of(memory)
    one = stored(memory, "Ann lives in Berlin", scope="user:ann", author="ann")
    data = {"subject": "ann", "slot": "home", "exclusive": True}
    a = replace(record(memory, one), status="disputed", data={**data, "value": "berlin"})
    b = replace(a, id="other", text="Ann lives in Hamburg", hash="other", origin="other", version=0,
                data={**data, "value": "hamburg"}, **second)  # fmt: skip
    edge = Relation(scope=ANN, source=one, target="other", kind="contradicts",
                    learned_at=engine.now())  # fmt: skip
    batch = Change(engine, ANN, "test").batch(records=(a, b), relations=(edge,))
    run(memory, engine.store.commit(batch))
    return one, "other"


def supported(memory: Memory, id_: str) -> None:
    for text in ("The letter came from there", "The bus pass is of that town"):
        memory.relate(stored(memory, text, scope=ANN), "supports", id_)


def test_X4_undo_takes_a_whole_run_back(memory: Memory, clock: MovableClock) -> None:
    light(memory, 4)
    heavy(memory, 40)
    _, hamburg = disputed_pair(memory, valid_from=clock.now + timedelta(days=1))
    supported(memory, hamburg)
    memory.recall("contract 3 supplier", scope=ANN)
    clock.forward(days=400)
    memory.recall("contract 5 supplier", scope=ANN)
    before = taken(memory)
    receipt = memory.maintain()
    said = lines(receipt)
    for part in ("archived", "superseded", "settled", "importance", "profile"):
        assert part in said, part
    assert comparable(taken(memory)) != comparable(before)
    memory.undo(receipt.change)
    assert comparable(taken(memory)) == comparable(before)


def test_X6_a_contradiction_that_became_decidable_is_decided(
    memory: Memory, clock: MovableClock
) -> None:
    berlin, hamburg = disputed_pair(memory, valid_from=clock.now + timedelta(days=5))
    memory.maintain()
    assert {record(memory, id_).status for id_ in (berlin, hamburg)} == {"disputed"}
    clock.forward(days=10)
    supported(memory, hamburg)
    memory.maintain()
    assert record(memory, berlin).status == "superseded"
    assert record(memory, hamburg).status == "active"
    before = (clock.now - timedelta(days=8)).isoformat()
    assert texts(memory, "where does Ann live", scope=ANN, as_of=before) == ["Ann lives in Berlin"]


def test_X6_the_side_that_the_user_said_again_wins(
    open_memory: OpenMemory, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the judge sees no change in it, upkeep counts who said what again."""
    judge = ScriptedJudge({("Hamburg", "Hamburg"): ("same", 1.0)})
    monkeypatch.setattr("standfast.wiring._judge", lambda _: (judge, ""))
    memory = open_memory()
    berlin, hamburg = disputed_pair(memory)
    memory.maintain()
    assert record(memory, berlin).status == "disputed"
    clock.forward(days=1)
    memory.observe("chat", ["Ann lives in Hamburg."], scope=ANN, author="ann")
    receipt = memory.maintain()
    assert record(memory, hamburg).status == "active", lines(receipt)
    assert record(memory, berlin).status == "superseded"


def test_X6_a_later_word_about_a_dispute_takes_the_place_of_both(
    memory: Memory, clock: MovableClock
) -> None:
    pair = disputed_pair(memory)
    clock.forward(days=1)
    memory.observe("chat", ["Ann lives in Hamburg."], scope=ANN, author="ann")
    receipt = memory.maintain()
    assert {record(memory, id_).status for id_ in pair} == {"superseded"}, lines(receipt)
    [left] = memory.recall("where does Ann live", scope=ANN, types=["fact"]).hits
    assert (left.record.text, left.record.status) == ("Ann lives in Hamburg.", "active")


def test_X6_a_disputed_statement_is_not_known_twice(memory: Memory) -> None:
    berlin, _ = disputed_pair(memory)
    receipt = memory.remember("Ann lives in Berlin", scope=ANN, source="web")
    assert [(item.id, item.status) for item in receipt.items] == [(berlin, "merged")]
    assert record(memory, berlin).status == "disputed"


@pytest.mark.parametrize("way", ["forget", "archive"])
def test_X6_without_opponent_a_memory_is_active_again(memory: Memory, way: str) -> None:
    berlin, hamburg = disputed_pair(memory)
    if way == "forget":
        memory.forget(ids=[berlin])
    else:
        memory.archive([berlin])
    memory.maintain()
    assert record(memory, hamburg).status == "active"


def test_L11_near_duplicates_that_came_without_vectors_are_joined(
    open_memory: OpenMemory, clock: MovableClock
) -> None:
    memory = open_memory(embedder="none")
    engine = engine_of(memory)
    first = stored(memory, "The team meets on Tuesdays at noon", scope=ANN, tags=["a"])
    again = replace(record(memory, first), id="again", hash="again", version=0, tags=("b",),
                    text="The team meets on Tuesdays at noon.", origin="again")  # fmt: skip
    run(memory, engine.store.commit(Change(engine, ANN, "x").batch(records=(again,))))
    engine.embedder = engine_of(open_memory("dict:")).embedder
    clock.forward(hours=1)
    receipt = memory.maintain()
    assert record(memory, "again").status == "superseded", lines(receipt)
    assert record(memory, first).tags == ("a", "b")
    edges = run(memory, engine.store.relations(ANN, ["again"]))
    assert [(e.source, e.kind) for e in edges if e.target == "again"] == [(first, "supersedes")]


def test_L11_importance_moves_with_use_and_only_once(memory: Memory, clock: MovableClock) -> None:
    used = stored(memory, "The garage code is on the board", scope=ANN)
    idle = stored(memory, "The cellar was painted green", scope=ANN)
    core = stored(memory, "Ann is a pilot", scope=ANN, durability="core")
    memory.maintain()
    clock.forward(days=31)
    memory.recall("garage code", scope=ANN, limit=1)
    memory.maintain()
    assert record(memory, used).importance > 0.52
    assert record(memory, idle).importance == pytest.approx(0.47)
    assert record(memory, core).importance == 0.5
    before = taken(memory).records
    memory.maintain()
    assert taken(memory).records == before


def test_L11_a_run_that_would_retire_too_much_asks_first(
    memory: Memory, clock: MovableClock
) -> None:
    old = light(memory, 6)
    heavy(memory, 20)
    clock.forward(days=100)
    before = taken(memory).records
    receipt = memory.maintain()
    assert taken(memory).records == before
    [item] = [item for item in receipt.items if item.status == "pending"]
    assert "would retire 6 of 26 memories" in item.reason
    assert "maintain --force" in item.reason
    [proposal] = held(memory)
    assert item.id == proposal.key
    assert "Parcel" not in str(proposal.value), "a proposal carries no text"
    clock.forward(days=1)
    memory.maintain()
    assert [item.key for item in held(memory)] == [proposal.key], "one proposal a root"
    done = memory.maintain(force=True)
    assert {record(memory, id_).status for id_ in old} == {"archived"}
    assert held(memory) == []
    memory.undo(done.change)
    assert {record(memory, id_).status for id_ in old} == {"active"}


def test_L11_a_held_plan_can_be_approved_or_turned_down(
    memory: Memory, clock: MovableClock
) -> None:
    old = light(memory, 8)
    clock.forward(days=100)
    memory.maintain()
    [proposal] = held(memory)
    memory.remember("Parcel number 3 is on its way", scope=ANN, tags=["seen"])
    receipt = run(memory, apply_held(engine_of(memory), proposal, "ann"))
    assert [item.status for item in receipt.items].count("stored") == 7
    assert record(memory, old[3]).status == "active", "it was changed meanwhile"
    assert held(memory) == []
    memory.undo(receipt.change)
    with pytest.raises(Conflict):
        run(memory, apply_held(engine_of(memory), proposal, "ann"))
    more = light(memory, 8, scope=f"{ANN}:agent:x")
    clock.forward(days=100)
    memory.maintain()
    [proposal] = held(memory)
    run(memory, drop_held(engine_of(memory), proposal, "ann"))
    memory.maintain()
    assert held(memory) == []
    assert {record(memory, id_).status for id_ in more} == {"active"}


def test_L11_one_scope_can_be_consolidated_by_itself(memory: Memory, clock: MovableClock) -> None:
    ours, theirs = light(memory, 2, scope="org:acme:team:a"), light(memory, 2, scope="org:acme")
    elsewhere = light(memory, 1)
    clock.forward(days=100)
    memory.maintain(scope="org:acme:team:a")
    assert {record(memory, id_).status for id_ in ours} == {"archived"}
    assert {record(memory, id_).status for id_ in (*theirs, *elsewhere)} == {"active"}
    memory.maintain()
    assert {record(memory, id_).status for id_ in (*theirs, *elsewhere)} == {"archived"}


def test_a_bound_handle_consolidates_its_own_scope(open_memory: OpenMemory) -> None:
    with pytest.raises(Denied):
        open_memory("dict:", scope="user:bob").maintain(scope=ANN)


def test_L11_the_background_waits_a_day_between_runs(memory: Memory, clock: MovableClock) -> None:
    heavy(memory, 3)
    engine = engine_of(memory)
    run(memory, consolidate_due(engine))
    old = light(memory, 1, importance=0.1)
    clock.forward(hours=23)
    engine.profile = replace(engine.profile, stale={"ephemeral": _at_once()})
    assert run(memory, consolidate_due(engine)).items == ()
    clock.forward(hours=2)
    run(memory, consolidate_due(engine))
    assert record(memory, old[0]).status == "archived"


def _at_once() -> Any:
    from standfast.profiles import Stale

    return Stale(unused_days=0, importance_below=0.5)


def test_L11_two_workers_do_not_both_run(memory: Memory, clock: MovableClock) -> None:
    light(memory, 3)
    heavy(memory, 5)
    clock.forward(days=100)
    engine = engine_of(memory)

    async def both() -> list[Receipt]:
        return await asyncio.gather(consolidate(engine), consolidate(engine))

    first, second = run(memory, both())
    archived = [i for r in (first, second) for i in r.items if i.reason.startswith("archived")]
    assert len(archived) == 3
    run(memory, hold(engine, engine.store, ANN, "consolidate", 60, "somebody"))
    assert "another worker" in lines(memory.maintain())
    clock.forward(minutes=2)
    assert "another worker" not in lines(memory.maintain())


class Writer:
    """A model that writes a profile; ``answer`` decides how well."""

    name = "writer"

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.asked: list[Prompt] = []

    async def ask(self, prompt: Prompt) -> Reply:
        self.asked.append(prompt)
        if self.answer == "down":
            raise Unavailable("the model is down")
        said = [line.removeprefix("- ") for line in prompt.user.splitlines() if "- " in line]
        text = "Profile of user:ann: " + "; ".join(said)
        if self.answer == "lies":
            text += ". Ann moved to Rome in 1999."
        return Reply(text=text, data={"profile": text}, usage=Usage(calls=1, tokens_in=50))


@pytest.mark.parametrize("answer", ["", "good", "lies", "down"])
def test_L11_X12_a_scope_with_many_facts_gets_a_profile(
    open_memory: OpenMemory, answer: str, clock: MovableClock
) -> None:
    writer = Writer(answer)
    memory = open_memory(**({"model": writer} if answer else {}))
    ids = heavy(memory, 25)
    receipt = memory.maintain()
    [made] = [item for item in receipt.items if item.reason.startswith("profile")]
    profile = record(memory, made.id)
    assert profile.text.startswith("Profile of user:ann:")
    assert "Rome" not in profile.text
    assert (profile.type, profile.tags, profile.source) == ("summary", ("profile",), "assistant")
    assert set(profile.derived_from) < set(ids)
    assert len(writer.asked) == (0 if not answer else 3 if answer == "down" else 1)
    if answer:
        assert writer.asked[0].operation == "consolidate"
        assert receipt.usage.calls >= 1
        assert ("is an extract" in " ".join(receipt.notes)) == (answer in ("lies", "down"))
    clock.forward(days=2)
    assert "profile" not in lines(memory.maintain()), "the facts are the same"
    memory.forget(ids=[profile.derived_from[0]])
    assert memory.get([profile.id]) == ()
    later = memory.maintain()
    assert "profile" in lines(later)
    [again] = [item for item in later.items if item.reason.startswith("profile")]
    memory.forget(ids=[again.id])
    assert "profile" not in lines(memory.maintain()), "forgotten: not made again of the same"


def test_L11_a_new_profile_supersedes_the_old(memory: Memory) -> None:
    heavy(memory, 25)
    first = next(i.id for i in memory.maintain().items if i.reason.startswith("profile"))
    weighty = [
        stored(memory, f"Rule {n}: ask {n} people", scope=ANN, importance=1.0) for n in range(3)
    ]
    second = next(i.id for i in memory.maintain().items if i.reason.startswith("profile"))
    assert record(memory, first).status == "superseded"
    assert set(weighty) <= set(record(memory, second).derived_from)


def test_X8_the_stable_block_changes_when_upkeep_chooses(memory: Memory) -> None:
    rules = (f"Core rule {n} of many" for n in range(205))  # more than a packet ever opens with
    stored_all(memory, rules, scope=ANN, durability="core", importance=0.5)
    memory.maintain()
    before = memory.context(scope=ANN, query="")
    stored(memory, "A weightier rule", scope=ANN, durability="core", importance=0.9)
    assert memory.context(scope=ANN, query="").hash == before.hash
    memory.maintain()
    after = memory.context(scope=ANN, query="")
    assert "A weightier rule" in after.stable_text
    assert after.stable_text.index("Core rule") < after.stable_text.index("A weightier rule")


def test_X8_where_the_stable_block_is_short_the_weightiest_are_in_it(memory: Memory) -> None:
    for n in range(8):
        stored(memory, f"Core rule {n} of many", scope=ANN, durability="core", importance=0.5)
    stored(memory, "A weightier rule", scope=ANN, durability="core", importance=0.9)
    packet = memory.context(scope=ANN, query="", tokens=450)
    assert "A weightier rule" in packet.stable_text
    assert "Core rule 0" in packet.stable_text
    assert "Core rule 7" not in packet.stable_text
    assert any(hit.record.text == "Core rule 7 of many" for hit in packet.near_misses)


def test_X3_a_step_that_somebody_was_faster_with_is_skipped_and_said(
    memory: Memory, clock: MovableClock
) -> None:
    old = light(memory, 3)
    heavy(memory, 5)
    clock.forward(days=100)
    engine = engine_of(memory)
    inner = engine.store.commit
    racing = True

    async def slow_commit(batch: Any) -> int:
        nonlocal racing
        if batch.reason == "consolidate" and racing:
            racing = False
            [one] = await engine.store.records(ANN, [old[1]], now=engine.now())
            touched = replace(one, tags=("mine",))
            await inner(Change(engine, ANN, "race").batch(records=(touched,)))
        seq: int = await inner(batch)
        return seq

    engine.store.commit = slow_commit
    receipt = memory.maintain()
    by_id = {item.id: item for item in receipt.items}
    assert by_id[old[1]].status == "skipped"
    assert "changed meanwhile" in by_id[old[1]].reason
    assert [record(memory, id_).status for id_ in old] == ["archived", "active", "archived"]


def test_L11_nothing_is_ever_erased(memory: Memory, clock: MovableClock) -> None:
    light(memory, 5)
    heavy(memory, 30)
    disputed_pair(memory, valid_from=clock.now + timedelta(days=1))
    clock.forward(days=900)
    before = {r.id for r in taken(memory).records}
    memory.maintain(force=True)
    after = taken(memory)
    assert before <= {r.id for r in after.records}
    erased = [t for e in after.journal for t in e.touched if t.kind == "record" and not t.after]
    assert erased == []


def test_L11_everything_of_a_run_is_one_change_in_small_commits(
    memory: Memory, clock: MovableClock
) -> None:
    ids = stored_all(memory, (f"Shelf {n} holds box {n * 3}" for n in range(130)), scope=ANN)
    clock.forward(days=30)
    receipt = memory.maintain()
    engine = engine_of(memory)
    entries = run(memory, engine.store.journal(ANN, change=receipt.change))
    sizes = [sum(1 for t in e.touched if t.kind == "record") for e in entries]
    assert sum(sizes) >= len(ids)
    assert max(sizes) <= 100
    assert len(entries) > 2
    listing = Listing(where=Where(scopes=(ANN,), now=clock.now, types=("fact",)), limit=200)
    listed = run(memory, engine.store.listing(listing))
    assert {round(record.importance, 2) for record in listed} == {0.47}


def test_X10_who_opted_out_gets_no_profile(memory: Memory) -> None:
    heavy(memory, 25)
    memory.set_policy(ANN, persist=False)
    assert "profile" not in lines(memory.maintain())


def test_X4_each_root_has_a_change_of_its_own(memory: Memory, clock: MovableClock) -> None:
    [ours], [theirs] = light(memory, 1), light(memory, 1, scope="user:bob")
    clock.forward(days=100)
    receipt = memory.maintain()
    assert receipt.change == ""
    named = {note.split()[1].rstrip(":"): note.split()[-1] for note in receipt.notes
             if note.startswith("consolidated")}  # fmt: skip
    assert named.keys() == {ANN, "user:bob"}
    memory.undo(named[ANN])
    assert record(memory, ours).status == "active"
    assert record(memory, theirs).status == "archived"


def test_L11_the_share_can_be_set(
    open_memory: OpenMemory, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STANDFAST_CONSOLIDATE_SHARE_MAX", "1")
    memory = open_memory()
    old = light(memory, 8)
    clock.forward(days=100)
    memory.maintain()
    assert {record(memory, id_).status for id_ in old} == {"archived"}


def test_L11_a_dry_run_does_not_even_count_uses(memory: Memory) -> None:
    id_ = stored(memory, "Ann likes tea", scope=ANN)
    memory.recall("tea", scope=ANN)
    memory.maintain(dry_run=True)
    assert record(memory, id_).uses == 0
    memory.maintain()
    assert record(memory, id_).uses == 1
