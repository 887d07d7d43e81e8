"""Searches and listings: visible scopes, masks, both arms, and the rows of the hits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import apsw
import numpy as np

from recollect.errors import Invalid
from recollect.index.spread import Spread
from recollect.scopes import root_of
from recollect.stores.sqlite.around import (
    after_question,
    keyword_around,
    near_rows,
    similarity_around,
    surroundings,
)
from recollect.stores.sqlite.cache import IndexCache
from recollect.stores.sqlite.connection import select
from recollect.stores.sqlite.index import Array
from recollect.stores.sqlite.masks import RowFilter
from recollect.stores.sqlite.rows import RECORD_WITH_SCOPE, micros, record_of
from recollect.stores.sqlite.scoring import (
    Probe,
    Share,
    Words,
    best,
    coverage,
    find_words,
    kth_largest,
    score_words,
    weigh,
)
from recollect.stores.sqlite.walk import (
    BY_ID,
    is_walk,
    listed_by_id,
    visible_scopes,
    walked,
)
from recollect.text import analysis
from recollect.types import Hit, Query, Record

# However many vectors look alike, at most this many more are compared exactly.
EXACT_MAX = 4096


class RowCandidate(NamedTuple):
    pk: int
    keyword: float
    coverage: float
    near: bool  # found by the vector arm
    worded: bool  # found by the keyword arm
    keyword_around: float = 0.0
    around: tuple[float, float] = (0.0, 0.0)  # neighbours' similarities, weighed; their weights
    after_question: bool = False


class Found(NamedTuple):
    candidates: list[RowCandidate]
    spread: Spread  # of the similarities of all that passes


@dataclass(frozen=True, slots=True)
class _Space:
    pk: int
    dimensions: int


def search(db: apsw.Connection, cache: IndexCache, query: Query) -> list[Hit]:
    """The best of both arms, or a listing if the query has neither text nor vector.

    The caller has begun a transaction but read nothing yet: the first read is made here, under
    the lock, so that no index is ever ahead of what this connection sees.
    """
    if len({root_of(scope) for scope in query.scopes}) > 1:
        raise Invalid("a query names scopes of one root; ask each root by itself")
    if query.limit <= 0 or not query.scopes:
        return []
    listing = not query.text and query.vector is None
    if listing and is_walk(query):
        keys = walked(db, query)
        found = _records(db, keys)
        return [Hit(record=found[key]) for key in keys]
    with cache.lock_of(root_of(query.scopes[0])):
        space = _space(db, query)
        terms = analysis.query_terms(query.text)
        shares = _shares(db, cache, query, space, terms)
        if listing:
            keys = _listed(db, shares, query)
        else:
            searched = _candidates(db, shares, query, space, terms)
    if not listing:
        return _hits(db, searched, query, space)
    found = _records(db, keys)
    return [Hit(record=found[key]) for key in keys if key in found]


def _space(db: apsw.Connection, query: Query) -> _Space | None:
    if query.vector is None:
        return None
    row = db.execute("SELECT pk, dimensions FROM space WHERE name = ?", (query.space,)).get
    if row is None:
        return None
    if row[1] * 4 != len(query.vector):
        raise Invalid(f"the query's vector has another length than those of {query.space!r}")
    return _Space(*row)


def _shares(
    db: apsw.Connection,
    cache: IndexCache,
    query: Query,
    space: _Space | None,
    terms: Sequence[str],
) -> list[Share]:
    """The indexes of all scopes that the query can see, with what passes its filters."""
    visible = visible_scopes(db, query)
    if not visible:
        return []
    root: int = db.execute("SELECT root FROM scope WHERE pk = ?", (next(iter(visible)),)).get
    chosen = RowFilter(db, query, root, list(visible))
    shares = []
    for scope, stamp in visible.items():
        index = cache.index(db, scope, stamp, space.pk if space else None)
        alive = index.alive(micros(query.now))
        shares.append(
            Share(index, alive, chosen.passing(index, alive), find_words(index, alive, terms))
        )
    return shares


# Listings


def _listed(db: apsw.Connection, shares: Sequence[Share], query: Query) -> list[int]:
    """The records' keys, in order."""
    if query.order in BY_ID:
        return listed_by_id(db, shares, query)
    entries: list[tuple[float, int, bytes, int]] = []
    for share in shares:
        index, rows = share.index, np.flatnonzero(share.passing)
        recent = index.happened_at()
        importance = index.column("importance")
        ids = index.column("id")
        by_weight = [importance[rows]] if query.order == "important" else []
        rows = best(rows, [*by_weight, recent[rows]], ids, query.limit)
        weight = importance if by_weight else np.zeros(index.size)
        entries += zip(
            (-weight[rows]).tolist(),
            (-recent[rows]).tolist(),
            ids[rows].tolist(),
            index.column("pk")[rows].tolist(),
            strict=True,
        )
    return [pk for _, _, _, pk in sorted(entries)[: query.limit]]


