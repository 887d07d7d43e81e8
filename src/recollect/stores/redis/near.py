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
from typing import Any, NamedTuple, cast

import numpy as np

from recollect.errors import Invalid
from recollect.index.codes import DURABILITIES, KINDS, SOURCES, STATUSES, TYPES, code, micros
from recollect.index.derived import TERM, hash_of, terms_blob
from recollect.index.filters import passes
from recollect.ports import NativeArms, NativeHit
from recollect.scopes import root_of
from recollect.stores.keyspace.engine import Get, KeyChanges, KeySpan, NearChange
from recollect.stores.keyspace.keys import body_key, key, place, sound_records, time_place
from recollect.stores.redis.engine import RedisEngine
from recollect.stores.redis.failures import speaking_of
from recollect.text import analysis
from recollect.types import Record, Search, Where

USUAL_WORDS = 16.0  # of a record, for choosing candidates
EF = 200  # how far a vector set is searched
LINKS = 16
MORE = 4  # times as many candidates as asked for, to begin with
MOST = 4096
POSTINGS_MAX = 60_000  # rare words first; enough is looked at for common ones
SAMPLED = 200
SAMPLE_SECONDS = 60.0
EXPIRED_MAX = 1000

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


class Sample(NamedTuple):
    taken: float
    size: int  # of the vector set
    records: list[Record]
    vectors: Any


