"""Journal entries that came with an import. They describe what happened in another store, so
they are kept beside this one's journal, as items of their root, and exported again as entries.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import datetime

from standfast import compat
from standfast.changes import Change
from standfast.engine import every_item
from standfast.errors import Invalid
from standfast.ports import Store
from standfast.types import Entry, Erase, Item, Touch
from standfast.types.serial import from_plain, to_plain

NAMESPACE = compat.IMPORTED_JOURNAL
FORGOTTEN = "forgotten"
PAGE = 50  # an entry may speak of a thousand things
REWRITTEN_PER_COMMIT = 50


def item_of(entry: Entry, scope: str) -> Item:
    """The batch is part of the key: two stores may both have had a change number 7."""
    key = f"{entry.seq:012d}/{entry.batch}"
    return Item(scope=scope, namespace=NAMESPACE, key=key, value=to_plain(entry))


def entry_of(item: Item) -> Entry | None:
    """None if somebody else wrote something else there."""
    try:
        return from_plain(Entry, item.value)
    except Invalid:
        return None


def kept_items(store: Store, root: str, now: datetime) -> AsyncIterator[Item]:
    return every_item(store, root, NAMESPACE, now, size=PAGE)


async def silence(change: Change, erasures: Sequence[Erase]) -> None:
    """Make the kept entries say no more about what is being erased than that it was touched.
    An item is erased and made anew: a changed one would leave its old value in the journal."""
    gone = frozenset((erase.kind, erase.id) for erase in erasures)
    waiting: list[Item] = []
    async for item in kept_items(change.store, change.root, change.engine.now()):
        entry = entry_of(item)
        silent = entry and without_details(entry, gone)
        if silent and silent != entry:
            waiting.append(replace(item, value=to_plain(silent), version=0))
    change.clear()
    change.items += waiting
    change.erasures += [
        Erase(kind="item", id=item.key, scope=item.scope, namespace=NAMESPACE) for item in waiting
    ]
    await change.commit_in_parts(REWRITTEN_PER_COMMIT)


def without_details(entry: Entry, gone: frozenset[tuple[str, str]]) -> Entry:
    """``gone`` are kinds and ids. Rather silent about one thing too many than too few."""
    touched = tuple(_silent(touch) if _mentions(touch, gone) else touch for touch in entry.touched)
    return replace(entry, touched=touched)


def _silent(touch: Touch) -> Touch:
    """Names that somebody gave go, too."""
    given = touch.kind in ("message", "session", "cursor")
    return replace(touch, id=FORGOTTEN if given else touch.id, before=None, after=None)


def ends_of(touch: Touch) -> list[str]:
    """The records that an edge links; none for what is no edge."""
    return touch.id.split(" ")[::2] if touch.kind == "relation" else []


def _mentions(touch: Touch, gone: frozenset[tuple[str, str]]) -> bool:
    if touch.kind == "relation":
        return any(("record", end) in gone for end in ends_of(touch))
    if touch.kind == "cursor":
        return ("session", touch.id.rpartition("/")[0]) in gone
    kind = "record" if touch.kind == "vector" else touch.kind
    session = ("session", str((touch.after or {}).get("session")))
    return (kind, touch.id) in gone or session in gone
