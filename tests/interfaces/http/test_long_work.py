"""Work that answers 202: begun, looked at, watched, and only by whom it belongs to."""

from __future__ import annotations

import asyncio
import json
import threading
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest

from standfast.errors import Unavailable
from standfast.interfaces.http import long_work
from standfast.interfaces.http.long_work import FILES_MAX
from standfast.memory import AsyncMemory
from standfast.settings import Settings
from standfast.types import Receipt
from tests.interfaces.http.conftest import ALL, ServeApp, Served

LINES = {"Content-Type": "application/x-ndjson"}


def begun(answer: httpx2.Response) -> str:
    assert answer.status_code == 202, answer.text
    assert answer.headers["location"] == f"/v1/work/{answer.json()['id']}"
    return str(answer.headers["location"])


def finished(client: httpx2.Client, address: str) -> Any:
    for _ in range(100):
        job = client.get(address, params={"wait": 5}).json()
        if job["state"] != "running":
            return job
    raise AssertionError("it does not end")


def events(client: httpx2.Client, address: str) -> list[tuple[str, Any]]:
    found = []
    with client.stream("GET", f"{address}/events") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        name = ""
        for line in answer.iter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                found.append((name, json.loads(line.removeprefix("data: "))))
    return found


def test_X12_maintain_is_begun_and_its_receipt_waits(admin: httpx2.Client) -> None:
    address = begun(admin.post("/v1/maintain", json={"dry_run": True}))
    job = finished(admin, address)
    assert (job["state"], job["operation"], job["problem"]) == ("done", "maintain", None)
    assert "items" in job["receipt"]
    assert job["ended_at"] >= job["begun_at"]
    assert admin.get(address).json() == job, "and stays there"
    assert job in admin.get("/v1/work").json()["work"]


