"""A person's edits of MEMORY.md: what changed since it was written, and taking that in.

Deciding is pure (``plan_edits``). A text never changes under its id, so the store itself knows
what a line said; the snapshot only says which lines were there, and when they were written.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from standfast.interfaces.markdown.pages import PageLine
from standfast.text.compare import text_hash
from standfast.types import LIVE, Record
from standfast.types.frozen import frozen

RETIRED_AT_ONCE_MAX = 3  # more than that, and more than a third of all: is it meant?


@frozen
class Written:
    """A line as we wrote it: the hash of its text, since when it stands there, until when."""

    hash: str
    at: datetime
    expires_at: datetime | None = None


@frozen
class KnownLine:
    """What the store says about the file's lines."""

    facts: Mapping[str, Record]  # what belongs into the file now
    records: Mapping[str, Record]  # these and all others that the file or the snapshot names
    heads: Mapping[str, Record]  # id of a superseded record -> the live one that replaced it
    graves: Mapping[str, datetime]  # hash of a forgotten text -> when it was forgotten


@frozen
class New:
    line: PageLine
    note: str = ""


@frozen
class Changed:
    line: PageLine
    old: Record


@frozen
class Disputed:
    """The person changed a fact that the store had changed too."""

    line: PageLine
    old: Record
    newer: Record


@frozen
class Dropped:
    line: PageLine
    reason: str


@dataclass(slots=True, kw_only=True)
class EditPlan:
    new: list[New] = field(default_factory=list)
    changed: list[Changed] = field(default_factory=list)
    disputed: list[Disputed] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    retired: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    lines_known: int = 0  # of those we wrote, how many stand for a fact still

    @property
    def is_drastic(self) -> bool:
        count = len(self.retired)
        return count > RETIRED_AT_ONCE_MAX and is_more_than_a_third(count, self.lines_known)

    @property
    def is_empty(self) -> bool:
        return not (self.new or self.changed or self.disputed or self.dropped or self.retired)


def is_more_than_a_third(part: int, whole: int) -> bool:
    return part * 3 > whole


