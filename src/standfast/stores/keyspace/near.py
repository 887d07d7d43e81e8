"""Search by an engine of sorted keys itself: it names candidates, their scores are computed here.

What engines differ in is how they know words and neighbours: ``SearchingEngine``. Everything else,
how many candidates are enough, what has expired meanwhile, a sample of the similarities, is here.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, cast

import numpy as np

from standfast.errors import Invalid
from standfast.index import native
from standfast.index.filters import check_asked, passes
from standfast.ports import NativeArms, NativeHit, NativeHits
from standfast.scopes import root_of
from standfast.stores.keyspace.engine import Get, KeyEngine, KeySpan
from standfast.stores.keyspace.keys import (
    HEADER,
    Header,
    body_key,
    body_of,
    key,
    place,
    sound_records,
    time_place,
)
from standfast.stores.keyspace.store import KeyStore
from standfast.text import analysis
from standfast.types import Hit, Record, Search, Where

NATIVE_ABOVE = 50_000  # records that can be seen
SEARCHES = ("exact", "native", "both")
MORE = 4  # times as many candidates as asked for, to begin with
MOST = 4096
SAMPLED = 200
SAMPLE_SECONDS = 60.0
SAMPLES_MAX = 10_000
EXPIRED_MAX = 1000


class Sample(NamedTuple):
    taken: float
    size: int  # of what it was taken from
    most: int
    records: list[Record]
    vectors: Any


class Counted:
    """What is known about the words of a search."""

    def __init__(self) -> None:
        self.records = 0
        self.words = 0
        self.sizes: dict[str, int] = {}  # by scope: at least as many vectors as there are
        self.frequencies: dict[str, int] = {}


class SearchingEngine(KeyEngine, Protocol):
    """An engine that also searches. Records are known to it by their numbers."""

    async def size(self, scopes: Sequence[str]) -> int:
        """How many records they have."""
        ...

    async def counted(self, space: str, terms: Sequence[str], scopes: Sequence[str]) -> Counted: ...

    async def best_words(
        self, counted: Counted, scopes: Sequence[str], rare: Mapping[str, float], most: int
    ) -> dict[int, float]:
        """So many of the best by these terms and their weights, by a measure of its own."""
        ...

    async def nearest(self, asked: Search, sizes: Mapping[str, int], most: int) -> Collection[int]:
        """About so many of the nearest in each of these scopes. Invalid: a vector of another
        length than theirs."""
        ...

    async def some(self, scope: str, space: str, most: int) -> Sequence[int]:
        """So many records with a vector, chosen by chance; all, if there are fewer."""
        ...

    async def talks(
        self, turns: Sequence[tuple[int, Record]], reach: int
    ) -> Sequence[Sequence[int]]:
        """For each of these turns with its number: its conversation, so far before and behind it,
        in the order of time."""
        ...


class NearStore(KeyStore):
    """``standfast.ports.Store`` over an engine that searches, where ``capabilities.search`` says
    so; ``native_above``: under "both", where so many records can be seen."""

    near: NearSearch
    native_above = NATIVE_ABOVE

    async def search(self, asked: Search) -> Sequence[Hit]:
        self._check()
        if await self._is_native(asked):
            return NativeHits(await native.search(self, asked))
        return await super().search(asked)

    async def _is_native(self, asked: Search) -> bool:
        if asked.where.matching:
            return False  # what stands in a record's data it cannot find by itself
        if self.capabilities.search != "both" or not check_asked(asked):
            return self.capabilities.search == "native"
        root = root_of(asked.where.scopes[0])
        [raw] = await self._read(root, [Get(HEADER)])
        if Header.read(raw).made < self.native_above:
            return False
        scopes = await self._visible(root, asked.where)
        return await self.near.engine.size(scopes) >= self.native_above

    async def arms(self, asked: Search, terms: Sequence[str]) -> NativeArms:
        scopes = await self._visible(root_of(asked.where.scopes[0]), asked.where)
        return await self.near.arms(asked, terms, scopes)

    async def turns(
        self, asked: Search, ids: Sequence[str], reach: int
    ) -> Mapping[str, Sequence[NativeHit]]:
        root = root_of(asked.where.scopes[0])
        answers = await self._read(root, [Get(key(".i", id_), follow=True) for id_ in ids])
        bodies = [body_of(raw) for raw in answers if raw]
        return await self.near.turns(asked, [(body.number, body.record) for body in bodies], reach)


class NearSearch:
    """``standfast.ports.NativeSearch``, with scopes that were looked up already."""

    def __init__(self, engine: SearchingEngine) -> None:
        self.engine = engine
        self._samples: dict[tuple[str, str], Sample] = {}

    async def arms(self, asked: Search, terms: Sequence[str], scopes: Sequence[str]) -> NativeArms:
        """``scopes``: those that can be seen."""
        root = root_of(asked.where.scopes[0])
        counted = await self.engine.counted(asked.space, terms, scopes)
        await self._without_expired(root, asked.where, set(scopes), counted)
        seen: dict[int, NativeHit] = {}
        worded = await self._worded(root, asked, counted, scopes, seen)
        near: list[NativeHit] = []
        sample: list[float] = []
        if asked.vector is not None:
            near = await self._nearest(root, asked, counted.sizes, seen)
            sample = await self._sample(root, asked, counted.sizes)
        return NativeArms(
            by_word=worded,
            by_meaning=near,
            documents=counted.records,
            words=counted.words,
            frequencies=counted.frequencies,
            sample=sample,
        )

    async def _without_expired(
        self, root: str, where: Where, scopes: set[str], counted: Counted
    ) -> None:
        """What has expired and was not swept yet does not count."""
        until = key("w", time_place(where.now)) + b"\1"
        asked = KeySpan(b"w\0", until, EXPIRED_MAX, follow=True)
        pairs = cast(list[tuple[bytes, bytes]], (await self.engine.read(root, [asked]))[0])
        for at, raw in pairs:
            if at.split(b"\0")[2] != b"r" or not raw:
                continue
            [record] = sound_records([raw])
            if record is not None and record.scope in scopes:
                found = analysis.document_terms(record.text, record.author)
                counted.records -= 1
                counted.words -= analysis.length_of(found)
                for term in set(found) & counted.frequencies.keys():
                    counted.frequencies[term] -= 1

    async def _worded(
        self,
        root: str,
        asked: Search,
        counted: Counted,
        scopes: Sequence[str],
        seen: dict[int, NativeHit],
    ) -> list[NativeHit]:
        rare = {
            term: analysis.idf(counted.records, count)
            for term, count in counted.frequencies.items()
            if count > 0
        }
        most = MORE * asked.limit + 16
        while rare:
            found = await self.engine.best_words(counted, scopes, rare, most)
            read = await self._hits(root, asked, found, seen)
            hits = [hit._replace(keyword=found[number]) for number, hit in read.items()]
            passing = sum(passes(hit.record, asked.where) for hit in hits)
            if passing >= min(2 * asked.limit, len(found)) or len(found) < most or most >= MOST:
                return hits
            most *= 4
        return []

    async def _nearest(
        self, root: str, asked: Search, sizes: Mapping[str, int], seen: dict[int, NativeHit]
    ) -> list[NativeHit]:
        held = {scope: size for scope, size in sizes.items() if size}
        most = MORE * asked.limit + 16
        while held:
            found = set(await self.engine.nearest(asked, held, most))
            read = await self._hits(root, asked, found, seen)
            hits = [one for one in read.values() if one.similarity is not None]
            hits.sort(key=lambda one: -(one.similarity or 0.0))
            passing = sum(passes(hit.record, asked.where) for hit in hits)
            full = len(found) < most and len(found) < sum(held.values())
            if passing >= asked.limit or most >= min(MOST, max(held.values())) or full:
                return hits
            most *= 4
        return []

    async def _sample(self, root: str, asked: Search, sizes: Mapping[str, int]) -> list[float]:
        """Of every scope its share; of all records, if they are few."""
        similar: list[float] = []
        total = sum(sizes.values())
        for scope, size in sizes.items():
            if size:
                most = size if total <= SAMPLED else -(-SAMPLED * size // total)
                sample = await self._sampled(root, scope, asked.space, size, most)
                chosen = [passes(record, asked.where) for record in sample.records]
                if chosen:
                    numbers = sample.vectors @ numbers_of(asked)
                    similar += numbers[np.array(chosen, dtype=bool)].tolist()
        return similar

    async def _sampled(self, root: str, scope: str, space: str, size: int, most: int) -> Sample:
        """So many records of the scope, kept for a while if there are more."""
        known = self._samples.get((scope, space))
        if (
            known
            and (known.size, known.most) == (size, most)
            and size > most
            and time.monotonic() - known.taken < SAMPLE_SECONDS
        ):
            return known
        numbers = sorted(await self.engine.some(scope, space, most))
        bodies, vectors = await self._rows(root, numbers, space)
        records = sound_records(bodies)
        pairs = [(one, row) for one, row in zip(records, vectors, strict=True) if one and row]
        sample = Sample(
            taken=time.monotonic(),
            size=size,
            most=most,
            records=[record for record, _ in pairs],
            vectors=np.array([np.frombuffer(row, "<f4") for _, row in pairs]),
        )
        if len(self._samples) > SAMPLES_MAX:
            self._samples.clear()
        self._samples[scope, space] = sample
        return sample

    async def _rows(
        self, root: str, numbers: Sequence[int], space: str
    ) -> tuple[list[Any], list[Any]]:
        asks = [Get(body_key(one)) for one in numbers]
        if space:
            asks += [Get(key(".v", space, place(one))) for one in numbers]
        answers = await self.engine.read(root, asks) if asks else []
        return answers[: len(numbers)], answers[len(numbers) :] or [None] * len(numbers)

    async def _hits(
        self, root: str, asked: Search, numbers: Iterable[int], seen: dict[int, NativeHit]
    ) -> dict[int, NativeHit]:
        """Those that are there, by number. What was read once is not read again."""
        chosen = list(numbers)
        missing = [number for number in chosen if number not in seen]
        space = asked.space if asked.vector is not None else ""
        bodies, vectors = await self._rows(root, missing, space)
        wanted = numbers_of(asked) if space else None
        for number, record, row in zip(missing, sound_records(bodies), vectors, strict=True):
            if record is not None:
                similarity = None
                if row is not None and wanted is not None:
                    if len(row) != 4 * len(wanted):
                        raise Invalid("the query's vector has another length than the stored ones")
                    similarity = float(np.frombuffer(row, "<f4").astype("f8") @ wanted)
                seen[number] = NativeHit(record, similarity)
        return {number: seen[number] for number in chosen if number in seen}

    async def turns(
        self, asked: Search, records: Sequence[tuple[int, Record]], reach: int
    ) -> Mapping[str, Sequence[NativeHit]]:
        """``records``: the turns, with their numbers."""
        root = root_of(asked.where.scopes[0])
        # What has expired stands between them and is left out: look a little further.
        talks = await self.engine.talks(records, 2 * reach)
        hits = await self._hits(root, asked, {one for talk in talks for one in talk}, {})
        found: dict[str, Sequence[NativeHit]] = {}
        for (number, record), talk in zip(records, talks, strict=True):
            alive = [
                one for one in talk if one in hits and not _is_over(hits[one].record, asked.where)
            ]
            if number in alive:
                at = alive.index(number)
                near = alive[max(0, at - reach) : at + reach + 1]
                found[record.id] = [hits[one] for one in near]
        return found


def search_in(options: Mapping[str, str]) -> tuple[Literal["exact", "native", "both"], int]:
    """Who searches, and above how many records the engine does, as an address says. Invalid: it
    says something else."""
    search, above = options.get("search", "both"), options.get("native_above", "")
    if search not in SEARCHES:
        raise Invalid(f"search= takes one of {', '.join(SEARCHES)}")
    if above and not (above.isascii() and above.isdigit() and len(above) < 12):
        raise Invalid(f"native_above={above!r} in the address is no number of records")
    return cast(Literal["exact", "native", "both"], search), int(above or NATIVE_ABOVE)


def numbers_of(asked: Search) -> Any:
    """The vector of a search, as numbers."""
    assert asked.vector is not None
    return np.frombuffer(asked.vector, "<f4").astype("f8")


def _is_over(record: Record, where: Where) -> bool:
    return record.expires_at is not None and record.expires_at <= where.now
