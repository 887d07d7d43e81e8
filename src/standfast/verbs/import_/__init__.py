"""import: an export read in again, once or many times, here or elsewhere.

Every line is reported. What is here already is left as it is, what was forgotten here stays
forgotten, and what may not be kept is not kept. All of it is one change.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import IO

from standfast.access.seal import check_signature
from standfast.engine import Engine
from standfast.errors import Denied, Invalid, NotFound, StandfastError, Unavailable
from standfast.forgotten import Tombstones
from standfast.ports import breath
from standfast.scopes import parse_scope, root_of
from standfast.types import Message, Receipt, Record, Session, SessionKey, Usage
from standfast.verbs.import_.facts import import_records, import_relations
from standfast.verbs.import_.file import ExportLine, FileSurvey, lines_of, survey
from standfast.verbs.import_.logs import END_OF_SESSION, import_logs
from standfast.verbs.import_.rest import import_items
from standfast.verbs.import_.run import ImportReport, ImportRun, root_of_value
from standfast.verbs.import_.secrets import clean_record

LINES_PER_COMMIT = 100
LINES_AT_ONCE = 8
BYTES_PER_COMMIT = 4 << 20

Source = str | os.PathLike[str] | IO[bytes]

# Lines that may share a commit, in the order in which the store applies them.
_FAMILIES = {
    "session": import_logs,
    "message": import_logs,
    "summary": import_logs,
    END_OF_SESSION: import_logs,
    "record": import_records,
    "relation": import_relations,
    "item": import_items,
    "entry": import_items,
}


async def import_from(
    engine: Engine,
    source: Source,
    *,
    dry_run: bool,
    partial: bool,
    actor: str,
    trusted_key: str = "",
    trusting: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Receipt:
    """Without a ``trusted_key`` content, times and provenance come in, and nothing that the file
    says about how far to believe it."""
    if trusted_key and (engine.bound or "admin" not in engine.rights or engine.holder == "agent"):
        raise Denied("only an admin of every scope restores what a signed export says of itself")
    with source_opened(source) as (file, name):
        known = await asyncio.to_thread(survey, file, name)
        if known.problem and not partial:
            raise Invalid(
                f"{name} is not complete: {known.problem}. Nothing was imported; get the whole "
                "file, or import what is there with partial (--partial)"
            )
        if trusted_key:
            check_signature(known.checksum, known.signature, trusted_key)
        run = ImportRun(
            engine=engine,
            change=engine.new_id(),
            actor=actor,
            dry_run=dry_run,
            scopes=frozenset(_roots(known.scopes, name)),
            report=ImportReport(),
            trusting=trusting or bool(trusted_key),
        )
        await _find_forgotten(run, file)
        async for chunk in _chunks(run, _with_ends(lines_of(file))):
            await _FAMILIES[chunk[0].type](run, chunk)
            if progress is not None:
                progress(chunk[-1].number, known.lines)
    return _receipt(run, known)


def _roots(scopes: Sequence[str], name: str) -> Iterator[str]:
    for scope in scopes:
        try:
            yield root_of(parse_scope(scope))
        except Invalid as error:
            raise Invalid(f"the header of {name} is wrong: {error}") from None


@contextmanager
def source_opened(source: Source) -> Iterator[tuple[IO[bytes], str]]:
    if not isinstance(source, str | os.PathLike):
        yield source, "the import"
        return
    name = os.fspath(source)
    try:
        file = open(name, "rb")  # noqa: SIM115  closed below; only opening is translated
    except FileNotFoundError:
        raise NotFound(f"there is no file {name}") from None
    except OSError as error:
        raise Unavailable(f"cannot read {name}: {error.strerror or error}") from error
    with file:
        yield file, name


def _receipt(run: ImportRun, known: FileSurvey) -> Receipt:
    notes = [*run.report.notes(), *sorted(run.pending)]
    if known.problem:
        notes.insert(0, f"imported only in part: {known.problem}")
    here = run.engine.embedder.space if run.engine.embedder else ""
    if known.space not in ("", here):
        made = f"are made in {here}" if here else "are not made: no embedder is configured"
        notes.append(f"the vectors of the export were in {known.space[:80]!r}; here they {made}")
    if len(run.scopes) > 1:
        notes.append("undo takes one root at a time: name its scope")
    wrote = any(status in ("stored", "merged") for _, status, _ in run.report.counts)
    return Receipt(
        items=tuple(run.report.items),
        change=run.change if wrote and not run.dry_run else "",
        notes=tuple(notes),
        usage=Usage(texts_embedded=run.embedded),
    )


# From lines to chunks


def _with_ends(lines: Iterable[ExportLine]) -> Iterator[ExportLine]:
    """Behind the last line of each session, one that says so."""
    open_session: ExportLine | None = None
    for line in lines:
        inside = open_session is not None and _belongs(line, open_session)
        if open_session is not None and not inside and line.value is not None:
            yield _end(open_session)
            open_session = None
        if line.type == "session" and line.value is not None and not inside:
            open_session = line
        yield line
    if open_session is not None:
        yield _end(open_session)


def _belongs(line: ExportLine, session: ExportLine) -> bool:
    own = session.value
    assert isinstance(own, Session)
    if isinstance(line.value, Session):
        return (line.value.scope, line.value.id) == (own.scope, own.id)
    if line.type in ("message", "summary") and line.value is not None:
        return (line.value.scope, line.value.session) == (own.scope, own.id)  # type: ignore[union-attr]
    return False


def _end(session: ExportLine) -> ExportLine:
    return ExportLine(number=session.number, type=END_OF_SESSION, size=0, value=session.value)


async def _read_beside(lines: Iterator[ExportLine]) -> AsyncIterator[ExportLine]:
    """A few at a time, read beside the loop: one may speak of a thousand things."""
    while some := await asyncio.to_thread(list, islice(lines, LINES_AT_ONCE)):
        for line in some:
            yield line


async def _chunks(run: ImportRun, lines: Iterable[ExportLine]) -> AsyncIterator[list[ExportLine]]:
    """Lines that can be written together, each checked by itself."""
    chunk: list[ExportLine] = []
    size = 0
    async for line in _read_beside(iter(lines)):
        await breath()
        if not _admitted(run, line):
            continue
        full = len(chunk) >= LINES_PER_COMMIT or size + line.size > BYTES_PER_COMMIT
        if chunk and (full or not _fits(chunk[0], line)):
            yield chunk
            chunk, size = [], 0
        chunk.append(line)
        size += line.size
    if chunk:
        yield chunk


def _admitted(run: ImportRun, line: ExportLine) -> bool:
    if line.value is None:
        run.report.fail(line, line.error)
        return False
    try:
        run.check(line.value)
    except StandfastError as error:
        if line.type != END_OF_SESSION:
            run.report.fail(line, str(error))
        return False
    return True


def _fits(first: ExportLine, line: ExportLine) -> bool:
    assert first.value is not None
    assert line.value is not None
    same_root = root_of_value(first.value) == root_of_value(line.value)
    return same_root and _FAMILIES[first.type] is _FAMILIES[line.type]


# What was forgotten here


async def _find_forgotten(run: ImportRun, file: IO[bytes]) -> None:
    """Before anything is written: which lines of the file are about things forgotten here, or
    made from them? Costs one more look at the file, and only where something was forgotten."""
    for root in sorted(run.scopes):
        stones = await Tombstones.of(run.engine.store, root, run.engine.now())
        if stones:
            run.stones[root] = stones
    if not run.stones:
        return
    async for chunk in _about(run, lines_of(file), Message):
        await _bury_messages(run, [value for value in chunk if isinstance(value, Message)])
    made_from: dict[str, list[str]] = {}
    async for chunk in _about(run, lines_of(file), Record):
        await _bury_records(run, [v for v in chunk if isinstance(v, Record)], made_from)
    waiting = list(run.forgotten.records)
    while waiting:
        new = [id_ for id_ in made_from.get(waiting.pop(), ()) if id_ not in run.forgotten.records]
        run.forgotten.records.update(new)
        waiting += new


async def _about(
    run: ImportRun, lines: Iterable[ExportLine], kind: type[Message] | type[Record]
) -> AsyncIterator[list[Message | Record]]:
    chunk: list[Message | Record] = []
    async for line in _read_beside(iter(lines)):
        await breath()
        value = line.value
        if not isinstance(value, kind) or root_of(value.scope) not in run.stones:
            continue
        if not run.engine.may_change(value.scope):
            continue  # what others have forgotten is theirs
        if chunk and (len(chunk) == LINES_PER_COMMIT or not _same_root(chunk[0], value)):
            yield chunk
            chunk = []
        chunk.append(value)
    if chunk:
        yield chunk


def _same_root(one: Message | Record, other: Message | Record) -> bool:
    return root_of(one.scope) == root_of(other.scope)


async def _bury_messages(run: ImportRun, messages: list[Message]) -> None:
    safe = [await run.cleaned(message) for message in messages]
    buried = await run.stones[root_of(messages[0].scope)].messages(safe)
    for message in messages:
        if (SessionKey(message.scope, message.session), message.id) in buried:
            run.forgotten.add_message(message)


async def _bury_records(
    run: ImportRun, records: list[Record], made_from: dict[str, list[str]]
) -> None:
    safe = [clean_record(record, run.engine.redactor) for record in records]
    buried = await run.stones[root_of(records[0].scope)].records(safe)
    for record in records:
        if record.id in buried or run.forgotten.has_record(record):
            run.forgotten.records.add(record.id)
        for source in record.derived_from:
            made_from.setdefault(source, []).append(record.id)
