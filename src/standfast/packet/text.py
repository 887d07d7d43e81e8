"""Packing: memories into one text inside a token budget. Pure.

The stable block comes first and depends only on the memories in it, so a prompt cache keeps
working while nothing in it changes. Then every kind of memory has its own share of what is left,
so that none can push out another; what one does not use, the others may.

Every memory is a quoted line with its date; nothing in a memory can close the quotation or pose as
an instruction. That form is also the mark by which ``standfast.text.trust.without_recalled`` knows
it when it comes back.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple

from standfast.rank.places import outside
from standfast.text.tokens import TokenCount
from standfast.text.trust import PREFACE
from standfast.types import Answer, Hit, Kind, Record, Why, origin_mark
from standfast.types.frozen import frozen
from standfast.types.invisible import with_escapes, without_invisible

STABLE_SECTION = "pre-seeded-memories"
SECTION_OF_KIND: Mapping[Kind, str] = {
    "semantic": "facts",
    "episodic": "episodes",
    "procedural": "procedures",
}
TRUST_WORDS = ("untrusted", "low", "medium", "high")
COMPOSED = "agent"
NO_ROOM = "it did not fit the budget"


@frozen
class Section:
    """Quoted lines under one tag, best first; ``hits`` stand beside their lines. ``share`` is
    how much of the budget the section is sure of; with 0 it takes what it needs, before others."""

    tag: str
    lines: tuple[str, ...]
    hits: tuple[Hit | None, ...]
    share: float = 0.0
    asking: tuple[int, ...] = ()  # the lines in the order in which they ask for room
    in_order: bool = False  # none is overtaken, unless it is too long for the section's share


class Missed(NamedTuple):
    """A near miss, and why it is one; told of a few, see ``left_out``."""

    hit: Hit
    reason: str


@dataclass(slots=True, kw_only=True)
class Packed:
    stable_text: str = ""
    tail: str = ""
    hits: list[Hit] = field(default_factory=list)
    near_misses: list[Missed] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(part for part in (self.stable_text, self.tail) if part)


def pack(
    stable: Section,
    sections: Sequence[Section],
    *,
    stable_budget: int,
    budget: int,
    count: TokenCount,
) -> Packed:
    """The stable block, then the sections in their order: first each within its share, then,
    in the same order, with what is left."""
    packed = Packed()
    opening = _Filling(stable, count, preface=True)
    opening.fill(min(stable_budget, budget))
    if opening.kept:
        packed.stable_text = opening.text()
    left = budget - (count(packed.stable_text + "\n") if packed.stable_text else 0)
    fillings = [_Filling(one, count, preface=False) for one in sections]
    if not packed.stable_text:
        left -= count(PREFACE + "\n")
    for one in fillings:
        if not one.section.share:
            left -= one.fill(left)
    shared = left
    for one in fillings:
        if one.section.share:
            sure = int(shared * one.section.share)
            left -= one.fill(min(left, sure), sure)
    for one in fillings:
        if one.section.share:
            left -= one.fill(left + one.spent, int(shared * one.section.share))
    parts = [one.text() for one in fillings if one.kept]
    if parts and not packed.stable_text:
        parts.insert(0, PREFACE)
    packed.tail = "\n".join(parts)
    for one in (opening, *fillings):
        packed.hits += one.shown()
        packed.near_misses += one.missed()
    return packed


class _Filling:
    """A section that takes line after line, as far as there is room."""

    def __init__(self, section: Section, count: TokenCount, *, preface: bool) -> None:
        self.section = section
        self.kept: set[int] = set()
        self.spent = 0
        self._count = count
        self._preface = preface
        self._prices = [count(line + "\n") for line in section.lines]
        memories = {n: hit.record for n, hit in enumerate(section.hits) if hit}
        which = zip(memories, outside(memories.values()), strict=True)
        self._outside = {place for place, is_outside in which if is_outside}

    def fill(self, budget: int, sure: int = 0) -> int:
        """Take what fits into ``budget`` in all; what that costs more than before. ``sure`` is
        the share of the section: what fits there has its turn the next time."""
        before = self.spent
        frame = self._count(self._frame([]) + "\n")
        spent = self.spent or frame
        for place in self._places(budget):
            price = self._prices[place]
            if place in self.kept:
                continue
            if spent + price <= budget:
                self.kept.add(place)
                spent += price
            elif self.section.in_order and frame + price <= sure:
                break
        self.spent = spent if self.kept else 0
        return self.spent - before

    def _places(self, budget: int) -> Sequence[int]:
        """The order in which lines ask for room; they are written in their own order. What pages
        and tools say beyond half of the room asks behind all others."""
        asking = self.section.asking or range(len(self.section.lines))
        if not self._outside:
            return asking
        left, behind = budget // 2, set()
        for place in asking:
            if place in self._outside and self._prices[place] <= left:
                left -= self._prices[place]
            elif place in self._outside:
                behind.add(place)
        return [*(one for one in asking if one not in behind), *sorted(behind)]

    def text(self) -> str:
        return self._frame([self.section.lines[place] for place in sorted(self.kept)])

    def _frame(self, lines: list[str]) -> str:
        return _block([PREFACE] if self._preface else [], self.section.tag, lines)

    def shown(self) -> list[Hit]:
        return [hit for n, hit in enumerate(self.section.hits) if hit and n in self.kept]

    def missed(self) -> list[Missed]:
        hits = enumerate(self.section.hits)
        return [Missed(hit, NO_ROOM) for n, hit in hits if hit and n not in self.kept]


def left_out(missed: Missed) -> Hit:
    """A near miss says why it is one."""
    hit, reason = missed
    return replace(hit, why=(*hit.why, Why(stage="left out", value=0.0, detail=reason)))


def _block(before: list[str], tag: str, lines: list[str]) -> str:
    return "\n".join([*before, f"<{tag}>", *lines, f"</{tag}>"])


def alone(section: Section) -> str:
    """A section that stands by itself, such as in a message of its own; "" if it is empty."""
    return _block([PREFACE], section.tag, list(section.lines)) if section.lines else ""


def as_text(answer: Answer) -> str:
    """An answer as text for a prompt, in sections: facts, episodes and procedures, those of the
    widest scope first, the best of each first. Quoted and marked like a packet; "" if nothing
    was found."""
    parts = [PREFACE] if answer.hits else []
    scopes = dict.fromkeys(hit.record.scope for hit in answer.hits)
    for scope in sorted(scopes, key=lambda scope: (scope.count(":"), scope)):
        for kind, tag in SECTION_OF_KIND.items():
            here = [h for h in answer.hits if (h.record.scope, h.record.kind) == (scope, kind)]
            if here:
                lines = [memory_line(hit.record, cite=True) for hit in here]
                parts.append("\n".join([f"<{tag} of={quoted(scope)}>", *lines, f"</{tag}>"]))
    return "\n".join(parts)


@frozen
class SafetyEnd:
    """Safety slots of which a statement was ended, when, and by whom; "" for a user without a
    name."""

    slots: tuple[str, ...]
    on: datetime
    by: str

    def __str__(self) -> str:
        slots = " and ".join(slot.replace("_", " ") for slot in self.slots)
        who = quoted(self.by) if self.by else "the user"
        return f"{slots}: ended on {self.on:%Y-%m-%d}, said by {who}"


NO_ENDS: Mapping[str, SafetyEnd] = {}


def memory_section(
    tag: str,
    hits: Iterable[Hit],
    *,
    share: float = 0.0,
    cite: bool = False,
    ends: Mapping[str, SafetyEnd] = NO_ENDS,
) -> Section:
    """``ends``: what records have ended, or what has ended them, by their ids."""
    listed = tuple(hits)
    lines = tuple(
        memory_line(hit.record, cite=cite, ended=ends.get(hit.record.id)) for hit in listed
    )
    return Section(tag=tag, lines=lines, hits=listed, share=share)


def stable_section(
    hits: Sequence[Hit], *, cite: bool = False, ends: Mapping[str, SafetyEnd] = NO_ENDS
) -> Section:
    """The block that opens every packet. ``hits`` ask for room in their order; they stand in the
    order they were learned, which no score, use or clock can change."""
    placed = sorted(range(len(hits)), key=lambda n: (hits[n].record.learned_at, hits[n].record.id))
    section = memory_section(STABLE_SECTION, (hits[n] for n in placed), cite=cite, ends=ends)
    return replace(section, asking=tuple(placed.index(n) for n in range(len(hits))))


def text_section(tag: str, text: str) -> Section:
    """A quoted text that is no record, such as a session's summary: composed or noted by a
    program, whoever's words it is made of."""
    lines = (f"- {quoted(text)} ({COMPOSED})",) if text else ()
    return Section(tag=tag, lines=lines, hits=(None,) * len(lines))