def test_X13_export_and_import_travel_over_http(
    admin: httpx2.Client,
    ann: httpx2.Client,
    serve_app: ServeApp,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for number in range(300):
        ann.post("/v1/observe", json={"session": "travel", "messages": [f"message {number}"]})
    job = finished(ann, begun(ann.post("/v1/export", json={"scope": "user:ann"})))
    assert any(item["id"] == "message" for item in job["receipt"]["items"])
    lines = ann.get(job["file"])
    assert lines.headers["content-type"].startswith("application/x-ndjson")
    assert ann.get(job["file"]).content == lines.content, "it can be fetched again"
    # One that learns by itself may fold the messages before the file comes to their summary.
    monkeypatch.setattr(AsyncMemory, "open", partial(AsyncMemory.open, background=False))
    other = serve_app(str(tmp_path / "other.db"))
    with other.client() as there:
        dry = there.post(
            "/v1/import", params={"dry_run": True}, content=lines.content, headers=LINES
        )
        assert finished(there, begun(dry))["state"] == "done"
        assert there.get("/v1/stats").json()["records"] == 0
        pieces = (lines.content[i : i + 5000] for i in range(0, len(lines.content), 5000))
        job = finished(there, begun(there.post("/v1/import", content=pieces, headers=LINES)))
        assert job["state"] == "done"
        assert {i["status"] for i in job["receipt"]["items"]} == {"stored"}
        # Everything the file has: the first server may have learned more from it meanwhile.
        wanted = {
            json.loads(line)["value"]["id"]
            for line in lines.content.split(b"\n")
            if line.startswith(b'{"type":"record"')
        }
        found: set[str] = set()
        page = {"next": ""}
        while page["next"] or not found:
            asked = {"cursor": page["next"], "limit": 500} if found else {"limit": 500}
            page = there.get("/v1/records", params=asked).json()
            found |= {record["id"] for record in page["items"]}
        assert wanted
        assert wanted <= found
        cut = there.post("/v1/import", content=lines.content[:-100], headers=LINES)
        job = finished(there, begun(cut))
        assert (job["state"], job["problem"]["status"]) == ("failed", 400)
        assert "partial" in job["problem"]["detail"]
    assert admin


def test_reembed_tells_its_progress(serve_app: ServeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve_app("dict:")
    step = asyncio.Event()

    async def slow(_: AsyncMemory, progress: Any = None) -> Receipt:
        for number in (1, 2, 3):
            progress(number)
            await asyncio.sleep(0.05)
        await step.wait()
        return Receipt(items=())

    monkeypatch.setattr(AsyncMemory, "reembed", slow)
    with server.client() as client:
        address = begun(client.post("/v1/reembed"))
        threading.Timer(0.5, lambda: server.loop.call_soon_threadsafe(step.set)).start()
        seen = events(client, address)
    assert [name for name, _ in seen[:-1]] == ["progress"] * (len(seen) - 1)
    assert seen[-1][0] == "done"
    numbers = [job["progress"] for _, job in seen]
    assert numbers == sorted(numbers)
    assert numbers[-1] == 3


def test_what_failed_says_why_and_tells_no_path(
    serve_app: ServeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors = [Unavailable("cannot write /secret/memory.db: disk full"), ValueError("a secret")]

    async def fails(*_: Any, **__: Any) -> None:
        raise errors.pop(0)

    server = serve_app("dict:")
    monkeypatch.setattr(AsyncMemory, "maintain", fails)
    with server.client() as client:
        for status in (503, 500):
            job = finished(client, begun(client.post("/v1/maintain", json={})))
            assert (job["state"], job["problem"]["status"]) == ("failed", status)
            assert "secret" not in json.dumps(job)
        assert [name for name, _ in events(client, f"/v1/work/{job['id']}")] == ["failed"]


def test_A10_work_belongs_to_the_key_that_began_it(
    server: Served, admin: httpx2.Client, ann: httpx2.Client, bob: httpx2.Client
) -> None:
    address = begun(ann.post("/v1/export", json={}))
    finished(ann, address)
    missing = bob.get("/v1/work/0197a3c0-0000-7000-8000-000000000000")
    assert missing.status_code == 404
    for path in ("", "/events", "/file"):
        assert bob.get(address + path).status_code == 404
        assert admin.get(address + path).status_code == 200
    server.key("part", "user:bob", rights=ALL)
    with server.client("part") as part:
        assert part.get(address).status_code == 404, "an admin of other scopes is none here"


def test_one_key_cannot_begin_everything_at_once(
    serve_app: ServeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = asyncio.Event()

    async def waits(*_: Any, **__: Any) -> Receipt:
        await gate.wait()
        return Receipt(items=())

    server = serve_app("dict:")
    monkeypatch.setattr(AsyncMemory, "maintain", waits)
    with server.client() as client:
        codes = [client.post("/v1/maintain", json={}).status_code for _ in range(6)]
        assert codes == [202] * 4 + [429] * 2
        server.loop.call_soon_threadsafe(gate.set)
        for job in client.get("/v1/work").json()["work"]:
            finished(client, f"/v1/work/{job['id']}")
        assert client.post("/v1/maintain", json={}).status_code == 202


def test_what_ended_long_ago_is_forgotten(
    serve_app: ServeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve_app("dict:")
    with server.client() as client:
        address = begun(client.post("/v1/export", json={}))
        finished(client, address)
        monkeypatch.setattr(long_work, "KEPT", timedelta(0))
        assert client.get(address).status_code == 404


def test_a_server_that_ends_lets_watchers_go(
    serve_app: ServeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_: Any, **__: Any) -> Receipt:
        await asyncio.Event().wait()
        raise AssertionError

    server = serve_app("dict:")
    monkeypatch.setattr(AsyncMemory, "maintain", never)
    with server.client() as client:
        address = begun(client.post("/v1/maintain", json={}))
        stop = server.app.state.jobs.stop_watching
        threading.Timer(0.3, lambda: server.loop.call_soon_threadsafe(stop)).start()
        seen = events(client, address)  # it comes to an end
    assert {(name, job["state"]) for name, job in seen} == {("progress", "running")}


def test_X12_what_is_kept_about_one_person_comes_as_a_text(ann: httpx2.Client) -> None:
    said = [{"role": "user", "content": "I like green tea.", "author": "ann"}]
    ann.post("/v1/observe", json={"session": "chat", "messages": said})
    job = finished(ann, begun(ann.post("/v1/export", json={"author": "ann"})))
    text = ann.get(job["file"])
    assert text.headers["content-type"] == "text/markdown; charset=utf-8"
    assert text.text.startswith("# What is kept about ann\n")
    assert "green tea" in text.text


def test_X12_files_are_kept_for_each_tenant_and_the_last_of_them(serve_app: ServeApp) -> None:
    """One tenant's exports took the place of everybody's, or the whole disk."""
    server = serve_app("dict:", settings=Settings(rate=0))
    for name in ("ann", "bob"):
        server.key(name, f"user:{name}", rights=ALL)
    with server.client("ann") as ann, server.client("bob") as bob:
        kept = exported(bob)
        places = [exported(ann) for _ in range(FILES_MAX + 2)]
        codes = [ann.get(f"{place}/file").status_code for place in places]
        assert codes == [404] * 2 + [200] * FILES_MAX
        assert "4 others since" in ann.get(f"{places[0]}/file").json()["detail"]
        assert bob.get(f"{kept}/file").status_code == 200
        jobs = server.app.state.jobs._jobs
        assert sum(job.file is not None for job in jobs.values()) == FILES_MAX + 1


def exported(client: httpx2.Client) -> str:
    place = begun(client.post("/v1/export", json={}))
    assert finished(client, place)["state"] == "done"
    return place
