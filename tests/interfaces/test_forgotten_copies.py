"""what is forgotten goes from Markdown files and from exports that a server holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from standfast import Memory
from standfast.interfaces.cli import main
from standfast.interfaces.http import build_app
from standfast.types import ALL_RIGHTS
from tests.interfaces.http.conftest import served


def test_A10_forgetting_writes_the_markdown_files_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "notes")
    store = ["--store", str(tmp_path / "notes" / "memory.db"), "--embedder", "hashing"]
    assert main(["new", folder]) == 0
    told = "Ann hides the silver behind the clock"
    assert main([*store, "remember", told, "--durability", "core", "--json"]) == 0
    assert main(["--embedder", "hashing", "sync", folder]) == 0
    page = Path(folder) / "memory" / "MEMORY.md"
    assert told in page.read_text()
    capsys.readouterr()
    assert main([*store, "forget", "--scope", "user:default", "--yes"]) == 0
    assert folder in capsys.readouterr().out
    left = [file for file in Path(folder).rglob("*") if file.is_file() and file.suffix == ".md"]
    assert all(told not in file.read_text() for file in left)


def test_A10_an_export_from_before_is_not_handed_out(tmp_path: Path) -> None:
    with served(build_app(str(tmp_path / "m.db"), embedder="hashing")) as server:
        server.key("ann", "user:ann", rights=tuple(ALL_RIGHTS - {"admin"}))
        server.key("bob", "user:bob", rights=tuple(ALL_RIGHTS - {"admin"}))
        with server.client("ann") as ann, server.client("bob") as bob:
            works = []
            for who, text in ((ann, "Ann hides the silver"), (bob, "Bob has a cat")):
                who.post("/v1/remember", json={"text": text})
                work = who.post("/v1/export", json={}).json()["id"]
                while who.get(f"/v1/work/{work}", params={"wait": 5}).json()["state"] == "running":
                    pass
                assert who.get(f"/v1/work/{work}/file").status_code == 200
                works.append(work)
            receipt = ann.post("/v1/forget", json={"scope": "user:ann"}).json()
            assert any(works[0] in note for note in receipt["notes"])
            gone = ann.get(f"/v1/work/{works[0]}/file")
            assert gone.status_code == 404
            assert "silver" not in gone.text
            assert bob.get(f"/v1/work/{works[1]}/file").status_code == 200


def test_A10_export_files_are_named_to_who_forgets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ["--store", str(tmp_path / "m.db"), "--embedder", "hashing"]
    kept, gone, text = tmp_path / "kept.jsonl", tmp_path / "gone.jsonl", tmp_path / "about.md"
    assert main([*store, "remember", "Ann hides the silver", "--scope", "user:ann"]) == 0
    assert main([*store, "remember", "Bob has a cat", "--scope", "user:bob"]) == 0
    assert main([*store, "export", str(kept), "--scope", "user:ann"]) == 0
    assert main([*store, "export", str(gone), "--scope", "user:ann"]) == 0
    assert main([*store, "export", str(text), "--author", "ann"]) == 0
    gone.unlink()
    capsys.readouterr()
    assert main([*store, "forget", "--scope", "user:ann", "--yes"]) == 0
    told = capsys.readouterr().out
    assert str(kept) in told
    assert str(text) in told
    assert str(gone) not in told
    assert main([*store, "forget", "--scope", "user:bob", "--yes"]) == 0
    told = capsys.readouterr().out
    assert str(text) in told, "it was written of all roots"
    assert str(kept) not in told


def test_A10_where_an_operators_export_is_concerns_no_tenant(tmp_path: Path) -> None:
    with served(build_app(str(tmp_path / "m.db"), embedder="hashing")) as server:
        server.key("ann", "user:ann", rights=tuple(ALL_RIGHTS - {"admin"}))
        with server.client("ann") as ann:
            ann.post("/v1/remember", json={"text": "Ann hides the silver"})
            store = ["--store", str(tmp_path / "m.db"), "--embedder", "hashing"]
            assert main([*store, "export", str(tmp_path / "all.jsonl")]) == 0
            notes = str(ann.post("/v1/forget", json={"scope": "user:ann"}).json()["notes"])
            assert "an export file holds it" in notes
            assert "all.jsonl" not in notes


def test_A10_backups_that_hold_it_are_named_to_who_forgets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ["--store", str(tmp_path / "m.db"), "--embedder", "hashing"]
    early, late, gone = (str(tmp_path / name) for name in ("early.db", "late.db", "gone.db"))

    def said(*command: str) -> str:
        capsys.readouterr()
        assert main([*store, *command]) == 0
        return capsys.readouterr().out

    said("remember", "Bob has a cat", "--scope", "user:bob")
    said("backup", early)
    said("remember", "Ann hides the silver", "--scope", "user:ann")
    said("backup", late)
    said("backup", gone)
    Path(gone).unlink()
    told = said("forget", "--scope", "user:ann", "--yes")
    assert f"a backup holds it: {late} written" in told
    assert early not in told, "it was made before there was anything to forget"
    assert gone not in told
    told = said("forget", "--scope", "user:bob", "--yes")
    assert early in told
    assert late in told


def test_A10_a_restored_store_names_the_backup_and_the_file_it_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ["--store", str(tmp_path / "m.db"), "--embedder", "hashing"]
    first, second = str(tmp_path / "first.db"), str(tmp_path / "second.db")
    assert main([*store, "remember", "Bob has a cat", "--scope", "user:bob"]) == 0
    assert main([*store, "backup", first]) == 0
    assert main([*store, "backup", second]) == 0
    assert main([*store, "restore", first, "--yes"]) == 0
    capsys.readouterr()
    assert main([*store, "forget", "--scope", "user:bob", "--yes"]) == 0
    told = capsys.readouterr().out
    for file in (first, second, str(tmp_path / "m.db.before-restore-1")):
        assert f"a backup holds it: {file} written" in told


def test_X10_restoring_forgets_nothing_that_somebody_else_said_in_the_same_words(
    tmp_path: Path,
) -> None:
    """Tombstones of texts name no author: a restore erased what the store still had."""
    file, copy = str(tmp_path / "m.db"), str(tmp_path / "copy.db")
    said = [
        {"role": "user", "content": "The hall is booked", "author": "ann", "id": "m1"},
        {"role": "user", "content": "The hall is booked", "author": "ben", "id": "m2"},
    ]
    with Memory.open(file, embedder="hashing", background=False) as memory:
        memory.observe("day", said, scope="org:acme")
    assert main(["--store", file, "backup", copy]) == 0
    with Memory.open(file, embedder="hashing", background=False) as memory:
        memory.forget(author="ann", scope="org:acme")
        before = memory.records(scope="org:acme", types=["turn"]).items
        assert [one.author for one in before] == ["ben"]
    assert main(["--store", file, "restore", copy, "--yes"]) == 0
    with Memory.open(file, embedder="hashing", background=False) as memory:
        left = memory.messages("day", scope="org:acme").items
        assert [(one.id, one.author) for one in left] == [("m2", "ben")]
        assert memory.records(scope="org:acme", types=["turn"]).items == before


def test_A10_where_an_operators_backup_is_concerns_no_tenant(tmp_path: Path) -> None:
    with served(build_app(str(tmp_path / "m.db"), embedder="hashing")) as server:
        server.key("ann", "user:ann", rights=tuple(ALL_RIGHTS - {"admin"}))
        with server.client("ann") as ann:
            ann.post("/v1/remember", json={"text": "Ann hides the silver"})
            store = ["--store", str(tmp_path / "m.db"), "--embedder", "hashing"]
            assert main([*store, "backup", str(tmp_path / "all.db")]) == 0
            notes = str(ann.post("/v1/forget", json={"scope": "user:ann"}).json()["notes"])
            assert "a backup holds it" in notes
            assert "all.db" not in notes
