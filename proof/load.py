"""Two hundred connections that write and ask at once, two servers on one file, for ten minutes:
every answer is one, nothing that was acknowledged is missing or doubled, memory stays flat."""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from proof.family import HIGHEST, Broken, ProofFamily, Trial
from standfast import Memory
from standfast.access import keys
from standfast.stores.sqlite import doctor
from tests.interfaces.http.starts import Start, started

SECONDS_FULL = 600
SECONDS_LEAST = 10
SERVERS = 2
CONNECTIONS = 200
TENANTS = 20
ANSWER_SECONDS_MAX = 60.0
# Of a server, once it is warm: beside what its memories take in the index, which it holds in
# memory by design, so much may come and go.
GROWTH_MB_MAX = 64
GROWTH_KB_PER_RECORD = 12
WORDS = "tea harbour violin ladder marble copper garden lantern silver window cedar river".split()
MUTANT = "PROOF_DROPS_COMMITS"


@dataclass(slots=True)
class Plan:
    """How long one trial lasts: the whole ten minutes, or a share of a shorter proof."""

    seconds: float = SECONDS_FULL

    def fit(self, minutes: float, families: int) -> None:
        share = minutes * 60 / (2 * families)
        self.seconds = max(SECONDS_LEAST, min(SECONDS_FULL, share))


PLAN = Plan()


@dataclass(slots=True)
class Tally:
    """What the clients were told."""

    messages: list[tuple[str, str]] = field(default_factory=list)  # (scope, id)
    records: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)


def attempt(seed: int, folder: Path) -> Trial:
    seconds = SECONDS_LEAST if seed < 0 else PLAN.seconds  # a mutant is noticed soon
    store = folder / "memory.db"
    secrets = _prepared(store)
    tally = Tally()
    with ExitStack() as stack:
        servers = [stack.enter_context(_server(folder, store)) for _ in range(SERVERS)]
        grown = asyncio.run(_load(servers, secrets, seconds, seed, tally))
        exits = [server.end() for server in servers]
    if tally.refused:
        raise Broken(f"{sum(tally.refused.values())} requests failed: {dict(tally.refused)}")
    for code, said in exits:
        if code or "Traceback" in said:
            raise Broken(f"a server ended with {code}: {said[-300:]}")
    _check(store, tally)
    allowed = GROWTH_MB_MAX + GROWTH_KB_PER_RECORD * _written(tally) / 1024
    if grown > allowed:
        raise Broken(f"a server grew by {grown:.0f} MB in {seconds:.0f} s, not {allowed:.0f}")
    return Trial(units=round(seconds), figures=_figures(tally, grown))


def _figures(tally: Tally, grown: float) -> tuple[tuple[str, int], ...]:
    times = sorted(tally.seconds)
    shares = ((50, 0.5), (99, 0.99), (99.9, 0.999))
    tails = [
        (f"ms at most for {name} %", round(times[int(len(times) * s)] * 1e3)) for name, s in shares
    ]
    return (
        ("requests", len(times)),
        ("acknowledged writes", _written(tally)),
        *((f"{name} {HIGHEST}", number) for name, number in tails),
        (f"ms for the slowest {HIGHEST}", round(times[-1] * 1e3)),
        (f"MB that a server grew by {HIGHEST}", max(0, round(grown))),
    )


def _written(tally: Tally) -> int:
    return len(tally.messages) + len(tally.records)


def _prepared(store: Path) -> dict[str, str]:
    """Tenants with a few memories each, and a key for each."""
    with Memory.open(store, embedder="hashing", background=False) as memory:
        for number in range(TENANTS):
            memory.remember(f"Tenant {number} likes {WORDS[number % 12]}", scope=f"user:t{number}")
        engine = memory._memory.engine
        return {
            f"user:t{n}": memory._loop.run(keys.create_key(engine, scopes=[f"user:t{n}"]))[1]
            for n in range(TENANTS)
        }


@contextmanager
def _server(folder: Path, store: Path) -> Iterator[Start]:
    """One that has no limit by requests: what is tried is whether it holds, not whether it says
    no in time."""
    module = {"module": "proof.serving"} if os.environ.get(MUTANT) else {}
    options = ("--store", str(store), "--embedder", "hashing")
    with started(folder, *options, STANDFAST_RATE="10000000", **module) as server:
        yield server


async def _load(
    servers: list[Start], secrets: dict[str, str], seconds: float, seed: int, tally: Tally
) -> float:
    """Until the time is over; by how many megabytes the larger growth of a server was, between a
    quarter of the time and the end."""
    ends = time.monotonic() + seconds
    scopes = sorted(secrets)
    clients = [
        _client(servers[n % SERVERS], scopes[n % TENANTS], secrets[scopes[n % TENANTS]],
                random.Random(seed * CONNECTIONS + n), ends, n, tally)
        for n in range(CONNECTIONS)
    ]  # fmt: skip
    work = asyncio.gather(*clients)
    await asyncio.sleep(seconds / 4)
    before = [_resident(server) for server in servers]
    while not work.done() and time.monotonic() < ends:
        await asyncio.sleep(0.2)
    after = [_resident(server) for server in servers]
    await work
    return max(b - a for a, b in zip(before, after, strict=True))


