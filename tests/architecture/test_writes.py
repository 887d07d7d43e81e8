"""Who writes: one unit of work, one lifecycle, one answer to "was it forgotten?"."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.architecture.source import is_part_of, modules, nodes_of

# What turns stored rows and lines of a file back into records, and what tests stores.
READING_BACK = ("stores", "types.serial", "testing")


def calls(name: str) -> Iterator[tuple[str, ast.Call]]:
    """Every call of a function or class by that name, with the module it is in."""
    for module, path in modules().items():
        for node in nodes_of(path):
            if isinstance(node, ast.Call) and _called(node) == name:
                yield module, node


def _called(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def given(call: ast.Call) -> set[str]:
    return {keyword.arg for keyword in call.keywords if keyword.arg}


def test_a_batch_is_built_in_one_module() -> None:
    builders = {name for name, _ in calls("Batch") if not is_part_of(name, "testing")}
    assert builders == {"changes"}, "fill a Change: it commits, retries and makes the receipt"


def test_the_status_of_a_record_is_written_in_one_module() -> None:
    for field in ("status", "retired_at"):
        writers = {
            name
            for name, call in (*calls("replace"), *calls("Record"))
            if field in given(call) and not is_part_of(name, *READING_BACK)
        }
        assert writers == {"lifecycle.status"}, f"name the transition that sets {field} there"


def test_tombstones_are_read_in_one_module() -> None:
    """Others may know their namespace, to carry them along; they take it from there. The string
    itself is listed with all that is stored."""
    spelled = {
        module
        for module, path in modules().items()
        for node in nodes_of(path)
        if (isinstance(node, ast.Constant) and node.value == "tombstone")
        or (isinstance(node, ast.Attribute) and node.attr == "TOMBSTONES")
    }
    assert spelled == {"compat", "forgotten"}


def test_what_lost_a_race_is_tried_again_in_one_module() -> None:
    """A loop of attempts around a commit and an ``except Conflict`` is ``changes.retried``."""
    loops = {
        module
        for module, path in modules().items()
        for node in nodes_of(path)
        if isinstance(node, ast.For) and _is_range(node.iter) and _catches_conflict(node)
    }
    assert loops == set()


def _is_range(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and _called(node) == "range"


def _catches_conflict(loop: ast.For) -> bool:
    nodes = list(ast.walk(loop))
    commits = any(isinstance(node, ast.Call) and _called(node) == "commit" for node in nodes)
    return commits and any(
        isinstance(node, ast.ExceptHandler)
        and isinstance(node.type, ast.Name)
        and node.type.id == "Conflict"
        for node in nodes
    )
