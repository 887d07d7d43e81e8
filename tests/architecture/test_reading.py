"""The reader of the source is right about the forms that imports take."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture import source


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(source, "PACKAGE", tmp_path / "standfast")
    path = tmp_path / "standfast" / "stores" / "probe.py"
    path.parent.mkdir(parents=True)
    return path


def references(path: Path, text: str) -> set[str]:
    path.write_text(text)
    return {name for _, name in source.referenced_names(path)}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import os\nos.environ['A']", "os.environ"),
        ("from os import environ\nenviron.get('A')", "os.environ.get"),
        ("from os import environ as e\nprint(e)", "os.environ"),
        ("import datetime as d\nd.datetime.now()", "datetime.datetime.now"),
        ("from datetime import datetime\nclock = datetime.now", "datetime.datetime.now"),
        ("def f():\n    import time\n    return time.time()", "time.time"),
    ],
)
def test_a_mention_is_written_in_full(module: Path, text: str, name: str) -> None:
    assert name in references(module, text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import numpy.linalg", "numpy.linalg"),
        ("from standfast import ports", "standfast.ports"),
        ("from .. import memory", "standfast.memory"),
        ("from ..memory import Memory", "standfast.memory.Memory"),
        ("from . import index", "standfast.stores.index"),
        ("def f():\n    import apsw", "apsw"),
    ],
)
def test_an_import_is_written_in_full(module: Path, text: str, name: str) -> None:
    module.write_text(text)
    assert name in {found for _, found in source.imported_names(module)}


def test_a_local_name_is_no_mention(module: Path) -> None:
    assert references(module, "environ = {}\nprint(environ)") == set()
