"""relate: an edge between two records."""

from __future__ import annotations

from standfast.changes import Change
from standfast.engine import Engine
from standfast.errors import Conflict, Invalid, NotFound
from standfast.lifecycle.safety import NEEDS_REVIEW, may_replace
from standfast.scopes import root_of
from standfast.text.inputs import one_of
from standfast.types import Receipt, RelationKind


async def relate(engine: Engine, source: str, kind: str, target: str, *, actor: str) -> Receipt:
    relation: RelationKind = one_of(kind, RelationKind, "relation")
    found = await engine.find_records([source, target])
    for id_ in (source, target):
        if id_ not in found:
            raise NotFound(f"there is no record {id_!r}")
    (first, store), (second, _) = found[source], found[target]
    if source == target or root_of(first.scope) != root_of(second.scope):
        raise Invalid("a relation links two different records of one root")
    engine.write_scope(first.scope)
    if relation == "supersedes" and second.trust > min(first.trust, engine.trust_max):
        engine.check_retires(second)
        if first.trust < second.trust:
            raise Invalid(f"record {source!r} is trusted less than {target!r}: it replaces nothing")
    if relation == "supersedes" and not may_replace(engine, first, second):
        raise Invalid(
            f"{second.id!r}: {NEEDS_REVIEW}; save what holds now, and let a person decide"
        )
    change = Change(
        engine, root_of(first.scope), "relate", store=store, actor=actor, id=engine.new_id()
    )
    change.link(first, relation, second)
    id_ = f"{source} {relation} {target}"
    try:
        await change.commit()
    except Conflict as conflict:
        if conflict.kind == "record":  # one is gone, or lives in another store
            raise Invalid(f"a relation needs both records: {conflict}") from None
        change.tell(id_, "merged", "this relation is known")
        return change.receipt(wrote=False)
    change.tell(id_, "stored")
    return change.receipt()
