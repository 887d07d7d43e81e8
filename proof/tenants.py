"""Tenants beside each other: whoever reaches for what is somebody else's gets the same answer as if
nobody else were there. Through the library, HTTP, MCP, the command line and the client."""

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


def attempt(seed: int, folder: Path) -> Trial:
    with mock.patch.object(matrix, "PROVING", True):
        rows = matrix.rows()
        places = sorted({(scope, surface) for scope, surface, _ in rows})
        scope, surface = places[seed % len(places)]
        named = [ops for one, other, ops in rows if (one, other) == (scope, surface)]
        cells = sum(len(list(matrix.cells(surface, operations))) for operations in named)
    test = f"{MATRIX}::test_A10_nothing_told_depends_on_others"
    nodes = [f"{test}[{scope}-{surface}-{operations[0]}]" for operations in named]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        *PLUGINS,
        *nodes,
    ]
    environ = {**os.environ, "RECOLLECT_PROOF": "1", "TMPDIR": str(folder)}
    done = subprocess.run(command, capture_output=True, text=True, env=environ, check=False)
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
    target=2_000,
    attempt=attempt,
    mutant=open_doors,
    mutant_said="a handle that may see and change every scope",
    mutant_tries=3,
)
