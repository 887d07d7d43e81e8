"""context: one packet of the right memories for the next model call, inside a token budget."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache, partial
from itertools import islice
from typing import Any

from standfast.engine import Engine
from standfast.errors import Invalid, Unavailable
from standfast.index.conditions import conditions_of
from standfast.index.filters import passes
from standfast.lifecycle.safety import ENDS, ended_by
from standfast.packet.buffers import note_lines, notes_key, session_name
from standfast.packet.policy import policy_of
from standfast.packet.said import COVERED, Said, only_asks
from standfast.packet.shapes import opening_words, shaped
from standfast.packet.stable import STABLE, by_weight
from standfast.packet.text import (
    NO_ROOM,
    Missed,
    Packed,
    SafetyEnd,
    Section,
    alone,
    content_hash,
    left_out,
    memory_section,
    pack,
    quoted,
    stable_section,
    text_section,
)
from standfast.packet.window import as_heard, as_seen, is_claimed, newest_said, window
from standfast.ports import Glance, Store, beside, leaves_out, leaving_out
from standfast.rank.candidates import Candidate
from standfast.rank.places import INSIDE, PASSED_OVER, is_crowded, outside, placed
from standfast.rank.question import asks_for_several
from standfast.scopes import parse_scope, root_of
from standfast.text.inputs import When, one_of, utc_moment
from standfast.text.safety_slots import safety_slots
from standfast.text.small_talk import is_small_talk
from standfast.text.tokens import Counter
from standfast.text.trust import without_recalled
from standfast.types import (
    KIND_OF_TYPE,
    PERSON_TRUST,
    TRUST_OF_SOURCE,
    Hit,
    Listing,
    Message,
    Order,
    Packet,
    Record,
    SessionKey,
    Shape,
    Status,
    Usage,
    Where,
    origin_mark,
)
from standfast.types.arguments import Filter
from standfast.types.frozen import frozen
from standfast.upkeep.fold import TOKENS_PER_MESSAGE, message_cost
from standfast.verbs.confirm import waiting
from standfast.verbs.procedures import triggered
from standfast.verbs.queue import drained
from standfast.verbs.recall import (
    Question,
    Recalled,
    damage_notes,
    recalled_for,
    spoken_over,
    untold,
)

TOKENS_MAX = 100_000_000
WINDOW_MESSAGES_MAX = 200
PROCEDURES_MAX = 200
FOUND_MAX = 60  # memories found for the query, where the profile names no number
WHOLE_MAX = 200  # a scope with no more memories than this may come whole
NEAR_MISSES_MAX = 50
REPACKED_MAX = 2
STABLE_SHARE = 0.35
MESSAGES_SHARE = 0.5
ASKED_SHARE = 0.75  # what the user's newest message may take before it is cut
# What each kind of memory is sure of; what one does not use, the others may.
SHARES = {"pending": 0.35, "facts": 0.35, "procedures": 0.1, "episodes": 0.1, "turns": 0.1}
EPISODE_TYPES = ("episode", "summary", "interaction")
BESIDE_TURNS = tuple(type_ for type_ in KIND_OF_TYPE if type_ != "turn")
BELIEVED: tuple[Status, ...] = ("active", "disputed")


@frozen
class ContextWish:
    """What the caller asked for, before checking."""

    session: str | None = None
    query: str | None = None
    scope: str | Iterable[str] | None = None
    tokens: int | None = None
    shape: str = "openai"
    where: Filter | None = None
    threshold: float | None = None
    as_of: When | None = None
    known_at: When | None = None
    cite: bool = False
    now: When | None = None


@dataclass(slots=True, kw_only=True)
class Gathered:
    """Everything that could go into the packet, best first."""

    stable: list[Hit]
    found: list[Hit]  # for the query, the best first
    covered: list[Hit]  # found too: turns for which facts may stand
    spare: list[Missed]  # found too
    rest: list[Hit]  # of a small scope, what was not found
    recent: list[Hit]  # episodes
    procedures: list[Hit]  # triggered by the query
    summary: str
    state: str
    block: str
    messages: list[Message]
    pending: list[Message]
    channel_summary: str
    notes: list[str]
    usage: Usage
    read: dict[str, str]  # texts by their words, see ``Said``
    ends: Mapping[str, SafetyEnd]  # by the ids of records


async def context(engine: Engine, wanted: ContextWish, counter: Counter) -> Packet:
    budget = _budget(wanted)
    shape: Shape = one_of(wanted.shape, Shape, "shape")
    with leaving_out() as damaged:
        gathered = await _gather(engine, wanted)
    gathered.notes += damage_notes(damaged)
    composing = partial(_composed, engine, wanted, counter, gathered, budget, shape)
    return await beside(_length(gathered.messages), composing)


def _length(messages: Iterable[Message]) -> int:
    return sum(len(message.text) + len(message.original) for message in messages)


def _composed(
    engine: Engine,
    wanted: ContextWish,
    counter: Counter,
    gathered: Gathered,
    budget: int | None,
    shape: Shape,
) -> Packet:
    # Each message is weighed several times. One that is kept here keeps its id to itself.
    prices: dict[int, tuple[Message, int]] = {}

    def price(message: Message) -> int:
        if id(message) not in prices:
            prices[id(message)] = (message, message_cost(engine, message))
        return prices[id(message)][1]

    # Anthropic and Gemini take no system message among the others.
    apart = engine.profile.summary_as_message and shape == "openai" and bool(gathered.summary)
    summary = alone(_summary_section(gathered))
    summary_price = counter.count(summary) + TOKENS_PER_MESSAGE if apart else 0
    if budget is not None and summary_price > budget:
        gathered.notes.append("the summary did not fit the budget")
        gathered.summary, summary_price, apart = "", 0, False
    if opening := opening_words(shape):
        summary_price += counter.count(opening) + TOKENS_PER_MESSAGE
    left = None if budget is None else max(0, budget - summary_price)
    reserved = _reserved(gathered.messages, left, price)
    kept, spent, notes = window(gathered.messages, reserved, price)
    shown = _chosen(gathered, kept)
    whole = engine.profile.context_tokens if left is None else left
    packing = partial(
        pack,
        stable_section(gathered.stable, cite=wanted.cite, ends=gathered.ends),
        stable_budget=int(whole * STABLE_SHARE),
        budget=whole if left is None else whole - spent,
        count=cache(counter.count),
    )
    packed = _packed(gathered, kept, shown, packing, with_summary=not apart, cite=wanted.cite)
    text_tokens = counter.count(packed.text) if packed.text else 0
    if left is not None and len(kept) < len(gathered.messages):
        # What the memories did not need, the conversation may have.
        kept, spent, notes = window(gathered.messages, left - text_tokens, price)
    listed = shaped(kept, shape)
    if apart:
        listed = [{"role": "system", "content": summary}, *listed]
    if shape != "openai" and any(m.role in ("system", "developer") for m in kept):
        whose = shape.capitalize()
        notes.append(f"system messages are left out of messages: {whose} takes them apart")
    delivered = [m for m in gathered.pending if _pending_line(m) in packed.tail]
    notes += _about_pending(gathered.pending, delivered)
    if packed.near_misses:
        notes.append(f"{len(packed.near_misses)} memories did not fit the budget")
    near = [*packed.near_misses, *shown.repeated, *shown.missed]
    return Packet(
        text=packed.text,
        stable_text=packed.stable_text,
        tokens=text_tokens + spent + (summary_price if listed else 0),
        counter=counter.name,
        hash=content_hash(packed.stable_text),
        hits=tuple(packed.hits),
        messages=tuple(listed),
        pending=tuple(delivered),
        near_misses=tuple(map(left_out, near[:NEAR_MISSES_MAX])),
        notes=tuple(gathered.notes + notes),
        usage=gathered.usage,
    )


def _budget(wanted: ContextWish) -> int | None:
    tokens = wanted.tokens
    if tokens is None:
        return None
    if isinstance(tokens, bool) or not isinstance(tokens, int) or not 0 <= tokens <= TOKENS_MAX:
        raise Invalid(f"tokens must be a whole number from 0 to {TOKENS_MAX}, not {tokens!r}")
    return tokens


def _reserved(
    messages: Sequence[Message], left: int | None, price: Callable[[Message], int]
) -> int:
    """What the conversation is sure of: half, and more if the user's newest message needs it."""
    whole = sum(map(price, messages))
    if left is None:
        return whole
    asked = newest_said(messages)
    need = min(price(asked), int(left * ASKED_SHARE)) if asked else 0
    return max(min(whole, int(left * MESSAGES_SHARE)), need)


