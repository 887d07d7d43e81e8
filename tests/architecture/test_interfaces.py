"""An interface knows the facade, and nothing behind it."""

from __future__ import annotations

import recollect
from tests.architecture.source import imported_names, is_part_of, modules

# The facade; who may do what; the values; how a store is opened.
KNOWN = ("memory", "sync", "access", "types", "errors", "wiring", "settings", "interfaces")
PUBLIC = {f"recollect.{name}" for name in (*recollect.__all__, "__version__")}


def test_interfaces_import_the_facade_and_nothing_deeper() -> None:
    deeper = [
        f"{module}:{line} {name}"
        for module, path in modules().items()
        if is_part_of(module, "interfaces") and not is_part_of(module, "interfaces.markdown")
        for line, name in imported_names(path)
        if is_part_of(name, "recollect") and name not in PUBLIC
        if not is_part_of(name, *(f"recollect.{room}" for room in KNOWN))
    ]
    assert deeper == []


def test_the_check_sees_the_interfaces() -> None:
    seen = {name for name in modules() if is_part_of(name, "interfaces")}
    assert {"interfaces.http.routes.verbs", "interfaces.cli.options", "interfaces.mcp"} <= seen
