"""Keys: whose they are, how long they live, what they made, and what ends with them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from standfast import AsyncMemory, Denied, Invalid
from standfast.access import keys
from standfast.types import ALL_RIGHTS
from standfast.wiring.files import backup_store, restore_store

ANN = "user:ann"
NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


class Clock:
    now = NOW

    def __call__(self) -> datetime:
        return self.now


def play(scenario: Callable[[AsyncMemory, Clock], Awaitable[None]]) -> None:
    async def whole() -> None:
        clock = Clock()
        async with await AsyncMemory.open(
            "dict:", embedder="none", background=False, clock=clock
        ) as memory:
            await scenario(memory, clock)

    asyncio.run(whole())


def test_A10_a_key_lives_no_longer_than_the_one_it_was_made_with() -> None:
    async def scenario(memory: AsyncMemory, clock: Clock) -> None:
        soon = clock() + timedelta(hours=1)
        parent, secret = await keys.create_key(
            memory.engine, rights=sorted(ALL_RIGHTS), expires_at=soon
        )
        _, engine = await keys.with_key(memory.engine, secret)
        for until in (None, clock() + timedelta(days=9)):
            child, _ = await keys.create_key(engine, scopes=[ANN], expires_at=until)
            assert (child.expires_at, child.parent) == (soon, parent.id)
        shorter, _ = await keys.create_key(
            engine, scopes=[ANN], expires_at=clock() + timedelta(minutes=5)
        )
        assert shorter.expires_at == clock() + timedelta(minutes=5)

    play(scenario)


def test_A10_revoking_a_key_revokes_what_it_made_also_before_it_was_rotated() -> None:
    async def scenario(memory: AsyncMemory, _: Clock) -> None:
        async def made(engine: object, **options: object) -> tuple[str, str]:
            key, secret = await keys.create_key(engine, rights=sorted(ALL_RIGHTS), **options)  # type: ignore[arg-type]
            return key.id, secret

        top, top_secret = await made(memory.engine)
        _, engine = await keys.with_key(memory.engine, top_secret)
        _, child_secret = await made(engine)
        _, below = await keys.with_key(memory.engine, child_secret)
        _, grandchild_secret = await made(below)
        other, other_secret = await made(memory.engine)
        successor, successor_secret = await keys.rotate_key(memory.engine, top)
        await keys.revoke_key(memory.engine, successor.id)
        for secret in (child_secret, grandchild_secret, successor_secret):
            with pytest.raises(Denied):
                await keys.with_key(memory.engine, secret)
        assert (await keys.with_key(memory.engine, other_secret))[0].id == other
        await keys.with_key(memory.engine, top_secret)  # the old one has its overlap

    play(scenario)


def test_A10_rotation_overlaps_and_then_only_the_new_key_works() -> None:
    async def scenario(memory: AsyncMemory, clock: Clock) -> None:
        old, old_secret = await keys.create_key(
            memory.engine, name="phone", scopes=[ANN], holder="agent", addresses=["10.0.0.0/8"]
        )
        new, secret = await keys.rotate_key(memory.engine, old.id, overlap_hours=2)
        assert new.succeeds == old.id
        assert (new.name, new.scopes, new.rights, new.holder, new.addresses) == (
            old.name, old.scopes, old.rights, old.holder, old.addresses,
        )  # fmt: skip
        for one in (old_secret, secret):
            await keys.with_key(memory.engine, one)
        clock.now += timedelta(hours=2)
        await keys.with_key(memory.engine, secret)
        with pytest.raises(Denied):
            await keys.with_key(memory.engine, old_secret)
        with pytest.raises(Invalid, match="works no more"):
            await keys.rotate_key(memory.engine, old.id)
        for hours in (-1, 10**6, float("nan")):
            with pytest.raises(Invalid, match="overlap"):
                await keys.rotate_key(memory.engine, new.id, overlap_hours=hours)

    play(scenario)


def test_A10_a_key_works_from_its_addresses_only() -> None:
    async def scenario(memory: AsyncMemory, _: Clock) -> None:
        made = await keys.create_key(memory.engine, scopes=[ANN], addresses=["10.1.0.0/16", "::1"])
        for address in ("10.1.2.3", "::ffff:10.1.2.3", "::1"):
            await keys.with_key(memory.engine, made[1], address)
        for address in ("10.2.0.1", "example", "8.8.8.8"):
            with pytest.raises(Denied):
                await keys.with_key(memory.engine, made[1], address)
        for wrong in (["10.0.0.0/99"], ["here"], "here"):
            with pytest.raises(Invalid, match="address"):
                await keys.create_key(memory.engine, scopes=[ANN], addresses=wrong)

    play(scenario)


def test_A10_an_agents_key_makes_no_persons_key() -> None:
    async def scenario(memory: AsyncMemory, _: Clock) -> None:
        rights = ["read", "write", "admin"]
        _, secret = await keys.create_key(memory.engine, rights=rights, holder="agent")
        _, engine = await keys.with_key(memory.engine, secret)
        child, _ = await keys.create_key(engine, scopes=[ANN], holder="person")
        assert child.holder == "agent"
        with pytest.raises(Denied, match="review"):
            await keys.create_key(engine, scopes=[ANN], rights=["review"])

    play(scenario)


def test_A10_the_last_use_of_a_key_is_known() -> None:
    async def scenario(memory: AsyncMemory, clock: Clock) -> None:
        key, _ = await keys.create_key(memory.engine, scopes=[ANN])
        uses = keys.KeyUses(memory.engine)
        assert (await keys.list_keys(memory.engine))[0].last_used_at is None
        uses.note(key)
        await uses.flush()
        clock.now += timedelta(minutes=3)
        uses.note(key)
        await uses.flush()
        assert (await keys.list_keys(memory.engine))[0].last_used_at == clock()

    play(scenario)


def test_A10_a_key_for_two_users_is_asked_which_one_it_means() -> None:
    async def scenario(memory: AsyncMemory, _: Clock) -> None:
        _, secret = await keys.create_key(memory.engine, scopes=[ANN, "user:bob"])
        _, engine = await keys.with_key(memory.engine, secret)
        both = AsyncMemory(engine)
        for work in (
            lambda: both.remember("I like tea"),
            lambda: both.observe("s", "hello"),
            lambda: both.context(query="tea"),
            lambda: both.save_procedure("x", ["y"]),
        ):
            with pytest.raises(Invalid, match="X-Standfast-Device"):
                await work()
        await both.remember("I like tea", scope=ANN)

    play(scenario)


def test_A10_restoring_a_backup_revives_no_key_and_loses_no_device(tmp_path: Path) -> None:
    store, copy = str(tmp_path / "memory.db"), str(tmp_path / "copy.db")

    async def before() -> tuple[str, str]:
        async with await AsyncMemory.open(store, embedder="none", background=False) as memory:
            key, secret = await keys.create_key(memory.engine, scopes=[ANN])
            await keys.map_device(memory.engine, "kitchen", ANN)
            return key.id, secret

    async def since(id_: str) -> str:
        async with await AsyncMemory.open(store, embedder="none", background=False) as memory:
            await keys.revoke_key(memory.engine, id_)
            await keys.map_device(memory.engine, "kitchen", "user:eva")
            await keys.map_device(memory.engine, "hall", ANN)
            return (await keys.create_key(memory.engine, scopes=[ANN]))[1]

    async def after(old: str, new: str) -> None:
        async with await AsyncMemory.open(store, embedder="none", background=False) as memory:
            with pytest.raises(Denied):
                await keys.with_key(memory.engine, old)
            await keys.with_key(memory.engine, new)
            devices = {d.id: d.scope for d in await keys.list_devices(memory.engine)}
            assert devices == {"kitchen": "user:eva", "hall": ANN}

    id_, old = asyncio.run(before())
    backup_store(store, None, copy)
    new = asyncio.run(since(id_))
    receipt = asyncio.run(restore_store(store, None, copy))
    assert any("keys are as they were before" in note for note in receipt.notes)
    asyncio.run(after(old, new))


def test_A10_a_key_that_makes_keys_while_it_is_revoked_leaves_none_behind() -> None:
    """Whoever holds a stolen one makes another as soon as they are found out."""

    async def scenario(memory: AsyncMemory, _: Clock) -> None:
        stolen, secret = await keys.create_key(memory.engine, rights=sorted(ALL_RIGHTS))
        _, engine = await keys.with_key(memory.engine, secret)
        made: list[str] = []

        async def make(times: int) -> None:
            for _ in range(times):
                with suppress(Denied):
                    made.append((await keys.create_key(engine, scopes=[ANN]))[1])
                await asyncio.sleep(0)

        making = [asyncio.create_task(make(40)) for _ in range(3)]
        await asyncio.sleep(0)
        await keys.revoke_key(memory.engine, stolen.id)
        await asyncio.gather(*making)
        assert made, "nobody was quick"
        for one in made:
            with pytest.raises(Denied):
                await keys.with_key(memory.engine, one)

    play(scenario)


def test_A9_a_device_is_mapped_also_after_the_clock_was_wrong() -> None:
    async def scenario(memory: AsyncMemory, clock: Clock) -> None:
        clock.now = NOW + timedelta(days=400)
        async with keys._alone_with(memory.engine, "phone"):  # by who dies of it, say
            clock.now = NOW
            assert (await keys.map_device(memory.engine, "phone", ANN)).scope == ANN

    play(scenario)