def _about_pending(pending: Sequence[Message], delivered: Sequence[Message]) -> list[str]:
    waiting_on = len(pending) - len(delivered)
    if not waiting_on:
        return []
    return [f"{waiting_on} pending messages did not fit the budget and wait on; none is lost"]


@dataclass(slots=True, kw_only=True)
class ShownMemories:
    """The memories that may go in, each said once, by section; and what was left out and why."""

    facts: list[Hit] = field(default_factory=list)
    procedures: list[Hit] = field(default_factory=list)
    episodes: list[Hit] = field(default_factory=list)
    turns: list[Hit] = field(default_factory=list)
    missed: list[Missed]
    repeated: list[Missed] = field(default_factory=list)  # left out in favour of something shown

    def section_of(self, record: Record) -> list[Hit]:
        if record.type == "turn":
            return self.turns
        sections = {"semantic": self.facts, "procedural": self.procedures}
        return sections.get(record.kind, self.episodes)


def _chosen(gathered: Gathered, kept: Sequence[Message]) -> ShownMemories:
    said = _said_in(gathered, kept, (gathered.summary, gathered.channel_summary))
    for hit in gathered.stable:
        said.add(hit.record)
    shown = ShownMemories(missed=[*gathered.spare])
    # Facts before the turns they came from and before profiles made of them; questions last.
    found = sorted(gathered.found, key=_precedence)
    turns = [hit for hit in (*found, *gathered.covered) if hit.record.type == "turn"]
    candidates = (
        *(h for h in (*found, *gathered.rest) if h.record.kind == "semantic"),
        *(h for h in (*gathered.procedures, *found) if _is_procedure(h)),
        *(h for h in (*found, *gathered.recent) if _is_episode(h)),
        *turns,
    )
    passed: set[str] = set()  # a memory may be found and recent too
    for hit in candidates:
        if reason := said.repeats(hit.record):
            known = reason == "said already" or hit.record.id in passed
            shown.repeated += [] if known else [Missed(hit, reason)]
            passed.add(hit.record.id)
        elif reason := _says_nothing(hit):
            shown.missed.append(Missed(hit, reason))
        else:
            said.add(hit.record)
            shown.section_of(hit.record).append(hit)
    return shown


