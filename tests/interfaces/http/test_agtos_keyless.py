"""agtOS's document asks on port 4102 and shows two routes without a key; only this machine may."""

from __future__ import annotations

import socket

import httpx2
import pytest

from standfast.settings import Settings
from standfast.wiring import read_settings
from tests.interfaces.http.conftest import ServeApp

# What programs that pass requests on add to them.
PASSED_ON = (
    "Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP",
    "X-Forwarded-Port", "X-Forwarded-Server", "X-Original-Forwarded-For", "X-Client-IP", "CF-Ray",
    "X-Cluster-Client-IP", "CF-Connecting-IP", "True-Client-IP", "Fastly-Client-IP", "CDN-Loop",
    "X-Envoy-External-Address", "X-Original-Host", "X-Amzn-Trace-Id", "X-ProxyUser-IP", "X-ARR-SSL",
)  # fmt: skip
ROUTES = ("/api/memory/episodes", "/api/memory/search?q=flat")


def test_under_agtos_the_server_listens_on_4102() -> None:
    assert read_settings({"STANDFAST_PROFILE": "agtos"}).port == 4102
    assert read_settings({"STANDFAST_PROFILE": "agtos", "STANDFAST_PORT": "9"}).port == 9
    assert read_settings({}, profile="agtos").port == 4102
    assert Settings().port == read_settings({}).port == 4777


@pytest.fixture
def asked(serve_app: ServeApp) -> httpx2.Client:
    server = serve_app(profile="agtos")
    server.key("ann", "user:ann", rights=("read", "write"))
    with server.client("ann") as ann:
        ann.post("/v1/observe", json={"session": "s", "messages": ["Book the flat in Rome"]})
        ann.post("/v1/end", json={"session": "s", "outcome": "the flat is booked"})
    return server.client()


def test_its_two_routes_answer_this_machine_without_a_key(asked: httpx2.Client) -> None:
    with asked:
        for route in ROUTES:
            assert asked.get(route).json()["count"] == 1


def test_everything_else_needs_a_key(asked: httpx2.Client) -> None:
    with asked:
        for route in ("/v1/records", "/v1/sessions", "/metrics", "/api/memory/episodes/"):
            assert asked.get(route).status_code in (401, 404)
        assert asked.get("/v1/records").status_code == 401
        assert asked.post("/v1/recall", json={"query": "flat"}).status_code == 401


def test_nobody_elses_request_passes_for_this_machines(asked: httpx2.Client) -> None:
    with asked:
        for name in PASSED_ON:
            assert asked.get(ROUTES[0], headers={name: "1.2.3.4"}).status_code == 401, name
        bad_key = {"Authorization": "Bearer rck_nothing"}
        assert asked.get(ROUTES[0], headers=bad_key).status_code == 401
        assert asked.get(ROUTES[0], headers={"Host": "evil.example"}).status_code == 421
        foreign = {"Origin": "https://evil.example"}
        assert asked.get(ROUTES[0], headers=foreign).status_code == 403


def test_who_passes_requests_on_and_says_nothing_speaks_an_older_http(asked: httpx2.Client) -> None:
    """As a widespread server does unless it is told otherwise, with the name of this machine."""
    with asked, socket.create_connection((asked.base_url.host, asked.base_url.port)) as line:
        said = f"GET {ROUTES[0]} HTTP/1.0\r\nHost: {asked.base_url.netloc.decode()}\r\n\r\n"
        line.sendall(said.encode())
        assert line.makefile("rb").readline().split()[1] == b"401"


def test_of_several_people_nobody_is_shown_without_a_key(serve_app: ServeApp) -> None:
    server = serve_app(profile="agtos")
    for name in ("ann", "bob"):
        server.key(name, f"user:{name}", rights=("read", "write"))
        with server.client(name) as client:
            client.post("/v1/remember", json={"text": f"{name} met Eve", "type": "episode"})
    with server.client() as nobody:
        assert nobody.get(ROUTES[0]).json()["count"] == 0


def test_other_profiles_want_a_key(serve_app: ServeApp) -> None:
    server = serve_app()
    server.key("ann", "user:ann", rights=("read",))
    with server.client() as nobody:
        assert nobody.get(ROUTES[0]).status_code == 401
