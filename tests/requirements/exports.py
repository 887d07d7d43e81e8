"""Making exports to order, whole and broken, and stores full of everything."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable
from random import Random
from typing import Any

from standfast import Memory, Receipt
from standfast.ports import Store
from standfast.testing.values import (
    EVERY_STATUS,
    make_batch,
    make_item,
    make_message,
    make_record,
    make_relation,
    make_summary,
    moment,
)
from standfast.types import CursorMove, Erase, Record, Session, SessionKey, ToolCall
from standfast.types.serial import TYPES

ROOTS = ("org:acme", "user:ann")
BELOW = ("", ":agent:cto", ":agent:cto:task:é")
# Of nobody: made from the numbers 0 to 31.
PRIVATE_KEY = b"""-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f
-----END PRIVATE KEY-----
"""
PUBLIC_KEY = """-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAA6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=
-----END PUBLIC KEY-----
"""
TEXTS = (
    "Deploys go out on Tuesdays",
    "Ann ist nach Zürich gezogen",
    "我住在北京市",
    "Она любит зелёный чай",
    "תל אביב 🚲",
    'line one\nline two\u2028and\ttabs \\ "quotes"',
)


def exported(memory: Memory, **options: Any) -> io.BytesIO:
    file = io.BytesIO()
    memory.export_to(file, **options)
    return file


def lines_of(file: io.BytesIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.getvalue().split(b"\n")[:-1]]


def values_of(file: io.BytesIO, type_: str) -> list[dict[str, Any]]:
    return [line["value"] for line in lines_of(file) if line.get("type") == type_]


def sealed(lines: Iterable[Any], *, end: bool = True) -> io.BytesIO:
    """A file of these lines, with a right end line: what a careful forger would make."""
    body = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    last = {"type": "end", "counts": {}, "sha256": hashlib.sha256(body).hexdigest()}
    return io.BytesIO(body + (json.dumps(last).encode() + b"\n" if end else b""))


def header(*scopes: str, **fields: Any) -> dict[str, Any]:
    given = {"format": "standfast", "version": 1, "at": "2026-05-03T10:00:00+00:00"}
    return {**given, "scopes": list(scopes or ("user:ann",)), **fields}


def record_line(id_: str, text: str, scope: str = "user:ann", **fields: Any) -> dict[str, Any]:
    value = {"id": id_, "scope": scope, "kind": "semantic", "type": "fact", "text": text}
    return {"type": "record", "value": {**value, "learned_at": "2026-01-02T03:04:05Z", **fields}}


def import_(memory: Memory, *lines: Any, **options: Any) -> Receipt:
    """Import a sealed file of these lines."""
    return memory.import_from(sealed(lines), **options)


def reasons(receipt: Receipt) -> list[tuple[str, str]]:
    return [(item.status, item.reason) for item in receipt.items]


def comparable(file: io.BytesIO) -> dict[str, set[str]]:
    """The lines by type. A version counts the changes made in one store, so it is left out."""
    found: dict[str, set[str]] = {name: set() for name in TYPES}
    for line in lines_of(file):
        if "value" in line:
            value = {k: v for k, v in line["value"].items() if k != "version"}
            found[line["type"]].add(json.dumps(value, ensure_ascii=False))
    return found


async def fill(store: Store, random: Random) -> None:
    """Some of everything, in two roots."""
    for root in ROOTS:
        scopes = [root + below for below in BELOW]
        await _fill_sessions(store, random, root, scopes)
        await _fill_records(store, random, root, scopes)
        items = [
            make_item(f"k{n}", random.choice([{"persist": True}, [1, None, "é"], "x", 0.5]), scope)
            for n, scope in enumerate(scopes)
        ]
        stones = [
            make_item("ab" * 32, moment(n).isoformat(), scope, namespace="tombstone")
            for n, scope in enumerate(scopes)
        ]
        secret = make_item("tombstone", "0f" * 32, root, namespace="secret")
        lease = make_item("maintain", "me", root, namespace="lease")
        await store.commit(make_batch(*items, *stones, secret, lease))


async def _fill_sessions(store: Store, random: Random, root: str, scopes: list[str]) -> None:
    for number in range(random.randint(1, 4)):
        key = SessionKey(random.choice(scopes), f"chat/{number}")
        count = random.randint(0, 8)
        messages = [
            make_message(
                f"m{n}",
                random.choice(TEXTS),
                key.scope,
                key.id,
                role=random.choice(["user", "assistant", "tool"]),
                calls=(ToolCall(id="c", name="f", arguments="{}"),) if n % 3 == 0 else (),
                answers=("c",) if n % 3 == 1 else (),
                author=random.choice(["", "ann"]),
                pending=random.random() < 0.2,
                original='{"role":"user","x":1}' if n % 2 else "",
            )
            for n in range(1, count + 1)
        ]
        session = Session(scope=key.scope, id=key.id, channel="web", state={"task": [1, "é"]})
        summaries = [make_summary(f"{root} {number}", 1, count, scope=key.scope, session=key.id)]
        readers = [
            CursorMove(session=key, reader=name, old=0, new=random.randint(0, count))
            for name in ("fold", "extract")
        ]
        await store.commit(make_batch(session, *messages, *readers, *(summaries if count else ())))
        gone = [m for m in messages if random.random() < 0.3]
        if gone:
            erase = (Erase(kind="message", id=m.id, scope=key.scope, session=key.id) for m in gone)
            await store.commit(make_batch(*erase, root=root))


async def _fill_records(store: Store, random: Random, root: str, scopes: list[str]) -> None:
    records: list[Record] = []
    for number in range(random.randint(2, 12)):
        scope = random.choice(scopes)
        record = make_record(
            f"{root}/{number}",
            random.choice(TEXTS),
            scope,
            status=random.choice(EVERY_STATUS),
            tags=tuple(sorted(random.sample(["a", "b", "é"], random.randint(0, 2)))),
            data=random.choice([{}, {"steps": ["a", {"b": None}], "n": 1.5}]),
            importance=random.choice([0, 0.25, 1]),
            uses=random.randint(0, 3),
            used_at=random.choice([None, moment(-3)]),
            retired_at=random.choice([None, moment(5)]),
            valid_from=random.choice([None, moment(-100)]),
            expires_at=random.choice([None, moment(60 * 24 * 365 * 50)]),
            hash=f"h{number}" if random.random() < 0.5 else "",
            origin=f"{root}/{number}",
            session="chat/0",
            session_scope=root,
            lineage=("m1",) if random.random() < 0.3 else (),
            derived_from=(records[0].id,) if records and random.random() < 0.3 else (),
        )
        records.append(record)
    await store.commit(make_batch(*records))
    edges = {
        (a.id, b.id): make_relation(
            a.id, b.id, a.scope, retired_at=random.choice([None, moment(1)])
        )
        for a, b in (random.sample(records, 2) for _ in range(3))
    }
    await store.commit(make_batch(*edges.values()))
