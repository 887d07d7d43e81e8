"""The server as it really runs: a process, a port, a signal."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "recollect.interfaces.cli", "serve", "--port", str(port)]
    environment = {**os.environ, "RECOLLECT_STORE": str(tmp_path / "memory.db")}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(200):
            try:
                urllib.request.urlopen(f"{address}/health", timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield address
    finally:
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=20)
    assert b"Traceback" not in said


def get(address: str, host: str | None = None) -> tuple[int, bytes]:
    request = urllib.request.Request(address, headers={"Host": host} if host else {})
    try:
        with urllib.request.urlopen(request, timeout=5) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def test_X1_a_fresh_install_serves_health_with_no_key_and_no_service(server: str) -> None:
    status, body = get(f"{server}/health")
    assert (status, json.loads(body)) == (200, {"status": "ok"})


def test_a_foreign_host_name_is_refused(server: str) -> None:
    assert get(f"{server}/health", host="evil.example")[0] == 400
