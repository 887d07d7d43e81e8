"""What is stored under sorted keys, changed behind the store's back."""

from __future__ import annotations

from typing import Any, cast

from recollect.ports import Store
from recollect.stores.keyspace.engine import Get, KeyChanges, KeyEngine, KeySpan, Pairs
from recollect.testing.values import ROOT


async def damage(store: Store, old: str, new: str) -> bool:
    """Put ``new`` for ``old`` into every record and message of the root that clauses use."""
    engine: KeyEngine = cast(Any, store)._engine
    ids, messages = cast(
        list[Pairs], await engine.read(ROOT, [KeySpan(b"a\0", b"a\1"), KeySpan(b"o\0", b"o\1")])
    )
    places = [place for _, place in ids]
    bodies = await engine.read(ROOT, [Get(place) for place in places]) if places else []
    found = [*zip(places, cast(list[bytes], bodies), strict=True), *messages]
    puts = {at: raw.replace(old.encode(), new.encode()) for at, raw in found}
    assert any(puts[at] != raw for at, raw in found)
    return await engine.write(ROOT, KeyChanges(puts=puts))
