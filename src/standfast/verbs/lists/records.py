"""Records in the order of their ids, which is that of their making, or from the newest back; and
what they are linked to."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import get_args

from standfast.engine import Engine, every_record
from standfast.errors import Invalid, NotFound
from standfast.index.conditions import conditions_of
from standfast.scopes import root_of
from standfast.text.inputs import (
    ANSWER_BYTES_MAX,
    When,
    clean_name,
    clean_tags,
    count,
    moment,
    several_of,
)
from standfast.types import Kind, Listing, Record, Relation, Source, Status, Type, Where
from standfast.types.arguments import Filter
from standfast.types.frozen import frozen
from standfast.types.pages import Page
from standfast.verbs.lists.cursors import Place, place_of
from standfast.verbs.lists.walk import RootPart, page_of, parts_from, weight_of

PAGE = 500
FEW = 8  # of each root at first, when the newest of many are wanted
EVERY_STATUS: tuple[Status, ...] = get_args(Status)
_ANY_TIME = datetime(1970, 1, 1, tzinfo=UTC)  # when a page is asked for is no part of the question


@frozen
class RecordsWanted:
    """What the caller asks for, before checking."""

    scope: str | None = None
    descend: bool = False
    kinds: Iterable[str] = ()
    types: Iterable[str] = ()
    tags: Iterable[str] = ()
    where: Filter | None = None
    statuses: Iterable[str] = ()
    sources: Iterable[str] = ()
    authors: Iterable[str] = ()
    session: str | None = None
    since: When | None = None
    until: When | None = None
    newest: bool = False


async def list_records(
    engine: Engine, wanted: RecordsWanted, *, cursor: str, limit: int
) -> Page[Record]:
    count(limit, "limit")
    query = replace(_query(engine, wanted), limit=min(limit + 1, PAGE))
    timeless = replace(query, where=replace(query.where, now=_ANY_TIME), limit=1)
    question = ("records", wanted.scope, wanted.descend, timeless)
    if wanted.newest:
        place = place_of(cursor, question, (str,))
        return await page_of(_newest_first(engine, wanted, query, place), limit, question)
    place = place_of(cursor, question, (str, int, str))
    return await page_of(_in_order(engine, wanted, query, place), limit, question)


async def _in_order(
    engine: Engine, wanted: RecordsWanted, query: Listing, place: Place | None
) -> AsyncIterator[tuple[Place, Record]]:
    """Root by root, in the order of their names."""
    async for part in parts_from(engine, wanted.scope, descend=wanted.descend, place=place):
        after = place[2] if place and part.begun else ""
        async for record in _walk(part, query, after):
            yield part.place(record.id), record


async def _newest_first(
    engine: Engine, wanted: RecordsWanted, query: Listing, place: Place | None
) -> AsyncIterator[tuple[Place, Record]]:
    """Of all roots together: an id is made of the time, and belongs to one record only."""
    parts = [p async for p in parts_from(engine, wanted.scope, descend=wanted.descend, place=None)]
    few = replace(query, limit=max(query.limit // max(len(parts), 1), FEW))
    walks = [_walk(part, few, place[0] if place else "") for part in parts]
    heads = [(record, walk) for walk in walks if (record := await anext(walk, None))]
    while heads:
        head = max(heads, key=lambda one: one[0].id)
        heads.remove(head)
        record, walk = head
        yield [record.id], record
        if following := await anext(walk, None):
            heads.append((following, walk))


async def _walk(part: RootPart, query: Listing, after: str) -> AsyncGenerator[Record, None]:
    where = replace(query.where, scopes=part.scopes, descend=part.descend)
    here = replace(query, where=where, after=after)
    async for record in every_record(part.store, here, size=query.limit):
        yield record


def _query(engine: Engine, wanted: RecordsWanted) -> Listing:
    since, _ = moment(wanted.since, "since")
    until, _ = moment(wanted.until, "until")
    return Listing(
        where=Where(
            scopes=(),
            now=engine.now(),
            kinds=several_of(wanted.kinds, Kind, "kind"),
            types=several_of(wanted.types, Type, "type"),
            tags=clean_tags(wanted.tags),
            statuses=several_of(wanted.statuses, Status, "status") or EVERY_STATUS,
            sources=several_of(wanted.sources, Source, "source"),
            authors=tuple(clean_name(author, "an author") for author in wanted.authors),
            session=clean_name(wanted.session, "session") if wanted.session else "",
            since=since,
            until=until,
            matching=conditions_of(wanted.where),
        ),
        order="newest" if wanted.newest else "id",
    )


async def records_by_id(engine: Engine, ids: Sequence[str]) -> tuple[Record, ...]:
    """In the order asked for; what is missing or cannot be seen is left out."""
    if isinstance(ids, str):
        raise Invalid(f'ids must be a list: write ["{ids[:40]}"]')
    wanted = [clean_name(id_, "an id") for id_ in ids]
    found = await engine.find_records(wanted)
    if sum(weight_of(record) for record, _ in found.values()) > ANSWER_BYTES_MAX:
        raise Invalid(
            f"these records are more than the {ANSWER_BYTES_MAX >> 20} MiB that one answer holds; "
            "ask for fewer at once"
        )
    return tuple(found[id_][0] for id_ in wanted if id_ in found)


async def relations_of(engine: Engine, id_: str) -> tuple[Relation, ...]:
    """Its edges, retired ones too, as far as both ends can be seen."""
    found = await engine.find_records([clean_name(id_, "id")])
    if id_ not in found:
        raise NotFound(f"there is no record {id_!r}")
    record, store = found[id_]
    edges = await store.relations(root_of(record.scope), (id_,))
    ends = {end for edge in edges for end in (edge.source, edge.target)}
    seen = await engine.find_records(sorted(ends))
    shown = [edge for edge in edges if edge.source in seen and edge.target in seen]
    return tuple(sorted(shown, key=lambda edge: (edge.learned_at, edge.source, edge.target)))
