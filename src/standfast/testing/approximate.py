"""A toy with a native search: the dict store behind an engine that finds nearly the best.

Vectors become a few bits each, and those with the most bits in common are looked at; words are
added up without regard to length. It shows what ``standfast.ports.NativeSearch`` asks of an
engine, and that nearly is good enough.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from standfast.errors import Invalid
from standfast.index import native
from standfast.index.filters import passes
from standfast.ports import Capabilities, NativeArms, NativeHit
from standfast.scopes import is_visible
from standfast.stores.dict import DictStore
from standfast.stores.dict.surroundings import conversations
from standfast.stores.dict.tables import Row, is_expired
from standfast.text import analysis
from standfast.types import Hit, Search, Vector


class ApproximateStore(DictStore):
    """``bits`` a vector is made of, and how many times ``limit`` hits an arm looks at."""

    capabilities = Capabilities(
        name="approximate", search="native", erasure="memory", waits=True, processes=False
    )
    bits = 256
    looked_at = 8
    sampled = 200

    async def search(self, asked: Search) -> list[Hit]:
        self._open_tables()
        return await native.search(self, asked)

    async def arms(self, asked: Search, terms: Sequence[str]) -> NativeArms:
        seen = list(self._seen(asked))
        passing = [row for row in seen if passes(row.record, asked.where)]
        common = {term: sum(term in row.counts for row in seen) for term in terms}
        rare = {term: analysis.idf(len(seen), count) for term, count in common.items()}
        most = self.looked_at * asked.limit
        worded = [(sum(rare[t] for t in terms if t in row.counts), row) for row in passing]
        worded = sorted((one for one in worded if one[0] > 0), key=lambda one: -one[0])[:most]
        near = [row for row in passing if self._similarity(row, asked) is not None]
        sample = [self._similarity(row, asked) for row in near[:: len(near) // self.sampled + 1]]
        near.sort(key=lambda row: self._distance(row, asked))
        return NativeArms(
            by_word=[self._hit(row, asked, score) for score, row in worded],
            by_meaning=[self._hit(row, asked) for row in near[:most]],
            documents=len(seen),
            words=sum(row.length for row in seen),
            frequencies=common,
            sample=[one for one in sample if one is not None],
        )

    async def turns(
        self, asked: Search, ids: Sequence[str], reach: int
    ) -> Mapping[str, Sequence[NativeHit]]:
        found: dict[str, Sequence[NativeHit]] = {}
        for turns in conversations(self._seen(asked)):
            for place, row in enumerate(turns):
                if row.record.id in ids:
                    near = turns[max(0, place - reach) : place + reach + 1]
                    found[row.record.id] = [self._hit(one, asked) for one in near]
        return found

    def _seen(self, asked: Search) -> Iterator[Row]:
        where = asked.where
        for row in self._open_tables().rows.values():
            record = row.record
            if not is_expired(record, where.now) and is_visible(
                record.scope, where.scopes, descend=where.descend, exact=where.exact
            ):
                yield row

    def _hit(self, row: Row, asked: Search, keyword: float = 0.0) -> NativeHit:
        return NativeHit(row.record, self._similarity(row, asked), keyword)

    def _similarity(self, row: Row, asked: Search) -> float | None:
        vector = row.vectors.get(asked.space)
        if vector is None or asked.vector is None:
            return None
        if len(vector) != len(asked.vector):
            raise Invalid(f"the query's vector has another length than those of {asked.space!r}")
        return sum(a * b for a, b in zip(_floats(vector), _floats(asked.vector), strict=True))

    def _distance(self, row: Row, asked: Search) -> int:
        assert asked.vector is not None
        own, other = (_bits(one, self.bits) for one in (row.vectors[asked.space], asked.vector))
        return (own ^ other).bit_count()


def _floats(vector: Vector) -> tuple[float, ...]:
    return struct.unpack(f"<{len(vector) // 4}f", vector)


@cache
def _bits(vector: Vector, bits: int) -> int:
    """On which side of so many planes it lies."""
    numbers = _floats(vector)
    sides = (
        sum(a * b for a, b in zip(numbers, plane, strict=True)) > 0
        for plane in _planes(len(numbers), bits)
    )
    return sum(1 << place for place, side in enumerate(sides) if side)


@cache
def _planes(dimensions: int, bits: int) -> list[list[float]]:
    chance = random.Random(dimensions)
    return [[chance.gauss(0, 1) for _ in range(dimensions)] for _ in range(bits)]
