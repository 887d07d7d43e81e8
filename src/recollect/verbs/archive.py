"""archive: records that are not believed any more, kept and found by who asks for the past."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from recollect.engine import ATTEMPTS_MAX, Engine
from recollect.errors import Conflict, Invalid, Unavailable
from recollect.ports import Store
from recollect.scopes import root_of
from recollect.text.inputs import clean_name
from recollect.types import LIVE, Receipt, ReceiptItem, Record

PER_COMMIT = 100


async def archive(engine: Engine, ids: Sequence[str], *, actor: str) -> Receipt:
    if isinstance(ids, str):
        raise Invalid(f'ids must be a list: write ["{ids[:40]}"]')
    wanted = list(dict.fromkeys(clean_name(id_, "an id") for id_ in ids))
    found = await engine.find_records(wanted)
    groups: dict[tuple[int, str], tuple[Store, list[str]]] = {}
    for record, store in found.values():
        engine.write_scope(record.scope)
        root = root_of(record.scope)
        groups.setdefault((id(store), root), (store, []))[1].append(record.id)
    change = engine.new_id()
    outcome: dict[str, ReceiptItem] = {}
    for (_, root), (store, some) in groups.items():
        for start in range(0, len(some), PER_COMMIT):
            part = some[start : start + PER_COMMIT]
            outcome |= await _archive_some(engine, store, root, part, actor, change)
    items = tuple(outcome.get(id_) or _skipped(id_, "there is no such record") for id_ in wanted)
    done = any(item.status == "stored" for item in items)
    return Receipt(items=items, change=change if done else "")


def _skipped(id_: str, reason: str) -> ReceiptItem:
    return ReceiptItem(id=id_, status="skipped", reason=reason)


async def _archive_some(
    engine: Engine, store: Store, root: str, ids: list[str], actor: str, change: str
) -> dict[str, ReceiptItem]:
    for _ in range(ATTEMPTS_MAX):
        now = engine.now()
        records = await store.records(root, ids, now=now)
        live = [record for record in records if not _why_not(record)]
        retired = tuple(replace(record, status="archived", retired_at=now) for record in live)
        batch = engine.batch(root, "archive", actor=actor, change=change, records=retired)
        try:
            if retired:
                await engine.commit(store, batch)
        except Conflict:
            continue  # somebody changed one of them meanwhile: look again
        return {record.id: _item(record) for record in records}
    raise Unavailable("these memories change faster than they can be archived; try again")


def _why_not(record: Record) -> str:
    if record.type == "turn":
        return "a turn belongs to its message; forget() erases both"
    return "" if record.status in LIVE else f"it is {record.status} already"


def _item(record: Record) -> ReceiptItem:
    why_not = _why_not(record)
    if why_not:
        return _skipped(record.id, why_not)
    return ReceiptItem(id=record.id, status="stored", reason="archived")
