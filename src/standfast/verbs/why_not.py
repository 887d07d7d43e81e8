"""why_not: at which step of a recall one record was left out, or at which place it came.

It asks as ``recall`` does, then again without threshold and with room for many more, and walks
through the same steps until the record is gone. Looking is not using: nothing is counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from standfast.engine import Engine
from standfast.errors import NotFound
from standfast.index.filters import passes
from standfast.ports import Store
from standfast.rank.candidates import Candidate
from standfast.rank.places import PASSED_OVER, is_outside
from standfast.rank.stages import dropped_by, strength
from standfast.rank.truth import holds_at
from standfast.scopes import is_visible, root_of
from standfast.text.inputs import clean_name, share
from standfast.types import Answer, Hit, Record, Search, Where
from standfast.types.arguments import LIMIT_MAX
from standfast.types.frozen import frozen
from standfast.verbs.recall import (
    Question,
    as_profile,
    hits_of,
    posed,
    query_of,
    recall,
    spoken_over,
)

_STAGES = {
    "noise": "no word of the query is in it, and its meaning is not near enough",
    "drop_copies": "a copy of it, or another record with the same text, came before it",
    "one_per_source": "it and the turn it was learned from say the same: the turn stands for both",
}


@frozen
class Trial:
    """One record and the question that did not bring it."""

    engine: Engine
    record: Record
    store: Store
    question: Question
    query: Search
    limit: int


async def why_not(engine: Engine, id_: str, question: Question) -> Answer:
    found = await engine.find_records([clean_name(id_, "id")])
    if id_ not in found:
        raise NotFound(f"there is no record {id_!r}")
    record, store = found[id_]
    asker = as_profile(engine, question.profile)
    limit = asker.profile.limit if question.limit is None else question.limit
    query, _ = query_of(asker, question, limit)
    by_root, descend = await asker.read_scopes(question.scope, descend=question.descend)
    where = replace(query.where, scopes=by_root.get(root_of(record.scope), ()), descend=descend)
    trial = Trial(
        engine=asker,
        record=record,
        store=store,
        question=question,
        query=replace(query, where=where),
        limit=limit,
    )
    if filtered := list(_filters(record, where)):
        return Answer(hits=(Hit(record=record),), notes=(f"left out: {'; '.join(filtered)}",))
    return await _ranked(trial)


def _filters(record: Record, where: Where) -> Iterator[str]:
    """Each filter that the record does not pass, in words."""
    if not is_visible(record.scope, where.scopes, descend=where.descend, exact=where.exact):
        yield f"it is in {record.scope}, which was not looked in"
        return
    free = Where(scopes=where.scopes, now=where.now, descend=where.descend, statuses=())
    told = {
        "kinds": f"its kind is {record.kind}",
        "types": f"its type is {record.type}",
        "tags": "it has none of the tags",
        "matching": "its tags or its data do not match `where`",
        "since": f"it happened on {record.at:%Y-%m-%d}, before `since`",
        "until": f"it happened on {record.at:%Y-%m-%d}, not before `until`",
        "as_of": "it was not true at `as_of`, or is not believed now",
        "known_at": "it was not believed at `known_at`",
    }
    if not passes(record, free):
        yield "it has expired"
    for name, said in told.items():
        if not passes(record, replace(free, **{name: getattr(where, name)})):
            yield said
    if where.as_of and not holds_at(record, where.as_of):
        yield "nobody said since when it is true, and it was told after `as_of`"
    past = where.as_of or where.known_at
    if not past and not passes(record, replace(free, statuses=where.statuses)):
        yield f"it is {record.status}, and only {' or '.join(where.statuses)} counts"


async def _ranked(trial: Trial) -> Answer:
    as_asked = await recall(trial.engine, _plain(trial.question), count_uses=False)
    if place := _place(as_asked.hits, trial.record.id):
        told = f"it is returned, at place {place} of {len(as_asked.hits)}"
        return Answer(hits=(as_asked.hits[place - 1],), notes=(told, *as_asked.notes))
    many = _plain(trial.question, limit=LIMIT_MAX, threshold=0.0)
    all_ = await recall(trial.engine, many, count_uses=False)
    place = _place(all_.hits, trial.record.id)
    if not place:
        hit, told = await _lost(trial)
        return Answer(hits=(hit,), notes=(told, *as_asked.notes))
    hit = all_.hits[place - 1]
    told = _too_low(trial, hit, place, len(all_.hits))
    if place <= trial.limit and is_outside(hit.record) and _passed_over(as_asked):
        told = f"passed over: place {place} of {len(all_.hits)} candidates, but {PASSED_OVER}"
    return Answer(hits=(hit,), notes=(told, *as_asked.notes))


def _passed_over(answer: Answer) -> bool:
    return any(PASSED_OVER in note for note in answer.notes)


def _plain(question: Question, **other: object) -> Question:
    """Without a model that chooses: what it would choose nobody knows beforehand."""
    return replace(question, fast=True, explain=False, **other)  # type: ignore[arg-type]


def _place(hits: Sequence[Hit], id_: str) -> int:
    """From 1; 0 if it is not there."""
    return next((place for place, hit in enumerate(hits, 1) if hit.record.id == id_), 0)


def _too_low(trial: Trial, hit: Hit, place: int, known: int) -> str:
    wanted = trial.question.threshold
    least = trial.engine.profile.threshold if wanted is None else share(wanted, "threshold")
    profile = trial.engine.profile
    strong = strength(Candidate(hit, score=hit.score), least, profile)
    if trial.query.text and strong < least:
        return f"too weak: its {profile.threshold_on} {strong:.3f} is below the threshold {least:g}"
    if place > trial.limit:
        return f"too low: place {place} of {known} candidates, and the limit is {trial.limit}"
    return (
        f"not among the best {trial.query.limit} candidates of either arm; with more it would "
        f"come at place {place}"
    )


async def _lost(trial: Trial) -> tuple[Hit, str]:
    """It has no place at all: which step took it away?"""
    record, where = trial.record, trial.query.where
    nothing = Hit(record=record)
    root = root_of(record.scope)
    if record.id in await spoken_over(trial.store, where, root, [record]):
        return nothing, "spoken over: a scope below its own says otherwise"
    wide = replace(trial.query, limit=2 * LIMIT_MAX)
    questions, _ = await posed(trial.engine, trial.question, wide, (record.scope,))
    for query, asked in questions:
        hits = await hits_of(trial.store, query, root_of(trial.record.scope))
        mine = next((hit for hit in hits if hit.record.id == record.id), None)
        if mine is None:
            continue
        stage = dropped_by(hits, asked, record.id)
        return mine, f"dropped: {_STAGES.get(stage, 'something like it stands for it')}"
    return nothing, f"not found: neither words nor meaning brought it (best {wide.limit} of each)"
