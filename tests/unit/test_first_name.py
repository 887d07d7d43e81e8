"""The first name: it stands nowhere but where it is stored, and what has it is found."""

from __future__ import annotations

import logging
import subprocess
from pathlib import Path

import pytest

from standfast import Memory, compat
from standfast.wiring import address_of
from standfast.wiring.configuration import config_file, misspelt

PROJECT = Path(__file__).resolve().parents[2]
# The last is a vocabulary, in which it is an English word.
SPELLED = ("src/standfast/compat.py", "model/standfast_model/tokenizer.json")
FIXTURES = f"tests/fixtures/{compat.FIRST_NAME}-0.1/"


def test_it_stands_nowhere_else() -> None:
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=PROJECT, capture_output=True, check=True
        ).stdout.decode()
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this is no clone: which files are the project's is not known")
    first = compat.FIRST_NAME.encode()
    spelled = [
        path
        for path in listed.split("\0")
        if path and not path.startswith(FIXTURES) and path not in SPELLED
        if first in path.lower().encode()
        or (not path.endswith(".onnx") and first in _content(PROJECT / path).lower())
    ]
    assert spelled == []


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("STANDFAST_STORE", raising=False)
    return tmp_path


def test_a_store_at_the_first_default_place_is_used_and_said_so(
    home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first, now = home / compat.FIRST_FOLDER / "memory.db", home / compat.FOLDER / "memory.db"
    assert address_of(None, None) == str(now)
    first.parent.mkdir()
    with Memory.open(str(first), embedder="hashing", background=False) as memory:
        memory.remember("Ann likes green tea", scope="user:ann")
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            with Memory.open(embedder="hashing", background=False) as memory:
                assert memory.recall("tea", scope="user:ann").hits
    told = [one.getMessage() for one in caplog.records if str(first) in one.getMessage()]
    assert len(told) == 1
    assert str(now.parent) in told[0]
    assert not now.exists()


def test_a_store_at_the_default_place_goes_before(home: Path) -> None:
    for folder in (compat.FIRST_FOLDER, compat.FOLDER):
        (home / folder).mkdir()
        (home / folder / "memory.db").touch()
    assert address_of(None, None) == str(home / compat.FOLDER / "memory.db")


def test_settings_at_the_first_place_count(home: Path) -> None:
    first = home / compat.FIRST_FOLDER / "config.toml"
    first.parent.mkdir()
    first.write_text('scope = "user:ann"\n')
    assert config_file() == first


def test_a_variable_of_the_first_name_does_not_count_and_is_told_of() -> None:
    name = f"{compat.FIRST_VARIABLES}STORE"
    [told] = misspelt({name: "memory.db"})
    assert told == f"{name} does not count any more; rename it to STANDFAST_STORE"
