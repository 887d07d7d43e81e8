"""Idempotency-Key: sent again is done once, whatever happened in between."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from recollect.interfaces.http import build_app, idempotency
from recollect.memory import AsyncMemory
from tests.interfaces.http.conftest import ServeApp, Served, served


def keyed(key: str) -> dict[str, str]:
    return {"Idempotency-Key": key}


def count(client: httpx2.Client) -> int:
    number: int = client.get("/v1/stats").json()["records"]
    return number


WRITES: dict[str, dict[str, Any]] = {
    "observe": {"session": "once", "messages": ["said once", "and twice"]},
    "remember": {"text": "remembered once"},
    "note": {"session": "once", "text": "noted once"},
    "save_procedure": {"name": "once", "steps": ["do it"]},
    "set_state": {"session": "once", "state": {"n": 1}},
    "set_policy": {"scope": "user:ann:project:once", "persist": True},
    "forget": {"ids": ["nothing"]},
}


@pytest.mark.parametrize("verb", WRITES)
def test_X3_the_same_key_and_body_answer_again_and_change_nothing(
    ann: httpx2.Client, verb: str
) -> None:
    ann.post("/v1/observe", json={"session": "once", "messages": [{"content": "x", "id": "x"}]})
    first = ann.post(f"/v1/{verb}", json=WRITES[verb], headers=keyed(f"key of {verb}"))
    assert first.status_code == 200, first.text
    changes = ann.get("/v1/changes").json()
    records = count(ann)
    again = ann.post(f"/v1/{verb}", json=WRITES[verb], headers=keyed(f"key of {verb}"))
    assert (again.status_code, again.content) == (200, first.content)
    assert again.headers["idempotency-replayed"] == "true"
    assert "idempotency-replayed" not in first.headers
    assert ann.get("/v1/changes").json() == changes
    assert count(ann) == records


def test_another_body_is_a_conflict(ann: httpx2.Client) -> None:
    ann.post("/v1/remember", json={"text": "the first"}, headers=keyed("body"))
    before = count(ann)
    other = ann.post("/v1/remember", json={"text": "the second"}, headers=keyed("body"))
    assert other.status_code == 409
    assert other.headers["content-type"] == "application/problem+json"
    assert count(ann) == before


def test_a_key_belongs_to_one_caller_and_one_route(ann: httpx2.Client, bob: httpx2.Client) -> None:
    body = {"text": "the same text"}
    first = ann.post("/v1/remember", json=body, headers=keyed("mine"))
    theirs = bob.post("/v1/remember", json=body, headers=keyed("mine"))
    assert theirs.json()["items"][0]["id"] != first.json()["items"][0]["id"]
    state = {"session": "s", "text": "the same text"}
    assert ann.post("/v1/note", json=state, headers=keyed("mine")).status_code == 200


def test_what_failed_may_be_corrected_only_under_a_new_key(ann: httpx2.Client) -> None:
    wrong = ann.post("/v1/remember", json={"text": " "}, headers=keyed("wrong"))
    assert wrong.status_code == 400
    assert ann.post("/v1/remember", json={"text": " "}, headers=keyed("wrong")).text == wrong.text
    right = ann.post("/v1/remember", json={"text": "right"}, headers=keyed("wrong"))
    assert right.status_code == 409


@pytest.mark.parametrize("key", ["x" * 256, "ä", "a\tb"])
def test_a_key_that_is_none_is_refused(ann: httpx2.Client, key: str) -> None:
    headers = [(b"Idempotency-Key", key.encode("latin-1"))]
    answer = ann.post("/v1/remember", json={"text": "x"}, headers=headers)  # type: ignore[arg-type]
    assert answer.status_code == 400


def test_many_at_once_are_one(server: Served, ann: httpx2.Client) -> None:
    before = count(ann)
    body = {"session": "at once", "messages": ["one", "two", "three"]}

    def send(_: int) -> bytes:
        with server.client("ann") as client:
            return client.post("/v1/observe", json=body, headers=keyed("at once")).content

    with ThreadPoolExecutor(8) as pool:
        answers = set(pool.map(send, range(16)))
    assert len(answers) == 1
    assert count(ann) == before + 3


def test_it_holds_after_a_restart_and_for_a_day(tmp_path: Path) -> None:
    store = str(tmp_path / "memory.db")
    body = {"session": "s", "messages": ["before the restart"]}
    with served(build_app(store, embedder="hashing", mcp=None)) as server:
        secret = server.key("ann", "user:ann")
        with server.client("ann") as ann:
            first = ann.post("/v1/observe", json=body, headers=keyed("restart"))
    with served(build_app(store, embedder="hashing", mcp=None)) as server:
        server.keys["ann"] = secret
        with server.client("ann") as ann:
            again = ann.post("/v1/observe", json=body, headers=keyed("restart"))
            assert again.content == first.content
            assert count(ann) == 1
        items = server.run(
            server.engine.store.items("user:ann", "idempotency", now=server.engine.now())
        )
        left = [(item.expires_at - server.engine.now()).total_seconds() for item in items]
        assert [round(seconds / 3600) for seconds in left] == [24]
        raw = (tmp_path / "memory.db").read_bytes()
        assert b"restart" not in b"".join(str(i).encode() for i in items)
        assert secret.encode() not in raw


KILLED: dict[str, dict[str, Any]] = {
    "observe": {"session": "k", "messages": [f"message {n}" for n in range(150)]},
    "remember": {"text": "remembered while dying"},
    "save_procedure": {"name": "dying", "steps": ["hold on"]},
    "note": {"session": "k", "text": "noted while dying"},
}


@pytest.mark.parametrize("verb", KILLED)
def test_X2_a_server_killed_behind_the_write_does_not_do_it_twice(
    serve_app: ServeApp, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """The write landed, its answer was not put down: the next try must find what is there."""
    server = serve_app("dict:", embedder="none", mcp=None)
    put: Callable[..., Any] = idempotency._put

    async def dies(engine: Any, item: Any) -> Any:
        if "answer" in item.value:
            raise ConnectionAbortedError("killed here")
        return await put(engine, item)

    with server.client() as client:
        monkeypatch.setattr(idempotency, "_put", dies)
        died = client.post(f"/v1/{verb}", json=KILLED[verb], headers=keyed("killed"))
        assert died.status_code == 500
        before = (count(client), client.get("/v1/changes").json())
        monkeypatch.setattr(idempotency, "_put", put)
        again = client.post(f"/v1/{verb}", json=KILLED[verb], headers=keyed("killed"))
        assert again.status_code == 200, again.text
        assert (count(client), client.get("/v1/changes").json()) == before


def test_ids_are_the_same_each_time_and_in_the_order_of_their_making() -> None:
    from recollect.types import Item
    from recollect.wiring import new_uuid7

    def ids_behind(first: str) -> list[str]:
        value = {"body": "", "ids": first}
        item = Item(scope="user:ann", namespace="idempotency", key="k", value=value)
        make = idempotency._ids(item)
        return [make() for _ in range(5000)]

    one, two = new_uuid7(), new_uuid7()
    assert ids_behind(one) == ids_behind(one)
    made = [one, *ids_behind(one), two, *ids_behind(two), new_uuid7()]
    assert made == sorted(set(made))


def test_idempotency_is_no_memory(server: Served, ann: httpx2.Client) -> None:
    """It is not exported, and the journal that people read does not speak of it."""
    ann.post("/v1/remember", json={"text": "with a key"}, headers=keyed("travel"))
    assert "idempotency" not in ann.get("/v1/changes", params={"limit": 1000}).text

    async def exported() -> bytes:
        import io

        file = io.BytesIO()
        await AsyncMemory(server.engine).export_to(file)
        return file.getvalue()

    lines = [line for line in server.run(exported()).splitlines() if b'"type":"item"' in line]
    assert not any(b"idempotency" in line for line in lines)
