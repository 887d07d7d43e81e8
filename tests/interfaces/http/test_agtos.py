"""A4: agtOS's two routes, exact in shape."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from standfast.errors import Unavailable
from standfast.memory import AsyncMemory
from tests.interfaces.http.conftest import ServeApp

FIELDS = ["id", "summary", "keywords", "topic", "timestamp", "importance", "type"]


@pytest.fixture(scope="module", autouse=True)
def history(ann: httpx2.Client, bob: httpx2.Client) -> None:
    for client, city in ((ann, "Lisbon"), (bob, "Oslo")):
        asked = f"What is the weather forecast for {city}? I prefer sunny days by the sea."
        messages = [
            {"role": "user", "content": asked},
            {"role": "assistant", "content": f"Sunny in {city}"},
        ]
        for session in ("one", "two"):
            client.post("/v1/observe", json={"session": f"{city} {session}", "messages": messages})
            outcome = {"outcome": "told"} if session == "two" else {}
            done = client.post("/v1/end", json={"session": f"{city} {session}", **outcome})
            assert done.json()["items"][0]["status"] == "stored", done.text
    ann.post("/v1/remember", json={"text": "The weather in Lisbon is mild", "type": "fact"})


def episodes(client: httpx2.Client, path: str = "episodes", **params: Any) -> Any:
    answer = client.get(f"/api/memory/{path}", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_A4_episodes_are_exact_in_shape(ann: httpx2.Client) -> None:
    body = episodes(ann)
    assert list(body) == ["episodes", "count", "available"]
    assert (body["count"], body["available"]) == (2, True)
    for episode in body["episodes"]:
        assert list(episode) == FIELDS
        assert isinstance(episode["timestamp"], int)
        assert episode["timestamp"] > 1_700_000_000_000
        assert 0 <= episode["importance"] <= 1
        assert "Lisbon" in episode["summary"]
        assert episode["topic"] == episode["keywords"][0]
        assert all(isinstance(word, str) for word in episode["keywords"])
    assert {episode["type"] for episode in body["episodes"]} == {"conversation", "task"}


def test_A4_search_finds_episodes_and_never_turns_or_facts(ann: httpx2.Client) -> None:
    body = episodes(ann, "search", q="weather Lisbon")
    assert list(body) == ["episodes", "count", "available"]
    assert body["count"] == len(body["episodes"]) == 2
    assert episodes(ann, "search", q="weather", limit=1)["count"] == 1
    assert episodes(ann, limit=1)["count"] == 1


def test_A4_A10_nobody_sees_the_episodes_of_others(bob: httpx2.Client) -> None:
    for body in (episodes(bob), episodes(bob, "search", q="Lisbon weather")):
        assert "Lisbon" not in str(body)
        assert body["count"] == 2


@pytest.mark.parametrize(
    "address",
    [
        "episodes?limit=0",
        "episodes?limit=101",
        "episodes?limit=ten",
        "search",
        "search?q=",
        "search?q=%20",
        "search?q=x&limit=0",
        "search?q=x&limit=51",
    ],
)
def test_A4_wrong_parameters_are_refused(ann: httpx2.Client, address: str) -> None:
    answer = ann.get(f"/api/memory/{address}")
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "address", ["episodes?limit=100", "episodes?limit=1", "search?q=x&limit=50"]
)
def test_A4_the_limits_themselves_are_fine(ann: httpx2.Client, address: str) -> None:
    assert ann.get(f"/api/memory/{address}").status_code == 200


def test_A6_what_is_degraded_goes_into_a_header(
    serve_app: ServeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve_app("dict:", embedder="none")
    with server.client() as client:
        answer = client.get("/api/memory/search", params={"q": "x"})
        assert answer.json() == {"episodes": [], "count": 0, "available": True}
        assert "no vector search" in answer.headers["x-standfast-degraded"]

        async def fails(*_: Any, **__: Any) -> None:
            raise Unavailable("cannot read /secret/place/memory.db:\r\nInjected: yes")

        monkeypatch.setattr(AsyncMemory, "recall", fails)
        answer = client.get("/api/memory/episodes")
        assert answer.json() == {"episodes": [], "count": 0, "available": False}
        assert "secret" not in answer.headers["x-standfast-degraded"]
        assert "injected" not in answer.headers


@pytest.mark.parametrize("keywords", [5, {"a": 1}, "one", [], [None, 1], True])
def test_A4_what_somebody_wrote_into_data_stops_no_list(serve_app: ServeApp, keywords: Any) -> None:
    server = serve_app("dict:")
    body = {"text": "Ann asked about tea", "type": "episode", "kind": "episodic"}
    data = {"keywords": keywords, "topic": {"a": [1]}, "kind": []}
    with server.client() as client:
        assert client.post("/v1/remember", json={**body, "data": data}).status_code == 200
        (episode,) = episodes(client)["episodes"]
    assert list(episode) == FIELDS
    assert all(isinstance(word, str) for word in episode["keywords"])
