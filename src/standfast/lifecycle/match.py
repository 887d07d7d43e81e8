"""Looking for what a new record has to be compared with, and settling the comparison."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from heapq import nlargest
from itertools import islice
from types import MappingProxyType

from standfast.engine import Engine
from standfast.index.vectors import says_nothing
from standfast.lifecycle.doubt import NEIGHBOURS, WORDS_FROM_MAX, Heard, known_in, weighed
from standfast.lifecycle.merge import (
    AGAINST,
    NOBODY,
    Known,
    Named,
    Outcome,
    Verdict,
    between,
    by_meaning,
    claim_of,
    judge,
    repeated,
    settle,
    tags_of_change,
    tells_change,
    with_claim,
)
from standfast.lifecycle.safety import (
    guarded,
    is_personal,
    outweighs,
    unprotected,
    with_safety_note,
)
from standfast.ports import Store, breath
from standfast.scopes import is_within, root_of
from standfast.text.analysis import words
from standfast.text.claim import claim_from_data, findable_tags, slot_tag
from standfast.text.messages import turn_id
from standfast.types import LIVE, Find, Listing, Record, Search, Vector, Where

SLOT_MAX = 64  # records that make a claim about the same slot
COPIES_MAX = 1000
SIMILAR_ABOVE = 0.5  # what is farther away says neither the same, nor the opposite, nor more


async def meet(
    engine: Engine,
    store: Store,
    record: Record,
    vector: Vector | None,
    space: str,
    *,
    corrects: bool = False,
    named: Named = NOBODY,
    pending: Sequence[Record] = (),
    near: Mapping[str, float] | None = None,
    seen_hash: bool = False,
    heard: Heard | None = None,
) -> Outcome:
    """Compare, judge and settle: what to commit for this record, and what to say about it.
    ``named``: the known texts that it surely or perhaps corrects. ``near``: see ``compare``.
    ``heard``: where the rules took it from; None where somebody said what is to be kept."""
    known = await compare(
        engine,
        store,
        record,
        vector,
        space,
        named=named,
        pending=pending,
        near=near,
        seen_hash=seen_hash,
    )
    if heard is not None:
        written = frozenset(one.id for one in pending)
        known = await weighed(engine, store, record, vector, space, known, heard, written=written)
    above = engine.profile.duplicate_above
    verdict = judge(
        record,
        known,
        duplicate_above=above,
        corrects=corrects,
        named=named,
        wary=heard is not None,
        refused=seen_hash,
    )
    if confirmed := _confirmed(record, verdict):
        others = [one for one in known if one.record.id != confirmed.id]
        said_now = replace(confirmed, learned_at=record.learned_at)
        again = judge(said_now, others, duplicate_above=above, corrects=corrects)
        if again.kind in AGAINST:
            record, verdict = confirmed, again
    verdict = guarded(record, verdict, known, personal=is_personal(engine, record))
    record = with_safety_note(record, verdict)
    alike: list[Record] = []
    if verdict.targets and verdict.kind != "outdated":
        alike = await copies_of(engine, store, record, verdict.targets, pending=pending)
    turns: list[Record] = []
    if verdict.kind == "supersedes":
        turns = await turns_of(engine, store, record, verdict.targets)
    outcome = settle(
        record, verdict, now=engine.now(), new_id=engine.new_id, copies=alike, turns=turns
    )
    return _with_doubt(engine, record, outcome, known, verdict)


def _with_doubt(
    engine: Engine, record: Record, outcome: Outcome, known: Sequence[Known], verdict: Verdict
) -> Outcome:
    """Who says what replaces one statement may have ended another: what who reads both is sure of
    is in doubt, too."""
    replaced = {one.id for one in verdict.targets}
    others = [one for one in known if one.agreed and one.record.id not in replaced]
    doubt = unprotected(by_meaning(record, others))
    if verdict.kind != "supersedes" or not doubt.targets:
        return outcome
    more = settle(record, doubt, now=engine.now(), new_id=engine.new_id)
    written = {one.id for one in outcome.records}
    return replace(
        outcome,
        records=(*(one for one in more.records if one.id not in written), *outcome.records),
        relations=(*outcome.relations, *more.relations),
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


class PendingClaims:
    """Records that the same commit will write, found by what their claims are about. Each is read
    once, however many records are believed again beside it."""

    def __init__(self, records: Mapping[str, Record]) -> None:
        """``records`` may grow and change meanwhile, but none of them goes."""
        self._records = records
        self._read = 0
        self._by_tag: dict[str, list[str]] = {}

    async def of(self, tags: Iterable[str], known: Iterable[str]) -> list[Record]:
        """Those of a slot, as many as a store would bring, and those that it has brought."""
        if len(self._records) > self._read:
            for id_, record in islice(list(self._records.items()), self._read, None):
                await breath()
                claimed = with_claim(record)
                for tag in findable_tags((), claimed.data):
                    self._by_tag.setdefault(tag, []).append(id_)
            self._read = len(self._records)
        ids = {id_: None for tag in tags for id_ in self._by_tag.get(tag, ())[-SLOT_MAX:]}
        ids |= {id_: None for id_ in known if id_ in self._records}
        return [self._records[id_] for id_ in ids]


async def disputed_again(
    engine: Engine, store: Store, record: Record, *, pending: PendingClaims
) -> Outcome | None:
    """For a record that is believed again after it was not: what to write if something that is
    known in its scope by now speaks against it. Both are disputed then, for a person to decide.
    What it is to the records above its scope, its edges say."""
    await breath()
    query = of_slot(record, engine.now())
    if query is None or record.status not in LIVE:
        return None
    known = [Known(record=one) for one in await store.listing(query)]
    beside = await pending.of(query.where.tags, [one.record.id for one in known])
    against = [
        one.record
        for one in _with_pending(known, record, beside)
        if one.record.scope == record.scope and between(record, one.record) in AGAINST
    ]
    if not against:
        return None
    verdict = Verdict(
        kind="contradicts",
        targets=tuple(against),
        reason="both are believed",
        stands=all(outweighs(record, one) for one in against),
        kept=frozenset(one.id for one in against if outweighs(one, record)),
    )
    return settle(record, verdict, now=engine.now(), new_id=engine.new_id)


async def compare(
    engine: Engine,
    store: Store,
    record: Record,
    vector: Vector | None,
    space: str,
    *,
    named: Named = NOBODY,
    pending: Sequence[Record] = (),
    near: Mapping[str, float] | None = None,
    seen_hash: bool = False,
) -> list[Known]:
    """The live records that the new one may repeat, enrich, replace or contradict, in its own
    scope and those above it: the nearest ones and those that make a claim about the same slot.
    ``pending`` are records that the same commit will write or change; they count as they will
    be, and with ``near``, how similar each of them is, only as far as a search would have found
    them. ``seen_hash``: the store refused this very text, though no vector led to it."""
    found: dict[str, Known] = {}
    for query in _queries(engine, record, vector, space, named=named, seen_hash=seen_hash):
        for known in await known_in(store, query):
            found.setdefault(known.record.id, known)
    if near is not None:
        by_search = {one.id for one in _as_found(record, pending, near)}
        pending = [one for one in pending if one.id in found or one.id in by_search]
    return _with_pending(found.values(), record, pending, near or {})


def _with_pending(
    known: Iterable[Known],
    record: Record,
    pending: Iterable[Record],
    near: Mapping[str, float] = MappingProxyType({}),
) -> list[Known]:
    found = {one.record.id: one for one in known}
    for one in pending:
        earlier = found.pop(one.id, Known(record=one, similarity=near.get(one.id)))
        if one.status in LIVE and is_within(record.scope, one.scope):
            found[one.id] = replace(earlier, record=one)
    return list(found.values())


def _as_found(
    record: Record, pending: Sequence[Record], near: Mapping[str, float]
) -> Iterator[Record]:
    """Those to which the searches for what a record may repeat or replace would lead."""
    yield from (one for one in pending if one.hash and one.hash == record.hash)
    alike = [one for one in pending if one.kind == record.kind]
    if record.kind == "episodic" or not alike:
        return
    claim = claim_from_data(record.data)
    tags = {slot_tag(claim)} if claim is not None else set()
    if record.kind == "semantic" and tells_change(record):
        tags.update(tags_of_change(record))
    if tags:
        yield from (one for one in alike if not tags.isdisjoint(findable_tags(one.tags, one.data)))
    if near:
        close = [one for one in alike if near.get(one.id, -1.0) > SIMILAR_ABOVE]
        yield from nlargest(NEIGHBOURS, close, key=lambda one: near[one.id])
    else:
        said = set(words(record.text[:WORDS_FROM_MAX]))
        shared = {one.id: len(said.intersection(words(one.text))) for one in alike}
        close = [one for one in alike if shared[one.id]]
        yield from nlargest(NEIGHBOURS, close, key=lambda one: shared[one.id])


def _queries(
    engine: Engine,
    record: Record,
    vector: Vector | None,
    space: str,
    *,
    named: Named,
    seen_hash: bool,
) -> Iterator[Search | Find | Listing]:
    live = Where(scopes=(record.scope,), now=engine.now(), statuses=LIVE)
    alike = Search(where=replace(live, kinds=(record.kind,)), limit=NEIGHBOURS)
    near = vector is not None and not says_nothing(vector) and record.kind != "episodic"
    tells = record.kind == "semantic" and tells_change(record)
    if near:  # an equal text is also the nearest one
        by_words = record.text[:WORDS_FROM_MAX] if tells else ""
        yield replace(alike, vector=vector, space=space, similar_above=SIMILAR_ABOVE, text=by_words)
    if record.hash and (seen_hash or not near):
        yield Find(where=live, hashes=(record.hash,), limit=NEIGHBOURS)
    if not near and record.kind != "episodic":
        yield replace(alike, text=record.text[:WORDS_FROM_MAX])
    if named.hashes:
        yield Find(where=live, hashes=named.hashes, limit=NEIGHBOURS)
    if slot := of_slot(record, engine.now()):
        yield slot
    if tells:
        where = replace(live, kinds=(record.kind,), tags=tags_of_change(record))
        yield Listing(where=where, limit=SLOT_MAX)


def of_slot(record: Record, now: datetime) -> Listing | None:
    """For the live records that make a claim about the same slot, in the record's scope and those
    above it; None if it makes no claim."""
    claim = claim_of(record)
    if claim is None:
        return None
    return Listing(
        where=Where(
            scopes=(record.scope,),
            now=now,
            statuses=LIVE,
            kinds=(record.kind,),
            tags=(slot_tag(claim),),
        ),
        limit=SLOT_MAX,
    )


async def live_equal(store: Store, scope: str, hash_: str, now: datetime) -> Record | None:
    """The live record of this very scope whose text has that hash: there is one at most."""
    query = Find(
        where=Where(scopes=(scope,), now=now, exact=True, statuses=LIVE), hashes=(hash_,), limit=1
    )
    found = await store.find(query) if hash_ else []
    return found[0] if found else None


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
    query = Find(
        where=Where(scopes=(record.scope,), now=engine.now(), descend=True, statuses=LIVE),
        origins=tuple({target.origin or target.id for target in targets}),
        limit=COPIES_MAX,
    )
    found = {one.id: one for one in await store.find(query)}
    found |= {one.id: one for one in pending if one.id in found or one.origin in query.origins}
    named = {target.id for target in targets}
    return [one for one in found.values() if one.id not in named and one.status in LIVE]