def _said_in(gathered: Gathered, kept: Sequence[Message], texts: Iterable[str]) -> Said:
    """What the packet says beside memories. A message that is cut says only a part of itself."""
    said = Said(gathered.read)
    whole = frozenset(map(id, gathered.messages))
    said.hear((*(one for one in kept if id(one) in whole), *gathered.pending))
    for text in texts:
        said.tell(text)
    return said


def _packed(
    gathered: Gathered,
    kept: Sequence[Message],
    shown: ShownMemories,
    packing: Callable[[list[Section]], Packed],
    *,
    with_summary: bool,
    cite: bool,
) -> Packed:
    """The memories inside the budget. What was left out in favour of a memory that then found no
    room is tried again: nothing may stand for another unless it is shown."""
    packed = packing(_sections(gathered, shown, with_summary=with_summary, cite=cite))
    for _ in range(REPACKED_MAX):
        back = _not_repeated(gathered, kept, shown, packed)
        if not back:
            break
        for missed in back:
            shown.repeated.remove(missed)
            shown.section_of(missed.hit.record).append(missed.hit)
        packed = packing(_sections(gathered, shown, with_summary=with_summary, cite=cite))
    for missed in _not_repeated(gathered, kept, shown, packed):
        shown.repeated.remove(missed)
        packed.near_misses.append(Missed(missed.hit, NO_ROOM))
    return packed


def _not_repeated(
    gathered: Gathered, kept: Sequence[Message], shown: ShownMemories, packed: Packed
) -> list[Missed]:
    """What was left out as said already, and is not said in what was packed."""
    if not (shown.repeated and packed.near_misses):
        return []
    summaries = (gathered.summary, gathered.channel_summary)
    there = [text for text in summaries if text and quoted(text) in packed.text]
    said = _said_in(gathered, kept, there)
    for hit in packed.hits:
        said.add(hit.record)
    back: list[Missed] = []
    for missed in shown.repeated:
        if not said.repeats(missed.hit.record):
            said.add(missed.hit.record)
            back.append(missed)
    return back


