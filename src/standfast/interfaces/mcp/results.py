"""What tools answer with: a typed value for programs, and a short text for models.

Every value that carries memories begins with ``about``, the preface by which a model knows them
for quoted data, and by which standfast knows them when they come back (see
``standfast.text.trust.without_recalled``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel, Field

from standfast.interfaces.render import visible, without_paths
from standfast.memory.shown import PREFACE, TRUST_WORDS, estimate, listed_texts, packed_hits
from standfast.types import Entry, Hit, Packet, Receipt, Record, ReviewItem, Touch, origin_mark
from standfast.types.invisible import shown

ANSWER_TOKENS_MAX = 8000
TEXTS = frozenset(("text", "tags", "steps", "why", "notes", "reason", "actor"))  # fields


class MemoryResult(BaseModel):
    """One memory."""

    id: str
    text: str
    type: str
    scope: str
    at: str = Field(description="when it happened or began to hold, ISO 8601")
    status: str = Field(description="active, disputed, superseded, archived or quarantined")
    trust: str = Field(description="high, medium, low or untrusted")
    said_by: str = Field("", description="agent, tool, web or import; empty: a person")
    tags: list[str] = []
    steps: list[str] = Field([], description="of a procedure, in order")
    score: float | None = None
    why: list[str] = Field([], description="how the score came about, if that was asked for")


class Memories(BaseModel):
    """Memories, best first."""

    about: str = PREFACE
    memories: list[MemoryResult]
    notes: list[str] = []


class Done(BaseModel):
    """What became of each thing."""

    class ItemResult(BaseModel):
        id: str
        status: str
        reason: str = ""
        text: str = Field("", description="what would go, in a dry run")
        author: str = Field("", description="whose it is, in a dry run")

    about: str = ""
    items: list[ItemResult]
    change: str = Field("", description="takes it back: memory_review with action undo")
    survivors: list[str] = Field([], description="ids of what still holds a forgotten memory")
    notes: list[str] = []


class ContextResult(BaseModel):
    """A packet of memories for one task."""

    about: str = PREFACE
    text: str
    tokens: int
    hash: str = Field(description="of the part that stays the same from task to task")
    memories: list[str] = Field(description="ids of the memories in the text")
    left_out: list[str] = Field([], description="ids of what did not fit")
    waiting: int = Field(0, description="how many waiting messages the text delivers")
    notes: list[str] = []


class ChangeResult(BaseModel):
    """One change of the memory."""

    class Touched(BaseModel):
        what: str = Field(description="made, changed or erased")
        kind: str
        id: str
        fields: list[str] = Field([], description="which fields changed")

    at: str
    reason: str
    actor: str
    change: str
    touched: list[Touched]


class History(BaseModel):
    """What happened, and the memory as it is now."""

    about: str = PREFACE
    memory: MemoryResult | None = None
    changes: list[ChangeResult]


class QuestionResult(BaseModel):
    """Something that waits for a decision."""

    id: str
    kind: str = Field(description="disputed, quarantined, held or stuck")
    why: str
    scope: str
    since: str = ""
    actions: list[str]
    memory: MemoryResult | None = None
    others: list[MemoryResult] = Field([], description="other memories that the decision concerns")


class Review(BaseModel):
    """What waits for a decision, or what a decision did."""

    about: str = PREFACE
    questions: list[QuestionResult] = []
    done: Done | None = None


def told(text: str, value: BaseModel) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=shown(text))],
        structured_content=_seen(value.model_dump(mode="json", exclude_none=True)),
    )


def _seen(value: Any, name: str = "") -> Any:
    """The same with every text as it is shown; names stay what they are called by."""
    if isinstance(value, dict):
        return {key: _seen(one, key) for key, one in value.items()}
    if isinstance(value, list):
        return [_seen(one, name) for one in value]
    return shown(value) if isinstance(value, str) and name in TEXTS else value


# Memories


def told_hits(hits: Sequence[Hit], notes: Sequence[str], *, explain: bool) -> CallToolResult:
    """In sections, as far as a model can be expected to read."""
    packed = packed_hits(hits, ANSWER_TOKENS_MAX)
    said = [*map(without_paths, notes)]
    if packed.near_misses:
        left_out = ", ".join(missed.hit.record.id for missed in packed.near_misses)
        said.append(f"too long to show: {left_out}; read memory://record/<id>")
    told_of = [hit for hit in hits if hit in packed.hits]
    why = [f"why {hit.record.id}: {'; '.join(map(str, hit.why))}" for hit in told_of if explain]
    value = Memories(
        memories=[memory_of(hit.record, hit=hit, explain=explain) for hit in told_of], notes=said
    )
    return told("\n".join([packed.text or "Nothing found.", *why, *_noted(said)]), value)


def memory_of(record: Record, *, hit: Hit | None = None, explain: bool = False) -> MemoryResult:
    steps = record.data.get("steps")
    return MemoryResult(
        id=record.id,
        text=record.text,
        type=record.type,
        scope=record.scope,
        at=record.at.isoformat(),
        status=record.status,
        trust=TRUST_WORDS[record.trust],
        said_by=origin_mark(record.source, record.trust),
        tags=list(record.tags),
        steps=[str(step) for step in steps] if isinstance(steps, list | tuple) else [],
        score=round(hit.score, 4) if hit else None,
        why=[str(why) for why in hit.why] if hit and explain else [],
    )


def told_packet(packet: Packet) -> CallToolResult:
    notes = [*map(without_paths, packet.notes)]
    if packet.pending:
        notes.append(
            f"{len(packet.pending)} waiting messages were delivered; they come again until "
            "memory_context is called with received=true"
        )
    value = ContextResult(
        text=packet.text,
        tokens=packet.tokens,
        hash=packet.hash,
        memories=[hit.record.id for hit in packet.hits],
        left_out=[hit.record.id for hit in packet.near_misses],
        waiting=len(packet.pending),
        notes=notes,
    )
    return told("\n".join([packet.text or "Nothing is known about it yet.", *_noted(notes)]), value)


# What was done


def done_of(receipt: Receipt) -> Done:
    items = [
        Done.ItemResult(
            id=item.id,
            status=item.status,
            reason=without_paths(item.reason),
            text=item.text,
            author=item.author,
        )
        for item in receipt.items
    ]
    notes = [*map(without_paths, receipt.notes)]
    if too_long := _clear_texts(items):
        notes.append(f"{too_long} more texts are too long to show; ask about fewer ids at once")
    return Done(
        about=PREFACE if any(item.text for item in items) else "",
        items=items,
        change=receipt.change,
        survivors=list(receipt.survivors),
        notes=notes,
    )


def _clear_texts(items: Iterable[Done.ItemResult]) -> int:
    """Of what a dry run lists, leave as much as a model can be expected to read; how many texts
    were taken out."""
    left, cleared = ANSWER_TOKENS_MAX, 0
    for item in items:
        left -= estimate(item.text) if item.text else 0
        if item.text and left < 0:
            item.text = ""
            cleared += 1
    return cleared


def done_lines(done: Done, begin: str = "") -> str:
    lines = [begin] if begin else []
    listed = [item for item in done.items if item.text]
    if listed:
        texts = [(item.id, item.text, item.author) for item in listed]
        lines.append(listed_texts("would-be-erased", texts))
    lines += [
        f"{i.status} {i.id}" + (f": {i.reason}" if i.reason else "")
        for i in done.items
        if not i.text
    ]
    if not done.items:
        lines.append("nothing to do")
    if done.change:
        lines.append(f"change {done.change}")
    return "\n".join([*lines, *_noted(done.notes)])


def told_receipt(receipt: Receipt, begin: str = "") -> CallToolResult:
    done = done_of(receipt)
    return told(done_lines(done, begin), done)


def _noted(notes: Iterable[str]) -> list[str]:
    return [f"note: {note}" for note in notes]


# What happened


def told_history(entries: Sequence[Entry], record: Record | None) -> CallToolResult:
    changes = [_change(entry) for entry in entries]
    now = packed_hits([Hit(record=record)] if record else [], ANSWER_TOKENS_MAX).text
    lines = [now] if now else []
    lines += [_change_line(change) for change in changes] or ["nothing happened"]
    value = History(memory=memory_of(record) if record else None, changes=changes)
    return told("\n".join(lines), value)


def _change(entry: Entry) -> ChangeResult:
    return ChangeResult(
        at=entry.at.isoformat(),
        reason=entry.reason,
        actor=entry.actor,
        change=entry.change,
        touched=[_touched(touch) for touch in entry.touched],
    )


def _touched(touch: Touch) -> ChangeResult.Touched:
    before, after = touch.before, touch.after
    what = "erased" if after is None else "made" if before is None else "changed"
    names = sorted(
        name
        for name in (after or {})
        if before and name != "version" and before.get(name) != (after or {})[name]
    )
    return ChangeResult.Touched(what=what, kind=touch.kind, id=touch.id, fields=names)


def _change_line(change: ChangeResult) -> str:
    touched = ", ".join(
        f"{t.what} {t.kind} {t.id}" + (f" ({', '.join(t.fields)})" if t.fields else "")
        for t in change.touched
    )
    by = f" by {visible(change.actor)}" if change.actor else ""
    return f"{change.at} {change.reason}{by}: {touched or 'nothing'} [change {change.change}]"


# What waits for a decision


def told_review(items: Sequence[ReviewItem]) -> CallToolResult:
    if not items:
        return told("Nothing waits for a decision.", Review())
    concerned = {
        one.id: Hit(record=one) for item in items for one in (item.record, *item.touches) if one
    }
    lines = [packed_hits(concerned.values(), ANSWER_TOKENS_MAX).text] if concerned else []
    lines += [_question_line(item) for item in items]
    return told("\n".join(lines), Review(questions=[_question(item) for item in items]))


def _question_line(item: ReviewItem) -> str:
    others = f" beside {', '.join(one.id for one in item.touches)}" if item.touches else ""
    return f"{item.kind} {item.id}{others}: {without_paths(item.why)} [{' | '.join(item.actions)}]"


def _question(item: ReviewItem) -> QuestionResult:
    return QuestionResult(
        id=item.id,
        kind=item.kind,
        why=without_paths(item.why),
        scope=item.scope,
        since=item.since.isoformat() if item.since else "",
        actions=list(item.actions),
        memory=memory_of(item.record) if item.record else None,
        others=[memory_of(one) for one in item.touches],
    )
