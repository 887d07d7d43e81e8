"""Engines behind a server: for each the address of an empty store that a test has for itself.

Whoever adds one adds it here; the tests of the requirements run on all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from tests import postgres, redis
from tests.conftest import PROVING

ENGINES: dict[str, Callable[[], AbstractContextManager[str]]] = {
    "postgresql": postgres.database,
    # The contract runs on it in every run; the requirements, which take longer, in the long one.
    **({"redis": redis.database} if PROVING else {}),
}
