"""Is a clause without a slot worth keeping? Events, plans, habits, decisions, outcomes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from standfast.text.claims.clauses import Clause, Predicate, forms_of, reading
from standfast.text.dates import Span
from standfast.text.words import any_of, pairs, pattern, word_set
from standfast.text.words.sieve import Screened


class Worth(NamedTuple):
    """What kind of thing a clause tells, and how much that matters."""

    topic: str
    importance: float
    confidence: float


_NOW = ("present", "perfect")
_PAST = ("past", "perfect")


def worth_of(clause: Clause, tail: str, spans: Sequence[Span]) -> Worth | None:
    """What a clause is worth whose tail was trimmed; None: not kept."""
    predicate = clause.predicate
    if clause.subject.kind == "thing":
        return _outcome(predicate)
    if clause.subject.attribute or clause.subject.kind == "named":
        return None
    if predicate.tense == "conditional":
        return _would(predicate, tail)
    for span in spans:
        tail = tail.replace(span.phrase, " ").strip()
    if pattern("events.unsure").search(tail):
        return None
    if not has_substance(tail) and not (clause.subject.relation and spans):
        return None
    for judge in (_decision, _event, _plan, _habit, _ongoing, _lasting, _visited):
        worth = judge(predicate, tail, spans)
        if worth is not None:
            return worth
    return None


def has_substance(tail: str) -> bool:
    """Whether the words name something that is not empty ("a great time") or pointed at."""
    small, empty = word_set("events.small"), word_set("events.empty")
    words = [word for word in re.findall(r"[\w']+", tail.lower()) if word not in small]
    pointers = word_set("clauses.pointers")
    telling = [word for word in words if word not in empty and word not in pointers]
    return bool(telling) and len(words) <= 34 and (len(telling) >= 2 or len(telling[0]) > 2)


def _decision(predicate: Predicate, tail: str, _: Sequence[Span]) -> Worth | None:
    if predicate.verb not in word_set("events.decisions") or predicate.negated:
        return None
    if predicate.tense not in _PAST or not pattern("events.decisive").match(tail):
        return None
    found = pattern("events.infinitive").match(tail)
    if found and found["verb"] in ("go", "be", "do", "see") and len(tail.split()) < 4:
        return None
    return Worth("decision", 0.65, 0.75) if len(tail.split()) > 2 else None


def _event(predicate: Predicate, tail: str, spans: Sequence[Span]) -> Worth | None:
    if predicate.tense not in _PAST or predicate.negated or predicate.hedged:
        return None
    if predicate.progressive or (predicate.passive and predicate.verb in ("tell", "ask")):
        return None
    when = [span for span in spans if span.relation in ("", "since", "after")]
    verbs = _dated() if when else word_set("events.strong")
    told = predicate.verb in verbs or predicate.passive
    if not (told or _turns(predicate.verb, tail)) or _is_empty_object(predicate, tail):
        return None
    return Worth("event", 0.55 if when else 0.45, 0.8 if when else 0.65)


@cache
def _dated() -> frozenset[str]:
    """Verbs of things that are worth it with their date."""
    return word_set("events.strong") | word_set("events.dated")


def _turns(verb: str, tail: str) -> bool:
    """Common verbs tell something even without a date when certain words follow them."""
    return any(form.match(tail) for turning, form in _turning() if turning == verb)


@cache
def _turning() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((verb, re.compile(form)) for verb, form in pairs("events.turns", "en"))


def _is_empty_object(predicate: Predicate, tail: str) -> bool:
    """ "Took a break", "had a great time", "made it": something happened, but what?"""
    words = re.findall(r"[\w'\-]+", tail.lower())
    while words and words[0] in word_set("events.before_object"):
        words.pop(0)
    prepositions = word_set("events.prepositions")
    end = next((i for i, word in enumerate(words) if word in prepositions), len(words))
    heads = words[max(0, end - 2) : end]
    if not heads:
        return True
    empty, light = word_set("events.empty"), predicate.verb in word_set("events.light")
    if heads[-1] in empty or (heads[0] in empty and heads[-1] in ("out", "off", "together")):
        return light or len(words) < 4
    starts = predicate.verb in ("start", "begin", "stop", "continue")
    if starts and words[0] in word_set("events.inner"):
        return True
    return light and len(words) < 2 and predicate.verb != "go"


def _would(predicate: Predicate, tail: str) -> Worth | None:
    """ "I would love to visit Japan" is a wish; every other "would" is a guess."""
    if predicate.verb not in ("love", "like") or predicate.negated or not has_substance(tail):
        return None
    found = re.match(r"to (?P<verb>[a-z]+)", tail)
    if not found or found["verb"] not in word_set("events.dreams") or len(tail.split()) < 3:
        return None
    return Worth("goal", 0.45, 0.6)


def _plan(predicate: Predicate, tail: str, spans: Sequence[Span]) -> Worth | None:
    """What somebody wants, considers, will do, is about to do, or has before them."""
    if predicate.negated or predicate.hedged:
        return None
    ahead = bool(spans)
    if predicate.verb in word_set("events.wishes") and predicate.tense in _NOW:
        return _wish(predicate, tail, ahead)
    if predicate.verb == "think" and predicate.progressive and predicate.tense in _NOW:
        return _considered(tail, ahead)
    firm = predicate.verb in word_set("events.strong") and not predicate.words.startswith("will")
    if predicate.tense == "future" and (ahead or firm):
        return _intended(predicate, tail)
    if predicate.tense != "present" or not ahead:
        return None
    if predicate.progressive:
        return Worth("plan", 0.55, 0.75) if predicate.verb in _dated() else None
    return _appointment(predicate, tail)


def _wish(predicate: Predicate, tail: str, ahead: bool) -> Worth | None:
    """ "I want to learn the piano": something from life, not from this talk."""
    found = pattern("events.infinitive").match(tail)
    if not found or len(tail.split()) < 3 or pattern("events.this_talk").match(tail):
        return None
    verb = reading(found["verb"], "base", "ing")
    if verb == "start" and pattern("events.beginning").match(tail):
        return None
    dated_plan = predicate.verb == "plan" and ahead
    return (
        Worth("goal", 0.55, 0.7) if dated_plan or verb in word_set("events.life_wishes") else None
    )


def _considered(tail: str, ahead: bool) -> Worth | None:
    """ "I am thinking about adopting a cat"."""
    found = pattern("events.infinitive").match(tail)
    verb = reading(found["verb"], "ing") if found else ""
    dated = ahead and verb in _dated() - {"try", "make", "get"}
    return Worth("plan", 0.45, 0.65) if dated or verb in word_set("events.dreams") else None


def _intended(predicate: Predicate, tail: str) -> Worth | None:
    """ "I am going to sell the car"."""
    empty = predicate.verb in word_set("events.empty_wishes") - word_set("events.strong")
    return None if empty or _is_empty_object(predicate, tail) else Worth("plan", 0.55, 0.75)


def _appointment(predicate: Predicate, tail: str) -> Worth | None:
    """ "I have a dentist appointment on Friday"."""
    if predicate.verb not in ("have", "need"):
        return None
    named = set(re.findall(r"[a-z\-]+", tail.lower())) & word_set("statements.meetings")
    return Worth("plan", 0.6, 0.8) if named or tail.startswith("to ") else None


def _habit(predicate: Predicate, tail: str, _: Sequence[Span]) -> Worth | None:
    if predicate.tense != "present" or predicate.progressive or predicate.verb == "be":
        return None
    if predicate.negated or predicate.verb in word_set("events.inner_life"):
        return None
    return Worth("habit", 0.5, 0.75) if pattern("events.frequency").search(tail) else None


def _ongoing(predicate: Predicate, tail: str, _: Sequence[Span]) -> Worth | None:
    if not predicate.progressive or predicate.tense not in _NOW:
        return None
    ongoing = predicate.verb in word_set("events.ongoing")
    if predicate.negated or not ongoing or _is_empty_object(predicate, tail):
        return None
    if predicate.verb == "look" and not pattern("events.search").match(tail):
        return None
    if predicate.verb in ("plan", "prepare", "start", "research") and tail.startswith("to "):
        return None
    return Worth("activity", 0.45, 0.65)


def _lasting(predicate: Predicate, tail: str, _: Sequence[Span]) -> Worth | None:
    """What somebody does for a living or for long, what they usually do, and used to do."""
    if predicate.negated or predicate.progressive or predicate.hedged or len(tail.split()) < 2:
        return None
    if predicate.tense == "former" and not _is_empty_object(predicate, tail):
        return Worth("past", 0.45, 0.7)
    if predicate.tense != "present":
        return None
    if predicate.verb in word_set("events.callings") and not _is_empty_object(predicate, tail):
        return Worth("activity", 0.5, 0.7)
    usual = word_set("events.usual") & set(predicate.adverbs)
    if usual and predicate.verb not in word_set("events.inward"):
        return Worth("habit", 0.45, 0.65)
    return None


def _visited(predicate: Predicate, tail: str, spans: Sequence[Span]) -> Worth | None:
    """ "I have been to Paris"."""
    if predicate.verb != "be" or predicate.tense != "perfect" or predicate.negated:
        return None
    named = pattern("events.to_place").match(tail)
    return Worth("event", 0.45, 0.75 if spans else 0.65) if named else None


OUTCOME = "outcome"


def may_tell_outcome(text: str) -> bool:
    """Whether a text has a verb of an outcome at all, in any form, or the word itself: nothing else
    makes a lesson with that topic."""
    return _outcome_forms().search(text) is not None


@cache
def _outcome_forms() -> Screened:
    return Screened(any_of({*forms_of(word_set("events.outcomes")), OUTCOME}), re.IGNORECASE)


def _outcome(predicate: Predicate) -> Worth | None:
    outcome = predicate.verb in word_set("events.outcomes")
    if not outcome or predicate.tense not in ("past", "perfect", "present"):
        return None
    if predicate.tense == "present" and not predicate.passive:
        return None
    return Worth(OUTCOME, 0.6, 0.7)
