"""archive: records that are not believed any more, kept and found by who asks for the past."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from standfast.changes import Change, retried, slices
from standfast.engine import Engine
from standfast.errors import Conflict, Invalid
from standfast.lifecycle.status import archived
from standfast.ports import Store
from standfast.scopes import root_of
from standfast.text.inputs import clean_name
from standfast.types import LIVE, Receipt, ReceiptItem, Record

# What becomes of a record, or why nothing does.
Altered = Callable[[Record, datetime], Record | str]


async def archive(engine: Engine, ids: Sequence[str], *, actor: str) -> Receipt:
    return await alter_each(engine, ids, _archived, reason="archive", told="archived", actor=actor)


def _archived(record: Record, now: datetime) -> Record | str:
    if record.type == "turn":
        return "a turn belongs to its message; forget() erases both"
    return archived(record, now) if record.status in LIVE else f"it is {record.status} already"


async def alter_each(
    engine: Engine, ids: Sequence[str], alter: Altered, *, reason: str, told: str, actor: str
) -> Receipt:
    """The same to each of these records, in one change; the receipt says of each what came of it:
    ``told``, or why not."""
    if isinstance(ids, str):
        raise Invalid(f'ids must be a list: write ["{ids[:40]}"]')
    wanted = list(dict.fromkeys(clean_name(id_, "an id") for id_ in ids))
    groups: dict[tuple[int, str], tuple[Store, list[str]]] = {}
    for record, store in (await engine.find_records(wanted)).values():
        engine.write_scope(record.scope)
        engine.check_retires(record)
        key = (id(store), root_of(record.scope))
        groups.setdefault(key, (store, []))[1].append(record.id)
    change_id = engine.new_id()
    why_not = dict.fromkeys(wanted, "there is no such record")
    for (_, root), (store, some) in groups.items():
        change = Change(engine, root, reason, store=store, actor=actor, id=change_id)
        for part in slices(some):
            why_not |= await _alter_some(change, part, alter)
    items = tuple(
        ReceiptItem(id=id_, status="skipped" if why else "stored", reason=why or told)
        for id_, why in why_not.items()
    )
    return Receipt(items=items, change=change_id if not all(why_not.values()) else "")


async def _alter_some(change: Change, ids: Sequence[str], alter: Altered) -> dict[str, str]:
    """Those that are there, and why one of them was left as it is."""

    async def attempt(_: Conflict | None) -> dict[str, str]:
        now = change.engine.now()
        records = await change.store.records(change.root, ids, now=now)
        altered = {record.id: alter(record, now) for record in records}
        change.clear()
        change.put(*(one for one in altered.values() if isinstance(one, Record)))
        await change.commit()
        return {id_: one if isinstance(one, str) else "" for id_, one in altered.items()}

    too_fast = "these memories change faster than that can be written; try again"
    return await retried(attempt, too_fast)
