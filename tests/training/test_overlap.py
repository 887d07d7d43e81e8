"""Thirteen words in a row that training shares with a folder are found, wherever they stand."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from training import overlap, stores
from training.stores import Asked, Place, Store, Turn

SAID = "On the last day of our trip we rowed across the lake to see the old mill again"
CHINESE = "我们昨天下午在湖边的旧磨坊里遇见了他的姐姐"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    turns = [Turn("Ida", SAID), Turn("", CHINESE), Turn("", "A short one.")]
    stores.write([Store("lives", [turns], [Asked("Who?", [Place(0, 0)])])], tmp_path / "t.gz")
    return tmp_path / "t.gz"


def folder_with(tmp_path: Path, name: str, content: bytes) -> Path:
    folder = tmp_path / "texts" / "below"
    folder.mkdir(parents=True)
    (folder / name).write_bytes(content)
    return tmp_path / "texts"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", f"Well: {SAID.upper()}!".encode()),
        ("a.json", json.dumps({"x": [{"said": SAID.replace(" ", "  ")}]}).encode()),
        ("a.jsonl.gz", gzip.compress(json.dumps([SAID + "."]).encode() + b"\n")),
        ("broken.json", b'{"x": "' + SAID.encode()),
        ("b.csv", f"1;{CHINESE[3:18]};x".encode()),
    ],
    ids=["words", "json", "packed", "broken", "chinese"],
)
def test_shared_text_is_found(
    name: str, content: bytes, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert overlap.main([str(data), str(folder_with(tmp_path, name, content))]) == 1
    said = capsys.readouterr().out
    assert "in 1 texts of training" in said
    assert "lives: 1" in said


def test_twelve_words_are_no_overlap(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    twelve = " ".join(SAID.split()[:12]) + " or so. A short one."
    assert overlap.main([str(data), str(folder_with(tmp_path, "a.txt", twelve.encode()))]) == 0
    assert "0 of them in 0 texts" in capsys.readouterr().out


def test_a_missing_folder_ends_with_a_message(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert overlap.main([str(data), str(tmp_path / "none")]) == 2
    assert "there is no" in capsys.readouterr().err