class NearEngine(RedisEngine):
    """The engine that also searches; ``recollect.ports.NativeSearch``."""

    def __init__(self, client: Any, *, name: str, prefix: str, cluster: bool) -> None:
        super().__init__(client, name=name, prefix=prefix, cluster=cluster)
        self._samples: dict[tuple[str, str], Sample] = {}

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
        """How many records they have."""
        with speaking_of(self.name):
            async with self.client.pipeline(transaction=False) as pipe:
                for scope in scopes:
                    pipe.hget(self._totals(scope), "records")
                return sum(int(one or 0) for one in await pipe.execute())

    async def arms(self, asked: Search, terms: Sequence[str], scopes: Sequence[str]) -> NativeArms:
        """``scopes``: those that can be seen."""
        root = root_of(asked.where.scopes[0])
        counted = await self._counted(root, asked, terms, scopes)
        worded = await self._worded(root, asked, counted, scopes)
        near: list[NativeHit] = []
        sample: list[float] = []
        if asked.vector is not None:
            near = await self._nearest(root, asked, counted.sizes)
            sample = await self._sample(root, asked, counted.sizes)
        return NativeArms(
            by_word=worded,
            by_meaning=near,
            documents=counted.records,
            words=counted.words,
            frequencies=counted.frequencies,
            sample=sample,
        )

    async def _counted(
        self, root: str, asked: Search, terms: Sequence[str], scopes: Sequence[str]
    ) -> Counted:
        hashes = {term: hash_of(term) for term in terms}
        with speaking_of(self.name):
            async with self.client.pipeline(transaction=False) as pipe:
                for scope in scopes:
                    pipe.hmget(self._totals(scope), ["records", "words"])
                    pipe.execute_command("VCARD", self._vectors(scope, asked.space or "-"))
                    for hash_ in hashes.values():
                        pipe.zcard(self._word(scope, hash_))
                rest = iter(await pipe.execute())
        counted = Counted(hashes=hashes)
        for scope in scopes:
            records, words = next(rest)
            counted.records += int(records or 0)
            counted.words += int(words or 0)
            counted.sizes[scope] = int(next(rest) or 0)
            for term in terms:
                found = int(next(rest))
                counted.frequencies[term] = counted.frequencies.get(term, 0) + found
                counted.postings[scope, term] = found
        await self._without_expired(root, asked.where, set(scopes), counted)
        return counted

    async def _without_expired(
        self, root: str, where: Where, scopes: set[str], counted: Counted
    ) -> None:
        """What has expired and was not swept yet does not count."""
        until = key("w", time_place(where.now)) + b"\1"
        asked = KeySpan(b"w\0", until, EXPIRED_MAX, follow=True)
        pairs = cast(list[tuple[bytes, bytes]], (await self.read(root, [asked]))[0])
        for at, raw in pairs:
            if at.split(b"\0")[2] != b"r" or not raw:
                continue
            [record] = sound_records([raw])
            if record is not None and record.scope in scopes:
                found = analysis.document_terms(record.text, record.author)
                counted.records -= 1
                counted.words -= len(found)
                for term in set(found) & counted.frequencies.keys():
                    counted.frequencies[term] -= 1

    async def _worded(
        self, root: str, asked: Search, counted: Counted, scopes: Sequence[str]
    ) -> list[NativeHit]:
        rare = {
            term: analysis.idf(counted.records, count)
            for term, count in counted.frequencies.items()
            if count > 0
        }
        most = MORE * asked.limit + 16
        while rare:
            found = await self._best_words(counted, scopes, rare, most)
            hits = await self._hits(root, asked, found)
            passing = sum(passes(hit.record, asked.where) for hit in hits)
            if passing >= min(2 * asked.limit, len(found)) or len(found) < most or most >= MOST:
                return hits
            most *= 4
        return []

    async def _best_words(
        self,
        counted: Counted,
        scopes: Sequence[str],
        rare: Mapping[str, float],
        most: int,
    ) -> dict[int, float]:
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

    async def _nearest(self, root: str, asked: Search, sizes: Mapping[str, int]) -> list[NativeHit]:
        held = {scope: size for scope, size in sizes.items() if size}
        most = MORE * asked.limit + 16
        while held:
            found: dict[int, float] = {}
            with speaking_of(self.name):
                async with self.client.pipeline(transaction=False) as pipe:
                    for scope in held:
                        name = self._vectors(scope, asked.space)
                        pipe.execute_command(*_similar(name, asked, most))
                    for answer in await pipe.execute(raise_on_error=False):
                        found |= dict.fromkeys(_members(answer, asked), 0.0)
            hits = [
                one for one in await self._hits(root, asked, found) if one.similarity is not None
            ]
            hits.sort(key=lambda one: -(one.similarity or 0.0))
            passing = sum(passes(hit.record, asked.where) for hit in hits)
            full = len(found) < most and len(found) < sum(held.values())
            if passing >= asked.limit or most >= min(MOST, max(held.values())) or full:
                return hits
            most *= 4
        return []

    async def _sample(self, root: str, asked: Search, sizes: Mapping[str, int]) -> list[float]:
        similar: list[float] = []
        for scope, size in sizes.items():
            if size:
                sample = await self._sampled(root, scope, asked.space, size)
                chosen = [passes(record, asked.where) for record in sample.records]
                numbers = sample.vectors @ _numbers(asked)
                similar += numbers[np.array(chosen, dtype=bool)].tolist() if chosen else []
        return similar

    async def _sampled(self, root: str, scope: str, space: str, size: int) -> Sample:
        """Some records of the vector set, kept for a while where it is large."""
        known = self._samples.get((scope, space))
        if (
            known
            and known.size == size > SAMPLED
            and time.monotonic() - known.taken < SAMPLE_SECONDS
        ):
            return known
        with speaking_of(self.name):
            members = await self.client.execute_command(
                "VRANDMEMBER", self._vectors(scope, space), min(size, SAMPLED)
            )
        numbers = sorted(int(member, 16) for member in members or ())
        bodies, vectors = await self._rows(root, numbers, space)
        records = sound_records(bodies)
        pairs = [(one, row) for one, row in zip(records, vectors, strict=True) if one and row]
        sample = Sample(
            taken=time.monotonic(),
            size=size,
            records=[record for record, _ in pairs],
            vectors=np.array([np.frombuffer(row, "<f4") for _, row in pairs]),
        )
        if len(self._samples) > 1000:
            self._samples.clear()
        self._samples[scope, space] = sample
        return sample

    async def _rows(
        self, root: str, numbers: Sequence[int], space: str
    ) -> tuple[list[Any], list[Any]]:
        asks = [Get(body_key(one)) for one in numbers]
        if space:
            asks += [Get(key(".v", space, place(one))) for one in numbers]
        answers = await self.read(root, asks) if asks else []
        return answers[: len(numbers)], answers[len(numbers) :] or [None] * len(numbers)

    async def _hits(self, root: str, asked: Search, found: Mapping[int, float]) -> list[NativeHit]:
        space = asked.space if asked.vector is not None else ""
        bodies, vectors = await self._rows(root, list(found), space)
        wanted = _numbers(asked) if space else None
        hits: list[NativeHit] = []
        records = sound_records(bodies)
        for score, record, row in zip(found.values(), records, vectors, strict=True):
            if record is not None:
                similarity = None
                if row is not None and wanted is not None:
                    if len(row) != 4 * len(wanted):
                        raise Invalid("the query's vector has another length than the stored ones")
                    similarity = float(np.frombuffer(row, "<f4").astype("f8") @ wanted)
                hits.append(NativeHit(record, similarity, score))
        return hits

    async def turns(
        self, asked: Search, records: Sequence[tuple[int, Record]], reach: int
    ) -> Mapping[str, Sequence[NativeHit]]:
        """``records``: the turns, with their numbers."""
        root = root_of(asked.where.scopes[0])
        with speaking_of(self.name):
            async with self.client.pipeline(transaction=False) as pipe:
                for number, record in records:
                    pipe.zrank(self._talk(record), place(number))
                ranks = await pipe.execute()
            async with self.client.pipeline(transaction=False) as pipe:
                for (_, record), rank in zip(records, ranks, strict=True):
                    # What has expired stands between them and is left out: look a little further.
                    low, high = max(0, (rank or 0) - 2 * reach), (rank or 0) + 2 * reach
                    pipe.zrange(self._talk(record), low, high)
                talks = await pipe.execute()
        numbers = {int(member, 16): 0.0 for talk in talks for member in talk}
        hits = await self._hits_by_number(root, asked, numbers)
        found: dict[str, Sequence[NativeHit]] = {}
        for (number, record), talk in zip(records, talks, strict=True):
            there = [int(member, 16) for member in talk]
            alive = [
                one for one in there if one in hits and not _is_over(hits[one].record, asked.where)
            ]
            if number in alive:
                at = alive.index(number)
                near = alive[max(0, at - reach) : at + reach + 1]
                found[record.id] = [hits[one] for one in near]
        return found

    async def _hits_by_number(
        self, root: str, asked: Search, numbers: Mapping[int, float]
    ) -> dict[int, NativeHit]:
        hits = await self._hits(root, asked, numbers)
        ids = [Get(key(".i", hit.record.id)) for hit in hits]
        answers = await self.read(root, ids) if ids else []
        places = [int(cast(bytes, raw).rpartition(b"\0")[2], 16) if raw else 0 for raw in answers]
        return dict(zip(places, hits, strict=True))


class Counted:
    """What is known about the words of a search."""

    def __init__(self, hashes: Mapping[str, int]) -> None:
        self.hashes = hashes
        self.records = 0
        self.words = 0
        self.sizes: dict[str, int] = {}  # of the vector sets, by scope
        self.frequencies: dict[str, int] = {}
        self.postings: dict[tuple[str, str], int] = {}  # by scope and term


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


def _numbers(asked: Search) -> Any:
    assert asked.vector is not None
    return np.frombuffer(asked.vector, "<f4").astype("f8")


def _rarest(rare: Mapping[str, float], counted: Counted, scope: str) -> list[str]:
    """Rare words first, until enough is looked at."""
    held = sorted((counted.postings[scope, term], term) for term in rare)
    chosen: list[str] = []
    looked = 0
    for size, term in held:
        if size and (not chosen or looked + size <= POSTINGS_MAX):
            chosen.append(term)
            looked += size
    return chosen


def _is_over(record: Record, where: Where) -> bool:
    return record.expires_at is not None and record.expires_at <= where.now
