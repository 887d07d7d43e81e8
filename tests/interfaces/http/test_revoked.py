"""What a revoked key has begun ends with it; what one device began is not another's."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import httpx2
import pytest

from standfast.access import keys
from standfast.interfaces.http import long_work
from tests.interfaces.http.conftest import ServeApp

ANN = {"read", "write", "import", "export"}


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_work, "REVOKED_SECONDS", 0.05)


def test_A10_a_revoked_keys_work_and_stream_end(serve_app: ServeApp) -> None:
    server = serve_app()
    secret = server.key("ann", "user:ann", rights=tuple(ANN))
    key, engine = server.run(keys.with_key(server.engine, secret))
    jobs: long_work.Jobs = server.app.state.jobs
    from standfast.interfaces.caller import Caller
    from standfast.memory import AsyncMemory

    caller = Caller(memory=AsyncMemory(engine), via="http", key=key)

    async def endless(_: Any) -> Any:
        await asyncio.sleep(600)

    job = server.run(jobs.begin(caller, "import", endless))
    seen: list[bytes] = []

    def watch() -> None:
        with server.client("ann") as client, client.stream("GET", f"/v1/work/{job.id}/events") as s:
            seen.extend(s.iter_raw())

    watching = threading.Thread(target=watch)
    watching.start()
    server.run(keys.revoke_key(server.engine, key.id))
    watching.join(20)
    assert not watching.is_alive()
    for _ in range(200):
        if job.state != "running":
            break
        time.sleep(0.05)
    assert job.state == "failed"
    assert "revoked" in job.problem["detail"]
    with server.client("ann") as client:
        assert client.get("/v1/work").status_code == 401


def test_A10_what_one_device_began_is_not_shown_to_another(serve_app: ServeApp) -> None:
    server = serve_app()
    server.key("home", "user:ann", "user:bob", rights=tuple(ANN))
    for device, scope in (("hers", "user:ann"), ("his", "user:bob")):
        server.run(keys.map_device(server.engine, device, scope))

    def of(device: str | None) -> httpx2.Client:
        return server.client("home", headers={"X-Standfast-Device": device} if device else {})

    with of("hers") as hers, of("his") as his, of(None) as both:
        hers.post("/v1/remember", json={"text": "Ann likes tea"})
        work = hers.post("/v1/export", json={}).json()
        while hers.get(f"/v1/work/{work['id']}", params={"wait": 5}).json()["state"] == "running":
            pass
        assert his.get("/v1/work").json()["work"] == []
        assert his.get(f"/v1/work/{work['id']}").status_code == 404
        assert his.get(f"/v1/work/{work['id']}/file").status_code == 404
        assert b"Ann likes tea" in hers.get(f"/v1/work/{work['id']}/file").content
        wide = both.post("/v1/export", json={}).json()
        assert hers.get(f"/v1/work/{wide['id']}").status_code == 404
        assert both.get(f"/v1/work/{work['id']}").status_code == 200


def test_A10_keys_over_http_say_whose_they_are_and_can_be_rotated(serve_app: ServeApp) -> None:
    server = serve_app()
    server.key("admin", rights=("read", "write", "admin"))
    with server.client("admin") as admin:
        body = {"scopes": ["user:ann"], "holder": "agent", "addresses": ["127.0.0.1"]}
        made = admin.post("/v1/keys", json=body).json()
        assert (made["holder"], made["addresses"]) == ("agent", ["127.0.0.1/32"])
        new = admin.post(f"/v1/keys/{made['id']}/rotate", json={"overlap_hours": 1})
        assert new.status_code == 201
        assert new.json()["succeeds"] == made["id"]
        far = admin.post(
            "/v1/keys", json={"scopes": ["user:ann"], "addresses": ["192.0.2.0/24"]}
        ).json()
        headers = {"Authorization": f"Bearer {far['key']}"}
        asked = httpx2.get(f"{server.address}/v1/records", headers=headers)
        assert asked.status_code == 401
