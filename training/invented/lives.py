"""Conversations of two people, or of one with an assistant, over many sessions."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from training.invented.frames import FRAMES, SLOTS
from training.invented.people import NAMES
from training.stores import ANSWER, TOPIC, Asked, Place, Store, Turn

STORES = 420
SESSIONS = (7, 13)
STORIES = (2, 5)  # per session
EVIDENCE_MAX = 5  # a question with more answers asks for nothing in particular

_SLOT = re.compile(r"\{(\w+)\}")
OPENERS = ("", "", "", "", "Oh, ", "Well, ", "Hi! ", "You know what? ", "Honestly, ", "Thanks. ",
           "So, ", "Haha, yes. ", "Not bad. ", "Good to hear. ")  # fmt: skip
CLOSERS = ("", "", "", "", " What about you?", " Anyway.", " Long story.", " I was {mood}, I can tell "
           "you.", " I will send you a picture.", " Who would have thought.", " My {kin} says hello.",
           " And yours?", " It is all a bit much.", " You would have loved it.")  # fmt: skip
REPLIES = ("Really?", "How lovely!", "Oh dear.", "I did not know that.", "Tell me more.", "Good for "
           "you.", "No way!", "That sounds like you.", "Makes sense.", "I am glad.", "Ouch.", "And "
           "then?", "Same here, more or less.", "I would have done the same.")  # fmt: skip
REQUESTS = ("Could you help me plan that?", "What would you advise?", "Any ideas how to go on?",
            "Can you find out more about it?", "What should I look out for?", "Write me a few words "
            "about it.", "How do others do that?", "Is there a book on that?")  # fmt: skip
OVERVIEWS = (
    "What do we know about {who}?", "Tell me about {who}'s life.", "List what {who} has been doing, in "
    "order.", "How have things gone for {who} lately?", "What has changed for {who} over time?",
)  # fmt: skip


# What a question that begins so asks for.
NEEDED = (
    ("When", ("when", "soon", "hour")),
    ("Since when", ("when",)),
    ("How much", ("sum",)),
    ("How many", ("count",)),
    ("How long", ("count", "when")),
    ("Where", ("town", "place", "shop", "fair", "cause", "firm")),
    (("Who ", "Whom ", "With whom", "From whom", "To whom", "Whose"), ("kin", "friend", "firm")),
)


class Filler(NamedTuple):
    """Real text to stand between what is invented."""

    chats: Sequence[Sequence[str]]
    requests: Sequence[tuple[str, Sequence[str]]]


class Told(NamedTuple):
    frame: int
    speaker: str
    place: Place
    text: str
    words: Mapping[str, str]


def lives(rng: random.Random, filler: Filler) -> Iterator[Store]:
    for number in range(STORES):
        yield _with_assistant(rng, filler) if number % 3 == 2 else _of_two(rng, filler)


def _of_two(rng: random.Random, filler: Filler) -> Store:
    two = rng.sample(NAMES, 2)
    sessions: list[list[Turn]] = []
    told: list[Told] = []
    for number in range(rng.randint(*SESSIONS)):
        session: list[Turn] = []
        for _ in range(rng.randint(*STORIES)):
            _chat(rng, session, two, filler.chats)
            speaker, other = rng.sample(two, 2)
            at = rng.randrange(len(FRAMES))
            frame, words = FRAMES[at], _words(rng)
            if rng.random() < 0.45:
                session.append(Turn(other, _filled(rng.choice(frame.asked), words)))
                text = _filled(rng.choice(frame.answers), words)
            else:
                text = _filled(rng.choice(frame.says), words)
            text = _opened(rng, text) + _filled(rng.choice(CLOSERS), words)
            told.append(Told(at, speaker, Place(number, len(session)), text, words))
            session.append(Turn(speaker, text))
            if rng.random() < 0.6:
                session.append(Turn(other, rng.choice(REPLIES)))
        sessions.append(session)
    return Store("lives", sessions, [*_questions(rng, told, "{who}"), *_overviews(rng, told, two)])


def _with_assistant(rng: random.Random, filler: Filler) -> Store:
    sessions: list[list[Turn]] = []
    told: list[Told] = []
    for number in range(rng.randint(*SESSIONS)):
        session: list[Turn] = []
        for _ in range(rng.randint(*STORIES)):
            request, replies = rng.choice(filler.requests)
            at = rng.randrange(len(FRAMES))
            words = _words(rng)
            story = _filled(rng.choice(FRAMES[at].says), words)
            parts = [story, rng.choice(REQUESTS) if rng.random() < 0.5 else request]
            if rng.random() < 0.4:
                parts.reverse()
            told.append(Told(at, "I", Place(number, len(session)), story, words))
            session.append(Turn("user", _opened(rng, " ".join(parts))))
            session.append(Turn("assistant", rng.choice(replies)))
        sessions.append(session)
    return Store("lives-assistant", sessions, _questions(rng, told, "I"))


def _chat(
    rng: random.Random, session: list[Turn], two: Sequence[str], chats: Sequence[Sequence[str]]
) -> None:
    chat = rng.choice(chats)
    start = rng.randrange(max(1, len(chat) - 3))
    for number, text in enumerate(chat[start : start + rng.randint(0, 3)]):
        session.append(Turn(two[number % 2], text))


def _opened(rng: random.Random, text: str) -> str:
    opener = rng.choice(OPENERS)
    within = opener.endswith(", ") and not text.startswith(("I ", "I'"))
    return opener + (text[0].lower() + text[1:] if within else text)


def _words(rng: random.Random) -> dict[str, str]:
    return {name: rng.choice(words) for name, words in SLOTS.items()}


def _filled(text: str, words: Mapping[str, str]) -> str:
    while _SLOT.search(text):
        text = _SLOT.sub(lambda found: words[found[1]], text)
    return text[:1].upper() + text[1:]


def _questions(rng: random.Random, told: Sequence[Told], who: str) -> list[Asked]:
    """Whatever the same person told of the same matter is evidence, except where the question
    names something that only one telling has."""
    questions: dict[str, list[Place]] = {}
    for one in told:
        same = [o for o in told if (o.frame, o.speaker) == (one.frame, one.speaker)]
        for want in rng.sample(FRAMES[one.frame].wants, 2):
            slots = _SLOT.findall(want)
            if not (_holds(one, slots) and _answers(one, want)):
                continue
            asked = _filled(want, one.words)
            text = _of_me(asked) if who == "I" else re.sub(r"\bN\b", one.speaker, asked)
            found = [
                o.place
                for o in same
                if _answers(o, want) and all(o.words[slot] == one.words[slot] for slot in slots)
            ]
            questions.setdefault(text, []).extend(found)
    return [
        Asked(text, sorted(set(places)), ANSWER)
        for text, places in questions.items()
        if len(set(places)) <= EVIDENCE_MAX
    ]


def _answers(one: Told, want: str) -> bool:
    """A question for a time finds only what names one, and so on."""
    return next(
        (
            any(_holds(one, [slot]) for slot in slots)
            for begin, slots in NEEDED
            if want.startswith(begin)
        ),
        True,
    )


def _holds(one: Told, slots: Sequence[str]) -> bool:
    return all(_filled(one.words[slot], one.words).lower() in one.text.lower() for slot in slots)


def _overviews(rng: random.Random, told: Sequence[Told], two: Sequence[str]) -> list[Asked]:
    return [
        Asked(
            rng.choice(OVERVIEWS).format(who=who),
            [one.place for one in told if one.speaker == who],
            TOPIC,
        )
        for who in two
    ]


_MINE = (
    (r"\bN's\b", "my"), (r"\b[Dd]oes N\b", "do I"), (r"\b[Ii]s N\b", "am I"),
    (r"\b[Hh]as N\b", "have I"), (r"\b([Dd]id|will|was|[Ww]ould|could|might|can) N\b", r"\1 I"),
    (r"\b(about|with|to|under|for|from|at|please|helps|beat|taught|gave|lent|helped|brought|spare|"
     r"disappointed|employs|recommended something to|call|between) N\b", r"\1 me"),
    (r"\bN\b", "I"),
)  # fmt: skip


def _of_me(question: str) -> str:
    for pattern, mine in _MINE:
        question = re.sub(pattern, mine, question)
    return question[:1].upper() + question[1:]
