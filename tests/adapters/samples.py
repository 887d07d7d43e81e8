"""A small sample of every format that is imported, made from what its makers document."""

from __future__ import annotations

import json
import pickle
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

TEA = "Ann drinks green tea every morning"


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), "utf-8")
    return path


def mem0(folder: Path) -> Path:
    one = {
        "id": "m-1",
        "memory": TEA,
        "user_id": "ann",
        "metadata": {"topic": "drinks"},
        "categories": ["food"],
        "created_at": "2025-03-01T10:00:00+00:00",
        "updated_at": "2025-04-01T10:00:00+00:00",
    }
    return write(
        folder / "mem0.json", {"results": [one, {**one, "id": "m-2", "memory": "Ann sings"}]}
    )


def mem0_history(folder: Path) -> Path:
    path = folder / "history.db"
    db = apsw.Connection(str(path))
    db.execute(
        "CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT,"
        " new_memory TEXT, event TEXT, created_at DATETIME, updated_at DATETIME,"
        " is_deleted INTEGER, actor_id TEXT, role TEXT)"
    )
    first, then = "2025-03-01T10:00:00+00:00", "2025-04-01T10:00:00+00:00"
    rows = [
        ("1", "m-1", None, "Ann drinks coffee", "ADD", first, first, 0, None, "user"),
        ("2", "m-1", "Ann drinks coffee", TEA, "UPDATE", first, then, 0, None, "user"),
        ("3", "m-2", None, "Gone", "ADD", first, first, 0, None, None),
        ("4", "m-2", "Gone", None, "DELETE", first, then, 1, None, None),
    ]
    db.executemany("INSERT INTO history VALUES (?,?,?,?,?,?,?,?,?,?)", rows)
    db.close()
    return path


def qdrant_point(id_: str, payload: dict[str, Any]) -> bytes:
    """A point as Qdrant's client pickles it: an object of a class that is not here."""
    module = types.ModuleType("qdrant_client.http.models.models")
    made = type("PointStruct", (), {"__module__": module.__name__})
    setattr(module, made.__name__, made)
    point = made()
    point.__dict__.update(  # pydantic's state has its fields one level down
        __dict__={"id": id_, "vector": {"": [0.5, 0.5]}, "payload": payload},
        __pydantic_fields_set__={"id"},
    )
    names = ["qdrant_client", "qdrant_client.http", "qdrant_client.http.models", module.__name__]
    with pytest.MonkeyPatch.context() as patch:
        for name in names:
            patch.setitem(sys.modules, name, module)
        return pickle.dumps(point)


def qdrant_file(folder: Path, *points: bytes) -> Path:
    home = folder / "qdrant" / "collection" / "mem0"
    home.mkdir(parents=True)
    db = apsw.Connection(str(home / "storage.sqlite"))
    db.execute("CREATE TABLE points (id TEXT PRIMARY KEY, point BLOB)")
    db.executemany("INSERT INTO points VALUES (?, ?)", [(str(n), p) for n, p in enumerate(points)])
    db.close()
    return folder / "qdrant"


def mem0_qdrant(folder: Path) -> Path:
    first, then = "2025-03-01T10:00:00+00:00", "2025-04-01T10:00:00+00:00"
    payload = {"data": TEA, "user_id": "ann", "topic": "drinks", "hash": "x", "created_at": first,
               "updated_at": then, "role": "user"}  # fmt: skip
    return qdrant_file(
        folder,
        qdrant_point("m-1", payload),
        qdrant_point("m-2", {**payload, "data": "Bob sings", "user_id": "bob"}),
        qdrant_point("m-3", {"user_id": "telemetry"}),
    )


def langgraph(folder: Path) -> Path:
    item = {
        "namespace": ["users", "ann"],
        "key": "tea",
        "value": {"text": TEA},
        "created_at": "2025-03-01T10:00:00+00:00",
        "updated_at": "2025-04-01T10:00:00+00:00",
    }
    return write(folder / "items.json", [item, {**item, "key": "more", "value": {"n": 1}}])