def flat(text: str) -> str:
    """Equal for texts that differ only in blanks and in how accents are written."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def plan_edits(
    lines: Iterable[PageLine],
    last: Mapping[str, Written],
    known: KnownLine,
    *,
    saved_at: datetime,
    now: datetime,
    seen: Mapping[str, str] | None = None,
) -> EditPlan:
    """What the file asks for. ``last`` are the lines as they were written, by id; ``saved_at``
    is when the file was saved last; ``seen`` are the facts that were made of a person's own
    texts, by their hash."""
    reading = _Reading(last, known, saved_at, now, seen or {})
    return reading.plan_of(list(lines))


class _Reading:
    def __init__(
        self,
        last: Mapping[str, Written],
        known: KnownLine,
        saved_at: datetime,
        now: datetime,
        seen: Mapping[str, str],
    ) -> None:
        self.seen = seen
        self.last = last
        self.known = known
        self.saved_at = saved_at
        self.now = now
        self.claimed: set[str] = set()
        self.plan = EditPlan()
        self.facts_by_text = {flat(record.text): id_ for id_, record in known.facts.items()}
        self.lines_by_hash: dict[str, list[str]] = {}
        for id_, written in last.items():
            self.lines_by_hash.setdefault(written.hash, []).append(id_)

    def plan_of(self, lines: list[PageLine]) -> EditPlan:
        told = [line for line in lines if line.text.strip()]
        unchanged = [line for line in told if self._is_unchanged(line)]
        for line in unchanged:
            self.claimed.add(line.id)
        nameless: list[PageLine] = []
        for line in told:
            if line.id in self.claimed or not line.id:
                # Without an id, or a copy of a line that has it.
                nameless += [] if self._is_unchanged(line) else [line]
            else:
                self.claimed.add(line.id)
                self._named(line, line.id)
        for line in nameless:
            if line.own:
                self._own(line)
            else:
                self._nameless(line)
        self._retire()
        return self.plan

    def _is_unchanged(self, line: PageLine) -> bool:
        record = self.known.records.get(line.id)
        return record is not None and flat(record.text) == flat(line.text)

    def _named(self, line: PageLine, id_: str) -> None:
        record = self.known.records.get(id_)
        if record is None:
            self._orphan(line, id_)
        elif flat(record.text) == flat(line.text):
            return
        elif id_ in self.known.facts:
            self._unless_forgotten(Changed(line=line, old=record))
        elif id_ in self.known.heads:
            newer = self.known.heads[id_]
            if flat(newer.text) == flat(line.text):
                self.claimed.add(newer.id)
            elif newer.id in self.last and newer.id not in self.claimed:
                # It was this line that made it so, in a round that was not finished.
                self.claimed.add(newer.id)
                self._unless_forgotten(Changed(line=line, old=newer))
            else:
                self._unless_forgotten(Disputed(line=line, old=record, newer=newer))
        else:
            note = "what it changes was retired meanwhile" if record.status not in LIVE else ""
            self._unless_forgotten(New(line=line, note=note))

    def _orphan(self, line: PageLine, id_: str) -> None:
        """The store has no such record: forgotten, expired, or never ours."""
        written = self.last.get(id_)
        hashes = {text_hash(line.text), *((written.hash,) if written else ())}
        graves = [self.known.graves[h] for h in hashes if h in self.known.graves]
        if any(written is None or written.at <= grave for grave in graves):
            reason = "it was forgotten; to have it known again, write it as a new line"
            self.plan.dropped.append(Dropped(line=line, reason=reason))
        elif written and written.hash == text_hash(line.text) and self._has_expired(written):
            self.plan.dropped.append(Dropped(line=line, reason="it has expired"))
        else:
            self._unless_forgotten(New(line=line, note="the store has no record of that id"))

    def _has_expired(self, written: Written) -> bool:
        return written.expires_at is not None and written.expires_at <= self.now

    def _own(self, line: PageLine) -> None:
        """A text of the person's has no comment. It is taken in once, and stays whatever becomes
        of the fact that it was; only what was forgotten goes."""
        id_ = self.seen.get(text_hash(line.text))
        if id_ is None:
            self._nameless(line)
            return
        self.claimed.add(id_)
        if id_ not in self.known.records:
            self._orphan(line, id_)
        elif id_ in self.known.heads:
            self.plan.notes.append(
                f"MEMORY.md line {line.number} is not believed any more: it became "
                f"{self.known.heads[id_].id}; the line is yours to change"
            )

    def _nameless(self, line: PageLine) -> None:
        """Its comment may only have been lost; then it is the line that it was."""
        known = self.facts_by_text.get(flat(line.text))
        if known is not None:
            self.claimed.add(known)
            return
        for id_ in self.lines_by_hash.get(text_hash(line.text), ()):
            if id_ not in self.claimed:
                self.claimed.add(id_)
                self._named(line, id_)
                return
        self._unless_forgotten(New(line=line))

    def _unless_forgotten(self, wish: New | Changed | Disputed) -> None:
        """A text forgotten after the file was saved is stale; said again later, it counts."""
        grave = self.known.graves.get(text_hash(wish.line.text))
        if grave is not None and self.saved_at <= grave:
            reason = "it was forgotten after the file was saved"
            self.plan.dropped.append(Dropped(line=wish.line, reason=reason))
        elif isinstance(wish, New):
            self.plan.new.append(wish)
        elif isinstance(wish, Changed):
            self.plan.changed.append(wish)
        else:
            self.plan.disputed.append(wish)

    def _retire(self) -> None:
        for id_ in self.last:
            if id_ in self.known.facts:
                self.plan.lines_known += 1
                if id_ not in self.claimed:
                    self.plan.retired.append(id_)
            elif id_ in self.known.heads and id_ not in self.claimed:
                newer = self.known.heads[id_].id
                self.plan.notes.append(
                    f"the line of {id_} was deleted, but it became {newer} meanwhile: that stays"
                )