# Both arms


def _candidates(
    db: apsw.Connection,
    shares: Sequence[Share],
    query: Query,
    space: _Space | None,
    terms: Sequence[str],
) -> Found:
    """The best by words, and those that may be the best by meaning."""
    words = weigh(shares, terms)
    for share in shares:
        score_words(share, words)
    worded = _best_by_words(shares, query.limit)
    if query.around:
        worded = _best_around(shares, words, worded, query.limit)
    near, spread = _near(db, shares, query, space) if space else ({}, Spread.of(0, 0.0, 0.0))
    found: list[RowCandidate] = []
    for place, share in enumerate(shares):
        by_word = worded.get(place, _NO_ROWS)
        by_meaning = near.get(place, _NO_ROWS)
        if not len(by_word) and not len(by_meaning):
            continue
        found += _described(db, share, words, (by_word, by_meaning), query, space)
    return Found(found, spread)


_NO_ROWS = np.zeros(0, dtype=np.int64)


def _described(
    db: apsw.Connection,
    share: Share,
    words: Words,
    arms: tuple[Array, Array],
    query: Query,
    space: _Space | None,
) -> Iterator[RowCandidate]:
    """All that is known of the rows that the arms found, by word and by meaning."""
    assert share.keyword is not None
    by_word, by_meaning = (set(rows.tolist()) for rows in arms)
    rows = np.array(sorted(by_word | by_meaning), dtype=np.int64)
    around = _around(db, share, words, rows, query, space) if query.around else None
    no_sum = [0.0] * len(rows)
    for row, pk, keyword, held, wide, total, weight, asked in zip(
        rows.tolist(),
        share.index.column("pk")[rows].tolist(),
        share.keyword[rows].tolist(),
        coverage(share, words, rows).tolist(),
        *(around or (no_sum, no_sum, no_sum, [False] * len(rows))),
        strict=True,
    ):
        yield RowCandidate(
            pk, keyword, held, row in by_meaning, row in by_word, wide, (total, weight), asked
        )


def _around(
    db: apsw.Connection,
    share: Share,
    words: Words,
    rows: Array,
    query: Query,
    space: _Space | None,
) -> tuple[list[float], list[float], list[float], list[bool]]:
    """The scores of the rows' surroundings: by word; by meaning, as sums and their weights; and
    whether the turn before asks."""
    index = share.index
    around = surroundings(share, rows)
    keyword = keyword_around(share, words, around)
    sums = weights = np.zeros(len(rows))
    vectors = index.vectors(db, space.pk) if space else None
    if vectors is not None and query.vector is not None:
        sums, weights = similarity_around(Probe.of(query.vector), vectors, around, index.size)
    asked = after_question(share, around)
    return keyword.tolist(), sums.tolist(), weights.tolist(), asked.tolist()


