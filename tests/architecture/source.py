"""The project's own source as data: which files there are, what they import, what they name."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PACKAGE = PROJECT / "src" / "standfast"


def files_below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.py") if "__pycache__" not in path.parts)


def name_of(path: Path) -> str:
    """src/standfast/stores/dict.py -> stores.dict; the package itself is ""."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[str, Path]:
    return {name_of(path): path for path in files_below(PACKAGE)}


def is_part_of(module: str, *owners: str) -> bool:
    return any(module == owner or module.startswith(owner + ".") for owner in owners)


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Every node of the file, walked once: most of the time of these tests went into walking."""
    return tuple(ast.walk(tree_of(path)))


@cache
def imported_names(path: Path) -> tuple[tuple[int, str], ...]:
    """Every import anywhere in the file, written in full: ("line", "numpy.linalg.norm")."""
    found: list[tuple[int, str]] = []
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = _base_of(node, path)
            found += [(node.lineno, f"{base}.{alias.name}") for alias in node.names]
    return tuple(found)


def _base_of(node: ast.ImportFrom, path: Path) -> str:
    if not node.level:
        return node.module or ""
    package = path.relative_to(PACKAGE.parent).parent.parts
    base = package[: len(package) - node.level + 1]
    return ".".join([*base, *([node.module] if node.module else [])])


@cache
def referenced_names(path: Path) -> tuple[tuple[int, str], ...]:
    """Every name that comes from an import, written in full, wherever the code mentions it."""
    known = _aliases(path)
    found: list[tuple[int, str]] = []
    for node in nodes_of(path):
        if isinstance(node, ast.Name | ast.Attribute):
            parts = _dotted(node)
            if parts and parts[0] in known:
                found.append((node.lineno, ".".join([known[parts[0]], *parts[1:]])))
    return tuple(found)


def _aliases(path: Path) -> dict[str, str]:
    known: dict[str, str] = {}
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                known[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom):
            base = _base_of(node, path)
            for alias in node.names:
                known[alias.asname or alias.name] = f"{base}.{alias.name}"
    return known


def _dotted(node: ast.expr) -> list[str]:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return [*parts, node.id][::-1] if isinstance(node, ast.Name) else []
