"""Keys over HTTP: who gets in, how far, and how often."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from standfast.access import keys
from standfast.access.quotas import Buckets
from standfast.interfaces.http import build_app
from standfast.interfaces.http.callers import is_loopback
from standfast.memory import AsyncMemory
from standfast.settings import Settings
from tests.interfaces.http.conftest import ServeApp, Served, served

OPEN = {"/health", "/openapi.json"}
CALLERS = 12


def test_A10_every_route_but_health_and_the_documentation_wants_a_key(
    server: Served, admin: httpx2.Client
) -> None:
    with server.client() as nobody:
        for path, operations in admin.get("/openapi.json").json()["paths"].items():
            for method in operations:
                answer = nobody.request(method, path, json={} if method != "get" else None)
                if path in OPEN:
                    assert answer.status_code == 200
                    continue
                # Too many of them: not even that is told any more.
                assert answer.status_code in (401, 429), (method, path)
                if answer.status_code == 401:
                    assert answer.headers["www-authenticate"].startswith("Bearer")
        for path in ("/mcp", "/nothing", "/v1", "/console", "/console/"):
            assert nobody.get(path).status_code in (401, 429)


NO_KEYS = (
    "Bearer",
    "Bearer rck_",
    "Bearer rck_" + "A" * 43,
    "Basic YTpi",
    "rck_" + "A" * 43,
    "Bearer rck_' OR 1=1 --",
    "Bearer " + "x" * 5000,
)


def test_A10_what_is_no_key_gets_nobody_in(serve_app: ServeApp) -> None:
    server = serve_app("dict:")
    server.key("ann", "user:ann")
    with server.client() as client:
        for header in NO_KEYS:
            answer = client.get("/v1/records", headers={"Authorization": header})
            assert answer.status_code == 401
            assert answer.headers["content-type"] == "application/problem+json"
            assert "rck_A" not in answer.text


def test_A10_while_there_is_no_key_this_machine_may_all_and_then_nobody(
    serve_app: ServeApp,
) -> None:
    server = serve_app("dict:")
    with server.client() as client:
        assert client.get("/v1/records").status_code == 200
        made = client.post("/v1/keys", json={"scopes": ["user:ann"]})
        assert made.status_code == 201
        assert client.get("/v1/records").status_code == 401
        client.headers["Authorization"] = f"bearer {made.json()['key']}"
        assert client.get("/v1/records").status_code == 200
        revoked = server.run(keys.revoke_key(server.engine, made.json()["id"]))
        assert revoked.revoked_at is not None
        assert client.get("/v1/records").status_code == 401
        del client.headers["Authorization"]
        assert client.get("/v1/records").status_code == 401, "revoking the last opens nothing"


def test_A10_without_keys_another_machine_gets_nothing() -> None:
    import asyncio

    async def scenario() -> int:
        app = build_app("dict:", embedder="none", mcp=None)
        async with app.router.lifespan_context(app):
            transport = httpx2.ASGITransport(app=app, client=("192.0.2.7", 1234))
            async with httpx2.AsyncClient(
                transport=transport, base_url="http://127.0.0.1"
            ) as client:
                answer = await client.get("/v1/records")
                assert "only the server's own machine" in answer.text
                return answer.status_code

    assert asyncio.run(scenario()) == 401


@pytest.mark.parametrize(
    ("host", "own"),
    [("127.0.0.1", True), ("127.8.0.1", True), ("::1", True), ("localhost", True), ("", True),
     ("::ffff:127.0.0.1", True), ("0.0.0.0", False), ("::", False), ("10.0.0.1", False),
     ("::ffff:10.0.0.1", False), ("localhost.evil.example", False)],
)  # fmt: skip
def test_what_this_machine_is(host: str, own: bool) -> None:
    assert is_loopback(host) is own


def test_A10_rights_hold(server: Served) -> None:
    with server.client("reader") as reader:
        assert reader.get("/v1/records").status_code == 200
        for path, body in {
            "remember": {"text": "x"},
            "observe": {"session": "s", "messages": ["x"]},
            "forget": {"ids": ["x"]},
            "undo": {"change": "x"},
            "set_policy": {"scope": "user:ann", "persist": False},
            "maintain": {},
            "keys": {"scopes": ["user:ann"]},
        }.items():
            answer = reader.post(f"/v1/{path}", json=body, headers={"Idempotency-Key": "k"})
            assert answer.status_code == 403, (path, answer.text)
            assert "right" in answer.json()["detail"]
        import_ = reader.post(
            "/v1/import", content=b"{}\n", headers={"Content-Type": "application/x-ndjson"}
        )
        assert import_.status_code == 403
    items = server.run(
        server.engine.store.items("user:ann", "idempotency", now=server.engine.now())
    )
    assert items == [], "nothing was put down for who may not write"


def test_A10_a_device_narrows_a_key_and_never_widens_it(
    server: Served, admin: httpx2.Client, ann: httpx2.Client
) -> None:
    for device, scope in (("kitchen", "user:ann"), ("garage", "user:bob")):
        mapped = admin.put("/v1/devices", json={"device": device, "scope": scope})
        assert mapped.status_code == 200, mapped.text
    assert {"id": "kitchen", "scope": "user:ann"} in admin.get("/v1/devices").json()["devices"]
    kitchen = {"X-Standfast-Device": "kitchen"}
    said = admin.post("/v1/remember", json={"text": "heard in the kitchen"}, headers=kitchen)
    id_ = said.json()["items"][0]["id"]
    assert ann.get(f"/v1/records/{id_}").json()["scope"] == "user:ann"
    denied = admin.get("/v1/records", params={"scope": "user:bob"}, headers=kitchen)
    assert denied.status_code == 403
    unknown = ann.get("/v1/records", headers={"X-Standfast-Device": "attic"})
    theirs = ann.get("/v1/records", headers={"X-Standfast-Device": "garage"})
    assert unknown.status_code == theirs.status_code == 404
    assert unknown.text.replace("attic", "garage") == theirs.text
    assert server.keys


def test_A10_a_key_revoked_elsewhere_is_refused_at_once_however_many_use_it(
    serve_app: ServeApp, tmp_path: Path
) -> None:
    file = str(tmp_path / "memory.db")
    server = serve_app(file, settings=Settings(rate=0))
    revoked = threading.Event()
    early: list[int] = []
    late: list[int] = []

    def ask(secret: str) -> None:
        with server.client(headers={"Authorization": f"Bearer {secret}"}) as client:
            known = True
            while known:
                sent_late = revoked.is_set()
                status = client.get("/v1/records").status_code
                (late if sent_late else early).append(status)
                known = not sent_late and status == 200

    async def revoke() -> None:
        async with await AsyncMemory.open(file, embedder="none", background=False) as other:
            await keys.revoke_key(other._engine, id_)

    made = server.run(keys.create_key(server.engine, name="shared", scopes=("user:ann",)))
    id_, secret = made[0].id, made[1]
    with ThreadPoolExecutor(CALLERS) as pool:
        asking = [pool.submit(ask, secret) for _ in range(CALLERS)]
        while len(early) < 10 * CALLERS and not any(one.done() for one in asking):
            time.sleep(0.01)
        asyncio.run(revoke())
        revoked.set()
        for one in asking:
            one.result()
    assert early.count(200) > CALLERS
    assert set(late) <= {401, 429}, "a request was let in that was sent after the key was gone"


def test_A10_keys_are_made_listed_and_revoked_by_an_admin_only(
    server: Served, admin: httpx2.Client, ann: httpx2.Client
) -> None:
    assert ann.get("/v1/keys").status_code == 403
    assert ann.put("/v1/devices", json={"device": "x", "scope": "user:ann"}).status_code == 403
    made = admin.post(
        "/v1/keys", json={"name": "tv", "scopes": ["user:ann:device:tv"], "rights": ["read"]}
    )
    assert made.status_code == 201
    secret, id_ = made.json()["key"], made.json()["id"]
    listed = admin.get("/v1/keys").text
    assert id_ in listed
    assert secret not in listed
    assert admin.delete(f"/v1/keys/{id_}").json()["revoked_at"]
    with server.client(headers={"Authorization": f"Bearer {secret}"}) as tv:
        assert tv.get("/v1/records").status_code in (401, 429)
    assert admin.delete("/v1/keys/nothing").status_code == 404
    local = server.key("local admin", "user:ann", rights=("read", "admin"))
    with server.client(headers={"Authorization": f"Bearer {local}"}) as part:
        wide = part.post("/v1/keys", json={"scopes": ["user:bob"]})
        assert wide.status_code == 403
        everything = part.post("/v1/keys", json={"rights": ["admin", "read"]})
        assert everything.json()["scopes"] == ["user:ann"]
        assert "bob" not in part.get("/v1/keys").text


# How often


def test_X12_a_key_has_a_rate_and_is_told_when_to_come_back(serve_app: ServeApp) -> None:
    server = serve_app("dict:", settings=Settings(rate=5))
    server.key("ann", "user:ann")
    server.key("bob", "user:bob")
    with server.client("ann") as ann, server.client("bob") as bob:
        answers = [ann.get("/v1/records") for _ in range(8)]
        assert [a.status_code for a in answers] == [200] * 5 + [429] * 3
        assert 1 <= int(answers[-1].headers["retry-after"]) <= 13
        assert bob.get("/v1/records").status_code == 200, "others are not slowed down"
        assert ann.get("/health").status_code == 200


def test_a_bucket_fills_up_again() -> None:
    now = 0.0
    buckets = Buckets(60, lambda: now)
    assert [buckets.take("a") for _ in range(60)] == [0.0] * 60
    assert buckets.take("a") == pytest.approx(1.0)
    now = 0.5
    assert buckets.take("a") == pytest.approx(0.5)
    now = 1.0
    assert buckets.take("a") == 0.0
    assert buckets.take("a") > 0
    assert Buckets(0).take("a") == 0.0


def test_buckets_do_not_grow_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("standfast.access.quotas.BUCKETS_MAX", 10)
    buckets = Buckets(2, lambda: 0.0)
    for number in range(100):
        buckets.take(str(number))
    assert len(buckets._left) <= 10


def test_A10_failed_keys_are_limited_and_good_ones_are_not(serve_app: ServeApp) -> None:
    server = serve_app("dict:")
    server.key("ann", "user:ann")
    with server.client() as nobody, server.client("ann") as ann:
        codes = [
            nobody.get("/v1/records", headers={"Authorization": f"Bearer rck_{n:043}"}).status_code
            for n in range(40)
        ]
        assert {*codes[:30]} == {401}
        assert codes.count(429) >= 5, "but for those that the time brought"
        assert ann.get("/v1/records").status_code == 200


@pytest.fixture
def quota_server(tmp_path: Path) -> Callable[[], Any]:
    store = str(tmp_path / "memory.db")
    return lambda: served(build_app(store, embedder="hashing", settings=Settings(writes_per_day=3)))


def test_X12_writes_a_day_are_limited_also_after_a_restart(
    quota_server: Callable[[], Any],
) -> None:
    with quota_server() as server:
        key = server.key("ann", "user:ann")
        with server.client("ann") as ann:
            first = [ann.post("/v1/remember", json={"text": f"fact {n}"}) for n in range(2)]
            assert [a.status_code for a in first] == [200, 200]
    with quota_server() as server:
        server.keys["ann"] = key
        server.key("bob", "user:bob")
        with server.client("ann") as ann, server.client("bob") as bob:
            codes = [
                ann.post("/v1/remember", json={"text": f"fact {n} more"}).status_code
                for n in range(2)
            ]
            assert codes == [200, 429]
            late = ann.post("/v1/note", json={"session": "s", "text": "x"})
            assert int(late.headers["retry-after"]) <= 86_401
            assert ann.get("/v1/records").status_code == 200, "reading is no writing"
            assert bob.post("/v1/remember", json={"text": "x is y"}).status_code == 200


def test_X12_the_count_is_in_the_store_within_seconds(quota_server: Callable[[], Any]) -> None:
    with quota_server() as server:
        server.key("ann", "user:ann")
        with server.client("ann") as ann:
            ann.post("/v1/remember", json={"text": "one"})
        store, engine = server.engine.store, server.engine
        for _ in range(100):
            cells = server.run(store.registry.list("quota\t", now=engine.now()))
            if cells:
                break
            time.sleep(0.1)
        assert [cell.value for cell in cells] == [1]
