"""archive: records that are not believed any more, kept and found by who asks for the past."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.changes import Change, retried, slices
from recollect.engine import Engine
from recollect.errors import Conflict, Invalid
from recollect.lifecycle.status import archived
from recollect.ports import Store
from recollect.scopes import root_of
from recollect.text.inputs import clean_name
from recollect.types import LIVE, Receipt, ReceiptItem, Record


async def archive(engine: Engine, ids: Sequence[str], *, actor: str) -> Receipt:
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
        change = Change(engine, root, "archive", store=store, actor=actor, id=change_id)
        for part in slices(some):
            why_not |= await _archive_some(change, part)
    items = tuple(
        ReceiptItem(id=id_, status="skipped" if why else "stored", reason=why or "archived")
        for id_, why in why_not.items()
    )
    return Receipt(items=items, change=change_id if not all(why_not.values()) else "")


async def _archive_some(change: Change, ids: Sequence[str]) -> dict[str, str]:
    """Those that are there, and why one of them was not archived."""

    async def attempt(_: Conflict | None) -> dict[str, str]:
        now = change.engine.now()
        records = await change.store.records(change.root, ids, now=now)
        why_not = {record.id: _why_not(record) for record in records}
        change.clear()
        change.put(*(archived(record, now) for record in records if not why_not[record.id]))
        await change.commit()
        return why_not

    too_fast = "these memories change faster than they can be archived; try again"
    return await retried(attempt, too_fast)


def _why_not(record: Record) -> str:
    if record.type == "turn":
        return "a turn belongs to its message; forget() erases both"
    return "" if record.status in LIVE else f"it is {record.status} already"
