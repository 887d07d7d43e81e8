"""What a speaker asks for outright: to remember something, to behave in some way, or what they
settled on. In every language that has words for it, and kept in their own words where rewriting
could go wrong."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from standfast.text.claims.events import Worth
from standfast.text.claims.fields import style_of
from standfast.text.claims.findings import bare
from standfast.text.claims.lessons import Claim, Lesson
from standfast.text.claims.permanence import is_figurative
from standfast.text.claims.rewrite import dated, framed, trimmed
from standfast.text.claims.sentences import Sentence
from standfast.text.claims.statements import Utterance
from standfast.text.dates import told_times
from standfast.text.words import alternatives, cues, meanings, pattern, patterns

_DECIDED = Worth("decision", 0.7, 0.8)
_BUILT = Worth("architecture", 0.7, 0.8)
_REQUIRED = Worth("requirement", 0.7, 0.8)


def remembered(text: str) -> str:
    """What a sentence asks to remember; empty if it asks for nothing of that kind."""
    ways = (way.match(text) for way in patterns("requests.remember"))
    content = next((found["content"].strip() for found in ways if found), "")
    advice = pattern("requests.advice").match(content)
    return "" if advice or pattern("requests.advised").search(content) else content


def remembered_as_said(content: str, said: Utterance) -> Lesson:
    """The lesson of "remember that ..." where no rule reads what follows."""
    spans = told_times(content, said.at)
    if pattern("requests.personal").search(content) or not content.isascii():
        text = framed(content, said.speaker, spans, verb="asked to remember")
    else:
        words = dated(content.rstrip(" ."), spans)
        text = f"{words[:1].upper()}{words[1:]}."
    return said.lesson(text, Worth("remember", 0.9, 0.95))


def request_in(sentence: Sentence, said: Utterance) -> Lesson | None:
    """A standing wish about how the assistant should behave, also one that stands behind its
    reason ("..., so please use simple words")."""
    if sentence.question or len(sentence.text) > 240:
        return None
    text = sentence.text.strip(" ,;")
    parts = (text, _behind_reason(text))
    ordered = any(map(_is_order, parts))
    wishes = pattern("requests.wish"), pattern("requests.verbless")
    wished = any(any(way.match(one) for way in wishes) or _is_style(one) for one in parts)
    if not ordered and (not wished or is_figurative(text)):
        return None
    lesson = said.lesson(
        framed(text, said.speaker, verb="asks"),
        Worth("request", 0.85, 0.9),
        type="user_request",
        claim=_request_claim(text, said),
    )
    return replace(lesson, entities=(said.speaker.name,) if said.speaker.name else ())


STYLE_WORDS_MAX = 16
SINGLE_STYLES = frozenset(("length", "emoji", "units", "spelling"))  # one wish at a time


def reason_in(text: str) -> str:
    """What stands before a wish: "I hate fish" of "I hate fish, never suggest it"."""
    found = pattern("requests.then").search(text)
    return text[: found.start()] if found else ""


def _behind_reason(text: str) -> str:
    found = pattern("requests.then").search(text)
    return text[found.end() :] if found else ""


def _is_style(text: str) -> bool:
    """Whether it asks how to answer in general ("no emojis please"), and not for one thing."""
    asked = pattern("requests.asking").match(text)
    if asked is None or len(text.split()) > STYLE_WORDS_MAX:
        return False
    return bool(style_of(text)) and not pattern("requests.one_task").search(text)


ORDER_WORDS_MAX = 30


def _is_order(text: str) -> bool:
    """Whether it says what is always or never to be done, or when ("when I ask for a status,
    answer in three bullets"), and is about no single text."""
    order, _, _ = text.partition(", ")
    if len(text.split()) > ORDER_WORDS_MAX or pattern("requests.pointing").search(order):
        return False
    return pattern("requests.order").match(text) is not None


def _request_claim(text: str, said: Utterance) -> Claim | None:
    if found := pattern("requests.called").search(text):
        return _exclusive(said, "called", found["name"].casefold())
    for way in _answers_in():
        if found := way.search(text):
            tongue = meanings("requests.tongues").get(found["language"].casefold())
            return _exclusive(said, "answers-in", tongue) if tongue else None
    style = style_of(text)
    return _exclusive(said, f"style:{style}", bare(text)) if style in SINGLE_STYLES else None


@cache
def _answers_in() -> tuple[re.Pattern[str], ...]:
    """How people name the language that they want to be answered in."""
    verbs, before = alternatives("requests.answer_verbs"), alternatives("requests.answer_in")
    spaced = rf"\b(?:{verbs})\b.*?\b(?:{before}) (?P<language>[^\W\d_]{{4,12}})\b"
    return re.compile(spaced, re.IGNORECASE), *patterns("requests.answers_in")


def _exclusive(said: Utterance, slot: str, value: str) -> Claim:
    return Claim(subject=said.speaker.key, slot=slot, value=value, exclusive=True)


def decision_in(sentence: Sentence, said: Utterance) -> Lesson | None:
    """What a group settled on."""
    if sentence.question:
        return None
    found = pattern("requests.decision").match(sentence.text)
    if found is None and pattern("requests.architecture").match(sentence.text):
        words = trimmed(sentence.text)
        return said.lesson(f"{words[:1].upper()}{words[1:]}.", _BUILT)
    if found is None:
        if not cues("requests.decided").search(sentence.text):
            return None
        own = framed(sentence.text, said.speaker, told_times(sentence.text, said.at))
        return said.lesson(own, _DECIDED)
    kind, words = next((name, part) for name, part in found.groupdict().items() if part)
    words = trimmed(words)
    if pattern("requests.pointed").search(words) or len(words.split()) < 2:
        return None
    if pattern("requests.personal").search(words):
        return None
    words = dated(words, told_times(words, said.at))
    if kind == "required":
        return said.lesson(f"Requirement: {words}.", _REQUIRED)
    start = "It was decided" if kind == "decided" else "Decision:"
    return said.lesson(f"{start} {words}.", _DECIDED)
