"""The tables that Lota's document names: ``memory`` and ``memoryRelation``, beside the keys.

They are written in the same block, for whoever looks into the database or asks it in its own words.
"""

from __future__ import annotations

import struct
from typing import Any

from surrealdb import RecordID

from standfast.stores.keyspace.engine import KeyChanges
from standfast.stores.keyspace.keys import parts_of, told_as
from standfast.types import Record, Relation

DEFINED = """
DEFINE TABLE IF NOT EXISTS entry SCHEMALESS;
DEFINE TABLE IF NOT EXISTS claim SCHEMALESS;
DEFINE TABLE IF NOT EXISTS about SCHEMALESS;
DEFINE TABLE IF NOT EXISTS memory SCHEMALESS;
DEFINE TABLE IF NOT EXISTS memoryRelation TYPE RELATION SCHEMALESS;
DEFINE INDEX IF NOT EXISTS memory_scope ON memory FIELDS scopeId;
"""


TABLES = ("entry", "claim", "about", "memory", "memoryRelation")
# What SurrealDB runs with every write to a table, as it calls them; "tables" are views of it.
RUN_WITH_WRITES = {"events": "event", "fields": "field", "tables": "view"}
OURS = {("fields", "in"), ("fields", "out")}  # of a relation


def schema_defects(table: str, told: dict[str, dict[str, str]]) -> list[str]:
    """What somebody else put onto a table: it could keep a copy of what is forgotten."""
    return [
        f"the {what} {name!a} of the table {table} is not of standfast; "
        "remove it, unless it is yours"
        for kind, what in RUN_WITH_WRITES.items()
        for name in told.get(kind, {})
        if (kind, name) not in OURS or table != "memoryRelation"
    ]


def memory_statements(root: str, changes: KeyChanges, given: dict[str, Any]) -> list[str]:
    """What has to be done about the two tables; values go into ``given``."""
    lines: list[str] = []
    gone = [one.old for one in changes.near if one.new is None and one.old is not None]
    if gone:
        given["memories_gone"] = [memory_id(root, record.id) for record in gone]
        lines.append("DELETE $memories_gone;")
    memories = []
    for one in changes.near:
        if one.new is not None:
            row = _memory(root, one.new, one.number)
            for space, vector in one.vectors.items():
                row["space"], row["embedding"] = space, floats(vector)
            memories.append(row)
    for number, row in enumerate(memories):
        given[f"m{number}"] = row
        lines.append(f"UPSERT $m{number}.id MERGE $m{number} RETURN NONE;")
    return lines + _relations(root, changes, given)


def _relations(root: str, changes: KeyChanges, given: dict[str, Any]) -> list[str]:
    lines = []
    gone = [parts_of(key) for key in changes.gone if key.startswith(b"e\0")]
    if gone:
        given["edges_gone"] = [_edge_id(root, *parts[1:]) for parts in gone]
        lines.append("DELETE $edges_gone;")
    edges = [
        told_as(Relation, value) for key, value in changes.puts.items() if key.startswith(b"e\0")
    ]
    if edges:
        given["edges"] = [
            {
                "id": _edge_id(root, one.source, one.kind, one.target),
                "in": memory_id(root, one.source),
                "out": memory_id(root, one.target),
                "relation": one.kind,
                "retired": one.retired_at is not None,
            }
            for one in edges
        ]
        lines.append(
            "INSERT RELATION INTO memoryRelation $edges"
            " ON DUPLICATE KEY UPDATE retired = $input.retired RETURN NONE;"
        )
    return lines


def _memory(root: str, record: Record, number: int) -> dict[str, Any]:
    return {
        "id": memory_id(root, record.id),
        "number": number,
        "content": record.text,
        "hash": record.hash,
        "scopeId": record.scope,
        "memoryType": record.type,
        "durability": record.durability,
        "importance": record.importance,
        "status": record.status,
    }


def memory_id(root: str, id_: str) -> RecordID:
    return RecordID("memory", [root, id_])


def _edge_id(root: str, source: str, kind: str, target: str) -> RecordID:
    return RecordID("memoryRelation", [root, source, kind, target])


def floats(vector: bytes) -> list[float]:
    return list(struct.unpack(f"<{len(vector) // 4}f", vector))
