"""Everything that is kept about one person, in a form that people read: for whoever asks what is
known of them. It goes by the author of messages and records, and by what was made of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import datetime
from typing import IO

from standfast.engine import Engine, every_message, every_record, every_session, every_summary
from standfast.forgotten import note_export
from standfast.packet.text import quoted
from standfast.ports import Store
from standfast.text.inputs import clean_name
from standfast.types import Find, Listing, Message, Receipt, ReceiptItem, Record, SessionKey, Where
from standfast.verbs.export import (
    EVERY_STATUS,
    ExportPart,
    Target,
    parts_of,
    target_opened,
)

DERIVED_PER_LOOK = 100


async def disclose(
    engine: Engine,
    target: Target,
    *,
    scope: str | Iterable[str] | None,
    descend: bool,
    author: str,
) -> Receipt:
    """Markdown: sessions with their messages and what sums those up, then memories with where they
    come from."""
    who = clean_name(author, "author")
    parts = await parts_of(engine, scope, descend=descend)
    with target_opened(target) as file:
        receipt = await _written(engine, file, parts, who)
    await note_export(engine, [part.root for part in parts], target)
    return receipt


async def _written(
    engine: Engine, file: IO[bytes], parts: Sequence[ExportPart], who: str
) -> Receipt:
    counts: Counter[str] = Counter()

    def write(line: str = "") -> None:
        file.write(f"{line}\n".encode())

    write(f"# What is kept about {who}")
    write()
    write(f"Written {_when(engine.now())}. Times are UTC.")
    for part in parts:
        said = await _messages(write, part, who)
        known = {record.id: record async for record in _records(part, who, said)}
        await _follow(part, known)
        write()
        write(f"## Memories in {part.root}")
        for record in sorted(known.values(), key=lambda one: (one.learned_at, one.id)):
            for line in _memory(record):
                write(line)
        counts["messages"] += sum(map(len, said.values()))
        counts["memories"] += len(known)
    items = (
        ReceiptItem(id=name, status="stored", reason=f"{number} written")
        for name, number in counts.items()
    )
    return Receipt(items=tuple(items), notes=(f"what {who} wrote, and what was made of it",))


async def _messages(write: object, part: ExportPart, who: str) -> dict[SessionKey, set[str]]:
    assert callable(write)
    found: dict[SessionKey, set[str]] = {}
    async for session in every_session(part.store, part.root):
        key = SessionKey(session.scope, session.id)
        if not part.holds(session.scope):
            continue
        async for message in every_message(part.store, key, part.now):
            if message.author != who:
                continue
            if key not in found:
                write()
                write(f"## Session {quoted(session.id)} in {session.scope}")
                write()
            found.setdefault(key, set()).add(message.id)
            write(_said(message))
        async for summary in every_summary(part.store, key):
            if found.get(key, set()) & set(summary.lineage):
                write(f"- {_when(summary.learned_at)}, summed up: {quoted(summary.text)}")
    return found


def _said(message: Message) -> str:
    return f"- {_when(message.at)}, as {message.role}: {quoted(message.text)}"


async def _records(
    part: ExportPart, who: str, said: dict[SessionKey, set[str]]
) -> AsyncIterator[Record]:
    where = Where(
        scopes=part.scopes, now=part.now, descend=part.descend, exact=True, statuses=EVERY_STATUS
    )
    async for record in every_record(part.store, Listing(where=where, order="id")):
        made = said.get(record.session_key, set()) & set(record.lineage)
        if record.author == who or made:
            yield record


async def _follow(part: ExportPart, known: dict[str, Record]) -> None:
    """What was made of those records, as far as it goes."""
    waiting = list(known)
    while waiting:
        some, waiting = waiting[:DERIVED_PER_LOOK], waiting[DERIVED_PER_LOOK:]
        for record in await _made_of(part.store, part, some):
            if record.id not in known and part.holds(record.scope):
                known[record.id] = record
                waiting.append(record.id)


async def _made_of(store: Store, part: ExportPart, ids: Sequence[str]) -> list[Record]:
    where = Where(scopes=(part.root,), now=part.now, descend=True, statuses=EVERY_STATUS)
    query = Find(where=where, derived_from=tuple(ids), order="id")
    return [record async for record in every_record(store, query)]


def _memory(record: Record) -> list[str]:
    about = [record.type, record.status, f"from {record.source}"]
    about += [f"session {quoted(record.session)}"] if record.session else []
    about += [f"until {_when(record.expires_at)}"] if record.expires_at else []
    return [
        "",
        f"- {quoted(record.text)}",
        f"  learned {_when(record.learned_at)}; {', '.join(about)}; id {record.id}",
    ]


def _when(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"
