"""The commands of upkeep and procedures."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from standfast import Memory
from tests.interfaces.conftest import Run, parsed


@pytest.fixture
def old_store(tmp_path: Path) -> str:
    """Written two hundred days ago, and hardly used since."""
    path = str(tmp_path / "old.db")
    then = datetime.now(UTC) - timedelta(days=200)
    with Memory.open(path, embedder="hashing", background=False, clock=lambda: then) as memory:
        for n in range(2):
            memory.remember(
                f"Parcel {n} is on its way", scope="user:ann", durability="ephemeral",
                importance=0.1,
            )  # fmt: skip
    return path


def test_L11_a_dry_run_is_a_diff_and_undo_takes_the_run_back(
    standfast: Run, old_store: str
) -> None:
    options = ("--store", old_store, "--no-background")
    shown = standfast("maintain", "--dry-run", *options)
    lines = shown.stdout.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("- archive ") for line in lines)
    assert '"Parcel 0 is on its way" (unused for 200 days, importance 0.10)' in shown.stdout
    listed = parsed(standfast("maintain", "--dry-run", "--json", *options))
    assert {item["status"] for item in listed["items"]} == {"pending"}
    assert listed["change"] == ""
    done = parsed(standfast("maintain", "--json", *options))
    assert {item["id"] for item in done["items"]} == {item["id"] for item in listed["items"]}
    assert standfast("maintain", "--dry-run", *options).stdout == "nothing to do\n"
    undone = parsed(standfast("undo", done["change"], "--json", *options))
    assert {item["status"] for item in undone["items"]} == {"restored"}
    found = parsed(standfast("recall", "parcel", "--scope", "user:ann", "--json", *options))
    assert len(found["hits"]) == 2


def test_L11_a_scope_can_be_named(standfast: Run, old_store: str) -> None:
    options = ("--store", old_store, "--no-background")
    other = standfast("maintain", "--dry-run", "--scope", "user:bob", *options)
    assert other.stdout == "nothing to do\n"
    ours = standfast("maintain", "--dry-run", "--scope", "user:ann", *options)
    assert ours.stdout.count("- archive") == 2


def test_M7_procedures_are_saved_found_and_counted(standfast: Run) -> None:
    saved = standfast(
        "procedure", "save", "deploy", "--step", "git pull", "--step", "make deploy",
        "--trigger", "ship it", "--scope", "user:ann",
    )  # fmt: skip
    assert saved.returncode == 0
    assert "version 1" in saved.stdout
    found = standfast("procedure", "find", "please ship it", "--scope", "user:ann")
    assert "1.1 git pull" in found.stdout
    assert "1.2 make deploy" in found.stdout
    answer = parsed(standfast("procedure", "find", "ship it", "--json"))
    id_ = answer["hits"][0]["id"]
    used = standfast("procedure", "used", id_, "--failed", "--note", "no disk")
    assert "0 successes, 1 failures" in used.stdout
    missing = standfast("procedure", "used", "nothing", "--scope", "user:ann")
    assert missing.returncode == 3
    empty = standfast("procedure", "save", "deploy")
    assert empty.returncode == 2
    assert "1 to 50 steps" in empty.stderr