def _says_nothing(hit: Hit) -> str:
    """ "Got it." costs a line that a memory could have."""
    small = hit.record.type == "turn" and is_small_talk(hit.record.text)
    return "nothing is said by it" if small else ""


def _precedence(hit: Hit) -> tuple[bool, bool]:
    return _only_asks(hit.record), hit.record.type != "turn" and bool(hit.record.derived_from)


def _is_procedure(hit: Hit) -> bool:
    return hit.record.kind == "procedural"


def _is_episode(hit: Hit) -> bool:
    return hit.record.kind == "episodic" and hit.record.type != "turn"


async def _gather(engine: Engine, wanted: ContextWish) -> Gathered:
    scopes = await _scopes_of(engine, wanted)
    now, _ = utc_moment(wanted.now, "now")
    moment = now or engine.now()
    messages, summary, block, state = await _window(engine, wanted, scopes[0])
    waited = await drained(engine, scopes)
    pending, channel_summary = await _pending(engine, scopes)
    query = wanted.query if wanted.query is not None else _last_said(messages)
    times = _times(wanted)
    matching = conditions_of(wanted.where) if wanted.where else ()
    shelf = await Shelf.of(engine, scopes, moment, {**times, "matching": matching})
    stable = await _preseeded(shelf)
    most = engine.profile.context_records
    question = Question(
        text=query,
        scope=scopes,
        limit=2 * FOUND_MAX,
        # Whole days: a packet asked for twice on one day reads the same.
        now=moment.replace(hour=0, minute=0, second=0, microsecond=0),
        where=wanted.where,
        threshold=wanted.threshold,
        prefer_facts=True,
        choose=most,
        # What fits whole is not searched through, and who asks for all gets what there is room for.
        cut=shelf.whole is None and not asks_for_several(query),
        shown=bool(query.strip()),
        **times,
    )
    read: dict[str, str] = {}
    found, answer = await _found(engine, question, messages, stable, read)
    best, passed = placed(found.hits, most or FOUND_MAX)
    covered = found.covered_by(best)
    engine.used.update((root_of(hit.record.scope), hit.record.id) for hit in best)
    # Whoever sets a bar wants nothing below it.
    barred = most or wanted.threshold is not None or engine.profile.threshold
    rest = [] if barred else [hit for hit in shelf.whole or () if hit.record.kind == "semantic"]
    return Gathered(
        stable=stable,
        found=best,
        covered=[] if most else covered,
        # With a number of places, none of them may come back when its facts find no room.
        spare=_spare([*found.hits, *(covered if most else ())], best, passed),
        rest=rest,
        recent=await _recent_episodes(shelf),
        procedures=await _triggered(shelf, query),
        summary=summary,
        state=state,
        block=block,
        messages=messages,
        pending=pending,
        channel_summary=channel_summary,
        notes=[*waited, *answer.notes],
        usage=answer.usage,
        read=read,
        ends=await _ends(engine, [*stable, *best, *rest]),
    )


async def _ends(engine: Engine, hits: Sequence[Hit]) -> dict[str, SafetyEnd]:
    """By their ids: those that ended a safety statement, and the turns in which it was said."""
    ended: dict[str, SafetyEnd] = {}
    for record in (hit.record for hit in hits):
        if ENDS in record.data and record.type != "turn":
            ended |= await _ended(engine, record, edges_from=True)
        elif record.type == "turn" and safety_slots(record.text):
            ended |= await _ended(engine, record, edges_from=False)
    return ended


async def _ended(engine: Engine, record: Record, *, edges_from: bool) -> dict[str, SafetyEnd]:
    """Along the edges that replace something, from a record or to a turn."""
    root = root_of(record.scope)
    for store in engine.stores_of(root):
        edges = await store.relations(root, [record.id])
        ids = sorted({edge.target if edges_from else edge.source for edge in edges})
        known = await store.records(root, ids, now=engine.now()) if ids else []
        pairs = [(record, known)] if edges_from else [(one, [record]) for one in known]
        for ending, others in pairs:
            if slots := ended_by(ending, edges, others):
                by = SafetyEnd(slots=tuple(sorted(slots)), on=ending.at, by=ending.author)
                return {record.id: by}
    return {}


