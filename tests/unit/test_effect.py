"""Changes that no rule sees: what the meaning of a new statement says of a known one."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from standfast import Memory
from standfast.lifecycle.effect import SPACE, effect_in
from standfast.lifecycle.merge import Known, by_meaning, judge, settle
from standfast.lifecycle.merge.phrases import phrases
from standfast.lifecycle.merge.topic import told, topic_of
from standfast.lifecycle.merge.traits import traits
from standfast.models.local import box
from standfast.types import Record

MAY = datetime(2026, 5, 1, 9, tzinfo=UTC)
KNOWN = Record(
    id="old",
    scope="user:ann",
    kind="semantic",
    type="fact",
    text="We have a canary, Caruso.",
    learned_at=MAY,
    author="Ann",
)
NEW = replace(
    KNOWN,
    id="new",
    text="Caruso was lying at the bottom of his cage.",
    learned_at=MAY + timedelta(days=40),
)


def test_X22_what_may_have_changed_is_in_doubt_and_what_says_so_is_not() -> None:
    verdict = by_meaning(NEW, [Known(record=KNOWN, bears=0.5)])
    outcome = settle(NEW, verdict, now=NEW.learned_at, new_id=lambda: "x")
    assert {record.id: record.status for record in outcome.records} == {
        "old": "disputed",
        "new": "active",
    }
    assert [(edge.source, edge.kind, edge.target) for edge in outcome.relations] == [
        ("new", "contradicts", "old")
    ]
    assert (outcome.kind, outcome.status) == ("contradicts", "stored")


@pytest.mark.parametrize(
    "known",
    [
        Known(record=KNOWN),
        Known(record=replace(KNOWN, author="Bob"), bears=1.0),
        Known(record=replace(KNOWN, type="user_request"), bears=1.0),
        Known(record=replace(KNOWN, status="disputed"), bears=1.0),
        Known(record=replace(KNOWN, trust=NEW.trust + 1), bears=1.0),
        Known(record=replace(KNOWN, valid_from=NEW.learned_at + timedelta(days=1)), bears=1.0),
    ],
    ids=[
        "not likely",
        "somebody else's",
        "an order",
        "in doubt already",
        "of somebody trusted more",
        "told later",
    ],
)
def test_X22_nothing_else_is_put_in_doubt(known: Known) -> None:
    assert by_meaning(NEW, [known]).kind == "new"


def test_X22_of_several_only_the_likeliest_is_put_in_doubt() -> None:
    other = replace(KNOWN, id="other", text="We keep finches.")
    found = by_meaning(NEW, [Known(record=KNOWN, bears=0.5), Known(record=other, bears=0.2)])
    assert [one.id for one in found.targets] == ["old"]


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("My son Idris plays the trumpet.", "Idris started judo too."),
        ("We use Slack.", "We are thinking of moving to Teams."),
        ("My mum lives in Hove.", "My brother sold his house in Lewes."),
        ("I quit smoking.", "I had a cigarette."),
        ("I live in Leeds.", "Ich wohne jetzt in Berlin."),
        ("I live in Leeds.", "Michael moved to Bristol."),
        ("My class has 28 pupils.", "The class moved to room 12."),
    ],
)
def test_X22_the_rules_stay_the_guards(known: str, said: str) -> None:
    assert traits(told(said, "", ""), topic_of(known, "")) == {}
    assert traits(told("It is otherwise.", "", ""), topic_of("I live in Leeds.", ""))


def test_X22_what_both_name_is_written_alike_whatever_it_is() -> None:
    old = topic_of("I work at the bakery in Norwich.", "")
    left = phrases(told("I left the bakery for Brighton.", "", ""), old)
    assert {"left the =", "= for @", "< i left", "+left"} <= left
    assert "bakery" not in left
    beside = phrases(told("My aunt has 12 hens.", "", ""), old)
    assert {"my & has", "has # hens", "-hens"} <= beside
    assert not any("=" in run for run in beside)


def test_X22_a_word_of_change_that_is_not_said_of_it_replaces_nothing() -> None:
    left = replace(NEW, text="We swapped Caruso for a budgie.")
    assert judge(left, [Known(record=KNOWN)], duplicate_above=2.0).kind == "supersedes"
    denied = Known(record=KNOWN, denied=True)
    assert judge(left, [denied], duplicate_above=2.0).kind == "new"
    assert judge(left, [denied], duplicate_above=2.0, corrects=True).kind == "supersedes"


def test_X22_a_plain_end_is_not_denied() -> None:
    sold = replace(NEW, text="We sold Caruso the canary.")
    denied = Known(record=KNOWN, denied=True)
    assert judge(sold, [denied], duplicate_above=2.0).kind == "supersedes"


def test_X22_what_is_in_another_language_is_neither_doubted_nor_denied() -> None:
    found = effect_in(SPACE)
    new, old = told("Ich wohne jetzt in Berlin.", "", ""), topic_of("I live in Leeds.", "")
    assert found.of(0.0, new, old, 0.5) is None


def test_the_weights_belong_to_the_model_that_was_in_the_box() -> None:
    assert SPACE.partition("/")[0] in box.FORMER
    found = effect_in(SPACE)
    assert len(found.weights) == 384
    assert not effect_in("hashing/384").weights


def believed(embedder: str, known: str, said: str) -> dict[str, str]:
    now = [MAY]
    with Memory.open("dict:", embedder=embedder, background=False, clock=lambda: now[0]) as memory:
        for text in (known, said):
            memory.observe(f"chat {now[0]}", [text], scope="user:ann", author="Ann")
            now[0] += timedelta(days=40)
            memory.maintain()
        found = memory.records(scope="user:ann", types=["fact"]).items
        return {record.text: record.status for record in found}


@pytest.mark.parametrize(
    ("known", "change", "beside"),
    [
        (
            "We have a canary, Caruso.",
            "Caruso is buried under the pear tree.",
            "Caruso sang all morning.",
        ),
        (
            "I take the 7:15 train to work.",
            "The new shift starts at noon so I finally sleep in till nine.",
            "The 7:15 was packed again.",
        ),
    ],
)
def test_X22_a_change_in_words_that_no_list_has_is_not_believed_in_silence(
    known: str, change: str, beside: str
) -> None:
    pytest.importorskip("onnxruntime", reason="the local model needs the extra `local`")
    (before,) = believed(box.NAME, known, "Hello!")
    assert believed(box.NAME, known, change).get(before, "superseded") != "active"
    assert believed(box.NAME, known, beside)[before] == "active"


@pytest.mark.parametrize("embedder", ["hashing", "none"])
def test_X22_without_a_model_the_words_around_it_tell_a_change(embedder: str) -> None:
    known = "Ann has a tabby called Miso."
    over = believed(embedder, "I have a tabby called Miso.", "Miso got run over last night.")
    assert over.pop(known, "superseded") != "active"
    beside = believed(embedder, "I have a tabby called Miso.", "Miso slept on my desk all day.")
    assert beside == {known: "active"}


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("I have a season ticket for United.", "didn't renew my season ticket this year"),
        ("I volunteer at the food bank.", "can't do the food bank any more with the new shifts"),
        ("Our mascot is a penguin.", "the mascot's an otter since the rebrand"),
        ("We have a hamster called Biscuit.", "we gave Biscuit to the neighbours' girl"),
        ("My husband works nights at the depot.", "they've put him on days"),
    ],
)
def test_X22_an_end_without_its_subject_is_no_question(known: str, said: str) -> None:
    (before,) = believed("hashing", known, "Hello!")
    assert believed("hashing", known, said).get(before, "superseded") != "active"


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("I live with my parents.", "my parents are away for a week, house to myself!"),
        ("I have a garden with apple trees.", "the storm took the fence down, the trees are fine"),
        ("I have a black cat called Olive.", "We got a second cat, Pepper, in the spring."),
        ("I'm a nurse.", "they've put me on nights now"),
    ],
)
def test_X22_what_passes_or_happens_to_another_thing_changes_nothing(known: str, said: str) -> None:
    (before,) = believed("hashing", known, "Hello!")
    assert believed("hashing", known, said)[before] == "active"
