"""A seeded simulation of learning with a ground truth: somebody tells how things are, how they
change and what was wrong, in many sessions and whatever order upkeep comes in. In the end nothing
is believed that contradicts how things are, unless it is disputed or questioned in the open. What
a sentence says and what it does to another is given: the house has to draw the conclusions."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from standfast import Memory
from standfast.testing.judge import THRESHOLDS
from standfast.testing.reader import ScriptedClause, ScriptedReader
from standfast.types import Record
from standfast.understanding.judging.judge import JudgedStatement, Judgment, Thresholds

ANN = "user:ann"
STEPS = 14


@dataclass(frozen=True)
class Slot:
    """One thing about Ann. ``says`` states it, ``changes`` tells that it is otherwise now, ``ends``
    that it is over, ``corrects`` what was said just before."""

    values: tuple[str, ...]
    says: tuple[str, ...]
    changes: tuple[str, ...]
    corrects: tuple[str, ...]
    ends: tuple[str, ...] = ()


SLOTS = {
    "home": Slot(
        values=("Porto", "Faro", "Oslo", "Ghent", "Lyon", "Turin", "Malaga"),
        says=("I live in {new}.", "I'm based in {new}."),
        changes=("I moved to {new}.", "We moved to {new} last month.", "I live in {new} now."),
        corrects=("No, I live in {new}, not in {old}.", "Sorry, I meant {new}.",
                  "Correction: I live in {new}."),
    ),
    "employer": Slot(
        values=("Bosch", "Siemens", "Nokia", "Fujitsu", "Lenovo", "Garmin", "Philips"),
        says=("I work at {new}.", "I work for {new}."),
        changes=("I started a new job at {new}.", "I work at {new} now.",
                 "I left {old} and work at {new} now."),
        corrects=("No, I work at {new}, not at {old}.", "Sorry, I meant {new}."),
        ends=("I quit my job at {old}.", "I don't work at {old} anymore."),
    ),
    "car": Slot(
        values=("Volvo", "Toyota", "Skoda", "Mazda", "Fiat", "Dacia"),
        says=("I drive a {new}.",),
        changes=("I sold the {old} and drive a {new} now.", "I drive a {new} now."),
        corrects=("No, I drive a {new}, not a {old}.",),
        ends=("I sold my {old}.", "I don't drive a {old} anymore."),
    ),
    "cat": Slot(
        values=("Momo", "Luna", "Felix", "Nala", "Simba", "Tiger"),
        says=("My cat is called {new}.", "My cat's name is {new}."),
        changes=("My cat is called {new} now.",),
        corrects=("No, my cat is called {new}, not {old}.", "Typo: my cat is called {new}."),
    ),
    "meeting": Slot(
        values=("Monday", "Tuesday", "Wednesday", "Thursday", "Friday"),
        says=("The team meeting is on {new}.",),
        changes=("The team meeting was moved to {new}.", "The team meeting is on {new} now."),
        corrects=("No, the team meeting is on {new}, not on {old}.",),
    ),
}  # fmt: skip
IDLE = (
    "What is the weather like today?",
    "Thanks, that helped!",
    "Can you write a poem about the sea?",
    "My friend Tom lives in Cairo and works at Boeing.",
    'Rewrite this nicely: "I live in Quito and I drive a Lada."',
)
# Words by which a statement says that something is over.
OVER = (
    "not",
    "n't",
    "quit",
    "sold",
    "left",
    "no longer",
    "moved from",
    "used to",
    "until",
    "ended",
)


@dataclass(frozen=True)
class Meant:
    """What a sentence says: this is the value of a slot now; "" where it is over."""

    slot: str
    value: str


class KnowingJudge:
    """Implements ``ChangeJudge``: it knows what every sentence means."""

    trouble = ""

    async def thresholds(self) -> Thresholds:
        return THRESHOLDS

    async def judge(self, new: JudgedStatement, olds: Sequence[JudgedStatement]) -> list[Judgment]:
        return [self._judgment(_meaning(old), _meaning(new)) for old in olds]

    def _judgment(self, old: Meant | None, new: Meant | None) -> Judgment:
        if old is None or new is None or old.slot != new.slot:
            return Judgment("unrelated")
        if old.value == new.value:
            return Judgment("same")
        return Judgment("replaces" if new.value else "ends")


def _meaning(one: JudgedStatement) -> Meant | None:
    return MEANT.get(one.text.rstrip("."))


MEANT = {
    sentence.format(new=new, old=old).rstrip("."): Meant(name, new if "{new}" in sentence else "")
    for name, slot in SLOTS.items()
    for sentence in (*slot.says, *slot.changes, *slot.corrects, *slot.ends)
    for new in slot.values
    for old in slot.values
}
READ = {f"{words}.": (ScriptedClause(words),) for words in MEANT}


@dataclass
class Life:
    """One person's history, and how things really are."""

    seed: int
    folder: Path
    truth: dict[str, str] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.dice = random.Random(self.seed)
        self.now = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
        self.session = 0
        self.memory = self.opened()

    def opened(self) -> Memory:
        store = str(self.folder / f"{self.seed}.db") if self.seed % 5 == 0 else "dict:"
        memory = Memory.open(store, embedder="hashing", background=False, clock=lambda: self.now)
        engine = memory._memory.engine
        engine.change_judge = KnowingJudge()
        engine.reader = ScriptedReader(READ, engine.reader)
        return memory

    def live(self) -> None:
        for _ in range(STEPS):
            self.step()
            self.now += timedelta(minutes=self.dice.choice((1, 3, 50)))
            if self.dice.random() < 0.4:
                self.now += timedelta(days=self.dice.randrange(1, 40))
                self.session += 1
            if self.dice.random() < 0.5:
                self.memory.maintain()
            if self.seed % 5 == 0 and self.dice.random() < 0.2:
                self.memory.close()
                self.memory = self.opened()
        self.memory.maintain()

    def step(self) -> None:
        dice = self.dice
        name = dice.choice(list(SLOTS))
        slot, old = SLOTS[name], self.truth.get(name, "")
        if dice.random() < 0.2:
            self.say(dice.choice(IDLE))
            return
        new = dice.choice([value for value in slot.values if value != old])
        if not old:
            self.tell(name, dice.choice(slot.says), new)
        elif slot.ends and dice.random() < 0.15:
            self.tell(name, dice.choice(slot.ends), "")
        else:
            self.tell(name, dice.choice(slot.changes), new)
        if self.truth[name] and dice.random() < 0.25:
            right = dice.choice([value for value in slot.values if value not in (old, new)])
            self.now += timedelta(minutes=1)
            self.tell(name, dice.choice(slot.corrects), right)

    def tell(self, name: str, sentence: str, new: str) -> None:
        """Says of a slot what it is from now on."""
        self.say(sentence.format(new=new, old=self.truth.get(name, "")))
        self.truth[name] = new

    def say(self, text: str) -> None:
        self.told.append(text)
        self.memory.observe(f"s{self.session}", [text], scope=ANN)

    def silently_wrong(self) -> list[str]:
        """What is believed though it is not so, and nobody is told."""
        hits = self.memory.recall("", scope=ANN, limit=200, kinds=["semantic"]).hits
        listed = {item.record.id for item in self.memory.review(scope=ANN) if item.record}
        return [
            f"{name} is {self.truth.get(name) or 'over'}: {hit.record.text!r}"
            for hit in hits
            for name, slot in SLOTS.items()
            if self.truth.get(name) is not None and _contradicts(hit.record, slot, self.truth[name])
            if hit.record.status == "active" and hit.record.id not in listed
            if "questioned" not in hit.record.data
        ]


def _contradicts(record: Record, slot: Slot, truth: str) -> bool:
    """Says it, as something that holds, that another value is the right one?"""
    text = record.text
    if truth and truth in text:
        return False
    wrong = any(value in text for value in slot.values if value != truth)
    return wrong and not any(word in text for word in OVER)


def lived(seed: int, folder: Path) -> list[str]:
    life = Life(seed, folder)
    life.live()
    try:
        wrong = life.silently_wrong()
        return [*wrong, *life.told] if wrong else []
    finally:
        life.memory.close()


@pytest.mark.parametrize("seed", range(8))
def test_K3_X6_nothing_wrong_is_believed_in_silence(seed: int, tmp_path: Path) -> None:
    assert lived(seed, tmp_path) == []


@pytest.mark.proof
def test_K3_X6_nothing_wrong_is_believed_in_a_thousand_lives(tmp_path: Path) -> None:
    for seed in range(100, 1100):
        assert lived(seed, tmp_path) == [], seed
