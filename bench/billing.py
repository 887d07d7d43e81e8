"""What learning with a model costs: calls and tokens, counted where the model would be.

The model is a rule that answers as the schema asks (``standfast.testing.learner``), so the
numbers are the same on every machine. Tokens are standfast's own estimate of every character that
goes over the wire: instructions, schema, what is shown, and the answer.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

from bench.talk import Turn
from standfast.engine import Engine
from standfast.memory import AsyncMemory
from standfast.models.prompts import extract as extract_prompt
from standfast.ports import Prompt, Reply
from standfast.testing.learner import answer_for
from standfast.text.tokens import estimate
from standfast.types import Message, Usage
from standfast.upkeep.consolidate import consolidate_due
from standfast.upkeep.learn.answers import messages_as_text, show
from standfast.upkeep.learn.lanes import EARLIER_MAX
from standfast.upkeep.loop import one_round
from standfast.wiring import open_engine
from standfast.wiring.reader import boxed_reader

SCOPE = "user:ann"
KNOWN_SHOWN = 12  # memories that are shown beside new messages, in both designs
QUIET = timedelta(minutes=31)


@dataclass(slots=True)
class Bill:
    """Calls and tokens for some conversations; ``by`` counts the calls of each operation."""

    messages: int
    calls: int = 0
    asked: int = 0
    answered: int = 0
    by: Counter[str] = field(default_factory=Counter)

    def add(self, prompt: Prompt, answer: Any) -> None:
        self.calls += 1
        self.asked += tokens_of(prompt)
        self.answered += estimate(json.dumps(answer, ensure_ascii=False))
        self.by[prompt.operation] += 1

    def per_thousand(self, count: int) -> float:
        return 1000 * count / self.messages


def tokens_of(prompt: Prompt) -> int:
    """Everything that is sent for a question."""
    schema = json.dumps(prompt.schema) if prompt.schema else ""
    return sum(map(estimate, (prompt.system, prompt.user, schema)))


class BilledModel:
    """Answers as the reader in the box reads, and writes down what that would have cost."""

    name = "billed"

    def __init__(self, bill: Bill) -> None:
        self._bill = bill

    async def ask(self, prompt: Prompt) -> Reply:
        answer: dict[str, Any]
        if prompt.operation == "extract":
            answer = await answer_for(prompt.user, boxed_reader())
        else:
            text = " ".join(prompt.user.split())[: 4 * prompt.tokens_max // 2]
            answer = {"profile" if prompt.operation == "consolidate" else "summary": text}
        self._bill.add(prompt, answer)
        return Reply(text="", data=answer, usage=Usage(calls=1))


async def ours(turns: Sequence[Turn], folder: Path, bill: Bill) -> None:
    """The pipeline as it runs in the background: a round of upkeep after every exchange, one
    when it has been quiet for half an hour, and a consolidation when one is due."""
    now = [turns[0].at]
    engine = await open_engine(
        folder / "billed.db",
        embedder="hashing",
        clock=lambda: now[0].astimezone(UTC),
        model=BilledModel(bill),
    )
    memory = AsyncMemory(engine)
    try:
        for session in sessions_of(turns):
            for exchange in exchanges_of(session):
                now[0] = max(now[0], exchange[-1].at)
                messages = [turn.as_message() for turn in exchange]
                await memory.observe(session[0].session, messages, scope=SCOPE)
                await one_round(engine)
            await _night(engine, now)
    finally:
        await memory.close()


async def _night(engine: Engine, now: list[datetime]) -> None:
    now[0] += QUIET
    await one_round(engine)
    await consolidate_due(engine)


async def two_calls(turns: Sequence[Turn], bill: Bill, *, always: bool) -> None:
    """A design that asks twice for every user message: once for the facts in it (with its answer
    and the four messages before it), once what they do to the twelve memories nearest to them.
    Both questions have the instructions and the schema of ours. Not ``always``: the second
    question is only asked where the first found something."""
    known: list[str] = []
    for session in sessions_of(turns):
        said = [_message(number, turn) for number, turn in enumerate(session)]
        place = 0
        for exchange in exchanges_of(session):
            new = said[place : place + len(exchange)]
            facts = await _first(bill, new, said[max(0, place - EARLIER_MAX) : place])
            place += len(exchange)
            if always or facts:
                _second(bill, facts, known[-KNOWN_SHOWN:])
            known += [fact["text"] for fact in facts]


async def _first(
    bill: Bill, new: Sequence[Message], earlier: Sequence[Message]
) -> list[dict[str, Any]]:
    alone = messages_as_text(show(new, (), ()), ())
    shown = messages_as_text(show(new, earlier, ()), ())
    answer = await answer_for(f"<messages>{alone}</messages>", boxed_reader())
    bill.add(extract_prompt(known="", messages=shown), answer)
    facts: list[dict[str, Any]] = answer["facts"]
    return facts


def _second(bill: Bill, facts: Sequence[dict[str, Any]], known: Sequence[str]) -> None:
    listed = "\n".join(f"[k{n}] 2025-01-01 fact: {text}" for n, text in enumerate(known, 1))
    prompt = extract_prompt(known=listed, messages=json.dumps(facts, ensure_ascii=False))
    bill.add(prompt, {"facts": [{**fact, "links": "duplicate k1"} for fact in facts]})


def sessions_of(turns: Sequence[Turn]) -> Iterator[list[Turn]]:
    for _, session in groupby(turns, key=lambda turn: turn.session):
        yield list(session)


def exchanges_of(session: Sequence[Turn]) -> Iterator[list[Turn]]:
    """A user message and what follows it until the next one."""
    exchange: list[Turn] = []
    for turn in session:
        if exchange and turn.role == "user":
            yield exchange
            exchange = []
        exchange.append(turn)
    if exchange:
        yield exchange


def _message(number: int, turn: Turn) -> Message:
    return Message(
        id=f"{turn.session}-{number}",
        scope=SCOPE,
        session=turn.session,
        role="user" if turn.role == "user" else "assistant",
        text=turn.text,
        at=turn.at,
        author=turn.author,
        seq=number + 1,
    )
