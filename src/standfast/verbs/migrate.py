"""migrate: all of one store copied into another, root by root, and compared.

Each root goes over as an export that is imported: so every engine can be left for every other.
Behind it both are exported again and compared, line by line. A root that was copied and found equal
is noted in the target; what is interrupted begins with the next one. Keys and devices go along, so
that whoever could connect still can. Vectors are made anew by the target's own embedder.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import IO, Any

from standfast import compat
from standfast.access.keys import DEVICES, KEYS
from standfast.access.spool import private_spool
from standfast.engine import Engine, every_root
from standfast.errors import Conflict, Unavailable
from standfast.ports import Cell, Store, cell_key
from standfast.types import Receipt, ReceiptItem
from standfast.verbs.export import export_to
from standfast.verbs.import_ import import_from

ACTOR = "migrate"
DONE = compat.MIGRATED_CELLS
PAGE = 200
# What an import changes on purpose: versions count the changes made in one store, and what a
# root has spent is counted elsewhere.
_OWN = ("version",)
_BESIDE = ("usage",)


@dataclass(slots=True)
class MovedLines:
    """How many lines of each kind an export has, and what they say, whatever their order."""

    counts: Counter[str] = field(default_factory=Counter)
    sums: Counter[str] = field(default_factory=Counter)
    entries: set[int] = field(default_factory=set)

    def missing_in(self, other: MovedLines) -> list[str]:
        """What the other has not, in words."""
        told = [
            f"{self.counts[kind]} {kind}s here, {other.counts[kind]} there"
            if self.counts[kind] != other.counts[kind]
            else f"some {kind}s differ"
            for kind in sorted(self.counts)
            if (self.counts[kind], self.sums[kind]) != (other.counts[kind], other.sums[kind])
        ]
        lost = len(self.entries - other.entries)
        return [*told, f"{lost} entries of the journal are missing"] if lost else told


async def moved(source: Engine, target: Engine, progress: Callable[[int, int], None]) -> Receipt:
    """Unavailable if a root is not the same there; what was copied before stays."""
    roots = [root async for root in every_root(source.store)]
    items: list[ReceiptItem] = []
    notes: list[str] = []
    for place, root in enumerate(roots):
        progress(place, len(roots))
        [last] = await source.store.journal(root, limit=1, newest=True)
        if await _is_done(target, root, last.batch):
            items.append(ReceiptItem(id=root, status="skipped", reason="copied before"))
            continue
        counts = await _move_root(source, target, root)
        await _note(target, root, last.batch)
        told = ", ".join(f"{n} {kind}s" for kind, n in sorted(counts.items()))
        items.append(ReceiptItem(id=root, status="stored", reason=f"{told}; the same there"))
    progress(len(roots), len(roots))
    carried = await _carry_registry(source, target)
    notes.append(f"{len(roots)} roots, {carried} keys and devices")
    before = await source.space() or "none"
    made = target.embedder.space if target.embedder else "none: no embedder is configured"
    notes.append(f"vectors are made anew by the embedder of the target: {made} (were: {before})")
    return Receipt(items=tuple(items), notes=tuple(notes))


async def _move_root(source: Engine, target: Engine, root: str) -> Counter[str]:
    with private_spool() as spool:
        await export_to(source, spool, scope=root, descend=True, noted=False)
        spool.seek(0)
        # Whoever has both stores moves what one of them believes: nothing comes from outside.
        await import_from(target, spool, dry_run=False, partial=False, actor=ACTOR, trusting=True)
        wanted = _lines_in(spool)
    with private_spool() as copy:
        await export_to(target, copy, scope=root, descend=True, noted=False)
        found = _lines_in(copy)
    if missing := wanted.missing_in(found):
        raise Unavailable(
            f"{root} is not the same there: {'; '.join(missing)}; was somebody writing meanwhile, "
            "or does the target hold other memories of it? Stop the writers and run it again"
        )
    return wanted.counts


def _lines_in(file: IO[bytes]) -> MovedLines:
    file.seek(0)
    lines = MovedLines()
    for line in file:
        for kind, value in _values(json.loads(line)):
            digest = hashlib.blake2b(
                json.dumps(value, sort_keys=True).encode(), digest_size=8
            ).digest()
            number = int.from_bytes(digest, "big")
            if kind == "entry":
                lines.entries.add(number)
            else:
                lines.counts[kind] += 1
                lines.sums[kind] += number
    return lines


def _values(line: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """What a line holds that must be the same on the other side."""
    value = line.get("value")
    if not isinstance(value, dict) or value.get("namespace") in _BESIDE:
        return
    yield line["type"], {name: part for name, part in value.items() if name not in _OWN}


# What is noted in the registry of the target


async def _is_done(target: Engine, root: str, batch: str) -> bool:
    found = await target.store.registry.get((cell_key(DONE, root),), now=target.now())
    return bool(found) and found[0].value == batch


async def _note(target: Engine, root: str, batch: str) -> None:
    registry, key = target.store.registry, cell_key(DONE, root)
    known = await registry.get((key,), now=target.now())
    cell = known[0] if known else Cell(key=key, value="")
    await registry.put(replace(cell, value=batch), now=target.now())


async def _carry_registry(source: Engine, target: Engine) -> int:
    """Keys and devices, where the target has none of that name."""
    carried = 0
    for kind in (KEYS, DEVICES):
        async for cell in _cells(source.store, kind, source):
            try:
                await target.store.registry.put(replace(cell, version=0), now=target.now())
            except Conflict:
                continue
            carried += 1
    return carried


async def _cells(store: Store, kind: str, engine: Engine) -> Any:
    after, prefix = "", cell_key(kind, "")
    while page := await store.registry.list(prefix, now=engine.now(), after=after, limit=PAGE):
        for cell in page:
            yield cell
        after = page[-1].key
