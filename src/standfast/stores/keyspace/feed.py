"""The keys of a root as the search index is fed from them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, cast

from standfast.ports import FeedChanges, FeedRecord, FeedStamps, IndexRow, LaterRecord
from standfast.stores.keyspace.engine import Ask, Get, KeyEngine, KeySpan, Pairs
from standfast.stores.keyspace.keys import (
    HEADER,
    Header,
    below,
    body_key,
    changed_at,
    is_sound_body,
    key,
    parts_of,
    place,
    record_in,
    row_of,
)

CHUNK = 4096


class KeyFeed:
    """``standfast.ports.Feed`` of one root, asked from another thread than the engine's.

    An engine without snapshots answers each question of the moment in which it is asked. What
    changed behind the stamps is noticed: then ``late`` is True, and the search is done again."""

    def __init__(self, engine: KeyEngine, root: str, loop: asyncio.AbstractEventLoop) -> None:
        self._engine = engine
        self._root = root
        self._loop = loop
        self._stamp = 0  # of the root, at the first question
        self.late = False

    def _ask(self, asks: Sequence[Ask]) -> list[Any]:
        reading = self._engine.read(self._root, asks)
        return asyncio.run_coroutine_threadsafe(_answers(reading), self._loop).result()

    def stamps(self, scopes: Sequence[str], below: Sequence[str], space: str) -> FeedStamps:
        named = list(scopes)
        if below:
            spans = [KeySpan(key("s", f"{one}:"), key("s", f"{one};"), bare=True) for one in below]
            found = self._ask(spans)
            named += [parts_of(at)[1] for pairs in found for at, _ in pairs]
            named = list(dict.fromkeys(named))
        stamps = [Get(key(".s", one)) for one in named]
        header, space_, *found = self._ask([Get(HEADER), Get(key(".d", space)), *stamps])
        known = Header.read(header)
        self._stamp = known.stamp
        return FeedStamps(
            {
                one: max(int(stamp), known.floor)
                for one, stamp in zip(named, found, strict=True)
                if stamp
            },
            int(space_.split()[0]) if space_ and space else None,
        )

    def changes(self, scope: str, after: int) -> FeedChanges:
        header, first, gone = self._ask(
            [
                Get(HEADER),
                _behind("c", scope, after, CHUNK),
                _behind("x", scope, after, 0)._replace(bare=True),
            ]
        )
        known = Header.read(header)
        if after < known.lost or not after:
            after, gone = 0, []
            first = self._ask([_behind("c", scope, 0, CHUNK)])[0]
        removed = [(int(stamp, 16), int(number, 16)) for stamp, number in map(_tail, gone)]
        self.late |= any(stamp > self._stamp for stamp, _ in removed)
        keys = [number for _, number in removed]
        return FeedChanges(self._rows("c", scope, first), keys if after else None)

    def _rows(self, kind: str, scope: str, first: Pairs) -> Iterator[Sequence[IndexRow]]:
        _, end = below(kind, scope)
        pairs = first
        while pairs:
            last = pairs[-1][0]
            self.late |= int(_tail((last, b""))[0], 16) > self._stamp
            yield [row_of(raw) for _, raw in pairs]
            if len(pairs) < CHUNK:
                return
            pairs = self._ask([KeySpan(last + b"\0", end, CHUNK)])[0]

    def vectors(
        self, scope: str, space: str, keys: Sequence[int] | None
    ) -> Iterable[Sequence[tuple[int, bytes]]]:
        if keys is not None:
            for start in range(0, len(keys), CHUNK):
                some = keys[start : start + CHUNK]
                found = self._ask([Get(key("q", space, scope, place(one))) for one in some])
                rows = [(one, raw) for one, raw in zip(some, found, strict=True) if raw]
                if rows:
                    yield rows
            return
        start_, end = below("q", space, scope)
        while pairs := self._ask([KeySpan(start_, end, CHUNK)])[0]:
            yield [(int(parts_of(at)[-1], 16), raw) for at, raw in pairs]
            if len(pairs) < CHUNK:
                return
            start_ = pairs[-1][0] + b"\0"

    def records(self, keys: Sequence[int], space: str) -> Mapping[int, FeedRecord]:
        asks = [Get(body_key(one)) for one in keys]
        if space:
            asks += [Get(key(".v", space, place(one))) for one in keys]
        answers = self._ask(asks) if asks else []
        bodies, vectors = answers[: len(keys)], answers[len(keys) :] or [None] * len(keys)
        self.late |= any(raw and changed_at(raw) > self._stamp for raw in bodies)
        return {
            one: LaterRecord(partial(record_in, raw), vector)
            for one, raw, vector in zip(keys, bodies, vectors, strict=True)
            if raw and is_sound_body(raw)
        }


async def _answers(reading: Any) -> list[Any]:
    return cast(list[Any], await reading)


def _behind(kind: str, scope: str, stamp: int, limit: int) -> KeySpan:
    _, end = below(kind, scope)
    return KeySpan(key(kind, scope, place(stamp + 1)), end, limit)


def _tail(pair: tuple[bytes, bytes]) -> tuple[str, str]:
    *_, stamp, number = parts_of(pair[0])
    return stamp, number
