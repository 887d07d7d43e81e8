"""What a person does with one belief: edit, pin, dispute; why it did not come; which scopes there
are; what a session was folded into. On every store, and through a server."""

from __future__ import annotations

import pytest

from standfast import Memory
from standfast.errors import Invalid, NotFound
from tests.requirements.conftest import OpenMemory

ANN = "user:ann"


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory(embedder="hashing")


def said(memory: Memory, query: str, scope: str = ANN) -> list[str]:
    return [hit.record.text for hit in memory.recall(query, scope=scope).hits]


def kept(memory: Memory, text: str, scope: str = ANN) -> str:
    return memory.remember(text, scope=scope, tags=["home"]).items[0].id


def test_X15_edit_supersedes_and_undo_brings_back(memory: Memory) -> None:
    old = kept(memory, "Ann lives in Graz")
    receipt = memory.edit(old, "Ann lives in Vienna")
    assert said(memory, "where does Ann live?") == ["Ann lives in Vienna"]
    (new,) = memory.get([receipt.items[0].id])
    assert (new.tags, new.scope, new.source) == (("home",), ANN, "user")
    assert memory.get([old])[0].status == "superseded"
    edges = {(edge.source, edge.kind, edge.target) for edge in memory.relations(old)}
    assert edges == {(new.id, "supersedes", old)}
    memory.undo(receipt.change)
    assert said(memory, "where does Ann live?") == ["Ann lives in Graz"]


def test_X15_an_edit_that_changes_nothing_writes_nothing(memory: Memory) -> None:
    old = kept(memory, "Ann lives in Graz")
    receipt = memory.edit(old, " Ann lives in Graz ")
    assert (receipt.items[0].status, receipt.change) == ("skipped", "")


def test_X15_edit_refuses_what_is_no_statement(memory: Memory) -> None:
    memory.observe("chat", ["I live in Graz"], scope=ANN)
    turn = next(one for one in memory.records(scope=ANN).items if one.type == "turn")
    with pytest.raises(Invalid, match="what somebody said"):
        memory.edit(turn.id, "something else")
    saved = memory.save_procedure("deploy", ["push"], scope=ANN).items[0].id
    with pytest.raises(Invalid, match="save_procedure"):
        memory.edit(saved, "something else")
    with pytest.raises(NotFound):
        memory.edit("nobody", "something else")
    with pytest.raises(Invalid, match="empty"):
        memory.edit(kept(memory, "Ann has a dog"), "   ")


def test_X15_editing_one_side_of_a_dispute_frees_the_other(memory: Memory) -> None:
    one = kept(memory, "Tea is at four")
    memory.dispute(one, text="Tea is at five")
    assert [item.kind for item in memory.review(scope=ANN)] == ["disputed"]
    newer = memory.review(scope=ANN)[0].id
    memory.edit(newer, "Coffee is at ten")
    assert memory.review(scope=ANN) == ()
    assert memory.get([one])[0].status == "active"


def test_X15_pinned_is_core_until_it_is_not(memory: Memory) -> None:
    one = kept(memory, "Ann collects stamps")
    first = memory.pin([one])
    assert memory.get([one])[0].durability == "core"
    assert memory.pin([one]).items[0].status == "skipped"
    memory.pin([one], pinned=False)
    assert memory.get([one])[0].durability == "standard"
    assert memory.pin(["nobody"]).items[0].reason == "there is no such record"
    assert first.change


def test_X15_pin_is_undone(memory: Memory) -> None:
    one = kept(memory, "Ann collects stamps")
    memory.undo(memory.pin([one]).change)
    assert memory.get([one])[0].durability == "standard"


def test_X15_a_dispute_waits_for_a_person_and_is_decided(memory: Memory) -> None:
    one = kept(memory, "Tea is at four")
    memory.dispute(one, text="Tea is at five")
    (item,) = memory.review(scope=ANN)
    assert {item.record.text if item.record else "", item.touches[0].text} == {
        "Tea is at four", "Tea is at five"}  # fmt: skip
    memory.resolve(item.id, "reject")
    assert said(memory, "tea") == ["Tea is at four"]


def test_X15_a_dispute_by_another_record(memory: Memory) -> None:
    one, other = kept(memory, "Tea is at four"), kept(memory, "The kitchen closes at three")
    memory.dispute(one, by=other)
    assert {record.status for record in memory.get([one, other])} == {"disputed"}
    with pytest.raises(Invalid, match="nothing speaks against it"):
        memory.dispute(one, by=one)
    for wrong in ({}, {"text": "x", "by": other}):
        with pytest.raises(Invalid, match="say what speaks against it"):
            memory.dispute(one, **wrong)


