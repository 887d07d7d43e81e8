"""Writes with an Idempotency-Key to a server that is killed: each lands once, with one answer."""

from __future__ import annotations

import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2

from tests.interfaces.http.starts import started

WRITERS = 4
SECONDS = 0.7  # until the server is killed


def sent(client: httpx2.Client, name: str) -> httpx2.Response:
    writer, _, number = name.partition(" ")
    body = {"session": writer, "scope": "user:ann", "messages": [f"word {number} of {writer}"]}
    return client.post("/v1/observe", json=body, headers={"Idempotency-Key": name})


def sent_until_killed(client: httpx2.Client, writer: str) -> dict[str, bytes | None]:
    """What was answered to each, None to the one that the server died over."""
    answers: dict[str, bytes | None] = {}
    while None not in answers.values():
        name = f"{writer} {len(answers)}"
        try:
            answers[name] = sent(client, name).content
        except httpx2.TransportError:
            answers[name] = None
    return answers


def test_X2_a_killed_server_has_done_each_write_once_and_knows_its_answer(tmp_path: Path) -> None:
    answers: dict[str, bytes | None] = {}
    key = ""
    for round_ in range(2):
        with started(tmp_path, STANDFAST_EMBEDDER="hashing") as server:
            key = server.snippets.get("key", key)
            headers = {"Authorization": f"Bearer {key}"}
            with (
                httpx2.Client(base_url=server.address, headers=headers, timeout=30) as client,
                ThreadPoolExecutor(WRITERS) as pool,
            ):
                writers = [f"round{round_}/writer{n}" for n in range(WRITERS)]
                running = [pool.submit(sent_until_killed, client, writer) for writer in writers]
                time.sleep(SECONDS)
                server.end(signal.SIGKILL)
                for one in running:
                    answers |= one.result()
    with (
        started(tmp_path, STANDFAST_EMBEDDER="hashing") as server,
        httpx2.Client(base_url=server.address, headers=headers, timeout=30) as client,
    ):
        for name, before in answers.items():
            again = sent(client, name)
            assert again.status_code == 200, again.text
            assert again.json()["items"][0]["status"] == "stored"
            assert before is None or again.content == before
        sessions = client.get("/v1/sessions", params={"scope": "user:ann", "limit": 100}).json()
    said = {one["id"]: one["last_seq"] for one in sessions["items"]}
    asked = [name.partition(" ")[0] for name in answers]
    assert said == {writer: asked.count(writer) for writer in asked}
    assert len(answers) > 4 * WRITERS
