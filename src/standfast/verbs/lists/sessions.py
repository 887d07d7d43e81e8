"""Sessions, what was said in one, and what waits in the pending buffer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from standfast.engine import Engine, every_session
from standfast.errors import Denied, Invalid, NotFound
from standfast.packet.buffers import session_name
from standfast.ports import Store
from standfast.scopes import is_visible, parse_scope, root_of
from standfast.text.inputs import clean_name, count
from standfast.types import Message, Session, SessionKey, Summary
from standfast.types.pages import Page
from standfast.verbs.confirm import waiting
from standfast.verbs.lists.cursors import Place, cursor_of, place_of
from standfast.verbs.lists.walk import page_of, parts_from
from standfast.verbs.queue import peeked

PAGE = 500
OURS = "~"


async def list_sessions(
    engine: Engine, *, scope: str | None, descend: bool, cursor: str, limit: int
) -> Page[Session]:
    count(limit, "limit")
    question = ("sessions", scope, descend)
    place = place_of(cursor, question, (str, int, str, str))
    return await page_of(_sessions(engine, scope, descend, place), limit, question)


async def _sessions(
    engine: Engine, scope: str | None, descend: bool, place: Place | None
) -> AsyncIterator[tuple[Place, Session]]:
    async for part in parts_from(engine, scope, descend=descend, place=place):
        after = SessionKey(place[2], place[3]) if place and part.begun else None
        async for session in every_session(part.store, part.root, after=after):
            seen = is_visible(session.scope, part.scopes, descend=part.descend, exact=False)
            if seen and not session.id.startswith(OURS):
                yield part.place(session.scope, session.id), session


async def list_messages(
    engine: Engine,
    session: str,
    *,
    scope: str | None,
    newest: bool,
    around: str | None,
    cursor: str,
    limit: int,
) -> Page[Message]:
    """In order, or from the newest back, or from a little before one message on; a cursor has a
    place in the kept part of the session and one in what is in this process only."""
    count(limit, "limit")
    if newest and around is not None:
        raise Invalid("around begins before a message and goes on in order: leave newest out")
    key = SessionKey(_readable_scope(engine, scope), session_name(session))
    question = ("messages", key, newest, around)
    place = place_of(cursor, question, (int, int))
    places: list[int] = [place[0], place[1]] if place else [0, 0]
    stores = await _stores_of(engine, key)
    if around is not None and place is None:
        places = await _before(engine, stores, key, around, limit)
    parts: list[list[Message]] = []
    for store, at in zip(stores, places, strict=False):
        between = {"before": at or None} if newest else {"after": at}
        parts.append(
            await store.messages(key, now=engine.now(), limit=limit + 1, newest=newest, **between)
        )
    found = engine.in_order(key, (message for part in parts for message in part))
    shown = (found[::-1] if newest else found)[:limit]
    for number, part in enumerate(parts):
        ids = {message.id for message in part}
        places[number] = next((m.seq for m in reversed(shown) if m.id in ids), places[number])
    more = len(found) > limit
    return Page(items=tuple(shown), next=cursor_of(places, question) if more else "")


async def _before(
    engine: Engine, stores: Sequence[Store], key: SessionKey, id_: str, limit: int
) -> list[int]:
    """The numbers that a third of a page stands behind, with the message in it; of the other part
    of the session everything."""
    named = clean_name(id_, "around")
    for number, store in enumerate(stores):
        found = await store.messages(key, now=engine.now(), ids=(named,))
        if found:
            places = [0, 0]
            places[number] = max(found[0].seq - 1 - (limit - 1) // 3, 0)
            return places
    raise NotFound(f"there is no message {id_!r} in session {key.id!r}")


async def list_summaries(
    engine: Engine, session: str, *, scope: str | None, limit: int
) -> tuple[Summary, ...]:
    key = SessionKey(_readable_scope(engine, scope), session_name(session))
    found = [
        summary
        for store in await _stores_of(engine, key)
        for summary in await store.summaries(key, limit=count(limit, "limit"), newest=True)
    ]
    return tuple(found[:limit])


def _readable_scope(engine: Engine, scope: str | None) -> str:
    if scope is None:
        return engine.write_scope(None)
    named = parse_scope(scope)
    if not engine.may_see(named):
        raise Denied(f"scope {named!r} is outside this handle's scopes")
    return named


async def _stores_of(engine: Engine, key: SessionKey) -> tuple[Store, ...]:
    """The kept store first, whether or not it has a part of the session."""
    stores = engine.stores_of(root_of(key.scope))
    for store in stores:
        if await store.sessions(root_of(key.scope), (key,)):
            return stores
    raise NotFound(f"there is no session {key.id!r} in {key.scope!r}")


async def list_pending(engine: Engine, *, scope: str | None) -> tuple[Message, ...]:
    """What the next context of any session there would deliver, oldest first."""
    named = _readable_scope(engine, scope)
    found: list[Message] = []
    for store in engine.stores_of(root_of(named)):
        messages, _ = await waiting(engine, store, (named,))
        found += messages
    here = {message.id for message in found}
    return (*found, *(one for one in await peeked(engine, named) if one.id not in here))