def _resident(server: Start) -> float:
    pages = int(Path(f"/proc/{server.process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


async def _client(
    server: Start, scope: str, secret: str, dice: random.Random, ends: float, n: int, tally: Tally
) -> None:
    """One connection that is kept; it waits a little between two requests, as programs do."""
    place = urlsplit(server.address)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    count = 0
    try:
        while time.monotonic() < ends:
            count += 1
            verb, body = _request(dice, scope, f"{n}-{count}")
            begun = time.monotonic()
            async with asyncio.timeout(ANSWER_SECONDS_MAX):
                status, answer = await _ask(reader, writer, f"/v1/{verb}", secret, body)
            tally.seconds.append(time.monotonic() - begun)
            _note(tally, verb, scope, status, answer)
            await asyncio.sleep(dice.uniform(0, 0.2))
    except (OSError, TimeoutError, asyncio.IncompleteReadError) as error:
        tally.refused[f"{type(error).__name__} {error}"] += 1
    finally:
        writer.close()


def _request(dice: random.Random, scope: str, name: str) -> tuple[str, dict[str, Any]]:
    words = " and ".join(dice.sample(WORDS, 3))
    turn = dice.random()
    if turn < 0.25:
        message = {"role": "user", "content": f"Number {name} has {words}", "id": f"m{name}"}
        return "observe", {"session": f"chat{name[0]}", "messages": [message], "scope": scope}
    if turn < 0.4:
        return "remember", {"text": f"The box {name} holds {words}", "scope": scope}
    if turn < 0.9:
        return "recall", {"query": f"what has {words}?", "scope": scope, "limit": 5}
    return "context", {"query": words, "scope": scope, "tokens": 800}


async def _ask(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str, secret: str, body: Any
) -> tuple[int, Any]:
    sent = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {secret}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(sent)}\r\n\r\n"
    writer.write(head.encode() + sent)
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines[1:] if line)
    content = await reader.readexactly(int(headers["content-length"]))
    return int(lines[0].split()[1]), json.loads(content)


def _note(tally: Tally, verb: str, scope: str, status: int, answer: Any) -> None:
    if status != 200:
        tally.refused[f"{verb}: {status} {str(answer)[:200]}"] += 1
        return
    for item in answer.get("items", ()):
        if item["status"] not in ("stored", "merged", "skipped"):
            tally.refused[f"{verb}: {item['status']} {item['reason']}"] += 1
        elif verb == "observe":
            tally.messages.append((scope, item["id"]))
        elif item["status"] == "stored":
            tally.records.append(item["id"])


def _check(store: Path, tally: Tally) -> None:
    """Everything that was acknowledged is in the file, once."""
    with Memory.open(str(store), background=False) as memory:
        there: Counter[tuple[str, str]] = Counter()
        for scope in sorted({scope for scope, _ in tally.messages}):
            for session in memory.sessions(scope=scope, limit=1000).items:
                there.update((scope, id_) for id_ in _log(memory, session.id, scope))
        wrong = [one for one in tally.messages if there[one] != 1]
        if wrong:
            raise Broken(f"{len(wrong)} acknowledged messages are lost or doubled, {wrong[0]}")
        for start in range(0, len(tally.records), 500):
            asked = tally.records[start : start + 500]
            found = {record.id for record in memory.get(asked)}
            if lost := set(asked) - found:
                raise Broken(f"{len(lost)} acknowledged records are lost, such as {min(lost)}")
    report = doctor.check(store)
    if not report.is_sound:
        raise Broken(report.findings[0].text)


def _log(memory: Memory, session: str, scope: str) -> Iterator[str]:
    cursor = ""
    while True:
        page = memory.messages(session, scope=scope, cursor=cursor, limit=1000)
        yield from (message.id for message in page.items)
        if not (cursor := page.next):
            return


@contextmanager
def dropping_server() -> Iterator[None]:
    """Servers that lose one of a hundred commits and say "stored"."""
    os.environ[MUTANT] = "1"
    try:
        yield
    finally:
        del os.environ[MUTANT]


FAMILY = ProofFamily(
    name="load",
    promise="Under 200 connections no request fails, nothing is lost, and memory stays flat.",
    unit="seconds of load",
    target=SECONDS_FULL,
    attempt=attempt,
    mutant=dropping_server,
    mutant_said="a server that drops one commit in a hundred and says that it was stored",
    mutant_tries=3,
    share=3.0,
)
