"""What the server adds: to a recall, and to many writers at once, beside plain FastAPI."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from bench.baselines import SCOPE
from bench.filling import NOW, fill
from bench.report import Claim, Result, Table, at_least, at_most, ms, number, times
from bench.running import Bench
from bench.serving import Running, asking, running
from bench.timing import Times, cpu_seconds
from standfast.stores.sqlite import SqliteStore

CONNECTIONS = 32
ADDED_MS = 2.0
SIDES = {
    "standfast": "standfast",
    "keyed": "standfast, each with an Idempotency-Key",
    "single": "standfast, groups of one",
    "framework": "standfast, each request taken apart by FastAPI",
    "hollow": "standfast's server, nothing done",
    "bare": "FastAPI, one transaction for each request",
    "echo": "FastAPI, no store",
}


# Whose recalls are measured with as many connections too.
ASKED = ("standfast", "framework")


class Client:
    """One connection, as little of a client as can be: what is measured is the server."""

    def __init__(self, server: Running) -> None:
        self._server = server
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def post(self, path: str, body: Any, *headers: str) -> bytes:
        if self._reader is None or self._writer is None:
            self._reader, self._writer = await asyncio.open_connection(
                "127.0.0.1", self._server.port
            )
        content = json.dumps(body).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {self._server.key}\r\nContent-Length: {len(content)}\r\n"
        )
        more = "".join(f"{header}\r\n" for header in headers)
        self._writer.write(f"{head}{more}\r\n".encode() + content)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in answer[:20]:
            raise RuntimeError(answer.decode())
        length = answer.lower().split(b"content-length:")[1].split(b"\r\n")[0]
        return await self._reader.readexactly(int(length))

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


@dataclass(slots=True)
class Load:
    """Many connections at once, each sending one request after the other."""

    rates: list[float] = field(default_factory=list)
    spreads: list[float] = field(default_factory=list)  # p99 / median of each round
    cpu: list[float] = field(default_factory=list)  # seconds of the server for a request
    times: Times = field(default_factory=Times)


async def run(bench: Bench) -> Result:
    with bench.desk() as desk:
        in_process, asked = await _recalls(bench, desk / "recall.db")
        loads = {side: Load() for side in SIDES}
        questions = {side: Load() for side in ASKED}
        for round_ in range(bench.sizes.rounds):
            bench.say(f"http: writes, round {round_ + 1} of {bench.sizes.rounds}")
            for side, load in loads.items():
                await _writes(bench, side, desk / f"{side}{round_}.db", load, questions.get(side))
    return _result(bench, in_process, asked, loads, questions)


async def _recalls(bench: Bench, database: Path) -> tuple[Times, Times]:
    """The same questions in the server's process, and over HTTP."""
    sizes = bench.sizes
    bench.say(f"http: {sizes.hybrid:,} records")
    store = await SqliteStore.open(database)
    await fill(bench, store, SCOPE, 0, sizes.hybrid)
    await store.close()
    questions = bench.corpus.questions(sizes.questions)
    asked = Times()
    with running("standfast", database, asking(SCOPE, questions, sizes.rounds)) as server:
        client = Client(server)
        for round_ in range(sizes.rounds + 1):
            for question in questions:
                body = {"query": question.text, "scope": SCOPE, "now": NOW.isoformat()}
                began = time.perf_counter()
                await client.post("/v1/recall", body)
                if round_:  # the first one warms up
                    asked.seconds.append(time.perf_counter() - began)
        client.close()
        return Times(list(server.in_process)), asked


async def _writes(
    bench: Bench, side: str, database: Path, load: Load, questions: Load | None
) -> None:
    """Messages by many connections at once; then, where that is measured, questions about them."""
    texts = [chunk.texts[0] for _, chunk in bench.corpus.records(0, 2000, 1)]

    def observe(connection: int, turn: int) -> dict[str, Any]:
        text = f"{texts[(connection * 61 + turn) % len(texts)]} {connection} {turn}"
        message = {"role": "user", "content": text}
        return {
            "session": f"chat/{connection}",
            "scope": f"user:{connection}",
            "messages": [message],
        }

    def recall(connection: int, turn: int) -> dict[str, Any]:
        return {
            "query": texts[(connection * 61 + turn) % len(texts)],
            "scope": f"user:{connection}",
        }

    with running("standfast" if side == "keyed" else side, database) as server:
        await _loaded(bench, server, load, "/v1/observe", observe, keyed=side == "keyed")
        if questions is not None:
            await _loaded(bench, server, questions, "/v1/recall", recall)


