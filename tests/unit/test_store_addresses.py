"""Which store an address names, and what is said if there is none."""

import re
import sys
import tomllib
from importlib import metadata
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from standfast import Memory
from standfast.errors import Incompatible, Invalid, install_command
from standfast.stores.dict import DictStore
from standfast.wiring import stores

PROJECT = Path(__file__).parents[2]


@pytest.fixture
def brought(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Stores that other packages bring: scheme -> place."""
    found: dict[str, str] = {}

    def entry_points(*, group: str) -> list[EntryPoint]:
        assert group == "standfast.stores"
        return [EntryPoint(name, place, group) for name, place in found.items()]

    monkeypatch.setattr(stores, "entry_points", entry_points)
    return found


async def open_mine(address: str, *, cache_bytes: int) -> DictStore:
    assert (address, cache_bytes > 0) == ("mine://somewhere/else", True)
    return DictStore()


def test_the_built_in_stores_are_registered_like_any_other() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"][stores.GROUP] == stores.BUILT_IN
    assert set(stores.EXTRAS.values()) <= set(project["optional-dependencies"])


@pytest.mark.parametrize(
    ("address", "scheme"),
    [
        ("memory.db", "sqlite"),
        ("/data/some:where/memory.db", "sqlite"),
        ("sqlite:///data/memory.db", "sqlite"),
        ("sqlite:memory.db", "sqlite"),
        ("dict:", "dict"),
        ("mine://somewhere", "mine"),
    ],
)
def test_an_address_names_a_store(address: str, scheme: str, brought: dict[str, str]) -> None:
    brought["mine"] = f"{__name__}:open_mine"
    assert stores.scheme_of(address) == scheme


@pytest.mark.parametrize("address", ["dict", ":memory:", "sqlite::memory:", "sqlite://:memory:"])
def test_a_store_in_memory_only_is_not_taken_for_a_file(address: str) -> None:
    with pytest.raises(Invalid, match="write dict:"):
        Memory.open(address, embedder="none", background=False)


def test_a_store_of_another_package_is_opened(
    brought: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    brought["mine"] = "stores_of_mine:open_mine"
    monkeypatch.setitem(sys.modules, "stores_of_mine", sys.modules[__name__])
    with Memory.open("mine://somewhere/else", embedder="none", background=False) as memory:
        memory.remember("Ann has a cat", scope="user:ann")
        assert [hit.record.text for hit in memory.recall("cat", scope="user:ann").hits]


def test_an_unknown_store_is_told_which_there_are(brought: dict[str, str]) -> None:
    brought["mine"] = "my_package:open_mine"
    with pytest.raises(Invalid, match=r"unknown store 'thing://x'.*dict, mine, sqlite") as error:
        stores.scheme_of("thing://x")
    assert "\n" not in str(error.value)


def test_what_is_missing_is_told_with_how_to_get_it(
    brought: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    brought["mine"] = "a_package_that_nobody_has:open_mine"
    with pytest.raises(Incompatible, match=r"needs a_package_that_nobody_has.*pip install"):
        stores.factory_of("mine")
    monkeypatch.setitem(stores.BUILT_IN, "redis", "a_driver_that_nobody_has.store:open_address")
    with pytest.raises(Incompatible, match=re.escape(install_command("redis"))):
        stores.factory_of("redis")
    brought["broken"] = "standfast.stores.dict:no_such_thing"
    with pytest.raises(Incompatible, match="the broken store cannot be opened"):
        stores.factory_of("broken")


def test_a_path_asks_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading what is installed takes longer than opening a file."""

    def never(**_: str) -> list[EntryPoint]:
        raise AssertionError("nobody has to look")

    monkeypatch.setattr(stores, "entry_points", never)
    assert metadata.entry_points is not never
    assert stores.factory_of(stores.scheme_of("memory.db"))
    assert stores.factory_of(stores.scheme_of("dict:"))
