"""What goes when its time is over, and what goes along with it.

A store drops rows that have expired by itself. A turn is one side of a message; when the turn
expires because its episode does, the message in the log and the summaries made of nothing but such
messages go in the same commit. What was learned from them stays, and says that its source is gone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

from standfast.changes import Change
from standfast.engine import Engine, every_summary
from standfast.types import Erase, Find, Record, SessionKey, Where, Work

LOOKED_AT = 100_000
FACTS_MAX = 1000
SOURCES = "sources"  # where the ``data`` of what was learned says what became of its messages
EXPIRED = "expired"

_BEFORE_ALL = datetime(1970, 1, 2, tzinfo=UTC)  # then nothing had expired yet


async def expire(engine: Engine, root: str) -> None:
    """Drop what has expired in a root, in one commit."""
    change = Change(engine, root, "expire", actor="maintenance")
    work = await engine.store.due(engine.now(), root=root, kinds=("expire",), limit=LOOKED_AT)
    turns = await _turns(engine, root, work)
    by_session: dict[SessionKey, list[str]] = {}
    for turn in turns:
        by_session.setdefault(turn.session_key, []).extend(turn.lineage)
    for key, ids in by_session.items():
        await _with_log(change, key, ids)
    await change.commit(sweep=True)


async def _turns(engine: Engine, root: str, work: Iterable[Work]) -> list[Record]:
    """The turns among what has expired, as they were."""
    ids = [one.id for one in work if one.detail == "record"]
    found = await engine.store.records(root, ids, now=_BEFORE_ALL) if ids else []
    return [record for record in found if record.type == "turn" and record.session]


async def _with_log(change: Change, key: SessionKey, ids: list[str]) -> None:
    engine, store = change.engine, change.store
    there = await store.messages(key, now=engine.now(), ids=ids, limit=len(ids))
    gone = {message.id for message in there}
    change.erasures += [
        Erase(kind="message", id=id_, scope=key.scope, session=key.id) for id_ in sorted(gone)
    ]
    if not gone:
        return
    async for summary in every_summary(store, key):
        if summary.lineage and gone.issuperset(summary.lineage):
            change.erasures.append(Erase(kind="summary", id=summary.id))
    query = Find(
        where=Where(
            scopes=(key.scope,),
            now=engine.now(),
            descend=True,
            kinds=("semantic",),
            session=key.id,
        ),
        lineage=tuple(sorted(gone)),
        limit=FACTS_MAX,
    )
    for record in await store.find(query):
        if record.data.get(SOURCES) != EXPIRED:
            change.put(replace(record, data={**record.data, SOURCES: EXPIRED}))
