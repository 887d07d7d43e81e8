"""A server with others in it, whose memories must not change whatever is done here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from standfast.types import ALL_RIGHTS
from tests.serving import Served
from tests.tenancy import over_mcp
from tests.tenancy.comparing import leaks
from tests.tenancy.conftest import serving
from tests.tenancy.estates import Estate
from tests.tenancy.over_http import Http, said
from tests.tenancy.over_mcp import Mcp
from tests.tenancy.surfaces import Call, Said, Surface, call
from tests.tenancy.world import World, opened, state_of

BOB = "user:bob"
MISSING = "00000000-0000-7000-8000-000000000000"
# Others may recall what is theirs meanwhile, which is counted.
_USES = re.compile(rb'"uses":\d+,"used_at":[^,]+,')


class House:
    def __init__(self, world: World, server: Served) -> None:
        self.world = world
        self.server = server
        self.bob: Estate = world.others[BOB]
        self._clients: list[Surface] = []

    def http(self, *scopes: str, rights: Any = ALL_RIGHTS, **headers: str) -> Http:
        """Somebody with a key; without scopes it reaches all of them."""
        return self.open(Http(self.server.url, self.server.key(*scopes, rights=rights), **headers))

    def mcp(self, scope: str) -> Mcp:
        return self.open(over_mcp.over_http(self.server.url, self.server.key(scope)))

    def open(self, client: Any) -> Any:
        self._clients.append(client)
        return client

    def clean(self, told: Said, sent: Call | None = None) -> str:
        """What was told, and nothing of others in it."""
        assert not leaks(told, sent or call("nothing"), self.world.others), told.text[:3000]
        return told.text

    def close(self) -> None:
        for client in self._clients:
            client.close()


@contextmanager
def furnished(world: World) -> Iterator[House]:
    with opened(world.crowded) as owner:
        before = _without_uses(state_of(owner, world.others))
        with serving(world.crowded) as server:
            house = House(world, server)
            yield house
            house.close()
        assert _without_uses(state_of(owner, world.others)) == before


def _without_uses(lines: list[bytes]) -> list[bytes]:
    return [_USES.sub(b"", line) for line in lines]


def get(client: Http, path: str, **parameters: Any) -> Said:
    return said(client.client.get(path, params=parameters))
