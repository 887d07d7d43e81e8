"""A10: keys that do not work, rights, and whose keys and devices can be seen."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta

import pytest

from standfast import Memory
from standfast.access import keys
from standfast.engine import Engine
from standfast.types import ALL_RIGHTS, Right
from tests.tenancy import over_mcp
from tests.tenancy.crafting import file_of
from tests.tenancy.houses import BOB, MISSING, House, furnished, get
from tests.tenancy.over_http import Http, said
from tests.tenancy.surfaces import Call, Library, Surface, call
from tests.tenancy.world import ANN, World, opened


@pytest.fixture(scope="module")
def house(built: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with furnished(built.copied(tmp_path_factory.mktemp("house"))) as found:
        yield found


# Keys that do not work


def test_A10_expired_and_revoked_keys_are_like_unknown_ones(house: House) -> None:
    async def made(engine: Engine) -> list[str]:
        soon = engine.now() + timedelta(milliseconds=30)
        _, expiring = await keys.create_key(engine, scopes=[BOB], expires_at=soon)
        revoked, secret = await keys.create_key(engine, scopes=[BOB])
        await keys.revoke_key(engine, revoked.id)
        return [expiring, secret, "rck_" + "A" * 43]

    secrets = house.server.run(made)
    time.sleep(0.05)
    told = set()
    for secret in secrets:
        client = Http(house.server.url, secret)
        for path in ("/v1/records", "/v1/stats", f"/v1/records/{house.bob.ids['fact']}", "/mcp"):
            answer = client.client.get(path)
            assert answer.status_code == 401
            told.add(house.clean(said(answer)))
        client.close()
    assert len(told) == 1


# Rights, on every surface that has keys

NEEDED: list[tuple[Call, Right]] = [
    (call("recall", query="vault"), "read"),
    (call("export_to"), "export"),
    (call("history"), "read"),
    (call("context", query="vault"), "read"),
    (call("remember", text="Ann was here"), "write"),
    (call("observe", session="s", messages=["x"]), "write"),
    (call("undo", change=MISSING), "write"),
    (call("resolve", id=MISSING, action="approve"), "review"),
    (call("import_from", lines=file_of(scopes=(ANN,))), "import"),
    (call("forget", ids=[MISSING]), "erase"),
    (call("maintain"), "admin"),
]


@pytest.mark.parametrize("surface", ["library", "client", "http", "mcp"])
def test_A10_a_right_that_is_missing_is_missing_everywhere(house: House, surface: str) -> None:
    for right in sorted(ALL_RIGHTS):
        others = sorted(ALL_RIGHTS - {right})
        without = _surface(house, surface, others)
        for asked, needed in NEEDED:
            if needed == right and not (surface == "mcp" and over_mcp.lacks(asked)):
                told = without.ask(asked)
                assert not told.ok, f"{asked} without {right}"
                assert f"the right to {right}" in told.text
        without.close()


def _surface(house: House, name: str, rights: list[Right]) -> Surface:
    if name == "http":
        return Http(house.server.url, house.server.key(ANN, rights=rights))
    if name == "mcp":
        return over_mcp.over_http(house.server.url, house.server.key(ANN, rights=rights))
    if name == "client":
        key = house.server.key(ANN, rights=rights)
        return Library(Memory.connect(house.server.url, key))
    memory = opened(house.world.crowded)
    memory._memory._engine = memory._memory._engine.narrowed((ANN,), rights)
    return Library(memory)


def test_A10_keys_and_devices_are_an_admins_and_of_his_scopes_only(house: House) -> None:
    plain = house.http(ANN, rights=("read", "write", "erase"))
    for verb in ("keys", "devices"):
        assert get(plain, f"/v1/{verb}").text.startswith("403")
    part = house.http(ANN)
    house.http(BOB)
    for verb in ("keys", "devices"):
        listed = get(part, f"/v1/{verb}")
        assert listed.ok
        assert BOB not in house.clean(listed)
    bobs = house.server.run(keys.list_keys)
    foreign = next(key.id for key in bobs if key.scopes == (BOB,))
    told = said(part.client.delete(f"/v1/keys/{foreign}"))
    missing = said(part.client.delete(f"/v1/keys/{'0' * len(foreign)}"))
    assert told.text.replace(foreign, "0" * len(foreign)) == missing.text
    for body in ({"scopes": [BOB]}, {"scopes": ["user:anna"]}, {"scopes": [ANN, BOB]}):
        assert part.client.post("/v1/keys", json=body).status_code == 403
    theirs = {"device": house.bob.ids["device"], "scope": BOB}
    assert part.client.put("/v1/devices", json=theirs).status_code == 403


def test_A10_a_device_of_the_same_name_tells_and_takes_nothing(house: House) -> None:
    """A name that another tenant uses was once refused with 403, which told that they use it. Now
    each root has its own names: the answer is that for a free one, and theirs stays as it is."""
    ann, bob = house.http(ANN), house.http(BOB)
    both, free = "device of both000x", "device of nobody1x"  # not one that other tests ask for
    assert bob.client.put("/v1/devices", json={"device": both, "scope": BOB}).is_success
    before = bob.client.get("/v1/devices").json()
    told = set()
    for device in (both, free):
        answer = said(ann.client.put("/v1/devices", json={"device": device, "scope": ANN}))
        assert answer.text.startswith("200")
        told.add(house.clean(answer).replace(device, "DEVICE"))
    assert len(told) == 1
    assert {"id": both, "scope": BOB} in before["devices"]
    assert bob.client.get("/v1/devices").json() == before
    heard = house.http(BOB, **{"X-Standfast-Device": both})
    assert get(heard, "/v1/records", scope=BOB).ok
    assert get(house.http(ANN, **{"X-Standfast-Device": both}), "/v1/records", scope=ANN).ok


def test_A10_somebody_elses_device_is_like_one_that_never_was(house: House) -> None:
    told = []
    for device in (house.bob.ids["device"], "device of nobody00x"):
        client = house.http(ANN, **{"X-Standfast-Device": device})
        for path in ("/v1/records", "/v1/stats"):
            told.append(get(client, path).text.replace(device, "DEVICE"))
    assert len(set(told)) == 1
    assert told[0].startswith("404")
    every = house.http(**{"X-Standfast-Device": house.world.own[ANN].ids["device"]})
    house.clean(get(every, "/v1/records", limit=500))  # an admin, narrowed to Ann
    assert get(every, "/v1/records", scope=BOB).text.startswith("403")
