"""Long work that somebody ends."""

from __future__ import annotations

import asyncio

import httpx2
import pytest

from standfast.memory import AsyncMemory
from standfast.types import Receipt
from tests.serving import served


def test_X15_work_is_cancelled_and_stays_so(monkeypatch: pytest.MonkeyPatch) -> None:
    async def forever(_: AsyncMemory, **__: object) -> Receipt:
        await asyncio.sleep(600)
        raise AssertionError

    monkeypatch.setattr(AsyncMemory, "maintain", forever)
    with served() as server:
        key, other = server.key(), server.key("user:bob")
        headers = {"Authorization": f"Bearer {key}"}
        with httpx2.Client(base_url=server.url, headers=headers, timeout=30) as client:
            job = client.post("/v1/maintain", json={}).json()
            where = f"/v1/work/{job['id']}"
            theirs = client.delete(where, headers={"Authorization": f"Bearer {other}"})
            assert theirs.status_code == 404, "somebody else's work is not found"
            ended = client.delete(where).json()
            assert ended["state"] == "cancelled"
            assert "begun again" in ended["problem"]["detail"]
            assert client.delete(where).json()["state"] == "cancelled"
            assert client.get(where, params={"wait": 5}).json()["state"] == "cancelled"
            events = client.get(f"{where}/events").text
            assert "event: cancelled" in events
            assert client.post("/v1/export", json={}).status_code == 202


def test_X15_the_server_says_what_it_works_with_to_its_master_only() -> None:
    with served() as server:
        keys = {"master": server.key(), "ann": server.key("user:ann")}
        answers = {}
        for name, key in keys.items():
            headers = {"Authorization": f"Bearer {key}"}
            with httpx2.Client(base_url=server.url, headers=headers) as client:
                answers[name] = client.get("/v1/server")
                doctor = client.post("/v1/doctor").status_code
                assert doctor == (400 if name == "master" else 403)  # a dict has no file
    assert answers["ann"].status_code == 403
    told = answers["master"].json()
    assert (told["store"], told["embedder"]) == ("dict", "hashing/384")
    assert "store_folder" not in told["settings"]
