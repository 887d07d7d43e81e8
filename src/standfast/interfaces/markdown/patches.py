"""MEMORY.md with what a person wrote left as it is, byte for byte. Pure.

Lines that stand for a fact of the store are ours to write: they have a comment with the fact's id,
or get one. So are notices, the section of conflicts, and headings that a new fact needs. A file
in which there is nothing else is written anew as a whole; see ``pages.render``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field

from standfast.interfaces.markdown.edits import flat
from standfast.interfaces.markdown.pages import (
    BULLET,
    CONFLICTS,
    HEADINGS,
    INTRODUCTION,
    MARKER,
    NOTICE,
    TITLE,
    FactLine,
    PageLine,
    comment,
    conflict_section,
    fact_line,
    front_lines,
    heading_in,
    is_notice,
    outline,
    own_parts,
    parse,
    render,
    split_lines,
)
from standfast.types.frozen import frozen

_END = re.compile(r"[ \t]*(?:\r\n|\n|\r)?\Z")


@frozen
class Wanted:
    """What is to stand in the file. ``taken`` are the ids of facts by the text of the line that
    they were made from, ``becomes`` those by the id of the fact that they replaced; ``gone`` are
    texts of the person's that must go, because they were forgotten."""

    facts: Sequence[FactLine]
    conflicts: Sequence[Sequence[FactLine]] = ()
    notices: Sequence[str] = ()
    taken: Mapping[str, str] = field(default_factory=dict)
    becomes: Mapping[str, str] = field(default_factory=dict)
    gone: Collection[str] = ()


def patched(text: str, wanted: Wanted) -> str:
    """The file with exactly these facts in it."""
    if not own_parts(text):
        return render(wanted.facts, wanted.conflicts, wanted.notices)
    plain = text.removeprefix("\ufeff")
    return text[: len(text) - len(plain)] + _Patch(plain, wanted).text


