"""Disputes: records that speak against one another and wait for a person to decide.

A record is disputed as long as a live one stands against it. Whatever road the other side takes
out of the dispute, the record that is left becomes an ordinary one again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from standfast.engine import Engine
from standfast.lifecycle.status import settled
from standfast.ports import Store
from standfast.types import LIVE, Record, Relation
from standfast.types.frozen import frozen


def opponents_of(id_: str, edges: Iterable[Relation]) -> list[str]:
    """The records that a record contradicts, or that contradict it, whatever became of them."""
    found = [
        edge.target if edge.source == id_ else edge.source
        for edge in edges
        if edge.kind == "contradicts" and edge.retired_at is None and id_ in _ends(edge)
    ]
    return list(dict.fromkeys(found))


def _ends(edge: Relation) -> tuple[str, str]:
    return edge.source, edge.target


def still_disputed(record: Record, edges: Iterable[Relation], others: Mapping[str, Record]) -> bool:
    """Does a live record still speak against this one? ``others`` are those that exist."""
    return record.status == "disputed" and any(
        other.status in LIVE
        for id_ in opponents_of(record.id, edges)
        if (other := others.get(id_)) is not None
    )


@frozen
class Disputes:
    """Records, the edges that touch them, and the records at the other ends."""

    records: Mapping[str, Record]
    edges: Sequence[Relation]

    def opponents(self, id_: str) -> list[Record]:
        """The live ones."""
        found = [self.records.get(other) for other in opponents_of(id_, self.edges)]
        return [one for one in found if one is not None and one.status in LIVE]


async def disputes_of(
    engine: Engine, store: Store, root: str, records: Iterable[Record]
) -> Disputes:
    """What stands against these records, and what stands against that: far enough to see who
    is left without an opponent when they go."""
    known = {record.id: record for record in records}
    edges: dict[tuple[str, str], Relation] = {}
    fresh = list(known)
    for _ in range(2):
        found = await store.relations(root, fresh) if fresh else []
        edges |= {_ends(edge): edge for edge in found if edge.kind == "contradicts"}
        missing = {end for edge in edges for end in edge} - known.keys()
        fresh = sorted(missing)
        known |= {one.id: one for one in await store.records(root, fresh, now=engine.now())}
    return Disputes(records=known, edges=tuple(edges.values()))


def freed(disputes: Disputes, decided: Mapping[str, Record]) -> list[Record]:
    """The opponents of ``decided`` that nothing speaks against once those are as they will be."""
    then = {**disputes.records, **decided}
    near = {other for id_ in decided for other in opponents_of(id_, disputes.edges)}
    return [
        settled(then[id_])
        for id_ in sorted(near - decided.keys())
        if id_ in then
        and then[id_].status == "disputed"
        and not still_disputed(then[id_], disputes.edges, then)
    ]
