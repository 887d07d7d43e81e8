"""A conversation that looks real, made from templates and a fixed seed: people tell things about
themselves, ask, thank, paste logs and correct themselves; an assistant answers."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

SEED = 20260102
SESSION_MESSAGES = 24
FIRST_DAY = datetime(2025, 1, 6, 9, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    session: str
    at: datetime
    role: str
    author: str
    text: str

    def as_message(self) -> dict[str, object]:
        return {"role": self.role, "content": self.text, "at": self.at, "author": self.author}


# With weights: most of what people say to an assistant teaches nothing.
_USER: tuple[tuple[int, tuple[str, ...]], ...] = (
    (30, (
        "I live in {city} now, near the station.",
        "I'm planning to visit {city} in {month}.",
        "My sister {name} works at {company}.",
        "I work at {company} as a {job}.",
        "I'm allergic to {food}, so please keep that in mind.",
        "I like {food}, but I don't like {food2}.",
        "My favourite dish is {food} with {food2}.",
        "We decided to use {tool} for the {thing}.",
        "Remember that the {thing} has to be ready in {month}.",
        "I went to {city} with {name} last weekend, and it was great.",
        "The {thing} runs on port {number}.",
        "My {relation} {name} moved to {city} in {month}.",
        "I prefer {tool} to {tool2} for the {thing}.",
        "Actually, it's {city}, not {city2}.",
    )),
    (30, (
        "How do I {task} with {tool}?",
        "Could you explain what {tool} does and when I would need it?",
        "What would you cook with {food} and {food2}?",
        "Is there a quick way to get from {city} to {city2}?",
        "Why does the {thing} need so long to {task}?",
    )),
    (22, (
        "Thanks, that helps!",
        "Ok, great.",
        "Good morning!",
        "Hmm, let me think about it.",
        "Perfect, let's go on.",
        "Haha, true.",
    )),
    (14, (
        "It has been raining here all morning, so the day went by slowly.",
        "The meeting took much longer than anybody had thought it would.",
        "Sounds good, maybe we can look at the {thing} again some other time.",
        "That is more or less what I expected of {tool}.",
        "There was a lot of noise in the street, it was hard to get anything done.",
    )),
    (3, (
        "2025-03-09 10:00:01 INFO start {tool}\n2025-03-09 10:00:02 ERROR cannot {task}\n"
        "Traceback (most recent call last):\n  File \"main.py\", line {number}, in <module>\n"
        "    {tool}.run()\nRuntimeError: timeout",
        "```python\ndef run(x):\n    return {tool}(x, port={number})\n```",
    )),
    (1, ("The password is {word}-{number}-{word2}, don't tell anybody.",)),
)  # fmt: skip
_ASSISTANT = (
    "You can {task} with {tool} in three steps. First look at the {thing} and write down what you "
    "have. Then change one part at a time, and run it again after each change.",
    "For {food} I would take a large pan, a little oil and some salt. Let it stand for a while "
    "before you serve it; it is better warm than hot.",
    "There are two ways. The first is quick but needs {tool}; the second takes longer and needs "
    "nothing but time. If the {thing} matters to you, I would take the second one.",
    "{tool} keeps what you tell it in one place, so that the {thing} does not have to ask twice. "
    "You need it when several people work on the same thing at once, and you can do without it "
    "as long as there is only one of you.",
    "That makes sense. Shall we go through the {thing} together, or do you want a short list of "
    "what is left to do?",
)
_WORDS: dict[str, tuple[str, ...]] = {
    "city": tuple("Berlin Hamburg Rome Oslo Lyon Ghent Porto Graz Turin Bergen Leeds".split()),
    "name": tuple("Eva Tom Mia Noah Lena Omar Ida Hugo Vera Paul Nina Karl".split()),
    "company": tuple("Siemens Shell Bosch Airbus Nokia Lidl Adidas Philips Volvo Nestle".split()),
    "job": tuple("nurse teacher carpenter lawyer baker welder editor chemist".split()),
    "food": tuple("pasta rice lentils salmon peanuts olives mushrooms cheese tofu leeks".split()),
    "tool": tuple("Redis Postgres Docker Terraform Kafka Nginx Grafana Ansible Vite".split()),
    "thing": tuple("report server website database newsletter kitchen budget archive".split()),
    "task": tuple("sort a list|write a test|read a file|move the data|clean the cache".split("|")),
    "relation": tuple("brother cousin neighbour boss friend uncle".split()),
    "month": tuple("January March May June August October December".split()),
    "word": tuple("tango amber velvet copper falcon willow".split()),
}  # fmt: skip


def conversation(count: int, seed: int = SEED) -> list[Turn]:
    """That many messages, in sessions of two dozen, one session a day."""
    return list(_turns(count, random.Random(seed)))


def _turns(count: int, dice: random.Random) -> Iterator[Turn]:
    for number in range(count):
        day, place = divmod(number, SESSION_MESSAGES)
        is_user = place % 2 == 0
        yield Turn(
            session=f"day-{day:04d}",
            at=FIRST_DAY + timedelta(days=day, minutes=place),
            role="user" if is_user else "assistant",
            author="Ann" if is_user else "",
            text=_filled(_said(dice) if is_user else dice.choice(_ASSISTANT), dice),
        )


def _said(dice: random.Random) -> str:
    (templates,) = dice.choices([one for _, one in _USER], [weight for weight, _ in _USER])
    return dice.choice(templates)


def _filled(template: str, dice: random.Random) -> str:
    values: dict[str, object] = {"number": dice.randrange(1000, 9999)}
    for name, words in _WORDS.items():
        values[name], values[f"{name}2"] = dice.sample(words, 2)
    return template.format(**values)
