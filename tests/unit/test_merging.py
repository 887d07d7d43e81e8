"""judge and settle: what a new statement is to a known one, case by case and for any text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from standfast.lifecycle.merge import Known, Verdict, claim_of, copies, judge, settle, with_claim
from standfast.lifecycle.merge.judgement import Named, conflict
from standfast.text.claim import Claim, claim_as_data
from standfast.text.compare import text_hash
from standfast.types import Durability, Record

MAY = datetime(2026, 5, 1, tzinfo=UTC)
JULY = datetime(2026, 7, 1, tzinfo=UTC)
NOW = datetime(2026, 11, 15, tzinfo=UTC)


def fact(text: str, id_: str = "new", **fields: Any) -> Record:
    given_fields = {"scope": "org:acme", "kind": "semantic", "type": "fact", "learned_at": NOW}
    record = Record(**{**given_fields, "id": id_, "text": text, "hash": text_hash(text), **fields})
    return replace(record, origin=record.origin or record.id)


def verdict_of(old: str, new: str, similarity: float = 0.95, **fields: Any) -> Verdict:
    """The old one was said in May, the new one in July."""
    known = fact(old, "old", valid_from=MAY)
    record = fact(new, **{"valid_from": JULY, **fields})
    return judge(record, [Known(record=known, similarity=similarity)], duplicate_above=0.9)


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        # the same
        ("Ann lives in Berlin", "ann lives in BERLIN.", "duplicate"),
        ("The team meets in the large room", "The team meets in the big room", "duplicate"),
        ("Ann Miller hired Bob Smith", "Bob Smith was hired by Ann Miller", "duplicate"),
        # the same and more
        ("Ann owns a dog", "Ann owns a dog named Rex", "enriches"),
        ("Ann lives in Berlin", "Ann lives in Berlin near the old harbour", "enriches"),
        ("Ann plays the flute", "Ann plays the bamboo flute", "enriches"),
        ("The server runs on Linux", "The server runs on Linux 6.8", "enriches"),
        # changed since
        ("I live in Berlin", "We moved to Hamburg in May", "supersedes"),
        ("Ann lives in Berlin", "Ann lives in Hamburg", "supersedes"),
        ("My girlfriend is Lena", "We split up", "supersedes"),
        ("My girlfriend is Lena", "I am single again", "supersedes"),
        ("I have a cat named Tom", "We lost Tom last week", "supersedes"),
        ("I am taking antibiotics", "I finished the antibiotics on Tuesday", "supersedes"),
        ("I do not eat gluten", "I can eat gluten again", "supersedes"),
        ("I have a motorbike", "I had to sell my motorbike", "supersedes"),
        ("I am training for the marathon", "I had to pull out of the marathon", "supersedes"),
        ("I take 20 mg of iron", "My doctor doubled the iron", "supersedes"),
        ("My username is foxy42", "I changed my username to redfox", "supersedes"),
        ("My tutor is Professor Lin", "Professor Lin has been replaced by Ada Osei", "supersedes"),
        # of something else, or of no value of it
        ("I am learning Italian", "I finished the second Italian textbook", "new"),
        ("My job title is junior analyst", "The other junior analyst quit", "new"),
        ("My phone is a Pixel 7", "My phone is broken now", "new"),
        ("My budget is 2000 dollars", "The budget for the party is 300 dollars now", "new"),
        ("Ann works at Acme", "Ann no longer works at Acme", "supersedes"),
        ("Ann likes coffee", "Ann doesn't like coffee", "supersedes"),
        ("I hate tea", "I love tea", "supersedes"),
        ("My phone number is 5550100", "My phone number is 5550199", "supersedes"),
        ("Ich wohne in Berlin", "Ich wohne in Hamburg", "supersedes"),
        ("Ich wohne in Berlin", "Ich wohne nicht mehr in Berlin", "supersedes"),
        ("J'habite à Paris", "J'habite à Lyon", "supersedes"),
        # cannot both be true, but no slot is known in which one could replace the other
        ("The nightly backup starts at 3", "The nightly backup starts at 4", "contradicts"),
        ("The door of the lab is open", "The door of the lab is closed", "contradicts"),
        ("Deploys go out on Tuesdays", "Deploys do not go out on Tuesdays", "contradicts"),
        ("Das Büro ist geheizt", "Das Büro ist nicht geheizt", "contradicts"),
        ("会议室有暖气", "会议室没有暖气", "contradicts"),
        # both stay
        ("Ann lives in Berlin", "Bob lives in Hamburg", "new"),
        ("Ann Miller lives in Berlin", "Ann Smith lives in Hamburg", "new"),
        ("Ann lives in Berlin", "Ann works at Acme", "new"),
        ("Ann likes coffee", "Ann likes tea", "new"),
        ("Ann likes coffee", "Ann does not like cold coffee", "new"),
        ("Ann likes coffee", "Ann likes coffee and tea", "new"),
        ("Ann lives in Berlin", "Does Ann live in Hamburg?", "new"),
        ("Ann lives in Berlin", "Ann might live in Hamburg", "new"),
        ("Ann lives in Berlin", "Ann said that Bob lives in Berlin", "new"),
        ("Server 1 is down", "Server 2 is down", "new"),
        ("The old server runs Linux", "The new server runs Linux", "new"),
        ("Ann bought 3 apples", "Ann bought 4 apples", "new"),
        ("The demo is on Monday", "The demo was on Friday", "new"),
        ("The office closes at 5", "The office closes at 6 on Fridays", "new"),
        ("Ann talks to the man", "Ann talks to the woman", "new"),
        ("Train from Berlin to Hamburg", "Train from Hamburg to Berlin", "new"),
        ("我住在柏林", "他住在汉堡", "new"),
    ],
)
def test_M4_X6_a_new_statement_is_told_from_a_known_one(old: str, new: str, kind: str) -> None:
    verdict = verdict_of(old, new)
    assert verdict.kind == kind, verdict.reason
    assert (verdict.target is None) == (kind == "new")


@pytest.mark.parametrize("similarity", [None, 0.89])
def test_M4_below_the_threshold_only_the_same_text_is_a_duplicate(similarity: float | None) -> None:
    known = Known(record=fact("The team meets upstairs", "old"), similarity=similarity)
    near = fact("Upstairs the team is meeting")
    assert judge(near, [known], duplicate_above=0.9).kind == "new"
    same = fact("the team meets upstairs.")
    assert judge(same, [known], duplicate_above=0.9).kind == "duplicate"


# Guards of superseding


def met(new: dict[str, Any], old: dict[str, Any], *, corrects: bool = False) -> str:
    known = fact("Ann lives in Berlin", "old", **{"valid_from": MAY, **old})
    record = fact("Ann lives in Hamburg", **{"valid_from": JULY, **new})
    return judge(record, [Known(record=known)], duplicate_above=0.9, corrects=corrects).kind


def test_X6_an_equal_time_needs_a_correction_in_so_many_words() -> None:
    assert met({"valid_from": MAY}, {}) == "contradicts"
    assert met({"valid_from": MAY}, {}, corrects=True) == "supersedes"


def test_X6_somebody_trusted_less_replaces_nothing() -> None:
    assert met({"trust": 1}, {}) == "contradicts"
    assert met({"trust": 1}, {}, corrects=True) == "contradicts"
    assert met({"trust": 1}, {"trust": 1}) == "supersedes"
    assert met({}, {"trust": 1}) == "supersedes"


def test_X5_what_is_about_an_earlier_time_is_filed_as_history() -> None:
    assert met({"valid_from": MAY - timedelta(days=90)}, {}) == "outdated"


def test_X5_what_is_not_true_yet_replaces_nothing_and_is_not_replaced() -> None:
    assert met({"valid_from": NOW + timedelta(days=30)}, {}) == "new"
    planned = {"valid_from": JULY, "learned_at": MAY}
    assert met({"valid_from": None, "learned_at": MAY + timedelta(days=1)}, planned) == "new"


def test_X6_two_who_write_at_once_and_see_each_other_late_are_disputed() -> None:
    moment = timedelta(microseconds=1)
    first = {"valid_from": NOW, "learned_at": NOW}
    assert met({"valid_from": None, "learned_at": NOW - moment}, first) == "contradicts"


def test_X5_what_ended_before_does_not_speak_against_it() -> None:
    assert met({}, {"valid_to": JULY}) == "new"
    assert met({"valid_from": MAY - timedelta(days=9), "valid_to": MAY}, {}) == "new"


@pytest.mark.parametrize(
    "of_old",
    [
        {"type": "turn", "kind": "episodic"},
        {"type": "episode", "kind": "episodic"},
        {"type": "summary", "kind": "episodic"},
        {"status": "quarantined"},
    ],
)
def test_X6_turns_episodes_and_held_back_records_are_not_argued_with(
    of_old: dict[str, Any],
) -> None:
    assert met({}, of_old) == "new"


def test_X6_a_held_back_record_argues_with_nobody() -> None:
    assert met({"status": "quarantined"}, {}) == "new"


def test_two_people_who_say_I_are_two_people() -> None:
    known = Known(record=fact("I like the coffee here", "old", author="ann"), similarity=0.99)
    other = fact("I do not like the coffee here", author="bob")
    assert judge(other, [known], duplicate_above=0.9).kind == "new"
    assert judge(replace(other, author="ann"), [known], duplicate_above=0.9).kind != "new"


def test_a_claim_in_data_counts_before_the_text() -> None:
    def claimed(id_: str, value: str, **fields: Any) -> Record:
        claim = Claim(subject="billing", slot="database", value=value, exclusive=True)
        return fact(f"Note on {value}", id_, data=claim_as_data(claim), **fields)

    old = claimed("old", "mysql", valid_from=MAY)
    record = claimed("new", "postgres", valid_from=JULY)
    verdict = judge(record, [Known(record=old)], duplicate_above=0.9)
    assert (verdict.kind, verdict.target) == ("supersedes", old)


# Several known ones


def test_all_live_records_of_an_exclusive_slot_are_replaced() -> None:
    known = [
        Known(record=fact("Ann lives in Berlin", "a", valid_from=MAY)),
        Known(record=fact("Ann moved to Munich", "b", valid_from=MAY)),
        Known(record=fact("Ann likes Berlin", "c", valid_from=MAY)),
    ]
    verdict = judge(fact("Ann lives in Hamburg", valid_from=JULY), known, duplicate_above=0.9)
    assert verdict.kind == "supersedes"
    assert [target.id for target in verdict.targets] == ["a", "b"]


def test_X5_what_was_over_before_it_was_told_replaces_nothing() -> None:
    june = datetime(2026, 6, 1, tzinfo=UTC)
    known = [
        Known(record=fact("Ann lives in Berlin", "a", valid_from=MAY)),
        Known(record=fact("Ann no longer lives in Hamburg", "b", valid_from=JULY)),
    ]
    late = fact("Ann lives in Hamburg", valid_from=june)
    verdict = judge(late, known, duplicate_above=0.9)
    assert (verdict.kind, [one.id for one in verdict.targets]) == ("outdated", ["b"])
    known.append(Known(record=fact("Ann lives in Rome", "c", valid_from=None)))
    assert judge(late, known[2:], duplicate_above=0.9).kind == "contradicts"
    assert judge(late, known, duplicate_above=0.9).kind == "outdated"


@pytest.mark.parametrize("pointed", ["corrected", "doubted"])
def test_X6_no_text_corrects_itself_said_again_it_is_a_duplicate(pointed: str) -> None:
    """Two that say the same can not both live: the store would refuse them for ever."""
    known = fact("I like plain tea", "old")
    named = Named(**{pointed: frozenset({known.hash})})
    verdict = judge(
        fact("I like plain tea"), [Known(record=known)], duplicate_above=0.9, named=named
    )
    assert (verdict.kind, verdict.targets) == ("duplicate", (known,))


def test_a_duplicate_wins_and_one_failing_guard_disputes_the_slot() -> None:
    low = Known(record=fact("Ann lives in Berlin", "low", valid_from=MAY, trust=1))
    high = Known(record=fact("Ann lives in Munich", "high", valid_from=MAY, trust=3))
    record = fact("Ann lives in Hamburg", valid_from=JULY, trust=2)
    verdict = judge(record, [low, high], duplicate_above=0.9)
    assert (verdict.kind, {one.id for one in verdict.targets}) == ("contradicts", {"low", "high"})
    same = Known(record=fact("Ann lives in Hamburg.", "same", valid_from=MAY))
    assert judge(record, [low, high, same], duplicate_above=0.9).kind == "duplicate"


@pytest.mark.parametrize(
    "text", ["My new friend is Bob", "My new book is Dune", "I set my phone to loud"]
)
def test_X6_the_same_text_is_never_left_alone(text: str) -> None:
    """Nothing would say that it is known, and the store would refuse it for ever."""
    verdict = judge(fact(text), [Known(record=fact(text, "old"))], duplicate_above=0.9)
    assert (verdict.kind, [one.id for one in verdict.targets]) == ("duplicate", ["old"])


AUGUST = JULY + timedelta(days=31)
SOLD = "I sold my car"


def told_anew(*, turn: str = "turn 9", told: datetime = MAY, refused: bool = False) -> Verdict:
    """The car was sold in May, there was one again in July, and it is sold once more."""
    before = fact(SOLD, "sold", valid_from=MAY, learned_at=told, lineage=("turn 1",))
    bought = fact("I have a car", "bought", valid_from=JULY, learned_at=JULY)
    again = fact(SOLD, valid_from=AUGUST, learned_at=NOW, lineage=(turn,))
    known = [Known(record=before), Known(record=bought)]
    return judge(again, known, duplicate_above=0.9, refused=refused)


def test_X5_what_was_ended_begun_and_ended_again_is_ended() -> None:
    verdict = told_anew()
    assert (verdict.kind, {one.id for one in verdict.targets}) == ("supersedes", {"sold", "bought"})


@pytest.mark.parametrize(
    "read",
    [
        {"turn": "turn 1"},  # the very same words, read once more
        {"refused": True},  # the store keeps a text once
        {"told": AUGUST},  # "I sold it in May" is told after "I have a car": nothing came between
    ],
)
def test_X5_the_same_words_read_twice_are_a_duplicate(read: dict[str, Any]) -> None:
    """Otherwise they would replace each other for ever, and nothing after them would be learned."""
    verdict = told_anew(**read)
    assert (verdict.kind, [one.id for one in verdict.targets]) == ("duplicate", ["sold"])


# Settling


def ids() -> Any:
    numbers: Iterator[int] = count(1)
    return lambda: f"id{next(numbers)}"


def test_X5_superseding_leaves_a_closed_copy_and_dates_the_change() -> None:
    old = fact("Ann lives in Berlin", "old", learned_at=MAY, version=3)
    record = fact("Ann lives in Hamburg", learned_at=JULY)
    verdict = judge(record, [Known(record=old)], duplicate_above=0.9)
    outcome = settle(record, verdict, now=NOW, new_id=ids())
    retired, closed, new = outcome.records
    assert (retired.id, retired.status, retired.retired_at) == ("old", "superseded", NOW)
    assert (closed.valid_to, closed.derived_from, closed.version) == (JULY, ("old",), 0)
    assert (new.id, new.valid_from) == ("new", JULY)
    assert tuple(one for one in outcome.records if one.version == 0) == (closed, new)
    assert [(edge.kind, edge.source, edge.target) for edge in outcome.relations] == [
        ("supersedes", "new", "old")
    ]
    assert (outcome.status, outcome.reason) == ("stored", "supersedes old")


def test_X6_a_target_above_gets_an_edge_and_stays_as_it_is() -> None:
    for kind in ("supersedes", "contradicts"):
        old = fact("Ann lives in Berlin", "old", version=1)
        record = fact("Ann lives in Hamburg", scope="org:acme:agent:cto")
        outcome = settle(
            record,
            Verdict(kind=kind, targets=(old,), reason="why"),  # type: ignore[arg-type]
            now=NOW,
            new_id=ids(),
        )
        assert [one.id for one in outcome.records] == ["new"]
        assert [(edge.kind, edge.target) for edge in outcome.relations] == [(kind, "old")]


def test_L5_copies_share_their_origin_and_are_replaced_together() -> None:
    record = fact("The launch is in May", "first")
    below = ("org:acme:agent:cto", "org:acme:agent:cfo")
    here, cto, cfo = copies(record, ("org:acme", *below, below[0]), ids())
    assert here.id == "first"
    assert {one.origin for one in (here, cto, cfo)} == {"first"}
    assert (cto.scope, cfo.scope) == below
    new = fact("The launch is in June", valid_from=NOW)
    verdict = Verdict(kind="supersedes", targets=(here,))
    outcome = settle(new, verdict, now=NOW, new_id=ids(), copies=(cto, cfo))
    retired = {one.id for one in outcome.records if one.retired_at}
    assert retired == {here.id, cto.id, cfo.id}


def test_a_less_trusted_repetition_raises_nothing() -> None:
    known = fact("Ann lives in Berlin", "old", trust=2, importance=0.5, version=1)
    again = fact("Ann lives in Berlin", trust=0, importance=1.0, tags=("web",), durability="core")
    verdict = judge(again, [Known(record=known)], duplicate_above=0.9)
    (merged,) = settle(again, verdict, now=NOW, new_id=ids()).records
    assert merged == replace(known, tags=("web",))
    trusted = replace(again, trust=3)
    (raised,) = settle(trusted, verdict, now=NOW, new_id=ids()).records
    assert (raised.trust, raised.importance, raised.durability) == (3, 1.0, "core")


def test_X9_what_somebody_trusted_says_too_is_doubted_no_longer() -> None:
    held = fact("Ann lives in Rome", "old", trust=0, status="quarantined", version=1)
    held = replace(held, data={**held.data, "suspicion": "hides encoded text"})
    again = fact("Ann lives in Rome", trust=3)
    verdict = judge(again, [Known(record=held)], duplicate_above=0.9)
    (freed,) = settle(again, verdict, now=NOW, new_id=ids()).records
    assert (freed.status, freed.trust, "suspicion" in freed.data) == ("active", 3, False)


@pytest.mark.parametrize("durability", ["core", "standard", "ephemeral"])
def test_X9_nothing_is_put_in_doubt_by_somebody_trusted_less(durability: Durability) -> None:
    known = fact("Ann lives in Berlin", "old", durability=durability, version=1)
    record = fact("Ann lives in Hamburg", trust=0)
    verdict = judge(record, [Known(record=known)], duplicate_above=0.9)
    outcome = settle(record, verdict, now=NOW, new_id=ids())
    assert [(one.id, one.status) for one in outcome.records] == [("new", "disputed")]


def test_the_callers_own_fields_in_data_are_left_alone() -> None:
    own = fact("Ann lives in Berlin", data={"subject": "mail subject"})
    assert with_claim(own) is own
    made = claim_of(with_claim(fact("Ann lives in Berlin")))
    assert made == Claim(subject="ann", slot="home", value="berlin", exclusive=True)


# For any records

NAMES = st.sampled_from(["Ann", "Bob", "I", "The user", "Ann Miller"])
PREDICATES = st.sampled_from(
    [
        "lives in Berlin",
        "lives in Hamburg",
        "live in Munich",
        "likes coffee",
        "does not like coffee",
        "hate tea",
        "works at Acme",
        "no longer works at Acme",
        "has 3 cats",
        "has 4 cats",
        "is not at home",
        "is at home",
    ]
)
TEXTS = st.one_of(
    st.builds(lambda who, what: f"{who} {what}", NAMES, PREDICATES), st.text(max_size=80)
)


@st.composite
def facts(draw: st.DrawFn, id_: str) -> Record:
    when = st.one_of(st.none(), st.sampled_from([MAY, JULY, NOW + timedelta(days=5)]))
    return fact(
        draw(TEXTS),
        id_,
        valid_from=draw(when),
        trust=draw(st.integers(0, 3)),
        author=draw(st.sampled_from(["", "ann"])),
        status=draw(st.sampled_from(["active", "disputed", "quarantined"])),
        durability=draw(st.sampled_from(["core", "standard"])),
        scope=draw(st.sampled_from(["org:acme", "org:acme:agent:cto"])),
        version=0 if id_ == "new" else 1,
    )


SIMILARITIES = st.one_of(st.none(), st.floats(-1, 1))


@settings(max_examples=400, deadline=None)
@given(facts("new"), st.lists(st.tuples(facts("old"), SIMILARITIES), max_size=4), st.booleans())
def test_X6_nothing_is_replaced_across_subjects_slots_trust_or_time(
    record: Record, others: list[tuple[Record, float | None]], corrects: bool
) -> None:
    known = [
        Known(record=replace(other, id=f"old{at}"), similarity=similarity)
        for at, (other, similarity) in enumerate(others)
    ]
    verdict = judge(record, known, duplicate_above=0.9, corrects=corrects)
    for target in verdict.targets:
        assert target.id in {one.record.id for one in known}
        if verdict.kind != "supersedes" or corrects:
            continue
        ours, theirs = claim_of(record), claim_of(target)
        assert ours is not None
        assert theirs is not None
        assert (ours.subject, ours.slot) == (theirs.subject, theirs.slot)
        assert record.at > target.at or not conflict(ours, theirs)
        assert record.trust >= target.trust
    outcome = settle(record, verdict, now=NOW, new_id=ids())
    changed = [one for one in outcome.records if one.version]
    assert all(one.scope.startswith(record.scope) for one in changed)
    assert len({one.id for one in outcome.records}) == len(outcome.records)
    assert outcome.id in {record.id, *(one.record.id for one in known)}


@settings(max_examples=300, deadline=None)
@given(TEXTS, TEXTS)
def test_X6_contradicting_is_mutual(first: str, second: str) -> None:
    """At the same time and with the same trust neither side has an advantage."""

    def kind(new: str, old: str) -> bool:
        known = Known(record=fact(old, "old"))
        return judge(fact(new), [known], duplicate_above=0.9).kind == "contradicts"

    assert kind(first, second) == kind(second, first)
