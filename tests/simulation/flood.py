"""A tenant who floods a server, as a process of its own: it must not share an interpreter with
whoever is measured. Requests are made once and sent again and again, so that it costs little.

    python -m tests.simulation.flood ADDRESS KEY KIND CONNECTIONS

It says how many answers of which kind it got when its standard input ends.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from itertools import count
from urllib.parse import urlsplit

from standfast.types import Record
from standfast.types.serial import FORMAT, VERSION, json_line, line_of

LINES, JSON = "application/x-ndjson", "application/json"
Request = bytes
Kind = Callable[[str, str, int], Iterator[Request]]
_TEXT = "the drawer and the cupboard and the shelf of number "
DAY = datetime(2026, 1, 1, tzinfo=UTC)
PAUSE_SECONDS = 0.05  # behind a connection that was refused
DRIBBLED, DRIBBLE_SECONDS, LINGER_SECONDS = 64, 0.02, 5


def request(
    host: str, key: str, path: str, body: bytes, kind: str = JSON, end: str = ""
) -> Request:
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\n"
        f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n{end}\r\n"
    )
    return head.encode() + body


def asking(host: str, key: str, path: str) -> Request:
    head = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\n\r\n"
    return head.encode()


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


def dear_questions(host: str, key: str, number: int) -> Iterator[Request]:
    """As much as one may ask for, with every filter there is."""
    filters = {"since": "2020-01-01", "until": "2030-01-01", "as_of": "2029-01-01", "tags": []}
    recall = said({"query": _TEXT * 5, "limit": 1_000, "threshold": 0, "explain": True, **filters})
    context = said({"query": _TEXT * 5, "tokens": 1_000_000, "session": f"s{number}"})
    for each in count():
        yield request(host, key, "/v1/recall", recall)
        yield request(host, key, "/v1/context", context)
        messages = [{"role": "user", "content": f"{_TEXT} {each}"}]
        body = {"session": f"s{number}", "messages": messages}
        yield request(host, key, "/v1/observe", said(body))
        yield request(host, key, "/v1/end", said({"session": f"s{number}"}))
        yield request(host, key, "/v1/forget", said({"scope": "user:noisy", "dry_run": True}))


def pages(host: str, key: str, _: int) -> Iterator[Request]:
    """What the console asks for, and what anybody may."""
    lists = ("records?limit=1000", "changes?limit=1000", "review", "sessions", "usage", "scopes")
    while True:
        for path in ("/", "/console/app.js", "/openapi.json", "/health"):
            yield asking(host, key, path)
        for path in lists:
            yield asking(host, key, f"/v1/{path}")


def sessions_of_mcp(host: str, key: str, _: int) -> Iterator[Request]:
    """Begun and left, again and again."""
    both = "Accept: application/json, text/event-stream\r\n"
    about = {"clientInfo": {"name": "flood", "version": "1"}, "capabilities": {}}
    begin = {"protocolVersion": "2025-06-18", **about}
    while True:
        for method, params in (("initialize", begin), ("tools/list", {}), ("resources/list", {})):
            call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            yield request(host, key, "/mcp", said(call), end=both)


def strangers(host: str, _: str, number: int) -> Iterator[Request]:
    """Codes and keys that nobody has given out."""
    for each in count():
        yield request(host, "", "/v1/login", said({"code": f"{number}-{each}"}))
        yield request(host, f"rck_{number}{each:040}", "/v1/recall", said({"query": "drawer"}))
        body = f"grant_type=authorization_code&code={number}{each}".encode()
        yield request(host, "", "/oauth/token", body, "application/x-www-form-urlencoded")


FORM = "application/x-www-form-urlencoded"
UNKNOWN = "response_type=code&client_id={:032x}&redirect_uri=http://127.0.0.1:9/"


def logins(host: str, _: str, number: int) -> Iterator[Request]:
    for each in count():
        yield request(host, "", "/v1/login", said({"code": f"{number}-{each}"}))


def authorizations(host: str, _: str, number: int) -> Iterator[Request]:
    """Of programs that never registered: each page that is asked for is looked up."""
    for each in count(number << 20):
        asked = UNKNOWN.format(each)
        yield asking(host, "", f"/oauth/authorize?{asked}")
        yield request(host, "", "/oauth/authorize", asked.encode(), FORM)


def grants(host: str, _: str, number: int) -> Iterator[Request]:
    """Codes, tickets, tokens and programs that nobody knows."""
    program = said({"client_name": "flood", "redirect_uris": ["http://127.0.0.1:9/"]})
    for each in count():
        code = f"grant_type=authorization_code&code={number}{each}".encode()
        yield request(host, "", "/oauth/token", code, FORM)
        yield request(host, "", "/oauth/consent", f"ticket={number}{each}".encode(), FORM)
        yield request(host, "", "/oauth/revoke", f"token={number}{each}".encode(), FORM)
        yield request(host, "", "/oauth/register", program)


def open_pages(host: str, _: str, __: int) -> Iterator[Request]:
    """What needs no key, and what no route ever sees."""
    while True:
        for path in ("/", "/health", "/openapi.json", "/.well-known/oauth-authorization-server"):
            yield asking(host, "", path)
        yield request(host, "", "/health", b"{}")
        yield asking("elsewhere.example", "", "/")


def slow_senders(host: str, key: str, _: int) -> Iterator[Request]:
    """Heads that never end, and bodies that hardly begin."""
    while True:
        yield request(host, key, "/v1/remember", b"x" * 4000)[: -(1 << 11)]
        yield request(host, key, "/v1/recall", b"x" * 200, end="X-More: " + "y" * 2000)[:900]


def listeners(host: str, key: str, _: int) -> Iterator[Request]:
    """Streams that are opened, and read by nobody."""
    while True:
        yield asking(host, key, "/v1/changes/stream")


def slow_readers(host: str, key: str, number: int) -> Iterator[Request]:
    """The longest answers there are, from where hardly anything is read."""
    paths = ["/v1/changes/stream?after=start&text=true", "/v1/records?limit=1000"]
    paths += ["/v1/changes?limit=1000", "/v1/audit?limit=1000", "/console/app.js"]
    if not number:
        file = export_file(host, key)
        paths += [file] * 3
    while True:
        for path in paths:
            yield asking(host, key, path)


def export_file(host: str, key: str) -> str:
    """Where an export that has ended lies."""
    headers = {"Authorization": f"Bearer {key}", "Content-Type": JSON}
    begin = urllib.request.Request(f"http://{host}/v1/export", b"{}", headers)
    with urllib.request.urlopen(begin) as answer:
        place = answer.headers["Location"]
    wait = urllib.request.Request(f"http://{host}{place}?wait=20", headers=headers)
    with urllib.request.urlopen(wait) as answer:
        answer.read()
    return f"{place}/file"


def black_holes(host: str, key: str, number: int) -> Iterator[Request]:
    """Webhooks whose receiver takes everything and answers nothing, and something to tell them."""
    hole = socket.create_server(("127.0.0.1", 0), backlog=4096)
    url = f"http://127.0.0.1:{hole.getsockname()[1]}/"
    for each in count():
        yield request(host, key, "/v1/webhooks", said({"url": url, "text": True}))
        for one in range(3):
            body = {"text": f"{_TEXT} {number} {each} {one}"}
            yield request(host, key, "/v1/remember", said(body))


KINDS: dict[str, Kind] = {
    "slow readers": slow_readers,
    "black holes": black_holes,
    "dear questions": dear_questions,
    "pages": pages,
    "sessions of MCP": sessions_of_mcp,
    "strangers": strangers,
    "logins": logins,
    "authorizations": authorizations,
    "grants": grants,
    "open pages": open_pages,
    "slow senders": slow_senders,
    "listeners": listeners,
    "recalls": recalls,
    "writes": writes,
    "large observes": observes,
    "long work": long_work,
    "connections": connections,
}


LINGERING = ("slow senders", "slow readers", "listeners")
KEYLESS = ("strangers", "logins", "authorizations", "grants", "open pages")
# Who is not known, or says nothing, is counted by the address: so the quiet one has another.
ELSEWHERE = ("127.0.0.2", 0)


async def answered(reader: asyncio.StreamReader) -> tuple[int, bool]:
    """The status of one answer, and whether the connection stays."""
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode("latin-1").lower().split("\r\n")
    fields = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
    await reader.readexactly(int(fields.get("content-length", "0")))
    return int(lines[0].split()[1]), fields.get("connection") != "close"


async def dribble(writer: asyncio.StreamWriter, sent: Request) -> None:
    """A few bytes at a time; for as long as the server takes them."""
    for start in range(0, len(sent), DRIBBLED):
        writer.write(sent[start : start + DRIBBLED])
        await writer.drain()
        await asyncio.sleep(DRIBBLE_SECONDS)


async def linger(host: str, port: int, requests: Iterator[Request], answers: Counter[int]) -> None:
    """Whatever is begun is never ended by this side."""
    while True:
        with suppress(OSError, TimeoutError):
            reader, writer = await asyncio.open_connection(host, port, local_addr=ELSEWHERE)
            try:
                await dribble(writer, next(requests))
                answers[0] += 1  # of those that are held to the end nobody would hear otherwise
                async with asyncio.timeout(LINGER_SECONDS):
                    while await reader.read(1):
                        await asyncio.sleep(DRIBBLE_SECONDS)
            finally:
                writer.close()
        await asyncio.sleep(PAUSE_SECONDS)


async def flood(
    host: str,
    port: int,
    requests: Iterator[Request],
    answers: Counter[int],
    elsewhere: tuple[str, int] | None = None,
) -> None:
    while True:
        with suppress(OSError, asyncio.IncompleteReadError):
            reader, writer = await asyncio.open_connection(host, port, local_addr=elsewhere)
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
    manner = linger if kind in LINGERING else flood
    if kind in KEYLESS:
        manner = partial(flood, elsewhere=ELSEWHERE)
    tasks = [
        asyncio.create_task(
            manner(parts.hostname, parts.port, KINDS[kind](parts.netloc, key, number), answers)
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
