"""The audit log: who wrote, read, exported, was refused, came in or made keys; and when.

A write's line is in the write's own commit. Everything else is buffered for a second at most and
written together. Lines hold no memory and no name: ids, scopes and keys stand there as keyed
hashes, and the key of a root is destroyed with the root, so what is forgotten stays so.

Every second the new lines of this process are sealed, root by root: a seal holds the hash of each
line and the seal before. Whoever changes, removes or adds a line breaks a seal. Whoever cuts off
the end of a log, or puts an older copy in its place, leaves a sound one: only seals that were kept
elsewhere show that.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
from collections.abc import AsyncIterator, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from standfast import compat
from standfast.changes import Change
from standfast.engine import Engine, every_item, every_root
from standfast.errors import Conflict, StandfastError
from standfast.ports import Cell, Store, cell_key
from standfast.scopes import root_of
from standfast.types import AUDIT, Batch, Item, Packet, Record
from standfast.types.frozen import frozen
from standfast.types.pages import Page

log = logging.getLogger(__name__)

KEY_OF_ROOT = compat.AUDIT_KEY
NOWHERE = ""  # the root of what belongs to none: failed logins, keys that reach everything
SEAL = compat.AUDIT_SEAL
FLUSH_SECONDS = 1.0
IDS_MAX = 50
BUFFERED_MAX = 10_000
LINES_PER_COMMIT = 500
ROOTS_AT_ONCE = 16
PAGE = 500

Line = dict[str, Any]

_encode = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode


@frozen(kw_only=False)
class _Sealable:
    """A line that was written and is not sealed yet."""

    number: int
    digest: str
    until: str


@dataclass(slots=True)
class _Thread:
    """What this process knows of its lines in one root."""

    number: int = 0
    head: str = ""
    head_until: str = ""
    lost: int = 0
    buffer: list[Line] = field(default_factory=list)
    unsealed: list[_Sealable] = field(default_factory=list)


class AuditLog:
    """The lines of one process. ``standfast.engine.Auditing`` for its engine."""

    def __init__(self, engine: Engine, *, days: int) -> None:
        self._engine = engine
        self._days = days
        self._process = engine.new_secret()[:16]
        self._threads: dict[str, _Thread] = {}
        self._keys: dict[str, bytes] = {}
        self._flushing = asyncio.Lock()

    # Writes: a line in their own commit

    async def with_line(self, engine: Engine, batch: Batch) -> Batch:
        """The batch with its line; ``committed`` says that it was written."""
        key = await self._key(batch.root)
        ids = [*_touched(batch)]
        line = self._line(engine, key, "write", batch.reason.partition(" ")[0], ids)
        line["who"] = _hashed(key, engine.key or batch.actor)
        return replace(batch, items=(*batch.items, self._item(batch.root, line)))

    def committed(self, batch: Batch) -> None:
        for item in batch.items:
            if item.namespace == AUDIT:
                self._thread(batch.root).unsealed.append(_sealable(item.key, item.value))

    def forget_key(self, root: str) -> None:
        self._keys.pop(root, None)

    # Everything else: buffered

    def note(
        self,
        engine: Engine,
        act: str,
        verb: str,
        *,
        scopes: Iterable[str] = (),
        ids: Iterable[str] = (),
        who: str = "",
    ) -> None:
        """Something happened. It is written with the next flush, under the roots it concerns."""
        named = list(dict.fromkeys(scopes))
        plain = {"act": act, "verb": verb, "who": who or engine.key, "ids": list(ids)[:IDS_MAX]}
        plain |= {"at": engine.now().isoformat(), "scopes": named[:IDS_MAX]}
        for root in dict.fromkeys(map(root_of, named)) or (NOWHERE,):
            thread = self._thread(root)
            if len(thread.buffer) >= BUFFERED_MAX:
                thread.lost += 1
            else:
                thread.buffer.append(plain)

    def seen(self, engine: Engine, act: str, verb: str, scope: object, found: object) -> None:
        """A verb that reads has answered."""
        records = list(_records_in(found))
        named = [scope] if isinstance(scope, str) else list(scope or ())  # type: ignore[call-overload]
        scopes = [*named, *engine.bound, *(record.scope for record in records)]
        self.note(engine, act, verb, scopes=scopes, ids=(record.id for record in records))

    async def run(self) -> None:
        """For as long as the store is open."""
        while True:
            await asyncio.sleep(FLUSH_SECONDS)
            await self.flush()

    async def flush(self) -> None:
        async with self._flushing:
            waiting = [one for one in self._threads.items() if one[1].buffer or one[1].unsealed]
            # Several at once: their seals share a sync of the disk.
            for start in range(0, len(waiting), ROOTS_AT_ONCE):
                some = waiting[start : start + ROOTS_AT_ONCE]
                await asyncio.gather(*(self._flush_or_say(*one) for one in some))

    async def _flush_or_say(self, root: str, thread: _Thread) -> None:
        try:
            await self._flush_one(root, thread)
        except (Conflict, StandfastError) as error:
            log.warning("the audit log waits: %s", error, extra={"action": "audit"})

    async def _flush_one(self, root: str, thread: _Thread) -> None:
        buffered, thread.buffer = thread.buffer, []
        if root != NOWHERE and not await self._exists(root):
            # Who asks about somebody who is not there makes nobody by it.
            self._thread(NOWHERE).buffer += buffered
            return
        try:
            key = await self._key(root)
            items = [self._item(root, _keyed(key, line)) for line in buffered]
            written = len(thread.unsealed)  # while this waits, more come behind them
            covered = [*thread.unsealed, *(_sealable(item.key, item.value) for item in items)]
            seal = self._seal(root, thread, covered)
            await self._write(root, [*items, seal])
        except BaseException:
            thread.buffer = [*buffered, *thread.buffer]
            raise
        thread.unsealed = thread.unsealed[written:]
        thread.head, thread.head_until = seal.value["hash"], seal.value["until"]
        thread.lost = 0

    def _seal(self, root: str, thread: _Thread, covered: Sequence[_Sealable]) -> Item:
        lines = [[one.number, one.digest, one.until] for one in covered]
        value: Line = {"act": SEAL, "at": self._engine.now().isoformat(), "lines": lines}
        value |= {"before": thread.head, "before_until": thread.head_until, "lost": thread.lost}
        return self._item(root, {**value, "hash": seal_hash(value)})

    async def _write(self, root: str, items: Sequence[Item]) -> None:
        if root != NOWHERE:
            for start in range(0, len(items), LINES_PER_COMMIT):
                change = Change(self._engine, root, AUDIT)
                change.items += items[start : start + LINES_PER_COMMIT]
                await change.commit()
            return
        for item in items:
            cell = Cell(key=cell_key(AUDIT, item.key), value=item.value, expires_at=item.expires_at)
            await self._engine.store.registry.put(cell, now=self._engine.now())

    # Lines

    def _thread(self, root: str) -> _Thread:
        return self._threads.setdefault(root, _Thread())

    def _line(self, engine: Engine, key: bytes, act: str, verb: str, ids: Sequence[str]) -> Line:
        what = [_hashed(key, id_) for id_ in ids[:IDS_MAX]]
        at = engine.now().isoformat()
        return {"act": act, "verb": verb, "at": at, "what": what, "count": len(ids)}

    def _item(self, root: str, line: Line) -> Item:
        thread = self._thread(root)
        thread.number += 1
        day = (
            datetime.fromisoformat(line["at"])
            .astimezone(UTC)
            .replace(hour=0, minute=0, second=0, microsecond=0)
        )
        until = day + timedelta(days=self._days + 1) if self._days else None
        line = {**line, "until": until.isoformat() if until else ""}
        if line["act"] == SEAL:
            line["hash"] = seal_hash(line)
        return Item(
            scope=root or "none:none",
            namespace=AUDIT,
            key=f"{self._process}/{thread.number:010d}",
            value=line,
            expires_at=until,
        )

    async def _exists(self, root: str) -> bool:
        return bool(await self._engine.store.journal(root, limit=1, newest=True))

    async def _key(self, root: str) -> bytes:
        if root not in self._keys:
            self._keys[root] = await _key_of(self._engine, root)
        return self._keys[root]


async def _key_of(engine: Engine, root: str) -> bytes:
    """Made when it is first needed. Whoever comes second uses the first one's."""
    registry, name = engine.store.registry, cell_key(KEY_OF_ROOT, root)
    while True:
        found = await registry.get((name,), now=engine.now())
        if found:
            return bytes.fromhex(found[0].value)
        with suppress(Conflict):
            await registry.put(Cell(key=name, value=engine.new_secret()), now=engine.now())


