"""Filters, words and vectors, written for reading rather than for speed."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from operator import mul

from standfast.errors import Invalid
from standfast.index.filters import check_asked, has_keys, ordered, passes
from standfast.index.neighbours import share, usual_length
from standfast.index.spread import Spread
from standfast.scopes import is_visible
from standfast.stores.dict.surroundings import RowsAround, neighbours
from standfast.stores.dict.tables import Row, detached_record, is_expired
from standfast.text import analysis
from standfast.types import Find, Hit, Kind, Listing, Record, Search, Status, Type, Vector, Where


def search(rows: Iterable[Row], asked: Search) -> list[Hit]:
    """The best of both arms."""
    if not check_asked(asked) or not (asked.text or asked.vector is not None):
        return []
    seen = [row for row in rows if _is_seen(row.record, asked.where)]
    passing = [row for row in seen if passes(row.record, asked.where)]
    return _best_of_both_arms(seen, passing, asked)


def listing(rows: Iterable[Row], asked: Listing | Find) -> list[Record]:
    if not check_asked(asked):
        return []
    found = [row.record for row in rows if passes(row.record, asked.where)]
    if isinstance(asked, Find):
        found = [record for record in found if has_keys(record, asked)]
    return [detached_record(record) for record in ordered(found, asked)]


def _is_seen(record: Record, where: Where) -> bool:
    return not is_expired(record, where.now) and is_visible(
        record.scope, where.scopes, descend=where.descend, exact=where.exact
    )


def count(
    rows: Iterable[Row], scopes: Sequence[str], now: datetime, *, descend: bool
) -> dict[tuple[Kind, Type, Status], int]:
    where = Where(scopes=tuple(scopes), now=now, descend=descend)
    seen = [row.record for row in rows if _is_seen(row.record, where)]
    return dict(Counter((record.kind, record.type, record.status) for record in seen))


def _best_of_both_arms(seen: Sequence[Row], passing: Sequence[Row], query: Search) -> list[Hit]:
    scorer = _Scorer(seen, passing, query)
    rows = {row.record.id: row for row in passing}
    hits = [scorer.hit(row) for row in passing]
    by_word = _best(hits, lambda hit: hit.keyword or None, query.limit)
    if query.around:
        pool = scorer.with_neighbours({hit.record.id for hit in by_word})
        hits = [scorer.with_surroundings(hit, rows[hit.record.id]) for hit in hits]
        near_words = [hit for hit in hits if hit.record.id in pool]
        by_word = _best(near_words, lambda hit: hit.keyword_around or None, query.limit)
    similar = [
        hit for hit in hits if hit.similarity is not None and hit.similarity > query.similar_above
    ]
    by_meaning = _best(similar, lambda hit: hit.similarity, query.limit)
    found = {hit.record.id: hit for hit in (*by_word, *by_meaning)}
    best = sorted(found.values(), key=_rank)
    return [replace(hit, record=detached_record(hit.record)) for hit in best]


class _Scorer:
    """A query's words and vector against rows, with the statistics of what it can see."""

    def __init__(self, seen: Sequence[Row], passing: Sequence[Row], query: Search) -> None:
        self._query = query
        self._weights = _weights(seen, analysis.search_terms(query.text))
        self._average = sum(row.length for row in seen) / len(seen) if seen else 0.0
        self._neighbours = neighbours(seen) if query.around else {}
        found = [one for row in passing if (one := _similarity(row, query)) is not None]
        self._spread = Spread.of(len(found), sum(found), sum(one * one for one in found))

    def hit(self, row: Row) -> Hit:
        held = [term for term in self._weights if term in row.counts]
        total = analysis.total(self._weights.values())
        similarity = _similarity(row, self._query)
        return Hit(
            record=row.record,  # detached if it is among the best
            similarity=similarity,
            keyword=self._bm25(row.counts, row.length, self._average),
            coverage=analysis.total(self._weights[term] for term in held) / total if total else 0.0,
            lift=None if similarity is None else self._spread.lift(similarity),
        )

    def with_neighbours(self, ids: set[str]) -> set[str]:
        """These records and every one that has one of them as a neighbour."""
        return ids | {
            id_
            for id_, around in self._neighbours.items()
            if any(row.record.id in ids for _, row in around.places)
        }

    def with_surroundings(self, hit: Hit, row: Row) -> Hit:
        around = self._neighbours.get(row.record.id, RowsAround())
        counts: dict[str, float] = dict(row.counts)
        length: float = row.length
        weights = analysis.total(weight for weight, _ in around.places)
        similar, similar_weight = hit.similarity or 0.0, 1.0
        for weight, other in around.places:
            part = share(weight, other.length)
            length += part * other.length
            for term in self._weights:
                counts[term] = counts.get(term, 0) + part * other.counts.get(term, 0)
            if (similarity := _similarity(other, self._query)) is not None:
                similar += part * similarity
                similar_weight += part
        return replace(
            hit,
            keyword_around=self._bm25(counts, length, usual_length(self._average, weights)),
            lift_around=None if hit.lift is None else self._spread.lift(similar / similar_weight),
            after_question=any(analysis.QUESTION in one.counts for _, one in around.before[:1]),
        )

    def _bm25(self, counts: Mapping[str, float], length: float, average: float) -> float:
        return analysis.total(
            analysis.bm25(weight, counts[term], length, average)
            for term, weight in self._weights.items()
            if counts.get(term)
        )


def _rank(hit: Hit) -> tuple[float, float, str]:
    similarity = -2.0 if hit.similarity is None else hit.similarity
    return -hit.keyword, -similarity, hit.record.id


def _best(hits: Sequence[Hit], score: Callable[[Hit], float | None], limit: int) -> list[Hit]:
    scored = [(-value, hit.record.id, hit) for hit in hits if (value := score(hit)) is not None]
    return [hit for _, _, hit in sorted(scored, key=lambda entry: entry[:2])[: max(0, limit)]]


def _weights(seen: Sequence[Row], terms: Sequence[str]) -> dict[str, float]:
    """What each term of the query says among the rows that the query's scopes can see."""
    containing = [sum(term in row.counts for row in seen) for term in terms]
    return dict(zip(terms, analysis.weights(terms, len(seen), containing), strict=True))


def _similarity(row: Row, query: Search) -> float | None:
    vector = row.vectors.get(query.space)
    if query.vector is None or vector is None:
        return None
    if len(vector) != len(query.vector):
        raise Invalid(f"the query's vector has another length than those of {query.space!r}")
    products: Iterable[float] = map(mul, _floats(vector), _floats(query.vector))
    return sum(products)


def _floats(vector: Vector) -> tuple[float, ...]:
    return struct.unpack(f"<{len(vector) // 4}f", vector)
