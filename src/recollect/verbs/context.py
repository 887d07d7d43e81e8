"""context: one packet of the right memories for the next model call, inside a token budget."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollect.engine import Engine
from recollect.errors import Invalid
from recollect.packet.buffers import note_lines, notes_key, session_name
from recollect.packet.policy import policy_of
from recollect.packet.shapes import shaped
from recollect.packet.text import (
    STABLE_SECTION,
    Packed,
    Section,
    alone,
    content_hash,
    memory_section,
    pack,
    quoted,
    text_section,
)
from recollect.packet.window import fitting_tail
from recollect.ports import Store
from recollect.scopes import root_of
from recollect.text.inputs import When, one_of, utc_moment
from recollect.text.tokens import Counter
from recollect.text.trust import without_recalled
from recollect.types import Hit, Message, Packet, Query, SessionKey, Shape, Usage
from recollect.upkeep.fold import TOKENS_PER_MESSAGE, message_cost
from recollect.verbs.confirm import waiting
from recollect.verbs.procedures import triggered
from recollect.verbs.recall import Question, recall, spoken_over

TOKENS_MAX = 100_000_000
WINDOW_MESSAGES_MAX = 200
PROCEDURES_MAX = 200
STABLE_SHARE = 0.35
MESSAGES_SHARE = 0.5
STABLE = "stable"  # the items in which upkeep keeps its choice
EPISODE_TYPES = ("episode", "summary", "interaction")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextWish:
    """What the caller asked for, before checking."""

    session: str | None = None
    query: str | None = None
    scope: str | Iterable[str] | None = None
    tokens: int | None = None
    shape: str = "openai"
    now: When | None = None


@dataclass(slots=True, kw_only=True)
class Gathered:
    """Everything that could go into the packet, best first."""

    stable: list[Hit]
    facts: list[Hit]
    episodes: list[Hit]
    procedures: list[Hit]
    spare: list[Hit]
    summary: str
    state: str
    block: str
    messages: list[Message]
    pending: list[Message]
    channel_summary: str
    notes: list[str]
    usage: Usage


async def context(engine: Engine, wanted: ContextWish, counter: Counter) -> Packet:
    budget = _budget(wanted, engine)
    shape: Shape = one_of(wanted.shape, Shape, "shape")
    gathered = await _gather(engine, wanted)
    messages = gathered.messages

    def price(message: Message) -> int:
        return message_cost(engine, message)

    # Anthropic takes no system message among the others.
    apart = engine.profile.summary_as_message and shape == "openai" and bool(gathered.summary)
    summary = alone(_summary_section(gathered))
    summary_price = counter.count(summary) + TOKENS_PER_MESSAGE if apart else 0
    if summary_price > budget:
        gathered.notes.append("the summary did not fit the budget")
        gathered.summary, summary_price, apart = "", 0, False
    budget -= summary_price
    reserved = min(sum(map(price, messages)), int(budget * MESSAGES_SHARE))
    packed = pack(
        memory_section(STABLE_SECTION, gathered.stable, weightiest_first=True),
        _sections(gathered, with_summary=not apart),
        stable_budget=int(budget * STABLE_SHARE),
        budget=budget - reserved,
        count=counter.count,
    )
    text_tokens = counter.count(packed.text) if packed.text else 0
    kept, spent = fitting_tail(messages, budget - text_tokens, price)
    notes = gathered.notes + _left_out(messages, kept, packed)
    listed = shaped(kept, shape)
    if apart:
        listed = [{"role": "system", "content": summary}, *listed]
        spent += summary_price
    if shape != "openai" and any(m.role in ("system", "developer") for m in kept):
        whose = shape.capitalize()
        notes.append(f"system messages are left out of messages: {whose} takes them apart")
    return Packet(
        text=packed.text,
        stable_text=packed.stable_text,
        tokens=text_tokens + spent,
        counter=counter.name,
        hash=content_hash(packed.stable_text),
        hits=tuple(packed.hits),
        messages=tuple(listed),
        pending=tuple(m for m in gathered.pending if _pending_line(m) in packed.tail),
        near_misses=(*packed.near_misses, *gathered.spare),
        notes=tuple(notes),
        usage=gathered.usage,
    )


def _budget(wanted: ContextWish, engine: Engine) -> int:
    tokens = engine.profile.context_tokens if wanted.tokens is None else wanted.tokens
    if isinstance(tokens, bool) or not isinstance(tokens, int) or not 0 <= tokens <= TOKENS_MAX:
        raise Invalid(f"tokens must be a whole number from 0 to {TOKENS_MAX}, not {tokens!r}")
    return tokens


def _left_out(messages: Sequence[Message], kept: Sequence[Message], packed: Packed) -> list[str]:
    notes = []
    if len(kept) < len(messages):
        notes.append(f"{len(messages) - len(kept)} older messages did not fit the budget")
    if packed.near_misses:
        notes.append(f"{len(packed.near_misses)} memories did not fit the budget")
    return notes


async def _gather(engine: Engine, wanted: ContextWish) -> Gathered:
    scopes = _scopes_of(engine, wanted)
    now, _ = utc_moment(wanted.now, "now")
    moment = now or engine.now()
    messages, summary, block, state = await _window(engine, wanted, scopes[0])
    pending, channel_summary = await _pending(engine, scopes)
    query = wanted.query if wanted.query is not None else _last_said(messages)
    stable = await _preseeded(engine, scopes, moment)
    question = Question(
        text=query,
        scope=scopes,
        limit=engine.profile.context_records * 2 + len(stable) + len(messages),
        # Whole days: a packet asked for twice on one day reads the same.
        now=moment.replace(hour=0, minute=0, second=0, microsecond=0),
        prefer_facts=True,
        choose=engine.profile.context_records,
    )
    answer = await recall(engine, question, count_uses=False)
    seen = _Seen(stable, messages)
    found = [hit for hit in answer.hits if query.strip() and seen.is_new(hit)]
    best = found[: engine.profile.context_records]
    engine.used.update(hit.record.id for hit in best)
    recent = await _recent_episodes(engine, scopes, moment)
    triggered = await _triggered(engine, scopes, moment, query)
    fresh = _Seen([*stable, *best], messages)
    return Gathered(
        stable=stable,
        facts=[h for h in best if h.record.kind == "semantic"],
        episodes=[h for h in best if h.record.kind == "episodic"]
        + [h for h in recent if fresh.is_new(h)],
        procedures=[h for h in best if h.record.kind == "procedural"]
        + [h for h in triggered if fresh.is_new(h)],
        spare=found[engine.profile.context_records :],
        summary=summary,
        state=state,
        block=block,
        messages=messages,
        pending=pending,
        channel_summary=channel_summary,
        notes=list(answer.notes),
        usage=answer.usage,
    )


class _Seen:
    """What the packet says already: no memory twice, whatever layer or scope it came from."""

    def __init__(self, hits: Iterable[Hit], messages: Iterable[Message]) -> None:
        self._keys: set[str] = set()
        for hit in hits:
            self._keys |= self._keys_of(hit)
        self._messages = {(m.scope, m.session, m.id) for m in messages}

    def is_new(self, hit: Hit) -> bool:
        keys = self._keys_of(hit)
        record = hit.record
        shown = record.type == "turn" and all(
            (*record.session_key, id_) in self._messages for id_ in record.lineage
        )
        if shown or keys & self._keys:
            return False
        self._keys |= keys
        return True

    @staticmethod
    def _keys_of(hit: Hit) -> set[str]:
        record = hit.record
        return {key for key in (record.id, record.origin, record.hash) if key}


def _scopes_of(engine: Engine, wanted: ContextWish) -> list[str]:
    if wanted.scope is None or isinstance(wanted.scope, str):
        return [engine.write_scope(wanted.scope)]
    scopes = list(wanted.scope)
    if not scopes:
        raise Invalid("the list of scopes is empty")
    return scopes


async def _window(
    engine: Engine, wanted: ContextWish, scope: str
) -> tuple[list[Message], str, str, str]:
    """The newest messages that are not folded, the summary of those that are, the block, and
    the state of the task."""
    if wanted.session is None:
        return [], "", "", ""
    key = SessionKey(scope, session_name(wanted.session))
    messages: list[Message] = []
    summary = block = state = ""
    for store in engine.stores_of(root_of(scope)):
        folded, said = await _unfolded(engine, store, key)
        messages += folded
        summary = said or summary
        notes, noted = await _unfolded(engine, store, notes_key(scope, key.id))
        block = note_lines(noted, notes) or block
        for session in await store.sessions(root_of(scope), (key,)):
            state = json.dumps(dict(session.state), ensure_ascii=False) if session.state else state
    return messages, summary, block, state


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


async def _listed(engine: Engine, scopes: list[str], now: datetime, **filters: Any) -> list[Hit]:
    """Records by filter from every store and root, deduplicated across scopes."""
    by_root, _ = await engine.read_scopes(scopes, descend=False)
    found: list[Hit] = []
    for root, named in by_root.items():
        for store in engine.stores_of(root):
            query = Query(scopes=named, now=now, **filters)
            hits = await store.search(query)
            hidden = await spoken_over(store, query, root, [hit.record for hit in hits])
            found += [hit for hit in hits if hit.record.id not in hidden]
    return found


async def _preseeded(engine: Engine, scopes: list[str], now: datetime) -> list[Hit]:
    """The most important core memories, in the order they were learned: an order that no
    score, use or clock can change. Where there are more than fit, those that upkeep chose stay
    until it chooses again."""
    most = engine.profile.preseeded
    if not most:
        return []
    hits = await _listed(
        engine,
        scopes,
        now,
        kinds=("semantic",),
        durabilities=("core",),
        statuses=("active",),
        order="important",
        limit=most * 2,
    )
    seen = _Seen((), ())
    chosen_before = await _chosen_before(engine, hits, now) if len(hits) > most else frozenset()
    best = sorted(
        hits,
        key=lambda h: (
            h.record.id not in chosen_before,
            -h.record.importance,
            h.record.learned_at,
            h.record.id,
        ),
    )
    chosen = [hit for hit in best if seen.is_new(hit)][:most]
    return sorted(chosen, key=lambda hit: (hit.record.learned_at, hit.record.id))


async def _chosen_before(engine: Engine, hits: Sequence[Hit], now: datetime) -> frozenset[str]:
    scopes = sorted({hit.record.scope for hit in hits})
    found: set[str] = set()
    for root in sorted(set(map(root_of, scopes))):
        named = [scope for scope in scopes if root_of(scope) == root]
        for item in await engine.store.items(root, STABLE, now=now, scopes=named, limit=100):
            found.update(map(str, item.value if isinstance(item.value, list) else ()))
    return frozenset(found)


async def _recent_episodes(engine: Engine, scopes: list[str], now: datetime) -> list[Hit]:
    most = engine.profile.recent_episodes
    if not most:
        return []
    hits = await _listed(engine, scopes, now, types=EPISODE_TYPES, order="recent", limit=most)
    return sorted(hits, key=lambda hit: hit.record.at, reverse=True)[:most]


async def _triggered(engine: Engine, scopes: list[str], now: datetime, query: str) -> list[Hit]:
    """Procedures one of whose triggers is in the query, the most used and successful first."""
    if not query.strip() or not engine.profile.preseeded:
        return []
    hits = await _listed(
        engine, scopes, now, kinds=("procedural",), order="important", limit=PROCEDURES_MAX
    )
    return triggered(hits, query)


def _sections(gathered: Gathered, *, with_summary: bool) -> list[Section]:
    return [
        *([_summary_section(gathered)] if with_summary else []),
        text_section("task-state", gathered.state),
        text_section("memory-block", gathered.block),
        text_section("channel-summary", gathered.channel_summary),
        _pending_section(gathered.pending),
        memory_section("facts", gathered.facts),
        memory_section("episodes", gathered.episodes),
        memory_section("procedures", gathered.procedures),
    ]


def _summary_section(gathered: Gathered) -> Section:
    return text_section("session-summary", gathered.summary)


def _pending_section(messages: Sequence[Message]) -> Section:
    lines = tuple(map(_pending_line, messages))
    return Section(tag="pending-messages", lines=lines, hits=(None,) * len(lines), in_order=True)


def _pending_line(message: Message) -> str:
    who = message.author or message.role
    about = f"from {quoted(who)}, {message.at:%Y-%m-%d %H:%M}, id {quoted(message.id)}"
    return f"- {quoted(message.text)} ({about})"
