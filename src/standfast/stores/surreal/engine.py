"""Sorted keys in SurrealDB: one table, whose record ids are the root and the key, in hexadecimal.

Record ids are kept in order, so a span is a range of ids. A write is one block, which throws before
it changes anything if something is not as expected. Embedded commits at the same time lose updates
of each other, so one lock surrounds everything that this process does.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from surrealdb import RecordID

from standfast.errors import StandfastError, Unavailable
from standfast.index.codes import micros
from standfast.stores.keyspace.engine import Ask, Get, KeyChanges, KeyNews, KeySpan, Pairs
from standfast.stores.keyspace.keys import HEADER, encoded
from standfast.stores.surreal.failures import MOVED, is_away, speaking_of
from standfast.stores.surreal.tables import memory_statements

POLL_SECONDS = 0.05
SECONDS = 10.0  # that an answer of a server may take
GOODBYE_SECONDS = 0.1
IN_USE_MS = 60_000  # as on Redis: whoever has asked for an id writes it soon, or not at all
NEVER = -(2**62)

Answers = list[bytes | Pairs | None]

_PUT = "INSERT INTO entry $puts ON DUPLICATE KEY UPDATE v = $input.v RETURN NONE;"
_ABOUT = (
    "UPSERT $about SET name = $name, known = (known ?? false) OR $entered,"
    " until = until ?? $never, news = (news ?? false) OR $stirred, due = $never RETURN NONE;"
)


@dataclass(slots=True)
class Statements:
    """More that belongs to a write, and what it is given."""

    lines: list[str] = field(default_factory=list)
    given: dict[str, Any] = field(default_factory=dict)


class SurrealEngine:
    """``standfast.stores.keyspace.engine.KeyEngine``. ``db`` is an open connection; ``alone``: no
    other process can reach what it holds."""

    def __init__(
        self, db: Any, *, name: str, alone: bool, again: Callable[[], Awaitable[Any]] | None = None
    ) -> None:
        """``again``: connects anew to a server, when the connection was lost."""
        self.db = db
        self._again = again
        self._lost = False
        self.name = name
        self._alone = alone
        self._lock = asyncio.Lock()
        self._changed = asyncio.Event()
        self._space: str | None = None
        self._closed = False

    async def ask(
        self, text: str, given: dict[str, Any] | None = None, *, writing: bool = False
    ) -> Any:
        with speaking_of(self.name, writing=writing):
            if self._again is None:
                return await self.db.query(text, given or {})
            try:
                async with asyncio.timeout(SECONDS):
                    if self._lost:
                        await self._let_go()
                        self.db = await self._again()
                        self._lost = False
                    return await self.db.query(text, given or {})
            except Exception as error:
                self._lost = is_away(error)
                raise

    async def _let_go(self) -> None:
        """Of a connection that is of no use any more; who is gone is not waited for."""
        with contextlib.suppress(Exception):
            async with asyncio.timeout(GOODBYE_SECONDS):
                await self.db.close()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """One after the other. Who waits for a server that does not answer waits no longer than
        for an answer, so that nothing piles up."""
        try:
            async with asyncio.timeout(SECONDS if self._again else None):
                await self._lock.acquire()
        except TimeoutError:
            raise Unavailable(
                f"{self.name} is too slow; try again", retry_after=1, slow=True
            ) from None
        try:
            yield
        finally:
            self._lock.release()

    # Keys

    async def read(self, root: str, asks: Sequence[Ask]) -> Answers:
        async with self.turn():
            return await self._read(root, asks)

    async def _read(self, root: str, asks: Sequence[Ask]) -> Answers:
        gets = [one.key for one in asks if isinstance(one, Get)]
        spans = [one for one in asks if isinstance(one, KeySpan)]
        parts = [_get(root, gets), *(_select(root, one) for one in spans)]
        found, *ranges = await self.ask(f"RETURN [{', '.join(parts)}]")
        values = {bytes.fromhex(row["k"]): _bytes(row) for row in found}
        rest = iter(ranges)
        answers: list[Any] = []
        for one in asks:
            if isinstance(one, Get):
                answers.append(values.get(one.key))
            else:
                rows = next(rest)
                answers.append([(bytes.fromhex(row["k"]), _bytes(row)) for row in rows])
        return await self._followed(root, asks, answers)

    async def _followed(self, root: str, asks: Sequence[Ask], answers: list[Any]) -> Answers:
        wanted: set[bytes] = set()
        for asked, answer in zip(asks, answers, strict=True):
            if asked.follow and answer:
                wanted |= {answer} if isinstance(asked, Get) else {raw for _, raw in answer if raw}
        if not wanted:
            return answers
        rows = await self.ask(f"RETURN {_get(root, wanted)}")
        bodies = {bytes.fromhex(row["k"]): _bytes(row) for row in rows}
        for place, (asked, answer) in enumerate(zip(asks, answers, strict=True)):
            if asked.follow and answer:
                if isinstance(asked, Get):
                    answers[place] = bodies.get(answer)
                else:
                    answers[place] = [(at, bodies.get(raw, b"")) for at, raw in answer]
        return answers

    async def begin(
        self, root: str, asks: Sequence[Ask], ids: Sequence[str]
    ) -> tuple[Answers, dict[str, str]]:
        async with self.turn():
            answers = await self._read(root, asks)
            if not ids:
                return answers, {}
            owners = await self._owners(ids)
            fresh = [one for one in dict.fromkeys(ids) if one not in owners]
            now = int(time.time() * 1000)
            rows = [{"id": [_hex(one)], "name": one, "root": root, "at": now} for one in fresh]
            if rows:
                await self.ask("INSERT IGNORE INTO claim $rows RETURN NONE", {"rows": rows})
            return answers, {**dict.fromkeys(ids, ""), **owners}

    async def write(self, root: str, changes: KeyChanges) -> bool:
        async with self.turn():
            done = await self._write(root, changes, Statements())
        if done and (changes.entered or changes.used):
            self._changed.set()
            self._changed = asyncio.Event()
        return done

    async def _write(self, root: str, changes: KeyChanges, also: Statements) -> bool:
        """Whoever calls it holds the lock."""
        text, given = _block(root, changes, also)
        return await self._written(text, given, root, changes)

    async def _written(
        self, text: str, given: dict[str, Any], root: str, changes: KeyChanges
    ) -> bool:
        try:
            await self.ask(text, given, writing=True)
        except StandfastError as error:
            if MOVED.search(str(error.__cause__)) is None:
                raise
            new = changes.puts.get(HEADER)
            if new is None:
                return False
            [header] = await self._read(root, [Get(HEADER)])
            return header == new
        return True

    async def _owners(self, ids: Sequence[str]) -> dict[str, str]:
        claims = [RecordID("claim", [_hex(one)]) for one in dict.fromkeys(ids)]
        rows = await self.ask("SELECT name, root FROM $claims", {"claims": claims})
        return {row["name"]: row["root"] for row in rows}

    async def owners(self, ids: Sequence[str]) -> dict[str, str]:
        async with self.turn():
            return await self._owners(ids) if ids else {}

    async def take_over(self, id_: str, old: str, new: str, *, at_once: bool) -> bool:
        now = int(time.time() * 1000)
        before = now if at_once else now - IN_USE_MS
        async with self.turn():
            rows = await self.ask(
                "UPDATE $claim SET root = $new, at = $now WHERE root = $old AND at <= $before",
                {
                    "claim": RecordID("claim", [_hex(id_)]),
                    "new": new,
                    "old": old,
                    "now": now,
                    "before": before,
                },
            )
        return bool(rows)

    async def release(self, root: str, ids: Sequence[str]) -> None:
        claims = [RecordID("claim", [_hex(one)]) for one in ids]
        if claims:
            async with self.turn():
                await self.ask(
                    "DELETE $claims WHERE root = $root", {"claims": claims, "root": root}
                )

    # News

    def news(self, root: str) -> AbstractAsyncContextManager[KeyNews]:  # noqa: ARG002
        return self._listening()

    @asynccontextmanager
    async def _listening(self) -> AsyncIterator[KeyNews]:
        yield _Listening(self)

    async def changed(self, seconds: float) -> None:
        """Until this process writes; others are seen by looking again."""
        pause = seconds if self._alone else min(seconds, POLL_SECONDS)
        try:
            await asyncio.wait_for(self._changed.wait(), pause)
        except TimeoutError:
            return

    # What is known about all roots

    async def _names(self, text: str, **given: Any) -> list[str]:
        async with self.turn():
            rows = await self.ask(text, given)
        return [row["name"] for row in rows]

    async def roots(self, after: str, limit: int) -> list[str]:
        return await self._names(
            "SELECT name FROM about WHERE known AND name > $after ORDER BY name LIMIT $limit",
            after=after,
            limit=limit,
        )

    async def busy(self, now: datetime, space: str | None) -> list[str]:
        if space not in (None, self._space):  # something may be due in every root
            async with self.turn():
                await self.ask("UPDATE about SET due = $never RETURN NONE", {"never": NEVER})
            self._space = space
        text = "SELECT name FROM about WHERE due != NONE AND due <= $now ORDER BY name"
        return await self._names(text, now=micros(now))

    async def rest(self, root: str, header: bytes, until: datetime | None) -> None:
        due = "NONE" if until is None else str(micros(until))
        text = f"UPDATE $about SET due = {due} WHERE {_header_of(root)} = $header RETURN NONE"
        async with self.turn():
            await self.ask(text, {"about": _about(root), "header": header})

    async def settle(self, root: str, header: bytes, until: datetime, *, news: bool) -> None:
        text = (
            "UPDATE $about SET until = $until,"
            f" news = $news OR {_header_of(root)} != $header RETURN NONE"
        )
        given = {"about": _about(root), "until": micros(until), "news": news, "header": header}
        async with self.turn():
            await self.ask(text, given)

    async def unsettled(self, now: datetime, *, news: bool, limit: int) -> list[str]:
        given = {"now": micros(now), "limit": limit}
        found = await self._names(
            "SELECT name, until FROM about WHERE known AND until <= $now"
            " ORDER BY until, name LIMIT $limit",
            **given,
        )
        if news and len(found) < limit:
            found += await self._names(
                "SELECT name FROM about WHERE known AND news AND until > $now"
                " ORDER BY name LIMIT $limit",
                **given,
            )
        return found[:limit]

    async def scrub(self) -> bool:
        """Nothing points to what was erased; when its bytes go is the engine's affair."""
        return True

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            # Over HTTP nothing is open.
            with speaking_of(self.name), contextlib.suppress(NotImplementedError):
                await self.db.close()


