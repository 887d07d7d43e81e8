"""An environment for packages that cannot be installed beside our own pins.

google-adk wants google-genai 2 where pydantic-ai brings 3, mem0ai an older protobuf, openai-agents
an older websockets, llama-index-core another setuptools. Together they can live, so there is one
environment for all of them, made once from hashed pins and kept inside of the one that runs now.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from hashlib import blake2b
from pathlib import Path

PINS = Path(__file__).with_name("packages.txt")
PROJECT = Path(__file__).resolve().parents[3]
SECONDS_MAX = 600
# As it was when tests were collected: where packages come from may be said in somebody's home.
AROUND = dict(os.environ)
# Nobody calls home, and nobody takes a key from whoever runs the tests.
QUIET = {
    "ANONYMIZED_TELEMETRY": "False",
    "DO_NOT_TRACK": "1",
    "LANGSMITH_TRACING": "false",
    "MEM0_TELEMETRY": "False",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "OTEL_SDK_DISABLED": "true",
}


class NoEnvironment(Exception):  # noqa: N818  it is a state, not a mistake
    """It could not be made; says why in one line."""


def python() -> Path:
    """The interpreter that has the packages."""
    mark = blake2b(PINS.read_bytes() + sys.version.encode(), digest_size=6).hexdigest()
    home = Path(sys.prefix) / f"adapters-{mark}"
    if not home.exists():
        making = home.with_name(f"{home.name}.{os.getpid()}")
        try:
            _make(making)
            making.rename(home)
        except OSError as error:
            if not home.exists():  # otherwise somebody else was faster
                raise NoEnvironment(str(error)) from None
        finally:
            shutil.rmtree(making, ignore_errors=True)
    return _python(home)


def _python(home: Path) -> Path:
    return home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _make(home: Path) -> None:
    _run([sys.executable, "-m", "venv", "--clear", str(home)])
    install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    _run([str(_python(home)), *install, "--no-deps", "--require-hashes", "-r", str(PINS)])


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=AROUND,
                              timeout=SECONDS_MAX, stdin=subprocess.DEVNULL)  # fmt: skip
    except subprocess.TimeoutExpired:
        raise NoEnvironment(f"installing took longer than {SECONDS_MAX} seconds") from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise NoEnvironment((lines or done.stderr.splitlines() or ["no reason given"])[-1])


def settings() -> dict[str, str]:
    """The variables for what runs in it: those of this test, without keys, and our own source."""
    kept = {n: v for n, v in os.environ.items() if not n.upper().endswith(("_API_KEY", "_TOKEN"))}
    return {**kept, **QUIET, "PYTHONPATH": os.pathsep.join((str(PROJECT / "src"), str(PROJECT)))}
