"""What the state machine draws: small pools, so that things meet."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from standfast.ports import Store
from standfast.scopes import root_of
from standfast.testing.values import (
    EVERY_STATUS,
    NOW,
    Thing,
    make_batch,
    make_item,
    make_message,
    make_move,
    make_record,
    make_relation,
    make_search,
    make_summary,
    moment,
    unit,
)
from standfast.types import (
    Batch,
    CursorMove,
    Erase,
    Find,
    Item,
    Listing,
    Matching,
    Message,
    Record,
    Relation,
    Search,
    Session,
    SessionKey,
    Summary,
    Vector,
    Where,
)

ROOTS = ("org:acme", "org:acme2")
BELOW = ("", ":agent:cto", ":agent:cto2", ":agent:cto:task:é")
RECORDS = tuple(f"r{n}" for n in range(6))
SESSIONS = ("chat", "chat/1")
READERS = ("fold", "extract")
NAMESPACES = ("policy", "lease")
SPACES = ("one/3", "two/3")
TEXTS = (
    "deploys go out on tuesdays",
    "Ann moved to Zürich",
    "ann likes deploying soup",
    "我住在北京市",
    "!",
    "soup soup soup",
)
QUERIES = (*TEXTS, "ann", "deploy soup", "北京 zurich", "nobody", "the", "??")
VECTORS = (unit(1, 0, 0), unit(0, 1, 0), unit(-1, 0, 0), unit(1, 2, 3), unit(3, -2, 1))
MINUTES = (None, None, None, -1, 1, 3, 30)

_minutes = st.sampled_from(MINUTES)
_below = st.sampled_from(BELOW)
_sessions = st.sampled_from(SESSIONS)
_record = st.sampled_from(RECORDS)
_messages = st.sampled_from([f"m{n}" for n in range(5)])
_keys = st.sampled_from(["k", "k%", "é"])
_summaries = st.sampled_from([f"s{n}" for n in range(6)])
_small = st.integers(0, 3)
_rarely = st.sampled_from([False] * 9 + [True])


@dataclass(frozen=True)
class DrawnPart:
    """One thing of a batch, to be completed with what the store holds by then."""

    kind: str
    below: str  # the scope, seen from the root of the batch
    fields: dict[str, Any]
    careless: bool = False  # written without a look at what the store holds


def _part(kind: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[DrawnPart]:
    return st.builds(DrawnPart, st.just(kind), _below, st.fixed_dictionaries(fields), _rarely)


_record_parts = _part(
    "record",
    id_=_record,
    text=st.sampled_from(TEXTS),
    hash=st.sampled_from(["", "", "h1", "h2"]),
    status=st.sampled_from(EVERY_STATUS),
    type_=st.sampled_from(["fact", "episode", "procedure"]),
    tags=st.sampled_from([(), ("Café",), ("x", "cafe")]),
    importance=st.sampled_from([0.1, 0.5, 0.9]),
    data=st.sampled_from([{}, {"n": [1, None]}, {"subject": "a", "slot": "b", "value": "c"}]),
    learned_at=st.sampled_from([-5, 0, 5]),
    valid_from=_minutes,
    valid_to=_minutes,
    retired_at=_minutes,
    expires_at=_minutes,
    review_at=_minutes,
)
_erase_parts = _part(
    "erase",
    of=st.sampled_from(["record", "message", "session", "summary", "item"]),
    record=_record,
    message=_messages,
    session=_sessions,
    summary=_summaries,
    namespace=st.sampled_from(NAMESPACES),
    key=_keys,
)


def _parts() -> st.SearchStrategy[list[DrawnPart]]:
    one = st.one_of(
        _record_parts,
        _record_parts,
        _part("message", id_=_messages, session=_sessions, expires_at=_minutes),
        _part("message", id_=_messages, session=_sessions, expires_at=_minutes),
        _part("session", id_=_sessions, channel=st.sampled_from(["", "slack"]), n=_small),
        _part("cursor", id_=_sessions, reader=st.sampled_from(READERS), step=st.integers(-1, 3)),
        _part("summary", id_=_summaries, session=_sessions, start=_small),
        _part("relation", source=_record, target=_record, retired_at=_minutes),
        _part(
            "item",
            key=_keys,
            namespace=st.sampled_from(NAMESPACES),
            value=st.sampled_from([None, 1, {"a": []}]),
            expires_at=_minutes,
        ),
        _erase_parts,
    )
    return st.lists(one, min_size=1, max_size=6)


@dataclass(frozen=True)
class DrawnBatch:
    """A batch before it is known what the store holds."""

    root: str
    parts: list[DrawnPart]
    vectors: dict[str, Vector]
    extras: dict[str, Any]
    careless: bool


def drafts() -> st.SearchStrategy[DrawnBatch]:
    extras = {
        "space": st.sampled_from(SPACES),
        "used": st.sampled_from([(), (), ("r0", "r1", "r0")]),
        "sweep": st.sampled_from([False, False, False, True]),
        "change": st.sampled_from(["", "run"]),
    }
    return st.builds(
        DrawnBatch,
        st.sampled_from(ROOTS),
        _parts(),
        st.dictionaries(_record, st.sampled_from(VECTORS), max_size=3),
        st.fixed_dictionaries(extras),
        _rarely,
    )


async def complete(store: Store, draft: DrawnBatch, id_: str, now: datetime) -> Batch:
    """The batch of a client who has just read the store, and rarely of one who has not."""
    things: dict[tuple[object, ...], Thing] = {}
    for number, part in enumerate(draft.parts):
        thing = await _resolve(store, draft.root, part, now)
        if thing is not None:
            things[(number,) if part.careless else _key_of(thing)] = thing
    ids = {thing.id for thing in things.values() if isinstance(thing, Record)}
    ids |= {record.id for record in await store.records(draft.root, RECORDS, now=now)}
    vectors = {one: v for one, v in draft.vectors.items() if draft.careless or one in ids}
    return make_batch(
        *things.values(), id=id_, root=draft.root, at=now, vectors=vectors, **draft.extras
    )


def _key_of(thing: Thing) -> tuple[object, ...]:
    """What may be in a careful batch only once."""
    if isinstance(thing, Record):
        return Record, thing.id
    names = ("scope", "session", "namespace", "key", "id", "source", "target", "reader")
    return type(thing), *(getattr(thing, name, None) for name in names)


async def _resolve(store: Store, root: str, part: DrawnPart, now: datetime) -> Thing | None:
    """The thing as it would be written now; None if a careful writer would not."""
    scope, fields = root + part.below, dict(part.fields)
    for name in ("valid_from", "valid_to", "retired_at", "expires_at", "review_at"):
        if fields.get(name) is not None:
            fields[name] = now + timedelta(minutes=fields[name])
    if part.kind == "erase":
        return _resolve_erase(scope, fields)
    return await _RESOLVERS[part.kind](store, scope, fields, part.careless, now)


async def _resolve_record(
    store: Store, scope: str, fields: dict[str, Any], careless: bool, now: datetime
) -> Record | None:
    id_, text, hash_ = fields.pop("id_"), fields.pop("text"), fields.pop("hash")
    learned_at = moment(fields.pop("learned_at"))
    found = await store.records(None, [id_], now=now)
    if not found or careless:
        new = make_record(id_, text, scope, hash=hash_, learned_at=learned_at, **fields)
        return replace(new, version=7) if careless else new
    if root_of(found[0].scope) != root_of(scope):
        return None
    fields["type"] = fields.pop("type_")
    return replace(found[0], **fields)


async def _resolve_message(
    store: Store, scope: str, fields: dict[str, Any], careless: bool, now: datetime
) -> Message | None:
    key = SessionKey(scope, fields["session"])
    taken = await store.messages(key, now=now, ids=[fields["id_"]])
    return None if taken and not careless else make_message(scope=scope, at=now, **fields)


async def _resolve_session(
    store: Store, scope: str, fields: dict[str, Any], careless: bool, _: datetime
) -> Session:
    found = await store.sessions(root_of(scope), [SessionKey(scope, fields["id_"])])
    return Session(
        scope=scope,
        id=fields["id_"],
        channel=fields["channel"],
        cursors={"fold": 0} if fields["n"] else {},
        state={"n": fields["n"]},
        version=found[0].version if found and not careless else 0,
    )


async def _resolve_cursor(
    store: Store, scope: str, fields: dict[str, Any], careless: bool, _: datetime
) -> CursorMove | None:
    key = SessionKey(scope, fields["id_"])
    found = await store.sessions(root_of(scope), [key])
    old = found[0].cursors.get(fields["reader"], 0) if found else 0
    if careless:
        return make_move(old + 1, old + fields["step"], fields["reader"], key)
    if not found:
        return None
    new = max(old, min(old + fields["step"], found[0].last_seq))
    return make_move(old, new, fields["reader"], key)


async def _resolve_summary(
    store: Store, scope: str, fields: dict[str, Any], careless: bool, _: datetime
) -> Summary | None:
    start = fields.pop("start")
    taken = await store.journal(None, touching=fields["id_"])
    if taken and not careless:
        return None
    return make_summary(from_seq=start, to_seq=start + 1, scope=scope, **fields)


async def _resolve_relation(
    store: Store, scope: str, fields: dict[str, Any], careless: bool, now: datetime
) -> Relation | None:
    ends = (fields["source"], fields["target"])
    found = await store.records(root_of(scope), ends, now=now)
    if len(found) < 2 and not careless:
        return None
    edges = await store.relations(root_of(scope), ends)
    version = max((e.version for e in edges if (e.source, e.target) == ends), default=0)
    return make_relation(scope=scope, **fields, version=version + careless)


async def _resolve_item(
    store: Store, scope: str, fields: dict[str, Any], careless: bool, now: datetime
) -> Item:
    found = await store.items(
        root_of(scope), fields["namespace"], now=now, scopes=[scope], keys=[fields["key"]]
    )
    version = found[0].version if found else 0
    return make_item(scope=scope, **fields, version=version + careless)


_RESOLVERS: Mapping[str, Callable[..., Awaitable[Thing | None]]] = {
    "record": _resolve_record,
    "message": _resolve_message,
    "session": _resolve_session,
    "cursor": _resolve_cursor,
    "summary": _resolve_summary,
    "relation": _resolve_relation,
    "item": _resolve_item,
}


def _resolve_erase(scope: str, fields: dict[str, Any]) -> Erase:
    kind = fields["of"]
    if kind in ("record", "summary"):
        return Erase(kind=kind, id=fields[kind])
    if kind == "message":
        return Erase(kind=kind, scope=scope, session=fields["session"], id=fields["message"])
    if kind == "session":
        return Erase(kind=kind, scope=scope, id=fields["session"])
    return Erase(kind=kind, scope=scope, namespace=fields["namespace"], id=fields["key"])


MATCHING: list[Matching] = [
    (),
    (),
    (),
    (("tags", "none", ("cafe",)),),
    (("data", "any", (("n", "is", 1), ("slot", "exists", True))),),
]


def _filters() -> dict[str, st.SearchStrategy[Any]]:
    moments = st.one_of(st.none(), st.none(), st.integers(-10, 30).map(moment))
    return {
        "scopes": st.builds(
            lambda root, below: tuple(root + one for one in below),
            st.sampled_from(ROOTS),
            st.lists(_below, min_size=1, max_size=2),
        ),
        "now": st.just(NOW),
        "descend": st.booleans(),
        "exact": st.booleans(),
        "kinds": st.sampled_from([(), (), ("semantic",), ("episodic", "procedural")]),
        "tags": st.sampled_from([(), (), (), ("cafe",), ("X", "y"), ("slot:a/b",)]),
        "matching": st.sampled_from(MATCHING),
        "statuses": st.sampled_from([("active", "disputed"), EVERY_STATUS, ("superseded",), ()]),
        "since": moments,
        "until": moments,
        "as_of": moments,
        "known_at": moments,
    }


def _where() -> st.SearchStrategy[Where]:
    return st.builds(Where, **_filters())


def listings() -> st.SearchStrategy[Listing | Find]:
    rest: dict[str, st.SearchStrategy[Any]] = {
        "where": _where(),
        "order": st.sampled_from(["recent", "important", "id", "newest"]),
        "after": st.sampled_from(["", "r2"]),
        "limit": st.sampled_from([0, 2, 100]),
    }
    keys: dict[str, st.SearchStrategy[Any]] = {
        "hashes": st.sampled_from([("h1",), ("h1", "h2")]),
        "origins": st.sampled_from([(), (), ("o",)]),
        "derived_from": st.sampled_from([(), (), (RECORDS[0],)]),
    }
    return st.one_of(st.builds(Listing, **rest), st.builds(Find, **rest, **keys))


def searches() -> st.SearchStrategy[Search]:
    texts, vectors = st.sampled_from(QUERIES), st.sampled_from(VECTORS)
    return st.builds(
        Search,
        where=_where(),
        text=texts,
        vector=st.one_of(st.none(), vectors),
        space=st.sampled_from(SPACES),
        limit=st.just(100),
    )


def standing_queries() -> list[Search]:
    """What is searched for after every step."""
    return [
        make_search(
            root,
            text="ann deploys soup in 北京",
            vector=VECTORS[3],
            space=SPACES[0],
            descend=True,
            statuses=EVERY_STATUS,
        )
        for root in ROOTS
    ]


def record_ids() -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from([*RECORDS, "nobody"]), max_size=4, unique=True)


def touched_ids() -> st.SearchStrategy[str]:
    return st.sampled_from([*RECORDS, "m0", "chat", "chat/fold", "policy/k", "s0"])


def session_keys() -> st.SearchStrategy[SessionKey]:
    scopes = st.builds(lambda root, below: root + below, st.sampled_from(ROOTS), _below)
    return st.builds(SessionKey, scopes, _sessions)
