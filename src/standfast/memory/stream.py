"""The changes of a memory as they happen: in order within each root, from any place on.

A place is what the reader has seen: the number of the last entry of each root. It goes out with
every event, and whoever comes back with it misses nothing and sees nothing twice. What others may
read is decided anew for every entry.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Literal

from standfast.engine import Engine
from standfast.errors import Invalid
from standfast.memory import AsyncMemory
from standfast.scopes import is_visible
from standfast.types import Entry, Touch
from standfast.types.frozen import frozen
from standfast.types.json import as_json
from standfast.verbs.lists.changes import is_bookkeeping, visible_entries

FROM_THE_START = "start"
ROOTS_MAX = 64
PAGE = 100
POLL_SECONDS = 0.5
PULSE_SECONDS = 10.0
PLACE_LENGTH_MAX = 8192
# Of a record's fields those that repeat nothing of what it says.
WITHOUT_TEXT = frozenset(
    ("status", "type", "kind", "durability", "importance", "confidence", "version", "valid_from",
     "valid_to", "retired_at", "learned_at", "expires_at", "trust", "seq", "pending", "ended_at")
)  # fmt: skip

Place = dict[str, int]


@frozen
class StreamEvent:
    """``hello`` comes first and has nothing but its place; ``change`` has an entry; ``gap`` says
    that entries behind the reader's place are kept no longer; ``pulse`` that nothing happened."""

    name: Literal["hello", "change", "gap", "pulse"]
    place: str
    data: Mapping[str, Any]


async def stream_changes(
    memory: AsyncMemory, *, scope: str | None = None, after: str = "", text: bool = False
) -> AsyncIterator[StreamEvent]:
    """Without ``after`` what happens from now on; "start": all that the journal has; else from
    behind an event's place. ``text``: with every field and the texts of records."""
    engine = memory.engine
    engine.allow("read")
    roots = await _roots(engine, scope)
    place = _read(after) if after not in ("", FROM_THE_START) else {}
    if not after:
        place = {root: await _head(engine, root) for root in roots}
    yield StreamEvent(name="hello", place=_written(place), data={"roots": sorted(roots)})
    silent_since = time.monotonic()
    while True:
        async for event in _news(engine, roots, place, scope, text=text):
            silent_since = time.monotonic()
            yield event
        if time.monotonic() - silent_since >= PULSE_SECONDS:
            silent_since = time.monotonic()
            yield StreamEvent(name="pulse", place=_written(place), data={})
        await _wait(engine, roots, place)
        if scope is None and not engine.bound:
            roots = await _roots(engine, scope)


async def _roots(engine: Engine, scope: str | None) -> list[str]:
    by_root, _ = await engine.read_scopes(scope, descend=True)
    if len(by_root) > ROOTS_MAX:
        raise Invalid(f"there are {len(by_root)} roots, more than {ROOTS_MAX}: name a scope")
    return sorted(by_root)


async def _head(engine: Engine, root: str) -> int:
    last = await engine.store.journal(root, newest=True, limit=1)
    return last[-1].seq if last else 0


async def _wait(engine: Engine, roots: Sequence[str], place: Place) -> None:
    """One root is waited for; several are looked at now and then."""
    if len(roots) == 1 and engine.store.capabilities.waits:
        await engine.store.journal(
            roots[0], after=place.get(roots[0], 0), limit=1, wait=PULSE_SECONDS
        )
    else:
        await asyncio.sleep(POLL_SECONDS)


async def _news(
    engine: Engine, roots: Sequence[str], place: Place, scope: str | None, *, text: bool
) -> AsyncIterator[StreamEvent]:
    """What each root has behind its place, which moves along."""
    for root in roots:
        while page := await engine.store.journal(root, after=place.get(root, 0), limit=PAGE):
            known = root in place
            if known and page[0].seq > place[root] + 1:
                missed = {"root": root, "after": place[root], "before": page[0].seq}
                yield StreamEvent(name="gap", place=_written(place), data=missed)
            seen = {entry.seq: entry for entry in await visible_entries(engine, page)}
            for raw in page:
                place[root] = raw.seq
                entry = seen.get(raw.seq)
                touched = _shown(entry, scope) if entry is not None else ()
                if entry is not None and touched:
                    data = await _told(engine, entry, touched, text=text)
                    yield StreamEvent(name="change", place=_written(place), data=data)


def _shown(entry: Entry, scope: str | None) -> tuple[Touch, ...]:
    return tuple(
        touch
        for touch in entry.touched
        if not is_bookkeeping(touch)
        and (scope is None or is_visible(touch.scope, (scope,), descend=True, exact=False))
    )


async def _told(
    engine: Engine, entry: Entry, touched: Sequence[Touch], *, text: bool
) -> dict[str, Any]:
    texts: dict[str, str] = {}
    if text:
        ids = [touch.id for touch in touched if touch.kind == "record"]
        found = await engine.store.records(entry.root, ids, now=engine.now())
        texts = {record.id: record.text for record in found if engine.may_see(record.scope)}
    return {
        "root": entry.root,
        "seq": entry.seq,
        "at": as_json(entry.at),
        "change": entry.change,
        "reason": entry.reason,
        "actor": entry.actor,
        "touched": [_touch(touch, texts, text=text) for touch in touched],
    }


def _touch(touch: Touch, texts: Mapping[str, str], *, text: bool) -> dict[str, Any]:
    told = {
        "kind": touch.kind,
        "id": touch.id,
        "scope": touch.scope,
        "before": _fields(touch.before, text=text),
        "after": _fields(touch.after, text=text),
    }
    return {**told, "text": texts[touch.id]} if touch.id in texts else told


def _fields(values: Mapping[str, Any] | None, *, text: bool) -> Any:
    if values is None:
        return None
    return as_json({n: v for n, v in values.items() if text or n in WITHOUT_TEXT})


# A place as one word


def _written(place: Place) -> str:
    body = json.dumps(place, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return base64.urlsafe_b64encode(body.encode()).rstrip(b"=").decode()


def _read(after: str) -> Place:
    try:
        if len(after) > PLACE_LENGTH_MAX:
            raise ValueError
        padded = after + "=" * (-len(after) % 4)
        place = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        if not isinstance(place, dict) or not all(_is_number(seq) for seq in place.values()):
            raise ValueError
    except (ValueError, binascii.Error, RecursionError):
        raise Invalid(
            "this is no place in the stream; send the id of the last event that came, or "
            f'"{FROM_THE_START}"'
        ) from None
    return place


def _is_number(seq: object) -> bool:
    return isinstance(seq, int) and not isinstance(seq, bool) and 0 <= seq < 2**63