def _best_by_words(shares: Sequence[Share], limit: int) -> dict[int, Array]:
    """Per share, the rows among the best of all shares."""
    scored = []
    for share in shares:
        assert share.keyword is not None
        rows = np.flatnonzero((share.keyword > 0) & share.passing)
        scored.append((rows, share.keyword[rows]))
    return _best_of_all(shares, scored, limit)


def _best_around(
    shares: Sequence[Share], words: Words, worded: dict[int, Array], limit: int
) -> dict[int, Array]:
    """Of those and the turns that have one of them as a neighbour, the best together with
    their neighbours."""
    scored = []
    for place, share in enumerate(shares):
        rows = near_rows(share, worded.get(place, _NO_ROWS))
        scored.append((rows, keyword_around(share, words, surroundings(share, rows))))
    return _best_of_all(shares, scored, limit)


def _best_of_all(
    shares: Sequence[Share], scored: Sequence[tuple[Array, Array]], limit: int
) -> dict[int, Array]:
    """Of the rows of each share, in ascending order, with their scores."""
    entries: list[tuple[float, bytes, int, int]] = []
    for place, (rows, scores) in enumerate(scored):
        ids = shares[place].index.column("id")
        kept = best(rows, [scores], ids, limit)
        entries += zip(
            (-scores[np.searchsorted(rows, kept)]).tolist(),
            ids[kept].tolist(),
            [place] * len(kept),
            kept.tolist(),
            strict=True,
        )
    return _by_place([(place, row) for _, _, place, row in sorted(entries)[:limit]])


def _by_place(pairs: Sequence[tuple[int, int]]) -> dict[int, Array]:
    """In ascending order."""
    found: dict[int, list[int]] = {}
    for place, row in pairs:
        found.setdefault(place, []).append(row)
    return {place: np.array(sorted(rows), dtype=np.int64) for place, rows in found.items()}


def _near(
    db: apsw.Connection, shares: Sequence[Share], query: Query, space: _Space
) -> tuple[dict[int, Array], Spread]:
    """Per share, the rows whose rounded product is so high that they may be among the best;
    and how the products of all are spread."""
    assert query.vector is not None
    probe = Probe.of(query.vector)
    scanned: list[_Scanned] = []
    for place, share in enumerate(shares):
        vectors = share.index.vectors(db, space.pk)
        if vectors is None:
            continue
        rows = np.flatnonzero(share.passing & vectors.held[: share.index.size])
        if not len(rows):
            continue
        products = probe.products(vectors, rows, share.index.size)
        scanned.append(_Scanned(place, rows, products, vectors.scales[: share.index.size]))
    spread = _spread([one.products for one in scanned])
    # Whatever is off by how much: none that is lower than this can be among the best.
    far_off = 2 * max((float(probe.doubt(one.scales.max())) for one in scanned), default=0.0)
    floor = _kth_largest([one.products for one in scanned], query.limit) - far_off
    scanned = [one.from_(floor) for one in scanned]
    doubts = [probe.doubt(one.scales[one.rows]) for one in scanned]
    # The best that surely are as high as this make room for no row that surely is lower.
    surely = [one.products - doubt for one, doubt in zip(scanned, doubts, strict=True)]
    bar = max(_kth_largest(surely, query.limit), query.similar_above)
    found = {}
    for one, doubt in zip(scanned, doubts, strict=True):
        high = one.products + doubt >= bar
        ids = shares[one.place].index.column("id")
        found[one.place] = best(one.rows[high], [one.products[high]], ids, query.limit + EXACT_MAX)
    return found, spread


class _Scanned(NamedTuple):
    """The rounded products of one share's rows; ``scales`` are those of its whole index."""

    place: int
    rows: Array
    products: Array
    scales: Array

    def from_(self, floor: float) -> _Scanned:
        kept = self.products >= floor
        return self._replace(rows=self.rows[kept], products=self.products[kept])


def _spread(parts: Sequence[Array]) -> Spread:
    count = sum(len(part) for part in parts)
    total = sum(float(part.sum(dtype=np.float64)) for part in parts)
    return Spread.of(count, total, sum(float(np.dot(part, part)) for part in parts))


