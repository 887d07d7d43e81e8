"""MEMORY.md as text: writing facts as lines, and reading back whatever an editor left. Pure.

A fact is a list line that ends with its id in a comment::

    - Ann lives in Berlin <!-- standfast:0198c2 -->

Line breaks, and blanks at either end, are written as character references (``&#10;``), so any
text is one line and comes back as it was.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import get_args
from urllib.parse import quote, unquote

from standfast import compat
from standfast.interfaces.markdown.config import is_mapping
from standfast.types import Type
from standfast.types.frozen import frozen
from standfast.types.invisible import spelled_out

HEADINGS: dict[str, Type] = {
    "Facts": "fact",
    "Preferences": "preference",
    "Requests": "user_request",
    "People and things": "entity",
    "Interests": "interest",
}
CONFLICTS = "Conflicts"
NOTICE = f"> {compat.MARKDOWN_MARK}:"
_NOTICES = tuple(f"> {mark}:" for mark in compat.MARKDOWN_MARKS)
INTRODUCTION = (
    "<!-- One fact a line: add, change or delete lines as you like. "
    "The comment at the end of a line says which fact it is. -->"
)
TITLE = "# Memory"
EMPTY_PAGE = f"{TITLE}\n\n{INTRODUCTION}\n"
EMPTY_HISTORY = "# History\n\n"

BULLET = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)")
_HEADING = re.compile(r"\s{0,3}(#{1,6})(?:[ \t]+(.*))?$")
_RULE = re.compile(r"\s*([-*_=])(?:\s*\1){2,}\s*$")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z")
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})([^`]*)$")
_DELIMITERS = re.compile(r"\s*\|?(?:\s*:?-+:?\s*\|)+(?:\s*:?-+:?\s*)?$")
_CELL = re.compile(r"(?<!\\)\|")
_BREAKS = re.compile(r"[\t\n\r]")
MARKER = re.compile(
    rf"<!--\s*(?:{'|'.join(compat.MARKDOWN_MARKS)}):"
    r"([^\s<>]+?)(?:\s+(?:agent|tool|web|import))?\s*-->"
)
_AMBIGUOUS = re.compile(r"&(?=amp;|lt;|#\d{1,7};)")
_REFERENCE = re.compile(r"&(?:(amp)|(lt)|#(\d{1,7}));")
_TYPE_OF_HEADING = {heading.casefold(): type_ for heading, type_ in HEADINGS.items()}
_TAG_LENGTH_MAX = 64
NESTED_MIN = 2  # blanks that set an item below another
CODE_CHARACTERS_MAX = 4000
FRONT_LINES_MAX = 1000


@frozen
class FactLine:
    id: str
    text: str
    type: Type
    mark: str = ""  # ``origin_mark``: who said it, if no person did


@frozen
class PageLine:
    """A fact as it stands in the file; ``id`` is "" where there is none. ``own``: it is part of
    a text of the person's, which nobody else writes in."""

    text: str
    id: str = ""
    heading: str = ""
    number: int = 0  # of the line in the file
    first: int = 0  # its place in the list of lines
    last: int = 0  # and the place behind it
    own: bool = False

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
    parts = [TITLE, *(f"{NOTICE} {notice}" for notice in notices), INTRODUCTION]
    if conflicts:
        parts.append("\n".join(conflict_section(conflicts)))
    for heading, type_ in HEADINGS.items():
        lines = [fact_line(fact) for fact in listed if fact.type == type_]
        if lines:
            parts += [f"## {heading}", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def conflict_section(conflicts: Sequence[Sequence[FactLine]]) -> list[str]:
    """Its lines; an empty one between the groups."""
    told = f"{NOTICE} these contradict each other; delete the lines that are wrong."
    lines = [f"## {CONFLICTS}", "", told]
    for group in conflicts:
        lines += ["", *map(fact_line, group)]
    return lines


def heading_in(line: str) -> str | None:
    """The words of a heading below the title; None if the line is none."""
    title = _HEADING.match(line)
    return (title[2] or "").strip(" \t#") if title and len(title[1]) > 1 else None


def fact_line(fact: FactLine) -> str:
    return f"- {escaped(fact.text)} {comment(fact.id, fact.mark)}"


def is_notice(line: str) -> bool:
    """A line that was put there by us, whatever we were called then."""
    return line.startswith(_NOTICES)


def comment(id_: str, mark: str = "") -> str:
    """The end of a line that says what it stands for, and who said it where no person did."""
    said_by = f" {mark}" if mark else ""
    return f"<!-- {compat.MARKDOWN_MARK}:{written_id(id_)}{said_by} -->"


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
    # An editor would break the line at them, lose them, or show nothing.
    middle = _BREAKS.sub(lambda found: _reference(found[0]), spelled_out(inner, _reference))
    return "".join(map(_reference, before)) + middle + "".join(map(_reference, after))


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


def split_lines(text: str) -> list[str]:
    """The lines with their ends, whichever those are."""
    return _LINE.findall(text)


def parse(text: str) -> list[PageLine]:
    """Every fact in the file. Titles, rules, notices and comments are none; a paragraph is, and
    so are the items of a nested list (behind what they belong to), the rows of a table and a
    block of code."""
    return _Parser(visible_lines(text)).lines


def own_parts(text: str) -> list[str]:
    """What in the file is neither a fact in a line of its own nor written by us: whoever finds
    none of it here may write the file anew."""
    shown = visible_lines(text)
    taken = {n for one in _Parser(shown).lines if not one.own for n in range(one.first, one.last)}
    return [
        line
        for number, (line, visible) in enumerate(zip(_flat_lines(text), shown, strict=True))
        if line.strip() and number not in taken and not _is_ours(line, visible)
    ]


def _is_ours(line: str, visible: str) -> bool:
    plain = line.strip()
    if plain in (TITLE, INTRODUCTION) or is_notice(plain):
        return True
    title = _HEADING.match(visible)
    name = (title[2] or "").strip(" \t#").casefold() if title and len(title[1]) == 2 else ""
    return name in _TYPE_OF_HEADING or name == CONFLICTS.casefold()


class _Parser:
    """Goes through the lines once. ``first`` and ``last`` of what it finds are places in the
    list of lines, the second behind the end."""

    def __init__(self, shown: Sequence[str]) -> None:
        self.lines: list[PageLine] = []
        self._shown = shown
        self._item: list[str] = []  # the lines of the fact that is being read
        self._begun = 0
        self._depth = 0  # of the bullet that it began with; -1: a paragraph
        self._heading = ""
        self._above: list[tuple[int, str, int]] = []  # indent, text, place in ``lines``
        self._read()

    def _read(self) -> None:
        number = _front_matter(self._shown)
        while number < len(self._shown):
            raw = self._shown[number]
            end = self._block(number)
            if end > number:
                number = end
                continue
            title = _HEADING.match(raw)
            if title or not raw.strip() or _RULE.match(raw) or is_notice(raw.lstrip()):
                self._finish(number)
                if title:
                    self._heading = (title[2] or "").strip(" \t#") if len(title[1]) > 1 else ""
                    self._above.clear()
            else:
                self._line(number, raw)
            number += 1
        self._finish(len(self._shown))
        # What only says whose the items below it are says nothing by itself.
        self.lines = [one for one in self.lines if not (one.own and one.text.endswith(":"))]

    def _line(self, number: int, raw: str) -> None:
        bullet = BULLET.match(raw)
        if bullet or not self._item:
            self._finish(number)
            self._begun = number
            self._depth = _indent(raw) if bullet else -1
        self._item.append(raw[bullet.end() :].strip() if bullet else raw.strip().lstrip("> "))
        if MARKER.search(raw):
            self._finish(number + 1)

    def _finish(self, end: int) -> None:
        if not self._item:
            return
        joined = " ".join(self._item)
        self._item.clear()
        while self._above and self._above[-1][0] + NESTED_MIN > self._depth:
            self._above.pop()
        nested = self._depth >= 0 and bool(self._above)
        if self._depth < 0:
            self._above.clear()
        found = list(_facts_of(joined, self._heading, self._begun, end))
        for one in found:
            own = not one.id and (nested or self._depth < 0)
            text = one.text if one.id or not nested else self._with_parents(one.text)
            self.lines.append(replace(one, own=own, text=text))
        if nested:  # what has something below it is part of the person's list
            place = self._above[-1][2]
            if 0 <= place < len(self.lines) and not self.lines[place].id:
                self.lines[place] = replace(self.lines[place], own=True)
        if self._depth >= 0:
            place = len(self.lines) - 1 if found else -1
            self._above.append((self._depth, unescaped(MARKER.sub("", joined)).strip(), place))

    def _with_parents(self, text: str) -> str:
        return ": ".join([*(above.rstrip(" :") for _, above, _ in self._above), text])

    def _block(self, number: int) -> int:
        """Behind a block of code or a table that begins here; else here."""
        fence = _FENCE.match(self._shown[number])
        if fence:
            self._finish(number)
            return self._fenced(number, fence)
        if number + 1 < len(self._shown) and _is_table(*self._shown[number : number + 2]):
            self._finish(number)
            return self._table(number)
        if not self._item and not self._above and _is_indented(self._shown[number]):
            return self._indented(number)
        return number

    def _fenced(self, number: int, fence: re.Match[str]) -> int:
        end = number + 1
        while end < len(self._shown):
            closing = _FENCE.match(self._shown[end])
            end += 1
            if closing and closing[1].startswith(fence[1]) and not closing[2].strip():
                break
        inside = self._shown[number + 1 : end]
        self._add_own(inside[:-1] if end > number + 1 and _FENCE.match(inside[-1]) else inside,
                      number, end)  # fmt: skip
        return end

    def _indented(self, number: int) -> int:
        end = number
        while end < len(self._shown) and _is_indented(self._shown[end]):
            end += 1
        self._add_own(self._shown[number:end], number, end)
        return end

    def _add_own(self, code: Sequence[str], first: int, last: int) -> None:
        text = "\n".join(code).strip()
        if any(map(_tells, text)) and len(text) <= CODE_CHARACTERS_MAX:
            self.lines.append(
                PageLine(text=text, heading=self._heading, number=first + 1, first=first,
                         last=last, own=True)
            )  # fmt: skip

    def _table(self, number: int) -> int:
        names = _cells(self._shown[number])
        end = number + 2
        while end < len(self._shown) and "|" in self._shown[end]:
            cells = _cells(self._shown[end])
            told = [f"{n}: {c}" if n else c for n, c in zip_longest(names, cells, fillvalue="")]
            pairs = [one for one, cell in zip(told, cells, strict=False) if cell]
            if pairs:
                self.lines.append(
                    PageLine(text="; ".join(pairs), heading=self._heading, number=end + 1,
                             first=end, last=end + 1, own=True)
                )  # fmt: skip
            end += 1
        return end


def front_lines(text: str) -> int:
    """How many lines of YAML the file begins with."""
    return _front_matter(visible_lines(text))


def outline(text: str) -> list[str]:
    """The lines that may be headings and notices; what is YAML, code or a comment is "\\0"."""
    shown, inside = visible_lines(text), ""
    front = _front_matter(shown)
    lines: list[str] = []
    for number, (line, raw) in enumerate(zip(shown, _flat_lines(text), strict=True)):
        fence = _FENCE.match(line)
        closes = bool(inside and fence and fence[1].startswith(inside) and not fence[2].strip())
        hidden = number < front or inside or fence or (raw.strip() and not line.strip())
        lines.append("\0" if hidden else line)
        inside = "" if closes else inside or (fence[1] if fence and number >= front else "")
    return lines


def _front_matter(shown: Sequence[str]) -> int:
    """Behind the YAML that a file may begin with; 0 if it begins with none."""
    if not shown or shown[0].rstrip() != "---":
        return 0
    for end, line in enumerate(shown[1:FRONT_LINES_MAX], start=1):
        if line.rstrip() in ("---", "..."):
            return end + 1 if is_mapping("\n".join(shown[1:end])) else 0
    return 0


def _indent(line: str) -> int:
    wide = line.expandtabs(4)
    return len(wide) - len(wide.lstrip(" "))


def _is_indented(line: str) -> bool:
    """Four blanks or a tab make a line code, unless it is an item of a list."""
    return bool(line.strip()) and _indent(line) >= 4 and not BULLET.match(line)


def _is_table(head: str, below: str) -> bool:
    return "|" in head and "|" in below and bool(_DELIMITERS.match(below))


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|").removesuffix("|")
    return [cell.replace("\\|", "|").strip() for cell in _CELL.split(inner)]


def _flat_lines(text: str) -> list[str]:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def visible_lines(text: str) -> list[str]:
    """The lines without a byte order mark, carriage returns and comments of their own. In a
    block of code nothing is a comment."""
    shown: list[str] = []
    inside = False
    fence = ""
    for line in _flat_lines(text):
        opens = _FENCE.match(line)
        if fence:
            closes = opens and opens[1].startswith(fence) and not opens[2].strip()
            fence = "" if closes else fence
            shown.append(line)
            continue
        marked = MARKER.search(line) is not None
        if marked:
            inside = False  # a comment that somebody forgot to close must not hide facts
        elif inside or line.lstrip().startswith("<!--"):
            inside = "-->" not in line
            shown.append("")
            continue
        elif opens:
            fence = opens[1]
        shown.append(line)
    return shown


def _facts_of(joined: str, heading: str, first: int, last: int) -> Iterable[PageLine]:
    """Usually one. What stands behind a comment belongs to it; two comments make two facts."""
    number = first + 1
    markers = list(MARKER.finditer(joined))
    if not markers:
        text = unescaped(joined.strip())
        if text.strip() and any(map(_tells, text)):
            yield PageLine(text=text, heading=heading, number=number, first=first, last=last)
        return
    start = 0
    for place, marker in enumerate(markers):
        piece = joined[start : marker.start()].rstrip()
        if place == len(markers) - 1:
            piece = f"{piece} {joined[marker.end() :].strip()}"
        start = marker.end()
        bullet = BULLET.match(piece) if place else None
        text = unescaped((piece[bullet.end() :] if bullet else piece).strip())
        yield PageLine(
            text=text, id=read_id(marker[1]), heading=heading, number=number, first=first, last=last
        )


def _tells(character: str) -> bool:
    """Letters, digits and pictures tell something; dashes and brackets alone do not."""
    category = unicodedata.category(character)
    return category[0] in "LN" or category == "So"


MEMORY_TYPES: tuple[Type, ...] = tuple(t for t in get_args(Type) if t in HEADINGS.values())
