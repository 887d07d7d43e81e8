"""Learning: what it costs with a model, and how quick it is without one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import numpy as np

from bench.baselines import BareFile
from bench.billing import (
    SCOPE,
    Bill,
    exchanges_of,
    ours,
    sessions_of,
    tokens_of,
    two_calls,
)
from bench.report import Claim, Result, Table, at_least, number, times
from bench.running import Bench
from bench.talk import Turn, conversation
from bench.texts import DIMENSIONS, Chunk
from evaluation.cases import find
from evaluation.sets.locomo import load
from standfast.memory import AsyncMemory
from standfast.models.prompts import extract as extract_prompt
from standfast.models.prompts import profile, summarize
from standfast.ports import Prompt
from standfast.rank.rerank import rerank_prompt
from standfast.testing.reader import statements_in
from standfast.text.redact import Redactor
from standfast.types import Message
from standfast.wiring.reader import boxed_reader

MESSAGES_PER_HYBRID = 50  # records of the hybrid part for each message here
MESSAGES_MIN, MESSAGES_MAX = 48, 2000
OVERHEAD_MAX = 900
RULES_PER_SECOND_MIN = 500
EARLIER = 4
BARE = "bare SQLite: the same texts, one transaction each"
BY_EXCHANGE = "observe each exchange, maintain after each session"
BY_SESSION = "observe a session at once, maintain after it"


async def run(bench: Bench) -> Result:
    count = min(MESSAGES_MAX, max(MESSAGES_MIN, bench.sizes.hybrid // MESSAGES_PER_HYBRID))
    made_up = conversation(count)
    tables = [await _cost(bench, "a conversation from templates", [made_up])]
    if bench.data is not None:
        tables.append(await _cost(bench, "LoCoMo, where two people talk", _locomo(bench.data)))
    overheads = _overheads()
    bench.say("learning: speed")
    speed, claim = await _speed(bench, made_up)
    return Result(
        "learning",
        [*tables, _overhead_table(overheads), speed],
        [_overhead_claim(overheads["extract"]), claim],
    )


# Cost


async def _cost(bench: Bench, what: str, conversations: Sequence[Sequence[Turn]]) -> Table:
    """Each conversation is one person's, with a memory of its own."""
    turns = [turn for one in conversations for turn in one]
    bill, eager, lazy = (Bill(messages=len(turns)) for _ in range(3))
    for place, one in enumerate(conversations, start=1):
        bench.say(f"learning: {what}, {place} of {len(conversations)}, {len(one):,} messages")
        with bench.desk() as folder:
            await ours(one, folder, bill)
        await two_calls(one, eager, always=True)
        await two_calls(one, lazy, always=False)
    rows = {
        "standfast": bill,
        "two calls for every user message": eager,
        "the same, the second only if the first found facts": lazy,
    }
    users = sum(turn.role == "user" for turn in turns)
    called = ", ".join(f"{count} {name}" for name, count in sorted(bill.by.items()))
    note = (
        f"{len(turns):,} messages, {users:,} of them of users; standfast asked {called}. "
        "Tokens are standfast's own estimate of everything sent (instructions, schema, messages, "
        "known memories) and answered; a rule answers in place of a model. The other designs are "
        "counted, not run: their first question shows the user message, its answer and four "
        "messages before it, the second the facts found and twelve known ones, both with the same "
        "instructions and schema."
    )
    columns = ("per 1,000 messages", "calls", "tokens asked", "tokens answered", "all", "ratio")
    listed = [_row(name, one, bill) for name, one in rows.items()]
    return Table(f"Learning with a model: {what}", columns, listed, note)


def _row(name: str, bill: Bill, beside: Bill) -> tuple[str, ...]:
    total = bill.asked + bill.answered
    return (
        name,
        number(bill.per_thousand(bill.calls)),
        number(bill.per_thousand(bill.asked)),
        number(bill.per_thousand(bill.answered)),
        number(bill.per_thousand(total)),
        times(total / (beside.asked + beside.answered)),
    )


def _locomo(data: Path) -> list[list[Turn]]:
    return [
        [
            Turn(
                session=said.session,
                at=said.at,
                role="user",
                author=said.author,
                text=said.text,
            )
            for said in case.messages
        ]
        for case in load(find(data, "locomo10.json"))
    ]


# Prompts


