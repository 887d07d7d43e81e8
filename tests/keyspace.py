"""What is stored under sorted keys, changed behind the store's back."""

from __future__ import annotations

from typing import Any, cast

from standfast.ports import Store
from standfast.stores.keyspace.engine import Get, KeyChanges, KeyEngine, KeySpan, Pairs
from standfast.testing.values import ROOT


async def damage(store: Store, old: str, new: str) -> bool:
    """Put ``new`` for ``old`` into everything that is kept of the root that clauses use."""
    engine: KeyEngine = cast(Any, store)._engine
    kinds = ("a", "o", "u", "t", "b", "e", "f")
    spans = [KeySpan(f"{kind}\0".encode(), f"{kind}\1".encode()) for kind in kinds]
    ids, *others = cast(list[Pairs], await engine.read(ROOT, spans))
    places = [place for _, place in ids]
    bodies = await engine.read(ROOT, [Get(place) for place in places]) if places else []
    rest = [pair for pairs in others for pair in pairs]
    found = [*zip(places, cast(list[bytes], bodies), strict=True), *rest]
    puts = {at: raw.replace(old.encode(), new.encode()) for at, raw in found}
    assert any(puts[at] != raw for at, raw in found)
    return await engine.write(ROOT, KeyChanges(puts=puts))
