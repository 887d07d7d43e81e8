"""How long an answer takes says nothing of others: what is somebody else's is asked for as often as
what never was, in turns, and neither is told apart by its time."""

from __future__ import annotations

import random
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2

from proof.family import Broken
from standfast import Memory
from tests.serving import served

TIMES = 200
# The chance that one of the two takes longer than the other is a half where nothing differs; with
# so many of each, by accident, it is further off than this once in some ten thousand times.
NOISE = 0.12
MISSING = "00000000-0000-7000-8000-000000000000"
OTHERS = ("user:bob", "user:anna", "org:x")

Ask = Callable[[Any, str], Any]
ASKS: dict[str, Ask] = {
    "get": lambda http, id_: http.post("/v1/get", json={"ids": [id_]}),
    "history": lambda http, id_: http.get("/v1/history", params={"id": id_}),
    "relations": lambda http, id_: http.get("/v1/relations", params={"id": id_}),
    "why_not": lambda http, id_: http.post("/v1/why_not", json={"id": id_, "query": "vault"}),
    "archive": lambda http, id_: http.post("/v1/archive", json={"ids": [id_]}),
    "forget": lambda http, id_: http.post("/v1/forget", json={"ids": [id_], "dry_run": True}),
    "recall": lambda http, id_: http.post("/v1/recall", json={"query": id_}),
    "edit": lambda http, id_: http.post("/v1/edit", json={"id": id_, "text": "mine"}),
}


def try_times(seed: int, folder: Path) -> int:
    """One question for every cell; how many cells."""
    file = str(folder / "memory.db")
    with Memory.open(file, embedder="hashing", background=False) as memory:
        memory.remember("Ann has a vault", scope="user:ann")
        theirs = [_many(memory, scope) for scope in OTHERS]
    dice = random.Random(seed)
    with served(file) as server:
        headers = {"Authorization": f"Bearer {server.key('user:ann')}"}
        with httpx2.Client(base_url=server.url, headers=headers, timeout=60) as http:
            for name, ask in ASKS.items():
                for scope, id_ in zip(OTHERS, theirs, strict=True):
                    _compare(f"{name} of {scope}", ask, http, id_, dice)
    return len(ASKS) * len(OTHERS)


def _many(memory: Memory, scope: str) -> str:
    """Somebody with a few hundred memories; the id of one."""
    said = [f"Number {n} in the vault of {scope} is {n * 37}" for n in range(100)]
    memory.observe("chat", said, scope=scope)
    return memory.remember("The vault code is 4711", scope=scope).items[0].id


def _compare(name: str, ask: Ask, http: Any, id_: str, dice: random.Random) -> None:
    """Where it looks like more than noise it is tried again, with more: a machine has its moods."""
    for times in (TIMES, 2 * TIMES, 4 * TIMES):
        chance = _chance(ask, http, id_, times, dice)
        if abs(chance - 0.5) <= NOISE:
            return
    raise Broken(f"{name}: what is somebody's takes longer than what is nobody's: {chance:.2f}")


def _chance(ask: Ask, http: Any, id_: str, times: int, dice: random.Random) -> float:
    """That a foreign one took longer than a missing one."""
    taken: dict[str, list[float]] = {id_: [], MISSING: []}
    for _ in range(times):
        for one in dice.sample((id_, MISSING), 2):
            begun = time.perf_counter()
            ask(http, one)
            taken[one].append(time.perf_counter() - begun)
    missing = sorted(taken[MISSING])
    below = sum(bisect_left(missing, one) + bisect_right(missing, one) for one in taken[id_])
    return below / (2 * times * times)