async def _loaded(
    bench: Bench,
    server: Running,
    load: Load,
    path: str,
    body: Callable[[int, int], dict[str, Any]],
    *,
    keyed: bool = False,
) -> None:
    seconds: list[float] = []

    async def one(connection: int, turns: range) -> None:
        client = Client(server)
        for turn in turns:
            key = [f"Idempotency-Key: {connection}/{turn}"] if keyed else []
            began = time.perf_counter()
            await client.post(path, body(connection, turn), *key)
            seconds.append(time.perf_counter() - began)
        client.close()

    await asyncio.gather(*(one(n, range(2)) for n in range(CONNECTIONS)))  # warms up
    seconds.clear()
    used, began = cpu_seconds(server.pid), time.perf_counter()
    turns = range(2, 2 + bench.sizes.writes)
    await asyncio.gather(*(one(n, turns) for n in range(CONNECTIONS)))
    load.rates.append(len(seconds) / (time.perf_counter() - began))
    load.cpu.append((cpu_seconds(server.pid) - used) / len(seconds))
    load.spreads.append(_p99(seconds) / median(seconds))
    load.times.seconds += seconds


def _p99(seconds: list[float]) -> float:
    return sorted(seconds)[math.ceil(0.99 * len(seconds)) - 1]


def _result(
    bench: Bench,
    in_process: Times,
    asked: Times,
    loads: dict[str, Load],
    questions: dict[str, Load],
) -> Result:
    added = asked.median - in_process.median
    recall = Table(
        f"Recall over HTTP, {number(bench.sizes.hybrid)} records",
        ("", "median", "p95"),
        [
            ("in the server's process", ms(in_process.median), ms(in_process.p95)),
            ("`POST /v1/recall`", ms(asked.median), ms(asked.p95)),
            ("added", ms(added), ""),
        ],
        "One connection that is kept, one question after the other, with a key.",
    )
    tables = [recall, _load_table("observe", loads), _load_table("recall", questions)]
    return Result("http", tables, _claims(bench, added, loads))


def _load_table(verb: str, loads: dict[str, Load]) -> Table:
    rows = [
        (
            SIDES[side],
            number(median(load.rates)),
            ms(load.times.median),
            ms(_p99(load.times.seconds)),
            times(median(load.spreads)),
            ms(median(load.cpu)),
        )
        for side, load in loads.items()
    ]
    columns = (
        f"{verb}, {CONNECTIONS} connections",
        "requests/s",
        "median",
        "p99",
        "p99 / median",
        "CPU each",
    )
    note = (
        "Each request is one message. With a store every request is on the disk before it is "
        "answered; standfast also keeps the message's turn, its vector and its journal entry. "
        "CPU is all of the server's: of two rows, it says what stands between them."
    )
    if verb == "recall":
        return Table("Recalls over HTTP", columns, rows, "Questions about what was just written.")
    return Table("Writes over HTTP", columns, rows, note)


def _claims(bench: Bench, added: float, loads: dict[str, Load]) -> list[Claim]:
    rate = median(loads["standfast"].rates) / median(loads["bare"].rates)
    spread = median(loads["standfast"].spreads) / median(loads["echo"].spreads)
    return [
        at_most(
            f"POST /v1/recall on {number(bench.sizes.hybrid)} records: added to the call",
            added * 1000,
            ADDED_MS,
            "{:.2f} ms",
        ),
        at_least(f"observe, {CONNECTIONS} connections: beside one transaction each", rate, 1),
        at_most("p99 / median of observe: beside a server without a store", spread, 1),
    ]
