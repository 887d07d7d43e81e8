"""What every test gets: a home of its own, a quiet environment, and no slow proofs by default."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests import postgres, servers

# Before anything imports it: the clauses that ship are tests too, and say what differed.
pytest.register_assert_rewrite("standfast.testing")

PROVING = bool(os.environ.get("STANDFAST_PROOF"))

# Wall-clock deadlines fail on a busy machine and say nothing about the code. `make test` tries the
# same examples every time, so that it fails only for a change; `make test-long` looks for new ones.
settings.register_profile("standfast", deadline=None, print_blob=True, derandomize=not PROVING)
settings.load_profile("standfast")

# Variables that choose a store, a profile or a service; a developer's own must not leak in.
_STRAY = (
    "OTTO_MEMORY_DB",
    "LOCAL_STORAGE_PATH",
    "COMPACTION_THRESHOLD",
    "MAX_RECENT_MESSAGES",
    "REDIS_URL",
    "OLLAMA_URL",
)
_STRAY_PREFIXES = ("STANDFAST_", "AGTOS_")
_FOLDERS = {
    "HOME": "home",
    "XDG_DATA_HOME": "data",
    "XDG_CONFIG_HOME": "config",
    "XDG_CACHE_HOME": "cache",
    "XDG_STATE_HOME": "state",
}


def pytest_configure(config: pytest.Config) -> None:
    servers.begin_run(worker=hasattr(config, "workerinput"))


def pytest_unconfigure(config: pytest.Config) -> None:
    postgres.let_go()
    if not hasattr(config, "workerinput"):
        servers.end_run()


@pytest.fixture(autouse=True, scope="session")
def private_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test reads or writes the home, the default store or the settings of whoever runs it."""
    base = tmp_path_factory.mktemp("environment")
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name in _STRAY or name.startswith(_STRAY_PREFIXES):
                patch.delenv(name)
        for name, folder in _FOLDERS.items():
            (base / folder).mkdir()
            patch.setenv(name, str(base / folder))
        # What a test wants of the model in the box, it asks for: loading it takes a second.
        patch.setenv("STANDFAST_LOCAL_MODEL", "hashing")
        # Most tests are about what follows from a judgment, not about the network that judges.
        from standfast.testing.judge import WordJudge

        patch.setattr("standfast.wiring._judge", lambda _: (WordJudge(), ""))
        yield


@pytest.fixture(autouse=True, scope="session")
def scripted_readings() -> Iterator[None]:
    """What the network in the box misreads today is scripted; everything else it reads."""
    from standfast.testing.reader import ScriptedReader
    from standfast.wiring import reader
    from tests.readings import READINGS

    real = reader.reader_for
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            reader, "reader_for", lambda settings: ScriptedReader(READINGS, real(settings))
        )
        yield


@pytest.fixture(scope="session")
def proving() -> bool:
    """True under `make test-long`: run the long version."""
    return PROVING


def pytest_collection_finish() -> None:
    """Thousands of tests and all they import stay for good: nobody need look at them again and
    again, nor at the end."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if PROVING:
        return
    for item in items:
        if item.get_closest_marker("proof"):
            item.add_marker(pytest.mark.skip(reason="slow proof: run by `make test-long`"))
