"""Looking for what a new record has to be compared with, and settling the comparison."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from recollect.engine import Engine
from recollect.index.vectors import says_nothing
from recollect.lifecycle.merge import (
    AGAINST,
    Known,
    Outcome,
    Verdict,
    between,
    claim_of,
    judge,
    repeated,
    settle,
    slot_tag,
)
from recollect.ports import Store
from recollect.scopes import is_within, root_of
from recollect.text.messages import turn_id
from recollect.types import LIVE, Query, Record, Vector

NEIGHBOURS = 8  # by meaning or, without a vector, by words
SLOT_MAX = 64  # records that make a claim about the same slot
COPIES_MAX = 1000
WORDS_FROM_MAX = 2000  # characters of a text, when it is looked for by its words
SIMILAR_ABOVE = 0.5  # what is farther away says neither the same, nor the opposite, nor more


async def meet(
    engine: Engine,
    store: Store,
    record: Record,
    vector: Vector | None,
    space: str,
    *,
    corrects: bool = False,
    pending: Sequence[Record] = (),
    seen_hash: bool = False,
) -> Outcome:
    """Compare, judge and settle: what to commit for this record, and what to say about it."""
    known = await compare(
        engine, store, record, vector, space, pending=pending, seen_hash=seen_hash
    )
    above = engine.profile.duplicate_above
    verdict = judge(record, known, duplicate_above=above, corrects=corrects)
    if confirmed := _confirmed(record, verdict):
        others = [one for one in known if one.record.id != confirmed.id]
        said_now = replace(confirmed, learned_at=record.learned_at)
        again = judge(said_now, others, duplicate_above=above, corrects=corrects)
        if again.kind in AGAINST:
            record, verdict = confirmed, again
    alike: list[Record] = []
    if verdict.targets and verdict.kind != "outdated":
        alike = await copies_of(engine, store, record, verdict.targets, pending=pending)
    turns: list[Record] = []
    if verdict.kind == "supersedes":
        turns = await turns_of(engine, store, record, verdict.targets)
    return settle(
        record, verdict, now=engine.now(), new_id=engine.new_id, copies=alike, turns=turns
    )


def _confirmed(record: Record, verdict: Verdict) -> Record | None:
    """The known record that is held back no longer because of what was said now. Nobody has
    compared it with anything yet."""
    known = verdict.target
    if verdict.kind != "duplicate" or known is None or known.status != "quarantined":
        return None
    if known.scope != record.scope:
        return None
    after = replace(repeated(known, record), valid_from=record.at)
    return after if after.status == "active" else None


async def disputed_again(
    engine: Engine, store: Store, record: Record, *, pending: Sequence[Record] = ()
) -> Outcome | None:
    """For a record that is believed again after it was not: what to write if something that is
    known in its scope by now speaks against it. Both are disputed then, for a person to decide.
    What it is to the records above its scope, its edges say."""
    query = of_slot(record, engine.now())
    if query is None or record.status not in LIVE:
        return None
    known = [Known(record=hit.record) for hit in await store.search(query)]
    against = [
        one.record
        for one in _with_pending(known, record, pending)
        if one.record.scope == record.scope and between(record, one.record) in AGAINST
    ]
    if not against:
        return None
    verdict = Verdict(kind="contradicts", targets=tuple(against), reason="both are believed")
    return settle(record, verdict, now=engine.now(), new_id=engine.new_id)


async def compare(
    engine: Engine,
    store: Store,
    record: Record,
    vector: Vector | None,
    space: str,
    *,
    pending: Sequence[Record] = (),
    seen_hash: bool = False,
) -> list[Known]:
    """The live records that the new one may repeat, enrich, replace or contradict, in its own
    scope and those above it: the nearest ones and those that make a claim about the same slot.
    ``pending`` are records that the same commit will write or change; they count as they will
    be. ``seen_hash``: the store refused this very text, though no vector led to it."""
    found: dict[str, Known] = {}
    for query in _queries(engine, record, vector, space, seen_hash=seen_hash):
        for hit in await store.search(query):
            known = Known(record=hit.record, similarity=hit.similarity)
            found.setdefault(hit.record.id, known)
    return _with_pending(found.values(), record, pending)


def _with_pending(known: Iterable[Known], record: Record, pending: Iterable[Record]) -> list[Known]:
    found = {one.record.id: one for one in known}
    for one in pending:
        earlier = found.pop(one.id, Known(record=one))
        if one.status in LIVE and is_within(record.scope, one.scope):
            found[one.id] = replace(earlier, record=one)
    return list(found.values())


def _queries(
    engine: Engine, record: Record, vector: Vector | None, space: str, *, seen_hash: bool
) -> Iterator[Query]:
    base = Query(scopes=(record.scope,), now=engine.now(), statuses=LIVE, limit=NEIGHBOURS)
    alike = replace(base, kinds=(record.kind,))
    near = vector is not None and not says_nothing(vector) and record.kind != "episodic"
    if near:  # an equal text is also the nearest one
        yield replace(alike, vector=vector, space=space, similar_above=SIMILAR_ABOVE)
    if record.hash and (seen_hash or not near):
        yield replace(base, hashes=(record.hash,))
    if not near and record.kind != "episodic":
        yield replace(alike, text=record.text[:WORDS_FROM_MAX])
    if slot := of_slot(record, engine.now()):
        yield slot


def of_slot(record: Record, now: datetime) -> Query | None:
    """For the live records that make a claim about the same slot, in the record's scope and those
    above it; None if it makes no claim."""
    claim = claim_of(record)
    if claim is None:
        return None
    return Query(
        scopes=(record.scope,),
        now=now,
        statuses=LIVE,
        kinds=(record.kind,),
        tags=(slot_tag(claim),),
        limit=SLOT_MAX,
    )


async def live_equal(store: Store, scope: str, hash_: str, now: datetime) -> Record | None:
    """The live record of this very scope whose text has that hash: there is one at most."""
    query = Query(scopes=(scope,), now=now, exact=True, statuses=LIVE, hashes=(hash_,), limit=1)
    hits = await store.search(query) if hash_ else []
    return hits[0].record if hits else None


async def turns_of(
    engine: Engine, store: Store, record: Record, targets: Sequence[Record]
) -> list[Record]:
    """The turns in which the targets were said, each by itself: what replaces a fact replaces
    the words it was learned from too, where they are this scope's to speak about."""
    ids = [
        turn_id(*target.session_key, target.lineage[0])
        for target in targets
        if target.session and len(target.lineage) == 1
    ]
    found = await store.records(root_of(record.scope), ids, now=engine.now()) if ids else []
    return [turn for turn in found if turn.type == "turn" and is_within(turn.scope, record.scope)]


async def copies_of(
    engine: Engine,
    store: Store,
    record: Record,
    targets: Sequence[Record],
    *,
    pending: Sequence[Record] = (),
) -> list[Record]:
    """The live copies of some records in the scope of ``record`` and below it, so that one
    commit treats them alike. Siblings are not visible from here and stay."""
    query = Query(
        scopes=(record.scope,),
        now=engine.now(),
        descend=True,
        statuses=LIVE,
        origins=tuple({target.origin or target.id for target in targets}),
        limit=COPIES_MAX,
    )
    found = {hit.record.id: hit.record for hit in await store.search(query)}
    found |= {one.id: one for one in pending if one.id in found or one.origin in query.origins}
    named = {target.id for target in targets}
    return [one for one in found.values() if one.id not in named and one.status in LIVE]
