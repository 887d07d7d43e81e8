"""Standing instructions and preferences, and the later requests that they are for.

A wish is no answer to the request: "always in grams" says nothing about leeks. So the stores
teach that what somebody wants in general belongs to what they ask in particular.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from training.invented.subjects import INTENTS, SUBJECTS, Subject
from training.stores import WISH, Asked, Place, Store, Turn

T = TypeVar("T")

STORES = 420
CHECKS = 30  # stores for checking
KEPT_EVERY = 8  # of so many subjects, rules and manners, one is for checking only
SUBJECTS_PER_STORE = (9, 15)
REQUESTS_PER_SUBJECT = 3

MANNERS = tuple(
    "use bullet points|keep it under five sentences|explain it step by step|answer with a table|"
    "give me three options|say where you have it from|add an example|start with the short answer|"
    "ask me back before you answer|point out the risks|leave out the small print|use simple words|"
    "tell me what it costs|put numbers to it|compare two ways of doing it|end with the next step|"
    "write it as a checklist|mention how sure you are|skip the introduction|say what others do|"
    "use headings|give the date of your information|stay neutral|be brief|go into detail|"
    "name the exact version|format it as plain text|quote the original words|write out every "
    "abbreviation|show the calculation|include a link|add a warning where it is dangerous|"
    "translate foreign terms|give the metric values|mark what is new|describe it as if to a child|"
    "add a picture in words|list the tools I need|tell me how long it takes|name a cheaper way".split(
        "|"
    )
)
RULES = tuple(
    "Whenever I ask about {subject}, {manner}.|From now on {manner} when it is about {subject}.|"
    "For {subject}, please always {manner}.|One rule for {subject}: {manner}.|If I bring up "
    "{subject} again, {manner}, okay?|I would like you to {manner} every time {subject} comes up.|"
    "Please remember to {manner} in everything about {subject}.|With {subject} it helps me if you "
    "{manner}.|Note for later: {subject} means that you {manner}.|Can you {manner} each time we "
    "get to {subject}?|In answers about {subject} you should {manner}.|Never answer me on "
    "{subject} without this: {manner}.".split("|")
)
WISHED = tuple(
    "{wish}|{wish}|{wish}|About {subject}: {wish}|So you know, {wish_small}|One thing on {subject}. "
    "{wish}|By the way: {wish}|Please keep in mind: {wish}|{wish} That goes for {subject} in "
    "general.|For the future: {wish}|Before I forget it, {wish_small}".split("|")
)
AGREED = tuple(
    "Understood, I will do that.|Noted.|Thanks, I will keep it in mind.|Of course, from now on.|"
    "Good to know!|All right, I have made a note of it.|Sure, that makes sense.|Will do.".split("|")
)


class Parts(NamedTuple):
    subjects: Sequence[Subject]
    rules: Sequence[str]
    manners: Sequence[str]


def wishes(
    rng: random.Random,
    intents: Mapping[str, Sequence[str]],
    filler: Sequence[tuple[str, Sequence[str]]],
    *,
    kept: bool = False,
) -> Iterator[Store]:
    """``intents`` are short requests by intent, ``filler`` open requests with replies. With
    ``kept`` everything is made of the parts that are left out otherwise."""
    subjects = [*SUBJECTS]
    subjects += [one._replace(requests=tuple(intents[name])) for name, one in INTENTS.items()]
    parts = Parts(_part(subjects, kept), _part(RULES, kept), _part(MANNERS, kept))
    for _ in range(CHECKS if kept else STORES):
        yield _store(rng, parts, filler)


def _part(values: Sequence[T], kept: bool) -> list[T]:
    last = KEPT_EVERY - 1
    return [one for at, one in enumerate(values) if (at % KEPT_EVERY == last) == kept]


def _store(rng: random.Random, parts: Parts, filler: Sequence[tuple[str, Sequence[str]]]) -> Store:
    most = min(rng.randint(*SUBJECTS_PER_STORE), len(parts.subjects))
    subjects = rng.sample(parts.subjects, most)
    sessions: list[list[Turn]] = []
    questions: list[Asked] = []
    for subject in subjects:
        evidence = []
        for text in _said(rng, subject, parts):
            session = sessions[-1] if sessions and rng.random() < 0.5 else []
            if not session:
                sessions.append(session)
            _exchange(rng, session, filler)
            evidence.append(Place(len(sessions) - 1, len(session)))
            session.append(Turn("user", text))
            session.append(Turn("assistant", rng.choice(AGREED)))
        for request in rng.sample(
            subject.requests, min(REQUESTS_PER_SUBJECT, len(subject.requests))
        ):
            questions.append(Asked(request, evidence, WISH))
    return Store("wishes", sessions, questions)


def _said(rng: random.Random, subject: Subject, parts: Parts) -> list[str]:
    """One or two things that were said about the subject."""
    found = []
    if rng.random() < 0.55:
        rule, manner = rng.choice(parts.rules), rng.choice(parts.manners)
        found.append(rule.format(subject=rng.choice(subject.names), manner=manner))
    if not found or rng.random() < 0.4:
        wish = rng.choice(subject.wishes)
        small = wish if wish.startswith(("I ", "I'")) else wish[0].lower() + wish[1:]
        name = rng.choice(subject.names)
        found.append(rng.choice(WISHED).format(wish=wish, wish_small=small, subject=name))
    return found


def _exchange(
    rng: random.Random, session: list[Turn], filler: Sequence[tuple[str, Sequence[str]]]
) -> None:
    """Something else that was talked about before, or nothing."""
    if rng.random() < 0.6:
        request, replies = rng.choice(filler)
        session += [Turn("user", request), Turn("assistant", rng.choice(replies))]
