"""An assistant's message is read for outcomes only where a word may tell one."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from standfast.text.claims.clauses import Speaker, _readings, forms_of
from standfast.text.claims.events import OUTCOME, may_tell_outcome
from standfast.text.claims.sentences import Sentence
from standfast.text.claims.statements import Utterance, english_lessons
from standfast.text.words import meanings, word_set

SAID = Utterance(Speaker("the assistant"), datetime(2026, 1, 2, tzinfo=UTC), "m1")


@pytest.mark.parametrize("verb", sorted(word_set("events.outcomes")))
def test_every_form_of_a_verb_of_an_outcome_is_seen(verb: str) -> None:
    forms = {word for word, ways in _readings().items() if any(way.verb == verb for way in ways)}
    assert forms == forms_of({verb})
    for form in forms:
        assert may_tell_outcome(f"The deployment {form.upper()} again.")


def test_what_tells_an_outcome_may_tell_one() -> None:
    for form in sorted(forms_of(word_set("events.outcomes"))):
        for text in (f"The release {form}", f"The release was {form}", f"The release has {form}"):
            lessons = english_lessons(Sentence(text, False, False), SAID)
            assert may_tell_outcome(text) or not any(OUTCOME in one.tags for one in lessons)


def test_no_other_word_is_read_as_an_outcome() -> None:
    slots = [*meanings("slots.attributes").values(), *meanings("slots.singulars").values()]
    assert OUTCOME not in slots
    assert not any(map(may_tell_outcome, meanings("clauses.contractions").values()))