class _Listening:
    def __init__(self, engine: SurrealEngine) -> None:
        self._engine = engine

    async def wait(self, seconds: float) -> None:
        await self._engine.changed(seconds)


def _hex(name: str) -> str:
    return encoded(name).hex()


def _entry(root: str, key: bytes) -> RecordID:
    return RecordID("entry", [_hex(root), key.hex()])


def _about(root: str) -> RecordID:
    return RecordID("about", [_hex(root)])


def _at(root: str, key: bytes) -> str:
    """Hexadecimal needs no quoting."""
    return f"['{_hex(root)}', '{key.hex()}']"


def _header_of(root: str) -> str:
    return f"(SELECT VALUE v FROM ONLY entry:{_at(root, HEADER)})"


def _get(root: str, keys: Iterable[bytes]) -> str:
    """Ids as text: the client takes longer to pack them than the engine to read them."""
    ids = ", ".join(f"entry:{_at(root, one)}" for one in keys)
    return f"(SELECT id[1] AS k, v FROM [{ids}])" if ids else "[]"


def _select(root: str, asked: KeySpan) -> str:
    what = "id[1] AS k" if asked.bare else "id[1] AS k, v"
    text = f"(SELECT {what} FROM entry:{_at(root, asked.start)}..{_at(root, asked.end)}"
    if asked.start >= asked.end:
        return "[]"
    if asked.newest:
        text += " ORDER BY k DESC"
    return text + (f" LIMIT {asked.limit})" if asked.limit else ")")


