"""A plugin for pytest that opens every door: the mutant of the family ``tenants``."""

from __future__ import annotations

from unittest import mock

from standfast.engine import Engine


def pytest_configure() -> None:
    for door in ("may_see", "may_change"):
        mock.patch.object(Engine, door, return_value=True).start()
