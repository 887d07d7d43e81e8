"""Items: small named values, by namespace, scope, key and prefix."""

from __future__ import annotations

from typing import Any

from recollect.ports import Store
from recollect.scopes import SYSTEM_ROOT
from recollect.testing.harness import Contract, clause
from recollect.testing.values import NOW, ROOT, make_item, put
from recollect.types import Item

AGENT = f"{ROOT}:agent:cto"


async def _found(store: Store, namespace: str = "policy", **filters: Any) -> list[str]:
    items = await store.items(ROOT, namespace, now=NOW, **filters)
    return [f"{item.scope} {item.key}" for item in items]


class ItemClauses(Contract):
    @clause
    async def test_items_are_ordered_by_scope_and_key(self, store: Store) -> None:
        """All of a namespace, whatever order they were written in; no other root's."""
        await put(store, make_item("b", scope=AGENT), make_item("c"), make_item("a"))
        await put(store, make_item("a", scope=AGENT), make_item("z", namespace="other"))
        await put(store, make_item("a", scope="org:acme2"))
        everything = [f"{ROOT} a", f"{ROOT} c", f"{AGENT} a", f"{AGENT} b"]
        assert await _found(store) == everything
        assert await _found(store, limit=2) == everything[:2]
        assert await _found(store, limit=0) == []
        assert await _found(store, "nobody") == []

    @clause
    async def test_X13_all_items_of_a_root_are_listed_in_pages(self, store: Store) -> None:
        """By namespace, scope and key, behind the last one seen."""
        names = [(n, s, k) for n in ("a", "b") for s in (ROOT, AGENT) for k in "xyz"]
        await put(store, *(make_item(k, scope=s, namespace=n) for n, s, k in reversed(names)))
        seen: list[Item] = []
        last: Item | None = None
        while page := await store.items(ROOT, None, now=NOW, after=last, limit=5):
            assert len(page) <= 5
            seen += page
            last = page[-1]
        assert [(item.namespace, item.scope, item.key) for item in seen] == names

    @clause
    async def test_items_by_scope_and_key(self, store: Store) -> None:
        """Scopes are meant exactly, without parents; filters narrow together."""
        await put(store, *(make_item(key, scope=s) for key in "abc" for s in (ROOT, AGENT)))
        assert await _found(store, scopes=[AGENT]) == [f"{AGENT} {key}" for key in "abc"]
        assert await _found(store, keys=["c", "a", "nobody"], scopes=[ROOT]) == [
            f"{ROOT} a",
            f"{ROOT} c",
        ]
        assert await _found(store, scopes=["org:acme:agent"]) == []

    @clause
    async def test_item_prefix_is_literal(self, store: Store) -> None:
        """Case counts, and no character of a prefix is a pattern."""
        keys = ["a%b", "a_b", "a*b", "aXb", "A%b", "é1", "é2", "a"]
        await put(store, *(make_item(key) for key in keys))
        assert await _found(store, prefix="a%") == [f"{ROOT} a%b"]
        assert await _found(store, prefix="a_") == [f"{ROOT} a_b"]
        assert await _found(store, prefix="a*") == [f"{ROOT} a*b"]
        assert await _found(store, prefix="A") == [f"{ROOT} A%b"]
        assert await _found(store, prefix="é") == [f"{ROOT} é1", f"{ROOT} é2"]
        assert len(await _found(store, prefix="a")) == 5

    @clause
    async def test_same_key_in_two_namespaces(self, store: Store) -> None:
        """Namespace, scope and key together name an item."""
        await put(store, make_item("k", 1), make_item("k", 2, namespace="lease"))
        await put(store, make_item("k", 3, scope=AGENT))
        [lease] = await store.items(ROOT, "lease", now=NOW)
        assert (lease.value, lease.version) == (2, 1)
        assert len(await _found(store)) == 2

    @clause
    async def test_store_keeps_items_of_its_own(self, store: Store) -> None:
        """The system root holds items like any other root."""
        await put(store, make_item("space", "hashing/384", SYSTEM_ROOT, namespace="settings"))
        [item] = await store.items(SYSTEM_ROOT, "settings", now=NOW, keys=["space"])
        assert item.value == "hashing/384"
