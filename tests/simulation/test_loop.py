"""Nothing holds the loop that everybody shares: what is long is read, compared and written beside
it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

from standfast import Memory
from standfast.interfaces.http.annex import Annex
from standfast.ports import breath
from standfast.settings import Settings
from standfast.testing.values import make_batch, make_record, make_relation
from standfast.types import Message, Session
from tests.interfaces.http.starts import started
from tests.serving import served
from tests.simulation.loop import LoopMeter

HELD_MAX = 0.020  # seconds
RECORDS = 20_000
FEW = 2_000
WORDS = [f"word{number}" for number in range(900)]
LINES = {"Content-Type": "application/x-ndjson"}
ROUNDS = 3  # the best: a collection of garbage may fall into any of them
DAY = datetime(2026, 1, 1, tzinfo=UTC)
Ask = Callable[[httpx2.Client], object]


def asked(path: str, **body: Any) -> Ask:
    return lambda client: _fine(client.post(path, json=body))


def listed(path: str, **query: Any) -> Ask:
    return lambda client: _fine(client.get(path, params=query))


def _fine(answer: httpx2.Response) -> bytes:
    assert answer.status_code in (200, 202), answer.text
    return answer.content


def _exported(client: httpx2.Client) -> bytes:
    begun = client.post("/v1/export", json={})
    place = _ended(client, begun)
    return _fine(client.get(f"{place}/file"))


def _imported(client: httpx2.Client) -> object:
    file = _exported(client)
    return _ended(client, client.post("/v1/import", content=file, headers=LINES))


def _taken_back(client: httpx2.Client) -> bytes:
    """A change of every record, and the change that undoes it."""
    made = json.loads(_fine(client.post("/v1/revoke", json={"scope": "user:ann"})))
    return _fine(client.post("/v1/undo", json={"change": made["change"]}))


def _told_from_the_start(client: httpx2.Client) -> None:
    """The whole journal, as somebody reads it who comes for the first time."""
    [last] = json.loads(_fine(client.get("/v1/changes", params={"limit": 1})))["items"]
    asked = {"after": "start", "text": True}
    with client.stream("GET", "/v1/changes/stream", params=asked) as answer:
        for line in answer.iter_lines():
            if line.startswith("data: ") and f'"seq":{last["seq"]},' in line[:200]:
                return


def _ended(client: httpx2.Client, begun: httpx2.Response) -> str:
    _fine(begun)
    place = begun.headers["location"]
    while client.get(place, params={"wait": 5}).json()["state"] == "running":
        time.sleep(0.01)
    return str(place)


HOSTILE = ("&#65;", "on Monday ", 'said: "', "Ann and ", "key=x ", "漢字")
KINDS: dict[str, Ask] = {
    "recall": asked("/v1/recall", query="word7 word8 number", limit=20),
    "recall, many hits": asked("/v1/recall", query="number", limit=100),
    "recall, a long question": asked("/v1/recall", query=" ".join(WORDS)[:3_900]),
    "context": asked("/v1/context", query="word7 word8"),
    "context of a long session": asked("/v1/context", session="long", query="what was it?"),
    "the newest of a long session": asked("/v1/context", session="long"),
    "a thousand records": listed("/v1/records", limit=1_000),
    "changes of a thousand": listed("/v1/changes", limit=100),
    "messages": listed("/v1/messages", session="long", limit=100),
    "remember": asked("/v1/remember", text=" ".join(WORDS)[:3_900]),
    "observe": asked("/v1/observe", session="s", messages=[{"role": "user", "content": "x " * 30}]),
    **{
        f"hostile {piece!r}": asked("/v1/recall", query=piece * (3_000 // len(piece)))
        for piece in HOSTILE
    },
    "export": _exported,
    "recall, a thousand": asked("/v1/recall", query="number", limit=1_000),
    "many small statements": asked(
        "/v1/remember",
        text=[{"text": f"Ann likes tea {n} and works at Acme {n}"} for n in range(60)],
    ),
    "what forgetting all would do": asked("/v1/forget", scope="user:ann", dry_run=True),
    "revoking all, and undoing it": _taken_back,
    "the stream of all changes": _told_from_the_start,
    "relations of a hub": listed("/v1/relations", id="r0"),
    "audit": listed("/v1/audit"),
    "whether the audit holds": listed("/v1/audit/verify"),
    "what revoking all would do": asked("/v1/revoke", scope="user:ann", dry_run=True),
    "end of a long session": asked("/v1/end", session="long"),
    "maintain": lambda client: _ended(client, client.post("/v1/maintain", json={})),
}
LONG: dict[str, Ask] = {
    "import": _imported,
    "observe a megabyte": asked(
        "/v1/observe", session="m", messages=[{"role": "user", "content": "word " * 4_000}] * 50
    ),
    "context by an address": listed("/v1/context", query=" ".join(WORDS * 2)[:12_000]),
    "a body of millions of signs": lambda client: client.post(
        "/v1/recall",
        content=b'{"query":"' + b'\\"[' * 1_000_000,
        headers={"Content-Type": "application/json"},
    ),
}


@pytest.fixture
def store(tmp_path: Path, proving: bool) -> Path:
    """A scope of many records, and a session of many long messages."""
    file = tmp_path / "memory.db"
    texts = (
        f"{WORDS[n % 900]} {WORDS[7 * n % 900]} number {n}"
        for n in range(RECORDS if proving else FEW)
    )
    records = [make_record(f"r{n}", text, "user:ann") for n, text in enumerate(texts)]
    messages = [
        Message(id=f"m{n}", scope="user:ann", session="long", role=role, at=DAY, text=text, seq=n)
        for n, role, text in _talk()
    ]
    with Memory.open(file, embedder="hashing", background=False) as memory:
        engine = memory._memory.engine
        for start in range(0, len(records), 500):
            some = records[start : start + 500]
            edges = [make_relation("r0", one.id, "user:ann") for one in some if one.id != "r0"]
            batch = make_batch(*some, *edges)
            memory._loop.run(engine.store.commit(batch))
        session = Session(scope="user:ann", id="long")
        memory._loop.run(engine.store.commit(make_batch(session, *messages)))
    return file


def _talk() -> Iterator[tuple[int, Any, str]]:
    for number in range(1, 61):
        role = "user" if number % 2 else "assistant"
        yield number, role, f"{number} " + " ".join(WORDS)


def mcp(method: str, **params: Any) -> Ask:
    said = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {"Accept": "application/json, text/event-stream"}
    return lambda client: _fine(client.post("/mcp", json=said, headers=headers))


MOVED = "I moved to Oslo last Tuesday, and my dog is called Rex."
CLIENT = {"clientInfo": {"name": "test", "version": "1"}, "capabilities": {}}
FIRST: dict[str, Ask] = {  # each with something to say that loads much
    "context": asked("/v1/context", query="what does Ann like, and since when?", session="s"),
    "recall": asked("/v1/recall", query="where does Ann live?"),
    "remember": asked("/v1/remember", text="Ann has worked at Acme since May 2021 and likes tea"),
    "observe": asked("/v1/observe", session="s", messages=[{"role": "user", "content": MOVED}]),
    "end": asked("/v1/end", session="s"),
    "save_procedure": asked("/v1/save_procedure", name="ship", steps=["build", "push"]),
    "find_procedures": asked("/v1/find_procedures", query="how do I ship?"),
    "revoke": asked("/v1/revoke", author="nobody", dry_run=True),
    **{name: listed(f"/v1/{name}") for name in ("records", "changes", "review", "audit", "stats")},
    "export": asked("/v1/export"),
    "doctor": asked("/v1/doctor"),
    "openapi": listed("/openapi.json"),
    "console": listed("/"),
    "mcp": mcp("initialize", protocolVersion="2025-06-18", **CLIENT),
    "tools": mcp("tools/list"),
}
FIRST_MAX = 0.040  # seconds: they took up to 0.25, and other processes make every one longer


def test_X12_no_first_request_holds_the_loop(tmp_path: Path) -> None:
    """What it needs is loaded beside the loop, before it or for it."""
    meter = tmp_path / "meter"
    meter.touch()
    options = {
        "module": "tests.simulation.metered",
        "STANDFAST_TEST_METER": str(meter),
        "STANDFAST_REHEARSAL": "on",
    }
    held = {}
    with started(tmp_path, "--embedder", "hashing", **options) as server:
        key = {"Authorization": f"Bearer {server.snippets['key']}"}
        with httpx2.Client(base_url=server.address, headers=key, timeout=60) as client:
            for name, ask in FIRST.items():
                before = len(meter.read_text())
                ask(client)
                client.get("/health")  # behind it: all that it did is written down
                held[name] = max(map(float, meter.read_text()[before:].split()), default=0.0)
        assert server.end() == (0, ""), "the rehearsal went as it should"
    assert meter.read_text(), "nobody was watching"  # the start itself is longer than any request
    print({name: round(1e3 * spent) for name, spent in held.items()})
    assert {name: spent for name, spent in held.items() if spent > FIRST_MAX} == {}


def test_X12_whoever_draws_breath_lets_others_go_on() -> None:
    """But only when they have waited: it costs nothing where work is little."""
    others: list[int] = []

    async def other() -> None:
        while True:
            others.append(0)
            await asyncio.sleep(0)

    async def main() -> tuple[int, int]:
        beside = asyncio.create_task(other())
        await asyncio.sleep(0)
        await breath()
        before = len(others)
        for _ in range(100):
            await breath()
        at_once = len(others) - before
        for _ in range(4):
            _work(0.009)
            await breath()
        beside.cancel()
        return at_once, len(others) - before - at_once

    assert asyncio.run(main()) == (0, 4)


def _work(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def test_X12_nothing_holds_the_loop(store: Path, proving: bool) -> None:
    """In the time of the loop's own thread; what takes longer is done beside it."""
    kinds = {**KINDS, **LONG} if proving else KINDS
    options = {"store": str(store), "profile": None, "embedder": "hashing"}
    app = {"settings": Settings(rate=0), "annex": Annex(options, 1, 60) if proving else None}
    with served(str(store), app=app) as server:
        meter = LoopMeter(server._thread.ident or 0)
        key = server.key("user:ann")
        headers = {"Authorization": f"Bearer {key}"}
        with httpx2.Client(base_url=server.url, headers=headers, timeout=120) as client:
            best: dict[str, float] = {}
            for ask in kinds.values():
                ask(client)  # loads what it needs
            with meter.watching():
                for kind, ask in kinds.items():
                    for _ in range(ROUNDS):
                        with meter.measured(kind):
                            ask(client)
                        best[kind] = min(best.get(kind, 1.0), meter.longest[kind])
                        if best[kind] <= HELD_MAX:
                            break
    print(json.dumps({kind: round(1e3 * spent, 1) for kind, spent in best.items()}, indent=1))
    assert {kind: spent for kind, spent in best.items() if spent > HELD_MAX} == {}
