"""Looking for what a new record has to be compared with, and settling the comparison."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from heapq import nlargest
from itertools import islice
from types import MappingProxyType

from recollect.engine import Engine
from recollect.errors import Unavailable
from recollect.index.vectors import says_nothing
from recollect.lifecycle.effect import SPACE, effect_in
from recollect.lifecycle.merge import (
    AGAINST,
    NOBODY,
    Known,
    Named,
    Outcome,
    Verdict,
    between,
    by_meaning,
    claim_of,
    cue_of,
    judge,
    repeated,
    settle,
    tags_of_change,
    tells_change,
    with_claim,
)
from recollect.lifecycle.merge.topic import Topic, told, topic_of
from recollect.lifecycle.merge.traits import is_foreign
from recollect.lifecycle.reading import LEAST, LIKELY
from recollect.ports import Reader, Store, breath
from recollect.scopes import is_within, root_of
from recollect.text.analysis import words
from recollect.text.claims.lessons import claim_from_data, findable_tags, slot_tag
from recollect.text.messages import turn_id
from recollect.types import LIVE, Find, Listing, Record, Search, Vector, Where

NEIGHBOURS = 8  # by meaning or, without a vector, by words
SLOT_MAX = 64  # records that make a claim about the same slot
COPIES_MAX = 1000
A_TALK = timedelta(hours=1)
WORDS_FROM_MAX = 2000  # characters of a text, when it is looked for by its words
BORNE_MAX, BORNE_ABOVE = 24, 0.1  # of those whose meaning is weighed
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
    wary: bool = False,
    passing: bool = False,
    replies: bool = False,
    said: str = "",
) -> Outcome:
    """Compare, judge and settle: what to commit for this record, and what to say about it.
    ``named``: the known texts that it surely or perhaps corrects. ``near``: see ``compare``.
    ``wary``: see ``judge``. ``passing``: only its meaning is asked what has changed by it.
    ``replies``: it was said to something else that somebody said. ``said``: the whole message that
    it is from, where that is known."""
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
    if wary:
        written = frozenset(one.id for one in pending)
        known = await _weighed(
            engine,
            store,
            record,
            vector,
            space,
            known,
            passing=passing,
            written=written,
            said=said,
        )
    if replies:
        known = [_kept_in_talk(record, one) for one in known]
    above = engine.profile.duplicate_above
    verdict = judge(
        record,
        known,
        duplicate_above=above,
        corrects=corrects,
        named=named,
        wary=wary,
        refused=seen_hash,
    )
    if passing and verdict.kind != "duplicate":
        verdict = by_meaning(record, known)
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


def _kept_in_talk(record: Record, one: Known) -> Known:
    """What was said a moment ago in the same talk is not what a reply to something else changes:
    who takes it back says so."""
    told = one.record
    if not record.session or told.session != record.session or record.at - told.at > A_TALK:
        return one
    return replace(one, denied=True, bears=0.0)


async def _weighed(
    engine: Engine,
    store: Store,
    record: Record,
    vector: Vector | None,
    space: str,
    known: list[Known],
    *,
    passing: bool,
    written: frozenset[str],
    said: str,
) -> list[Known]:
    """The known records, with what is likely to have changed and what is not; and those near by
    meaning, or by words where no vector tells that, that the record likely says have changed. Words
    alone do not ask a statement that lasts and has no word of a change: it is one more.
    ``written``: the ids of what the same commit writes, which the store has as it was before."""
    if record.kind != "semantic" or record.type == "user_request":
        return known
    by_meaning = vector is not None and space == SPACE
    new = told(record.text, record.author, cue_of(record))
    if not (by_meaning or passing or new.change.kind not in ("", "turns")):
        return known
    where = Where(scopes=(record.scope,), now=engine.now(), statuses=LIVE, kinds=(record.kind,))
    near = Search(where=where, limit=NEIGHBOURS, text=record.text[:WORDS_FROM_MAX])
    if by_meaning:
        near = Search(
            where=where, limit=BORNE_MAX, vector=vector, space=space, similar_above=BORNE_ABOVE
        )
    found = {one.record.id: one for one in known}
    for one in await _known(store, near):
        if one.record.id in found or one.record.id not in written:
            before = found.get(one.record.id, one)
            found[one.record.id] = replace(before, similarity=one.similarity or before.similarity)
    asked = [
        one
        for one in found.values()
        if (one.similarity is not None or not by_meaning) and one.record.author == record.author
    ]
    weighed = _by_sums(new, vector if by_meaning else None, asked)
    if by_meaning and engine.reader is not None:
        weighed = await _by_reading(engine.reader, new, said, asked) or weighed
    found |= {one.record.id: one for one in weighed}
    known_ids = {one.record.id for one in known}
    return [one for one in found.values() if one.bears > 0 or one.record.id in known_ids]


def _by_sums(new: Topic, vector: Vector | None, asked: Sequence[Known]) -> list[Known]:
    """``vector``: None where words alone tell it."""
    tells = effect_in(SPACE if vector is not None else "")
    alone = tells.told(vector)
    weighed = []
    for one in asked:
        old = topic_of(one.record.text, one.record.author)
        sum_ = tells.of(alone, new, old, one.similarity or 0.0)
        if sum_ is not None:
            denied = vector is not None and sum_ < tells.least  # words alone overrule no rule
            one = replace(one, bears=max(sum_ - tells.likely, 0.0), denied=denied)
        weighed.append(one)
    return weighed


async def _by_reading(reader: Reader, new: Topic, said: str, asked: Sequence[Known]) -> list[Known]:
    """By who reads the whole message, and the part of it that is the record, together with each of
    them. Empty where it cannot be read: then the sums stand."""
    olds = {one.record.id: topic_of(one.record.text, one.record.author) for one in asked}
    asked = [one for one in asked if not is_foreign(new, olds[one.record.id])]
    texts = [olds[one.record.id].said for one in asked]
    try:
        whole = await reader.changes(said or new.said, texts)
        parts = await reader.changes(new.said, texts) if said else whole
    except Unavailable:
        return []
    return [
        replace(one, bears=max(min(all_, part) - LIKELY, 0.0), denied=max(all_, part) < LEAST)
        for one, all_, part in zip(asked, whole, parts, strict=True)
    ]


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
    verdict = Verdict(kind="contradicts", targets=tuple(against), reason="both are believed")
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
        for known in await _known(store, query):
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
    yield from (one for one in pending if one.hash == record.hash)
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


async def _known(store: Store, query: Search | Find | Listing) -> list[Known]:
    if isinstance(query, Search):
        hits = await store.search(query)
        return [Known(record=hit.record, similarity=hit.similarity) for hit in hits]
    read = store.find(query) if isinstance(query, Find) else store.listing(query)
    return [Known(record=record) for record in await read]


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
