"""export: everything a handle may see, as versioned JSON lines, in constant memory.

Whatever was committed before the export began, and was not erased meanwhile, is in it. What is
written while it runs may or may not be; a session never claims more than its lines hold.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path
from typing import IO, get_args

from standfast.access.spool import private_spool
from standfast.engine import (
    Engine,
    every_entry,
    every_message,
    every_session,
    every_summary,
)
from standfast.errors import Invalid, Unavailable
from standfast.forgotten import NAMESPACE as TOMBSTONE
from standfast.forgotten import note_export
from standfast.models.budgets import days_of, kept_until
from standfast.ports import Store, beside, breath
from standfast.scopes import is_visible
from standfast.types import (
    AUDIT,
    MARKS,
    Entry,
    Item,
    Listing,
    Receipt,
    ReceiptItem,
    Record,
    Relation,
    SessionKey,
    Status,
    Where,
)
from standfast.types.files import check_is_file
from standfast.types.frozen import frozen
from standfast.types.serial import FORMAT, NAMES, TYPES, VERSION, Value, json_line, line_of
from standfast.verbs.imported import NAMESPACE as KEPT
from standfast.verbs.imported import ends_of, entry_of, kept_items
from standfast.verbs.queue import all_drained

PAGE = 500
ENTRIES_PAGE = 20  # an entry may speak of a thousand things
EVERY_STATUS: tuple[Status, ...] = get_args(Status)
# Who works on what right now: means nothing in another place or at another time.
PASSING = ("lease", "work", "budget", MARKS, AUDIT)
TOUCH_CHARACTERS = 200
USAGE = "usage"

LAST = "\U0010ffff"  # sorts behind every scope
PARTIAL_NOTE = (
    "less than a whole root: its tombstones are left out, and of its journal what touches "
    "other scopes"
)

Progress = Callable[[int, int], None]
Target = str | os.PathLike[str] | IO[bytes]


@frozen
class ExportPart:
    """What to read of one root."""

    store: Store
    root: str
    scopes: tuple[str, ...]
    descend: bool
    now: datetime

    @property
    def whole(self) -> bool:
        return self.root in self.scopes and self.descend

    def holds(self, scope: str) -> bool:
        return is_visible(scope, self.scopes, descend=self.descend, exact=True)


@dataclass(slots=True, kw_only=True)
class ExportWriting:
    """Lines on their way into the file, counted and hashed."""

    file: IO[bytes]
    hash: hashlib._Hash = field(default_factory=hashlib.sha256)
    counts: Counter[str] = field(default_factory=Counter)
    progress: Progress | None = None
    total: int = 0  # records and messages, as they were counted before

    def raw(self, line: bytes) -> None:
        self.hash.update(line)
        self.file.write(line)

    async def value(self, value: Value) -> None:
        await beside(_length(value), lambda: self.raw(line_of(value)))
        self.counts[NAMES[type(value)]] += 1
        if self.progress is not None:
            done = self.counts["message"] + self.counts["record"]
            self.progress(done, max(self.total, done))


def _length(value: Value) -> int:
    """About how long its line is."""
    if isinstance(value, Entry):
        return TOUCH_CHARACTERS * len(value.touched)
    return len(getattr(value, "text", "")) + len(getattr(value, "original", ""))


async def export_to(
    engine: Engine,
    target: Target,
    *,
    scope: str | Iterable[str] | None,
    descend: bool,
    progress: Progress | None = None,
    noted: bool = True,
) -> Receipt:
    """``noted``: whoever forgets something of it is told of the file."""
    waiting = await all_drained(engine)
    parts = await parts_of(engine, scope, descend=descend)
    total = sum([await _size(part) for part in parts]) if progress else 0
    with target_opened(target) as file:
        writing = ExportWriting(file=file, progress=progress, total=total)
        counts = await _write_all(writing, parts, engine)
    if noted:
        await note_export(engine, [part.root for part in parts], target)
    items = (
        ReceiptItem(id=name, status="stored", reason=f"{counts[name]} written") for name in TYPES
    )
    notes = [] if all(part.whole for part in parts) else [PARTIAL_NOTE]
    return Receipt(items=tuple(items), notes=(*notes, *waiting))


async def parts_of(
    engine: Engine, scope: str | Iterable[str] | None, *, descend: bool
) -> list[ExportPart]:
    """What a handle may take along of some scopes, root by root."""
    by_root, below = await engine.read_scopes(scope, descend=descend)
    for scopes in by_root.values():
        for one in scopes:
            engine.write_scope(one)  # seeing a parent's memories is not owning them
    return [
        ExportPart(store=engine.store, root=root, scopes=scopes, descend=below, now=engine.now())
        for root, scopes in sorted(by_root.items())
    ]


async def _size(part: ExportPart) -> int:
    """Records and messages, about: some may come or go meanwhile."""
    records = await part.store.counts(part.scopes, now=part.now, descend=part.descend)
    messages = [
        session.last_seq
        async for session in every_session(part.store, part.root)
        if part.holds(session.scope)
    ]
    return sum(records.values()) + sum(messages)


async def _write_all(
    writing: ExportWriting, parts: list[ExportPart], engine: Engine
) -> Counter[str]:
    header = {
        "format": FORMAT,
        "version": VERSION,
        "at": engine.now().isoformat(),
        "space": await engine.space(),  # of the vectors, which are made anew where it is read
        "scopes": sorted(scope for part in parts for scope in part.scopes),
    }
    writing.raw(json_line(header))
    for part in parts:
        await _write_sessions(writing, part)
        await _write_records(writing, part)
        await _write_items(writing, part)
        await _write_usage(writing, part)
        async for entry in _entries(part):
            await writing.value(entry)
    checksum = writing.hash.hexdigest()
    end = {
        "type": "end",
        "counts": {name: writing.counts[name] for name in TYPES},
        "sha256": checksum,
    }
    if engine.sign is not None:
        end["signature"] = engine.sign(checksum)
    writing.file.write(json_line(end))
    return writing.counts


# What is written, in the order in which it can be read in again


async def _write_sessions(writing: ExportWriting, part: ExportPart) -> None:
    """What came after a session was read is left out."""
    async for session in every_session(part.store, part.root):
        if not part.holds(session.scope):
            continue
        await writing.value(replace(session, cursors=dict(sorted(session.cursors.items()))))
        key, last = SessionKey(session.scope, session.id), session.last_seq
        async for message in every_message(part.store, key, part.now, until=last):
            await breath()
            await writing.value(message)
        async for summary in every_summary(part.store, key):
            if summary.to_seq <= last:
                await writing.value(summary)


async def _write_records(writing: ExportWriting, part: ExportPart) -> None:
    """Relations need both ends, so they wait in a file of their own until all records are out."""
    with private_spool() as waiting:
        counted = 0
        async for page in _record_pages(part):
            for record in page:
                await breath()
                await writing.value(record)
            for relation in await _relations_from(part, page):
                await breath()
                waiting.write(line_of(relation))
                counted += 1
        waiting.seek(0)
        for line in waiting:
            await breath()
            writing.raw(line)
        writing.counts["relation"] += counted


async def _record_pages(part: ExportPart) -> AsyncIterator[list[Record]]:
    query = Listing(
        where=Where(
            scopes=part.scopes,
            now=part.now,
            descend=part.descend,
            exact=True,
            statuses=EVERY_STATUS,
        ),
        order="id",
        limit=PAGE,
    )
    while found := await part.store.listing(query):
        yield found
        query = replace(query, after=found[-1].id)


async def _relations_from(part: ExportPart, records: list[Record]) -> list[Relation]:
    """Each edge once, with the page that holds its source."""
    sources = {record.id for record in records}
    edges = await part.store.relations(part.root, sorted(sources))
    found = [edge for edge in edges if edge.source in sources]
    if part.whole or not found:
        return found
    targets = await part.store.records(
        part.root, list({edge.target for edge in found}), now=part.now
    )
    inside = {record.id for record in targets if part.holds(record.scope)}
    return [edge for edge in found if edge.target in inside]


async def _write_items(writing: ExportWriting, part: ExportPart) -> None:
    last: Item | None = None
    while page := await part.store.items(part.root, None, now=part.now, after=last, limit=PAGE):
        for item in page:
            if part.holds(item.scope) and _travels(item, part):
                await writing.value(item)
        last = page[-1]
        if last.namespace == KEPT:  # they go out as entries: on to what comes behind them
            last = replace(last, scope=LAST, key="")


async def _write_usage(writing: ExportWriting, part: ExportPart) -> None:
    """What the root has spent, as items: it is kept elsewhere, but it is the root's."""
    if not part.holds(part.root):
        return
    async for _, day, parts in days_of(part.store.registry, part.root, now=part.now):
        until = kept_until(date.fromisoformat(day))
        for what, spent in parts.items():
            key, value = f"{day}/{what}", dict(spent)
            item = Item(
                scope=part.root, namespace=USAGE, key=key, value=value, expires_at=until, version=1
            )
            await writing.value(item)


