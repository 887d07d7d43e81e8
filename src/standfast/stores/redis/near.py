"""Search by Redis itself: a vector set for each scope and space, a sorted set for each word of one.

They are written by the same script as the keys, so they are never behind. Words are 64-bit hashes,
as in the search index of a process. A score of a word is what BM25 gives it in a record of that
length where records have the usual one: good for choosing candidates; their scores are then
computed exactly.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from standfast.errors import Invalid
from standfast.index.codes import DURABILITIES, KINDS, SOURCES, STATUSES, TYPES, code, micros
from standfast.index.derived import TERM, hash_of, terms_blob
from standfast.scopes import root_of
from standfast.stores.keyspace.engine import KeyChanges, NearChange
from standfast.stores.keyspace.keys import place
from standfast.stores.keyspace.near import Counted
from standfast.stores.redis.engine import RedisEngine
from standfast.stores.redis.failures import speaking_of
from standfast.text import analysis
from standfast.types import Record, Search, Where

USUAL_WORDS = 16.0  # of a record, for choosing candidates
EF = 200  # how far a vector set is searched
LINKS = 16
POSTINGS_MAX = 60_000  # rare words first; enough is looked at for common ones

# KEYS: a key to be used and dropped, then those of the words. ARGV: how many, then weights.
BEST_WORDS = """
local args = {'ZUNIONSTORE', KEYS[1], #KEYS - 1}
for i = 2, #KEYS do args[#args + 1] = KEYS[i] end
args[#args + 1] = 'WEIGHTS'
for i = 2, #KEYS do args[#args + 1] = ARGV[i] end
redis.call(unpack(args))
local found = redis.call('ZREVRANGE', KEYS[1], 0, ARGV[1] - 1, 'WITHSCORES')
redis.call('DEL', KEYS[1])
return found
"""


class NearEngine(RedisEngine):
    """The engine that also searches; ``standfast.stores.keyspace.near.SearchingEngine``."""

    # Names

    def _vectors(self, scope: str, space: str) -> str:
        return self.tagged(root_of(scope), f"near\0{space}\0{scope}")

    def _word(self, scope: str, hash_: int) -> str:
        return self.tagged(root_of(scope), f"word\0{scope}\0{hash_:x}")

    def _totals(self, scope: str) -> str:
        return self.tagged(root_of(scope), f"words\0{scope}")

    def _talk(self, record: Record) -> str:
        parts = (record.scope, record.session_scope, record.session)
        return self.tagged(root_of(record.scope), "\0".join(("talk", *parts)))

    # Writing

    def _near(self, root: str, changes: KeyChanges) -> Iterator[Any]:  # noqa: ARG002
        for scope in changes.scopes_gone:
            yield from _command("DEL", self._vectors(scope, changes.space_gone))
        for one in changes.near:
            for command in self._commands(one):
                yield from _command(*command)

    def _commands(self, one: NearChange) -> Iterator[tuple[Any, ...]]:
        member = place(one.number)
        if one.new is None:
            if one.old is not None:
                yield from self._dropped(one.old, member, one.spaces)
            return
        assert one.row is not None
        if one.old is None:
            yield from self._added(one.new, member, one.row.words, one.row.terms)
        if one.new.type == "turn" and one.new.session:
            yield ("ZADD", self._talk(one.new), micros(one.new.at), member)
        attributes = json.dumps(_attributes(one.new), separators=(",", ":"))
        for space in one.spaces:
            if space not in one.vectors:
                yield ("VSETATTR", self._vectors(one.new.scope, space), member, attributes)
        for space, vector in one.vectors.items():
            name = self._vectors(one.new.scope, space)
            yield (
                "VADD", name, "FP32", vector, member, "Q8", "EF", EF, "SETATTR", attributes,
                "M", LINKS,
            )  # fmt: skip

    def _added(
        self, record: Record, member: str, words: int, terms: bytes
    ) -> Iterator[tuple[Any, ...]]:
        totals = self._totals(record.scope)
        yield ("HINCRBY", totals, "records", 1)
        yield ("HINCRBY", totals, "words", words)
        for hash_, count in np.frombuffer(terms, dtype=TERM).tolist():
            score = analysis.bm25(1.0, count, words, USUAL_WORDS)
            yield ("ZADD", self._word(record.scope, hash_), score, member)

    def _dropped(
        self, record: Record, member: str, spaces: Sequence[str]
    ) -> Iterator[tuple[Any, ...]]:
        words, terms = terms_blob(record.text, record.author)
        totals = self._totals(record.scope)
        yield ("HINCRBY", totals, "records", -1)
        yield ("HINCRBY", totals, "words", -words)
        for hash_, _ in np.frombuffer(terms, dtype=TERM).tolist():
            yield ("ZREM", self._word(record.scope, hash_), member)
        for space in spaces:
            yield ("VREM", self._vectors(record.scope, space), member)
        if record.type == "turn" and record.session:
            yield ("ZREM", self._talk(record), member)

    # Searching

    async def size(self, scopes: Sequence[str]) -> int:
        with speaking_of(self.name):
            async with self.client.pipeline(transaction=False) as pipe:
                for scope in scopes:
                    pipe.hget(self._totals(scope), "records")
                return sum(int(one or 0) for one in await pipe.execute())

    async def counted(
        self, space: str, terms: Sequence[str], scopes: Sequence[str]
    ) -> RedisCounted:
        counted = RedisCounted(terms)
        with speaking_of(self.name):
            async with self.client.pipeline(transaction=False) as pipe:
                for scope in scopes:
                    pipe.hmget(self._totals(scope), ["records", "words"])
                    pipe.execute_command("VCARD", self._vectors(scope, space or "-"))
                    for hash_ in counted.hashes.values():
                        pipe.zcard(self._word(scope, hash_))
                rest = iter(await pipe.execute())
        for scope in scopes:
            records, words = next(rest)
            counted.records += int(records or 0)
            counted.words += int(words or 0)
            counted.sizes[scope] = int(next(rest) or 0)
            for term in terms:
                found = int(next(rest))
                counted.frequencies[term] = counted.frequencies.get(term, 0) + found
                counted.postings[scope, term] = found
        return counted

    async def best_words(
        self, counted: Counted, scopes: Sequence[str], rare: Mapping[str, float], most: int
    ) -> dict[int, float]:
        assert isinstance(counted, RedisCounted)
        async with self.client.pipeline(transaction=False) as pipe:
            looked = 0
            for scope in scopes:
                terms = _rarest(rare, counted, scope)
                if not terms:
                    continue
                looked += 1
                names = [self._word(scope, counted.hashes[term]) for term in terms]
                scratch = self.tagged(root_of(scope), f"scratch\0{time.monotonic_ns()}\0{looked}")
                await self.script(
                    pipe, BEST_WORDS, [scratch, *names], [most, *(rare[term] for term in terms)]
                )
            with speaking_of(self.name):
                answers = await pipe.execute() if looked else []
        scored = {
            int(member, 16): float(score)
            for answer in answers
            for member, score in zip(answer[::2], answer[1::2], strict=True)
        }
        best = sorted(scored.items(), key=lambda one: (-one[1], one[0]))[:most]
        return dict(best)

    async def nearest(self, asked: Search, sizes: Mapping[str, int], most: int) -> list[int]:
        found: list[int] = []
        with speaking_of(self.name):
            async with self.client.pipeline(transaction=False) as pipe:
                for scope in sizes:
                    name = self._vectors(scope, asked.space)
                    pipe.execute_command(*_similar(name, asked, most))
                for answer in await pipe.execute(raise_on_error=False):
                    found += _members(answer, asked)
        return found

    async def some(self, scope: str, space: str, most: int) -> list[int]:
        with speaking_of(self.name):
            members = await self.client.execute_command(
                "VRANDMEMBER", self._vectors(scope, space), most
            )
        return [int(member, 16) for member in members or ()]

    async def talks(self, turns: Sequence[tuple[int, Record]], reach: int) -> list[list[int]]:
        with speaking_of(self.name):
            async with self.client.pipeline(transaction=False) as pipe:
                for number, record in turns:
                    pipe.zrank(self._talk(record), place(number))
                ranks = await pipe.execute()
            async with self.client.pipeline(transaction=False) as pipe:
                for (_, record), rank in zip(turns, ranks, strict=True):
                    low, high = max(0, (rank or 0) - reach), (rank or 0) + reach
                    pipe.zrange(self._talk(record), low, high)
                found = await pipe.execute()
        return [[int(member, 16) for member in talk] for talk in found]


class RedisCounted(Counted):
    """With the length of every posting list, by scope and term."""

    def __init__(self, terms: Sequence[str]) -> None:
        super().__init__()
        self.hashes = {term: hash_of(term) for term in terms}
        self.postings: dict[tuple[str, str], int] = {}


def _command(*parts: Any) -> Iterator[Any]:
    yield len(parts)
    yield from parts


def _attributes(record: Record) -> dict[str, int]:
    return {
        "kind": code(KINDS, record.kind),
        "type": code(TYPES, record.type),
        "status": code(STATUSES, record.status),
        "source": code(SOURCES, record.source),
        "durability": code(DURABILITIES, record.durability),
    }


def _filter(where: Where) -> str:
    """What a vector set can decide; the rest is seen in the records."""
    parts: list[tuple[str, Sequence[str], Sequence[str]]] = [
        ("kind", KINDS, where.kinds),
        ("type", TYPES, where.types),
        ("source", SOURCES, where.sources),
        ("durability", DURABILITIES, where.durabilities),
    ]
    if where.as_of is None and where.known_at is None:
        parts.append(("status", STATUSES, where.statuses))
    return " and ".join(
        f".{name} in [{', '.join(str(code(names, one)) for one in wanted)}]"
        for name, names, wanted in parts
        if wanted
    )


def _similar(name: str, asked: Search, most: int) -> list[Any]:
    command: list[Any] = ["VSIM", name, "FP32", asked.vector, "COUNT", most, "EF", max(EF, most)]
    chosen = _filter(asked.where)
    if chosen:
        command += ["FILTER", chosen, "FILTER-EF", max(20_000, 10 * most)]
    return command


def _members(answer: Any, asked: Search) -> Iterable[int]:
    if isinstance(answer, Exception):
        if "dimension" in str(answer).lower():
            raise Invalid(f"the query's vector has another length than those of {asked.space!r}")
        raise answer
    return [int(member, 16) for member in answer or ()]


def _rarest(rare: Mapping[str, float], counted: RedisCounted, scope: str) -> list[str]:
    """Rare words first, until enough is looked at."""
    held = sorted((counted.postings[scope, term], term) for term in rare)
    chosen: list[str] = []
    looked = 0
    for size, term in held:
        if size and (not chosen or looked + size <= POSTINGS_MAX):
            chosen.append(term)
            looked += size
    return chosen
