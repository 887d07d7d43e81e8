"""One import under way: what every part of it shares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from standfast.changes import Change
from standfast.engine import Engine
from standfast.errors import Conflict, Invalid
from standfast.forgotten import Forgotten, Tombstones
from standfast.lifecycle.status import held
from standfast.ports import beside
from standfast.scopes import parse_scope, root_of
from standfast.text.inputs import MESSAGE_BYTES_MAX, RECORD_BYTES_MAX, clean_name, clean_text, share
from standfast.text.trust import strong_suspicion
from standfast.types import (
    TRUST_OF_SOURCE,
    Entry,
    Item,
    ItemStatus,
    Message,
    ReceiptItem,
    Record,
    Relation,
    Session,
    SessionKey,
    Summary,
)
from standfast.types.frozen import frozen
from standfast.types.serial import TYPES, Value
from standfast.verbs.import_.file import ExportLine
from standfast.verbs.import_.secrets import clean_message
from standfast.verbs.statement import doubt_of

Believed = TypeVar("Believed", Message, Record)

ITEMS_MAX = 10_000
TRUST_MAX = 3
ATTEMPTS = 3  # then one by one

FORGOTTEN = "forgotten here before"
KNOWN = "already there"
OPTED_OUT = "opted out of persistence"
EXPIRED = "expired"
OTHER = "this id already says something else here"
REDACTED = "secrets were redacted"
NOT_TAKEN = "settings and bookkeeping come only with a signed export that an admin of all restores"


@frozen
class ImportOutcome:
    """What became of one line."""

    line: ExportLine
    id: str
    status: ItemStatus
    reason: str = ""


@dataclass(slots=True, kw_only=True)
class ImportReport:
    """One item for each of the first lines and for every failure; numbers for all of them."""

    items: list[ReceiptItem] = field(default_factory=list)
    counts: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def add(self, outcome: ImportOutcome) -> None:
        failed = outcome.status == "failed"
        reason = f"line {outcome.line.number}: {outcome.reason}" if failed else outcome.reason
        if failed or len(self.items) < ITEMS_MAX:
            self.items.append(ReceiptItem(id=outcome.id, status=outcome.status, reason=reason))
        general = "" if failed else outcome.reason
        self.counts[outcome.line.type, outcome.status, general] += 1

    def fail(self, line: ExportLine, reason: str) -> None:
        id_ = id_of(line.value) if line.value else f"line {line.number}"
        self.add(ImportOutcome(line=line, id=id_, status="failed", reason=reason))

    def notes(self) -> Iterable[str]:
        for type_ in (*TYPES, "line"):
            parts = [
                f"{count} {status}" + (f" ({reason})" if reason else "")
                for (of, status, reason), count in sorted(self.counts.items())
                if of == type_
            ]
            if parts:
                yield f"{type_}: {', '.join(parts)}"


@dataclass(slots=True, kw_only=True)
class Log:
    """What is known of one session of the file while its lines go by."""

    existed: bool  # before this import
    last: int = 0  # the number of its last message here
    until: int = 0  # and of the last one in the file, if the file says it
    present: int = 0  # messages of the file that are here under their own number
    numbered: bool = True  # do messages keep their numbers?
    pure: bool | None = None  # does it hold nothing else? None: not looked yet
    barred: str = ""  # why nothing of it is imported
    why: str = "its messages were numbered anew, because the session has others here"


@dataclass(slots=True, kw_only=True)
class ImportRun:
    engine: Engine
    change: str
    actor: str
    dry_run: bool
    scopes: frozenset[str]  # the roots that the file says it has
    report: ImportReport
    stones: dict[str, Tombstones] = field(default_factory=dict)  # by root, as they stood at first
    forgotten: Forgotten = field(default_factory=Forgotten)
    logs: dict[SessionKey, Log] = field(default_factory=dict)
    merged: dict[str, str] = field(default_factory=dict)  # id in the file -> id here
    planned: set[str] = field(default_factory=set)  # records that a dry run would store
    keyed: dict[str, bool] = field(default_factory=dict)  # root: are the file's tombstones ours?
    taken: set[str] = field(default_factory=set)  # summary ids that are used elsewhere
    embedded: int = 0
    pending: set[str] = field(default_factory=set)  # notes about vectors left for later
    trusting: bool = False  # the file is believed as it is: its trust, reviews and settings too

    def begin(self, root: str) -> Change:
        """What one chunk of lines writes, as a part of the import's change."""
        return Change(self.engine, root, "import", actor=self.actor, id=self.change)

    async def commit(self, change: Change) -> None:
        if not self.dry_run:
            await change.commit()

    async def stones_of(self, root: str) -> Tombstones | None:
        """Asked anew for each chunk: somebody may forget for the first time meanwhile."""
        if root not in self.stones:
            return await Tombstones.of(self.engine.store, root, self.engine.now())
        return self.stones[root]

    def stored(self, line: ExportLine, id_: str, reason: str = "") -> ImportOutcome:
        if not self.dry_run:
            return ImportOutcome(line=line, id=id_, status="stored", reason=reason)
        would = "dry run: would be stored" + (f", {reason}" if reason else "")
        return ImportOutcome(line=line, id=id_, status="pending", reason=would)

    async def persists(self, asked: dict[tuple[str, str], bool], scope: str, author: str) -> bool:
        """``asked`` remembers the answers for as long as one chunk takes."""
        if (scope, author) not in asked:
            asked[scope, author] = await self.engine.persists(scope, (author,))
        return asked[scope, author]

    async def cleaned(self, message: Message) -> Message:
        """Without secrets; a long one is looked through beside the loop."""
        length = len(message.text) + len(message.original)
        return await beside(length, partial(clean_message, message, self.engine.redactor))

    def believed(self, value: Believed) -> Believed:
        """A message or record as far as this import believes it: what a file says of its own
        trust is the file's word, and so is that somebody approved it."""
        if self.trusting:
            return value
        lower = replace(value, trust=min(value.trust, TRUST_OF_SOURCE["import"]))
        if isinstance(lower, Message):
            return lower
        if lower.type == "turn":
            return lower if lower.status == "quarantined" else held(lower, _doubt_of_turn(lower))
        core = lower.durability == "core"
        lower = replace(lower, durability="standard", review_at=None) if core else lower
        live = lower.status in ("active", "disputed")
        return held(lower, doubt_of(lower)) if live else lower

    def check(self, value: Value) -> None:
        """Invalid or Denied if the value may not come in at all."""
        for scope in (root_of_value(value), *_scopes(value)):
            if parse_scope(scope) != scope:
                raise Invalid(f"scope {scope!r} is not in its canonical form")
            if root_of(scope) not in self.scopes:
                raise Invalid(f"scope {scope!r} is not among those the header names")
        for scope in _scopes(value):
            self.engine.write_scope(scope)
        if isinstance(value, Entry):
            self.engine.write_scope_in(value.root)
        _check_fields(value)