def _travels(item: Item, part: ExportPart) -> bool:
    if item.namespace in PASSING or item.namespace == KEPT:
        return False
    if item.namespace == TOMBSTONE or (item.namespace, item.key) == ("secret", TOMBSTONE):
        return part.whole  # a tombstone says nothing without the root's key
    return True


async def _entries(part: ExportPart) -> AsyncIterator[Entry]:
    """This store's journal, then what earlier imports brought along."""
    async for entry in every_entry(part.store, part.root, size=ENTRIES_PAGE):
        if await _is_inside(part, entry):
            yield entry
    async for item in kept_items(part.store, part.root, part.now):
        kept = entry_of(item)
        if kept and await _is_inside(part, kept):
            yield kept


async def _is_inside(part: ExportPart, entry: Entry) -> bool:
    """Does it speak of nothing but what is exported? An edge may lead to a record elsewhere."""
    if part.whole:
        return True
    if not all(part.holds(touch.scope) for touch in entry.touched):
        return False
    ends = {end for touch in entry.touched for end in ends_of(touch)}
    found = await part.store.records(part.root, sorted(ends), now=part.now) if ends else []
    return all(part.holds(record.scope) for record in found)


# The file


@contextmanager
def target_opened(target: Target) -> Iterator[IO[bytes]]:
    """A file that is there complete or not at all; or the stream that was handed in."""
    if not isinstance(target, str | os.PathLike):
        with _speaking_of("the stream"):
            yield target
            target.flush()
        return
    path = Path(target)
    if path.is_dir():
        raise Invalid(f"{path} is a folder; name a file")
    check_is_file(path)
    with _speaking_of(path), _beside(path) as file:
        yield file


@contextmanager
def _speaking_of(what: object) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise  # whoever read it has seen enough
    except OSError as error:
        raise Unavailable(f"cannot write {what}: {error.strerror or error}") from error


@contextmanager
def _beside(path: Path) -> Iterator[IO[bytes]]:
    """A file next to the target, readable by its owner only, which takes the target's place
    once it is safely on the disk."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    if os.name == "posix":  # elsewhere folders cannot be opened
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
