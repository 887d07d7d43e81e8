"""Search by SurrealDB itself: an HNSW index for each large scope and space, and words as keys.

An index has one number of dimensions and knows nothing about scopes, and a condition beside it
loses most of what it should find: so each (root, scope, space) has a table of its own, made when
it is first searched and large enough to be worth it. Smaller scopes are compared vector by vector.
The engine's full text search has no usable scores (negative ones, in version 2), so words are
postings of our own. Both are written in the same block as the keys, as far as they reach:

| key | value |
|---|---|
| .h space scope | up to which record its table holds the vectors |
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any

import numpy as np
from surrealdb import RecordID

from standfast.errors import Invalid
from standfast.index.feed import index_row
from standfast.scopes import root_of
from standfast.stores.keyspace.engine import Get, KeyChanges, KeySpan, NearChange
from standfast.stores.keyspace.keys import (
    HEADER,
    Header,
    below,
    body_key,
    body_of,
    key,
    parts_of,
    place,
    span,
)
from standfast.stores.keyspace.near import Counted, numbers_of
from standfast.stores.keyspace.rewrite import raised
from standfast.stores.keyspace.words import (
    ALL,
    REACHED,
    WordCounted,
    WordKeys,
    reached,
    reached_in,
    talk_asks,
    talk_numbers,
)
from standfast.stores.surreal.engine import Statements, SurrealEngine
from standfast.stores.surreal.tables import floats
from standfast.types import Record, Search

TABLE_ABOVE = 1000  # records of a scope, from which on it has a table of vectors
EF = 150  # how far a table is searched
WALKED_MAX = 4000  # numbers, from which a sample is drawn by reading all
WORDS_AT_ONCE = 100
VECTORS_AT_ONCE = 32  # what a step of building waits for, and others with it
_INDEX = (
    "DEFINE INDEX IF NOT EXISTS near ON {} FIELDS e HNSW DIMENSION {} DIST COSINE TYPE F32"
    " EFC 64 M 8"
)


class SurrealNear(SurrealEngine):
    """The engine that also searches; ``standfast.stores.keyspace.near.SearchingEngine``.
    ``begins``: the words of a new root are kept from its first record on."""

    table_above = TABLE_ABOVE

    def __init__(
        self,
        db: Any,
        *,
        name: str,
        alone: bool,
        begins: bool,
        again: Callable[[], Awaitable[Any]] | None = None,
    ) -> None:
        super().__init__(db, name=name, alone=alone, again=again)
        self._begins = begins
        self._quiet: set[str] = set()  # roots of which nothing is kept, as long as we are alone
        self.wanted: dict[tuple[str, str, str], None] = {}  # root, space, scope: tables to build

    # Writing

    async def _write(self, root: str, changes: KeyChanges, also: Statements) -> bool:
        dropped: list[str] = []
        if changes.near or changes.scopes_gone:
            changes, dropped = await self._with_near(root, changes, also)
        done = await super()._write(root, changes, also)
        if done:
            for table in dropped:  # its key is gone, so nobody asks it any more
                await self.ask(f"REMOVE TABLE IF EXISTS {table}")
        return done

    async def _with_near(
        self, root: str, changes: KeyChanges, also: Statements
    ) -> tuple[KeyChanges, list[str]]:
        """The changes with those of words and vectors, and tables that are no more."""
        if root in self._quiet:
            return changes, []
        ops: dict[bytes, bytes | None] = {}
        places = _places(changes)
        raw, *states = await self._read(
            root, [Get(REACHED), *(Get(key(".h", *one)) for one in places)]
        )
        reach = reached_in(raw)
        if self._begins and changes.expected.get(HEADER, b"") is None:
            ops[REACHED], reach = reached(ALL), ALL
        tables = {one: reached_in(state) for one, state in zip(places, states, strict=True)}
        if reach:
            words = WordKeys([one for one in changes.near if one.number <= reach])
            ops |= words.made(await self._read(root, words.asks) if words.asks else [])
        elif self._alone and not any(tables.values()):
            self._quiet.add(root)
        _vector_statements(root, changes.near, tables, also)
        gone = [(changes.space_gone, scope) for scope in changes.scopes_gone]
        dropped = [table_of(root, *one) for one in gone if tables.get(one)]
        ops |= {key(".h", *one): None for one in gone if tables.get(one)}
        return _with(changes, ops), dropped

    # Building what is searched

    async def build(self, root: str, space: str, scope: str) -> bool:
        """Some more words of a root, or vectors of a scope if they are named. True: that was all.
        Nothing of it is lost if it never goes on."""
        async with self.turn():
            self._quiet.discard(root)
            if scope:
                return await self._build_table(root, space, scope)
            return await self._build_words(root)

    async def _build_words(self, root: str) -> bool:
        raw, state = await self._read(root, [Get(HEADER), Get(REACHED)])
        header, reach = Header.read(raw), reached_in(state)  # type: ignore[arg-type]
        if reach == ALL or not header.made:
            return True
        numbers = range(reach + 1, min(header.made, reach + WORDS_AT_ONCE) + 1)
        bodies = await self._read(root, [Get(body_key(one)) for one in numbers])
        found = [body_of(one) for one in bodies if isinstance(one, bytes)]
        words = WordKeys(
            [
                NearChange(number=one.number, new=one.record, row=index_row(one.number, one.record))
                for one in found
            ]
        )
        ops = words.made(await self._read(root, words.asks) if words.asks else [])
        done = numbers[-1] == header.made
        ops[REACHED] = reached(ALL if done else numbers[-1])
        return await self._step(root, raw, ops, Statements()) and done

    async def _build_table(self, root: str, space: str, scope: str) -> bool:
        at = key(".h", space, scope)
        raw, state = await self._read(root, [Get(HEADER), Get(at)])
        reach = reached_in(state)
        if reach == ALL:
            return True
        start, end = key("q", space, scope, place(reach + 1)), below("q", space, scope)[1]
        some = KeySpan(start, end, VECTORS_AT_ONCE, bare=True)
        [pairs] = await self._read(root, [some])
        numbers = _numbers(pairs)
        vectors = await self._read(root, [Get(key(".v", space, place(one))) for one in numbers])
        rows = [_row(*one) for one in zip(numbers, vectors, strict=True) if one[1]]
        table, also = table_of(root, space, scope), Statements()
        if rows:
            await self.ask(f"DEFINE TABLE IF NOT EXISTS {table} SCHEMALESS")
            await self.ask(_INDEX.format(table, len(rows[0]["e"])))
            also.lines.append(_put(table, "built"))
            also.given["built"] = rows
        done = len(numbers) < VECTORS_AT_ONCE
        ops: dict[bytes, bytes | None] = {at: reached(ALL if done else numbers[-1])}
        return await self._step(root, raw, ops, also) and done

    async def _step(
        self, root: str, raw: Any, ops: dict[bytes, bytes | None], also: Statements
    ) -> bool:
        """A write that changes the header, so that no other one misses it."""
        ops = {**ops, HEADER: raised(Header.read(raw)).written()}
        changes = _with(KeyChanges(expected={HEADER: raw}), ops)
        return await super()._write(root, changes, also)

    # Searching

    async def size(self, scopes: Sequence[str]) -> int:
        if not scopes:
            return 0
        counted = await self.counted("", (), scopes)
        return counted.records

    async def counted(self, space: str, terms: Sequence[str], scopes: Sequence[str]) -> WordCounted:  # noqa: ARG002
        counted = WordCounted(terms)
        if scopes:
            asks = counted.asks(scopes)
            counted.take(scopes, await self.read(root_of(scopes[0]), asks))
        return counted

    async def best_words(
        self,
        counted: Counted,
        scopes: Sequence[str],  # noqa: ARG002
        rare: Mapping[str, float],
        most: int,
    ) -> dict[int, float]:
        assert isinstance(counted, WordCounted)
        return counted.best(rare, most)

    async def nearest(self, asked: Search, sizes: Mapping[str, int], most: int) -> list[int]:
        root, scopes = root_of(asked.where.scopes[0]), list(sizes)
        states = await self.read(root, [Get(key(".h", asked.space, one)) for one in scopes])
        tables = [one for one, raw in zip(scopes, states, strict=True) if reached_in(raw) == ALL]
        rest = [scope for scope in scopes if scope not in tables]
        for scope in rest:
            if sizes[scope] >= self.table_above:
                self.wanted[root, asked.space, scope] = None
        found = await self._in_tables(root, asked, tables, most) if tables else []
        spans = [span("q", asked.space, scope) for scope in rest]
        for pairs in await self.read(root, spans) if spans else []:
            found += _compared(pairs, asked, most)
        return found

    async def _in_tables(
        self, root: str, asked: Search, scopes: Sequence[str], most: int
    ) -> list[int]:
        parts = [
            f"(SELECT VALUE id[0] FROM {table_of(root, asked.space, scope)}"
            f" WHERE e <|{most},{max(EF, most)}|> $q)"
            for scope in scopes
        ]
        async with self.turn():
            try:
                answers = await self.ask(
                    f"RETURN [{', '.join(parts)}]", {"q": numbers_of(asked).tolist()}
                )
            except Exception as error:
                if "vector dimension" in str(error.__cause__ or error):
                    raise _other_length(asked) from error
                raise
        return [number for answer in answers for number in answer]

    async def some(self, scope: str, space: str, most: int) -> list[int]:
        root = root_of(scope)
        start, end = below("q", space, scope)
        head, tail = await self.read(
            root,
            [
                KeySpan(start, end, most + 1, bare=True),
                KeySpan(start, end, 1, newest=True, bare=True),
            ],
        )
        first, last = _numbers(head), _numbers(tail)
        if len(first) <= most:
            return first
        chance = random.Random(scope)  # whichever, but always the same
        if last[0] - first[0] < WALKED_MAX:
            spans = [KeySpan(start, end, bare=True)]
        else:  # a few behind each of many places
            spans = [
                KeySpan(key("q", space, scope, place(one)), end, 4, bare=True)
                for one in chance.sample(range(first[0], last[0] + 1), most)
            ]
        found = {one for pairs in await self.read(root, spans) for one in _numbers(pairs)}
        return chance.sample(sorted(found), min(most, len(found)))

    async def talks(self, turns: Sequence[tuple[int, Record]], reach: int) -> list[list[int]]:
        if not turns:
            return []
        asks = [ask for number, record in turns for ask in talk_asks(number, record, reach)]
        answers = await self.read(root_of(turns[0][1].scope), asks)
        sides = [talk_numbers(pairs or ()) for pairs in answers]  # type: ignore[arg-type]
        return [
            before[::-1] + behind for before, behind in zip(sides[::2], sides[1::2], strict=True)
        ]


def table_of(root: str, space: str, scope: str) -> str:
    """Names have no room for all characters, so it is a digest."""
    return "near_" + blake2b("\0".join((root, space, scope)).encode(), digest_size=16).hexdigest()


def _number(at: bytes) -> int:
    return int(parts_of(at)[-1], 16)


def _numbers(pairs: Any) -> list[int]:
    return [_number(at) for at, _ in pairs or ()]


def _places(changes: KeyChanges) -> list[tuple[str, str]]:
    """Space and scope of every table that these changes may concern."""
    found = {(changes.space_gone, scope): None for scope in changes.scopes_gone}
    for one in changes.near:
        record = one.new or one.old
        if record is not None:
            found |= dict.fromkeys((space, record.scope) for space in (*one.spaces, *one.vectors))
    return list(found)


def _vector_statements(
    root: str, near: Iterable[NearChange], tables: Mapping[tuple[str, str], int], also: Statements
) -> None:
    gone: list[RecordID] = []
    rows: dict[str, list[dict[str, Any]]] = {}
    for one in near:
        record = one.new or one.old
        assert record is not None
        for space in one.spaces if one.new is None else ():
            if tables.get((space, record.scope)):
                gone.append(RecordID(table_of(root, space, record.scope), [one.number]))
        for space, vector in one.vectors.items() if one.new is not None else ():
            if tables.get((space, record.scope), 0) >= one.number:
                table = table_of(root, space, record.scope)
                rows.setdefault(table, []).append(_row(one.number, vector))
    if gone:
        also.given["vectors_gone"] = gone
        also.lines.append("DELETE $vectors_gone;")
    for place_, (table, held) in enumerate(rows.items()):
        also.given[f"vectors{place_}"] = held
        also.lines.append(_put(table, f"vectors{place_}"))


def _row(number: int, vector: Any) -> dict[str, Any]:
    return {"id": [number], "e": floats(vector)}


def _put(table: str, name: str) -> str:
    return f"INSERT INTO {table} ${name} ON DUPLICATE KEY UPDATE e = $input.e RETURN NONE;"


def _with(changes: KeyChanges, ops: Mapping[bytes, bytes | None]) -> KeyChanges:
    puts = {at: value for at, value in ops.items() if value is not None}
    gone = [at for at, value in ops.items() if value is None]
    return replace(changes, puts={**changes.puts, **puts}, gone=[*changes.gone, *gone])


def _compared(pairs: Any, asked: Search, most: int) -> list[int]:
    """The nearest by their small vectors, which are scale and bytes."""
    if not pairs:
        return []
    wanted = numbers_of(asked)
    if any(len(raw) != 4 + len(wanted) for _, raw in pairs):
        raise _other_length(asked)
    held = np.frombuffer(b"".join(raw for _, raw in pairs), dtype=np.uint8)
    held = held.reshape(len(pairs), 4 + len(wanted))
    scales = held[:, :4].copy().view("<f4")[:, 0]
    near = (held[:, 4:].view(np.int8) @ wanted.astype("f4")) * scales
    best = np.argsort(-near, kind="stable")[:most]
    return [_number(pairs[one][0]) for one in best.tolist()]


def _other_length(asked: Search) -> Invalid:
    return Invalid(f"the query's vector has another length than those of {asked.space!r}")
