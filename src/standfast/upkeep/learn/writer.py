"""Candidates meet what is known, and everything that follows from it is one commit.

The reader's place, the facts, what they replace, the edges between them and the reasons kept in
the turns are written together. Every turn that taught something is written too, with its version:
a message that somebody forgets in the meantime makes the commit fail, so nothing outlives it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from standfast.changes import Change, edge_key, retried
from standfast.engine import Engine
from standfast.errors import Conflict, Invalid
from standfast.forgotten import Tombstones
from standfast.index.vectors import cosines
from standfast.lifecycle.match import meet
from standfast.lifecycle.settlement import Outcome, copies
from standfast.lifecycle.status import held, superseded
from standfast.ports import NewId
from standfast.profiles import Profile
from standfast.scopes import is_visible, make_scope, root_of
from standfast.text.analysis import terms
from standfast.text.claim import CHANGED_BY, SAID, SUBJECT, TOLD_AT, claim_as_data
from standfast.text.compare import record_hash
from standfast.text.safety_slots import durability_for
from standfast.text.trust import derived_trust, suspicion
from standfast.types import (
    KIND_OF_TYPE,
    LIVE,
    TRUST_OF_SOURCE,
    CursorMove,
    Durability,
    Find,
    ItemStatus,
    Kind,
    Listing,
    Message,
    Record,
    RelationKind,
    SessionKey,
    Where,
)
from standfast.types.frozen import frozen
from standfast.understanding.judging.judge import GivenJudge, Judged
from standfast.understanding.reading.statements import LearnedStatement
from standfast.upkeep.heard import turns_of
from standfast.upkeep.learn.grounds import ground_of, ungrounded
from standfast.upkeep.learn.lanes import (
    LEARNED,
    OPTED_OUT,
    READER,
    REVOKED,
    UNREAD,
    LearnCandidate,
    Learned,
    Turns,
    giving_way,
)
from standfast.upkeep.learn.origins import with_origin

TAUGHT = "learned from"
NOTHING = "nothing to learn"
RULED_MAX = 200
ORIGIN, FAULT = "origin", "fault"  # where a record's ``data`` says where its words come from
# What a language model says of known records, as a judge says it.
TOLD: Mapping[str, Judged] = {
    "supersedes": "replaces", "corrects": "replaces", "duplicate": "same",
    "enriches": "refines", "contradicts": "contradicts",
}  # fmt: skip
BY_READER = frozenset(("network", "rules"))  # "rules" in records of earlier versions


@dataclass(slots=True, kw_only=True)
class LearnedTurns:
    """What some turns taught, on its way into a change: the records that candidates became, by
    their number and scope, and what became of each message."""

    change: Change
    turns: Turns
    told_by: Mapping[str, Record]
    stones: Tombstones | None
    ids: dict[tuple[int, str], str] = field(default_factory=dict)
    repeated: list[tuple[str, str]] = field(default_factory=list)  # message id, known record id
    taught: set[str] = field(default_factory=set)  # message ids
    ruled: list[Record] = field(default_factory=list)  # without a model, of the same messages
    as_said: dict[str, str] = field(default_factory=dict)  # text kept as it was said -> its writer

    @property
    def engine(self) -> Engine:
        return self.change.engine


async def write(
    engine: Engine, turns: Turns, learned: Learned, *, episode: Record | None, change: str
) -> Change:
    """Write what was learned; Conflict if another worker was there first."""
    root = root_of(turns.session.scope)
    stones = await Tombstones.of(engine.store, root, engine.now())

    async def attempt(conflict: Conflict | None) -> Change:
        told_by = turns.told_by
        if conflict is not None:
            if conflict.kind == "cursor" or (episode and episode.id in conflict.ids):
                raise conflict
            # Somebody wrote the same, changed a neighbour or forgot a message: look again.
            told_by = await turns_of(engine, turns.store, [*turns.earlier, *turns.messages])
        draft = LearnedTurns(
            change=_begun(engine, turns, change),
            turns=turns,
            told_by=told_by,
            stones=stones,
        )
        await _fill(draft, learned)
        if episode is not None and learned.episode:
            improve(draft, episode, learned.episode)
        _mark_turns(draft, learned)
        await draft.change.embed()
        await draft.change.commit()
        engine.kept_as_said.update(draft.as_said.values())
        return draft.change

    too_fast = "what is known changes faster than it can be learned; try again"
    return await retried(attempt, too_fast)


def _begun(engine: Engine, turns: Turns, id_: str) -> Change:
    change = Change(
        engine,
        root_of(turns.session.scope),
        f"learn: {turns.lane}",
        store=turns.store,
        actor="maintenance",
        id=id_,
    )
    if not turns.ahead:
        place = turns.session.cursors.get(READER, 0)
        move = CursorMove(session=turns.key, reader=READER, old=place, new=turns.up_to)
        change.cursors.append(move)
    return change


async def _fill(draft: LearnedTurns, learned: Learned) -> None:
    said = {one.id: one for one in (*draft.turns.earlier, *draft.turns.messages)}
    records: dict[int, Record] = {}
    candidates = list(learned.candidates)
    for number, candidate in enumerate(candidates):
        if not _is_there(draft, candidate.statement, said):
            continue
        candidates[number] = candidate = with_origin(candidate, draft.turns, draft.told_by)
        if not _is_new(draft, candidate):
            continue
        record = await _record(draft, candidate, said)
        if record is not None:
            records[number] = record
    await draft.change.embed(records.values())
    scopes = await _scopes(draft) if records else []
    if any(candidate.how == "model" for candidate in learned.candidates):
        draft.ruled = await _read_before(draft)
    for number, record in records.items():
        async with giving_way(draft.engine):
            await _settle(draft, number, candidates[number], record, scopes)
    await link(draft, candidates)


async def _read_before(draft: LearnedTurns) -> list[Record]:
    """What the reader in the box made of the same messages while the model was away."""
    turns = draft.turns
    query = Find(
        where=Where(
            scopes=(turns.session.scope,),
            now=draft.engine.now(),
            descend=True,
            kinds=("semantic",),
            session=turns.session.id,
            statuses=LIVE,
        ),
        lineage=tuple(message.id for message in turns.messages),
        limit=RULED_MAX,
    )
    return [one for one in await turns.store.find(query) if one.data.get("how") in BY_READER]


def _judge(draft: LearnedTurns, candidate: LearnCandidate) -> GivenJudge | None:
    """What a model has said about known records; what the reader in the box made of the same
    words is what it says better."""
    if candidate.how != "model":
        return None
    statement = candidate.statement
    said: dict[str, Judged] = {
        record.id: "refines"
        for record in draft.ruled
        if not set(record.lineage).isdisjoint(statement.messages)
        and _are_alike(record.text, statement.text)
    }
    return GivenJudge(said | {id_: TOLD[kind] for kind, id_ in statement.told if kind in TOLD})


def _are_alike(text: str, other: str) -> bool:
    """Whether one of two texts has half of the words of the other, and more."""
    ours, theirs = ({*terms(one)} for one in (text, other))
    return len(ours & theirs) * 2 > min(len(ours), len(theirs))


def _context(draft: LearnedTurns, statement: LearnedStatement) -> tuple[str, str]:
    """Of what answers a line: the whole message and that line."""
    said = {one.id: one.text for one in (*draft.turns.earlier, *draft.turns.messages)}
    if not statement.asked:
        return "", ""
    whole = said.get(statement.messages[-1], "") if statement.replies else ""
    return whole, said.get(statement.asked[-1], "")


def _is_there(
    draft: LearnedTurns, statement: LearnedStatement, said: Mapping[str, Message]
) -> bool:
    """Whether all that it was made from still is."""
    here = all(id_ in said and id_ in draft.told_by for id_ in statement.messages)
    return (
        bool(statement.messages) and here and all(id_ in draft.told_by for id_ in statement.asked)
    )


def _is_new(draft: LearnedTurns, candidate: LearnCandidate) -> bool:
    """Whether there is a text, and not what is kept as it was said already."""
    text = candidate.statement.text
    if not text or (candidate.fault and text in draft.as_said):
        return False
    if candidate.fault:
        draft.as_said[text] = candidate.how
    return True


async def _record(
    draft: LearnedTurns, candidate: LearnCandidate, said: Mapping[str, Message]
) -> Record | None:
    """None if a known record that it leans on is not there any more."""
    ids = candidate.statement.messages
    known = await _known(draft, candidate.leans_on, draft.turns.session.scope)
    if len(known) < len(candidate.leans_on):
        return None
    for one in known:  # for its version alone: who forgets it now makes the commit fail
        draft.change.records.setdefault(one.id, one)
    return record_of(
        candidate,
        [said[id_] for id_ in ids],
        known,
        key=draft.turns.key,
        profile=draft.engine.profile,
        now=draft.engine.now(),
        new_id=draft.engine.new_id,
    )


async def _known(draft: LearnedTurns, ids: Sequence[str], scope: str) -> list[Record]:
    """Known records as they are now, of this root and visible from the scope."""
    change = draft.change
    found = await change.store.records(change.root, ids, now=draft.engine.now()) if ids else []
    return [
        change.records.get(record.id, record)
        for record in found
        if is_visible(record.scope, (scope,), descend=False, exact=False)
    ]


async def _settle(
    draft: LearnedTurns,
    number: int,
    candidate: LearnCandidate,
    record: Record,
    scopes: Sequence[str],
) -> None:
    engine, change, statement = draft.engine, draft.change, candidate.statement
    for copy in copies(record, scopes, engine.new_id):
        one = in_scope(copy, copy.scope, draft.turns.key)
        if await _is_forgotten(draft, one, statement.messages):
            change.tell(statement.messages[0], "skipped", "forgotten before")
            continue
        named_ids = dict.fromkeys(
            [*filter(None, [statement.replaces]), *(id_ for _, id_ in statement.told)]
        )
        hinted = await _known(draft, list(named_ids), one.scope)
        beside = [hint for hint in hinted if hint.type != "turn"]
        beside += [*draft.ruled, *change.records.values()]
        vector = change.vector_of(one)
        said, before = _context(draft, statement)
        outcome = await meet(
            engine,
            change.store,
            one,
            vector,
            change.space,
            pending=beside,
            near=cosines(vector, {other.id: change.vector_of(other) for other in beside}),
            said=said,
            before=before,
            judge=_judge(draft, candidate),
        )
        change.put(*outcome.records)
        change.draw(*outcome.relations)
        _tell(
            change,
            outcome,
            (_why(candidate), candidate.note, _unheeded(statement, outcome)),
        )
        draft.ids[number, one.scope] = outcome.id
        draft.taught.update(statement.messages)
        if outcome.kind == "duplicate" and outcome.id != one.id:
            draft.repeated.append((statement.messages[-1], outcome.id))


def _why(candidate: LearnCandidate) -> str:
    return f"kept as it was said ({candidate.how}): {candidate.fault}" if candidate.fault else ""


def _unheeded(statement: LearnedStatement, outcome: Outcome) -> str:
    """What a model said about known records and was not done, in words."""
    done = {outcome.id, *(record.id for record in outcome.records)}
    left = [f"{kind} {id_}" for kind, id_ in statement.told if id_ not in done]
    return f"the model says: {', '.join(left)}; they are not about the same" if left else ""


def _tell(change: Change, outcome: Outcome, notes: Sequence[str] = ()) -> None:
    volatile = change.store is change.engine.volatile and outcome.status == "stored"
    reason = "; ".join(filter(None, (outcome.reason, *notes)))
    status = "volatile" if volatile else outcome.status
    change.tell(outcome.id, status, reason, record=outcome.id)


async def _scopes(draft: LearnedTurns) -> list[str]:
    """Not into a scope whose owner opted out of being remembered."""
    engine, turns = draft.engine, draft.turns
    scopes = scopes_of(turns.key, turns.messages, for_agents=engine.profile.learn_for_agents)
    if turns.store is engine.volatile:
        return scopes
    return [one for one in scopes if one == turns.session.scope or await engine.persists(one)]


async def _is_forgotten(draft: LearnedTurns, record: Record, messages: Sequence[str]) -> bool:
    """Was this text forgotten, and not said again since?"""
    if draft.stones is None:
        return False
    said = [one.at for one in draft.turns.messages if one.id in messages]
    last = max(said, default=datetime.min.replace(tzinfo=UTC))
    return await draft.stones.covers(record.scope, record.text, last, record.author)


def _mark_turns(draft: LearnedTurns, learned: Learned) -> None:
    """Each turn keeps what became of it."""
    change = draft.change
    for id_, reason in learned.refused:
        change.tell(id_ or draft.turns.session.id, "skipped", reason)
    for message in draft.turns.messages:
        reason = learned.unread.get(message.id) or learned.skipped.get(message.id, NOTHING)
        is_unread, taught = reason.startswith(UNREAD), message.id in draft.taught
        turn = draft.told_by.get(message.id)
        if is_unread or not taught:
            status: ItemStatus = "failed" if is_unread else "skipped"
            change.tell(message.id, status, reason, record=turn.id if turn else "")
        # A revoked turn stays as it is: a mark of ours would keep the revocation from being undone.
        if turn is not None and reason not in (OPTED_OUT, REVOKED):
            told = TAUGHT if taught and not is_unread else reason
            change.put(replace(turn, data={**turn.data, LEARNED: told}))
    for id_ in draft.taught - {message.id for message in draft.turns.messages}:
        change.put(draft.told_by[id_])  # of an earlier round: here for its version alone


# From a candidate to the record it would be, and the scopes it goes to


def record_of(
    candidate: LearnCandidate,
    messages: Sequence[Message],
    known: Sequence[Record],
    *,
    key: SessionKey,
    profile: Profile,
    now: datetime,
    new_id: NewId,
) -> Record:
    """The record of a candidate in its session's scope. It is believed no more than the least
    of the ``messages`` and ``known`` records it was made from, whatever anybody says."""
    statement = candidate.statement
    trust = derived_trust([one.trust for one in messages] + [one.trust for one in known])
    least = min(messages, key=lambda message: message.trust)
    people = [message for message in messages if message.role == "user"] or list(messages)
    kind = KIND_OF_TYPE[statement.type]
    since = _since(statement, messages[-1])
    doubt = suspicion(statement.text) if trust < TRUST_OF_SOURCE["user"] else ""
    id_ = new_id()
    record = Record(
        id=id_,
        scope=key.scope,
        kind=kind,
        type=statement.type,
        text=statement.text,
        learned_at=now,
        data=_data_of(candidate, messages[-1].at),
        tags=tuple(sorted(statement.tags)),
        importance=statement.importance,
        confidence=statement.confidence,
        durability=_durability(statement, kind, trust, profile),
        source=least.source,
        trust=trust,
        author=people[0].author,
        origin=id_,
        session=key.id,
        lineage=(*statement.asked, *statement.messages, *candidate.context),
        derived_from=candidate.leans_on,
        valid_from=since,
        valid_to=statement.valid_to,
        expires_at=_expiry(messages),
        hash=record_hash(f"{statement.text}\n{since}" if kind == "episodic" else statement.text),
    )
    return held(record, doubt)


def _since(statement: LearnedStatement, message: Message) -> datetime | None:
    """By itself a fact holds since it was said; of one that is over nobody knows since when."""
    said = message.at.astimezone(UTC)
    over = statement.valid_to is not None and statement.valid_to <= said
    return statement.valid_from or (None if over else said)


def _data_of(candidate: LearnCandidate, said: datetime) -> Mapping[str, Any]:
    statement = candidate.statement
    data: dict[str, Any] = {**statement.fields, "how": candidate.how}
    if candidate.origin:
        data[ORIGIN] = list(candidate.origin)
    if candidate.fault:
        data[FAULT] = f"{candidate.how}: {candidate.fault}"
    if statement.said and _stands_alone(statement):
        data[SAID] = statement.said
    if statement.about:
        data[SUBJECT] = statement.about
    if statement.claim is not None:
        data |= claim_as_data(statement.claim)
    if statement.entities:
        data["entities"] = list(statement.entities)
    if statement.changed_by is not None:
        data[CHANGED_BY] = statement.changed_by.astimezone(UTC).isoformat()
        data[TOLD_AT] = said.astimezone(UTC).isoformat()
    return data


def _stands_alone(statement: LearnedStatement) -> bool:
    """Whether the words of the clause name whom they are about, or need not."""
    about = statement.about
    return about in ("me", "we", "you") or about.casefold() in statement.said.casefold()


def _usual(statement: LearnedStatement, profile: Profile) -> Durability:
    """What the profile says of its type, and of what was decided."""
    weighty = profile.core_tags.intersection(statement.tags)
    return "core" if weighty else profile.durability_of_type[statement.type]


def _durability(
    statement: LearnedStatement, kind: Kind, trust: int, profile: Profile
) -> Durability:
    """What is in every context must have been said by a person."""
    wanted = statement.durability
    if wanted == "core" and trust < TRUST_OF_SOURCE["user"]:
        return "standard"
    if wanted in ("core", "standard"):
        return wanted
    return durability_for(statement.text, kind, trust, wanted or _usual(statement, profile))


def _expiry(messages: Sequence[Message]) -> datetime | None:
    """What was said for a time is known for that time. Pending messages only wait that long."""
    ends = [one.expires_at for one in messages if one.expires_at and not one.pending]
    return min(ends, default=None)


def in_scope(record: Record, scope: str, key: SessionKey) -> Record:
    """A copy for another scope says where its session is."""
    return replace(record, scope=scope, session_scope=key.scope if scope != key.scope else "")


def scopes_of(key: SessionKey, messages: Sequence[Message], *, for_agents: bool) -> list[str]:
    """Where the facts of a session go, the widest scope first. With ``for_agents`` those of an
    agent of an organisation go to the organisation too, and those of the organisation to the
    agents that spoke."""
    parts = key.scope.split(":")
    if not for_agents or parts[0] != "org" or len(parts) not in (2, 4):
        return [key.scope]
    organisation = ":".join(parts[:2])
    if len(parts) == 4:
        return [organisation, key.scope] if parts[2] == "agent" else [key.scope]
    spoke = [one.author for one in messages if one.role == "assistant" and one.author]
    agents = [_agent_scope(parts[1], name) for name in dict.fromkeys(spoke)]
    return [organisation, *(scope for scope in agents if scope)]


def _agent_scope(organisation: str, name: str) -> str:
    """ "" if that name can be no scope."""
    plain = organisation.replace("%3A", ":").replace("%25", "%")
    try:
        return make_scope(("org", plain), ("agent", name))
    except Invalid:
        return ""


# Edges that learning draws beside those of merging: what a model suggests, and who says it too.
# A suggestion is drawn only between records that are there, alive and visible from one another;
# it never replaces, disputes or hides anything.


@frozen(kw_only=False)
class EdgeWish:
    source: str
    kind: RelationKind
    target: str


async def link(draft: LearnedTurns, candidates: Sequence[LearnCandidate]) -> None:
    """Add what may be drawn to the draft."""
    wanted = list(dict.fromkeys((*_suggested(draft, candidates), *_repeated(draft))))
    if not wanted:
        return
    ids = {id_ for edge in wanted for id_ in (edge.source, edge.target)}
    records = await _records(draft, ids)
    drawn = await draft.change.store.relations(draft.change.root, tuple(ids))
    known = {edge_key(edge) for edge in drawn} | draft.change.relations.keys()
    for edge in wanted:
        source, target = records.get(edge.source), records.get(edge.target)
        if source is None or target is None or (edge.source, edge.kind, edge.target) in known:
            continue
        if _may_draw(draft, edge, source, target):
            draft.change.link(source, edge.kind, target)


def _suggested(draft: LearnedTurns, candidates: Sequence[LearnCandidate]) -> Iterator[EdgeWish]:
    for (number, scope), id_ in draft.ids.items():
        candidate = candidates[number]
        for kind, target in candidate.statement.links:
            yield EdgeWish(id_, kind, target)
        for kind, other in candidate.links:
            if (other, scope) in draft.ids:
                yield EdgeWish(id_, kind, draft.ids[other, scope])


def _repeated(draft: LearnedTurns) -> Iterator[EdgeWish]:
    """Who says again what is known supports it."""
    for message, known in draft.repeated:
        if message in draft.told_by:
            yield EdgeWish(draft.told_by[message].id, "supports", known)


async def _records(draft: LearnedTurns, ids: set[str]) -> dict[str, Record]:
    change = draft.change
    stored = await change.store.records(change.root, tuple(ids), now=draft.engine.now())
    ours = {id_: change.records[id_] for id_ in ids if id_ in change.records}
    return {record.id: record for record in stored} | ours


def _may_draw(draft: LearnedTurns, edge: EdgeWish, source: Record, target: Record) -> bool:
    if source.id == target.id or source.status not in LIVE or target.status not in LIVE:
        return False
    if source.type == "turn" and _same_source(source, target):
        return False
    replaces = (source.id, "supersedes", target.id) in draft.change.relations
    visible = is_visible(target.scope, (source.scope,), descend=False, exact=False)
    return visible and not (edge.kind == "contradicts" and replaces)


def _same_source(turn: Record, target: Record) -> bool:
    """A fact is not supported by the very message it was made from."""
    same_session = turn.session_key == target.session_key
    return same_session and not set(turn.lineage).isdisjoint(target.lineage)


# The episode of a session that is over: an extract at once, a model's words when they come

LOOKED_AT = 5


async def extract_of(engine: Engine, turns: Turns) -> Record | None:
    """The episode that ``end`` kept, if these turns are the last ones and it is an extract."""
    if not turns.closes:
        return None
    query = Listing(
        where=Where(
            scopes=(turns.session.scope,),
            now=engine.now(),
            exact=True,
            types=("episode",),
            session=turns.session.id,
        ),
        limit=LOOKED_AT,
    )
    found = await turns.store.listing(query)
    extracts = [record for record in found if record.data.get("how") == "extract"]
    return max(extracts, key=lambda record: (record.learned_at, record.id), default=None)


def improve(draft: LearnedTurns, old: Record, text: str) -> None:
    """The model's episode takes the place of the extract, with the same sources and the same
    end, if it says nothing that neither the extract nor the messages say."""
    engine, change = draft.engine, draft.change
    reason = ungrounded(text, ground_of(draft.turns.messages, [old.text]))
    if reason:
        change.tell(old.id, "skipped", f"the extract stays: {reason}", record=old.id)
        return
    better = replace(
        old,
        id=engine.new_id(),
        text=text,
        data={**old.data, "how": "model"},
        learned_at=engine.now(),
        uses=0,
        used_at=None,
        version=0,
    )
    change.put(superseded(old, engine.now()), better)
    change.link(better, "supersedes", old)
    told = f"the episode of the session, instead of the extract {old.id}"
    _tell(change, Outcome(status="stored", id=better.id, reason=told))
