"""What should be done now in a root, read off its keys."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, cast

from standfast.index.codes import micros, moment
from standfast.stores.commit import is_over
from standfast.stores.keyspace.engine import Ask, Get, KeyEngine, KeySpan, Pairs
from standfast.stores.keyspace.keys import (
    HEADER,
    RecordBody,
    body_of,
    key,
    parts_of,
    place,
    span,
    time_at,
    time_place,
)
from standfast.types import LIVE, Work, WorkKind

PAGE = 500


async def due_in(
    engine: KeyEngine, root: str, now: datetime, space: str, limit: int, *, rests: bool
) -> list[Work]:
    """All kinds of work, at most ``limit`` of each. Where there is none the engine is told, if the
    root ``rests`` then."""
    until = key(time_place(now)) + b"\1"
    asks: list[Ask] = [
        Get(HEADER),
        Get(key(".d", space)),
        KeySpan(b"w\0", b"w\0" + until, limit, follow=True),
        span("k", limit=limit),
        KeySpan(b"z\0", b"z\0" + until, limit, follow=True),
        span("w", limit=1)._replace(bare=True),
        span("z", limit=1)._replace(bare=True),
    ]
    answers = cast(list[Any], await engine.read(root, asks))
    header, dimensions, expired, lagging, review, *first = answers
    found = [*_expired(root, expired), *_lagging(root, lagging)]
    if space:
        found += await _unembedded(engine, root, now, space, dimensions, limit)
    for body in _bodies(review):
        if body.record.status in LIVE and not is_over(body.record.expires_at, now):
            found.append(_work(root, "review", body.record.scope, body.record.id))
    if rests and not found and limit:
        times = [time_at(parts_of(at)[1]) for pairs in first for at, _ in pairs]
        future = [one for one in times if one > micros(now)]
        if len(future) == len(times):
            await engine.rest(root, header, moment(min(future)) if future else None)
    return found


async def lagging_in(engine: KeyEngine, root: str, reader: str, limit: int) -> list[Work]:
    """Sessions of a root in which one reader lags behind, whatever others do."""
    found: list[Work] = []
    asked = span("k", limit=PAGE)
    while len(found) < limit:
        [pairs] = cast(list[Pairs], await engine.read(root, [asked]))
        found += (one for one in _lagging(root, pairs) if one.detail == reader)
        if len(pairs) < PAGE:
            break
        asked = asked._replace(start=pairs[-1][0] + b"\0")
    return found[:limit]


async def _unembedded(
    engine: KeyEngine, root: str, now: datetime, space: str, known: bytes | None, limit: int
) -> list[Work]:
    """Records whose newest vector is of another space, and that have none of this one."""
    spans = [KeySpan(b"y\0", b"y\1", limit, follow=True)]
    if known:
        own = key("y", space, place(int(known.split()[1])))
        spans = [
            KeySpan(b"y\0", own + b"\0", limit, follow=True),
            KeySpan(own + b"\1", b"y\1", limit, follow=True),
        ]
    found: list[RecordBody] = []
    while spans and len(found) < limit:
        answers = cast(list[Pairs], await engine.read(root, spans))
        bodies = [body for pairs in answers for body in _bodies(pairs)]
        alive = [body for body in bodies if not is_over(body.record.expires_at, now)]
        found += await _without(engine, root, alive, space if known else "")
        spans = [
            asked._replace(start=pairs[-1][0] + b"\0")
            for asked, pairs in zip(spans, answers, strict=True)
            if len(pairs) == asked.limit
        ]
    found.sort(key=lambda body: body.record.id)
    return [_work(root, "embed", body.record.scope, body.record.id) for body in found[:limit]]


async def _without(
    engine: KeyEngine, root: str, bodies: list[RecordBody], space: str
) -> list[RecordBody]:
    """Those that have no vector of this space."""
    doubtful = [body for body in bodies if space in body.spaces]
    if not doubtful:
        return bodies
    asks = [Get(key(".v", space, place(body.number))) for body in doubtful]
    vectors = await engine.read(root, asks)
    having = {one.number for one, vector in zip(doubtful, vectors, strict=True) if vector}
    return [body for body in bodies if body.number not in having]


def _expired(root: str, pairs: Pairs) -> Iterator[Work]:
    found: list[tuple[int, str, str, str]] = []
    for at, raw in pairs:
        _, _, kind, *parts = parts_of(at)
        if kind == "r" and raw:
            record = body_of(raw).record
            found.append((0, record.id, record.scope, "record"))
        elif kind == "o":
            found.append((1, parts[2], parts[0], "message"))
        elif kind == "b":
            found.append((2, f"{parts[0]}/{parts[2]}", parts[1], "item"))
    for _, id_, scope, detail in sorted(found):
        yield _work(root, "expire", scope, id_, detail)


def _lagging(root: str, pairs: Pairs) -> Iterator[Work]:
    for at, _ in pairs:
        _, scope, session, reader = parts_of(at)
        yield _work(root, "fold", scope, session, reader)


def _bodies(pairs: Pairs) -> Iterator[RecordBody]:
    return (body_of(raw) for _, raw in pairs if raw)


def _work(root: str, kind: WorkKind, scope: str, id_: str, detail: str = "") -> Work:
    return Work(kind=kind, root=root, scope=scope, id=id_, detail=detail)
