"""What a first start prints, taken apart: for whoever runs the three ways to connect."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

READY_SECONDS_MAX = 60

_PARTS = {
    "key": "It is shown once; keep it safe:",
    "curl": "Connect with curl:",
    "mcp": "Connect an MCP client:",
    "python": "Connect from Python:",
}


@dataclass
class Start:
    """A server as a process of its own."""

    process: subprocess.Popen[str]
    address: str
    printed: str
    seconds: float

    @property
    def snippets(self) -> dict[str, str]:
        return snippets_of(self.printed)

    def end(self, sig: int = signal.SIGTERM) -> tuple[int, str]:
        """Its exit code, and what it said on standard error."""
        if self.process.poll() is None:
            self.process.send_signal(sig)
        _, said = self.process.communicate(timeout=30)
        return self.process.returncode, said


def snippets_of(printed: str) -> dict[str, str]:
    """ "key", "curl", "mcp" and "python", as a person would copy them."""
    found = {}
    for name, title in _PARTS.items():
        match = re.search(
            rf"{re.escape(title)}\n\n(.*?)\n\n(?:Connect|Make|Your)", printed, re.DOTALL
        )
        if match:
            found[name] = match[1] if name in ("curl", "python") else match[1].strip()
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def environment_of(folder: Path, **more: str) -> dict[str, str]:
    names = ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")
    homes = {name: str(folder / name.lower()) for name in names}
    return {**os.environ, **homes, "STANDFAST_REHEARSAL": "off", **more}


@contextmanager
def started(
    folder: Path, *arguments: str, module: str = "standfast.interfaces.cli", **environment: str
) -> Iterator[Start]:
    """``standfast serve`` with a home in this folder, until the block ends."""
    port = free_port()
    command = [sys.executable, "-m", module, "serve", "--port", str(port)]
    begun = time.monotonic()
    process = subprocess.Popen(
        [*command, *arguments],
        env=environment_of(folder, **environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(process, address)
        seconds = time.monotonic() - begun
        yield Start(process, address, _printed(process), seconds)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=30)


def _wait_for(process: subprocess.Popen[str], address: str) -> None:
    deadline = time.monotonic() + READY_SECONDS_MAX
    while time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()
        try:
            urllib.request.urlopen(f"{address}/health", timeout=5).close()
            return
        except urllib.error.HTTPError as error:
            error.close()
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError("the server did not start")


def _printed(process: subprocess.Popen[str]) -> str:
    """All that it says at its start; the last line speaks of keys for others."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if "keys create --scope" in line:
            break
    return "".join(lines)
