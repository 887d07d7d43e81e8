"""Exports that only some can read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interfaces.conftest import Run

CANARY = "xylophonequokka"


def test_an_export_can_be_for_one_reader_only(standfast: Run, tmp_path: Path) -> None:
    age = pytest.importorskip("pyrage", reason="needs the extra encrypt")
    identity, other = age.x25519.Identity.generate(), age.x25519.Identity.generate()
    mine, theirs = tmp_path / "mine.age-key", tmp_path / "theirs.age-key"
    mine.write_text(f"# made for a test\n{identity}\n")
    theirs.write_text(f"{other}\n")
    standfast("remember", f"The {CANARY} lives in Oslo")
    file = tmp_path / "export.age"
    done = standfast("export", str(file), "--to", str(identity.to_public()))
    assert done.returncode == 0, done.stderr
    assert CANARY.encode() not in file.read_bytes()
    store = str(tmp_path / "other.db")
    denied = standfast("import", str(file), "--identity", str(theirs), store=store)
    assert denied.returncode == 4
    taken = standfast("import", str(file), "--identity", str(mine), store=store)
    assert taken.returncode == 0, taken.stderr
    assert CANARY in standfast("recall", "Oslo", store=store).stdout
    wrong = standfast("export", str(file), "--to", "somebody")
    assert wrong.returncode == 2
    assert "age1" in wrong.stderr
