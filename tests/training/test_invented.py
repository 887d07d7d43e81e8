"""Invented memories: what a question should find is there and fits, and chance is repeatable."""

from __future__ import annotations

import random
import re
from itertools import islice

from training.invented.frames import FRAMES, SLOTS
from training.invented.lives import Filler, lives
from training.invented.subjects import INTENTS, SUBJECTS
from training.invented.wishes import MANNERS, RULES, wishes
from training.stores import WISH, Store, cleaned

REQUESTS = [("How do whales sleep?", ["One half of the brain at a time.", "At the surface."])]
CHATS = [["Do you like rain?", "I do, in summer.", "Me too.", "And snow?"]]
ASKED = {name: [f"{name} one", f"{name} two", f"{name} three", f"{name} four"] for name in INTENTS}


def some_lives(count: int) -> list[Store]:
    return list(islice(lives(random.Random(5), Filler(CHATS, REQUESTS)), count))


def some_wishes(*, kept: bool = False) -> list[Store]:
    return list(islice(wishes(random.Random(5), ASKED, REQUESTS, kept=kept), 12))


def texts(store: Store) -> set[str]:
    return {turn.text for session in store.sessions for turn in session}


def test_no_blank_is_left_in_what_people_say_and_ask() -> None:
    for store in [*some_lives(9), *some_wishes()]:
        found = [*texts(store), *(asked.text for asked in store.questions)]
        assert [text for text in found if re.search(r"[{}]|\bN\b", text)] == []


def test_every_word_that_a_frame_wants_exists() -> None:
    for frame in FRAMES:
        for text in (part for group in frame for part in group):
            assert set(re.findall(r"\{(\w+)\}", text)) <= SLOTS.keys(), text


def test_every_question_has_evidence_and_survives_cleaning() -> None:
    for store in [*some_lives(9), *some_wishes()]:
        clean = cleaned(store)
        assert clean is not None
        assert len(clean.questions) == len(store.questions)
        assert all(asked.evidence for asked in clean.questions)


def test_a_question_about_somebody_finds_what_they_said() -> None:
    store = some_lives(1)[0]
    speakers = {turn.speaker for session in store.sessions for turn in session}
    named = 0
    for asked in store.questions:
        who = {name for name in speakers if re.search(rf"\b{name}\b", asked.text)}
        said = {store.sessions[place.session][place.turn].speaker for place in asked.evidence}
        assert said <= (who or speakers)
        named += len(who)
    assert named > len(store.questions) / 2


def test_with_an_assistant_people_ask_about_themselves() -> None:
    store = some_lives(3)[2]
    assert store.source == "lives-assistant"
    own = [asked for asked in store.questions if re.search(r"\b(I|me|my)\b", asked.text)]
    assert len(own) > len(store.questions) / 2
    for asked in store.questions:
        for place in asked.evidence:
            assert store.sessions[place.session][place.turn].speaker == "user"


def test_a_question_for_a_time_finds_a_time() -> None:
    times = [*SLOTS["when"], *SLOTS["soon"], *SLOTS["hour"]]
    for store in some_lives(6):
        for asked in store.questions:
            if asked.text.startswith("When "):
                for place in asked.evidence:
                    text = store.sessions[place.session][place.turn].text.lower()
                    assert any(one.lower() in text for one in times), (asked.text, text)


def test_a_request_finds_only_wishes_of_its_subject() -> None:
    by_request = {
        request: subject
        for subject in [
            *SUBJECTS,
            *(s._replace(requests=tuple(ASKED[n])) for n, s in INTENTS.items()),
        ]
        for request in subject.requests
    }
    for store in some_wishes():
        for asked in store.questions:
            assert asked.kind == WISH
            subject = by_request[asked.text]
            for place in asked.evidence:
                text = store.sessions[place.session][place.turn].text.lower()
                told = [*subject.names, *(wish.rstrip(".")[1:] for wish in subject.wishes)]
                assert any(one.lower() in text for one in told), (asked.text, text)


def test_what_is_kept_for_checking_is_never_trained_on() -> None:
    train, kept = some_wishes(), some_wishes(kept=True)
    assert {a.text for s in train for a in s.questions}.isdisjoint(
        a.text for s in kept for a in s.questions
    )
    assert len(RULES) > 8
    assert len(MANNERS) > 8


def test_the_same_seed_gives_the_same_stores() -> None:
    assert some_lives(4) == some_lives(4)
    assert some_wishes() == some_wishes()
