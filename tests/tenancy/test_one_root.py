"""A10: people who share a root, such as the agents of one company, are strangers all the same.
What is above them all can be read by each and changed by none."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from standfast import Memory
from standfast.types import Relation
from tests.tenancy.comparing import leaks
from tests.tenancy.crafting import AT, file_of, record
from tests.tenancy.estates import Estate, exported
from tests.tenancy.surfaces import Call, Library, Said, call
from tests.tenancy.world import ABOVE, CTO, World, opened, state_of

SIBLING = "org:x:agent:b"


class Place:
    """A world with everything in it, its owner, and one of two who share a root."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.owner = opened(world.crowded)
        self.cto = opened(world.crowded, CTO)
        self.theirs: Estate = world.others[SIBLING]
        self.own: Estate = world.own[CTO]
        self.touched = False  # by its owner, for the sake of the test

    def tell(self, asked: Call) -> Said:
        """What the attacker is told; nothing of others, whatever it is."""
        said = Library(self.cto).ask(asked)
        assert not leaks(said, asked, self.world.others), f"{asked}: {said.text[:3000]}"
        return said

    def imported(self, lines: bytes) -> Said:
        return self.tell(call("import_from", lines=lines))

    def close(self) -> None:
        self.cto.close()
        self.owner.close()


@pytest.fixture
def place(built: World, others_state: list[bytes], tmp_path: Path) -> Iterator[Place]:
    found = Place(built.copied(tmp_path))
    above = exported(found.owner, ABOVE)
    yield found
    if not found.touched:
        assert state_of(found.owner, found.world.others) == others_state
        assert [line for line in exported(found.owner, ABOVE) if line not in above] == []
    found.close()


def above_id(memory: Memory) -> str:
    (found,) = [r for r in memory.records(scope=ABOVE).items if r.scope == ABOVE]
    return found.id


ABOVE_CHANGES: dict[str, Callable[[str], Call]] = {
    "supersede": lambda id_: call("remember", text="Nobody may read this", supersedes=id_),
    "forget": lambda id_: call("forget", ids=[id_]),
    "archive": lambda id_: call("archive", ids=[id_]),
    "revoke": lambda id_: call("revoke", ids=[id_]),
    "relate from": lambda id_: call("relate", source=id_, kind="supports", target="OWN"),
    "reject": lambda id_: call("resolve", id=id_, action="reject"),
    "use": lambda id_: call("procedure_used", id_or_name=id_, success=True),
    "remember": lambda _: call("remember", text="x", scope=ABOVE),
    "observe": lambda _: call("observe", session="s", messages=["x"], scope=ABOVE),
    "opt out": lambda _: call("set_policy", scope=ABOVE, persist=False),
    "export": lambda _: call("export_to", scope=ABOVE),
    "consolidate": lambda _: call("maintain", scope=ABOVE),
}


def test_A10_what_is_above_is_read_and_not_changed(place: Place) -> None:
    id_ = above_id(place.owner)
    assert [one.id for one in place.cto.get([id_])] == [id_]
    for name, asks in ABOVE_CHANGES.items():
        asked = asks(id_)
        given = {k: place.own.ids["fact"] if v == "OWN" else v for k, v in asked.arguments.items()}
        place.tell(Call(asked.verb, given))
        assert place.owner.get([id_])[0].status == "active", name


def test_A10_what_is_above_can_be_replaced_for_oneself_only(place: Place) -> None:
    id_ = above_id(place.owner)
    said = "Everybody at X may read this"
    place.cto.remember("The cto may read this", supersedes=id_)
    assert id_ not in {hit.record.id for hit in place.cto.recall(said).hits}
    with opened(place.world.crowded, SIBLING) as sibling:
        assert id_ in {hit.record.id for hit in sibling.recall(said).hits}
    place.touched = True  # recalled, which is counted
    assert place.owner.get([id_])[0].status == "active"


