"""Safety statements over HTTP: who may end one, by the key that says it."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from standfast.access import keys
from tests.interfaces.http.conftest import ServeApp, Served

ASSERTED, DENIED = "I am allergic to nuts", "I am not allergic to nuts any more"


def told(answer: httpx2.Response) -> Any:
    assert answer.status_code < 300, answer.text
    return answer.json()


def client_of(server: Served, holder: str) -> httpx2.Client:
    made = keys.create_key(
        server.engine, name=holder, scopes=["user:ann"], rights=("read", "write"), holder=holder
    )
    server.keys[holder] = server.run(made)[1]
    return server.client(holder)


def active(client: httpx2.Client) -> list[str]:
    listed = told(client.get("/v1/records", params={"statuses": "active", "kinds": "semantic"}))
    return [one["text"] for one in listed["items"] if one["type"] != "turn"]


@pytest.mark.parametrize(
    ("holder", "ended"), [("person", True), ("agent", False), ("service", False)]
)
def test_X6_only_a_persons_own_key_ends_a_safety_statement(
    serve_app: ServeApp, holder: str, ended: bool
) -> None:
    server = serve_app("dict:")
    with client_of(server, "person") as person, client_of(server, holder) as other:
        told(person.post("/v1/remember", json={"text": ASSERTED}))
        said = {"text": DENIED, "source": "user"}
        [item] = told(other.post("/v1/remember", json=said))["items"]
        assert item["status"] == ("stored" if ended else "disputed")
        assert (ASSERTED in active(person)) is not ended
        text = told(person.post("/v1/context", json={"query": "nuts"}))["text"]
        assert ("allergy: ended on" in text) is ended


def test_X6_a_correction_over_http_needs_review(serve_app: ServeApp) -> None:
    server = serve_app("dict:")
    with client_of(server, "person") as person, client_of(server, "service") as other:
        [kept] = told(person.post("/v1/remember", json={"text": "Ann is allergic to nuts"}))[
            "items"
        ]
        denied = {"id": kept["id"], "text": "Ann is not allergic to nuts"}
        told(other.post("/v1/edit", json=denied))
        told(other.post("/v1/remember", json={"text": "No allergy", "supersedes": kept["id"]}))
        assert active(person) == ["Ann is allergic to nuts"]
        assert len(told(person.get("/v1/review"))["items"]) == 2
