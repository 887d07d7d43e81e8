"""Size gate: what ``budgets.toml`` allows, and what is there.

A number over its budget fails; a budget far above its number fails too, so that what was won is
kept. Raising a budget is a change of the file with its reason in the commit (``Budget: ...``).
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scripts.gates import prose
from scripts.gates.project import BUDGETS, SOURCE, budgets, flattened, nodes_of, package_of
from scripts.gates.project import python_files as files_of

SLACK = 0.03  # of a budget that may stay unused before it has to be lowered
SLACK_LEAST = 40
WORD_LIST_SUFFIXES = (".txt", ".tsv", ".toml")


def measured(source: Path = SOURCE) -> dict[str, Any]:
    return {
        "package": packages(source),
        "regex": expressions(source),
        "words": {"lines": word_list_lines(source)},
        "surface": surface(source),
        "prose": prose.counts(),
    }


def packages(source: Path) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = defaultdict(
        lambda: {"lines": 0, "statements": 0, "files": 0}
    )
    for path in files_of(source):
        row = found[package_of(path, source)]
        row["lines"] += len(path.read_text("utf-8").splitlines())
        row["statements"] += sum(isinstance(node, ast.stmt) for node in nodes_of(path))
        row["files"] += 1
    return dict(found)


def expressions(source: Path) -> dict[str, int]:
    """Regular expressions written in the source, and the letters of their literal parts."""
    lengths = [
        sum(
            len(part.value)
            for part in ast.walk(node.args[0])
            if isinstance(part, ast.Constant) and isinstance(part.value, str)
        )
        for path in files_of(source)
        for node in nodes_of(path)
        if isinstance(node, ast.Call) and node.args and _is_of_re(node.func)
    ]
    return {"count": len(lengths), "length": sum(lengths)}


def _is_of_re(called: ast.expr) -> bool:
    return (
        isinstance(called, ast.Attribute)
        and isinstance(called.value, ast.Name)
        and called.value.id == "re"
        and called.attr != "escape"
    )


def word_list_lines(source: Path) -> int:
    """Lines of modules and data files that list words of a language."""
    lists = [path for path in files_of(source) if "words" in path.relative_to(source).parts[:-1]]
    lists += [
        path for path in source.rglob("*") if path.suffix in WORD_LIST_SUFFIXES and path.is_file()
    ]
    return sum(len(path.read_text("utf-8").splitlines()) for path in lists)


def surface(source: Path) -> dict[str, int]:
    return {
        "settings": _fields(source / "settings.py", "Settings"),
        "profile_fields": _fields(source / "profiles.py", "Profile"),
    }


def _fields(path: Path, name: str) -> int:
    for node in nodes_of(path):
        if isinstance(node, ast.ClassDef) and node.name == name:
            return sum(isinstance(part, ast.AnnAssign) for part in node.body)
    raise LookupError(f"{path}: no class {name}")


def compared(now: dict[str, int], allowed: dict[str, int]) -> Iterator[str]:
    """What is over its budget, has none, or leaves much of it unused."""
    for name, value in sorted(now.items()):
        limit = allowed.get(name)
        if limit is None:
            yield f"{name} = {value}: it has no budget in {BUDGETS.name}"
        elif value > limit:
            yield (
                f"{name}: {value}, budget {limit}; make it smaller, or raise the budget in "
                "the same commit with a line 'Budget: <reason>' in its body"
            )
        elif limit - value > max(SLACK_LEAST, SLACK * limit):
            yield f"{name}: {value}, budget {limit}; lower it: python -m scripts.gates --tighten"
    for name in sorted(allowed.keys() - now.keys()):
        yield f"{name} has a budget and is gone: python -m scripts.gates --tighten"


def problems() -> list[str]:
    allowed = dict(flattened(budgets()))
    steps = {name for name in allowed if name.startswith("steps.")}
    return list(
        compared(
            dict(flattened(measured())),
            {name: value for name, value in allowed.items() if name not in steps},
        )
    )


def tighten() -> None:
    """Write today's numbers where they are below their budgets; never raise one."""
    old = budgets() if BUDGETS.exists() else {}
    known = dict(flattened(old))
    new = measured()
    for path, value in flattened(new):
        *outer, name = path.split(".")
        table = new
        for part in outer:
            table = table[part]
        table[name] = min(value, known.get(path, value))
    BUDGETS.write_text(_written({**new, "steps": old.get("steps", {})}), "utf-8")


def _written(tables: dict[str, Any]) -> str:
    lines = [
        "# Sizes that only shrink: `make check` compares. Raised only with a line",
        "# `Budget: <reason>` in the body of the same commit.",
    ]
    for name, table in tables.items():
        lines += ["", f"[{name}]"]
        for key, value in sorted(table.items()):
            if isinstance(value, dict):
                inner = ", ".join(f"{part} = {number}" for part, number in value.items())
                lines.append(f"{key} = {{ {inner} }}")
            else:
                lines.append(f"{key} = {value}")
    return "\n".join(lines) + "\n"
