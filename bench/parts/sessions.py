"""Short-term memory: does the length of a log cost anything?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from bench.report import Claim, Result, Table, ms, times
from bench.running import Bench
from bench.timing import Times
from standfast import AsyncMemory
from standfast.packet.policy import fold_count, policy_of
from standfast.profiles import profile_named
from standfast.types import Message, ToolCall

PLANNED = 10_000
PLANNED_SECONDS_MAX = 0.010
GROWTH_MAX = 2.0  # of the longest log over the shortest: noise, not growth
SCOPE = "user:ann"
PART = 500


async def run(bench: Bench) -> Result:
    bench.say("sessions: planning")
    planning = _planning(bench.sizes.rounds * 5)
    lengths = [n for n in (100, 1000, 10_000, 100_000) if n <= max(100, bench.sizes.hybrid)]
    rows: list[tuple[str, ...]] = []
    measured: list[tuple[Times, Times]] = []
    with bench.desk() as folder:
        memory = await AsyncMemory.open(
            str(folder / "sessions.db"), profile="otto", embedder="hashing", background=False
        )
        done = 0
        for length in lengths:
            done = await _fill(bench, memory, done, length)
            await memory.maintain()
            observed, packed, found = await _measure(memory, done, bench.sizes.rounds * 10)
            done += len(observed.seconds)
            measured.append((observed, packed))
            rows.append((f"{length:,}", ms(observed.median), ms(packed.median), ms(found.median)))
        await memory.close()
    columns = ("messages in the log", "observe one", "context", "context with a search")
    note = (
        "Under the profile `otto`, every write synced. The search looks at every turn of the "
        "scope, so the last column grows with what there is to find; the others should not grow."
    )
    return Result(
        "sessions",
        [Table("Sessions", columns, rows, note)],
        [_planned(planning), *_grown(measured)],
    )


def _planning(rounds: int) -> Times:
    """Where to cut a log of calls and answers."""
    log = [_message(n) for n in range(PLANNED)]
    policy = policy_of(profile_named("otto"))
    taken = Times()
    for _ in range(rounds):
        with taken.one():
            fold_count(log, policy, lambda _: 1)
    return taken


def _message(n: int) -> Message:
    calls = (ToolCall(id=f"c{n}", name="run"),) if n % 4 == 1 else ()
    return Message(
        id=f"m{n}",
        scope=SCOPE,
        session="s",
        role="assistant" if calls else "tool" if n % 4 == 2 else "user",
        text=f"line {n}",
        at=datetime(2026, 1, 1, tzinfo=UTC),
        calls=calls,
        answers=(f"c{n - 1}",) if n % 4 == 2 else (),
        seq=n + 1,
    )


async def _fill(bench: Bench, memory: AsyncMemory, start: int, end: int) -> int:
    for first in range(start, end, PART):
        bench.count("sessions: messages", first, end)
        texts = [f"line {n} about topic {n % 97}" for n in range(first, min(first + PART, end))]
        await memory.observe("chat", texts, scope=SCOPE)
    return max(start, end)


async def _measure(memory: AsyncMemory, done: int, rounds: int) -> Sequence[Times]:
    observed, packed, found = Times(), Times(), Times()
    for n in range(rounds):
        with observed.one():
            await memory.observe("chat", [f"line {done + n} about something"], scope=SCOPE)
        with packed.one():
            await memory.context(session="chat", scope=SCOPE, query="")
        with found.one():
            await memory.context(session="chat", scope=SCOPE, query=f"topic {n}")
    return observed, packed, found


def _planned(taken: Times) -> Claim:
    return Claim(
        f"planning a compaction of {PLANNED:,} messages",
        ms(taken.median),
        f"under {ms(PLANNED_SECONDS_MAX)}",
        taken.median < PLANNED_SECONDS_MAX,
    )


def _grown(measured: list[tuple[Times, Times]]) -> list[Claim]:
    claims = []
    for place, what in enumerate(("observing one message", "context without a search")):
        ratio = measured[-1][place].median / measured[0][place].median
        claims.append(
            Claim(
                f"{what}, longest log beside shortest",
                times(ratio),
                f"at most {times(GROWTH_MAX)}",
                ratio <= GROWTH_MAX,
            )
        )
    return claims
