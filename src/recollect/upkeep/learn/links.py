"""Edges that learning draws beside those of merging: what a model suggests, and who says it too.

A suggestion is drawn only between records that are there, alive and visible from one another.
It never replaces, disputes or hides anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from recollect.scopes import is_visible
from recollect.types import LIVE, Record, Relation, RelationKind
from recollect.upkeep.learn.drafts import LearnDraft
from recollect.upkeep.learn.values import LearnCandidate


@dataclass(frozen=True, slots=True)
class EdgeWish:
    source: str
    kind: RelationKind
    target: str


async def link(draft: LearnDraft, candidates: Sequence[LearnCandidate]) -> None:
    """Add what may be drawn to the draft."""
    wanted = list(dict.fromkeys((*_suggested(draft, candidates), *_repeated(draft))))
    if not wanted:
        return
    ids = {id_ for edge in wanted for id_ in (edge.source, edge.target)}
    records = await _records(draft, ids)
    drawn = await draft.turns.store.relations(draft.root, tuple(ids))
    known = {(edge.source, edge.kind, edge.target) for edge in drawn}
    for edge in wanted:
        source, target = records.get(edge.source), records.get(edge.target)
        key = (edge.source, edge.kind, edge.target)
        if source is None or target is None or key in known or key in draft.relations:
            continue
        if _may_draw(draft, edge, source, target):
            draft.relations[key] = Relation(
                scope=source.scope,
                source=source.id,
                target=target.id,
                kind=edge.kind,
                learned_at=draft.engine.now(),
                lineage=source.lineage,
            )


def _suggested(draft: LearnDraft, candidates: Sequence[LearnCandidate]) -> Iterator[EdgeWish]:
    for (number, scope), id_ in draft.ids.items():
        candidate = candidates[number]
        for kind, target in candidate.lesson.links:
            yield EdgeWish(id_, kind, target)
        for kind, other in candidate.links:
            if (other, scope) in draft.ids:
                yield EdgeWish(id_, kind, draft.ids[other, scope])


def _repeated(draft: LearnDraft) -> Iterator[EdgeWish]:
    """Who says again what is known supports it."""
    for message, known in draft.repeated:
        if message in draft.told_by:
            yield EdgeWish(draft.told_by[message].id, "supports", known)


async def _records(draft: LearnDraft, ids: set[str]) -> dict[str, Record]:
    stored = await draft.turns.store.records(draft.root, tuple(ids), now=draft.engine.now())
    return {record.id: record for record in stored} | {
        id_: draft.records[id_] for id_ in ids if id_ in draft.records
    }


def _may_draw(draft: LearnDraft, edge: EdgeWish, source: Record, target: Record) -> bool:
    if source.id == target.id or source.status not in LIVE or target.status not in LIVE:
        return False
    if source.type == "turn" and _same_source(source, target):
        return False
    replaces = any((source.id, "supersedes", target.id) == key for key in draft.relations)
    visible = is_visible(target.scope, (source.scope,), descend=False, exact=False)
    return visible and not (edge.kind == "contradicts" and replaces)


def _same_source(turn: Record, target: Record) -> bool:
    """A fact is not supported by the very message it was made from."""
    same_session = turn.session_key == target.session_key
    return same_session and not set(turn.lineage).isdisjoint(target.lineage)
