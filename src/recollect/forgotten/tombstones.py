"""Remembering what was forgotten, without keeping it: keyed hashes of messages and texts.

A tombstone stops derivation, import and replay from bringing back what was erased. It says
nothing about anything stated after the erasure: who tells us again, wants it known again.
The key is random per root, so equal texts of two tenants leave different traces.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from recollect.engine import Engine
from recollect.errors import Conflict
from recollect.scopes import root_of
from recollect.types import Item, Message

NAMESPACE = "tombstone"


async def key_of(engine: Engine, root: str, *, create: bool = False) -> bytes:
    """The root's tombstone key; empty while nothing was ever forgotten there."""
    for _ in range(2):
        items = await engine.store.items(
            root, "secret", now=engine.now(), scopes=(root,), keys=(NAMESPACE,)
        )
        if items:
            return bytes.fromhex(items[0].value)
        if not create:
            return b""
        fresh = Item(scope=root, namespace="secret", key=NAMESPACE, value=engine.new_secret())
        batch = engine.batch(root, "tombstone key", actor="", change="", items=(fresh,))
        try:
            await engine.commit(engine.store, batch)
        except Conflict:
            continue  # another process made one meanwhile
    return await key_of(engine, root)


def message_mark(key: bytes, scope: str, session: str, id_: str) -> str:
    return _mark(key, "message", scope, session, id_)


def text_mark(key: bytes, scope: str, text_hash: str) -> str:
    return _mark(key, "text", scope, text_hash)


def _mark(key: bytes, *parts: str) -> str:
    return hmac.new(key, "\0".join(parts).encode(), hashlib.sha256).hexdigest()


async def buried(
    engine: Engine, root: str, marks: Iterable[str], scopes: Iterable[str] = ()
) -> dict[str, Item]:
    """The tombstones that stand for these marks; their value is the time of the erasure. Those
    of a few ``scopes`` are found without looking at all of the root's."""
    wanted = tuple(dict.fromkeys(marks))
    if not wanted:
        return {}
    items = await engine.store.items(
        root, NAMESPACE, now=engine.now(), scopes=tuple(scopes), keys=wanted, limit=len(wanted)
    )
    return {item.key: item for item in items}


async def buried_messages(
    engine: Engine, messages: Sequence[Message], hash_of: Callable[[Message], str]
) -> frozenset[str]:
    """Ids of messages that were forgotten: the very message, or the same text, by its hash, said
    no later than the erasure."""
    if not messages:
        return frozenset()
    root = root_of(messages[0].scope)
    key = await key_of(engine, root)
    if not key:
        return frozenset()
    marks = {
        message.id: (
            message_mark(key, message.scope, message.session, message.id),
            text_mark(key, message.scope, hash_of(message)),
        )
        for message in messages
    }
    scopes = {message.scope for message in messages}
    stones = await buried(engine, root, (m for pair in marks.values() for m in pair), scopes)
    found = set()
    for message in messages:
        by_id, by_text = marks[message.id]
        same_text = stones.get(by_text)
        if by_id in stones or (
            same_text is not None and message.at <= datetime.fromisoformat(same_text.value)
        ):
            found.add(message.id)
    return frozenset(found)
