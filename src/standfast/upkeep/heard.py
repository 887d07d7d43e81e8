"""What was heard: the turns of messages, and which of those nothing is to be made of any more,
because their turns were retired by revoking where they came from or by undoing that they were
heard. The log itself keeps them."""

from __future__ import annotations

from collections.abc import Sequence

from standfast.engine import Engine
from standfast.ports import Store
from standfast.scopes import root_of
from standfast.text.messages import turn_id
from standfast.types import Message, Record


async def turns_of(engine: Engine, store: Store, messages: Sequence[Message]) -> dict[str, Record]:
    """The turns of these messages of one root, by message id."""
    ids = {turn_id(one.scope, one.session, one.id): one.id for one in messages}
    if not ids:
        return {}
    root = root_of(messages[0].scope)
    found = await store.records(root, tuple(ids), now=engine.now())
    return {ids[turn.id]: turn for turn in found}


def retired(turns: dict[str, Record]) -> frozenset[str]:
    """The ids of the messages among them that are not to be heard."""
    return frozenset(id_ for id_, turn in turns.items() if turn.status == "archived")
