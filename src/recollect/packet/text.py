"""Packing: memories into one text inside a token budget. Pure.

The stable block comes first and depends only on the memories in it, so a prompt cache keeps
working while nothing in it changes. Every memory is quoted data with its id, date and trust;
nothing in a memory can close the quotation or pose as an instruction. That form is also the mark
by which ``recollect.text.trust.without_recalled`` knows it when it comes back.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from recollect.text.tokens import TokenCount
from recollect.text.trust import PREFACE
from recollect.types import Answer, Hit, Kind, Record

STABLE_SECTION = "pre-seeded-memories"
SECTION_OF_KIND: Mapping[Kind, str] = {
    "semantic": "facts",
    "episodic": "episodes",
    "procedural": "procedures",
}
TRUST_WORDS = ("untrusted", "low", "medium", "high")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Quoted lines under one tag, best first; ``hits`` stand beside their lines."""

    tag: str
    lines: tuple[str, ...]
    hits: tuple[Hit | None, ...]
    in_order: bool = False  # no line goes in once one before it did not fit
    weightiest_first: bool = False  # where not all fit, the least important stay out


@dataclass(slots=True, kw_only=True)
class Packed:
    stable_text: str = ""
    tail: str = ""
    hits: list[Hit] = field(default_factory=list)
    near_misses: list[Hit] = field(default_factory=list)

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
    """Fill the stable block, then the sections in turn, each line only if it still fits."""
    packed = Packed()
    kept = _fill(stable, min(stable_budget, budget), count, packed, preface=True)
    if kept:
        packed.stable_text = _block([PREFACE], stable.tag, kept)
    left = budget - (count(packed.stable_text + "\n") if packed.stable_text else 0)
    parts: list[str] = []
    for section in sections:
        preface = not packed.stable_text and not parts
        kept = _fill(section, left, count, packed, preface=preface)
        if kept:
            block = _block([PREFACE] if preface else [], section.tag, kept)
            parts.append(block)
            left -= count(block + "\n")
    packed.tail = "\n".join(parts)
    return packed


def _fill(
    section: Section, budget: int, count: TokenCount, packed: Packed, *, preface: bool
) -> list[str]:
    frame = _block([PREFACE] if preface else [], section.tag, [])
    spent = count(frame + "\n")
    fitting: set[int] = set()
    closed = False
    for place in _places(section):
        price = count(section.lines[place] + "\n")
        fits = spent + price <= budget and not closed
        closed = closed or (section.in_order and not fits)
        if fits:
            fitting.add(place)
            spent += price
    for place, hit in enumerate(section.hits):
        if hit is not None:
            (packed.hits if place in fitting else packed.near_misses).append(hit)
    return [section.lines[place] for place in sorted(fitting)]


def _places(section: Section) -> Sequence[int]:
    """The order in which lines ask for room; they are written in their own order."""
    places = range(len(section.lines))
    if not section.weightiest_first:
        return places
    weights = [hit.record.importance if hit else 0.0 for hit in section.hits]
    return sorted(places, key=lambda place: (-weights[place], place))


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
                lines = [memory_line(hit.record) for hit in here]
                parts.append("\n".join([f"<{tag} of={quoted(scope)}>", *lines, f"</{tag}>"]))
    return "\n".join(parts)


def memory_section(tag: str, hits: Iterable[Hit], *, weightiest_first: bool = False) -> Section:
    listed = tuple(hits)
    lines = tuple(memory_line(hit.record) for hit in listed)
    return Section(tag=tag, lines=lines, hits=listed, weightiest_first=weightiest_first)


def text_section(tag: str, text: str) -> Section:
    """A quoted text that is no record, such as a session's summary."""
    lines = (f"- {quoted(text)}",) if text else ()
    return Section(tag=tag, lines=lines, hits=(None,) * len(lines))


def memory_line(record: Record) -> str:
    about = [f"id {record.id}", f"{record.at:%Y-%m-%d}", record.type]
    if record.status != "active":
        about.append(record.status)
    about.append(f"trust {TRUST_WORDS[record.trust]}")
    steps = record.data.get("steps")
    body = f"{quoted(record.text)}{_steps(steps)}"
    return f"- {body} ({', '.join(about)})"


def _steps(steps: object) -> str:
    if not isinstance(steps, list | tuple) or not steps:
        return ""
    return " steps: " + "; ".join(f"{n}. {quoted(str(s))}" for n, s in enumerate(steps, start=1))


def quoted(text: str) -> str:
    """One line that ends where it says it ends; no tag of ours can be forged inside it."""
    return json.dumps(text, ensure_ascii=False).replace("<", "\\u003c").replace(">", "\\u003e")


def content_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
