"""What a start waits for: only what its first answer needs."""

from __future__ import annotations

import subprocess
import sys

import pytest

LATER = ("standfast.memory", "standfast.engine", "standfast.understanding", "numpy", "apsw")


@pytest.mark.parametrize(
    ("module", "unwanted"),
    [
        ("standfast.interfaces.cli", (*LATER, "pydantic", "mcp", "fastapi", "httpx2")),
        ("standfast.interfaces.mcp.stdio", LATER),
    ],
)
def test_X8_what_is_not_needed_at_once_is_loaded_later(
    module: str, unwanted: tuple[str, ...]
) -> None:
    """An agent waits for the first answer of ``standfast mcp``, a person for every command."""
    code = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert set(done.stdout.split()).isdisjoint(unwanted)


def test_C5_help_reads_no_command_that_was_not_asked_for() -> None:
    """Seventy commands have names; what each takes is made when one is named."""
    code = (
        "import sys; from standfast.interfaces.cli import main\n"
        "from standfast.memory import arguments\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print(arguments._read.cache_info().currsize, *sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert "why-not" in done.stdout
    read, *modules = done.stderr.split()
    assert read == "0"
    assert {"asyncio", "logging", "numpy", "apsw", "ssl"}.isdisjoint(modules)
