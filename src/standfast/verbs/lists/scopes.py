"""Which scopes there are, and how much each of them holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping

from standfast.engine import Engine, every_record
from standfast.ports import ScopeTally, Store
from standfast.scopes import is_visible, parents
from standfast.text.inputs import count
from standfast.types import Listing, Status, Where
from standfast.types.pages import Page, ScopeCount
from standfast.verbs.lists.cursors import Place, place_of
from standfast.verbs.lists.records import EVERY_STATUS
from standfast.verbs.lists.walk import page_of

BELIEVED: tuple[Status, ...] = ("active", "disputed")

Tally = Mapping[tuple[str, Status], int]


async def list_scopes(
    engine: Engine, *, scope: str | None, cursor: str, limit: int
) -> Page[ScopeCount]:
    """Root by root, in order of name. A parent that holds nothing itself is named too."""
    count(limit, "limit")
    question = ("scopes", scope)
    place = place_of(cursor, question, (str, str))
    return await page_of(_scopes(engine, scope, place), limit, question)


async def _scopes(
    engine: Engine, scope: str | None, place: Place | None
) -> AsyncIterator[tuple[Place, ScopeCount]]:
    by_root, _ = await engine.read_scopes(scope, descend=True)
    root_before, last = place or ("", "")
    for root in sorted(by_root):
        if root < root_before:
            continue
        named = by_root[root]
        found: Counter[tuple[str, Status]] = Counter()
        for store in engine.stores_of(root):
            found.update(dict(await _tally(engine, store, root)))
        seen = {
            pair: number
            for pair, number in found.items()
            if is_visible(pair[0], named, descend=True, exact=scope is not None)
        }
        for one in _tree(seen):
            if (root, one.scope) > (root_before, last):
                yield [root, one.scope], one


async def _tally(engine: Engine, store: Store, root: str) -> Tally:
    """An engine that cannot count by scope is read through."""
    if isinstance(store, ScopeTally):
        return await store.tally(root, now=engine.now())
    everything = Where(scopes=(root,), now=engine.now(), descend=True, statuses=EVERY_STATUS)
    walk = every_record(store, Listing(where=everything, order="id"))
    return Counter([(record.scope, record.status) async for record in walk])


def _tree(found: Tally) -> list[ScopeCount]:
    own: Counter[str] = Counter()
    believed: Counter[str] = Counter()
    below: Counter[str] = Counter()
    for (scope, status), number in found.items():
        own[scope] += number
        believed[scope] += number if status in BELIEVED else 0
        for above in (*parents(scope), scope):
            below[above] += number
    return [
        ScopeCount(scope=scope, records=own[scope], believed=believed[scope], below=below[scope])
        for scope in sorted(below)
    ]
