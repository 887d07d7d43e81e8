"""The stream of changes: in order, resumed without loss, without words unless asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from standfast.interfaces.http.routes import streams
from standfast.memory import stream
from tests.serving import Served, served

httpx = pytest.importorskip("httpx2")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setattr(stream, "PULSE_SECONDS", 0.2)
    monkeypatch.setattr(stream, "POLL_SECONDS", 0.05)
    with served() as running:
        yield running


def remember(server: Served, text: str, scope: str = "user:ann") -> None:
    server.run(lambda _: server.memory.remember(text, scope=scope, data={"note": text}))


def events(server: Served, key: str, *, last: str = "", **query: Any) -> Iterator[dict[str, Any]]:
    headers = {"Authorization": f"Bearer {key}"} | ({"Last-Event-ID": last} if last else {})
    client = httpx.Client(base_url=server.url, headers=headers, timeout=20)
    with client, client.stream("GET", "/v1/changes/stream", params=query) as answer:
        assert answer.status_code == 200
        found: dict[str, Any] = {}
        for line in answer.iter_lines():
            name, _, value = line.partition(": ")
            if line and name:
                found[name] = json.loads(value) if name == "data" else value
            elif "event" in found:
                yield found
                found = {}


def test_X15_changes_come_in_order_and_from_the_last_one_on(server: Served) -> None:
    key = server.key()
    for n in range(4):
        remember(server, f"The number of the house is {n}{n}")
    seen = events(server, key, after="start", scope="user:ann")
    assert next(seen)["event"] == "hello"
    first, second = next(seen), next(seen)
    assert [first["data"]["seq"], second["data"]["seq"]] == [1, 2]
    seen.close()
    rest = events(server, key, last=first["id"], scope="user:ann")
    assert next(rest)["event"] == "hello"
    assert [next(rest)["data"]["seq"] for _ in range(3)] == [2, 3, 4]
    remember(server, "The door is green")
    assert next(rest)["data"]["seq"] == 5
    rest.close()


def test_X15_what_memories_say_is_sent_only_to_who_asks_for_it(server: Served) -> None:
    key = server.key()
    remember(server, "The vault code is 4711")
    plain = events(server, key, after="start")
    assert next(plain)["event"] == "hello"
    told = json.dumps(next(plain))
    plain.close()
    assert "4711" not in told
    full = events(server, key, after="start", text="true")
    assert next(full)["event"] == "hello"
    change = next(full)["data"]
    full.close()
    texts = [touch.get("text") for touch in change["touched"] if touch["kind"] == "record"]
    assert texts == ["The vault code is 4711"]


def test_X15_nobody_hears_of_others(server: Served) -> None:
    bob = server.key("user:bob", rights=("read",))
    remember(server, "Ann has a secret")
    remember(server, "Bob has none", scope="user:bob")
    heard = events(server, bob, after="start", text="true")
    assert next(heard)["data"] == {"roots": ["user:bob"]}
    assert next(heard)["data"]["root"] == "user:bob"
    heard.close()
    client = httpx.Client(base_url=server.url, headers={"Authorization": f"Bearer {bob}"})
    with client:
        refused = client.get("/v1/changes/stream", params={"scope": "user:ann"})
        assert refused.status_code == 403
        made_up = client.get("/v1/changes/stream", params={"after": "x!"})
        assert made_up.status_code == 400
        assert "start" in made_up.json()["detail"]


def test_X15_a_revoked_key_hears_no_more(server: Served) -> None:
    server.key()
    key = server.key("user:ann", rights=("read",))
    heard = events(server, key, scope="user:ann")
    assert next(heard)["event"] == "hello"
    client = httpx.Client(base_url=server.url, headers={"Authorization": f"Bearer {key}"})
    with client:
        assert client.post("/v1/logout").status_code == 200
    assert next(heard)["event"] == "bye"
    heard.close()


def test_X15_a_pruned_journal_is_told_as_a_gap(server: Served) -> None:
    from standfast.types import Batch

    key = server.key()
    for n in range(3):
        remember(server, f"The number of the house is {n}{n}")
    seen = events(server, key, after="start", scope="user:ann")
    assert [next(seen)["event"] for _ in range(2)] == ["hello", "change"]
    seen.close()
    seen = events(server, key, after="start", scope="user:ann")
    first = [next(seen), next(seen)][1]["id"]
    seen.close()

    async def prune(engine: Any) -> None:
        batch = Batch(id="prune", root="user:ann", at=engine.now(), reason="prune", prune=(1, 2))
        await engine.store.commit(batch)

    server.run(prune)
    again = events(server, key, last=first, scope="user:ann")
    names = [next(again)["event"] for _ in range(3)]
    again.close()
    assert names == ["hello", "gap", "change"]


def test_X12_all_keys_of_a_root_share_its_streams(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each key had its own sixteen, and a tenant's admin makes keys."""
    monkeypatch.setattr(streams, "TENANT_STREAMS_MAX", 3)
    open_ones = []
    for _ in range(3):
        one = events(server, server.key("user:ann"))
        assert next(one)["event"] == "hello"
        open_ones.append(one)
    headers = {"Authorization": f"Bearer {server.key('user:ann')}"}
    refused = httpx.get(f"{server.url}/v1/changes/stream", headers=headers)
    assert refused.status_code == 429
    assert "user:ann" in refused.json()["detail"]
    other = events(server, server.key("user:bob"))
    assert next(other)["event"] == "hello"
    for one in (*open_ones, other):
        one.close()