def _bytes(row: dict[str, Any]) -> bytes:
    found: bytes = row.get("v") or b""
    return found


def _block(root: str, changes: KeyChanges, also: Statements) -> tuple[str, dict[str, Any]]:
    """The write as one block."""
    lines: list[str] = []
    given: dict[str, Any] = dict(also.given)
    for number, (key, value) in enumerate(changes.expected.items()):
        held = f"(SELECT VALUE v FROM ONLY entry:{_at(root, key)})"
        wanted = "NONE" if value is None else f"$e{number}"
        given[f"e{number}"] = value
        lines.append(f"IF {held} != {wanted} {{ THROW 'moved' }};")
    for start, end in changes.spans_gone:
        lines.append(f"DELETE entry:{_at(root, start)}..{_at(root, end)};")
    if changes.gone:
        given["gone"] = [_entry(root, key) for key in changes.gone]
        lines.append("DELETE $gone;")
    if changes.puts:
        given["puts"] = [
            {"id": [_hex(root), key.hex()], "v": value} for key, value in changes.puts.items()
        ]
        lines.append(_PUT)
    if root:
        given |= {
            "about": _about(root),
            "name": root,
            "entered": changes.entered,
            "stirred": changes.entered or changes.used,
            "never": NEVER,
        }
        lines.append(_ABOUT)
        lines += memory_statements(root, changes, given)
    lines += also.lines
    return "RETURN { " + " ".join(lines) + " RETURN 1; }", given
