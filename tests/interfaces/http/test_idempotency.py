"""Idempotency-Key: sent again is done once, whatever happened in between."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import httpx2
import pytest

from standfast.interfaces.http import build_app
from standfast.memory import AsyncMemory, once
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
    ann.post(
        "/v1/observe",
        json={"session": "once", "messages": [{"role": "user", "content": "x", "id": "x"}]},
    )
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
    "set_state": {"session": "there", "state": {"n": 1}},
    "procedure_used": {"id_or_name": "there", "success": True},
}
NEEDED: dict[str, tuple[str, dict[str, Any]]] = {
    "set_state": ("observe", {"session": "there", "messages": ["hello"]}),
    "procedure_used": ("save_procedure", {"name": "there", "steps": ["do it"]}),
}


class Dying:
    """A store whose process is gone before or behind one of its commits."""

    def __init__(self, store: Any, commits: int, behind: bool) -> None:
        self._store = store
        self._left = commits
        self._behind = behind

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(self, batch: Any) -> int:
        self._left -= 1
        if self._left < 0 or (self._left == 0 and not self._behind):
            raise ConnectionAbortedError("killed here")
        number: int = await self._store.commit(batch)
        if self._left == 0:
            raise ConnectionAbortedError("killed here")
        return number


def written(client: httpx2.Client) -> tuple[int, list[int]]:
    """How many records there are, and how much each change touched, upkeep's left out."""
    changes = client.get("/v1/changes").json()["items"]
    return count(client), [len(one["touched"]) for one in changes if one["actor"] == "http"]


QUICK = ("observe", "procedure_used")  # one with many commits, one that needs what was before


@pytest.mark.parametrize(
    "verb",
    [verb if verb in QUICK else pytest.param(verb, marks=pytest.mark.proof) for verb in KILLED],
)
def test_X2_a_server_killed_at_any_commit_does_not_write_twice(
    serve_app: ServeApp, verb: str
) -> None:
    needed, body = NEEDED.get(verb, ("forget", {"ids": ["nothing"]}))
    unhurt = serve_app("dict:", embedder="hashing", mcp=None)
    with unhurt.client() as client:
        client.post(f"/v1/{needed}", json=body)
        client.post(f"/v1/{verb}", json=KILLED[verb], headers=keyed("killed"))
        expected = written(client)
    for commits, behind in product((1, 2, 3), (False, True)):
        server = serve_app("dict:", embedder="hashing", mcp=None)
        door = server.app.state.door
        with server.client() as client:
            client.post(f"/v1/{needed}", json=body)
            dying = replace(server.engine, store=Dying(server.engine.store, commits, behind))
            door._memory = AsyncMemory(dying)
            died = client.post(f"/v1/{verb}", json=KILLED[verb], headers=keyed("killed"))
            assert died.status_code in (200, 500)  # some are done before
            door._memory = AsyncMemory(server.engine)
            again = client.post(f"/v1/{verb}", json=KILLED[verb], headers=keyed("killed"))
            assert again.status_code == 200, again.text
            assert died.status_code == 500 or again.content == died.content
            assert written(client) == expected, (commits, behind)
            third = client.post(f"/v1/{verb}", json=KILLED[verb], headers=keyed("killed"))
            replayed = third.headers["idempotency-replayed"]
            assert (third.content, replayed) == (again.content, "true")


def test_a_keyed_observe_is_one_commit(serve_app: ServeApp) -> None:
    server = serve_app("dict:", embedder="hashing", mcp=None)
    commits: list[Any] = []

    class Counting(Dying):
        async def commit(self, batch: Any) -> int:
            commits.append(batch)
            return await super().commit(batch)

    with server.client() as client:
        body = {"session": "s", "messages": ["to claim the space of vectors"]}
        client.post("/v1/observe", json=body, headers=keyed("zero"))
        counting = Counting(server.engine.store, 1000, behind=False)
        server.app.state.door._memory = AsyncMemory(replace(server.engine, store=counting))
        for number, key in enumerate(("one", "two", "two"), start=1):
            body = {"session": "s", "messages": [key]}
            client.post("/v1/observe", json=body, headers=keyed(key))
            assert len(commits) == min(number, 2)
    assert [batch.reason for batch in commits] == ["observe", "observe"]


def test_two_processes_with_one_key_write_once(tmp_path: Path) -> None:
    store = str(tmp_path / "memory.db")
    with (
        served(build_app(store, embedder="hashing", mcp=None)) as one,
        served(build_app(store, embedder="hashing", mcp=None)) as other,
        one.client() as here,
        other.client() as there,
        ThreadPoolExecutor(2) as pool,
    ):
        for number in range(20):
            for verb, body in (
                ("observe", {"session": f"s{number}", "messages": ["said by two"]}),
                ("remember", {"text": f"told by two for the {number}th time"}),
            ):

                def send(
                    client: httpx2.Client, verb: str = verb, body: Any = body, n: int = number
                ) -> tuple[int, bytes]:
                    answer = client.post(f"/v1/{verb}", json=body, headers=keyed(f"race {n}"))
                    return answer.status_code, answer.content

                answers = list(pool.map(send, (here, there)))
                assert answers[0] == answers[1]
                assert answers[0][0] == 200
        assert count(here) == 40


def test_ids_are_uuids_in_the_order_of_their_making_and_the_same_each_time() -> None:
    from uuid import UUID

    from standfast.wiring import new_uuid7

    def ids_behind(first: str) -> list[str]:
        make = once._ids(first)
        return [make() for _ in range(5000)]

    one, two = new_uuid7(), new_uuid7()
    assert ids_behind(one) == ids_behind(one)
    made = [one, *ids_behind(one), two, *ids_behind(two), new_uuid7()]
    assert made == sorted(set(made))
    assert {(len(id_), UUID(id_).version) for id_ in made} == {(36, 7)}


def test_a_key_for_every_scope_makes_no_user_of_its_own(serve_app: ServeApp) -> None:
    server = serve_app("dict:", embedder="hashing", mcp=None)
    server.key("all", rights=("read", "write", "admin"))
    with server.client("all") as client:
        body = {"scope": "user:zoe", "text": "only zoe is known here"}
        assert client.post("/v1/remember", json=body, headers=keyed("zoe")).status_code == 200
    assert server.run(server.engine.all_roots()) == ["user:zoe"]


def test_one_key_of_many_devices_is_not_one_write(admin: httpx2.Client) -> None:
    body = {"session": "kitchen or hall", "messages": ["turn on the light"]}
    ids = set()
    for device, scope in (("kitchen", "user:ann"), ("hall", "user:bob")):
        admin.put("/v1/devices", json={"device": device, "scope": scope})
        headers = {**keyed("device"), "X-Standfast-Device": device}
        answer = admin.post("/v1/observe", json=body, headers=headers)
        ids.add(answer.json()["items"][0]["record"])
    assert len(ids) == 2


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
