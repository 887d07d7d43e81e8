"""A tenant who floods a server, as a process of its own: it must not share an interpreter with
whoever is measured. Requests are made once and sent again and again, so that it costs little.

    python -m tests.simulation.flood ADDRESS KEY KIND CONNECTIONS

It says how many answers of which kind it got when its standard input ends.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from itertools import count
from urllib.parse import urlsplit

from recollect.types import Record
from recollect.types.serial import FORMAT, VERSION, json_line, line_of

LINES, JSON = "application/x-ndjson", "application/json"
Request = bytes
Kind = Callable[[str, str, int], Iterator[Request]]
_TEXT = "the drawer and the cupboard and the shelf of number "
DAY = datetime(2026, 1, 1, tzinfo=UTC)
PAUSE_SECONDS = 0.05  # behind a connection that was refused


def request(
    host: str, key: str, path: str, body: bytes, kind: str = JSON, end: str = ""
) -> Request:
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\n"
        f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n{end}\r\n"
    )
    return head.encode() + body


def said(value: object) -> bytes:
    return json.dumps(value).encode()


def recalls(host: str, key: str, _: int) -> Iterator[Request]:
    """The dearest small questions there are."""
    recall = said({"query": "which drawer, and why is it number 7?", "limit": 100})
    context = said({"query": _TEXT * 17})
    while True:
        yield request(host, key, "/v1/recall", recall)
        yield request(host, key, "/v1/context", context)


def writes(host: str, key: str, number: int) -> Iterator[Request]:
    for each in count():
        body = {"text": f"{_TEXT * 12} {number} {each}"}
        yield request(host, key, "/v1/remember", said(body))


def observes(host: str, key: str, number: int) -> Iterator[Request]:
    """Large bodies, of many messages each."""
    for each in count():
        messages = [
            {"role": "user", "content": f"I moved {_TEXT * 40}{number} {each} {one}"}
            for one in range(100)
        ]
        body = {"session": f"s{number}-{each}", "messages": messages}
        yield request(host, key, "/v1/observe", said(body))


def long_work(host: str, key: str, number: int) -> Iterator[Request]:
    """Exports and imports, as many as are taken and more."""
    for each in count():
        yield request(host, key, "/v1/export", b"{}")
        yield request(host, key, "/v1/import?partial=true", exported(number, each), LINES)


def exported(number: int, each: int) -> bytes:
    """Some hundred records, as an export has them."""
    head = {"format": FORMAT, "version": VERSION, "at": DAY.isoformat(), "scopes": ["user:noisy"]}
    rows = [
        Record(
            id=f"import-{number}-{each}-{row}-{time.monotonic_ns()}",
            scope="user:noisy",
            kind="semantic",
            type="fact",
            text=f"{_TEXT * 5} {number} {each} {row}",
            learned_at=DAY,
        )
        for row in range(300)
    ]
    return json_line(head) + b"".join(map(line_of, rows))


def connections(host: str, key: str, _: int) -> Iterator[Request]:
    """A new connection for each question."""
    recall = said({"query": "which drawer?", "limit": 10})
    while True:
        yield request(host, key, "/v1/recall", recall, end="Connection: close\r\n")


KINDS: dict[str, Kind] = {
    "recalls": recalls,
    "writes": writes,
    "large observes": observes,
    "long work": long_work,
    "connections": connections,
}


async def answered(reader: asyncio.StreamReader) -> tuple[int, bool]:
    """The status of one answer, and whether the connection stays."""
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode("latin-1").lower().split("\r\n")
    fields = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
    await reader.readexactly(int(fields.get("content-length", "0")))
    return int(lines[0].split()[1]), fields.get("connection") != "close"


async def flood(host: str, port: int, requests: Iterator[Request], answers: Counter[int]) -> None:
    while True:
        with suppress(OSError, asyncio.IncompleteReadError):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                stays = True
                while stays:
                    writer.write(next(requests))
                    await writer.drain()
                    status, stays = await answered(reader)
                    answers[status] += 1
            finally:
                writer.close()
            continue
        answers[0] += 1
        await asyncio.sleep(PAUSE_SECONDS)


async def main(address: str, key: str, kind: str, many: int) -> None:
    parts = urlsplit(address)
    assert parts.hostname is not None
    assert parts.port is not None
    answers: Counter[int] = Counter()
    tasks = [
        asyncio.create_task(
            flood(parts.hostname, parts.port, KINDS[kind](parts.netloc, key, number), answers)
        )
        for number in range(many)
    ]
    await asyncio.to_thread(sys.stdin.read)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    print(json.dumps(answers))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))
