"""Who may know whom, where layers alone do not say it."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from tests.architecture.source import (
    imported_names,
    is_part_of,
    modules,
    referenced_names,
)

# A store or provider knows the contract and nothing of the engine, so anybody can write one.
KNOWN_AT_THE_EDGE = (
    "compat",
    "types",
    "errors",
    "ports",
    "scopes",
    "text",
    "index",
)

# External package -> the only modules that may import it.
HOMES: dict[str, tuple[str, ...]] = {
    "apsw": (
        "stores.sqlite",
        "adapters.importers.databases",  # these read others' files
        "adapters.importers.database_copies",
    ),
    "psycopg": ("stores.postgres",),
    "redis": ("stores.redis",),
    "surrealdb": ("stores.surreal",),
    "sqlite3": (),  # the standard library's SQLite may be too old to be safe
    "numpy": (
        "stores",
        "models.local",
        "models.providers",
        "index",
        "rank",
        "understanding.reading",
        "understanding.judging",
    ),
    "simsimd": ("stores", "models.providers", "index"),
    "Stemmer": ("text.analysis",),
    "yaml": ("interfaces.markdown",),
    "fastapi": ("interfaces.http",),
    "slack_bolt": ("interfaces.slack",),
    "slack_sdk": ("interfaces.slack",),
    "aiohttp": ("interfaces.slack",),
    "starlette": ("interfaces",),
    "uvicorn": ("interfaces.http", "adapters.proxy"),
    "mcp": ("interfaces.mcp",),
    "mcp_types": ("interfaces.mcp",),
    "onnx": ("models.providers.minilm",),
    "onnxruntime": ("models.local",),
    "safetensors": ("models.providers.minilm",),
    "tokenizers": ("models.local",),
    "pydantic_ai": ("models.providers.llm", "adapters.pydantic_ai"),
    "argparse": ("interfaces", "__main__"),
    "pydantic": ("interfaces", "models.providers", "adapters.llama_index"),
    "genai_prices": ("models.providers.llm.prices",),
    "httpx2": (
        "models.providers.llm",
        "models.providers.embedding",
        "interfaces.client",
        "adapters.proxy",
    ),
}


def found(wrong: Callable[[str, str], bool], *, references: bool = False) -> list[str]:
    """ "module:line name" of every import (or mention) that is wrong."""
    look = referenced_names if references else imported_names
    return [
        f"{module or 'standfast'}:{line} {name}"
        for module, path in modules().items()
        for line, name in look(path)
        if wrong(module, name)
    ]


@pytest.mark.parametrize("edge", ["stores", "models.providers"])
def test_stores_and_providers_know_only_the_contract(edge: str) -> None:
    def wrong(module: str, name: str) -> bool:
        if not is_part_of(module, edge) or not is_part_of(name, "standfast"):
            return False
        inside = name.removeprefix("standfast").removeprefix(".")
        return not is_part_of(inside, edge, "models.local", *KNOWN_AT_THE_EDGE)

    assert found(wrong) == []


@pytest.mark.parametrize("package", HOMES)
def test_an_outside_package_is_imported_only_in_its_home(package: str) -> None:
    def wrong(module: str, name: str) -> bool:
        return is_part_of(name, package) and not is_part_of(module, *HOMES[package])

    assert found(wrong) == []


@pytest.mark.parametrize(
    "room",
    [
        "index",
        "stores.commit",
        "stores.batches",
        "stores.touches",
        "stores.rows",
        "stores.prepared",
        "stores.findable",
    ],
)
def test_what_every_store_shares_knows_no_driver(room: str) -> None:
    """The index and the meaning of a commit: arrays and plain values, whatever the engine."""

    def wrong(module: str, name: str) -> bool:
        top = name.split(".")[0]
        ours = is_part_of(name, "standfast") and not is_part_of(name, "standfast.stores.sqlite")
        known = top in sys.stdlib_module_names or top in ("numpy", "simsimd")
        return is_part_of(module, room) and not (ours or known)

    assert found(wrong) == []
    assert any(is_part_of(module, room) for module in modules())


READS_THE_ENVIRONMENT = {
    "wiring": "it builds the settings",
    "interfaces.cli.output": "NO_COLOR, which belongs to the terminal and not to us",
    "interfaces.hooks.client": "it is a program of its own, run without the package around it",
}


def test_only_the_wiring_reads_the_environment() -> None:
    environment = ("os.environ", "os.environb", "os.getenv", "os.getenvb")

    def wrong(module: str, name: str) -> bool:
        return is_part_of(name, *environment) and not is_part_of(module, *READS_THE_ENVIRONMENT)

    assert found(wrong, references=True) == []


def test_only_the_command_line_reads_its_arguments() -> None:
    def wrong(module: str, name: str) -> bool:
        programs = ("interfaces.cli", "interfaces.hooks.client", "__main__")
        return is_part_of(name, "sys.argv") and not is_part_of(module, *programs)

    assert found(wrong, references=True) == []


# The same inputs must give the same result: time, ids and chance are handed in.
CHANCE = (
    "datetime.datetime.now",
    "datetime.datetime.utcnow",
    "datetime.datetime.today",
    "datetime.date.today",
    "time.time",
    "time.time_ns",
    "uuid.uuid1",
    "uuid.uuid4",
    "uuid.uuid6",
    "uuid.uuid7",
    "os.urandom",
    "secrets",
    "random",
)
SEEDED = ("random.Random",)
MAY_ASK_THE_WORLD = ("wiring", "models.providers", "interfaces", "adapters")
# (module, source of chance) -> why nothing that a caller sees depends on it.
HARMLESS = {
    ("changes", "random"): "how long a writer waits that others have overtaken",
    ("access.spool", "os"): "the key of a temporary file, which nobody else ever sees",
    ("stores.sqlite.migrate", "time"): "when a migration ran: for people, nothing depends on it",
    ("stores.keyspace.rewrite", "secrets"): "so that no two writers write the same header",
    ("stores.keyspace.store", "random"): "how long a writer waits that others have overtaken",
    ("stores.redis.engine", "time"): "how long ago somebody asked for an id",
    ("stores.surreal.engine", "time"): "how long ago somebody asked for an id",
}


def test_the_core_asks_no_clock_and_throws_no_dice() -> None:
    def wrong(module: str, name: str) -> bool:
        if is_part_of(module, *MAY_ASK_THE_WORLD) or is_part_of(name, *SEEDED):
            return False
        if (module, name.partition(".")[0]) in HARMLESS:
            return False
        return name != "random" and is_part_of(name, *CHANCE)

    assert found(wrong, references=True) == []


def test_the_exceptions_are_needed() -> None:
    mentions = {
        (module, name.partition(".")[0])
        for module, path in modules().items()
        for _, name in referenced_names(path)
        if name != "time" and is_part_of(name, *CHANCE)
    }
    assert set(HARMLESS) <= mentions, "these are gone: take them off the list"


def test_the_checks_see_the_imports() -> None:
    seen = found(lambda module, name: (module, name) == ("text.analysis", "Stemmer"))
    assert seen, "text/analysis.py imports Stemmer; a reader that misses it misses everything"
