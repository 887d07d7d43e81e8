"""A virtual environment per peer, made once from hashed pins."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
MINUTES_MAX = 15

# Nobody calls home while being measured, and nobody takes a key from the environment.
QUIET = {
    "ANONYMIZED_TELEMETRY": "False",
    "CHROMA_TELEMETRY_IMPL": "none",
    "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",
    "LANCE_TELEMETRY": "0",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGSMITH_TRACING": "false",
    "MEM0_TELEMETRY": "False",
    "OTEL_SDK_DISABLED": "true",
    "POSTHOG_DISABLED": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
SECRET = ("_API_KEY", "_TOKEN", "_SECRET")


class InstallError(Exception):
    """An environment could not be made; says why."""


def python_of(pins: str, folder: Path, say: Callable[[str], None]) -> Path:
    """The interpreter of a peer's environment; "" is the one that runs now."""
    if not pins:
        return Path(sys.executable)
    wanted = (HERE / f"{pins}.txt").read_bytes()
    mark = blake2b(wanted + sys.version.encode(), digest_size=6).hexdigest()
    home = folder / f"{pins}-{mark}"
    python = home / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not (home / "ready").exists():
        say(f"installing {pins} (once)")
        _run([sys.executable, "-m", "venv", "--clear", str(home)], pins)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run([*install, "--require-hashes", "-r", str(HERE / f"{pins}.txt")], pins)
        (home / "ready").touch()
    return python


def _run(command: list[str], pins: str) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=MINUTES_MAX * 60,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InstallError(f"{pins}: {error}") from error
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise InstallError(f"{pins}: {said[-1] if said else done.stderr[-200:]}")


def environment(home: Path) -> dict[str, str]:
    """Of a measuring process: quiet, without keys, with a home of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.upper().endswith(SECRET)}
    # Where it is set, the first call of each kind compiles what it imports; but what is installed,
    # as the others are, was compiled then.
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    return {**kept, **QUIET, "HOME": str(home), "PYTHONPATH": str(PROJECT)}
