"""forget never erases what somebody else said unless that was agreed to, and lists it before."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from standfast import Invalid, Memory, Message, Receipt, Record
from tests.conftest import PROVING
from tests.requirements.asking import statuses, stored, stored_all
from tests.requirements.conftest import MovableClock, OpenMemory

TEAM = "org:acme"
AUTHORS = ("ann", "ben", "cleo")
# Enough for a profile of the scope, which is made of everybody's facts.
VENDORS = [f"Vendor {n} in town {n} costs {n * 7 + 3} euros a year" for n in range(24)]

Held = dict[tuple[str, ...], Record | Message]


def held(memory: Memory, scope: str = TEAM) -> Held:
    """Every record and message of a scope, by id."""
    found: Held = {}
    every: Any = ["active", "disputed", "superseded", "archived", "quarantined"]
    listed = memory.records(scope=scope, descend=True, statuses=every, limit=1000)
    found.update({("record", one.id): one for one in listed.items})
    for session in memory.sessions(scope=scope, descend=True, limit=100).items:
        for one in memory.messages(session.id, scope=session.scope, limit=1000).items:
            found["message", session.scope, session.id, one.id] = one
    return found


def team(memory: Memory) -> dict[str, str]:
    """Everybody's facts and the profile that retells them; ids by text."""
    ids: dict[str, str] = {}
    for number, author in enumerate(AUTHORS):
        own = VENDORS[number::3]
        ids |= zip(own, stored_all(memory, own, scope=TEAM, author=author), strict=True)
    memory.maintain()
    assert profiles(memory), "there is a profile"
    return ids


def profiles(memory: Memory) -> list[Record]:
    listed = memory.records(scope=TEAM, types=["summary"], tags=["profile"]).items
    return [one for one in listed if one.status == "active"]


# Aggregates


def test_X10_forgetting_with_sources_leaves_what_others_said(memory: Memory) -> None:
    """Each fact leads down to the scope's profile, and that led up to the facts of everybody."""
    ids = team(memory)
    before = held(memory)
    assert VENDORS[0] in profiles(memory)[0].text
    plan = memory.forget(ids=[ids[VENDORS[0]]], sources=True, dry_run=True)
    assert [item.reason.rpartition(" and ")[2] for item in plan.items] == [
        "dry run: would be erased",
        "made again without it",
    ]
    receipt = memory.forget(ids=[ids[VENDORS[0]]], sources=True)
    after = held(memory)
    gone = {one.text for key, one in before.items() if key not in after}
    assert {text for text in gone if text in VENDORS} == {VENDORS[0]}
    assert receipt.survivors == ()
    assert not any(VENDORS[0] in one.text for one in after.values())


def test_X10_a_profile_is_made_again_without_what_was_forgotten(
    memory: Memory, clock: MovableClock
) -> None:
    ids = team(memory)
    memory.forget(ids=[ids[VENDORS[0]]], sources=True)
    clock.forward(minutes=5)
    memory.maintain()
    texts = [one.text for one in profiles(memory)]
    assert len(texts) == 1
    assert VENDORS[0] not in texts[0]
    assert VENDORS[1] in texts[0]


def test_X10_a_profile_is_made_again_even_if_its_words_stay_the_same(
    memory: Memory, clock: MovableClock
) -> None:
    """What was forgotten stood in none of its words: erasing it forbade them for ever."""
    long = " and is paid by bank transfer on the first working day of the month" * 6
    ids = stored_all(memory, [text + long for text in VENDORS], scope=TEAM, author="ann")
    memory.maintain()
    before = profiles(memory)[0]
    unsaid = [
        id_ for id_ in before.derived_from if f"{VENDORS[ids.index(id_)]} " not in before.text
    ]
    assert unsaid
    clock.forward(minutes=5)
    memory.forget(ids=unsaid[:1])
    assert profiles(memory) == []
    clock.forward(minutes=5)
    memory.maintain()
    assert [one.text for one in profiles(memory)] == [before.text]


def test_X10_a_profile_that_is_chosen_leads_to_nothing(memory: Memory) -> None:
    team(memory)
    before = held(memory)
    receipt = memory.forget(ids=[profiles(memory)[0].id], sources=True)
    assert len(receipt.items) == 1
    assert receipt.survivors == ()
    assert len(held(memory)) == len(before) - 1


