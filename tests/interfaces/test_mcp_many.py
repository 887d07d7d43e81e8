"""Many agents on one server: most of them idle, all of them answered, in little memory."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.interfaces.mcp_world import Agent, run

IDLE, ACTIVE = 64, 8
CALLS_EACH = 25
RESIDENT_MIB_MAX = 512
PATIENCE_SECONDS = 120


@contextmanager
def server(store: Path) -> Iterator[tuple[str, int]]:
    """`standfast serve` as a process: its address and its id."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "standfast.interfaces.cli", "--store", str(store), "serve"]
    process = subprocess.Popen(
        [*command, "--port", str(port)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with process:
        try:
            yield _ready(process, port), process.pid
        finally:
            process.terminate()
            process.wait(PATIENCE_SECONDS)


def _ready(process: subprocess.Popen[bytes], port: int) -> str:
    url = f"http://127.0.0.1:{port}"
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        assert process.poll() is None, "the server ended"
        try:
            httpx2.get(f"{url}/health", timeout=5)
        except httpx2.HTTPError:
            time.sleep(0.1)
        else:
            return url
    raise AssertionError("the server does not answer")


def key_for(store: Path, scope: str) -> str:
    made = subprocess.run(
        [
            *(sys.executable, "-m", "standfast.interfaces.cli", "--store", str(store)),
            *("keys", "create", "--scope", scope),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    found = re.search(r"rck_[\w-]{43}", made.stdout)
    assert found
    return found[0]


def resident_mib(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)  # the most it ever had
    assert found
    return int(found[1]) / 1024


@asynccontextmanager
async def connected(url: str, key: str, mode: str) -> AsyncIterator[Agent]:
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE_SECONDS) as http:
        transport = streamable_http_client(f"{url}/mcp", http_client=http)
        async with Client(transport, mode=mode) as client:
            yield Agent(client)


@pytest.mark.proof
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
def test_X2_72_clients_of_which_64_are_idle_fit_into_512_mib(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "memory.db"
    key = key_for(store, "user:ann")

    async def work(agent: Agent, name: str) -> None:
        for number in range(CALLS_EACH):
            await agent.saves(f"{name} keeps note {number} about subject {name}{number}")
            assert await agent.finds(f"note {number} of {name}", limit=5)

    async def scenario(url: str) -> None:
        async with AsyncExitStack() as stack:
            agents = [
                await stack.enter_async_context(
                    connected(url, key, "auto" if number % 2 else "legacy")
                )
                for number in range(IDLE + ACTIVE)
            ]
            await asyncio.gather(*(agent.client.list_tools() for agent in agents))
            await asyncio.gather(*(work(a, f"agent{n}") for n, a in enumerate(agents[:ACTIVE])))
            found = await asyncio.gather(*(a.finds("note about subject") for a in agents))
            assert all(found)

    with server(store) as (url, pid):
        at_rest = resident_mib(pid)
        began = time.monotonic()
        run(scenario(url))
        took = time.monotonic() - began
        used = resident_mib(pid)
    with capsys.disabled():
        print(
            f"\n{IDLE + ACTIVE} clients, {2 * ACTIVE * CALLS_EACH} calls in {took:.1f} s: "
            f"{used:.0f} MiB at the most ({at_rest:.0f} MiB before the first)"
        )
    assert used < RESIDENT_MIB_MAX
