from __future__ import annotations

import time
from pathlib import Path

import pytest

from standfast import Invalid, Memory
from standfast.profiles import PROFILES, profile_named
from standfast.settings import Settings, active_profile
from standfast.wiring import store_address
from standfast.wiring.configuration import from_file, own_types_from


def test_profiles_hold_the_numbers_of_their_specifications() -> None:
    otto, motoko, agtos, autobot, lota = (
        profile_named(name) for name in ("otto", "openmotoko", "agtos", "autobot", "lota")
    )
    assert (otto.compact_above, otto.keep_recent, otto.dimensions) == (12, 8, 768)
    assert (otto.tag_boost, otto.context_records, otto.pending_days) == (0.1, 3, 30)
    assert (motoko.compact_above, motoko.keep_recent, motoko.dimensions) == (40, 20, 384)
    assert (motoko.duplicate_above, motoko.magnitude_penalty) == (0.9, 0.1)
    assert (agtos.compact_above, agtos.summary_tokens, agtos.compaction) == (20, 500, "turns")
    assert agtos.episode_ttl_seconds == 2_592_000
    assert (autobot.compact_above, autobot.keep_recent) == (50, 10)
    assert (lota.candidates, lota.limit, lota.block_entries_max) == (12, 6, 15)
    assert lota.consolidate_hours == 24


def test_O15_the_store_of_otto_follows_its_own_variables() -> None:
    def address(environ: dict[str, str]) -> str:
        settings = Settings.from_mapping({"STANDFAST_PROFILE": "otto", **environ})
        return store_address(None, settings, active_profile(settings, environ))

    assert address({"OTTO_MEMORY_DB": "/data/o.db"}) == "/data/o.db"
    assert address({"LOCAL_STORAGE_PATH": "/data"}) == "/data/otto_memory.db"
    assert address({"STANDFAST_STORE": "/mine.db", "OTTO_MEMORY_DB": "/o.db"}) == "/mine.db"


def test_O15_the_file_is_created_on_first_use_with_768_dimensions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "deep" / "otto.db"
    monkeypatch.setenv("OTTO_MEMORY_DB", str(file))
    with Memory.open(profile="otto") as memory:
        memory.remember("Deploys go out on Tuesdays", scope="project:web")
        assert "hashing/768" in memory.recall("deploys", scope="project:web").notes[0]
    assert file.exists()


def test_A9_variables_count_only_under_their_own_profile() -> None:
    environ = {
        "OTTO_MEMORY_DB": "/o.db",
        "COMPACTION_THRESHOLD": "99",
        "REDIS_URL": "redis://localhost",
        "AGTOS_WORKING_MEMORY_MAX_TURNS": "7",
    }
    plain = Settings.from_mapping(environ)
    assert (plain.store, plain.redis_url) == ("", "")
    assert active_profile(plain, environ) == PROFILES["default"]
    agtos = Settings.from_mapping({**environ, "STANDFAST_PROFILE": "agtos"})
    assert agtos.redis_url == "redis://localhost"
    assert active_profile(agtos, environ).compact_above == 7
    otto = Settings.from_mapping({**environ, "STANDFAST_PROFILE": "otto"})
    assert (otto.store, active_profile(otto, environ).compact_above) == ("/o.db", 99)


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({"STANDFAST_PROFILE": "mars"}, "no profile"),
        ({"STANDFAST_PORT": "http"}, "whole number"),
        ({"STANDFAST_CACHE_MB": "-1"}, "at least"),
        ({"STANDFAST_PROFILE": "otto", "COMPACTION_THRESHOLD": "many"}, "COMPACTION_THRESHOLD"),
    ],
)
def test_bad_settings_are_named(environ: dict[str, str], said: str) -> None:
    with pytest.raises(Invalid, match=said):
        active_profile(Settings.from_mapping(environ), environ)


def test_the_default_store_is_in_the_users_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with Memory.open() as memory:
        memory.remember("something")
    assert (tmp_path / "standfast" / "memory.db").exists()
    assert (tmp_path / "standfast").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("address", ["redis://x", "ftp://x", "sqlite:", 7])
def test_unknown_stores_are_refused(address: str) -> None:
    from standfast import StandfastError

    with pytest.raises(StandfastError):
        Memory.open(address)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a." * 100_000, "longer than"),
        ("scope = 1\n" * 30_000, "longer than"),
        ("scope = " + "[" * 1_900, "is not TOML"),
        ("scope = " + "{a=" * 600, "is not TOML"),
    ],
)
def test_X12_a_file_that_no_person_wrote_is_refused_at_once(
    tmp_path: Path, text: str, said: str
) -> None:
    """A name of 100,000 dots took minutes, and brackets a trace."""
    file = tmp_path / "config.toml"
    file.write_text(text)
    begun = time.thread_time()
    with pytest.raises(Invalid, match=said):
        from_file({"STANDFAST_CONFIG": str(file)})
    with pytest.raises(Invalid):
        own_types_from(file)
    assert time.thread_time() - begun < 1