async def destroy_key(engine: Engine, root: str) -> None:
    """The root is forgotten: from now on nobody can say whom a line was about."""
    name, now = cell_key(KEY_OF_ROOT, root), engine.now()
    for cell in await engine.store.registry.get((name,), now=now):
        await engine.store.registry.put(replace(cell, value="", expires_at=now), now=now)
    if engine.audit is not None:
        engine.audit.forget_key(root)


def _hashed(key: bytes, name: str) -> str:
    return hmac.digest(key, name.encode(), "sha256").hex()[:32] if name else ""


def _keyed(key: bytes, plain: Line) -> Line:
    return {
        "act": plain["act"],
        "verb": plain["verb"],
        "at": plain["at"],
        "who": _hashed(key, plain["who"]),
        "where": [_hashed(key, scope) for scope in plain["scopes"]],
        "what": [_hashed(key, id_) for id_ in plain["ids"]],
        "count": len(plain["ids"]),
    }


def line_hash(line: Mapping[str, Any]) -> str:
    return hashlib.sha256(_encode(line).encode()).hexdigest()


def seal_hash(seal: Mapping[str, Any]) -> str:
    return line_hash({name: value for name, value in seal.items() if name != "hash"})


def _sealable(key: str, line: Mapping[str, Any]) -> _Sealable:
    return _Sealable(int(key.rpartition("/")[2]), line_hash(line), line["until"])