def _kth_largest(parts: Sequence[Array], k: int) -> float:
    """Or minus infinity, if there are fewer."""
    tops = [part[part >= kth_largest(part, k)] if len(part) > k else part for part in parts]
    values = np.concatenate(tops) if tops else _NO_ROWS
    return kth_largest(values, k) if len(values) >= k else float("-inf")


# From candidates to hits


def _hits(db: apsw.Connection, searched: Found, query: Query, space: _Space | None) -> list[Hit]:
    candidates = searched.candidates
    similarities = _similarities(db, candidates, query, space)
    near = [
        one
        for one in candidates
        if one.near and similarities.get(one.pk, -2.0) > query.similar_above
    ]
    near.sort(key=lambda one: -similarities[one.pk])
    near = _with_ties(near, similarities, query.limit)
    chosen = {one.pk: one for one in (*near, *(one for one in candidates if one.worded))}
    found = _records(db, list(chosen))
    nearest = sorted(
        (one.pk for one in near if one.pk in found),
        key=lambda pk: (-similarities[pk], found[pk].id),
    )[: query.limit]
    kept = set(nearest) | {pk for pk, one in chosen.items() if one.worded}
    hits = [
        _hit(found[pk], one, similarities.get(pk), searched.spread, query)
        for pk, one in chosen.items()
        if pk in kept and pk in found
    ]
    return sorted(hits, key=_rank)


def _hit(
    record: Record, one: RowCandidate, similarity: float | None, spread: Spread, query: Query
) -> Hit:
    lift = around = None
    if similarity is not None:
        lift = spread.lift(similarity)
    if similarity is not None and query.around:
        around = spread.lift((similarity + one.around[0]) / (1 + one.around[1]))
    return Hit(
        record=record,
        similarity=similarity,
        keyword=one.keyword,
        coverage=one.coverage,
        lift=lift,
        keyword_around=one.keyword_around,
        lift_around=around,
        after_question=one.after_question,
    )


def _with_ties(
    near: list[RowCandidate], similarities: dict[int, float], limit: int
) -> list[RowCandidate]:
    """The first ``limit`` and all that equal the last of them: their ids will decide."""
    if len(near) <= limit:
        return near
    bar = similarities[near[limit - 1].pk]
    return [one for one in near if similarities[one.pk] >= bar]


def _rank(hit: Hit) -> tuple[float, float, str]:
    similarity = -2.0 if hit.similarity is None else hit.similarity
    return -hit.keyword, -similarity, hit.record.id


def _similarities(
    db: apsw.Connection, candidates: Sequence[RowCandidate], query: Query, space: _Space | None
) -> dict[int, float]:
    """Exact products with the stored vectors."""
    if space is None or query.vector is None or not candidates:
        return {}
    rows = select(
        db,
        "SELECT record, f32 FROM vector WHERE record IN (SELECT value FROM json_each(?))"
        " AND space = ?",
        str([one.pk for one in candidates]),
        space.pk,
    )
    if not rows:
        return {}
    packed = b"".join(f32 for _, f32 in rows)
    matrix = np.frombuffer(packed, dtype="<f4").reshape(len(rows), -1).astype(np.float64)
    # Row by row, not as a matrix product: equal vectors must get equal numbers.
    products = (matrix * np.frombuffer(query.vector, dtype="<f4")).sum(axis=1)
    return dict(zip((pk for pk, _ in rows), products.tolist(), strict=True))


def _records(db: apsw.Connection, keys: Sequence[int]) -> dict[int, Record]:
    rows = db.execute(
        f"SELECT record.pk, {RECORD_WITH_SCOPE} FROM record JOIN scope ON scope.pk = record.scope"
        " WHERE record.pk IN (SELECT value FROM json_each(?))",
        (str(list(keys)),),
    )
    return {row[0]: record_of(row[1:]) for row in rows}