async def _found(
    engine: Engine,
    question: Question,
    messages: Sequence[Message],
    stable: Sequence[Hit],
    read: dict[str, str],
) -> tuple[DistinctHits, Recalled]:
    """For the query, the best first, and what there is to say about it."""
    answer = await recalled_for(engine, question, count_uses=False)
    if not question.shown:
        return DistinctHits(), answer
    most = engine.profile.context_records
    telling_apart = partial(
        _distinct, messages=messages, stable=stable, places=most or FOUND_MAX, read=read
    )
    found = await beside(_length(messages), partial(telling_apart, answer.kept))
    if len(found.hits) < FOUND_MAX and len(answer.kept) == 2 * FOUND_MAX and not most:
        # Most of it stands in the window or says the same: look further, which costs more.
        further = replace(question, limit=2 * FOUND_MAX + len(messages), fast=True)
        more = await recalled_for(engine, further, count_uses=False)
        found = await beside(_length(messages), partial(telling_apart, more.kept))
    return found, answer


def _spare(found: Iterable[Hit], best: Iterable[Hit], passed: Iterable[Hit]) -> list[Missed]:
    """As many as are ever told of."""
    taken, over = ({hit.record.id for hit in hits} for hits in (best, passed))
    others = (hit for hit in found if hit.record.id not in taken)
    return [
        Missed(hit, PASSED_OVER if hit.record.id in over else "the profile takes only the best")
        for hit in islice(others, NEAR_MISSES_MAX)
    ]


def _times(wanted: ContextWish) -> dict[str, Any]:
    """Another moment of the world, or of our books, if one was asked for."""
    found = {name: utc_moment(getattr(wanted, name), name)[0] for name in ("as_of", "known_at")}
    return {name: moment for name, moment in found.items() if moment is not None}


@dataclass(slots=True)
class DistinctHits:
    """Each memory once; and the turns that are left out in favour of facts, by the fact's id, or
    by "" where several have a part in it."""

    hits: list[Hit] = field(default_factory=list)
    covered: dict[str, list[Hit]] = field(default_factory=dict)

    def covered_by(self, hits: Iterable[Hit]) -> list[Hit]:
        names = ("", *(hit.record.id for hit in hits))
        return [turn for name in names for turn in self.covered.get(name, ())]


def _distinct(
    candidates: Iterable[Candidate],
    messages: Sequence[Message],
    stable: Iterable[Hit],
    places: int,
    read: dict[str, str],
) -> DistinctHits:
    """Each memory once, and nothing that stands in the window. What only asks comes last: it
    must not take the place of a statement. As many as have a place or are told of, and so many
    of no page or tool that they could fill every place."""
    said = Said(read)
    said.hear(messages)
    for hit in stable:
        said.add(hit.record)
    found = DistinctHits()
    own = 0
    for one in sorted(candidates, key=lambda one: _only_asks(one.glance)):
        if len(found.hits) >= places + NEAR_MISSES_MAX and own >= 2 * places:
            break
        if one.covered:
            found.covered[one.glance.id] = [turn.as_hit() for turn in one.covered]
        reason = said.repeats(one.record) if one.glance.type == "turn" else ""
        if not reason:
            said.add(one.record)
            found.hits.append(one.as_hit())
            own += not one.is_outside
        elif reason == COVERED:
            found.covered.setdefault("", []).append(one.as_hit())
    return found


def _only_asks(told: Record | Glance) -> bool:
    return told.type == "turn" and only_asks(told.text)


@frozen
class Shelf:
    """What is believed in the asked scopes, turns excepted: read at once where it is little
    (``whole``), else by what is asked for."""

    engine: Engine
    scopes: list[str]
    now: datetime
    times: Mapping[str, Any]  # and whatever else holds for all of it
    whole: list[Hit] | None = None

    @classmethod
    async def of(
        cls, engine: Engine, scopes: list[str], now: datetime, times: Mapping[str, Any]
    ) -> Shelf:
        shelf = cls(engine=engine, scopes=scopes, now=now, times=times)
        profile = engine.profile
        if profile.context_records and not (profile.preseeded or profile.recent_episodes):
            return shelf
        hits = await shelf.listed(order="important", limit=WHOLE_MAX + 1, types=BESIDE_TURNS)
        return replace(shelf, whole=hits) if len(hits) <= WHOLE_MAX else shelf

    async def listed(self, *, order: Order, limit: int, **filters: Any) -> list[Hit]:
        asked = {"statuses": BELIEVED, **filters, **self.times}
        if self.whole is None:
            return await _listed(
                self.engine, self.scopes, self.now, order=order, limit=limit, **asked
            )
        where = Where(scopes=tuple(self.scopes), now=self.now, **asked)
        return [hit for hit in self.whole if passes(hit.record, where)]


