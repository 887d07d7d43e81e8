"""Every statement is about one root: so a table can be spread over machines by its first column."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from standfast import Memory
from tests import postgres

ROOTS = ("user:ann", "user:bob", "org:acme")
KEYED = (
    "scope", "session", "message", "summary", "record", "lineage", "relation", "embedding",
    "erased", "item", "journal", "touch",
)  # fmt: skip
_TABLES = re.compile(rf"(?:FROM|JOIN|UPDATE|INTO)\s+({'|'.join(KEYED)})\b", re.IGNORECASE)
_BOUND = re.compile(r"\broot = (?:%s|%\(\w+\)s)|INTO \w+ \(root\b", re.IGNORECASE)
# What is asked of the whole store, along an index that begins with something else: work that is
# due, which roots there are, records and entries by id for whoever may see all, and whose a new id
# is. A shard is asked for its own, and the answers are put together.
WHOLE_STORE = (
    re.compile(r"SELECT root, scope, "),  # due
    re.compile(r"FROM (record|summary|touch|journal)\b.*\b(id|change|seq)\s*(=|IN|<|>)", re.DOTALL),
)
WHOLE_STORE_MAX = 11  # such statements; somebody has to say so when there is one more

Seen = list[tuple[str, Any]]


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    """Statements with what they are given."""
    found: Seen = []
    execute, many = psycopg.Cursor.execute, psycopg.Cursor.executemany

    def executed(cursor: Any, query: Any, params: Any = None, **rest: Any) -> Any:
        found.append((_text(query, cursor), params))
        return execute(cursor, query, params, **rest)

    def executed_many(cursor: Any, query: Any, params: Any, **rest: Any) -> Any:
        rows = list(params)
        found.append((_text(query, cursor), rows))
        return many(cursor, query, rows, **rest)

    monkeypatch.setattr(psycopg.Cursor, "execute", executed)
    monkeypatch.setattr(psycopg.Cursor, "executemany", executed_many)
    return found


def _text(query: Any, cursor: Any) -> str:
    if isinstance(query, bytes):
        query = query.decode()
    said = query if isinstance(query, str) else query.as_string(cursor)
    return " ".join(said.split())


def _named(value: Any) -> Iterator[str]:
    """The roots in what a statement is given, however deep."""
    if isinstance(value, str):
        yield from (root for root in ROOTS if value == root or value.startswith(f"{root}:"))
    elif isinstance(value, dict):
        yield from _named(list(value.values()))
    elif isinstance(value, list | tuple | set):
        for one in value:
            yield from _named(one)


def _live(memory: Memory, root: str) -> None:
    """A little of everything, below this root."""
    mine = f"{root}:agent:a"
    memory.observe("chat", ["I moved to Oslo", "I have a cat"], scope=root)
    memory.observe("chat", "wait for it", scope=root, pending=True)
    told = memory.remember("The deploy is on Friday", scope=mine, tags=["release"])
    later = memory.remember("The deploy is on Monday", scope=mine, tags=["release"])
    memory.recall("when is the deploy", scope=mine)
    memory.confirm(memory.context(session="chat", scope=mine, query="deploy"))
    memory.end("chat", scope=root)
    memory.records(scope=root)
    memory.changes(scope=root)
    memory.history(told.items[0].id)
    memory.undo(later.change)
    memory.forget(session="chat", scope=root)


def test_X18_no_statement_needs_two_roots(seen: Seen) -> None:
    with (
        postgres.database() as address,
        Memory.open(address, embedder="hashing", background=False) as memory,
    ):
        seen.clear()  # who makes the tables, or brings them up to date, does so for all roots
        for root in ROOTS:
            _live(memory, root)
        memory.maintain()
        found = list(seen)
    assert len(found) > 300, "it saw what was asked"
    assert {name for text, given in found for name in _named(given)} == set(ROOTS)
    two = [text for text, given in found if len(set(_named(given))) > 1]
    assert two == [], "a statement that is given two roots"
    free = {text for text, _ in found if _TABLES.search(text) and not _BOUND.search(text)}
    whole = {text for text in free if any(one.search(text) for one in WHOLE_STORE)}
    assert free - whole == set(), "a statement that is not bound to a root"
    assert len(whole) <= WHOLE_STORE_MAX, whole
