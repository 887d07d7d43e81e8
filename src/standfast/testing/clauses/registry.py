"""The registry: cells that change one at a time, by compare-and-set, and leave no trace."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime
from typing import Any

from standfast.errors import Conflict, Invalid, Unavailable
from standfast.ports import Cell, Store
from standfast.testing.harness import Contract, clause, failure, second_handle
from standfast.testing.values import NOW, ROOT, make_item, make_record, moment, put

WRITERS = 8
ROUNDS = 5


async def _put(store: Store, key: str, value: Any = 1, **fields: Any) -> Cell:
    return await store.registry.put(Cell(key=key, value=value, **fields), now=NOW)


async def _keys(store: Store, prefix: str = "", now: datetime = NOW, **page: Any) -> list[str]:
    return [cell.key for cell in await store.registry.list(prefix, now=now, **page)]


async def _count(store: Store) -> None:
    """Read, add one, write; again if somebody was quicker."""
    while True:
        [cell] = await store.registry.get(["counter"], now=NOW)
        await asyncio.sleep(0)  # let the others read the same version
        try:
            await store.registry.put(replace(cell, value=cell.value + 1), now=NOW)
            return
        except Conflict:
            continue


class RegistryClauses(Contract):
    @clause
    async def test_cells_are_read_by_key_in_the_order_asked_for(self, store: Store) -> None:
        """Missing ones are left out; a value comes back as JSON gives it back."""
        value = {"a": [1, 2.5, None, True], "ü": "\u0000?"}
        made = await _put(store, "b", value, expires_at=moment(5))
        await _put(store, "a")
        [b, a] = await store.registry.get(["b", "nobody", "a"], now=NOW)
        assert b == made == Cell(key="b", value=value, expires_at=moment(5), version=b.version)
        assert (a.key, a.value, a.expires_at) == ("a", 1, None)
        assert b.version > 0
        assert await store.registry.get([], now=NOW) == []

    @clause
    async def test_a_cell_shares_nothing_with_who_wrote_it(self, store: Store) -> None:
        value = {"list": [1]}
        made = await _put(store, "a", value)
        value["list"].append(2)
        made.value["list"].append(3)
        [read] = await store.registry.get(["a"], now=NOW)
        assert read.value == {"list": [1]}

    @clause
    async def test_X2_a_cell_changes_by_compare_and_set(self, store: Store) -> None:
        """Who read an older version, or thought that there is none, changes nothing."""
        first = await _put(store, "a", "first")
        second = await store.registry.put(replace(first, value="second"), now=NOW)
        assert second.version > first.version
        for stale in (first, replace(first, version=0), replace(first, version=99)):
            error = await failure(store.registry.put(stale, now=NOW), Conflict)
            assert (error.kind, error.ids) == ("cell", ("a",))
        await failure(_put(store, "b", version=first.version), Conflict)
        assert await store.registry.get(["a", "b"], now=NOW) == [second]

    @clause
    async def test_X2_a_version_never_comes_again(self, store: Store) -> None:
        """Not even when the cell was away: who slept in between must not overwrite another's."""
        slept = await _put(store, "lease", "ann", expires_at=moment(1))
        late = moment(2)
        taken = await store.registry.put(
            Cell(key="lease", value="bob", expires_at=moment(3)), now=late
        )
        assert taken.version > slept.version
        await failure(store.registry.put(replace(slept, expires_at=moment(9)), now=late), Conflict)
        await store.registry.put(replace(taken, expires_at=late), now=late)
        again = await store.registry.put(Cell(key="lease", value="ann"), now=late)
        assert again.version > taken.version

    @clause
    async def test_a_cell_expires_by_the_clock_of_who_looks(self, store: Store) -> None:
        """For readers and writers alike; the moment itself is over."""
        made = await _put(store, "a", expires_at=moment(1))
        assert await _keys(store, now=moment(0.9)) == ["a"]
        for late in (moment(1), moment(2)):
            assert await store.registry.get(["a"], now=late) == []
            assert await _keys(store, now=late) == []
        await failure(store.registry.put(replace(made, value=2), now=moment(1)), Conflict)
        await failure(store.registry.put(Cell(key="a", value=2), now=moment(0.9)), Conflict)
        await store.registry.put(Cell(key="a", value=2), now=moment(1))
        [cell] = await store.registry.get(["a"], now=moment(100))
        assert cell.value == 2

    @clause
    async def test_a_cell_that_has_expired_already_is_removed(self, store: Store) -> None:
        made = await _put(store, "a")
        await store.registry.put(replace(made, expires_at=NOW), now=NOW)
        assert await store.registry.get(["a"], now=NOW) == []
        await _put(store, "a", 2)
        await failure(_put(store, "b", version=made.version, expires_at=NOW), Conflict)

    @clause
    async def test_cells_are_listed_by_prefix_in_pages(self, store: Store) -> None:
        """In order of key, behind the last one seen; no character of a prefix is a pattern."""
        keys = [
            "a",
            "a\tb",
            "a%",
            "a%b",
            "a_",
            "aB",
            "ab",
            "ab\U0010ffff",
            "abc",
            "b",
            "é",
            "\U0010ffff",
        ]
        for key in reversed(keys):
            await _put(store, key)
        assert await _keys(store) == sorted(keys)
        assert await _keys(store, "ab") == ["ab", "abc", "ab\U0010ffff"]
        assert await _keys(store, "a%") == ["a%", "a%b"]
        assert await _keys(store, "a_") == ["a_"]
        assert await _keys(store, "\U0010ffff") == ["\U0010ffff"]
        assert await _keys(store, "nobody") == []
        seen: list[str] = []
        while page := await _keys(store, "a", after=seen[-1] if seen else "", limit=4):
            assert len(page) <= 4
            seen += page
        assert seen == [key for key in sorted(keys) if key.startswith("a")]
        assert await _keys(store, limit=0) == []

    @clause
    async def test_what_no_store_could_keep_is_refused(self, store: Store) -> None:
        for key in ("", "a\x00b", "\ud800"):
            await failure(_put(store, key), Invalid)
        for value in ({1, 2}, float("nan"), NOW):
            await failure(_put(store, "a", value), Invalid)
        assert await _keys(store) == []

    @clause
    async def test_L5_the_registry_is_no_part_of_any_root(self, store: Store) -> None:
        """Nothing of it is journalled, no root comes into being, no item is written."""
        for number in range(10):
            cell = await _put(store, f"{ROOT}\t{number}")
            await store.registry.put(replace(cell, value=2), now=NOW)
        assert await store.roots() == []
        assert await store.journal(ROOT) == []
        assert await put(store, make_item("a")) == 1
        await _put(store, "policy", 2)
        assert [item.key for item in await store.items(ROOT, None, now=NOW)] == ["a"]
        assert await store.due(moment(1000)) == []

    @clause
    async def test_X2_many_writers_lose_no_count(self, store: Store) -> None:
        await _put(store, "counter", 0)

        async def count_often() -> None:
            for _ in range(ROUNDS):
                await _count(store)

        await asyncio.gather(*(count_often() for _ in range(WRITERS)))
        [cell] = await store.registry.get(["counter"], now=NOW)
        assert cell.value == WRITERS * ROUNDS

    @clause
    async def test_X2_one_of_many_takes_a_free_cell(self, store: Store) -> None:
        async def take(who: int) -> bool:
            try:
                await _put(store, "lease", who, expires_at=moment(1))
            except Conflict:
                return False
            return True

        assert sum(await asyncio.gather(*map(take, range(WRITERS)))) == 1

    @clause
    async def test_X2_two_handles_share_one_registry(self, store: Store) -> None:
        """What one has written the other sees at once, and cannot overlook."""
        other = await second_handle(self, store)
        try:
            made = await _put(store, "a", "here")
            assert await other.registry.get(["a"], now=NOW) == [made]
            there = await other.registry.put(replace(made, value="there"), now=NOW)
            await failure(store.registry.put(replace(made, value="here"), now=NOW), Conflict)
            assert await store.registry.list("", now=NOW) == [there]
            await _put(store, "counter", 0)
            counts = [_count(handle) for handle in (store, other) for _ in range(10)]
            await asyncio.gather(*counts)
            [cell] = await other.registry.get(["counter"], now=NOW)
            assert cell.value == 20
        finally:
            await other.close()

    @clause
    async def test_X2_the_registry_outlives_its_process(self, store: Store) -> None:
        made = [await _put(store, key, key, expires_at=moment(9)) for key in "ab"]
        await store.close()
        again = await self.reopen(store)
        if again is None:
            await failure(store.registry.get(["a"], now=NOW), Unavailable)
            return
        try:
            assert await again.registry.list("", now=NOW) == made
            late = await again.registry.put(replace(made[0], value=2), now=NOW)
            assert late.version > max(cell.version for cell in made)
        finally:
            await again.close()

    @clause
    async def test_roots_are_unsettled_until_somebody_has_gone_through_them(
        self, store: Store
    ) -> None:
        """New ones first, then by how long they have waited; news unsettle whom asks for them."""
        for root in ("user:b", "user:a", "user:c"):
            await put(store, make_record(f"of {root}", scope=root))
        waiting = store.registry.unsettled
        assert await waiting(NOW, news=False) == ["user:a", "user:b", "user:c"]
        assert await waiting(NOW, news=False, limit=2) == ["user:a", "user:b"]
        for root, minutes in (("user:a", 30), ("user:b", 20), ("user:c", 10)):
            await store.registry.settle(root, seq=1, until=moment(minutes))
        assert await waiting(NOW, news=True) == []
        assert await waiting(moment(20), news=False) == ["user:c", "user:b"]
        await put(store, make_record("more", scope="user:a"))
        assert await waiting(moment(10), news=False) == ["user:c"]
        assert await waiting(moment(10), news=True) == ["user:c", "user:a"]
        await store.registry.settle("user:a", seq=1, until=moment(30))
        assert await waiting(NOW, news=True) == ["user:a"], "it has not seen the second entry"
        await store.registry.settle("user:a", seq=2, until=moment(30))
        assert await waiting(NOW, news=True) == []
        await put(store, root="user:b", used=("of user:b",))
        assert await waiting(NOW, news=True) == ["user:b"], "uses are news"
        await store.registry.settle("user:nobody", seq=1, until=moment(5))
        assert await waiting(moment(100), news=True) == ["user:c", "user:b", "user:a"]
