"""Filters, words and vectors, written for reading rather than for speed."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence

from recollect import lexical
from recollect.errors import Invalid
from recollect.filters import passes
from recollect.scopes import is_visible, root_of
from recollect.stores.dict.tables import Row, detached_record, is_expired
from recollect.types import Hit, Query, Record, Vector


def search(rows: Iterable[Row], query: Query) -> list[Hit]:
    """The best of both arms, or a listing if the query has neither text nor vector."""
    if len({root_of(scope) for scope in query.scopes}) > 1:
        raise Invalid("a query names scopes of one root; ask each root by itself")
    seen = [row for row in rows if _is_seen(row.record, query)]
    passing = [row for row in seen if passes(row.record, query)]
    if query.text or query.vector is not None:
        return _best_of_both_arms(seen, passing, query)
    listed = _ordered([row.record for row in passing], query)
    return [Hit(record=detached_record(record)) for record in listed[: max(0, query.limit)]]


def _is_seen(record: Record, query: Query) -> bool:
    return not is_expired(record, query.now) and is_visible(
        record.scope, query.scopes, descend=query.descend, exact=query.exact
    )


def _ordered(records: list[Record], query: Query) -> list[Record]:
    by_id = sorted(records, key=lambda record: record.id)
    if query.order == "id":
        return [record for record in by_id if record.id > query.after]
    recent = sorted(by_id, key=lambda record: record.at, reverse=True)
    if query.order == "important":
        return sorted(recent, key=lambda record: record.importance, reverse=True)
    return recent


def _best_of_both_arms(seen: Sequence[Row], passing: Sequence[Row], query: Query) -> list[Hit]:
    weights = _weights(seen, lexical.query_terms(query.text))
    average = sum(row.length for row in seen) / len(seen) if seen else 0.0
    hits = [_hit(row, query, weights, average) for row in passing]
    by_word = _best(hits, lambda hit: hit.keyword or None, query.limit)
    similar = [
        hit for hit in hits if hit.similarity is not None and hit.similarity > query.similar_above
    ]
    by_meaning = _best(similar, lambda hit: hit.similarity, query.limit)
    found = {hit.record.id: hit for hit in (*by_word, *by_meaning)}
    return sorted(found.values(), key=_rank)


def _rank(hit: Hit) -> tuple[float, float, str]:
    similarity = -2.0 if hit.similarity is None else hit.similarity
    return -hit.keyword, -similarity, hit.record.id


def _best(hits: Sequence[Hit], score: Callable[[Hit], float | None], limit: int) -> list[Hit]:
    scored = [(-value, hit.record.id, hit) for hit in hits if (value := score(hit)) is not None]
    return [hit for _, _, hit in sorted(scored, key=lambda entry: entry[:2])[: max(0, limit)]]


def _weights(seen: Sequence[Row], terms: Sequence[str]) -> dict[str, float]:
    """What each term of the query says among the rows that the query's scopes can see."""
    return {term: lexical.idf(len(seen), sum(term in row.counts for row in seen)) for term in terms}


def _hit(row: Row, query: Query, weights: Mapping[str, float], average: float) -> Hit:
    matched = [term for term in weights if term in row.counts]
    keyword = sum(
        lexical.bm25(weights[term], row.counts[term], row.length, average) for term in matched
    )
    total = sum(weights.values())
    return Hit(
        record=detached_record(row.record),
        similarity=_similarity(row, query),
        keyword=keyword,
        coverage=sum(weights[term] for term in matched) / total if total else 0.0,
    )


def _similarity(row: Row, query: Query) -> float | None:
    vector = row.vectors.get(query.space)
    if query.vector is None or vector is None:
        return None
    if len(vector) != len(query.vector):
        raise Invalid(f"the query's vector has another length than those of {query.space!r}")
    return sum(a * b for a, b in zip(_floats(vector), _floats(query.vector), strict=True))


def _floats(vector: Vector) -> tuple[float, ...]:
    return struct.unpack(f"<{len(vector) // 4}f", vector)