def langgraph_sqlite(folder: Path) -> Path:
    path = folder / "store.db"
    db = apsw.Connection(str(path))
    db.execute(
        "CREATE TABLE store (prefix TEXT, key TEXT, value TEXT, created_at TIMESTAMP,"
        " updated_at TIMESTAMP, expires_at TIMESTAMP, ttl_minutes REAL)"
    )
    value = json.dumps({"text": TEA})
    at = "2025-03-01 10:00:00"
    db.execute(
        "INSERT INTO store VALUES (?,?,?,?,?,?,?)", ("users.ann", "tea", value, at, at, None, None)
    )
    db.close()
    return path


def memory_json(folder: Path) -> Path:
    lines = [
        {"type": "entity", "name": "Ann", "entityType": "person",
         "observations": ["drinks green tea every morning", "sings"]},
        {"type": "entity", "name": "Acme", "entityType": "company", "observations": []},
        {"type": "relation", "from": "Ann", "to": "Acme", "relationType": "works_at"},
    ]  # fmt: skip
    path = folder / "memory.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return path


NOTE = f"""---
title: About Ann
tags: [people, tea]
created: 2025-03-01
---
# Ann

- [habit] {TEA} #ritual
- works at [[Acme]]

She sings on Sundays
and on holidays.

```python
# not a heading
print("kept whole")
```
"""


def markdown(folder: Path) -> Path:
    notes = folder / "notes"
    (notes / ".git").mkdir(parents=True)
    (notes / ".git" / "config.md").write_text("- never read", "utf-8")
    (notes / "people").mkdir()
    (notes / "people" / "ann.md").write_text(NOTE, "utf-8")
    (notes / "CLAUDE.md").write_text(
        "# Rules\n\n- Deploy on Tuesdays\n- Never on Fridays\n", "utf-8"
    )
    (notes / "empty.md").write_text("---\ntitle: nothing\n---\n", "utf-8")
    return notes


def chatgpt_node(id_: str, parent: str | None, role: str, text: str, at: float) -> dict[str, Any]:
    message = {
        "id": id_,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": at,
        "content": {"content_type": "text", "parts": [text]},
        "metadata": {"model_slug": "gpt"} if role == "assistant" else {},
        "recipient": "all",
    }
    return {"id": id_, "message": message, "parent": parent, "children": []}


def chatgpt(folder: Path) -> Path:
    nodes = {
        "root": {"id": "root", "message": None, "parent": None, "children": ["a"]},
        "a": chatgpt_node("a", "root", "user", TEA, 1_740_000_000.5),
        "b": chatgpt_node("b", "a", "assistant", "another answer", 1_740_000_001.0),
        "c": chatgpt_node("c", "a", "assistant", "Noted.", 1_740_000_002.0),
    }
    one = {"title": "Tea", "create_time": 1_740_000_000.0, "conversation_id": "c-1",
           "mapping": nodes, "current_node": "c"}  # fmt: skip
    return write(folder / "conversations.json", [one])


def claude(folder: Path) -> Path:
    one = {
        "uuid": "c-1",
        "name": "Tea",
        "created_at": "2025-03-01T10:00:00Z",
        "updated_at": "2025-03-01T11:00:00Z",
        "account": {"uuid": "u"},
        "chat_messages": [
            {"uuid": "a", "sender": "human", "text": TEA, "created_at": "2025-03-01T10:00:00Z",
             "content": [{"type": "text", "text": TEA}], "attachments": [],
             "files": [{"file_name": "tea.png"}]},
            {"uuid": "b", "sender": "assistant", "text": "", "created_at": "2025-03-01T10:00:01Z",
             "content": [{"type": "thinking", "thinking": "hm"},
                         {"type": "text", "text": "Noted."}],
             "attachments": [], "files": []},
            {"uuid": "c", "sender": "human", "text": "", "content": [], "attachments": []},
        ],
    }  # fmt: skip
    return write(folder / "conversations.json", [one])


