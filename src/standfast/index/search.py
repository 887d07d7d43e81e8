"""Searches and listings over the arrays: masks, both arms, and the rows of the hits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from heapq import nlargest, nsmallest
from typing import NamedTuple

import numpy as np

from standfast.errors import Invalid
from standfast.index.around import (
    after_question,
    keyword_around,
    near_rows,
    similarity_around,
    surroundings,
)
from standfast.index.cache import IndexCache, IsLittle
from standfast.index.codes import KINDS, STATUSES, TYPES, micros
from standfast.index.conditions import match, of_data
from standfast.index.filters import check_asked
from standfast.index.found import FoundHits
from standfast.index.masks import RowFilter
from standfast.index.postings import distinct
from standfast.index.scope import Array, ScopeIndex
from standfast.index.scoring import (
    Share,
    Words,
    best,
    coverage,
    find_words,
    kth_largest,
    probe_of,
    score_words,
    weigh,
)
from standfast.index.spread import Spread
from standfast.ports import Feed, FeedRecord, FeedStamps
from standfast.scopes import root_of, visible_from
from standfast.text import analysis
from standfast.types import (
    Hit,
    Kind,
    Listing,
    Matching,
    Record,
    Search,
    Status,
    Type,
    Vector,
    Where,
)

# However many vectors look alike, at most this many more are compared exactly.
EXACT_MAX = 4096
READ_AT_ONCE = 1000
FEW_ROWS = 4096  # to which it does not pay to look at the best of them only
# Up to so many rows a search takes about a millisecond.
READY_ROWS_MAX = 20_000
READY_HITS_MAX = 256
READY_RECORDS_MAX = 100  # of a listing: each is decoded


class Found(NamedTuple):
    """What the arms found, a column for each number."""

    keys: Array
    keyword: Array
    coverage: Array
    near: Array  # found by the vector arm
    worded: Array  # found by the keyword arm
    keyword_around: Array
    sums: Array  # neighbours' similarities, weighed
    weights: Array  # those of the neighbours
    after_question: Array


def search(feed: Feed, cache: IndexCache, asked: Search) -> Sequence[Hit]:
    """The best of both arms.

    The feed has not been asked anything yet: the first question is asked here, under the lock,
    so that no index is ever ahead of what the feed sees.
    """
    if not check_asked(asked):
        return []
    with cache.lock_of(root_of(asked.where.scopes[0])):
        stamps, space = _stamps_for(feed, asked)
        found, spread = _candidates(_shares(feed, cache, asked.where, space, stamps, asked), asked)
    return _hits(feed, found, spread, asked)


def search_if_ready(
    feed: Feed, cache: IndexCache, asked: Search, is_little: IsLittle | None = None
) -> Sequence[Hit] | None:
    """The same, where it takes no longer than the way to another thread and back: nobody holds the
    lock, the indexes are in memory, as they are now, and small, and so are the answers few. Else
    None. ``is_little``: is what came to a scope behind a stamp taken in quickly?"""
    if not check_asked(asked):
        return []
    with _ready(cache, asked.where) as is_free:
        if not is_free:
            return None
        stamps, space = _stamps_for(feed, asked)
        # Of more rows than that, either arm finds as many as are asked for.
        many = bool(space) and 2 * asked.limit > READY_HITS_MAX
        rows_max = min(READY_ROWS_MAX, READY_HITS_MAX if many else READY_ROWS_MAX)
        if not cache.holds(stamps.scopes, space, rows_max, is_little):
            return None
        found, spread = _candidates(_shares(feed, cache, asked.where, space, stamps, asked), asked)
    if found is not None and len(found.keys) > READY_HITS_MAX:
        return None
    return _hits(feed, found, spread, asked)


@contextmanager
def _ready(cache: IndexCache, where: Where) -> Iterator[bool]:
    """Whether nobody holds the lock, and no records have to be read through; then we hold it."""
    lock = cache.lock_of(root_of(where.scopes[0]))
    if (where.matching and of_data(where.matching)) or not lock.acquire(blocking=False):
        yield False
        return
    try:
        yield True
    finally:
        lock.release()


def load(feed: Feed, cache: IndexCache, scope: str, space: str) -> None:
    """One scope's index into the cache, as a search would; the feed as for ``search``."""
    with cache.lock_of(root_of(scope)):
        for name, stamp in feed.stamps((scope,), (), space).scopes.items():
            cache.index(feed, name, stamp, space)


