"""Short ways to write down values in tests."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, Literal

from standfast.ports import Store
from standfast.scopes import root_of
from standfast.types import (
    KIND_OF_TYPE,
    Batch,
    CursorMove,
    Erase,
    Find,
    Item,
    Listing,
    Message,
    Record,
    Relation,
    Role,
    Search,
    Session,
    SessionKey,
    Status,
    Summary,
    Type,
    Vector,
    Where,
)

NOW = datetime(2026, 5, 3, 12, 30, 15, 123456, tzinfo=UTC)
ROOT = "org:acme"
SPACE = "test/3"
CHAT = SessionKey(ROOT, "chat")
EVERY_STATUS: tuple[Status, ...] = (
    "active",
    "superseded",
    "archived",
    "disputed",
    "quarantined",
)

Thing = Record | Message | Session | CursorMove | Summary | Relation | Item | Erase

_FIELD_OF: Mapping[type, str] = {
    Record: "records",
    Message: "messages",
    Session: "sessions",
    CursorMove: "cursors",
    Summary: "summaries",
    Relation: "relations",
    Item: "items",
    Erase: "erase",
}
_numbers = count(1)


def moment(minutes: float) -> datetime:
    """So many minutes after NOW (before it, if negative)."""
    return NOW + timedelta(minutes=minutes)


def make_record(
    id_: str, text: str = "", scope: str = ROOT, *, type_: Type = "fact", **fields: Any
) -> Record:
    """A fact learned NOW that says its own id, unless told otherwise."""
    given = {"kind": KIND_OF_TYPE[type_], "learned_at": NOW, **fields}
    return Record(id=id_, scope=scope, type=type_, text=text or f"fact {id_}", **given)


def make_message(
    id_: str, text: str = "", scope: str = ROOT, session: str = "chat", **fields: Any
) -> Message:
    role: Role = fields.pop("role", "user")
    given = {"at": NOW, **fields}
    return Message(id=id_, scope=scope, session=session, role=role, text=text or id_, **given)


def make_summary(id_: str, from_seq: int, to_seq: int, **fields: Any) -> Summary:
    how: Literal["model", "extract"] = fields.pop("how", "extract")
    given = {"scope": ROOT, "session": "chat", "text": id_, "learned_at": NOW, **fields}
    return Summary(id=id_, from_seq=from_seq, to_seq=to_seq, how=how, **given)


def make_relation(source: str, target: str, scope: str = ROOT, **fields: Any) -> Relation:
    given = {"kind": "supports", "learned_at": NOW, **fields}
    return Relation(scope=scope, source=source, target=target, **given)


def make_item(key: str, value: Any = 1, scope: str = ROOT, **fields: Any) -> Item:
    return Item(scope=scope, key=key, value=value, **{"namespace": "policy", **fields})


def make_move(old: int, new: int, reader: str = "fold", session: SessionKey = CHAT) -> CursorMove:
    return CursorMove(session=session, reader=reader, old=old, new=new)


def make_batch(*things: Thing, **fields: Any) -> Batch:
    """A batch of these things; its id is new and its root that of the first thing."""
    parts: dict[str, tuple[Thing, ...]] = {}
    for thing in things:
        name = _FIELD_OF[type(thing)]
        parts[name] = (*parts.get(name, ()), thing)
    given = {
        "id": f"batch-{next(_numbers)}",
        "root": _root_of(things),
        "at": NOW,
        "reason": "test",
        **parts,
        **fields,
    }
    return Batch(**given)


def _root_of(things: tuple[Thing, ...]) -> str:
    for thing in things:
        scope = thing.session.scope if isinstance(thing, CursorMove) else thing.scope
        if scope:
            return root_of(scope)
    return ROOT


async def put(store: Store, *things: Thing, **fields: Any) -> int:
    """Commit these things as one batch."""
    return await store.commit(make_batch(*things, **fields))


async def one_record(store: Store, id_: str, now: datetime = NOW) -> Record:
    [record] = await store.records(None, [id_], now=now)
    return record


_FILTERS = {field.name for field in fields(Where)}
_KEYS = {"hashes", "origins", "lineage", "derived_from"}

Asked = Search | Listing | Find


def make_query(*scopes: str, **given: Any) -> Asked:
    """A question to these scopes at NOW with room for everything a test writes: a search if it has
    words or a vector, a look-up if it has a key, else a listing."""
    where: dict[str, Any] = {"scopes": scopes or (ROOT,), "now": NOW}
    where |= {name: value for name, value in given.items() if name in _FILTERS}
    rest: dict[str, Any] = {"limit": 1000}
    rest |= {name: value for name, value in given.items() if name not in _FILTERS}
    if "text" in rest or "vector" in rest:
        return Search(where=Where(**where), **rest)
    kind = Find if any(rest.get(key) for key in _KEYS) else Listing
    return kind(where=Where(**where), **rest)


def make_search(*scopes: str, **given: Any) -> Search:
    asked = make_query(*scopes, **given)
    assert isinstance(asked, Search)
    return asked


async def ask(store: Store, asked: Asked) -> list[Record]:
    """The records that a question of any kind is answered with."""
    if isinstance(asked, Search):
        return [hit.record for hit in await store.search(asked)]
    return await (store.listing(asked) if isinstance(asked, Listing) else store.find(asked))


async def found_ids(store: Store, *scopes: str, **given: Any) -> list[str]:
    """The ids that a question is answered with, in order."""
    return [record.id for record in await ask(store, make_query(*scopes, **given))]


async def scores_of(store: Store, search: Search) -> dict[str, tuple[float, float | None]]:
    """Keyword and similarity by id, rounded to what float32 can promise."""
    return {
        hit.record.id: (
            round(hit.keyword, 5),
            None if hit.similarity is None else round(hit.similarity, 5),
        )
        for hit in await store.search(search)
    }


def unit(*numbers: float) -> Vector:
    """A stored vector: float32, L2-normalised."""
    length = math.sqrt(sum(number * number for number in numbers))
    return struct.pack(f"<{len(numbers)}f", *(number / length for number in numbers))
