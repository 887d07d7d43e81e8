"""A server whose file was replaced answers nothing from the one that it still has open."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from standfast import Memory
from standfast.errors import Unavailable
from standfast.interfaces.http.annex import Helper
from tests.interfaces.http.starts import started

SECRET = "Oslo"
TOOL = {"name": "memory_recall", "arguments": {"query": "where does Ann live?"}}
ACCEPTED = {"Accept": "application/json, text/event-stream"}
READS: tuple[tuple[str, str, Any], ...] = (
    ("GET", "/v1/records", None),
    ("GET", "/v1/changes", None),
    ("GET", "/v1/me", None),
    ("POST", "/v1/recall", {"query": "where does Ann live?"}),
    ("POST", "/v1/context", {"query": "where does Ann live?"}),
    ("POST", "/v1/recall", {"query": "where does Ann live? " * 400}),  # answered by a helper
    ("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": TOOL}),
)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[httpx2.Client, Path]]:
    with started(tmp_path, "--embedder", "hashing") as running:
        headers = {"Authorization": f"Bearer {running.snippets['key']}", **ACCEPTED}
        with httpx2.Client(base_url=running.address, headers=headers, timeout=60) as client:
            told = client.post("/v1/remember", json={"text": f"Ann lives in {SECRET}"})
            assert told.status_code == 200
            [file] = tmp_path.rglob("*.db")
            yield client, file


def ask(client: httpx2.Client) -> list[tuple[str, int, str]]:
    return [
        (f"{method} {path}", answer.status_code, answer.text)
        for method, path, body in READS
        for answer in [client.request(method, path, json=body)]
    ]


@pytest.mark.parametrize("what", ["replaced", "moved"])
def test_X2_reads_of_a_replaced_file_end_in_503(
    server: tuple[httpx2.Client, Path], tmp_path: Path, what: str
) -> None:
    client, file = server
    aside = tmp_path / "aside"
    assert sum(SECRET in text for _, _, text in ask(client)) >= 4, "all is well before"
    file.rename(aside)
    if what == "replaced":
        other = tmp_path / "other.file"
        with Memory.open(str(other), embedder="hashing", background=False) as memory:
            memory.remember("Somebody else's")
        shutil.copyfile(other, file)
    for asked, status, text in ask(client):
        assert status == 503, (asked, text)
        assert SECRET not in text, asked
        assert str(file) not in text, "no path of the server is told"
    assert client.get("/health").status_code == 503
    aside.replace(file)
    assert {status for _, status, _ in ask(client)} == {200}


def test_X2_a_stream_ends_with_its_file_and_nothing_breaks(tmp_path: Path) -> None:
    with started(tmp_path, "--embedder", "hashing", STANDFAST_HELPERS="0") as running:
        key = {"Authorization": f"Bearer {running.snippets['key']}"}
        with (
            httpx2.Client(base_url=running.address, headers=key, timeout=60) as client,
            client.stream("GET", "/v1/changes/stream") as stream,
        ):
            lines = stream.iter_lines()
            assert any(line == "event: hello" for line in lines)
            [file] = tmp_path.rglob("*.db")
            file.rename(tmp_path / "aside")
            assert not [line for line in lines if line.startswith("event: change")]
        code, said = running.end()
    assert code == 0
    assert "Traceback" not in said


def test_X2_a_helper_makes_no_file_in_the_place_of_one_that_was_moved(tmp_path: Path) -> None:
    gone = tmp_path / "gone.db"
    told = {"store": str(gone), "profile": None, "embedder": "hashing"}

    async def start() -> None:
        with pytest.raises(Unavailable, match="not there"):
            await Helper.started(told, upkeep=False)

    asyncio.run(start())
    assert not gone.exists()