def test_X10_an_episode_that_is_chosen_leads_to_no_message(memory: Memory) -> None:
    talk = [
        {"role": "user", "author": "ann", "content": "Please book the big hall for our concert."},
        {"role": "user", "author": "ben", "content": "I want the small hall, it sounds better."},
    ]
    memory.observe("day", talk, scope=TEAM)
    memory.end("day", scope=TEAM, outcome="the big hall is booked")
    episode = memory.records(scope=TEAM, types=["episode"]).items[0]
    receipt = memory.forget(ids=[episode.id], sources=True)
    assert [item.id for item in receipt.items] == [episode.id]
    assert len(memory.messages("day", scope=TEAM).items) == 2


def test_X10_an_episode_is_made_again_from_what_is_left(memory: Memory) -> None:
    talk = [
        {"role": "user", "author": "ann", "content": "Please book the big hall for our concert."},
        {"role": "user", "author": "ben", "content": "I want the piano to be tuned before it."},
    ]
    memory.observe("day", talk, scope=TEAM)
    memory.end("day", scope=TEAM, outcome="the big hall is booked")
    receipt = memory.forget(author="ann")
    assert any("made again" in note for note in receipt.notes)
    episodes = memory.records(scope=TEAM, types=["episode"]).items
    assert len(episodes) == 1
    assert "piano" in episodes[0].text
    assert "big hall" not in episodes[0].text
    assert [one.author for one in memory.messages("day", scope=TEAM).items] == ["ben"]
    memory.forget(author="ben")
    assert memory.records(scope=TEAM, types=["episode"]).items == ()


def test_X10_a_fact_that_is_reached_downwards_leads_to_no_other_source(
    memory: Memory, clock: MovableClock
) -> None:
    """What somebody else said more fully was made of the poorer statement, and of another one."""
    first = stored(memory, "The kiln is fired", scope=TEAM, author="ann")
    clock.forward(minutes=5)
    richer = memory.remember(
        "The kiln is fired on Mondays at 1,200 degrees", scope=TEAM, author="ben"
    ).items[0]
    assert richer.status == "merged"
    plan = memory.forget(ids=[richer.id], sources=True, dry_run=True)
    assert {item.id for item in plan.items} == {richer.id, first}, "a source that was asked for"


# More than one author


def test_X10_statements_of_several_authors_go_only_when_that_is_agreed_to(memory: Memory) -> None:
    ids = [
        stored(memory, "The mill is in Graz", scope=TEAM, author="ann"),
        stored(memory, "Cats sleep a lot", scope=TEAM, author="ben"),
    ]
    before = held(memory)
    for selection in ({"ids": ids}, {"scope": TEAM}, {"source": "user"}):
        with pytest.raises(Invalid, match=r"by 2 authors \(ann, ben\).*several_authors"):
            memory.forget(**selection)
        assert held(memory) == before
    assert statuses(memory.forget(author="ann", scope=TEAM)) == ["erased"]
    assert statuses(memory.forget(ids=ids, several_authors=True)) == ["skipped", "erased"]
    assert held(memory) == {}


def test_X10_what_another_author_made_of_it_counts(memory: Memory, clock: MovableClock) -> None:
    first = stored(memory, "The kiln is fired", scope=TEAM, author="ann")
    clock.forward(minutes=5)
    memory.remember("The kiln is fired on Mondays at 1,200 degrees", scope=TEAM, author="ben")
    before = held(memory)
    with pytest.raises(Invalid, match="ann, ben"):
        memory.forget(ids=[first])
    with pytest.raises(Invalid, match="ann, ben"):
        memory.forget(author="ann")
    assert held(memory) == before
    memory.forget(author="ann", several_authors=True)
    assert held(memory) == {}


def test_X10_a_session_of_one_person_and_an_unnamed_assistant_is_by_one_author(
    memory: Memory,
) -> None:
    talk = [
        {"role": "user", "content": "My knee hurts", "author": "ann"},
        {"role": "assistant", "content": "Then rest it"},
    ]
    memory.observe("chat", talk, scope=TEAM)
    assert set(statuses(memory.forget(session="chat", scope=TEAM))) == {"erased"}


# Dry runs


def test_X10_a_dry_run_lists_the_texts_and_whose_they_are(memory: Memory) -> None:
    talk = [
        {"role": "user", "content": "Bread is baked at five", "author": "ann"},
        {"role": "user", "content": "The oven is from 1910", "author": "ben"},
    ]
    memory.observe("chat", talk, scope=TEAM)
    stored(memory, "Cats sleep a lot", scope=TEAM, author="cleo")
    plan = memory.forget(scope=TEAM, dry_run=True)
    assert sorted((item.text, item.author) for item in plan.items) == [
        ("Bread is baked at five", "ann"),
        ("Cats sleep a lot", "cleo"),
        ("The oven is from 1910", "ben"),
    ]
    assert any("by 3 authors (ann, ben, cleo)" in note for note in plan.notes)
    retired = memory.revoke(author="cleo", dry_run=True)
    assert [(item.text, item.author) for item in retired.items] == [("Cats sleep a lot", "cleo")]
    done = memory.forget(scope=TEAM, several_authors=True)
    assert {(item.text, item.author) for item in done.items} == {("", "")}, "they are gone"


