"""Where the gates find the source, the documents and their own data files."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SOURCE = next(path.parent for path in sorted((ROOT / "src").glob("*/__init__.py")))
BUDGETS = ROOT / "tests" / "architecture" / "budgets.toml"


def python_files(folder: Path = SOURCE) -> list[Path]:
    """Every module below the folder, in a fixed order."""
    return sorted(path for path in folder.rglob("*.py") if "__pycache__" not in path.parts)


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree_of(path)))


def package_of(path: Path, source: Path = SOURCE) -> str:
    """The top-level package of a module; modules at the top are counted together as "top"."""
    parts = path.relative_to(source).parts
    return parts[0] if len(parts) > 1 else "top"


def budgets() -> dict[str, Any]:
    return tomllib.loads(BUDGETS.read_text("utf-8"))


def flattened(table: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, int]]:
    """Every number of a nested table under its dotted name."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from flattened(value, f"{prefix}{name}.")
        elif isinstance(value, int):
            yield f"{prefix}{name}", value
