"""What every context of a session carries: the state of its task, and short notes by role."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from recollect.engine import ATTEMPTS_MAX, Engine
from recollect.errors import Conflict, Invalid, NotFound, Unavailable
from recollect.packet.buffers import notes_key, session_name
from recollect.scopes import root_of
from recollect.text.inputs import clean_name, clean_value
from recollect.types import Receipt, ReceiptItem, SessionKey
from recollect.verbs.observe import observe_in

STATE_CHARACTERS_MAX = 20_000


async def set_state(
    engine: Engine, session: str, state: Mapping[str, Any], *, scope: str | None, actor: str
) -> Receipt:
    key = SessionKey(engine.write_scope(scope), session_name(session))
    cleaned = _checked(engine, state)
    root = root_of(key.scope)
    for _ in range(ATTEMPTS_MAX):
        for store in engine.stores_of(root):
            known = await store.sessions(root, (key,))
            if not known:
                continue
            change = engine.new_id()
            batch = engine.batch(
                root,
                "state",
                actor=actor,
                change=change,
                sessions=(replace(known[0], state=cleaned),),
            )
            try:
                await engine.commit(store, batch)
            except Conflict:
                break  # somebody changed the session: read it again
            item = ReceiptItem(id=key.id, status="stored")
            return Receipt(items=(item,), change=change)
        else:
            raise NotFound(f"there is no session {key.id!r} in {key.scope!r}")
    raise Unavailable("the session changes faster than its state can be written; try again")


async def note(
    engine: Engine, session: str, text: str, *, role: str, scope: str | None, actor: str
) -> Receipt:
    key = notes_key(engine.write_scope(scope), session_name(session))
    message = {"role": "note", "content": text, "author": clean_name(role, "role")}
    if not text or not text.strip():
        raise Invalid("there is nothing to note: the text is empty")
    return await observe_in(engine, key, [message], actor=actor)


def _checked(engine: Engine, state: Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(state, Mapping):
        raise Invalid(f"state must be a mapping, not {type(state).__name__}")
    cleaned, _ = engine.redactor.redact_value(clean_value(dict(state), "state"))
    if len(str(cleaned)) > STATE_CHARACTERS_MAX:
        raise Invalid(f"state is longer than {STATE_CHARACTERS_MAX:,} characters; keep it short")
    found: Mapping[str, Any] = cleaned
    return found
