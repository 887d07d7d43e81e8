"""Few packages at the top, and one class behind each name."""

from __future__ import annotations

import ast
import configparser
from collections import defaultdict

from tests.architecture.source import PACKAGE, PROJECT, modules, nodes_of

ROOMS_MAX = 26
# Not behaviour of ours: what Python itself looks for.
NOT_COUNTED = {"__init__.py", "py.typed", "__pycache__"}


def rooms() -> set[str]:
    return {path.name.removesuffix(".py") for path in PACKAGE.iterdir()} - NOT_COUNTED


def test_a_newcomer_sees_few_rooms() -> None:
    found = rooms() - {"__init__", "py.typed"}
    assert len(found) <= ROOMS_MAX, sorted(found)


def test_a_class_name_exists_once() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for name, path in modules().items():
        for node in nodes_of(path):
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(name)
    doubled = {name: where for name, where in homes.items() if len(where) > 1}
    assert doubled == {}, "a search for a name finds one thing"


def test_every_verb_of_the_facade_has_its_room() -> None:
    verbs = {path.stem for path in (PACKAGE / "verbs").iterdir()}
    for verb in ("observe", "remember", "recall", "context", "confirm", "end", "forget", "revoke",
                 "relate", "undo", "review", "resolve", "archive", "reembed", "export", "history",
                 "set_policy"):  # fmt: skip
        assert verb in verbs, f"{verb}() is not found where one looks for it"


def test_no_two_rooms_may_know_each_other() -> None:
    linter = configparser.ConfigParser()
    linter.read(PROJECT / ".importlinter")
    layers = linter["importlinter:contract:layers"]["layers"].splitlines()
    assert [line for line in layers if ":" in line] == []
    placed = {part.strip(" ()") for line in layers for part in line.split("|")} - {""}
    assert rooms() - {"__init__", "py.typed"} <= placed
