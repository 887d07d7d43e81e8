"""observe: messages into the session log, or into the queue where pending ones wait."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from standfast.engine import Engine
from standfast.packet.buffers import PENDING, session_name
from standfast.text.inputs import When, clean_name, expiry, one_of
from standfast.text.messages import Intake, MessageInput, take_in
from standfast.types import Receipt, SessionKey, Source
from standfast.verbs.log import Incoming, logged


async def observe(
    engine: Engine,
    session: str | SessionKey,
    messages: MessageInput | Iterable[MessageInput],
    *,
    scope: str | None = None,
    channel: str = "",
    author: str = "",
    source: str | None = None,
    pending: bool = False,
    expires_at: When | None = None,
    actor: str = "",
) -> Receipt:
    """A ``session`` of our own is given by its key."""
    if isinstance(session, SessionKey):
        key = session
    else:
        named = session_name(session)
        key = SessionKey(engine.write_scope(scope), PENDING if pending else named)
    taken = take_in(messages, _intake(engine, key, author, source, pending, expires_at))
    said = Incoming.of(key, clean_name(channel, "channel") if channel else "", taken)
    if key.id == PENDING and engine.queue is not None:
        from standfast.verbs.queue import queued  # few have one, and all would load it

        return await queued(engine, said, actor=actor)
    return await logged(engine, said, actor=actor)


def _intake(
    engine: Engine,
    key: SessionKey,
    author: str,
    source: str | None,
    pending: bool,
    expires_at: When | None,
) -> Intake:
    until, _ = expiry(expires_at, engine.now())
    if pending and until is None:
        until = engine.now() + timedelta(days=engine.profile.pending_days)
    return Intake(
        scope=key.scope,
        session=key.id,
        now=engine.now(),
        redactor=engine.redactor,
        new_id=engine.new_id,
        author=clean_name(author, "author") if author else "",
        source=one_of(source, Source, "source") if source else None,
        source_of=engine.source_of,
        trust_max=engine.trust_max,
        pending=pending,
        expires_at=until,
    )