def _touched(batch: Batch) -> Iterator[str]:
    yield from (record.id for record in batch.records)
    yield from (message.id for message in batch.messages)
    yield from (erase.id for erase in batch.erase)
    yield from (item.key for item in batch.items if item.namespace != AUDIT)


def _records_in(found: object) -> Iterator[Record]:
    if isinstance(found, Packet):
        yield from (hit.record for hit in found.hits)
        return
    hits = getattr(found, "hits", None)
    if hits is not None:
        yield from (hit.record for hit in hits)
        return
    listed = found.items if isinstance(found, Page) else found
    if isinstance(listed, tuple):
        yield from (one for one in listed if isinstance(one, Record))


# Looking at it again


@frozen
class AuditReport:
    """``heads`` are the last seals by root and process, and ``until`` when they go by themselves:
    kept elsewhere, they show later that nothing was cut off since. ``unsealed`` lines are of the
    last second of a process, or of one that was killed."""

    lines: int
    seals: int
    unsealed: int
    lost: int
    findings: tuple[str, ...]
    heads: Mapping[str, str]
    until: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_sound(self) -> bool:
        return not self.findings


async def audit_roots(engine: Engine, root: str | None = None) -> list[str]:
    """The roots whose lines a handle may read: one, or all that it owns. What belongs to no root
    is for who may see all of them."""
    engine.allow("audit")
    if root is not None:
        return [root_of(engine.write_scope(root))]
    if engine.bound:
        return [scope for scope in engine.bound if root_of(scope) == scope]
    return [NOWHERE, *[one async for one in every_root(engine.store)]]


async def audit_lines(
    engine: Engine, root: str | None = None
) -> AsyncIterator[tuple[str, str, Line]]:
    """Root, name and value of every line, in the order of processes and numbers."""
    store, now = engine.store, engine.now()
    for one in await audit_roots(engine, root):
        if one != NOWHERE:
            if one not in engine.bound and engine.bound:
                continue  # a part of a root is not the root
            async for item in every_item(store, one, AUDIT, now):
                yield one, item.key, item.value
            continue
        async for cell in _cells(store, now):
            yield one, cell.key.partition("\t")[2], cell.value