def _doubt_of_turn(turn: Record) -> str:
    return strong_suspicion(turn.text) if turn.status == "active" else ""


def failed(line: ExportLine, reason: str) -> ImportOutcome:
    assert line.value is not None
    return ImportOutcome(line=line, id=id_of(line.value), status="failed", reason=reason)


def skipped(line: ExportLine, reason: str) -> ImportOutcome:
    assert line.value is not None
    return ImportOutcome(line=line, id=id_of(line.value), status="skipped", reason=reason)


def id_of(value: Value) -> str:
    if isinstance(value, Relation):
        return f"{value.source} {value.kind} {value.target}"
    if isinstance(value, Item):
        return f"{value.namespace}/{value.key}"
    return f"{value.root} #{value.seq}" if isinstance(value, Entry) else value.id


def root_of_value(value: Value) -> str:
    return value.root if isinstance(value, Entry) else root_of(value.scope)


def _scopes(value: Value) -> Iterable[str]:
    """All that the value belongs to or speaks of, in one root."""
    root = root_of_value(value)
    if isinstance(value, Entry):
        named = [touch.scope for touch in value.touched]
    else:
        elsewhere = value.session_scope if isinstance(value, Record) else ""
        named = [value.scope, *([elsewhere] if elsewhere else [])]
    for scope in dict.fromkeys(named):
        if root_of(scope) != root:
            raise Invalid(f"scope {scope!r} is not in the root {root!r}")
        yield scope


def _check_fields(value: Value) -> None:
    for what, name in _names(value):
        clean_name(name, what)
    if isinstance(value, Record):
        clean_text(value.text, "text", RECORD_BYTES_MAX)
        share(value.importance, "importance")
        share(value.confidence, "confidence")
    elif isinstance(value, Message | Summary):
        clean_text(value.text, "text", MESSAGE_BYTES_MAX)
    if isinstance(value, Message | Record) and value.trust > TRUST_MAX:
        raise Invalid(f"trust goes from 0 to {TRUST_MAX}, not {value.trust}")
    if isinstance(value, Entry) and root_of(value.root) != value.root:
        raise Invalid(f"{value.root!r} is no root")


def _names(value: Value) -> Iterable[tuple[str, str]]:
    match value:
        case Relation():
            yield from (("source", value.source), ("target", value.target))
        case Item():
            yield from (("namespace", value.namespace), ("key", value.key))
        case Entry():
            yield ("batch", value.batch)
        case Session() | Record():
            yield ("id", value.id)
        case Message() | Summary():
            yield from (("id", value.id), ("session", value.session))


# Fills the change with what lines of one root ask for, and says what became of each and what to
# note once it is written. Looking carefully is dear and mostly in vain: only after a conflict.
Filled = tuple[list[ImportOutcome], Callable[[], None]]
Fill = Callable[[ImportRun, Change, Sequence[ExportLine], bool], Awaitable[Filled]]


async def import_lines(run: ImportRun, lines: Sequence[ExportLine], fill: Fill) -> None:
    """Lines of one root. What does not fit is looked at again alone."""
    assert lines[0].value is not None
    root, trouble = root_of_value(lines[0].value), ""
    for attempt in range(ATTEMPTS):
        change = run.begin(root)
        outcomes, note = await fill(run, change, lines, run.dry_run or attempt > 0)
        try:
            await run.commit(change)
        except (Conflict, Invalid) as error:
            trouble = str(error)
            continue
        note()
        for outcome in outcomes:
            run.report.add(outcome)
        return
    if len(lines) == 1:
        run.report.fail(lines[0], trouble)
        return
    for line in lines:
        await import_lines(run, [line], fill)
