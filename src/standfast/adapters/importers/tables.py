"""Plain CSV and JSON lines: which column holds what is said by ``--map``, or by its name.

With a column for the role or the session the rows are messages, otherwise statements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from standfast.adapters.importers.files import json_lines, opened, rows
from standfast.adapters.importers.values import (
    Conversation,
    Foreign,
    ForeignRecord,
    LeftOut,
    Remark,
    words,
)
from standfast.adapters.importers.values import ReaderWish as Wish
from standfast.errors import Invalid

# What we call it -> what columns are called that hold it.
NAMES: Mapping[str, tuple[str, ...]] = {
    "text": ("text", "content", "memory", "message", "note", "fact"),
    "id": ("id", "uuid", "message_id", "memory_id"),
    "at": ("at", "created_at", "timestamp", "time", "date"),
    "author": ("author", "user", "sender", "name"),
    "role": ("role",),
    "session": ("session", "session_id", "conversation", "conversation_id", "thread_id", "chat_id"),
    "tags": ("tags", "labels"),
    "type": ("type",),
    "importance": ("importance",),
    "owner": ("owner", "user_id"),
}
TYPES = ("fact", "preference", "episode", "interest", "entity", "user_request")

Row = Mapping[str, Any]


def read_csv(wish: Wish) -> Iterator[Foreign]:
    with opened(wish.path) as file:
        yield from _values(wish, rows(file, str(wish.path)))


def read_jsonl(wish: Wish) -> Iterator[Foreign]:
    with opened(wish.path) as file:
        found = json_lines(file, str(wish.path), partial=wish.partial)
        yield from _values(wish, found)


def _values(wish: Wish, numbered: Iterator[tuple[int, Any]]) -> Iterator[Foreign]:
    first = next(numbered, None)
    if first is None:
        raise Invalid(f"{wish.path} is empty")
    if not isinstance(first[1], Mapping):
        raise Invalid(f"{wish.path} holds no objects with named values")
    columns = _columns(wish, first[1])
    told = _chained(first, numbered)
    if "role" in columns or "session" in columns:
        yield from _conversations(told, columns)
    else:
        for number, row in told:
            yield _statement(number, row, columns)


def _chained(first: tuple[int, Any], rest: Iterator[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    yield first
    yield from rest


def _columns(wish: Wish, row: Row) -> dict[str, str]:
    """Our name -> theirs. What was said outright must be there."""
    if unknown := sorted(set(wish.fields) - set(NAMES)):
        raise Invalid(f"{', '.join(unknown)}: unknown; map one of {', '.join(NAMES)}")
    if missing := sorted(set(wish.fields.values()) - set(row)):
        has = ", ".join(map(str, list(row)[:20]))
        raise Invalid(f"{wish.path} has no column {', '.join(missing)}; it has {has}")
    lower = {str(name).strip().lower(): str(name) for name in row}
    found = {
        ours: next(lower[name] for name in names if name in lower)
        for ours, names in NAMES.items()
        if any(name in lower for name in names)
    }
    found |= wish.fields
    if "text" not in found:
        has = ", ".join(map(str, list(row)[:20]))
        raise Invalid(f"say which column of {wish.path} is the text: --map text=...; it has {has}")
    return found


def _cell(row: Any, columns: Mapping[str, str], name: str) -> Any:
    return row.get(columns[name]) if name in columns and isinstance(row, Mapping) else None


def _statement(number: int, row: Any, columns: Mapping[str, str]) -> Foreign:
    text = _cell(row, columns, "text")
    if not isinstance(text, str) or not text.strip():
        return LeftOut(what=f"line {number}", why="there is no text in it")
    type_ = str(_cell(row, columns, "type") or "fact")
    known = set(columns.values())
    rest = {str(name): value for name, value in row.items() if name not in known and value != ""}
    return ForeignRecord(
        id=str(_cell(row, columns, "id") or text),
        text=text,
        type=type_ if type_ in TYPES else "fact",  # type: ignore[arg-type]
        owner=_owner(row, columns),
        tags=tuple(words(_cell(row, columns, "tags")))[:32],
        author=str(_cell(row, columns, "author") or "")[:200],
        importance=_share(_cell(row, columns, "importance")),
        created=_time(_cell(row, columns, "at")),
        valid_from=_time(_cell(row, columns, "at")),
        data={"row": rest} if rest else {},
    )


def _owner(row: Any, columns: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    owner = str(_cell(row, columns, "owner") or "").strip()
    return (("user", owner),) if owner else ()


def _share(value: Any) -> float:
    try:
        return min(max(float(value), 0.0), 1.0)
    except (TypeError, ValueError):
        return 0.5


def _time(value: Any) -> Any:
    """A number in a text is one of seconds or milliseconds."""
    if isinstance(value, str):
        value = value.strip()
        try:
            return float(value) if value else None
        except ValueError:
            return value
    return value


def _conversations(
    told: Iterator[tuple[int, Any]], columns: Mapping[str, str]
) -> Iterator[Foreign]:
    """Neighbours of one session are read as one; a session may come again further down."""

    def key(one: tuple[int, Any]) -> tuple[str, tuple[tuple[str, str], ...]]:
        session = str(_cell(one[1], columns, "session") or "messages")
        return session, _owner(one[1], columns)

    for (session, owner), part in groupby(told, key):
        first = next(part)
        yield Conversation(
            id=session,
            at=_time(_cell(first[1], columns, "at")),
            owner=owner,
            remarks=(_remark(number, row, columns) for number, row in _chained(first, part)),
        )


def _remark(number: int, row: Any, columns: Mapping[str, str]) -> Remark | LeftOut:
    text = _cell(row, columns, "text")
    if not isinstance(text, str | list) or not text:
        return LeftOut(what=f"line {number}", why="there is no text in it")
    return Remark(
        id=str(_cell(row, columns, "id") or f"line {number}"),
        role=str(_cell(row, columns, "role") or "user"),
        content=text,
        at=_time(_cell(row, columns, "at")),
        author=str(_cell(row, columns, "author") or "")[:200],
    )
