"""Values as JSON for machines and as lines for people."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from standfast.types import (
    Answer,
    Entry,
    Hit,
    Message,
    Packet,
    Receipt,
    ReceiptItem,
    Record,
    Relation,
    Session,
    Summary,
    origin_mark,
)
from standfast.types.frozen import frozen
from standfast.types.invisible import json_escape, spelled_out
from standfast.types.json import as_json as as_json
from standfast.types.pages import Consent, Due, ScopeCount, Spent, Stats

STATUS_COLOURS = {
    "stored": "32",
    "merged": "36",
    "erased": "33",
    "restored": "32",
    "quarantined": "31",
    "disputed": "33",
    "superseded": "36",
    "volatile": "33",
    "pending": "33",
    "skipped": "2",
    "failed": "31",
}


TROUBLES = ("failed", "quarantined", "disputed")
TOLD_MAX = 20  # of what went wrong
NOTHING = "nothing to do"


# Where the files of this machine lie is nobody's business on the other end.
_PATH = re.compile(
    r"(?:(?<=[\s'\"(=])|\A)(?:[A-Za-z]:)?[/\\](?:[^\s'\":;,()]+[/\\])*[^\s'\":;,()]+"
)


_BREAKS = re.compile(r"[\t\n\r]")


def without_paths(text: str) -> str:
    return _PATH.sub("the file", text)


@frozen
class Screen:
    """How to write for the person in front of it."""

    colour: bool
    width: int

    def paint(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and code else text

    def answer(self, answer: Answer, *, explain: bool, notes: bool = True) -> Iterable[str]:
        for number, hit in enumerate(answer.hits, start=1):
            yield from self.hit(number, hit, explain=explain)
        if not answer.hits:
            yield "nothing found"
        for note in answer.notes if notes else ():
            yield self.paint(f"- {visible(note)}", "2")

    def hit(self, number: int, hit: Hit, *, explain: bool) -> Iterable[str]:
        head = f"{number:>2}  {hit.score:5.3f}  "
        for line, text in enumerate(self.wrapped(hit.record.text, len(head))):
            yield (self.paint(head, "1") if line == 0 else " " * len(head)) + text
        for about in self.fitted(_about(hit.record), len(head)):
            yield " " * len(head) + self.paint(about, "2")
        if explain:
            for why in hit.why:
                yield " " * len(head) + self.paint(visible(str(why)), "36")

    def receipt(self, receipt: Receipt) -> Iterable[str]:
        for item in receipt.items:
            status = self.paint(f"{item.status:<9}", STATUS_COLOURS.get(item.status, ""))
            yield f"{status} {visible(item.id)}" + (
                f"  {visible(item.reason)}" if item.reason else ""
            )
            yield from self.going(item)
        if not receipt.items:
            yield NOTHING
        for note in receipt.notes:
            yield self.paint(f"- {visible(note)}", "2")
        if receipt.change:
            yield self.paint(f"change {visible(receipt.change)}", "2")

    def going(self, item: ReceiptItem) -> Iterable[str]:
        """What a dry run would take, and whose it is."""
        if item.text:
            yield from (f"    {line}" for line in self.wrapped(item.text, 4))
            yield self.paint(f"    {by_whom(item)}", "2")

    def summary(self, receipt: Receipt) -> Iterable[str]:
        """Of very many things how many, and each that went wrong."""
        for status, number in Counter(item.status for item in receipt.items).items():
            yield f"{self.paint(f'{status:<9}', STATUS_COLOURS.get(status, ''))} {number:,}"
        failed = tuple(item for item in receipt.items if item.status in TROUBLES)
        rest = replace(receipt, items=failed[:TOLD_MAX])
        if len(failed) > TOLD_MAX:
            more = f"{len(failed) - TOLD_MAX:,} more went wrong; --json shows all"
            rest = replace(rest, notes=(*rest.notes, more))
        yield from (line for line in self.receipt(rest) if line != NOTHING)

    def troubles(self, receipt: Receipt) -> Iterable[str]:
        """Only what went wrong."""
        failed = tuple(item for item in receipt.items if item.status in TROUBLES)
        return self.receipt(replace(receipt, items=failed, notes=(), change="")) if failed else ()

    def packet(self, packet: Packet) -> Iterable[str]:
        yield from map(visible, packet.text.split("\n") if packet.text else ())
        for message in packet.messages:
            yield self.paint(f"{message['role']}: ", "1") + visible(str(message.get("content")))
        about = f"{packet.tokens} tokens ({packet.counter}), stable block {packet.hash[:12]}"
        yield self.paint(about, "2")
        for note in packet.notes:
            yield self.paint(f"- {visible(note)}", "2")

    def fitted(self, parts: Iterable[str], indent: int) -> Iterable[str]:
        """The parts in a row, and in a second one what does not fit: an id is copied whole."""
        line = ""
        for part in parts:
            longer = f"{line} · {part}" if line else part
            if line and len(longer) > self.width - indent:
                yield line
                longer = part
            line = longer
        yield line

    def record(self, record: Record) -> Iterable[str]:
        yield from self.wrapped(record.text, 0)
        yield from (self.paint(about, "2") for about in self.fitted(_about(record), 0))

    def entry(self, entry: Entry) -> Iterable[str]:
        head = f"{entry.at:%Y-%m-%d %H:%M:%S}  {entry.root} #{entry.seq}  {visible(entry.reason)}"
        yield self.paint(head, "1") + (f"  by {visible(entry.actor)}" if entry.actor else "")
        for touch in entry.touched:
            what = (
                "erased" if touch.after is None else "made" if touch.before is None else "changed"
            )
            yield f"    {what} {touch.kind} {visible(touch.id)}" + _changes(
                touch.before, touch.after
            )
        yield self.paint(f"    change {visible(entry.change)}", "2")

    def session(self, session: Session) -> Iterable[str]:
        when = f"{session.started_at:%Y-%m-%d %H:%M}" if session.started_at else "?"
        over = ", ended" if session.ended_at else ""
        yield f"{session.scope}  {visible(session.id)}  {when}, {_messages(session.last_seq)}{over}"

    def message(self, message: Message) -> Iterable[str]:
        by = f"{message.role} ({message.author})" if message.author else message.role
        yield self.paint(f"{message.at:%Y-%m-%d %H:%M}  {visible(by)}", "1")
        yield from (f"    {visible(line)}" for line in message.text.split("\n"))

    def scope(self, counted: ScopeCount) -> Iterable[str]:
        inside = "  " * (counted.scope.count(":") // 2)
        yield f"{inside}{counted.scope}  {counted.records:,} here, {counted.below:,} with all below"

    def spent(self, spent: Spent) -> Iterable[str]:
        tokens = f"{spent.tokens_in:,} + {spent.tokens_out:,} tokens"
        calls = f"{spent.calls:,} call{'' if spent.calls == 1 else 's'}"
        yield f"{spent.day}  {spent.scope}  {spent.operation}  {visible(spent.model)}"
        yield self.paint(f"    {calls}, {tokens}, ${spent.cost:.4f}", "2")

    def due(self, due: Due) -> Iterable[str]:
        for work in due.work:
            about = f"{work.scope}  {visible(work.id)}  {visible(work.detail)}"
            yield f"{work.kind:<8} {about.rstrip()}"
        for item in due.stuck:
            yield self.paint(f"stuck: {visible(item.why)}", "31")
        if not due.work and not due.stuck:
            yield "nothing is due"

    def folded(self, folded: Summary) -> Iterable[str]:
        yield self.paint(f"#{folded.from_seq} to #{folded.to_seq}, by {folded.how}", "1")
        yield from self.wrapped(folded.text, 0)

    def item(self, item: object) -> Iterable[str]:
        """One of a list."""
        if isinstance(item, ScopeCount):
            return self.scope(item)
        if isinstance(item, Summary):
            return self.folded(item)
        if isinstance(item, Relation):
            return [f"{visible(item.source)}  {item.kind}  {visible(item.target)}"]
        if isinstance(item, Consent):
            whose = f" of {visible(item.author)}" if item.author else ""
            return [f"{item.scope}{whose}: {'kept' if item.persist else 'not kept'}"]
        if isinstance(item, Spent):
            return self.spent(item)
        if isinstance(item, Session):
            return self.session(item)
        if isinstance(item, Message):
            return self.message(item)
        if isinstance(item, Entry):
            return self.entry(item)
        return self.record(item) if isinstance(item, Record) else [visible(str(item))]

    def stats(self, found: Stats) -> Iterable[str]:
        yield f"{found.records:,} record{'' if found.records == 1 else 's'}"
        for name, numbers in (
            ("kind", found.kinds),
            ("type", found.types),
            ("status", found.statuses),
        ):
            if numbers:
                listed = ", ".join(f"{number:,} {one}" for one, number in numbers.items())
                yield f"    by {name}: {listed}"
        sessions = f"{found.sessions:,} session{'' if found.sessions == 1 else 's'}"
        yield sessions if found.complete else f"at least {sessions}"
        if found.reembedding:
            yield visible(str(found.reembedding))

    def wrapped(self, text: str, indent: int) -> list[str]:
        flat = visible(" ".join(text.split()))
        width = max(self.width - indent, 30)
        return textwrap.wrap(flat, width, max_lines=4, placeholder=" ...") or [""]


def by_whom(item: ReceiptItem) -> str:
    return f"by {visible(item.author)}" if item.author else "by nobody named"


def authors_of(items: Iterable[ReceiptItem]) -> list[str]:
    return sorted({item.author for item in items if item.author})


def _messages(count: int) -> str:
    return f"{count:,} message" if count == 1 else f"{count:,} messages"


def _about(record: Record) -> Iterable[str]:
    yield record.scope
    yield record.type
    if mark := origin_mark(record.source, record.trust):
        yield mark
    if record.status != "active":
        yield record.status
    yield f"{record.at:%Y-%m-%d}"
    yield from (f"#{visible(tag)}" for tag in record.tags)
    if record.author:
        yield f"by {visible(record.author)}"
    yield visible(record.id)


def _changes(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> str:
    if not before or not after:
        return ""
    names = [name for name in after if name != "version" and before.get(name) != after[name]]
    return (
        visible(" (" + ", ".join(f"{n}: {before.get(n)} -> {after[n]}" for n in names) + ")")
        if names
        else ""
    )


def visible(text: str) -> str:
    """Text that cannot drive a terminal: control, direction and invisible characters are written
    as escapes, except the joiners that a script or an emoji needs."""
    if text.isascii() and text.isprintable():
        return text
    return _BREAKS.sub(lambda found: json_escape(found[0]), spelled_out(text))
