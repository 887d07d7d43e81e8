"""dispute: somebody doubts a record. Both sides wait in the review until somebody decides. What a
person said stays believed meanwhile where an agent doubts it."""

from __future__ import annotations

from standfast.changes import Change, retried
from standfast.engine import Engine
from standfast.errors import Conflict, Denied, Invalid, NotFound
from standfast.lifecycle.match import live_equal
from standfast.lifecycle.safety import NEEDS_REVIEW, is_protected
from standfast.lifecycle.status import disputed
from standfast.scopes import root_of
from standfast.text.inputs import clean_name
from standfast.types import Receipt, Record
from standfast.verbs.statement import corrected, record_of


async def dispute(
    engine: Engine, id_: str, *, text: str | None, by: str | None, actor: str
) -> Receipt:
    if bool(text and text.strip()) == bool(by):
        raise Invalid("say what speaks against it: text, or by, the id of a record that does")
    doubted, change = await _doubted(engine, id_, actor)
    if by is not None:
        return await _together(change, doubted, await _opponent(engine, by, change))
    assert text is not None
    fresh, notes = record_of(corrected(doubted, text), engine)
    known = await live_equal(change.store, fresh.scope, fresh.hash, engine.now())
    if known is not None:
        return await _together(change, doubted, await _opponent(engine, known.id, change))
    notes.append(await change.embed([fresh]))
    change.notes += notes
    return await _together(change, doubted, fresh)


async def _doubted(engine: Engine, id_: str, actor: str) -> tuple[Record, Change]:
    found = await engine.find_records([clean_name(id_, "an id")])
    if id_ not in found:
        raise NotFound(f"there is no record {id_!r}")
    record, store = found[id_]
    _must_be_ours(engine, record)
    root = root_of(record.scope)
    return record, Change(engine, root, "dispute", store=store, actor=actor, id=engine.new_id())


async def _opponent(engine: Engine, id_: str, change: Change) -> Record:
    found = await engine.find_records([clean_name(id_, "by")])
    record, store = found.get(id_, (None, change.store))
    if record is None or store is not change.store or root_of(record.scope) != change.root:
        raise NotFound(f"there is no record {id_!r} in the same root")
    _must_be_ours(engine, record)
    return record


def _must_be_ours(engine: Engine, record: Record) -> None:
    if not engine.may_change(record.scope):
        raise Denied(f"{record.id!r} belongs to {record.scope!r}, which this handle only reads")
    if record.type == "turn" or record.status not in ("active", "disputed"):
        raise Invalid(f"record {record.id!r} is a {record.type} that is {record.status}")


async def _together(change: Change, doubted: Record, other: Record) -> Receipt:
    """Both as disputed, with the edge between them; but not what a person said, if whoever doubts
    it is trusted less: any fact could be made doubtful at will."""
    engine = change.engine
    if doubted.id == other.id:
        raise Invalid("it says just that: nothing speaks against it")
    if not engine.may_retire(other):
        engine.check_retires(doubted)

    async def attempt(conflict: Conflict | None) -> None:
        change.clear()
        sides = [doubted, other]
        if conflict is not None:
            now = engine.now()
            ids = [side.id for side in sides if side.version]
            again = {one.id: one for one in await change.store.records(change.root, ids, now=now)}
            sides = [again.get(side.id, side) for side in sides]
        change.put(*(disputed(side) for side in sides if _may_be_doubted(engine, side, doubted)))
        await change.link_again(other.id, "contradicts", [doubted.id], scope=other.scope)
        await change.commit()

    await retried(attempt, "these memories change faster than they can be disputed; try again")
    if is_protected(doubted):
        change.tell(doubted.id, "skipped", NEEDS_REVIEW)
    elif engine.may_retire(doubted):
        change.tell(doubted.id, "disputed", f"{other.id} speaks against it")
    else:
        change.tell(doubted.id, "skipped", "a person said it: it is believed until one decides")
    change.tell(other.id, "disputed", "review() has both")
    return change.receipt()


def _may_be_doubted(engine: Engine, side: Record, doubted: Record) -> bool:
    """A safety statement stays active until somebody decides."""
    return engine.may_retire(side) and not (side.id == doubted.id and is_protected(side))