# Whatever was said, and whatever is forgotten

_Step = tuple[str, str, int, int]
_STEPS = st.lists(
    st.tuples(
        st.sampled_from(["remember", "change", "add", "say", "upkeep", "end"]),
        st.sampled_from(AUTHORS),
        st.integers(0, 5),
        st.integers(0, 2),
    ),
    min_size=4,
    max_size=14,
)
_FORGETS = st.lists(
    st.tuples(
        st.sampled_from(["record", "record", "author", "message", "profile", "session"]),
        st.sampled_from(AUTHORS),
        st.integers(0, 40),
        st.booleans(),
    ),
    min_size=1,
    max_size=4,
)


def take(memory: Memory, step: _Step) -> None:
    what, author, number, variant = step
    about = f"Vendor {number} in town {number}"
    if what == "remember":
        memory.remember(f"{author} likes colour {number}{variant}", scope=TEAM, author=author)
    elif what == "change":
        memory.remember(f"{about} costs {variant} euros a year", scope=TEAM, author=author)
    elif what == "add":
        more = f"{VENDORS[number]} and is paid in month {variant} of the year by bank transfer"
        memory.remember(more, scope=TEAM, author=author)
    elif what == "say":
        text = f"I am {author}. My favourite number is {number}{variant}. Is the hall booked?"
        said = {"role": "user", "content": text, "author": author}
        memory.observe("day", [said, {"role": "assistant", "content": "It is."}], scope=TEAM)
    elif what == "upkeep":
        memory.maintain()
    elif memory.sessions(scope=TEAM).items:
        memory.end("day", scope=TEAM, outcome=f"number {number} was chosen")


def choice(memory: Memory, wish: tuple[str, str, int, bool]) -> dict[str, Any]:
    """What to forget: something of this author, if there is any."""
    what, author, number, sources = wish
    now = held(memory)
    own = [one for one in now.values() if one.author == author]
    if what == "profile":
        own = [*profiles(memory)]
    elif what == "message":
        own = [one for one in own if isinstance(one, Message)]
    elif what == "record":
        own = [one for one in own if isinstance(one, Record)]
    if what in ("author", "session") or not own:
        named = {"session": "day", "scope": TEAM} if what == "session" else {"author": author}
        return {**named, "sources": sources}
    chosen = own[number % len(own)]
    where = {"session": "day", "scope": TEAM} if isinstance(chosen, Message) else {}
    return {"ids": [chosen.id], "sources": sources, **where}


def chosen(before: Held, selection: dict[str, Any]) -> set[str]:
    if "ids" in selection:
        return {*selection["ids"]}
    if "session" in selection:
        return {one.id for one in before.values() if one.session == selection["session"]}
    return {one.id for one in before.values() if one.author == selection["author"]}


def related(before: Held, ids: set[str], *, sources: bool) -> set[str]:
    """The most that may go: the chosen, with ``sources`` what they were made from, and whatever
    was made of these."""
    records = [one for one in before.values() if isinstance(one, Record)]
    statements = [one for one in records if one.type not in ("summary", "episode")]
    reached = set(ids)
    while sources:
        here = [one for one in statements if one.id in reached]
        origins = {one.origin for one in here if one.origin}
        above = {id_ for one in here for id_ in (*one.derived_from, *one.lineage)}
        above |= {one.id for one in records if one.origin in origins}
        if above <= reached:
            break
        reached |= above
    while True:
        made_of = {(one.id, *one.derived_from, *one.lineage) for one in records}
        below = {names[0] for names in made_of if not reached.isdisjoint(names)}
        turns = [one for one in records if one.type == "turn" and one.id in reached]
        below |= {id_ for one in turns for id_ in one.lineage}
        if below <= reached:
            return reached
        reached |= below


def changed(before: Held, after: Held) -> dict[str, str]:
    """The texts that are gone or no longer as they were, with their authors."""
    return {one.text: one.author for key, one in before.items() if after.get(key) != one}


