"""Items: small named values, by namespace, scope, key and prefix."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from standfast.errors import Conflict, Invalid
from standfast.ports import Store
from standfast.scopes import SYSTEM_ROOT
from standfast.testing.harness import Contract, clause, refusal
from standfast.testing.values import NOW, ROOT, make_batch, make_item, moment, put
from standfast.types import MARKS, Item

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
    async def test_the_stores_own_root_holds_nothing(self, store: Store) -> None:
        """The registry does; so no batch writes into two roots, and no list of roots names it."""
        await refusal(store, make_batch(make_item("a", scope=SYSTEM_ROOT)), Invalid)
        assert await store.roots() == []

    @clause
    async def test_X2_a_mark_is_put_down_with_its_batch(self, store: Store) -> None:
        """In the batch's own root, and without a word about it."""
        assert await put(store, make_item("a"), _mark("m", "first")) == 1
        assert [item.value for item in await _marks(store)] == ["first"]
        [entry] = await store.journal(ROOT)
        assert [touch.id for touch in entry.touched] == ["policy/a"]
        await refusal(store, make_batch(make_item("a"), _mark("m", 1, "org:acme2")), Invalid)
        assert await store.roots() == [ROOT]

    @clause
    async def test_X2_a_mark_that_is_there_undoes_the_batch(self, store: Store) -> None:
        """Two that want to put it down: one does, and of the other nothing is left."""
        await put(store, make_item("a"), _mark("m", "first"))
        late = make_batch(make_item("b"), _mark("m", "second"))
        error = await refusal(store, late, Conflict)
        assert (error.kind, error.ids) == ("item", ("m",))
        assert await _found(store) == [f"{ROOT} a"]
        assert [item.value for item in await _marks(store)] == ["first"]

    @clause
    async def test_X2_a_batch_that_fails_puts_no_mark_down(self, store: Store) -> None:
        """All of it or nothing."""
        await put(store, make_item("a"))
        await refusal(store, make_batch(make_item("a"), _mark("m", 1)), Conflict)
        assert await _marks(store) == []

    @clause
    async def test_X2_a_batch_that_is_known_leaves_its_mark_alone(self, store: Store) -> None:
        """The same batch again answers again, with whatever mark it comes."""
        batch = make_batch(make_item("a"), _mark("m", 1))
        assert await store.commit(batch) == 1
        again = replace(batch, items=(*batch.items[:1], replace(_mark("m", 2), version=1)))
        assert await store.commit(again) == await store.commit(batch) == 1
        assert [(item.value, item.version) for item in await _marks(store)] == [(1, 1)]

    @clause
    async def test_a_mark_is_changed_by_version_and_expires(self, store: Store) -> None:
        """Like any item, and also in a batch of nothing else, which takes no number."""
        mark = _mark("m", 1, expires_at=moment(5))
        assert await put(store, mark) == 0
        assert await store.roots() == []
        await put(store, make_item("a"))
        assert await put(store, replace(mark, value=2, version=1)) == 1
        assert [(item.value, item.version) for item in await _marks(store)] == [(2, 2)]
        await refusal(store, make_batch(mark), Conflict)
        await put(store, _mark("m", 3), at=moment(6))
        assert [(item.value, item.version) for item in await _marks(store)] == [(3, 1)]
        assert len(await store.journal(ROOT)) == 1

    @clause
    async def test_an_expired_mark_is_swept_away(self, store: Store) -> None:
        await put(store, _mark("m", 1, expires_at=moment(5)))
        [work] = await store.due(moment(6), kinds=["expire"])
        assert (work.root, work.detail) == (ROOT, "item")
        await put(store, root=ROOT, sweep=True, at=moment(6))
        assert await store.due(moment(6), kinds=["expire"]) == []


def _mark(key: str, value: Any, scope: str = ROOT, **fields: Any) -> Item:
    return make_item(key, value, scope, namespace=MARKS, **fields)


async def _marks(store: Store) -> list[Item]:
    return await store.items(ROOT, MARKS, now=NOW)
