"""Items and journal entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from standfast import compat
from standfast.changes import Change
from standfast.forgotten import NAMESPACE as TOMBSTONE
from standfast.forgotten import secret_key, secret_of
from standfast.models.budgets import NOTHING, keep_spent, kept_until
from standfast.types import Entry, Item
from standfast.verbs import imported
from standfast.verbs.export import PASSING, USAGE
from standfast.verbs.import_.file import ExportLine
from standfast.verbs.import_.run import (
    EXPIRED,
    KNOWN,
    NOT_TAKEN,
    Filled,
    ImportOutcome,
    ImportRun,
    failed,
    import_lines,
    root_of_value,
    skipped,
)
from standfast.verbs.import_.secrets import clean_entry, clean_item

KEY_BYTES_MIN = 16

ItemKey = tuple[str, str, str]


async def import_items(run: ImportRun, lines: Sequence[ExportLine]) -> None:
    """Entries come as the items they are kept in; what was spent is kept elsewhere."""
    for line in lines:
        if _is_usage(line) and not run.trusting:
            run.report.add(skipped(line, NOT_TAKEN))
        elif _is_usage(line):
            assert line.value is not None
            run.report.add(await _booked(run, root_of_value(line.value), line))
    others = [line for line in lines if not _is_usage(line)]
    if others:
        await import_lines(run, others, _fill)


async def _fill(run: ImportRun, change: Change, lines: Sequence[ExportLine], _: bool) -> Filled:
    written: dict[ItemKey, Item] = {}
    outcomes = await _planned(run, change.root, lines, written)
    change.items += written.values()
    return outcomes, lambda: None


async def _planned(
    run: ImportRun, root: str, lines: Sequence[ExportLine], written: dict[ItemKey, Item]
) -> list[ImportOutcome]:
    items: list[Item | None] = []
    for line in lines:
        if isinstance(line.value, Entry):
            items.append(await _kept(run, line.value))
        else:
            assert isinstance(line.value, Item)
            items.append(_cleaned(run, line.value))
    known = await _known(run, root, [item for item in items if item is not None])
    outcomes: list[ImportOutcome] = []
    for line, item in zip(lines, items, strict=True):
        reason = KNOWN if item is None else await _why_not(run, root, item)
        if reason.startswith("!"):
            outcomes.append(failed(line, reason[1:]))
        elif item is None or reason or _key(item) in known or _key(item) in written:
            outcomes.append(skipped(line, reason or KNOWN))
        else:
            written[_key(item)] = replace(item, version=0)
            outcomes.append(run.stored(line, skipped(line, "").id))
    return outcomes


def _is_usage(line: ExportLine) -> bool:
    return isinstance(line.value, Item) and line.value.namespace == USAGE


async def _booked(run: ImportRun, root: str, line: ExportLine) -> ImportOutcome:
    """What the root has spent elsewhere is kept with what it spends here."""
    assert isinstance(line.value, Item)
    item, now = line.value, run.engine.now()
    day, _, what = item.key.partition("/")
    try:
        date = datetime.fromisoformat(day).date()
        spent = {name: type(zero)(item.value[name]) for name, zero in NOTHING.items()}
    except (KeyError, TypeError, ValueError):
        return failed(line, "this is no account of what was spent")
    if item.scope != root or not what:
        return failed(line, "this is no account of what was spent")
    if kept_until(date) <= now:
        return skipped(line, EXPIRED)
    registry = run.engine.store.registry
    if run.dry_run or await keep_spent(registry, root, date, what, spent, now):
        return run.stored(line, skipped(line, "").id)
    return skipped(line, KNOWN)


def _key(item: Item) -> ItemKey:
    return item.namespace, item.scope, item.key


async def _known(run: ImportRun, root: str, items: Sequence[Item]) -> set[ItemKey]:
    known: set[ItemKey] = set()
    for namespace in dict.fromkeys(item.namespace for item in items):
        wanted = [item for item in items if item.namespace == namespace]
        found = await run.engine.store.items(
            root,
            namespace,
            now=run.engine.now(),
            scopes=list({item.scope for item in wanted}),
            keys=list({item.key for item in wanted}),
            limit=len(wanted) ** 2,
        )
        known |= {_key(item) for item in found}
    return known


def _cleaned(run: ImportRun, item: Item) -> Item:
    """A key and a mark look like secrets, and are meant to."""
    return (
        item if item.namespace in ("secret", TOMBSTONE) else clean_item(item, run.engine.redactor)
    )


async def _why_not(run: ImportRun, root: str, item: Item) -> str:
    """Why it is skipped; with a ! in front, why it fails."""
    if item.expires_at is not None and item.expires_at <= run.engine.now():
        return EXPIRED
    if item.namespace == imported.NAMESPACE and imported.entry_of(item) is None:
        return "!this is no journal entry"
    if item.namespace in PASSING:
        return "it belongs to a process of the other store"
    if (item.namespace, item.key) == ("secret", TOMBSTONE):
        return await _about_key(run, root, item)
    if item.namespace == TOMBSTONE:
        return _about_stone(run, root, item)
    if item.namespace == imported.NAMESPACE:
        return ""
    if not run.trusting:
        return NOT_TAKEN
    meant = item.key == "scope" or item.key.startswith("author:")
    wrong = item.namespace == compat.POLICIES and meant and not _is_policy(item.value)
    return "!this is no policy" if wrong else ""


def _is_policy(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("persist", True), bool)


async def _about_key(run: ImportRun, root: str, item: Item) -> str:
    key = secret_key(item.value)
    if len(key) < KEY_BYTES_MIN or item.scope != root:
        return "!this is no key for tombstones"
    secret = await secret_of(run.engine.store, root, run.engine.now())
    run.keyed[root] = secret is None or secret_key(secret.value) == key
    if run.keyed[root]:
        return ""
    return "this root has a key of its own"


def _about_stone(run: ImportRun, root: str, item: Item) -> str:
    try:
        datetime.fromisoformat(item.value)
    except (TypeError, ValueError):
        return "!this is no tombstone"
    if run.keyed.get(root):
        return ""
    return "tombstones made with another key mean nothing in this root"


# Entries


async def _kept(run: ImportRun, entry: Entry) -> Item | None:
    """The item that keeps an entry; None if it is in this store's own journal."""
    if await _is_own(run, entry):
        return None
    silent = await _silenced(run, clean_entry(entry, run.engine.redactor))
    return imported.item_of(silent, run.engine.write_scope_in(entry.root))


async def _is_own(run: ImportRun, entry: Entry) -> bool:
    found = await run.engine.store.journal(entry.root, after=max(0, entry.seq - 1), limit=1)
    same = bool(found) and (found[0].seq, found[0].batch) == (entry.seq, entry.batch)
    return same and all(run.engine.may_see(touch.scope) for touch in found[0].touched)


async def _silenced(run: ImportRun, entry: Entry) -> Entry:
    """Where things were forgotten, an entry says nothing about records that are not here."""
    if entry.root not in run.stones:
        return entry
    ids = {touch.id for touch in entry.touched if touch.kind in ("record", "vector")}
    ids |= {end for t in entry.touched if t.kind == "relation" for end in t.id.split(" ")}
    store, now = run.engine.store, run.engine.now()
    here = {record.id for record in await store.records(entry.root, list(ids), now=now)}
    gone = frozenset(("record", id_) for id_ in ids - here)
    return imported.without_details(entry, gone)
