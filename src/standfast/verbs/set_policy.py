"""set_policy: a scope, or one author in it, opts out of persistence or in again."""

from __future__ import annotations

from standfast import compat
from standfast.changes import Change
from standfast.engine import Engine
from standfast.errors import Denied
from standfast.scopes import parse_scope, root_of
from standfast.text.inputs import clean_name
from standfast.types import Item, Receipt


async def set_policy(
    engine: Engine, scope: str, *, persist: bool, author: str, actor: str
) -> Receipt:
    named = parse_scope(scope)
    if engine.write_scope(named) != named:
        raise Denied(f"scope {named!r} is outside this handle")
    root = root_of(named)
    key = f"author:{clean_name(author, 'author')}" if author else "scope"
    known = await engine.store.items(
        root, compat.POLICIES, now=engine.now(), scopes=(named,), keys=(key,)
    )
    item = Item(
        scope=named,
        namespace=compat.POLICIES,
        key=key,
        value={"persist": bool(persist)},
        version=known[0].version if known else 0,
    )
    change = Change(engine, root, "policy", actor=actor, id=engine.new_id())
    change.items.append(item)
    await change.commit()
    change.tell(f"policy/{key}", "stored")
    return change.receipt()
