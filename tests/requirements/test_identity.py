"""Keys: bound to scopes and rights, kept as a hash, and nothing beyond them can be seen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from standfast import AsyncMemory, Conflict, Denied, Invalid, NotFound
from standfast.access import keys as ids
from standfast.engine import Engine
from standfast.ports import Cell, cell_key
from tests.requirements.conftest import MovableClock

Run = Callable[[Callable[["Place"], Coroutine[Any, Any, None]]], None]


@dataclass
class Place:
    """An open store, its engine, and handles as the holders of keys have them."""

    memory: AsyncMemory
    engine: Engine

    async def holder(
        self, *scopes: str, rights: tuple[str, ...] = ("read", "write")
    ) -> AsyncMemory:
        _, secret = await ids.create_key(self.engine, scopes=scopes, rights=rights)
        return AsyncMemory((await ids.with_key(self.engine, secret))[1])


@pytest.fixture(params=["dict", "sqlite"])
def run(request: pytest.FixtureRequest, tmp_path: Path, clock: MovableClock) -> Run:
    address = "dict:" if request.param == "dict" else str(tmp_path / "memory.db")

    @asynccontextmanager
    async def opened() -> AsyncIterator[Place]:
        memory = await AsyncMemory.open(address, clock=clock, embedder="hashing", background=False)
        async with memory:
            yield Place(memory=memory, engine=memory._engine)

    def runs(scenario: Callable[[Place], Coroutine[Any, Any, None]]) -> None:
        async def whole() -> None:
            async with opened() as place:
                await scenario(place)

        asyncio.run(whole())

    return runs


def test_A10_a_key_is_random_and_only_its_hash_is_kept(run: Run, tmp_path: Path) -> None:
    async def scenario(place: Place) -> None:
        key, secret = await ids.create_key(place.engine, name="phone", scopes=["user:ann"])
        _, other = await ids.create_key(place.engine, scopes=["user:ann"])
        assert secret.startswith("rck_")
        assert len(secret) == 47
        assert secret != other
        assert secret not in repr(key)
        await place.memory.close()
        for file in tmp_path.iterdir():
            assert secret.encode() not in file.read_bytes()

    run(scenario)


def test_A10_a_key_reaches_its_scopes_and_nothing_else(run: Run) -> None:
    async def scenario(place: Place) -> None:
        foreign = (await place.memory.remember("Bob likes tea", scope="user:bob")).items[0].id
        ann = await place.holder("user:ann")
        await ann.remember("Ann likes coffee")
        assert [h.record.text for h in (await ann.recall("likes")).hits] == ["Ann likes coffee"]
        assert await ann.get([foreign]) == ()
        for call in (
            ann.remember("x", scope="user:bob"),
            ann.recall("tea", scope="user:bob"),
            ann.recall("tea", scope=["user:ann", "user:bob"]),
            ann.context(query="tea", scope="user:bob"),
            ann.observe("chat", "hi", scope="user:annika"),
            ann.set_policy("user:bob", persist=False),
        ):
            with pytest.raises(Denied):
                await call
        for missing in (foreign, "no-such-id"):
            with pytest.raises(NotFound) as told:
                await ann.history(missing)
            assert str(told.value) == f"there is no record {missing!r}"

    run(scenario)


def test_A10_several_scopes_of_several_roots(run: Run) -> None:
    async def scenario(place: Place) -> None:
        both = await place.holder("user:ann", "org:acme:agent:cto")
        await place.memory.remember("Acme sells anvils", scope="org:acme")
        await place.memory.remember("The ceo likes golf", scope="org:acme:agent:ceo")
        await both.remember("Ann likes tea", scope="user:ann")
        await both.remember("The cto likes Rust", scope="org:acme:agent:cto")
        found = {h.record.text for h in (await both.recall("likes sells", limit=9)).hits}
        assert found == {"Ann likes tea", "The cto likes Rust", "Acme sells anvils"}
        with pytest.raises(Denied):
            await both.recall("likes", scope="org:acme", descend=True)
        with pytest.raises(Denied):
            await both.remember("Acme sells nothing", scope="org:acme")

    run(scenario)


VERBS: dict[str, tuple[str, Callable[[AsyncMemory], Coroutine[Any, Any, Any]]]] = {
    "recall": ("read", lambda m: m.recall("x")),
    "context": ("read", lambda m: m.context(query="x")),
    "get": ("read", lambda m: m.get(["x"])),
    "remember": ("write", lambda m: m.remember("x")),
    "observe": ("write", lambda m: m.observe("chat", "x")),
    "undo": ("write", lambda m: m.undo("x")),
    "forget": ("erase", lambda m: m.forget(ids=["x"])),
    "maintain": ("admin", lambda m: m.maintain()),
}


@pytest.mark.parametrize("verb", VERBS)
def test_A10_a_verb_needs_its_right(run: Run, verb: str) -> None:
    needed, call = VERBS[verb]

    async def scenario(place: Place) -> None:
        every = ("read", "write", "erase", "admin")
        without = await place.holder("user:ann", rights=tuple(r for r in every if r != needed))
        with pytest.raises(Denied, match=f"the right to {needed}"):
            await call(without)
        allowed = await place.holder("user:ann", rights=(needed,))
        with suppress(NotFound):  # allowed, and there is nothing of that name
            await call(allowed)

    run(scenario)


def test_A10_only_an_admin_of_everything_moves_the_whole_store(run: Run) -> None:
    async def scenario(place: Place) -> None:
        bound = await place.holder("user:ann", rights=("read", "write", "erase", "admin"))
        with pytest.raises(Denied, match="bound to no scope"):
            await bound.reembed()
        _, secret = await ids.create_key(place.engine, rights=("read", "admin"))
        await AsyncMemory((await ids.with_key(place.engine, secret))[1]).reembed()

    run(scenario)


def test_A10_every_verb_needs_a_right() -> None:
    free = {"open", "close", "narrowed"}
    verbs = {n for n, v in vars(AsyncMemory).items() if not n.startswith("_") and callable(v)}
    unguarded = {n for n in verbs - free if not hasattr(getattr(AsyncMemory, n), "__wrapped__")}
    assert unguarded == set()


def test_A10_keys_expire_and_can_be_revoked(run: Run, clock: MovableClock) -> None:
    async def scenario(place: Place) -> None:
        until = clock.now + timedelta(hours=1)
        key, secret = await ids.create_key(place.engine, scopes=["user:ann"], expires_at=until)
        await ids.with_key(place.engine, secret)
        clock.forward(hours=2)
        with pytest.raises(Denied) as expired:
            await ids.with_key(place.engine, secret)
        _, second = await ids.create_key(place.engine, scopes=["user:ann"])
        assert await ids.any_key_works(place.engine)
        (newest,) = [k for k in await ids.list_keys(place.engine) if k.id != key.id]
        assert (await ids.revoke_key(place.engine, newest.id)).revoked_at == clock.now
        assert (await ids.revoke_key(place.engine, newest.id)).revoked_at == clock.now
        with pytest.raises(Denied) as revoked:
            await ids.with_key(place.engine, second)
        with pytest.raises(Denied) as unknown:
            await ids.with_key(place.engine, "rck_" + "A" * 43)
        assert str(expired.value) == str(revoked.value) == str(unknown.value)
        assert not await ids.any_key_works(place.engine)

    run(scenario)


@pytest.mark.parametrize("secret", ["", "rck_", "rck_short", "Bearer x", "rck_" + "é" * 43])
def test_A10_what_is_no_key_is_denied(run: Run, secret: str) -> None:
    async def scenario(place: Place) -> None:
        with pytest.raises(Denied):
            await ids.with_key(place.engine, secret)

    run(scenario)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"scopes": []}, "needs a scope"),
        ({"scopes": ["ann"]}, "kind:id"),
        ({"scopes": ["user:ann"], "rights": []}, "at least one right"),
        ({"scopes": ["user:ann"], "rights": ["fly"]}, "right"),
        ({"scopes": ["user:ann"], "expires_at": "2020-01-01T00:00:00Z"}, "has passed"),
        ({"scopes": ["system:store"]}, "reserved"),
    ],
)
def test_A10_a_key_that_makes_no_sense_is_refused(
    run: Run, options: dict[str, Any], said: str
) -> None:
    async def scenario(place: Place) -> None:
        with pytest.raises(Invalid, match=said):
            await ids.create_key(place.engine, **options)
        assert await ids.list_keys(place.engine) == ()

    run(scenario)


def test_A10_an_admin_of_one_scope_makes_and_sees_only_keys_below_it(run: Run) -> None:
    async def scenario(place: Place) -> None:
        await ids.create_key(place.engine, scopes=["user:bob"])
        every = ("read", "write", "erase", "admin")
        _, secret = await ids.create_key(place.engine, scopes=["org:acme"], rights=every)
        _, acme = await ids.with_key(place.engine, secret)
        with pytest.raises(Denied):
            await ids.create_key(acme, scopes=["user:bob"])
        await ids.create_key(acme, scopes=["org:acme:agent:cto"])
        everything, _ = await ids.create_key(acme, rights=["admin"])
        assert everything.scopes == ("org:acme",)
        scopes = {key.scopes for key in await ids.list_keys(acme)}
        assert scopes == {("org:acme",), ("org:acme:agent:cto",)}
        bobs = next(k for k in await ids.list_keys(place.engine) if k.scopes == ("user:bob",))
        with pytest.raises(NotFound):
            await ids.revoke_key(acme, bobs.id)

    run(scenario)


def test_A10_a_device_speaks_for_its_user(run: Run) -> None:
    async def scenario(place: Place) -> None:
        await ids.map_device(place.engine, "kitchen", "user:ann")
        assert await ids.scope_of_device(place.engine, "kitchen") == "user:ann"
        await ids.map_device(place.engine, "kitchen", "user:eva")
        assert await ids.scope_of_device(place.engine, "kitchen") == "user:eva"
        bob = (await place.holder("user:bob", rights=("read", "admin")))._engine
        for device in ("kitchen", "nobody's"):
            with pytest.raises(NotFound):
                await ids.scope_of_device(bob, device)
        assert await ids.list_devices(bob) == ()
        assert [d.id for d in await ids.list_devices(place.engine)] == ["kitchen"]

    run(scenario)


def test_A10_a_devices_name_is_one_of_its_tenant(run: Run) -> None:
    """Who maps a name that another tenant uses learns nothing, and takes nothing."""

    async def scenario(place: Place) -> None:
        await ids.map_device(place.engine, "kitchen", "user:eva")
        bob = (await place.holder("user:bob", rights=("read", "admin")))._engine
        taken = await ids.map_device(bob, "kitchen", "user:bob")
        free = await ids.map_device(bob, "garage", "user:bob")
        assert (taken.scope, free.scope) == ("user:bob", "user:bob")
        assert await ids.scope_of_device(bob, "kitchen") == "user:bob"
        eva = (await place.holder("user:eva", rights=("read", "admin")))._engine
        assert await ids.scope_of_device(eva, "kitchen") == "user:eva"
        with pytest.raises(Invalid, match="several roots"):
            await ids.scope_of_device(place.engine, "kitchen")
        below = (await place.holder("user:eva:agent:cto", rights=("read", "admin")))._engine
        with pytest.raises(Denied):  # inside of one tenant a name is one name
            await ids.map_device(below, "kitchen", "user:eva:agent:cto")
        await ids.map_device(place.engine, "kitchen", "user:cleo")  # who may see all moves it
        assert await ids.scope_of_device(place.engine, "kitchen") == "user:cleo"

    run(scenario)


def test_A10_a_device_that_an_older_program_mapped_is_known(run: Run) -> None:
    async def scenario(place: Place) -> None:
        old = Cell(key=cell_key("device", "kitchen"), value={"scope": "user:ann", "mapped_by": ""})
        await place.engine.store.registry.put(old, now=place.engine.now())
        ann = (await place.holder("user:ann", rights=("read", "admin")))._engine
        bob = (await place.holder("user:bob", rights=("read", "admin")))._engine
        assert await ids.scope_of_device(ann, "kitchen") == "user:ann"
        with pytest.raises(NotFound):
            await ids.scope_of_device(bob, "kitchen")
        await ids.map_device(ann, "kitchen", "user:ann:agent:cook")
        assert await ids.scope_of_device(ann, "kitchen") == "user:ann:agent:cook"
        assert len(await ids.list_devices(place.engine)) == 1

    run(scenario)


def test_A10_a_narrow_handle_cannot_undo_what_reached_beyond_it(run: Run) -> None:
    async def scenario(place: Place) -> None:
        above = await place.memory.remember("Acme sells anvils", scope="org:acme")
        cto = await place.holder("org:acme:agent:cto")
        with pytest.raises(Denied):
            await cto.undo(above.change)
        mine = await cto.remember("The cto likes Rust")
        await cto.undo(mine.change)

    run(scenario)


def test_A10_history_of_a_root_shows_only_what_the_handle_may_see(run: Run) -> None:
    async def scenario(place: Place) -> None:
        await place.memory.remember("The ceo likes golf", scope="org:acme:agent:ceo")
        await place.memory.remember("Acme sells anvils", scope="org:acme")
        cto = await place.holder("org:acme:agent:cto")
        await cto.remember("The cto likes Rust")
        scopes = {t.scope for entry in await cto.history() for t in entry.touched}
        assert scopes == {"org:acme", "org:acme:agent:cto"}

    run(scenario)


def test_A10_two_at_once_do_not_overwrite_one_another(run: Run) -> None:
    async def scenario(place: Place) -> None:
        await ids.map_device(place.engine, "kitchen", "user:ann")
        for name in ("kitchen", "attic"):  # one that is moved, and one that nobody has mapped
            results = await asyncio.gather(
                *(ids.map_device(place.engine, name, f"user:u{n}") for n in range(4)),
                return_exceptions=True,
            )
            worked = [r for r in results if isinstance(r, ids.Device)]
            assert worked
            assert all(isinstance(r, ids.Device | Conflict) for r in results)
            owner = await ids.scope_of_device(place.engine, name)
            assert owner in {device.scope for device in worked}

    run(scenario)
