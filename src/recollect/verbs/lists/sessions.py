"""Sessions, what was said in one, and what waits in the pending buffer."""

from __future__ import annotations

from collections.abc import AsyncIterator

from recollect.engine import Engine, every_session
from recollect.errors import Denied, Invalid, NotFound
from recollect.packet.buffers import session_name
from recollect.ports import Store
from recollect.scopes import is_visible, parse_scope, root_of
from recollect.text.inputs import clean_name, count
from recollect.types import Message, Session, SessionKey, Summary
from recollect.types.pages import Page
from recollect.verbs.confirm import waiting
from recollect.verbs.lists.cursors import Place, cursor_of, place_of
from recollect.verbs.lists.walk import page_of, parts_from

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
    """In order, or from the newest back; from a little before one message on."""
    count(limit, "limit")
    if newest and around is not None:
        raise Invalid("around begins before a message and goes on in order: leave newest out")
    key = SessionKey(_readable_scope(engine, scope), session_name(session))
    question = ("messages", key, newest, around)
    place = place_of(cursor, question, (int,))
    store = await _store_of(engine, key)
    if around is not None and place is None:
        place = [await _before(engine, store, key, around, limit)]
    between = {"before": place[0] if place else None} if newest else {"after": (place or [0])[0]}
    found = await store.messages(key, now=engine.now(), limit=limit + 1, newest=newest, **between)
    shown = (found[::-1] if newest else found)[:limit]
    more = len(found) > limit
    return Page(items=tuple(shown), next=cursor_of([shown[-1].seq], question) if more else "")


async def _before(engine: Engine, store: Store, key: SessionKey, id_: str, limit: int) -> int:
    """The number that a third of a page stands behind, with the message in it."""
    found = await store.messages(key, now=engine.now(), ids=(clean_name(id_, "around"),))
    if not found:
        raise NotFound(f"there is no message {id_!r} in session {key.id!r}")
    return max(found[0].seq - 1 - (limit - 1) // 3, 0)


async def list_summaries(
    engine: Engine, session: str, *, scope: str | None, limit: int
) -> tuple[Summary, ...]:
    key = SessionKey(_readable_scope(engine, scope), session_name(session))
    store = await _store_of(engine, key)
    return tuple(await store.summaries(key, limit=count(limit, "limit"), newest=True))


def _readable_scope(engine: Engine, scope: str | None) -> str:
    if scope is None:
        return engine.write_scope(None)
    named = parse_scope(scope)
    if not engine.may_see(named):
        raise Denied(f"scope {named!r} is outside this handle's scopes")
    return named


async def _store_of(engine: Engine, key: SessionKey) -> Store:
    for store in engine.stores_of(root_of(key.scope)):
        if await store.sessions(root_of(key.scope), (key,)):
            return store
    raise NotFound(f"there is no session {key.id!r} in {key.scope!r}")


async def list_pending(engine: Engine, *, scope: str | None) -> tuple[Message, ...]:
    """What the next context of any session there would deliver, oldest first."""
    named = _readable_scope(engine, scope)
    found: list[Message] = []
    for store in engine.stores_of(root_of(named)):
        messages, _ = await waiting(engine, store, (named,))
        found += messages
    return tuple(found)