def _overheads() -> dict[str, int]:
    """What a question costs before anything is shown."""
    prompts: dict[str, Prompt] = {
        "extract": extract_prompt(known="", messages=""),
        "extract, with the episode of a session": extract_prompt(known="", messages="", draft="x"),
        "rerank": rerank_prompt("", (), 6),
        "summarize": summarize(previous="", messages="", tokens=500),
        "profile": profile(title="", facts="", tokens=300),
    }
    return {name: tokens_of(prompt) for name, prompt in prompts.items()}


def _overhead_table(overheads: dict[str, int]) -> Table:
    rows = [(name, number(tokens)) for name, tokens in overheads.items()]
    note = "Instructions, tags and schema, by standfast's own estimate, which rounds up."
    return Table("Prompts without content", ("prompt", "tokens"), rows, note)


def _overhead_claim(tokens: int) -> Claim:
    return Claim(
        "tokens of the extraction prompt and schema",
        number(tokens),
        f"under {number(OVERHEAD_MAX)}",
        tokens < OVERHEAD_MAX,
    )


# Speed


async def _speed(bench: Bench, turns: Sequence[Turn]) -> tuple[Table, Claim]:
    messages = [_message(place, turn) for place, turn in enumerate(turns)]
    redactor = Redactor()
    rounds = bench.sizes.rounds
    redacting = await asyncio.to_thread(
        _rate, lambda: [redactor.redact(one.text) for one in messages], messages, rounds
    )
    reading = await asyncio.to_thread(_rate, lambda: _read(messages, redactor), messages, rounds)
    rates: dict[str, list[float]] = {}
    with bench.desk() as folder:
        for place in range(rounds):
            rates.setdefault(BARE, []).append(_bare(turns, folder / f"bare{place}.db"))
            for what, whole in ((BY_EXCHANGE, False), (BY_SESSION, True)):
                path = folder / f"{place}{whole}.db"
                rates.setdefault(what, []).append(await _stored(turns, path, whole=whole))
    bare = median(rates[BARE])
    rows = [
        ("redaction alone", number(redacting), ""),
        ("redaction and reading: from text to statements", number(reading), ""),
        *((what, number(median(one)), times(bare / median(one))) for what, one in rates.items()),
    ]
    note = (
        "The first two are counted in processor time of one thread, the others by the clock, with "
        "every write synced and the hashing embedder. standfast writes messages, turns, vectors, "
        "facts, what they replace and a journal; the bare file one row and its words for each "
        "message. Ratio: how many times quicker the bare file is."
    )
    table = Table("Learning without a model", ("what", "turns/s", "ratio"), rows, note)
    what = "turns/s redacted and read, on one core"
    return table, at_least(what, reading, RULES_PER_SECOND_MIN, "{:,.0f}")


def _rate(do: Callable[[], object], messages: Sequence[Message], rounds: int) -> float:
    taken = []
    for _ in range(rounds):
        began = time.process_time()
        do()
        taken.append(time.process_time() - began)
    return len(messages) / median(taken)


def _read(messages: Sequence[Message], redactor: Redactor) -> None:
    for message in messages:
        redactor.redact(message.text)
        statements_in(boxed_reader(), [message])


async def _stored(turns: Sequence[Turn], path: Path, *, whole: bool) -> float:
    """Turns per second through the public interface."""
    memory = await AsyncMemory.open(str(path), embedder="hashing", background=False)
    began = time.perf_counter()
    try:
        for session in sessions_of(turns):
            for exchange in [session] if whole else exchanges_of(session):
                messages = [turn.as_message() for turn in exchange]
                await memory.observe(session[0].session, messages, scope=SCOPE)
            await memory.maintain()
        return len(turns) / (time.perf_counter() - began)
    finally:
        await memory.close()


def _bare(turns: Sequence[Turn], path: Path) -> float:
    file = BareFile(path)
    vector = np.zeros((1, DIMENSIONS), dtype=np.float32)
    began = time.perf_counter()
    for place, turn in enumerate(turns):
        file.add(place, Chunk([turn.text], vector))
    taken = time.perf_counter() - began
    file.close()
    return len(turns) / taken


def _message(place: int, turn: Turn) -> Message:
    return Message(
        id=f"m{place}",
        scope=SCOPE,
        session=turn.session,
        role="user" if turn.role == "user" else "assistant",
        text=turn.text,
        at=turn.at,
        author=turn.author,
        source="user" if turn.role == "user" else "assistant",
        seq=place + 1,
    )