@given(_STEPS, _FORGETS)
@settings(
    max_examples=200 if PROVING else 12, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
def test_X10_nothing_by_another_author_changes_state(
    steps: list[_Step], wishes: list[tuple[str, str, int, bool]]
) -> None:
    """Random statements by several authors and random forgets: without agreement no forget
    touches statements of two authors, and each touches only what its dry run listed; that lists
    nothing but what the chosen were made from and what was made of it."""
    with Memory.open("dict:", embedder="hashing", background=False) as memory:
        team(memory)
        for step in steps:
            take(memory, step)
        memory.maintain()
        for wish in wishes:
            selection = choice(memory, wish)
            before = held(memory)
            plan = memory.forget(**selection, dry_run=True)
            listed = {item.author for item in plan.items if item.author}
            assert held(memory) == before
            asked = chosen(before, selection)
            allowed = related(before, asked, sources=selection["sources"])
            assert {item.id for item in plan.items} <= allowed
            receipt = forgotten(memory, selection)
            gone = changed(before, held(memory))
            assert {author for author in gone.values() if author} <= listed
            assert set(gone) <= {item.text for item in plan.items}
            if receipt is None:
                assert len(listed) > 1
                assert gone == {}
            else:
                assert len(listed) <= 1
                assert gone or not plan.items


def forgotten(memory: Memory, selection: dict[str, Any]) -> Receipt | None:
    """None if it was refused because several authors said it."""
    try:
        return memory.forget(**selection)
    except Invalid:
        return None


@pytest.mark.not_served("it looks into the engine's own store")
def test_X10_texts_of_a_dry_run_are_not_kept_for_a_repeated_request(
    open_memory: OpenMemory,
) -> None:
    """The answer to an Idempotency-Key is kept for a day; the texts may be forgotten next."""
    from standfast.memory.once import done_once

    memory = open_memory()
    id_ = stored(memory, "Ann hides the silver", scope=TEAM, author="ann")

    async def both() -> list[str]:
        async def write(one: Any) -> Receipt:
            return await one.forget(ids=[id_], dry_run=True)

        told = []
        for _ in range(2):
            receipt, _again = await done_once(inner, "key", "body", write, scope=TEAM)
            told.append(receipt.items[0].text)
        items = await inner.engine.store.items(TEAM, "idempotency", now=inner.engine.now())
        assert len(items) == 1
        assert "answer" not in items[0].value
        return told

    inner = memory._memory
    assert memory._loop.run(both()) == ["Ann hides the silver"] * 2


# The same words of two authors

OFFICE = "The office is in Porto."


def offices(memory: Memory) -> list[tuple[str, str]]:
    listed = memory.records(scope=TEAM, kinds=["semantic"]).items
    return [(one.author, one.text) for one in listed if one.type != "turn"]


def say_office(memory: Memory, author: str, session: str) -> None:
    said = {"role": "user", "author": author, "content": OFFICE}
    memory.observe(session, [said], scope=TEAM)


@pytest.mark.parametrize("sessions", [("day", "day"), ("monday", "tuesday")])
@pytest.mark.parametrize("learned", [True, False])
def test_X10_who_said_it_in_the_same_words_keeps_it(
    memory: Memory, clock: MovableClock, sessions: tuple[str, str], learned: bool
) -> None:
    for author, session in zip(("ann", "ben"), sessions, strict=True):
        say_office(memory, author, session)
        if learned:
            memory.maintain()
        clock.forward(minutes=1)
    memory.forget(scope=TEAM, author="ann")
    memory.maintain()
    assert offices(memory) == [("ben", "The office is in Porto.")]
    [record] = memory.records(scope=TEAM, kinds=["semantic"]).items
    [said] = memory.messages(sessions[1], scope=TEAM).items
    assert record.lineage == (said.id,)
    assert (record.session, said.author) == (sessions[1], "ben")
    memory.forget(scope=TEAM, author="ben")
    memory.maintain()
    assert offices(memory) == []
    assert not held(memory)


def test_X10_the_same_words_of_the_same_author_do_not_come_back(
    memory: Memory, clock: MovableClock
) -> None:
    """Neither as a message that comes late, nor in an import."""
    earlier = clock()
    clock.forward(minutes=1)
    say_office(memory, "ann", "day")
    memory.maintain()
    memory.forget(scope=TEAM, author="ann")
    for author in ("ann", "ben"):
        late = {"role": "user", "author": author, "content": OFFICE, "at": earlier.isoformat()}
        memory.observe(f"late-{author}", [late], scope=TEAM)
    memory.maintain()
    assert offices(memory) == [("ben", "The office is in Porto.")]
