"""Which messages of a log nothing is to be made of any more: those whose turns were retired, by
revoking where they came from or by undoing that they were heard. The log itself keeps them."""

from __future__ import annotations

from collections.abc import Iterable

from recollect.engine import Engine
from recollect.ports import Store
from recollect.scopes import root_of
from recollect.text.messages import turn_id
from recollect.types import Message


async def retired_messages(
    engine: Engine, store: Store, messages: Iterable[Message]
) -> frozenset[str]:
    """The ids of those among these messages of one session."""
    turns = {turn_id(one.scope, one.session, one.id): one for one in messages}
    if not turns:
        return frozenset()
    root = root_of(next(iter(turns.values())).scope)
    records = await store.records(root, tuple(turns), now=engine.now())
    return frozenset(turns[one.id].id for one in records if one.status == "archived")