def memory_line(record: Record, *, cite: bool = False, ended: SafetyEnd | None = None) -> str:
    """One memory, with when it was; whoever wants to ``cite`` also gets its id, type and trust.
    What no person said and what is doubtful says so in any case, and so does what ended a safety
    statement."""
    about = [f"id {record.id}"] if cite else []
    about.append(f"{record.at:%Y-%m-%d}")
    if cite:
        about.append(record.type)
    if mark := origin_mark(record.source, record.trust):
        about.append(mark)
    if record.status != "active":
        about.append(record.status)
    if cite:
        about.append(f"trust {TRUST_WORDS[record.trust]}")
    elif record.trust == 0:
        about.append(TRUST_WORDS[0])
    if ended:
        about.append(str(ended))
    steps = record.data.get("steps")
    body = f"{quoted(record.text)}{_steps(steps)}"
    return f"- {body} ({', '.join(about)})"


def _steps(steps: object) -> str:
    if not isinstance(steps, list | tuple) or not steps:
        return ""
    return " steps: " + "; ".join(f"{n}. {quoted(str(s))}" for n, s in enumerate(steps, start=1))


_ANGLES = {ord(one): f"\\u{ord(one):04x}" for one in "<>"}  # could end or begin one of our tags


def quoted(text: str) -> str:
    """One line that ends where it says it ends, and says nothing that is not seen; no tag of ours
    can be forged inside it."""
    return with_escapes(json.dumps(without_invisible(text), ensure_ascii=False)).translate(_ANGLES)


def content_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