async def _scopes_of(engine: Engine, wanted: ContextWish) -> list[str]:
    """As they are written properly; Denied before anything of them is looked at."""
    if wanted.scope is None or isinstance(wanted.scope, str):
        return [engine.write_scope(wanted.scope)]
    scopes = [parse_scope(one) for one in wanted.scope]
    if not scopes:
        raise Invalid("the list of scopes is empty")
    await engine.read_scopes(scopes, descend=False)
    return scopes


async def _window(
    engine: Engine, wanted: ContextWish, scope: str
) -> tuple[list[Message], str, str, str]:
    """The newest messages that are not folded, the summary of those that are, the block, and
    the state of the task."""
    if wanted.session is None:
        return [], "", "", ""
    key = SessionKey(scope, session_name(wanted.session))
    noted = notes_key(scope, key.id)
    messages: list[Message] = []
    summaries: list[str] = []
    block = state = ""
    for store in engine.stores_of(root_of(scope)):
        for session in await store.sessions(root_of(scope), (key, noted)):
            here = SessionKey(session.scope, session.id)
            found, said = await _unfolded(engine, store, here)
            if here == noted:
                block = note_lines(said, found) or block
                continue
            messages += await beside(_length(found), partial(_as_heard, found))
            summaries += [said] if said else []
            state = json.dumps(dict(session.state), ensure_ascii=False) if session.state else state
    return engine.in_order(key, messages), "\n".join(summaries), block, state


def _as_heard(messages: Sequence[Message]) -> list[Message]:
    return [as_seen(as_heard(message)) for message in messages]


async def _unfolded(engine: Engine, store: Store, key: SessionKey) -> tuple[list[Message], str]:
    summaries = await store.summaries(key, limit=1, newest=True)
    after = summaries[0].to_seq if summaries else 0
    limit = WINDOW_MESSAGES_MAX
    policy = policy_of(engine.profile)
    if policy.rule == "window" and policy.above == 0:
        limit = policy.keep
    messages = await store.messages(key, now=engine.now(), after=after, limit=limit, newest=True)
    return messages, summaries[0].text if summaries else ""


async def _pending(engine: Engine, scopes: list[str]) -> tuple[list[Message], str]:
    """What waits in the buffers of these scopes."""
    messages: list[Message] = []
    summaries: list[str] = []
    for scope in scopes:
        for store in engine.stores_of(root_of(scope)):
            found, said = await waiting(engine, store, (scope,))
            messages += [one for one in found if one not in messages]
            summaries += [text for text in said if text not in summaries]
    return messages, "\n".join(summaries)


def _last_said(messages: Sequence[Message]) -> str:
    for message in reversed(messages):
        said = without_recalled(message.text) if message.role == "user" else ""
        if said.strip():
            return said
    return ""


async def _listed(
    engine: Engine,
    scopes: list[str],
    now: datetime,
    *,
    order: Order,
    limit: int,
    **filters: Any,
) -> list[Hit]:
    """Records by filter from every store and root. Where pages and tools fill most of a list that
    ends at its limit, as many of others come too."""
    by_root, _ = await engine.read_scopes(scopes, descend=False)
    found: list[Hit] = []
    for root, named in by_root.items():
        for store in engine.stores_of(root):
            where = Where(scopes=named, now=now, **filters)
            asked = Listing(where=where, order=order, limit=limit)
            listed = await store.listing(asked)
            if len(listed) >= limit and is_crowded(outside(listed)):
                others = await store.listing(replace(asked, where=replace(where, sources=INSIDE)))
                listed = list({one.id: one for one in (*listed, *others)}.values())
            hidden = await spoken_over(store, where, root, listed)
            hidden |= await untold(store, where, root, listed)
            found += [Hit(record=record) for record in listed if record.id not in hidden]
    return found