@pytest.mark.parametrize("field", ["origin", "derived_from"])
def test_A10_a_crafted_source_does_not_take_others_along(place: Place, field: str) -> None:
    theirs = place.theirs.ids["fact"]
    value = theirs if field == "origin" else (theirs,)
    mine = record(CTO, "crafted-1", **{field: value})
    place.imported(file_of(mine))
    place.tell(call("forget", ids=["crafted-1"], dry_run=True))
    place.tell(call("forget", ids=["crafted-1"], sources=True, dry_run=True))
    place.tell(call("revoke", ids=["crafted-1"]))
    place.tell(call("forget", ids=["crafted-1"], sources=True))


def test_A10_an_imported_edge_needs_both_records_to_be_seen(place: Place) -> None:
    ids = place.theirs.ids
    mine = place.own.ids["fact"]
    for source, target in ((ids["fact"], ids["core"]), (mine, ids["fact"]), (ids["fact"], mine)):
        edge = Relation(scope=CTO, source=source, target=target, kind="supersedes", learned_at=AT)
        nobody = Relation(
            scope=CTO,
            source=source if source == mine else "nobody-1",
            target=target if target == mine else "nobody-2",
            kind="supersedes",
            learned_at=AT,
        )
        told, missing = place.imported(file_of(edge)), place.imported(file_of(nobody))
        ends = {source: "nobody-1", target: "nobody-2"}
        plain = told.text
        for id_, other in ends.items():
            plain = plain if id_ == mine else plain.replace(id_, other)
        assert plain == missing.text


def test_A10_an_import_does_not_tell_whether_a_guess_was_right(place: Place) -> None:
    theirs = place.owner.get([place.theirs.ids["fact"]])[0]
    right = place.imported(file_of(record(CTO, theirs.id, theirs.text)))
    wrong = place.imported(file_of(record(CTO, theirs.id, "a wrong guess")))
    assert right.text == wrong.text


def test_A10_what_was_held_for_all_is_not_replaced_by_one(tmp_path: Path) -> None:
    """A consolidation that would retire too much is put down where its owner finds it."""
    later = datetime.now(UTC) + timedelta(days=100)
    with opened(tmp_path / "held.db") as owner:
        for scope in (CTO, SIBLING):
            for number in range(8):
                text = f"Parcel number {number} of {scope} is on its way"
                owner.remember(text, scope=scope, importance=0.2, durability="ephemeral")
    with opened(tmp_path / "held.db", clock=lambda: later) as owner:
        owner.maintain()
        [of_all] = owner.review(scope=ABOVE)
        assert len(of_all.touches) == 16
        with opened(tmp_path / "held.db", CTO, clock=lambda: later) as cto:
            cto.maintain()
            [of_mine] = cto.review()
            assert {one.scope for one in of_mine.touches} == {CTO}
            assert of_all in owner.review(scope=ABOVE)
            cto.resolve(of_mine.id, "approve")
            assert cto.review() == ()
        assert {r.status for r in owner.records(scope=SIBLING).items} == {"active"}


def test_A10_an_edge_to_somebody_elses_record_is_not_shown(place: Place) -> None:
    """Only somebody above both can make one."""
    mine, theirs = place.own.ids["fact"], place.theirs.ids["fact"]
    receipt = place.owner.relate(mine, "supports", theirs)
    for asked in (
        call("relations", id=mine),
        call("history", id=mine),
        call("history"),
        call("changes", limit=500),
        call("export_to"),
        call("undo", change=receipt.change),
    ):
        place.tell(asked)
    place.owner.undo(receipt.change)


def test_A10_what_others_made_of_it_is_not_named(place: Place) -> None:
    told = place.cto.remember("The cto founded the company")
    mine = told.items[0].id
    made = record(SIBLING, "made-of-it", "zanzibar made of it", derived_from=(mine,))
    place.owner.import_from(io.BytesIO(file_of(made)))
    place.touched = True
    asked = [call("undo", change=told.change), call("revoke", ids=[mine], dry_run=True)]
    asked += [call("forget", ids=[mine], dry_run=True), call("forget", ids=[mine])]
    for one in asked:
        said = place.tell(one)
        assert "made-of-it" not in said.text, f"{one}: {said.text}"
