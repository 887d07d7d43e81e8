"""Tenants beside each other: whoever reaches for what is somebody else's gets the same answer as if
nobody else were there. Through the library, HTTP, MCP, the command line, the client, the console,
the adapters and the proxy; and by the clock."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from proof.family import Broken, ProofFamily, Trial
from tests.tenancy import test_matrix as matrix

MATRIX = "tests/tenancy/test_matrix.py"
PLUGINS: list[str] = []


def places() -> list[tuple[str, str]]:
    """Where it is tried: other doors, then the matrix of the verbs by attacker and surface."""
    from proof import doors

    with mock.patch.object(matrix, "PROVING", True):
        asked = sorted({(scope, surface) for scope, surface, _ in matrix.rows()})
    return [*(("door", name) for name in ("times", "proxy", *doors.DOORS)), *asked]


def attempt(seed: int, folder: Path) -> Trial:
    """The mutant, whose seeds are below 0, is one of the verbs."""
    from proof import doors, timing  # they load every package that has an adapter

    found = [place for place in places() if seed >= 0 or place[0] != "door"]
    kind, name = found[seed % len(found)]
    if kind != "door":
        return _matrix(kind, name, folder)
    if name == "times":
        cells = timing.try_times(seed, folder)
    else:
        cells = doors.try_proxy(folder) if name == "proxy" else doors.try_door(name, folder)
    return Trial(units=cells, figures=((f"cells by {name}", cells),))


def _matrix(scope: str, surface: str, folder: Path) -> Trial:
    with mock.patch.object(matrix, "PROVING", True):
        rows = matrix.rows()
        named = [ops for one, other, ops in rows if (one, other) == (scope, surface)]
        cells = sum(len(list(matrix.cells(surface, operations))) for operations in named)
    test = f"{MATRIX}::test_A10_nothing_told_depends_on_others"
    nodes = [f"{test}[{scope}-{surface}-{operations[0]}]" for operations in named]
    pytest = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    environ = {**os.environ, "STANDFAST_PROOF": "1", "TMPDIR": str(folder)}
    done = subprocess.run(
        [*pytest, *PLUGINS, *nodes], capture_output=True, text=True, env=environ, check=False
    )
    if done.returncode:
        raise Broken(f"{scope} by {surface}: {done.stdout.strip().splitlines()[-1:]}")
    return Trial(units=cells, figures=((f"cells by {surface}", cells),))


@contextmanager
def open_doors() -> Iterator[None]:
    PLUGINS[:] = ["-p", "proof.leak"]
    try:
        yield
    finally:
        PLUGINS.clear()


FAMILY = ProofFamily(
    name="tenants",
    promise="No answer to one tenant depends on another's memories, however it is asked for.",
    unit="cells",
    target=2_400,
    attempt=attempt,
    mutant=open_doors,
    mutant_said="a handle that may see and change every scope",
    mutant_tries=3,
)
