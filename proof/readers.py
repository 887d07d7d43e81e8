"""Readers: whatever people write, reading it raises nothing, and no message is left unread.

The messages are those of the public sources that ``training.prepare`` names, from clones in the
folder STANDFAST_CLONES (default: ``build/clones``; ``python -m training.prepare --list`` prints how
to make them). A source that is not there is left out, and the figures name those that were used.
Where there is none, the conversations for the evaluation are taken. The first 200,000 messages are
as they were written; what is missing to them where the sources have less, and all that is tried
beyond, are mutations. The figures tell them apart.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from proof.family import Broken, ProofFamily, Trial
from standfast import Memory
from standfast.types import Message
from standfast.understanding.reading import statements
from standfast.understanding.reading.clauses import Clause
from training import prepare
from training.sources.mirror import Mirror, SourceError
from training.stores import Turn

UNCHANGED = 200_000  # messages as they were written
TARGET = 220_000
SESSIONS_PER_TRIAL = 5
TURNS_MAX = 50  # of a session
CHARACTERS_MAX = 1500
WITH_MODEL_EVERY = 20  # trials: the model in the box reads too
CLONES = Path(os.environ.get("STANDFAST_CLONES", "build/clones"))
OWN = Path(__file__).parents[1] / "evaluation" / "forms" / "talks.txt"
SCOPE = "user:ann"

Talk = Sequence[Turn]


@cache
def talks() -> tuple[tuple[str, tuple[Talk, ...]], ...]:
    """By source, in an order that is the same everywhere: sessions of at most so many turns."""
    mirror = Mirror(CLONES)
    found: list[tuple[str, tuple[Talk, ...]]] = []
    for source in prepare.SOURCES:
        name = source.__name__
        try:
            stores = list(source(mirror, random.Random(f"{prepare.SEED} {name}")))
        except SourceError:
            continue
        said = [[*session] for store in stores for session in store.sessions]
        said += [[Turn("user", one.text) for one in store.questions] for store in stores]
        found.append((name, tuple(_cut(said))))
    return tuple(found) or (("own", tuple(_cut([_own()]))),)


def _own() -> list[Turn]:
    lines = OWN.read_text("utf-8").splitlines()
    return [Turn("user", line) for line in lines if line.strip()]


def _cut(sessions: Sequence[Sequence[Turn]]) -> Iterator[Talk]:
    for session in sessions:
        turns = [turn for turn in session if turn.text.strip()]
        for start in range(0, len(turns), TURNS_MAX):
            yield turns[start : start + TURNS_MAX]


@cache
def sampled() -> tuple[tuple[str, Talk], ...]:
    """All sessions with the names of their sources, in the order in which they are tried."""
    every = [(name, talk) for name, some in talks() for talk in some]
    return tuple(random.Random(prepare.SEED).sample(every, len(every)))


def is_unchanged(first: int) -> bool:
    """Whether the session of this number, and those behind it, are tried as they were written."""
    before = sum(len(talk) for _, talk in sampled()[:first])
    return 0 <= first < len(sampled()) and before < UNCHANGED


def attempt(seed: int, _folder: Path) -> Trial:
    """The seeds below zero, and those behind enough unchanged messages, read mutations."""
    dice = random.Random(seed)
    every, first = sampled(), seed * SESSIONS_PER_TRIAL
    mutated = not is_unchanged(first)
    figures: Counter[str] = Counter()
    boxed = seed >= 0 and seed % WITH_MODEL_EVERY == 0
    embedder = "recall-2" if boxed else "hashing"
    with Memory.open("dict:", embedder=embedder, background=False) as memory:
        for number in range(SESSIONS_PER_TRIAL):
            if not mutated and first + number >= len(every):
                break
            name, talk = every[(first + number) % len(every)]
            said = [_mutated(dice, turn) for turn in talk] if mutated else talk
            memory.observe(f"s{number}", list(map(_message, said)), scope=SCOPE)
            figures[f"{'mutations of' if mutated else 'from'} {name}"] += len(said)
        read = figures.total()
        figures["mutations" if mutated else "as they were written"] = read
        receipt = memory.maintain()
        unread = [one.reason for one in receipt.items if one.status == "failed"]
        if unread:
            raise Broken(f"{len(unread)} of {read} messages: {unread[0]}")
        behind = [
            one.id
            for one in memory.sessions(scope=SCOPE, limit=50).items
            if one.cursors.get("extract", 0) < one.last_seq
        ]
        if behind:
            raise Broken(f"{len(behind)} sessions were not read to their end")
    if boxed:
        figures["with the model in the box"] += read
    return Trial(units=read, figures=tuple(figures.items()))


def _message(turn: Turn) -> dict[str, Any]:
    role = "assistant" if turn.speaker == "assistant" else "user"
    author = "" if turn.speaker in ("user", "assistant") else turn.speaker[:60]
    told = {"author": author} if author.strip() else {}
    return {"role": role, "content": turn.text[:CHARACTERS_MAX], **told}


def _mutated(dice: random.Random, turn: Turn) -> Turn:
    """The same with marks, numbers and halves of words where nobody expects them; or said by the
    other one."""
    text = list(turn.text[:CHARACTERS_MAX])
    for _ in range(dice.choice((1, 1, 2, 5, 20))):
        at = dice.randrange(len(text) + 1)
        match dice.choice(("in", "in", "out", "double", "end")):
            case "in":
                text.insert(at, dice.choice(_MARKS))
            case "out":
                del text[at : at + dice.randrange(1, 12)]
            case "double":
                text[at:at] = text[: dice.randrange(1, 40)]
            case _:
                del text[at:]
                text.append(dice.choice(_MARKS))
    speaker = dice.choice((turn.speaker, "user", "assistant"))
    return Turn(speaker, "".join(text)[:CHARACTERS_MAX] or "?")


_MARKS = (
    "?", "*?", ". ?", "!", ".", "\"", "'", "\u2019", "\u201c", "*", "_", "\n", "\n\n", ":", ";",
    "(", ")", "[", "\u00bf", "\uff1f", "\u3002", "\u202e", "\u200b", "\U0001f600", "\x00", "7",
    "3.5", ",", " - ", ". *?",
    " not ", " no, ", " I ", " my ", "```", "<b>", "|", "\t", "1. ", "I'm ", "\ud800",
)  # fmt: skip


@contextmanager
def failing_render() -> Iterator[None]:
    """The mutant: rendering that believes every word to be ASCII."""
    real = statements.render

    def believing(clause: Clause, message: Message, *rest: Any) -> Any:
        message.text[clause.start : clause.end].split()[0].encode("ascii")
        return real(clause, message, *rest)

    with mock.patch.object(statements, "render", believing):
        yield


FAMILY = ProofFamily(
    name="readers",
    promise="Reading what anybody wrote raises nothing: no message is unread, no session stops.",
    unit="messages",
    target=TARGET,
    attempt=attempt,
    mutant=failing_render,
    mutant_said="rendering that believes every word to be ASCII",
    mutant_tries=40,
    share=5.0,  # a worker reads all sources first
    parallel=True,
    not_promised=(
        ("what is read is right", "the evaluation measures that"),
        (f"messages longer than {CHARACTERS_MAX:,} characters", "the trials cut them there"),
    ),
)
