"""What every context of a session carries: the state of its task, and short notes by role."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from standfast.changes import OPTED_OUT, Change, retried
from standfast.engine import Engine
from standfast.errors import Conflict, Invalid, NotFound
from standfast.packet.buffers import notes_key, session_name
from standfast.scopes import root_of
from standfast.text.inputs import clean_name, clean_value
from standfast.text.normal import fold
from standfast.types import Receipt, Session, SessionKey
from standfast.verbs.observe import observe

STATE_CHARACTERS_MAX = 20_000
_SPEAKERS = ("system", "developer", "user", "human", "admin", "owner", "operator")


async def set_state(
    engine: Engine, session: str, state: Mapping[str, Any], *, scope: str | None, actor: str
) -> Receipt:
    key = SessionKey(engine.write_scope(scope), session_name(session))
    cleaned = _checked(engine, state)
    root = root_of(key.scope)

    async def attempt(_: Conflict | None) -> Receipt:
        for store in engine.stores_of(root):
            for session in await store.sessions(root, (key,)):
                change = Change(engine, root, "state", store=store, actor=actor, id=engine.new_id())
                if store is engine.store and not await engine.persists(key.scope):
                    change.turn_volatile(OPTED_OUT)
                    known = await change.store.sessions(root, (key,))
                    session = known[0] if known else Session(scope=key.scope, id=key.id)
                change.sessions.append(replace(session, state=cleaned))
                await change.commit()
                kept = change.store is engine.store
                change.tell(key.id, "stored" if kept else "volatile", change.why_volatile)
                return change.receipt()
        raise NotFound(f"there is no session {key.id!r} in {key.scope!r}")

    too_fast = "the session changes faster than its state can be written; try again"
    return await retried(attempt, too_fast)


async def note(
    engine: Engine, session: str, text: str, *, role: str, scope: str | None, actor: str
) -> Receipt:
    key = notes_key(engine.write_scope(scope), session_name(session))
    who = clean_name(role, "role")
    if engine.holder == "agent" and fold(who).strip() in _SPEAKERS:
        raise Invalid(f"an agent does not note things as {who!r}; give it a role of its own")
    message = {"role": "note", "content": text, "author": who}
    if not text or not text.strip():
        raise Invalid("there is nothing to note: the text is empty")
    return await observe(engine, key, [message], actor=actor)


def _checked(engine: Engine, state: Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(state, Mapping):
        raise Invalid(f"state must be a mapping, not {type(state).__name__}")
    cleaned, _ = engine.redactor.redact_value(clean_value(dict(state), "state"))
    if len(str(cleaned)) > STATE_CHARACTERS_MAX:
        raise Invalid(f"state is longer than {STATE_CHARACTERS_MAX:,} characters; keep it short")
    found: Mapping[str, Any] = cleaned
    return found