def _stamps_for(feed: Feed, asked: Search) -> tuple[FeedStamps, str]:
    """The stamps of what a search can see, and the space whose vectors it compares; "" if none."""
    space = asked.space if asked.vector is not None else ""
    stamps = _stamps(feed, asked.where, space)
    if asked.vector is not None and stamps.dimensions not in (None, len(asked.vector) // 4):
        raise Invalid(f"the query's vector has another length than those of {space!r}")
    return stamps, "" if stamps.dimensions is None else space


def _stamps(feed: Feed, where: Where, space: str) -> FeedStamps:
    named = where.scopes if where.exact else sorted(visible_from(where.scopes))
    return feed.stamps(named, where.scopes if where.descend else (), space)


def listing(feed: Feed, cache: IndexCache, asked: Listing) -> list[Record]:
    """What passes, in order. As for ``search``, the feed has not been asked anything yet."""
    if not check_asked(asked):
        return []
    with cache.lock_of(root_of(asked.where.scopes[0])):
        keys = _listed(_shares(feed, cache, asked.where), asked)
    return _records(feed, keys)


def listing_if_ready(
    feed: Feed, cache: IndexCache, asked: Listing, is_little: IsLittle | None = None
) -> list[Record] | None:
    """The same as ``search_if_ready`` is for ``search``."""
    if not check_asked(asked):
        return []
    if asked.limit > READY_RECORDS_MAX:
        return None
    with _ready(cache, asked.where) as is_free:
        if not is_free:
            return None
        stamps = _stamps(feed, asked.where, "")
        if not cache.holds(stamps.scopes, "", READY_ROWS_MAX, is_little):
            return None
        keys = _listed(_shares(feed, cache, asked.where, "", stamps), asked)
    return _records(feed, keys)


def _records(feed: Feed, keys: Sequence[int]) -> list[Record]:
    records = feed.records(keys, "")
    return [records[key].record() for key in keys if key in records]


def counts(feed: Feed, cache: IndexCache, where: Where) -> dict[tuple[Kind, Type, Status], int]:
    """How many pass, of each kind, type and status; the feed as for ``search``."""
    found: dict[tuple[Kind, Type, Status], int] = {}
    with cache.lock_of(root_of(where.scopes[0])):
        for share in _shares(feed, cache, where):
            names = ("kind", "type", "status")
            columns = [share.index.column(name)[share.passing] for name in names]
            rows, numbers = np.unique(np.stack(columns), axis=1, return_counts=True)
            for (kind, type_, status), number in zip(
                rows.T.tolist(), numbers.tolist(), strict=True
            ):
                name = (KINDS[kind], TYPES[type_], STATUSES[status])
                found[name] = found.get(name, 0) + number
    return found


def _shares(
    feed: Feed,
    cache: IndexCache,
    where: Where,
    space: str = "",
    stamps: FeedStamps | None = None,
    asked: Search | None = None,
) -> list[Share]:
    """The indexes of all visible scopes, with what passes, and the words of a search."""
    stamps = stamps or _stamps(feed, where, space)
    terms = analysis.search_terms(asked.text) if asked else ()
    chosen = RowFilter(where)
    shares = []
    for scope, stamp in stamps.scopes.items():
        index = cache.index(feed, scope, stamp, space)
        alive = index.alive(micros(where.now))
        words = find_words(index, alive, terms)
        passing = chosen.passing(index, alive)
        if where.matching:
            _read_through(feed, index, passing, of_data(where.matching))
        shares.append(Share(index, alive, passing, words))
    return shares


def _read_through(feed: Feed, index: ScopeIndex, passing: Array, data: Matching) -> None:
    """No index knows what stands in ``data``: what passes all else is read, and leaves the mask
    if it does not match."""
    rows = np.flatnonzero(passing) if data else _NO_ROWS
    for start in range(0, len(rows), READ_AT_ONCE):
        part = rows[start : start + READ_AT_ONCE]
        keys = index.column("key")[part].tolist()
        records = feed.records(keys, "")
        passing[part] = [key in records and match(records[key].record(), data) for key in keys]


# Listings


def _listed(shares: Sequence[Share], query: Listing) -> list[int]:
    """The records' keys, in order."""
    if query.order in ("id", "newest"):
        return _listed_by_id(shares, query)
    entries: list[tuple[float, int, bytes, int]] = []
    for share in shares:
        index, rows = share.index, np.flatnonzero(share.passing)
        recent = index.happened_at()
        importance = index.column("importance")
        by_weight = [importance[rows]] if query.order == "important" else []
        times = recent if len(rows) == index.size else recent[rows]  # mostly all of them
        rows = best(rows, [*by_weight, times], index.column("id"), query.limit)
        weight = importance[rows] if by_weight else np.zeros(len(rows))
        entries += zip(
            (-weight).tolist(),
            (-recent[rows]).tolist(),
            index.ids(rows),
            index.column("key")[rows].tolist(),
            strict=True,
        )
    return [key for _, _, _, key in sorted(entries)[: query.limit]]


def _listed_by_id(shares: Sequence[Share], query: Listing) -> list[int]:
    down, after = query.order == "newest", query.after.encode()
    entries: list[tuple[bytes, int]] = []
    for share in shares:
        rows = np.flatnonzero(share.passing)
        keys = share.index.column("key")[rows].tolist()
        entries += [
            (id_, key)
            for id_, key in zip(share.index.ids(rows), keys, strict=True)
            if not after or (id_ < after if down else id_ > after)
        ]
    chosen = (nlargest if down else nsmallest)(query.limit, entries)
    return [key for _, key in chosen]


# Both arms


def _candidates(shares: Sequence[Share], query: Search) -> tuple[Found | None, Spread]:
    """The best by words, and those that may be the best by meaning; and how the similarities of
    all that passes are spread."""
    words = weigh(shares, analysis.search_terms(query.text))
    for share in shares:
        score_words(share, words)
    worded = _best_by_words(shares, query.limit)
    if query.around:
        worded = _best_around(shares, words, worded, query.limit)
    near, spread = _near(shares, query)
    found = [
        _described(share, words, (worded.get(place, _NO_ROWS), near.get(place, _NO_ROWS)), query)
        for place, share in enumerate(shares)
        if place in worded or place in near
    ]
    if len(found) > 1:
        return Found._make(map(np.concatenate, zip(*found, strict=True))), spread
    return found[0] if found else None, spread


_NO_ROWS = np.zeros(0, dtype=np.int64)


def _described(share: Share, words: Words, arms: tuple[Array, Array], query: Search) -> Found:
    """All that is known of the rows that the arms found, by word and by meaning."""
    assert share.keyword is not None
    rows = distinct(np.concatenate(arms))
    worded, near = np.zeros((2, len(rows)), dtype=bool)
    worded[rows.searchsorted(arms[0])] = True
    near[rows.searchsorted(arms[1])] = True
    keyword = share.keyword[rows]
    around = surroundings(share, rows) if query.around and share.index.turns.any_of(rows) else None
    sums = weights = np.zeros(len(rows))
    asked, wide = np.zeros(len(rows), dtype=bool), keyword if query.around else sums
    if around is not None and around.present.any():
        wide = keyword_around(share, words, around)
        asked = after_question(share, around)
        vectors = share.index.vectors(query.space)
        if vectors is not None and query.vector is not None:
            probe = probe_of(query.vector)
            sums, weights = similarity_around(probe, vectors, around, share.index.size)
    return Found(
        keys=share.index.column("key")[rows],
        keyword=keyword,
        coverage=coverage(share, words, rows),
        near=near,
        worded=worded,
        keyword_around=wide,
        sums=sums,
        weights=weights,
        after_question=asked,
    )


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
    if not any(shares[place].index.turns.any_of(rows) for place, rows in worded.items()):
        return worded
    scored = []
    for place, share in enumerate(shares):
        rows = near_rows(share, worded.get(place, _NO_ROWS))
        scored.append((rows, keyword_around(share, words, surroundings(share, rows))))
    return _best_of_all(shares, scored, limit)


def _best_of_all(
    shares: Sequence[Share], scored: Sequence[tuple[Array, Array]], limit: int
) -> dict[int, Array]:
    """Of the rows of each share, in ascending order, with their scores."""
    if len(shares) == 1:
        ((rows, scores),) = scored
        kept = best(rows, [scores], shares[0].index.column("id"), limit)
        return {0: np.sort(kept)} if len(kept) else {}
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


def _near(shares: Sequence[Share], query: Search) -> tuple[dict[int, Array], Spread]:
    """Per share, the rows whose rounded product is so high that they may be among the best;
    and how the products of all are spread."""
    if query.vector is None:
        return {}, Spread.of(0, 0.0, 0.0)
    probe = probe_of(query.vector)
    scanned: list[_Scanned] = []
    for place, share in enumerate(shares):
        vectors = share.index.vectors(query.space)
        if vectors is None:
            continue
        rows = np.flatnonzero(share.passing & vectors.held[: share.index.size])
        if not len(rows):
            continue
        products = probe.products(vectors, rows, share.index.size)
        scanned.append(_Scanned(place, rows, products, vectors.scales[: share.index.size]))
    spread = _spread([one.products for one in scanned])
    if sum(len(one.rows) for one in scanned) > FEW_ROWS:
        # Whatever is off by how much: none that is lower than this can be among the best.
        far_off = 2 * max(float(probe.doubt(one.scales.max())) for one in scanned)
        floor = _kth_largest([one.products for one in scanned], query.limit) - far_off
        scanned = [one.from_(floor) for one in scanned]
    doubts = [probe.doubt(one.own_scales) for one in scanned]
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

    @property
    def own_scales(self) -> Array:
        whole = len(self.rows) == len(self.scales)
        return self.scales if whole else self.scales[self.rows]

    def from_(self, floor: float) -> _Scanned:
        kept = self.products >= floor
        return self._replace(rows=self.rows[kept], products=self.products[kept])


def _spread(parts: Sequence[Array]) -> Spread:
    count = sum(len(part) for part in parts)
    total = sum(float(part.sum(dtype=np.float64)) for part in parts)
    return Spread.of(count, total, sum(float(np.dot(part, part)) for part in parts))


def _kth_largest(parts: Sequence[Array], k: int) -> float:
    """Or minus infinity, if there are fewer."""
    if len(parts) == 1:
        return kth_largest(parts[0], k) if len(parts[0]) >= k else float("-inf")
    tops = [part[part >= kth_largest(part, k)] if len(part) > k else part for part in parts]
    values = np.concatenate(tops) if tops else _NO_ROWS
    return kth_largest(values, k) if len(values) >= k else float("-inf")


# From candidates to hits


def _hits(feed: Feed, found: Found | None, spread: Spread, query: Search) -> Sequence[Hit]:
    if found is None:
        return []
    space = query.space if query.vector is not None else ""
    keys = found.keys.tolist()
    rows = feed.records(keys, space)
    if len(rows) < len(keys):  # some are damaged
        there = np.array([key in rows for key in keys], dtype=bool)
        found = Found._make(column[there] for column in found)
        keys = found.keys.tolist()
    read = [rows[key] for key in keys]
    similarity = _similarities([row.vector for row in read], query)
    shown = found.worded | _nearest(found, read, similarity, query)
    shown, read = _in_order(np.flatnonzero(shown), read, found.keyword, similarity)
    similarity = similarity[shown]
    around = np.full(len(shown), np.nan)
    if query.around:
        whole = (similarity + found.sums[shown]) / (1 + found.weights[shown])
        around = (whole - spread.mean) / spread.deviation
    return FoundHits(
        read=read,
        similarity=similarity,
        keyword=found.keyword[shown],
        coverage=found.coverage[shown],
        lift=(similarity - spread.mean) / spread.deviation,
        keyword_around=found.keyword_around[shown],
        lift_around=around,
        after_question=found.after_question[shown].tolist(),
    )


def _in_order(
    shown: Array, read: Sequence[FeedRecord], keyword: Array, similarity: Array
) -> tuple[Array, list[FeedRecord]]:
    """By word, then by meaning, what has no vector last; of equals the one whose id comes first."""
    first, second = -keyword[shown], -similarity[shown]
    second[np.isnan(second)] = 2.0
    order = np.lexsort((second, first))
    ordered, behind = first[order], second[order]
    if bool(((ordered[1:] == ordered[:-1]) & (behind[1:] == behind[:-1])).any()):
        ids = [read[place].glance.id for place in shown.tolist()]
        ranks = sorted(zip(first.tolist(), second.tolist(), ids, range(len(shown)), strict=True))
        order = np.array([place for _, _, _, place in ranks])
    shown = shown[order]
    return shown, [read[place] for place in shown.tolist()]


def _nearest(found: Found, rows: Sequence[FeedRecord], similarity: Array, query: Search) -> Array:
    """The best by meaning; of equals the one whose id comes first."""
    near: Array = found.near & (similarity > query.similar_above)
    places = np.flatnonzero(near)
    if len(places) <= query.limit:
        return near
    bar = kth_largest(similarity[places], query.limit) if query.limit else np.inf
    near &= similarity >= bar
    places = np.flatnonzero(near)
    if len(places) > query.limit:
        tied = [(-similarity[place], rows[place].glance.id, place) for place in places.tolist()]
        near[:] = False
        near[[place for _, _, place in sorted(tied)[: query.limit]]] = True
    return near


def _similarities(vectors: Sequence[Vector | None], query: Search) -> Array:
    """Exact products with the stored vectors; NaN where there is none."""
    similarity = np.full(len(vectors), np.nan)
    held = [vector for vector in vectors if vector is not None]
    if query.vector is None or not held:
        return similarity
    matrix = np.frombuffer(b"".join(held), dtype="<f4").reshape(len(held), -1).astype(np.float64)
    matrix *= np.frombuffer(query.vector, dtype="<f4").astype(np.float64)
    # Row by row, not as a matrix product: equal vectors must get equal numbers.
    exact: Array = matrix.sum(axis=1)
    if len(held) == len(vectors):
        return exact
    similarity[[vector is not None for vector in vectors]] = exact
    return similarity