class _Patch:
    def __init__(self, text: str, wanted: Wanted) -> None:
        self.wanted = wanted
        self.lines: list[str | None] = list(split_lines(text))  # None: taken out
        ends = [_end_of(line) for line in self.lines if line]
        self.newline = next((end for end in ends if end), "\n")
        self.shown = outline(text)[: len(self.lines)]
        self.front = front_lines(text)
        self.facts = {fact.id: fact for fact in wanted.facts}
        self.by_text = {flat(fact.text): fact.id for fact in wanted.facts}
        self.there: set[str] = set()
        self.behind: dict[str, int] = {}  # heading -> place of its last fact
        self._take_out_ours()
        self._go_through(parse(text))
        self._add_missing()
        self._put_on_top()
        self.text = "".join(line for line in self.lines if line is not None)

    # What is there

    def _go_through(self, found: Sequence[PageLine]) -> None:
        by_place: dict[tuple[int, int], list[PageLine]] = {}
        for line in found:
            by_place.setdefault((line.first, line.last), []).append(line)
        # A line that has its id already comes before a copy of it.
        ids = {line.id for line in found if line.id in self.facts}
        for (first, last), lines in by_place.items():
            if lines[0].own:
                self._own(lines[0], first, last)
            elif lines[0].heading.casefold() == CONFLICTS.casefold():
                self._take_out(first, last)  # that section is written anew
            else:
                self._facts(lines, first, last, ids)

    def _own(self, line: PageLine, first: int, last: int) -> None:
        if line.text in self.wanted.gone:
            self._take_out(first, last)
        elif (id_ := self._id_of(line)) is not None:
            self.there.add(id_)

    def _facts(
        self, lines: Sequence[PageLine], first: int, last: int, ids: Collection[str]
    ) -> None:
        kept: list[tuple[PageLine, FactLine]] = []
        for line in lines:
            id_ = self._id_of(line)
            copy = id_ is not None and line.id != id_ and id_ in ids
            if id_ is not None and not line.id and (copy or id_ in self.there):
                return  # the person says it twice; one of the two has the comment
            if id_ is not None and id_ not in self.there and not copy:
                self.there.add(id_)
                kept.append((line, self.facts[id_]))
        if not kept:
            self._take_out(first, last)
            return
        if len(lines) == 1 and flat(kept[0][0].text) == flat(kept[0][1].text):
            self._mark(first, last, kept[0][1])
        else:
            self._write(first, last, [fact for _, fact in kept])
        self.behind[lines[0].heading.casefold()] = last - 1

    def _id_of(self, line: PageLine) -> str | None:
        """The fact that a line stands for."""
        for id_ in (
            line.id,
            self.wanted.becomes.get(line.id, ""),
            self.wanted.taken.get(line.text, ""),
            self.by_text.get(flat(line.text), ""),
        ):
            if id_ in self.facts:
                return id_
        return None

    def _mark(self, first: int, last: int, fact: FactLine) -> None:
        """The words as they are, with the comment that says whose they are."""
        mark = comment(fact.id)
        raw = self.lines[last - 1] or ""
        found = [one for number in range(first, last) if (one := self._marker(number))]
        if found:
            (number, match), *_ = found
            line = self.lines[number] or ""
            self.lines[number] = line[: match.start()] + mark + line[match.end() :]
            return
        end = _END.search(raw)
        assert end is not None  # it matches nothing at least
        self.lines[last - 1] = f"{raw[: end.start()]} {mark}{_end_of(raw)}"

    def _marker(self, number: int) -> tuple[int, re.Match[str]] | None:
        match = MARKER.search(self.lines[number] or "")
        return (number, match) if match else None

    def _write(self, first: int, last: int, facts: Sequence[FactLine]) -> None:
        raw = self.lines[first] or ""
        bullet = BULLET.match(raw)
        start = bullet[0] if bullet else "- "
        end = _end_of(self.lines[last - 1] or "")
        written = [start + fact_line(fact).removeprefix("- ") for fact in facts]
        self._take_out(first, last)
        self.lines[last - 1] = self.newline.join(written) + end

    def _take_out(self, first: int, last: int) -> None:
        self.lines[first:last] = [None] * (last - first)

    # What is ours beside the facts

    def _take_out_ours(self) -> None:
        """Notices and the section of conflicts; each with the empty line behind it."""
        inside = False
        for number, line in enumerate(self.shown):
            heading = heading_in(line)
            if heading is not None:
                inside = heading.casefold() == CONFLICTS.casefold()
            notice = is_notice(line.lstrip())
            if (heading is not None and inside) or notice:
                self._take_out(number, number + 1)
                self._take_out_blank(number + 1)
            elif inside and self._is_blank(number) and self._is_ours_above(number):
                self._take_out(number, number + 1)

    def _take_out_blank(self, number: int) -> None:
        if self._is_blank(number):
            self._take_out(number, number + 1)

    def _is_blank(self, number: int) -> bool:
        line = self.lines[number] if number < len(self.lines) else None
        return line is not None and not line.strip()

    def _is_ours_above(self, number: int) -> bool:
        """Does an empty line stand behind a fact of ours, or behind what was taken out?"""
        above = self.lines[number - 1] if number else None
        return above is None or MARKER.search(above) is not None

    def _put_on_top(self) -> None:
        block: list[str] = []
        for notice in self.wanted.notices:
            block += [f"{NOTICE} {notice}", ""]
        if self.wanted.conflicts:
            block += [*conflict_section(self.wanted.conflicts), ""]
        if not block:
            return
        place = self._top()
        self._end_line_before(place)
        self.lines[place:place] = [line + self.newline for line in block]

    def _top(self) -> int:
        """Behind the title and our introduction, and the empty line behind those."""
        place = self.front
        for number, line in enumerate(self.lines):
            if (line or "").strip() in (TITLE, INTRODUCTION):
                place = number + 1
        while place and place < len(self.lines) and self.lines[place] is None:
            place += 1
        return place + 1 if place and self._is_blank(place) else place

    # What is not there yet

    def _add_missing(self) -> None:
        """At the end first: places before it stay what they are."""
        apart = {fact.id for group in self.wanted.conflicts for fact in group}
        missing = [f for f in self.wanted.facts if f.id not in self.there and f.id not in apart]
        added: list[tuple[int, list[str]]] = []
        for heading, type_ in HEADINGS.items():
            lines = [fact_line(fact) for fact in missing if fact.type == type_]
            if lines:
                added.append(self._placed(heading, lines))
        for place, lines in sorted(added, key=lambda one: -one[0]):
            self._end_line_before(place)
            self.lines[place:place] = [line + self.newline for line in lines]

    def _placed(self, heading: str, lines: list[str]) -> tuple[int, list[str]]:
        if heading.casefold() in self.behind:
            return self.behind[heading.casefold()] + 1, lines
        for number, line in enumerate(self.shown):
            if (heading_in(line) or "").casefold() == heading.casefold():
                place = number + 1
                return (place + 1, lines) if self._is_blank(place) else (place, ["", *lines])
        last = next((line for line in reversed(self.lines) if line is not None), "")
        apart = [""] if last.strip() else []
        return len(self.lines), [*apart, f"## {heading}", "", *lines]

    def _end_line_before(self, place: int) -> None:
        """A last line without an end gets one, before anything follows it."""
        for number in range(place - 1, -1, -1):
            line = self.lines[number]
            if line is not None:
                self.lines[number] = line if _end_of(line) else line + self.newline
                return


def _end_of(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]
