"""How much a search by the database looks at: counted once, and again when a scope has changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from standfast.index.codes import NEVER_ENDS, micros
from standfast.scopes import root_of
from standfast.stores.postgres.connection import Db, select
from standfast.stores.postgres.walk import visible
from standfast.types import Where

KEPT_MAX = 10_000
_STAMPS = "SELECT coalesce(max(stamp), 0), count(*) FROM scope WHERE root = %s AND "
_SIZES = (
    "SELECT scope, count(*), coalesce(sum(words), 0)::bigint, min(key), max(key), min(expires_at)"
    " FROM record WHERE root = %s AND (expires_at IS NULL OR expires_at > %s) AND {seen}"
    " GROUP BY scope"
)


class ScopeSize(NamedTuple):
    """What has not expired in one scope: how many records and words, and their numbers."""

    documents: int
    words: int
    first: int
    last: int


class ScopeSizes(NamedTuple):
    """The same of all scopes that a search sees."""

    scopes: Mapping[str, ScopeSize]
    documents: int
    words: int

    def places(self, count: int) -> list[tuple[str, int]]:
        """Scopes and numbers of records in them, about so many, spread evenly over all."""
        found = []
        for scope, one in self.scopes.items():
            here = max(1, round(count * one.documents / self.documents))
            step = (one.last - one.first + 1) / here
            found += [(scope, one.first + int((place + 0.5) * step)) for place in range(here)]
        return found


class _KeptSizes(NamedTuple):
    stamps: tuple[Any, ...]  # of the scopes, when they were counted
    since: int  # at that time; and it holds until the next record expires
    until: int
    sizes: ScopeSizes


class SizeCache:
    """Used from several threads: a value is replaced as a whole. A scope's stamp changes with
    every record that is made or erased there, in whatever process."""

    def __init__(self) -> None:
        self._kept: dict[tuple[object, ...], _KeptSizes] = {}

    def ask(self, db: Db, where: Where) -> Any:
        """Send the question that ``told`` needs the answer of."""
        seen, given = visible(where)
        sql = _STAMPS + seen.replace("scope", "path")
        return db.execute(sql, (root_of(where.scopes[0]), *given))

    def told(self, db: Db, where: Where, stamped: Sequence[tuple[Any, ...]]) -> ScopeSizes:
        """In the transaction in which was asked: they are of the same moment."""
        key, now = (where.scopes, where.descend, where.exact), micros(where.now)
        known = self._kept.get(key)
        if known and known.stamps == stamped[0] and known.since <= now < known.until:
            return known.sizes
        seen, given = visible(where)
        rows = select(db, _SIZES.format(seen=seen), root_of(where.scopes[0]), now, *given)
        scopes = {scope: ScopeSize(*size) for scope, *size, _ in rows}
        sizes = ScopeSizes(
            scopes,
            sum(one.documents for one in scopes.values()),
            sum(one.words for one in scopes.values()),
        )
        until = min((row[-1] for row in rows if row[-1] is not None), default=NEVER_ENDS)
        if len(self._kept) >= KEPT_MAX:
            self._kept.clear()
        self._kept[key] = _KeptSizes(stamped[0], now, until, sizes)
        return sizes