def test_X15_undo_can_be_looked_at_first(memory: Memory) -> None:
    one = kept(memory, "Tea is at four")
    receipt = memory.archive([one])
    plan = memory.undo(receipt.change, dry_run=True)
    assert [(item.id, item.status) for item in plan.items] == [(one, "restored")]
    assert plan.change == ""
    assert memory.get([one])[0].status == "archived"
    memory.undo(receipt.change)
    assert memory.get([one])[0].status == "active"


def test_X15_why_not_names_the_step(memory: Memory) -> None:
    first = kept(memory, "The red bicycle is in the cellar")
    for n in range(3):
        kept(memory, f"The red bicycle number {n} is in the yard of house {n}")
    here = memory.why_not(first, "red bicycle cellar", scope=ANN)
    assert here.notes[0].startswith("it is returned, at place 1")
    assert "the limit is 1" in memory.why_not(first, "bicycle yard", scope=ANN, limit=1).notes[0]
    assert "threshold" in memory.why_not(first, "bicycle", scope=ANN, threshold=1.0).notes[0]
    assert "no word" in memory.why_not(first, "quantum xylophone", scope=ANN).notes[0]
    assert "its type is fact" in memory.why_not(first, "bicycle", types=["turn"]).notes[0]
    assert "not looked in" in memory.why_not(first, "bicycle", scope="user:bob").notes[0]
    memory.archive([first])
    assert "it is archived" in memory.why_not(first, "bicycle", scope=ANN).notes[0]
    with pytest.raises(NotFound):
        memory.why_not("nobody", "bicycle")


def test_X15_looking_is_not_using(memory: Memory) -> None:
    one = kept(memory, "The red bicycle is in the cellar")
    memory.recall("bicycle", scope=ANN, explain=True)
    memory.why_not(one, "bicycle", scope=ANN)
    memory.maintain()
    assert memory.get([one])[0].uses == 0
    memory.recall("bicycle", scope=ANN)
    memory.maintain()
    assert memory.get([one])[0].uses == 1


def test_X15_a_question_under_another_profile(memory: Memory) -> None:
    kept(memory, "The red bicycle is in the cellar")
    stages = {
        name: [why.stage for why in memory.recall("bicycle", scope=ANN, profile=name).hits[0].why]
        for name in ("default", "otto")
    }
    assert stages["default"] != stages["otto"]
    with pytest.raises(Invalid, match="no profile"):
        memory.recall("bicycle", profile="nobody")


def test_X15_scopes_are_a_tree_with_counts(memory: Memory) -> None:
    kept(memory, "Ann lives in Graz")
    kept(memory, "The web shop is blue", scope=f"{ANN}:project:web")
    gone = kept(memory, "The web shop is green and yellow", scope=f"{ANN}:project:web")
    kept(memory, "Acme builds anvils", scope="org:acme:agent:cto")
    memory.archive([gone])
    found = {one.scope: (one.records, one.believed, one.below) for one in memory.scopes().items}
    assert found == {
        "org:acme": (0, 0, 1),
        "org:acme:agent:cto": (1, 1, 1),
        ANN: (1, 1, 3),
        f"{ANN}:project:web": (2, 1, 2),
    }
    assert [one.scope for one in memory.scopes(scope=f"{ANN}:project:web").items] == [
        ANN, f"{ANN}:project:web"]  # fmt: skip
    pages = []
    cursor = ""
    while True:
        page = memory.scopes(limit=1, cursor=cursor)
        pages += [one.scope for one in page.items]
        cursor = page.next
        if not cursor:
            break
    assert pages == sorted(found)


def test_X15_messages_around_one(memory: Memory) -> None:
    messages = [{"role": "user", "content": f"line {n}", "id": f"m{n}"} for n in range(1, 31)]
    memory.observe("chat", messages, scope=ANN)
    page = memory.messages("chat", scope=ANN, around="m20", limit=6)
    assert [one.id for one in page.items] == ["m19", "m20", "m21", "m22", "m23", "m24"]
    behind = memory.messages("chat", scope=ANN, around="m20", limit=6, cursor=page.next)
    assert behind.items[0].id == "m25"
    with pytest.raises(NotFound):
        memory.messages("chat", scope=ANN, around="nobody")
    with pytest.raises(Invalid):
        memory.messages("chat", scope=ANN, around="m20", newest=True)


def test_X15_summaries_of_a_session_are_listed(memory: Memory) -> None:
    messages = [
        {"role": "user", "content": f"On day {n} the ship reached harbour {n}. " + "Rain. " * 200}
        for n in range(60)
    ]
    memory.observe("log", messages, scope=ANN)
    memory.maintain()
    found = memory.summaries("log", scope=ANN)
    assert found
    assert found[0].from_seq == 1
    with pytest.raises(NotFound):
        memory.summaries("nobody", scope=ANN)
