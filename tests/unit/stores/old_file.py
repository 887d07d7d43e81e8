"""A file of the first schema as a busy server left it: with its own books among the memories."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import apsw
import pytest

from standfast.stores.sqlite import SqliteStore, migrate
from standfast.testing.values import NOW, make_batch, make_record

SECRET = "rck_" + "A" * 43
SPENT = {"calls": 2, "tokens_in": 30, "tokens_out": 4, "cost": 0.5}
KEY = {
    "name": "ann's",
    "scopes": ["user:ann"],
    "rights": ["read", "write"],
    "created_at": NOW.isoformat(),
    "expires_at": None,
    "revoked_at": None,
}
_DAY = "2026-05-03"
_LATER = 4_000_000_000_000_000  # microseconds: in 2096


def make_old_file(path: Path, *, records: int, leases: int) -> None:
    """Records of two users, and so many entries of each user and of the store about nothing."""
    with pytest.MonkeyPatch.context() as patch:
        first = migrate.migrations()[:1]
        patch.setattr(migrate, "migrations", lambda: first)
        patch.setattr(migrate, "schema", lambda: first[0].sql)
        patch.setattr(migrate, "PAGE_BYTES", 4096)
        asyncio.run(_fill(path, records))
    db = apsw.Connection(str(path))
    db.execute("PRAGMA synchronous = OFF; BEGIN")
    db.execute("INSERT INTO root (name) VALUES ('system:store')")
    db.execute("INSERT INTO scope (root, path) SELECT pk, name FROM root WHERE stamp = 0")
    for root in ("system:store", "user:ann", "user:bob"):
        _add_entries(db, root, "lease", "lease/maintain", leases)
    _add_books(db)
    _add_entries(db, "user:ann", "set policy", "policy/scope", 1)
    _add_entries(db, "user:bob", "lease", "lease/last of all", 1)
    db.execute("COMMIT")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    db.close()


async def _fill(path: Path, records: int) -> None:
    store = await SqliteStore.open(path)
    try:
        for root in ("user:ann", "user:bob"):
            for start in range(0, records // 2, 500):
                part = range(start, min(start + 500, records // 2))
                batch = make_batch(*(make_record(f"{root} {n:06}", scope=root) for n in part))
                await store.commit(batch)
    finally:
        await store.close()


def _add_entries(db: apsw.Connection, root: str, reason: str, ref: str, count: int) -> None:
    pk, head = db.execute("SELECT pk, head FROM root WHERE name = ?", (root,)).get
    scope = db.execute("SELECT pk FROM scope WHERE path = ?", (root,)).get
    numbers = range(head + 1, head + count + 1)
    db.executemany(
        "INSERT INTO journal VALUES (?, ?, 0, ?, ?, ?, 'worker')",
        ((pk, n, f"{root} {n}", f"{root} {n}", reason) for n in numbers),
    )
    db.executemany(
        "INSERT INTO touch VALUES (?, ?, 0, 5, ?, ?, NULL, NULL, ?)",
        ((pk, n, scope, ref, f'{{"version":{n},"value":"{"x" * 100}"}}') for n in numbers),
    )
    db.execute("UPDATE root SET head = ? WHERE pk = ?", (head + count, pk))


def _add_books(db: apsw.Connection) -> None:
    from standfast.access.keys import _digest

    own: dict[tuple[str, str], Any] = {
        ("key", _digest(SECRET)): KEY,
        ("device", "kitchen"): "user:ann",
        ("space", "active"): "hashing/384",
        ("quota", f"{_DAY}/abc"): 7,
        ("job", "j1"): {"state": "done"},
        ("consolidated", "user:ann"): {"at": NOW.isoformat(), "seq": 1, "tried": NOW.isoformat()},
        ("brought-back", "user:ann"): ["user:ann 000001"],
        ("lease", "maintain"): "somebody",
        ("idempotency", "abc"): {"body": "x", "ids": "y"},
    }
    tenants: dict[tuple[str, str], Any] = {
        ("lease", "fold/chat"): "somebody",
        ("work", "fold/chat"): {"attempts": 5, "error": "gone", "next": NOW.isoformat()},
        ("usage", f"{_DAY}/extract/openai:x"): SPENT,
        ("usage", f"{_DAY}/summarize/openai:x"): SPENT,
        ("budget", _DAY): {name: 2 * value for name, value in SPENT.items()},
        ("policy", "scope"): {"persist": True},
    }
    for root, items in (("system:store", own), ("user:ann", tenants)):
        for (namespace, key), value in items.items():
            db.execute(
                "INSERT INTO item SELECT root, ?, pk, ?, 1, ?, ? FROM scope WHERE path = ?",
                (namespace, key, _LATER, json.dumps(value), root),
            )