async def _preseeded(shelf: Shelf) -> list[Hit]:
    """Core memories, those first that are to have room first. A person's own come before those
    of the scopes above. Where there are more than the profile takes, those that upkeep chose stay
    until it chooses again. Nothing that an agent or a page wrote is among them: what is always
    there is what people said."""
    most = shelf.engine.profile.preseeded
    if not most:
        return []
    hits = await shelf.listed(
        order="important",
        limit=2 * most,
        kinds=("semantic",),
        durabilities=("core",),
        statuses=("active",),
    )
    said = Said()
    chosen_before: frozenset[str] = frozenset()
    if len(hits) > most:
        chosen_before = await _chosen_before(shelf.engine, hits, shelf.now)
    by_id = {hit.record.id: hit for hit in hits}
    people = [hit.record for hit in hits if _is_peoples(hit.record)]
    best = sorted(
        by_weight(people, chosen_before),
        key=lambda record: (record.scope not in shelf.scopes, record.id not in chosen_before),
    )
    chosen: list[Hit] = []
    for record in best:
        if len(chosen) < most and not said.repeats(record):
            said.add(record)
            chosen.append(by_id[record.id])
    return chosen


def _is_peoples(record: Record) -> bool:
    """A person said it, or it stands in a file of theirs: what agents claim and what was imported
    is trusted less."""
    trusted = record.source == "file" and record.trust >= TRUST_OF_SOURCE["file"]
    return record.trust >= PERSON_TRUST or trusted


async def _chosen_before(engine: Engine, hits: Sequence[Hit], now: datetime) -> frozenset[str]:
    scopes = sorted({hit.record.scope for hit in hits})
    found: set[str] = set()
    for root in sorted(set(map(root_of, scopes))):
        named = [scope for scope in scopes if root_of(scope) == root]
        try:
            items = await engine.store.items(root, STABLE, now=now, scopes=named, limit=100)
        except Unavailable as error:  # one of them is damaged: the best of today come instead
            if not error.lasting or not leaves_out(f"which core memories {root} had chosen"):
                raise
            continue
        for item in items:
            found.update(map(str, item.value if isinstance(item.value, list) else ()))
    return frozenset(found)


async def _recent_episodes(shelf: Shelf) -> list[Hit]:
    most = shelf.engine.profile.recent_episodes
    if not most:
        return []
    hits = await shelf.listed(order="recent", limit=most, types=EPISODE_TYPES)
    recent = sorted(hits, key=lambda hit: hit.record.at, reverse=True)
    return placed(recent, most)[0]


async def _triggered(shelf: Shelf, query: str) -> list[Hit]:
    """Procedures one of whose triggers is in the query, the most used and successful first."""
    if not query.strip() or not shelf.engine.profile.preseeded:
        return []
    hits = await shelf.listed(order="important", limit=PROCEDURES_MAX, kinds=("procedural",))
    return triggered(hits, query)


def _sections(
    gathered: Gathered, shown: ShownMemories, *, with_summary: bool, cite: bool
) -> list[Section]:
    def memories(tag: str, hits: list[Hit]) -> Section:
        return memory_section(tag, hits, share=SHARES[tag], cite=cite, ends=gathered.ends)

    return [
        *([_summary_section(gathered)] if with_summary else []),
        text_section("task-state", gathered.state),
        text_section("memory-block", gathered.block),
        text_section("channel-summary", gathered.channel_summary),
        _pending_section(gathered.pending),
        memories("facts", shown.facts),
        memories("procedures", shown.procedures),
        memories("episodes", shown.episodes),
        memories("turns", shown.turns),
    ]


def _summary_section(gathered: Gathered) -> Section:
    return text_section("session-summary", gathered.summary)


def _pending_section(messages: Sequence[Message]) -> Section:
    lines = tuple(map(_pending_line, messages))
    hits = (None,) * len(lines)
    share = SHARES["pending"]
    return Section(tag="pending-messages", lines=lines, hits=hits, share=share, in_order=True)


def _pending_line(message: Message) -> str:
    who = message.author or message.role
    if is_claimed(message):
        who = f"an agent, as {who}"
    mark = origin_mark(message.source, message.trust)
    about = [f"from {quoted(who)}", *([mark] if mark else []), f"{message.at:%Y-%m-%d %H:%M}"]
    return f"- {quoted(message.text)} ({', '.join(about)}, id {quoted(message.id)})"
