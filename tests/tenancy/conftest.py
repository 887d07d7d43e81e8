"""One world for all tests; each surface gets copies of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from standfast import Memory
from standfast.access.codes import make_code
from standfast.settings import Settings
from tests.conftest import PROVING
from tests.serving import Served, served
from tests.tenancy import over_mcp
from tests.tenancy.attacks import Attacker
from tests.tenancy.over_cli import Cli
from tests.tenancy.over_http import Http
from tests.tenancy.surfaces import Library, Surface
from tests.tenancy.world import World, build, opened, state_of

# At how many others each surface aims when all is proved: at all where the verbs and their words
# are, at some where the same is behind another first step.
VICTIMS = {"library": 99, "http": 99, "mcp http": 99, "mcp stdio": 4, "cli": 4, "client": 4,
           "console": 4}  # fmt: skip
SURFACES = tuple(VICTIMS)
NO_LIMIT = {"settings": Settings(rate=0, mcp_rights="review")}


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> World:
    return build(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="session")
def others_state(built: World) -> list[bytes]:
    """Everything that others have, before anybody has attacked them."""
    with opened(built.crowded) as memory:
        return state_of(memory, built.others)


@dataclass
class Pair:
    """The same surface for the same person, beside others and alone."""

    attacker: Attacker
    crowded: Surface
    empty: Surface
    owner: Memory  # sees everything beside others
    bound: bool  # has the surface a key, or another bound?

    @property
    def world(self) -> World:
        return self.attacker.world


@contextmanager
def paired(world: World, folder: Path, surface: str, scope: str) -> Iterator[Pair]:
    copies = world.copied(folder)
    spare = list(world.spare.get(scope, ()))
    victims = VICTIMS[surface] if PROVING else 1
    with ExitStack() as stack:
        begun = []
        for file in (copies.crowded, copies.empty):
            begun.append(stack.enter_context(surface_on(file, surface, scope)))
        owner = stack.enter_context(opened(copies.crowded))
        yield Pair(Attacker(scope, copies, spare, victims), *begun, owner, surface != "cli")


@contextmanager
def surface_on(file: Path, surface: str, scope: str) -> Iterator[Surface]:
    with ExitStack() as stack:
        if surface in ("http", "mcp http", "client", "console"):
            server = stack.enter_context(serving(file))
            connected = _connected(surface, server, scope)
        else:
            connected = _apart(surface, file, scope)
        stack.callback(connected.close)
        yield connected


@contextmanager
def serving(file: Path) -> Iterator[Served]:
    with served(str(file), app=NO_LIMIT) as server:
        yield server


def _connected(surface: str, server: Served, scope: str) -> Surface:
    key = server.key(scope)
    if surface == "console":
        return _logged_in(server, scope)
    if surface == "http":
        return Http(server.url, key)
    if surface == "client":
        return Library(Memory.connect(server.url, key))
    return over_mcp.over_http(server.url, key)


def _logged_in(server: Served, scope: str) -> Surface:
    """As the console in a browser: half of the key is in the page, half in a cookie."""
    code = server.run(lambda engine: make_code(engine, scopes=(scope,)))
    browser = Http(server.url, "none")
    del browser.client.headers["Authorization"]
    made = browser.client.post("/v1/login", json={"code": code})
    assert made.status_code == 201, made.text
    browser.client.headers["Authorization"] = f"Bearer {made.json()['key']}"
    return browser


def _apart(surface: str, file: Path, scope: str) -> Surface:
    if surface == "cli":
        return Cli(file, apart=5 if PROVING else 0)
    if surface == "mcp stdio":
        return over_mcp.over_stdio(file, scope)
    return Library(opened(file, scope))


Pairs = Callable[[str, str], Pair]


@pytest.fixture(scope="module")
def pairs(built: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pairs]:
    """A pair for a surface and a scope, made when it is asked for first."""
    made: dict[tuple[str, str], Pair] = {}
    with ExitStack() as stack:

        def pair(surface: str, scope: str) -> Pair:
            if (surface, scope) not in made:
                folder = tmp_path_factory.mktemp("pair")
                made[surface, scope] = stack.enter_context(paired(built, folder, surface, scope))
            return made[surface, scope]

        yield pair
