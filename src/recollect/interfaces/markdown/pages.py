"""MEMORY.md as text: writing facts as lines, and reading back whatever an editor left. Pure.

A fact is a list line that ends with its id in a comment::

    - Ann lives in Berlin <!-- recollect:0198c2 -->

Line breaks, and blanks at either end, are written as character references (``&#10;``), so any
text is one line and comes back as it was.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import get_args
from urllib.parse import quote, unquote

from recollect.types import Type

HEADINGS: dict[str, Type] = {
    "Facts": "fact",
    "Preferences": "preference",
    "Requests": "user_request",
    "People and things": "entity",
    "Interests": "interest",
}
CONFLICTS = "Conflicts"
NOTICE = "> recollect:"
INTRODUCTION = (
    "<!-- One fact a line: add, change or delete lines as you like. "
    "The comment at the end of a line says which fact it is. -->"
)
EMPTY_PAGE = f"# Memory\n\n{INTRODUCTION}\n"
EMPTY_HISTORY = "# History\n\n"

_BULLET = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)")
_HEADING = re.compile(r"\s{0,3}(#{1,6})(?:[ \t]+(.*))?$")
_RULE = re.compile(r"\s*([-*_=])(?:\s*\1){2,}\s*$")
MARKER = re.compile(r"<!--\s*recollect:([^\s<>]+?)\s*-->")
_AMBIGUOUS = re.compile(r"&(?=amp;|lt;|#\d{1,7};)")
_REFERENCE = re.compile(r"&(?:(amp)|(lt)|#(\d{1,7}));")
_TYPE_OF_HEADING = {heading.casefold(): type_ for heading, type_ in HEADINGS.items()}
_TAG_LENGTH_MAX = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class FactLine:
    id: str
    text: str
    type: Type


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLine:
    """A fact as it stands in the file; ``id`` is "" where there is none."""

    text: str
    id: str = ""
    heading: str = ""
    number: int = 0  # of the line in the file

    @property
    def type(self) -> Type | None:
        return _TYPE_OF_HEADING.get(self.heading.casefold())

    @property
    def tags(self) -> tuple[str, ...]:
        """A heading of the person's own is worth keeping."""
        known = self.type or self.heading.casefold() == CONFLICTS.casefold()
        usable = 0 < len(self.heading) <= _TAG_LENGTH_MAX and self.heading.isprintable()
        return () if known or not usable else (self.heading,)


def render(
    facts: Iterable[FactLine],
    conflicts: Sequence[Sequence[FactLine]] = (),
    notices: Iterable[str] = (),
) -> str:
    """The whole file. Facts keep their order within their heading."""
    listed = list(facts)
    parts = ["# Memory", *(f"{NOTICE} {notice}" for notice in notices), INTRODUCTION]
    if conflicts:
        told = f"{NOTICE} these contradict each other; delete the lines that are wrong."
        groups = ["\n".join(map(fact_line, group)) for group in conflicts]
        parts += [f"## {CONFLICTS}", told, "\n\n".join(groups)]
    for heading, type_ in HEADINGS.items():
        lines = [fact_line(fact) for fact in listed if fact.type == type_]
        if lines:
            parts += [f"## {heading}", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def fact_line(fact: FactLine) -> str:
    return f"- {escaped(fact.text)} <!-- recollect:{written_id(fact.id)} -->"


def written_id(id_: str) -> str:
    """Ids are free text; in a comment they must not end it."""
    return quote(id_, safe=":").replace("--", "-%2D")


def read_id(text: str) -> str:
    return unquote(text)


def escaped(text: str) -> str:
    """Any text in one line that reads back as it was."""
    safe = _AMBIGUOUS.sub("&amp;", text).replace("<!--", "&lt;!--")
    inner = safe.strip()
    start = safe.index(inner) if inner else len(safe)
    before, after = safe[:start], safe[start + len(inner) :]
    middle = "".join(_reference(c) if _breaks(c) else c for c in inner)
    return "".join(map(_reference, before)) + middle + "".join(map(_reference, after))


def _breaks(character: str) -> bool:
    """Would an editor break the line here, or lose it?"""
    return unicodedata.category(character) in ("Cc", "Zl", "Zp") or character == "\ufeff"


def _reference(character: str) -> str:
    return f"&#{ord(character)};"


def unescaped(text: str) -> str:
    return _REFERENCE.sub(_resolved, text)


def _resolved(match: re.Match[str]) -> str:
    if match[1]:
        return "&"
    if match[2]:
        return "<"
    code = int(match[3])
    storable = 0 < code < 0xD800 or 0xDFFF < code <= 0x10FFFF
    return chr(code) if storable else match[0]


def parse(text: str) -> list[PageLine]:
    """Every fact in the file. Titles, rules, notices and comments are none; a paragraph is."""
    lines: list[PageLine] = []
    item: list[str] = []  # the lines of the fact that is being read
    begun = 0
    heading = ""

    def finish() -> None:
        if item:
            lines.extend(_facts_of(" ".join(item), heading, begun))
            item.clear()

    for number, raw in enumerate(_visible_lines(text), start=1):
        title = _HEADING.match(raw)
        if title or not raw.strip() or _RULE.match(raw) or raw.lstrip().startswith(NOTICE):
            finish()
            if title:
                heading = (title[2] or "").strip(" \t#") if len(title[1]) > 1 else ""
            continue
        bullet = _BULLET.match(raw)
        if bullet or not item:
            finish()
            begun = number
        item.append(raw[bullet.end() :].strip() if bullet else raw.strip())
        if MARKER.search(raw):
            finish()
    finish()
    return lines


def _visible_lines(text: str) -> list[str]:
    """The lines without a byte order mark, carriage returns and comments of their own."""
    flat = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    shown: list[str] = []
    inside = False
    for line in flat.split("\n"):
        marked = MARKER.search(line) is not None
        if marked:
            inside = False  # a comment that somebody forgot to close must not hide facts
        elif inside or line.lstrip().startswith("<!--"):
            inside = "-->" not in line
            shown.append("")
            continue
        shown.append(line)
    return shown


def _facts_of(joined: str, heading: str, number: int) -> Iterable[PageLine]:
    """Usually one. What stands behind a comment belongs to it; two comments make two facts."""
    markers = list(MARKER.finditer(joined))
    if not markers:
        text = unescaped(joined.strip())
        if text.strip() and any(map(_tells, text)):
            yield PageLine(text=text, heading=heading, number=number)
        return
    start = 0
    for place, marker in enumerate(markers):
        piece = joined[start : marker.start()].rstrip()
        if place == len(markers) - 1:
            piece = f"{piece} {joined[marker.end() :].strip()}"
        start = marker.end()
        bullet = _BULLET.match(piece) if place else None
        text = unescaped((piece[bullet.end() :] if bullet else piece).strip())
        yield PageLine(text=text, id=read_id(marker[1]), heading=heading, number=number)


def _tells(character: str) -> bool:
    """Letters, digits and pictures tell something; dashes and brackets alone do not."""
    category = unicodedata.category(character)
    return category[0] in "LN" or category == "So"


MEMORY_TYPES: tuple[Type, ...] = tuple(t for t in get_args(Type) if t in HEADINGS.values())
