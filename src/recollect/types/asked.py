"""From the wide query to what a store is asked."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from recollect.types import Filter, Find, Hit, Listing, Query, Search

if TYPE_CHECKING:
    from recollect.ports import Store

_FILTERS = [field.name for field in fields(Filter)]


def asked_by(query: Query) -> Search | Listing | Find:
    where = Filter(**{name: getattr(query, name) for name in _FILTERS})
    if query.text or query.vector is not None:
        return Search(
            where=where,
            text=query.text,
            vector=query.vector,
            space=query.space,
            similar_above=query.similar_above,
            around=query.around,
            limit=query.limit,
        )
    order = "recent" if query.order == "match" else query.order
    if query.hashes or query.origins or query.lineage or query.derived_from:
        return Find(
            where=where,
            hashes=query.hashes,
            origins=query.origins,
            lineage=query.lineage,
            derived_from=query.derived_from,
            order=order,
            after=query.after,
            limit=query.limit,
        )
    return Listing(where=where, order=order, after=query.after, limit=query.limit)


async def answered(store: Store, asked: Search | Listing | Find) -> list[Hit]:
    if isinstance(asked, Search):
        return await store.search(asked)
    read = store.listing(asked) if isinstance(asked, Listing) else store.find(asked)
    return [Hit(record=record) for record in await read]