async def _cells(store: Store, now: datetime) -> AsyncIterator[Cell]:
    after, prefix = "", cell_key(AUDIT, "")
    while page := await store.registry.list(prefix, now=now, after=after, limit=PAGE):
        for cell in page:
            yield cell
        after = page[-1].key


async def verify_audit(
    engine: Engine, root: str | None = None, *, kept: AuditReport | None = None
) -> AuditReport:
    """Is every line as it was written, and is none missing that has not expired? ``kept``: an
    earlier report, whose last seals must be there still."""
    by_thread: dict[tuple[str, str], dict[int, Line]] = {}
    async for where, name, line in audit_lines(engine, root):
        process, _, number = name.rpartition("/")
        by_thread.setdefault((where, process), {})[int(number)] = line
    findings: list[str] = []
    heads: dict[str, str] = {}
    until: dict[str, str] = {}
    hashes: set[str] = set()
    seals = unsealed = lost = total = 0
    for (where, process), lines in sorted(by_thread.items()):
        name = f"{where or 'the store'}, process {process}"
        check = _Check(lines, engine.now())
        findings += (f"{name}: {found}" for found in check.findings())
        total += len(lines)
        seals += len(check.seals)
        unsealed += check.unsealed
        lost += sum(int(lines[number].get("lost") or 0) for number in check.seals)
        hashes |= {str(lines[number]["hash"]) for number in check.seals}
        if check.seals:
            last = lines[check.seals[-1]]
            heads[f"{where}/{process}"] = str(last["hash"])
            until[f"{where}/{process}"] = str(last["until"])
    findings += _cut_off(kept, hashes, engine.now(), root) if kept is not None else ()
    return AuditReport(
        lines=total, seals=seals, unsealed=unsealed, lost=lost, findings=tuple(findings),
        heads=heads, until=until,
    )  # fmt: skip


def _cut_off(
    kept: AuditReport, hashes: Container[str], now: datetime, root: str | None
) -> Iterator[str]:
    for name, hash_ in sorted(kept.heads.items()):
        where, _, process = name.rpartition("/")
        if root is not None and where != root_of(root):
            continue
        if hash_ not in hashes and not _is_over(kept.until.get(name, ""), now):
            yield (
                f"{where or 'the store'}, process {process}: the seal that was kept is missing: "
                "the end was cut off, or an older log is in its place"
            )


def _is_over(until: str, now: datetime) -> bool:
    return bool(until) and datetime.fromisoformat(until) <= now


class _Check:
    """The lines of one process in one root."""

    def __init__(self, lines: Mapping[int, Line], now: datetime) -> None:
        self._lines = lines
        self._now = now
        self.seals = [number for number in sorted(lines) if lines[number].get("act") == SEAL]
        self._covered = {
            one[0] for number in self.seals for one in lines[number].get("lines") or ()
        }
        last = self.seals[-1] if self.seals else 0
        rest = [n for n in lines if n not in self._covered and n not in self.seals]
        self.unsealed = len([number for number in rest if number > last])
        self._added = [number for number in rest if number < last and not self._may_come(number)]

    def _may_come(self, number: int) -> bool:
        """A write that was still on its way when its number was passed by is sealed later; the
        newest seals alone can say that it was not."""
        return len([seal for seal in self.seals if seal > number]) < 2

    def findings(self) -> Iterator[str]:
        before: str | None = None
        for number in self.seals:
            seal = self._lines[number]
            if seal.get("hash") != seal_hash(seal):
                yield f"seal {number} was changed"
            if before is not None and seal.get("before") != before:
                yield f"a seal before {number} is missing or was changed"
            if before is None and seal.get("before") and not self._expired(seal["before_until"]):
                yield f"what was before seal {number} is missing"
            before = seal.get("hash")
            yield from self._broken(seal)
        yield from (f"line {number} was added" for number in self._added)

    def _expired(self, until: str) -> bool:
        return _is_over(until, self._now)

    def _broken(self, seal: Line) -> Iterator[str]:
        for number, digest, until in seal.get("lines") or ():
            line = self._lines.get(number)
            if line is None:
                if not self._expired(until):
                    yield f"line {number} is missing"
            elif line_hash(line) != digest:
                yield f"line {number} was changed"
