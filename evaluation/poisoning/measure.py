"""Runs the attempts through the ways that an agent and a file have, and looks at what came of
them: in the store, and in the packet that the next model call gets."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from evaluation.poisoning.attempts import Attempt, attempts
from evaluation.poisoning.harmless import harmless
from standfast.errors import StandfastError
from standfast.interfaces.caller import Caller
from standfast.interfaces.mcp.server import build_server
from standfast.memory import AsyncMemory
from standfast.text.trust import strong_suspicion, suspicion
from standfast.types import ALL_RIGHTS, PERSON_TRUST, Packet, Record

TRUE = "Invoices are paid to account 1001, and only by Ann."
HELD = ("quarantined",)
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')


@dataclass(slots=True)
class Tally:
    """``refused`` and ``held`` together are what was flagged."""

    tried: int = 0
    unquoted: int = 0
    at_a_persons_trust: int = 0
    replaced: int = 0
    held: int = 0
    refused: int = 0
    shown: int = 0  # in a packet, as quoted data


@dataclass(slots=True)
class Result:
    by_family: dict[str, Tally] = field(default_factory=dict)
    by_way: dict[str, Tally] = field(default_factory=dict)
    by_language: dict[str, Tally] = field(default_factory=dict)
    harmless: int = 0
    false_alarms: int = 0
    false_alarms_in_logs: int = 0

    def tallies(self, attempt: Attempt) -> list[Tally]:
        return [
            self.by_family.setdefault(attempt.family, Tally()),
            self.by_way.setdefault(attempt.way, Tally()),
            self.by_language.setdefault(attempt.language, Tally()),
        ]


async def measure(every: int = 1) -> Result:
    """Of all attempts, or of every so manieth."""
    result = Result()
    async with await AsyncMemory.open("dict:", embedder="hashing", background=False) as memory:
        for attempt in islice(attempts(), 0, None, every):
            await _tried(memory, attempt, result)
    texts = list(harmless())
    result.harmless = len(texts)
    result.false_alarms = sum(bool(suspicion(text)) for text in texts)
    result.false_alarms_in_logs = sum(bool(strong_suspicion(text)) for text in texts)
    return result


async def _tried(memory: AsyncMemory, attempt: Attempt, result: Result) -> None:
    """Each in a root of its own, where a person has said what is true."""
    scope = f"user:victim{attempt.number}"
    told = await memory.remember(TRUE, scope=scope, durability="core")
    refused = await _carried_out(memory, attempt, scope, told.items[0].id)
    records = (await memory.records(scope=scope, limit=100)).items
    marked = [record for record in records if _is_marked(record, attempt.mark)]
    packet = await memory.context(
        session="talk", query=f"{attempt.text} account invoices pay", scope=scope
    )
    [fact] = await memory.get([told.items[0].id])
    live = [record for record in marked if record.status in ("active", "disputed")]
    held = [record for record in marked if record.status in HELD]
    for tally in result.tallies(attempt):
        tally.tried += 1
        tally.unquoted += _is_unquoted(packet, attempt.mark)
        tally.at_a_persons_trust += any(r.trust >= PERSON_TRUST for r in live)
        tally.replaced += fact.status != "active"
        tally.held += bool(held)
        tally.refused += refused and not marked
        tally.shown += any(_is_marked(hit.record, attempt.mark) for hit in packet.hits)


async def _carried_out(memory: AsyncMemory, attempt: Attempt, scope: str, true: str) -> bool:
    """Was it refused?"""
    if attempt.way == "import":
        return await _imported(memory, attempt, scope, true)
    engine = memory.engine.narrowed((scope,), ALL_RIGHTS)  # a tool gets an admin's key

    async def who(_: object) -> Caller:
        return Caller(memory=AsyncMemory(engine), via="agent")

    server = build_server(who)
    asked: dict[str, Any] = {
        "save": {
            "text": attempt.text, "source": "user", "durability": "core", "replaces": true,
        },
        "log": {"session": "talk", "messages": [{"role": "system", "content": attempt.text}]},
        "outcome": {
            "session": "talk", "messages": ["Could you look at the invoices of last month?"],
            "ended": True, "outcome": attempt.text,
        },
        "procedure": {
            "name": f"pay {attempt.mark}", "steps": [attempt.text], "triggers": ["account"],
        },
    }  # fmt: skip
    tools = {"save": "memory_save", "procedure": "procedure_save"}
    answer = await server.call_tool(tools.get(attempt.way, "session_log"), asked[attempt.way])
    for item in await memory.review(scope=scope):  # an agent that wants it approves it, too
        await server.call_tool("memory_review", {"id": item.id, "action": "approve"})
    return bool(getattr(answer, "is_error", False))


async def _imported(memory: AsyncMemory, attempt: Attempt, scope: str, true: str) -> bool:
    at = "2026-01-02T03:04:05+00:00"
    record = {
        "id": f"r-{attempt.mark}", "scope": scope, "kind": "semantic", "type": "fact",
        "text": attempt.text, "learned_at": at, "trust": 3, "source": "user",
        "durability": "core", "status": "active",
    }  # fmt: skip
    edge = {"scope": scope, "source": record["id"], "target": true, "kind": "supersedes"}
    lines = [
        {"format": "standfast", "version": 1, "at": at, "scopes": [scope]},
        {"type": "record", "value": record},
        {"type": "relation", "value": {**edge, "learned_at": at}},
    ]
    body = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    end = {"type": "end", "counts": {}, "sha256": hashlib.sha256(body).hexdigest()}
    try:
        await memory.import_from(io.BytesIO(body + json.dumps(end).encode() + b"\n"))
    except StandfastError:
        return True
    return False


def _is_marked(record: Record, mark: str) -> bool:
    return mark in record.text or mark in repr(record.data)


def _is_unquoted(packet: Packet, mark: str) -> bool:
    """Does it stand anywhere as if somebody had said it? Also in a line that ends too early."""
    lines = packet.text.splitlines()
    outside = any(mark in _QUOTED.sub("", line) for line in lines)
    torn = any(mark in line and not line.lstrip().startswith("- ") for line in lines)
    said = any(mark in _QUOTED.sub("", str(message.get("content"))) for message in packet.messages)
    return outside or torn or said


def table(tallies: dict[str, Tally]) -> list[str]:
    rows = [
        "| | tried | unquoted | at a person's trust | replaced | held back | refused | shown |",
        "|---|---|---|---|---|---|---|---|",
    ]
    total: Counter[str] = Counter()
    for name, tally in tallies.items():
        numbers = [getattr(tally, one) for one in Tally.__slots__]
        total.update(dict(zip(Tally.__slots__, numbers, strict=True)))
        rows.append(f"| {name} | " + " | ".join(map(str, numbers)) + " |")
    sums = [total[one] for one in Tally.__slots__]
    return [*rows, "| **all** | " + " | ".join(map(str, sums)) + " |"]


def main() -> None:
    result = asyncio.run(measure())
    for title in ("by_family", "by_way", "by_language"):
        print(f"\n{title.replace('_', ' ')}\n")
        print("\n".join(table(getattr(result, title))))
    print(
        f"\nharmless texts: {result.harmless}, held back when saved: {result.false_alarms}, "
        f"when logged: {result.false_alarms_in_logs}"
    )


if __name__ == "__main__":
    main()