def letta(folder: Path) -> Path:
    agent = {
        "id": "agent-0",
        "name": "helper",
        "block_ids": ["block-0"],
        "messages": [
            {"id": "message-0", "role": "user", "content": [{"type": "text", "text": TEA}],
             "created_at": "2025-03-01T10:00:00+00:00"},
            {"id": "message-1", "role": "user", "created_at": "2025-03-01T10:00:01+00:00",
             "content": [{"type": "text", "text": '{"type": "heartbeat", "reason": "x"}'}]},
            {"id": "message-2", "role": "assistant", "content": None,
             "created_at": "2025-03-01T10:00:02+00:00",
             "tool_calls": [{"id": "t1", "type": "function",
                             "function": {"name": "send_message", "arguments": "{}"}}]},
            {"id": "message-3", "role": "tool", "content": [{"type": "text", "text": "ok"}],
             "tool_call_id": "t1", "created_at": "2025-03-01T10:00:03+00:00"},
        ],
    }  # fmt: skip
    blocks = [{"id": "block-0", "label": "human", "value": "The human is called Ann"}]
    whole = {"agents": [agent], "blocks": blocks, "tools": [{"name": "send_message"}]}
    return write(folder / "helper.af", whole)


def graphiti(folder: Path) -> Path:
    edge = {"uuid": "e-1", "name": "DRINKS", "fact": TEA, "group_id": "ann", "episodes": ["p-1"],
            "source_node_uuid": "n-1", "target_node_uuid": "n-2",
            "created_at": "2025-03-01T10:00:00Z", "valid_at": "2025-02-01T00:00:00Z",
            "invalid_at": None, "expired_at": None}  # fmt: skip
    old = {**edge, "uuid": "e-0", "fact": "Ann drinks coffee", "valid_at": "2024-01-01T00:00:00Z",
           "invalid_at": "2025-02-01T00:00:00Z", "expired_at": "2025-03-01T10:00:00Z"}  # fmt: skip
    node = {"uuid": "n-1", "name": "Ann", "summary": "a singer", "labels": ["Entity", "Person"],
            "group_id": "ann", "created_at": "2025-03-01T10:00:00Z"}  # fmt: skip
    episode = {"uuid": "p-1", "name": "m", "content": f"Ann: {TEA}", "source": "message",
               "source_description": "chat", "group_id": "ann",
               "valid_at": "2025-02-01T00:00:00Z"}  # fmt: skip
    return write(
        folder / "graph.json",
        {"nodes": [node, {**node, "uuid": "n-2", "summary": ""}], "edges": [edge, old],
         "episodes": [episode]},
    )  # fmt: skip


def csv(folder: Path) -> Path:
    path = folder / "notes.csv"
    path.write_text(f'note,when,labels,extra\n"{TEA}",2025-03-01,"tea,food",x\n"  ",2025-03-02,,\n')
    return path


def jsonl(folder: Path) -> Path:
    lines = [
        {"session": "s1", "role": "user", "content": TEA, "timestamp": 1_740_000_000, "id": "1"},
        {
            "session": "s2",
            "role": "user",
            "content": "hello",
            "timestamp": 1_740_000_001,
            "id": "2",
        },
        {"session": "s1", "role": "assistant", "content": "Noted.", "timestamp": 1_740_000_002},
    ]
    path = folder / "chat.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


# kind, sample, fields; and what is stored of it: sessions, messages, records (turns among them)
SAMPLES: list[tuple[str, Callable[[Path], Path], dict[str, str], tuple[int, int, int]]] = [
    ("mem0", mem0, {}, (0, 0, 2)),
    ("mem0", mem0_history, {}, (0, 0, 2)),
    ("mem0", mem0_qdrant, {}, (0, 0, 2)),
    ("langgraph", langgraph, {}, (0, 0, 2)),
    ("langgraph", langgraph_sqlite, {}, (0, 0, 1)),
    ("memory-json", memory_json, {}, (0, 0, 5)),
    ("markdown", markdown, {}, (0, 0, 6)),
    ("chatgpt", chatgpt, {}, (1, 2, 2)),
    ("claude", claude, {}, (1, 2, 2)),
    ("letta", letta, {}, (1, 3, 4)),
    ("graphiti", graphiti, {}, (1, 1, 4)),
    ("csv", csv, {"text": "note", "at": "when", "tags": "labels"}, (0, 0, 1)),
    ("jsonl", jsonl, {}, (2, 3, 3)),
]
