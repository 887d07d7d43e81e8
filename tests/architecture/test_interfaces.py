"""An interface knows the facade, and nothing behind it."""

from __future__ import annotations

import standfast
from tests.architecture.source import imported_names, is_part_of, modules

# The facade and the surfaces on it that others made known; who may do what; the values; how a
# store is opened.
KNOWN = (
    "memory", "adapters", "access", "types", "errors", "wiring", "settings", "interfaces", "compat",
)  # fmt: skip
PUBLIC = {f"standfast.{name}" for name in (*standfast.__all__, "__version__")}

# A workspace of Markdown files is a second store, kept equal to the first commit by commit: half of
# it belongs below the facade. Until that half has moved, this is all it may know, and no more.
MARKDOWN = {
    "changes", "engine", "forgotten", "lifecycle", "models", "packet", "ports", "scopes", "text",
    "upkeep", "verbs",
}  # fmt: skip


def deeper(room: str) -> dict[str, str]:
    """Where what is imported from behind the facade -> its room."""
    found = {}
    for module, path in modules().items():
        for line, name in imported_names(path) if is_part_of(module, room) else ():
            if not is_part_of(name, "standfast") or name in PUBLIC:
                continue
            if not is_part_of(name, *(f"standfast.{one}" for one in KNOWN)):
                found[f"{module}:{line} {name}"] = name.split(".")[1]
    return found


def test_interfaces_import_the_facade_and_nothing_deeper() -> None:
    found = deeper("interfaces")
    assert [one for one in found if not is_part_of(one, "interfaces.markdown")] == []


def test_what_the_markdown_workspace_knows_only_shrinks() -> None:
    assert set(deeper("interfaces.markdown").values()) == MARKDOWN


def test_the_check_sees_the_interfaces() -> None:
    seen = {name for name in modules() if is_part_of(name, "interfaces")}
    assert {"interfaces.http.routes.verbs", "interfaces.cli.options", "interfaces.mcp"} <= seen
