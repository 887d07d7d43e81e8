"""The Python client: a memory on a server has the verbs and the results of a local one."""

from __future__ import annotations

import asyncio
import inspect
import io
import re
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from standfast import (
    AsyncMemory,
    Conflict,
    Denied,
    Incompatible,
    Invalid,
    Memory,
    NotFound,
    StandfastError,
    Unavailable,
)
from standfast.interfaces.client import RemoteMemory
from standfast.interfaces.client.encode import as_query, plain
from standfast.interfaces.client.failures import error_of, error_of_problem
from standfast.interfaces.http.app import build_app
from tests.interfaces.lossy import LossyProxy
from tests.serving import Served, served

NOT_VERBS = {"open", "connect", "close"}
NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


def verbs() -> list[str]:
    found = inspect.getmembers(AsyncMemory, inspect.iscoroutinefunction)
    return [name for name, _ in found if not name.startswith("_") and name not in NOT_VERBS]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One for all tests of this file; each uses scopes of its own."""
    with served(str(tmp_path_factory.mktemp("client") / "memory.db")) as running:
        yield running


@pytest.fixture(scope="module")
def key(server: Served) -> str:
    return server.key()


@pytest.fixture
def memory(server: Served, key: str) -> Iterator[Memory]:
    with Memory.connect(server.url, key) as connected:
        yield connected


# The same verbs


@pytest.mark.parametrize("verb", verbs())
def test_every_verb_has_the_signature_of_the_local_one(verb: str) -> None:
    local, remote = getattr(AsyncMemory, verb), getattr(RemoteMemory, verb)
    assert remote is not local, "it would look for an engine that is not here"
    assert inspect.iscoroutinefunction(remote)
    assert inspect.signature(remote) == inspect.signature(local)
    assert inspect.signature(getattr(Memory, verb)) == inspect.signature(local)
    assert remote.__doc__ == local.__doc__


# What a route does not take by the name that the verb has for it.
ELSEWHERE = {
    "confirm": {"packet"},
    "reembed": {"progress"},
    "export_to": {"path", "progress"},
    "import_from": {"path", "actor", "progress"},
}
ROUTES = {"export_to": "/v1/export", "import_from": "/v1/import"}


@cache
def described() -> dict[str, Any]:
    return build_app("dict:", mcp=None).openapi()


@pytest.mark.parametrize("verb", verbs())
def test_the_server_takes_every_argument(verb: str) -> None:
    route = described()["paths"][ROUTES.get(verb, f"/v1/{verb}")]
    operation = route.get("post") or route["get"]
    taken = {one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"}
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if body:
        name = body["schema"]["$ref"].rpartition("/")[2]
        taken |= set(described()["components"]["schemas"][name]["properties"])
    arguments = set(inspect.signature(getattr(AsyncMemory, verb)).parameters) - {"self"}
    assert arguments - ELSEWHERE.get(verb, set()) <= taken


# The same results


def fill(memory: Memory, scope: str) -> str:
    """A bit of everything; the id of one record."""
    first = memory.remember("Ann lives in Berlin", scope=scope, tags={"home"}, author="ann")
    memory.remember("Ann lives in Hamburg", scope=scope, source="web", data={"n": [1, 2.5, None]})
    other = memory.remember("Ann likes tea", scope=scope, durability="core", importance=0.9)
    memory.relate(other.items[0].id, "supports", first.items[0].id)
    memory.observe(
        "chat",
        [
            "I need the flat by Monday",
            {"role": "assistant", "content": "I booked it", "at": "2026-05-03T10:00:00+02:00"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "1", "function": {"name": "book", "arguments": "{}"}}],
            },
        ],
        scope=scope,
        channel="mail",
    )
    memory.observe("inbox", "the nightly job failed", scope=scope, pending=True)
    memory.save_procedure("book", ["look", "pay"], triggers=["book flat"], scope=scope)
    memory.note("chat", "waits for the landlord", role="chief", scope=scope)
    memory.set_state("chat", {"step": {"n": 1}}, scope=scope)
    memory.set_policy(f"{scope}:project:secret", persist=False)
    return first.items[0].id


READS: dict[str, Callable[[Memory, str, str], Any]] = {
    "recall": lambda m, s, _: m.recall("where does Ann live?", scope=s, explain=True, now=NOW),
    "recall the newest": lambda m, s, _: m.recall("", scope=[s], limit=3, now=NOW),
    "context": lambda m, s, _: m.context(session="chat", query="flat", scope=s, now=NOW),
    "context for anthropic": lambda m, s, _: m.context(session="chat", scope=s, shape="anthropic"),
    "find_procedures": lambda m, s, _: m.find_procedures("book a flat", scope=s),
    "get": lambda m, _, id_: m.get((id_, "nobody")),
    "history": lambda m, _, id_: m.history(id_),
    "history of a scope": lambda m, s, _: m.history(scope=s, limit=5),
    "review": lambda m, s, _: m.review(scope=s),
    "records": lambda m, s, _: m.records(scope=s, kinds=["semantic"], since=0, limit=2),
    "relations": lambda m, _, id_: m.relations(id_),
    "sessions": lambda m, s, _: m.sessions(scope=s, descend=True),
    "messages": lambda m, s, _: m.messages("chat", scope=s),
    "messages, the newest": lambda m, s, _: m.messages("chat", scope=s, newest=True, limit=1),
    "pending": lambda m, s, _: m.pending(scope=s),
    "changes": lambda m, s, _: m.changes(scope=s, limit=3),
    "usage": lambda m, s, _: m.usage(scope=s),
    "due": lambda m, s, _: m.due(scope=s),
    "stats": lambda m, s, _: m.stats(scope=s),
    "scopes": lambda m, s, _: m.scopes(scope=s),
    "summaries": lambda m, s, _: m.summaries("chat", scope=s),
    "why_not": lambda m, s, id_: m.why_not(id_, "the moon", scope=s, now=NOW),
    "policies": lambda m, s, _: m.policies(scope=s),
}


def test_every_read_answers_as_a_local_memory_does(tmp_path: Path) -> None:
    store = str(tmp_path / "memory.db")
    clock = lambda: NOW  # noqa: E731
    with (
        served(store, clock=clock) as server,
        Memory.connect(server.url, server.key()) as remote,
        Memory.open(store, embedder="hashing", background=False, clock=clock) as local,
    ):
        id_ = fill(remote, "user:ann")
        for name, read in READS.items():
            here, there = read(local, "user:ann", id_), read(remote, "user:ann", id_)
            assert there == here, name
            assert type(there) is type(here), name
    assert {re.split(r"\W", name)[0] for name in READS} == {v for v in verbs() if only_reads(v)}


def only_reads(verb: str) -> bool:
    operations = described()["paths"].get(f"/v1/{verb}", {}).values()
    tags = {tag for operation in operations for tag in operation.get("tags", ())}
    return verb == "review" or bool(tags & {"reading", "listing"})


def test_every_write_answers_with_a_receipt(memory: Memory) -> None:
    scope = "user:writer"
    id_ = fill(memory, scope)
    packet = memory.context(scope=scope, query="job")
    assert [item.status for item in memory.confirm(packet).items]
    assert memory.pending(scope=scope) == ()
    archived = memory.archive([id_])
    assert memory.get([id_])[0].status == "archived"
    assert memory.undo(archived.change).items[0].status == "restored"
    assert memory.procedure_used("book", success=False, scope=scope, note="too late").items
    assert memory.end("chat", scope=scope, outcome="the flat is booked").items
    for question in memory.review(scope=scope):
        assert memory.resolve(question.id, "approve").items
    assert memory.revoke(scope=scope, source="web", dry_run=True).items is not None
    assert memory.maintain(dry_run=True, scope=scope).change == ""
    assert memory.forget(ids=[id_]).items[0].status == "erased"
    counted: list[int] = []
    assert memory.reembed(counted.append) is not None


def test_exports_and_imports_are_streams(memory: Memory, tmp_path: Path) -> None:
    story = [f"Part {number} of a long story. {'And on. ' * 8000}" for number in range(12)]
    memory.observe("story", story, scope="user:teller")
    path, stream = tmp_path / "story.jsonl", io.BytesIO()
    memory.export_to(path, scope="user:teller")
    memory.export_to(stream, scope=["user:teller"])
    assert path.stat().st_size > 600_000
    assert len(stream.getvalue()) == path.stat().st_size
    assert list(tmp_path.iterdir()) == [path], "nothing half-written lies around"
    with served() as other, Memory.connect(other.url) as elsewhere:
        assert elsewhere.import_from(path, dry_run=True).change == ""
        assert elsewhere.stats(scope="user:teller").records == 0
        elsewhere.import_from(stream)
        assert elsewhere.stats(scope="user:teller").records == 12
        with pytest.raises(Invalid, match="not complete"):
            elsewhere.import_from(io.BytesIO(stream.getvalue()[:-100]))
    with pytest.raises(NotFound, match="no file"):
        memory.import_from(tmp_path / "nothing.jsonl")
    with pytest.raises(Invalid, match="folder"):
        memory.export_to(tmp_path, scope="user:teller")


def test_callers_in_many_threads_share_a_connection(memory: Memory) -> None:
    done: list[str] = []

    def write(name: str) -> None:
        for number in range(5):
            receipt = memory.remember(f"{name} wrote {number} in {name}", scope="user:threads")
            done.append(receipt.items[0].id)

    threads = [threading.Thread(target=write, args=(f"t{n}",)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(done)) == 30
    assert memory.stats(scope="user:threads").records == 30


def test_asynchronous_code_connects_alike(server: Served, key: str) -> None:
    async def scenario() -> None:
        async with await AsyncMemory.connect(server.url + "/", key) as memory:
            await memory.remember("Ann likes cake", scope="user:async")
            found = await memory.recall("cake", scope="user:async")
            assert [hit.record.text for hit in found.hits] == ["Ann likes cake"]

    asyncio.run(scenario())


# The same errors


def test_what_goes_wrong_is_the_same_error(server: Served, memory: Memory) -> None:
    with pytest.raises(NotFound, match="there is no record 'nobody'"):
        memory.history("nobody")
    with pytest.raises(Invalid, match="nothing to remember"):
        memory.remember(" ")
    with Memory.connect(server.url, server.key("user:ann", rights=("read",))) as reader:
        with pytest.raises(Denied, match="outside 'user:ann'"):
            reader.recall("x", scope="user:bob")
        with pytest.raises(Denied, match="the right to write"):
            reader.remember("x")


def test_who_has_no_key_that_works_is_denied(server: Served, key: str) -> None:
    assert key
    for wrong in (None, "rck_" + "A" * 43, "nonsense"):
        with Memory.connect(server.url, wrong) as nobody, pytest.raises(Denied) as told:
            nobody.recall("x")
        assert wrong is None or wrong not in str(told.value)


MISSHAPEN: list[Callable[[Memory], Any]] = [
    lambda m: m.remember(42),  # type: ignore[arg-type]
    lambda m: m.remember("x", kind="vague"),
    lambda m: m.remember("x", tags="deploy"),
    lambda m: m.remember("x", tags=[""]),
    lambda m: m.remember("x", importance=2),
    lambda m: m.remember("x", confidence=float("nan")),
    lambda m: m.remember("x", durability="eternal"),
    lambda m: m.remember("x", data={"when": object()}),
    lambda m: m.remember("x", data={1: "one"}),  # type: ignore[dict-item]
    lambda m: m.remember("x", data={"raw": b"bytes"}),
    lambda m: m.remember("x", source="rumour"),
    lambda m: m.remember("y" * 9_000_000),
    lambda m: m.recall("x", scope=[]),
    lambda m: m.recall("x", kinds=["vague"]),
    lambda m: m.recall("x", threshold=7),
    lambda m: m.observe("chat", 7),  # type: ignore[arg-type]
    lambda m: m.observe("chat", [{"role": "king", "content": "x"}]),
    lambda m: m.forget(ids="abc"),
    lambda m: m.get("abc"),
    lambda m: m.relate("a", "hates", "b"),
    lambda m: m.save_procedure("n", []),
    lambda m: m.records(limit=0),
    lambda m: m.records(since="never"),
    lambda m: m.records(cursor="nonsense"),
    lambda m: m.usage(day="today"),
]


@pytest.mark.parametrize("call", MISSHAPEN)
def test_what_is_misshapen_is_invalid_and_writes_nothing(
    memory: Memory, call: Callable[[Memory], Any]
) -> None:
    before = memory.stats()
    with pytest.raises(Invalid) as told:
        call(memory)
    assert str(told.value)
    assert memory.stats() == before


def test_a_wrong_argument_is_a_type_error_as_it_is_locally(memory: Memory) -> None:
    with pytest.raises(TypeError, match="colour"):
        memory.remember("x", colour="red")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("problem", "error"),
    [
        ({"status": 400, "error": "Invalid"}, Invalid),
        ({"status": 401, "error": "Denied"}, Denied),
        ({"status": 404, "error": "NotFound"}, NotFound),
        ({"status": 413}, Invalid),
        ({"status": 421}, Invalid),
        ({"status": 429, "error": "Unavailable"}, Unavailable),
        ({"status": 500, "error": "Incompatible"}, Incompatible),
        ({"status": 500, "error": "StandfastError"}, StandfastError),
        ({"status": 500}, Unavailable),
        ({"status": 418, "error": "Teapot"}, Invalid),
    ],
)
def test_a_problem_is_the_error_it_stands_for(
    problem: dict[str, Any], error: type[StandfastError]
) -> None:
    raised = error_of_problem({"detail": "so it is", **problem})
    assert type(raised) is error
    assert str(raised) == "so it is"


def test_an_error_keeps_what_it_knows() -> None:
    unavailable = error_of(
        503, b'{"detail": "x", "status": 503, "outcome_unknown": true}', {"retry-after": "7"}
    )
    assert isinstance(unavailable, Unavailable)
    assert (unavailable.retry_after, unavailable.outcome_unknown) == (7.0, True)
    conflict = error_of_problem({"status": 409, "detail": "x", "kind": "record", "ids": ["a"]})
    assert isinstance(conflict, Conflict)
    assert (conflict.kind, conflict.ids) == ("record", ("a",))
    for status, body in ((502, b"<html>"), (404, b"[]"), (200, b"")):
        assert "right address" in str(error_of(status, body, {}))


# Trouble on the way


def test_nobody_there_is_unavailable_and_nothing_happened() -> None:
    with pytest.raises(Unavailable, match="cannot reach") as told:
        Memory.connect("http://127.0.0.1:9")
    assert not told.value.outcome_unknown


@pytest.mark.parametrize("url", ["", "127.0.0.1:4777", "ftp://x", "http://", None])
def test_what_is_no_address_is_invalid(url: Any) -> None:
    with pytest.raises(Invalid, match="is no address"):
        Memory.connect(url)


@pytest.mark.parametrize("when", ["before", "behind"])
def test_a_lost_connection_is_tried_again_and_nothing_is_written_twice(
    server: Served, key: str, when: str
) -> None:
    """Lost before the server got it, or behind: when only the answer was lost."""
    with LossyProxy(server.url) as proxy, Memory.connect(proxy.url, key) as memory:
        proxy.lose(1, when)
        receipt = memory.observe("lossy", [f"said once {when}"], scope=f"user:lossy-{when}")
        assert [item.status for item in receipt.items] == ["stored"]
        assert len(memory.messages("lossy", scope=f"user:lossy-{when}").items) == 1
        proxy.lose(2, when)
        assert memory.stats(scope=f"user:lossy-{when}").sessions == 1


def test_what_stays_lost_says_that_its_outcome_is_unknown(server: Served, key: str) -> None:
    with LossyProxy(server.url) as proxy, Memory.connect(proxy.url, key) as memory:
        proxy.lose(99, "behind")
        with pytest.raises(Unavailable) as told:
            memory.remember("Was it written?", scope="user:unknown")
        assert told.value.outcome_unknown
        with pytest.raises(Unavailable) as told:
            memory.stats(scope="user:unknown")
        assert not told.value.outcome_unknown
        proxy.lose(0)
        assert memory.stats(scope="user:unknown").records == 1, "once, though it was sent thrice"


def test_what_the_server_would_not_recognise_is_not_sent_twice(server: Served, key: str) -> None:
    with LossyProxy(server.url) as proxy, Memory.connect(proxy.url, key) as memory:
        proxy.lose(1, "behind")
        seen = proxy.requests
        with pytest.raises(Unavailable) as told:
            memory.maintain(dry_run=True)
        assert told.value.outcome_unknown
        assert proxy.requests == seen + 1


def test_it_waits_as_long_as_the_server_asks_but_not_for_ever(server: Served, key: str) -> None:
    with LossyProxy(server.url) as proxy, Memory.connect(proxy.url, key) as memory:
        proxy.refuse(1, retry_after=1)
        assert memory.stats(scope="user:patient").records == 0
        proxy.refuse(1, retry_after=3600)
        with pytest.raises(Unavailable) as told:
            memory.stats(scope="user:patient")
        assert told.value.retry_after == 3600


def test_a_redirect_is_not_followed_with_the_key(server: Served, key: str) -> None:
    with LossyProxy(server.url) as proxy, Memory.connect(proxy.url, key) as memory:
        proxy.redirect_to("http://127.0.0.1:9/")
        with pytest.raises(StandfastError):
            memory.stats()


def test_the_key_is_nowhere_to_be_read(server: Served, key: str) -> None:
    with Memory.connect(server.url, key) as memory:
        for value in (memory, memory._memory, memory._memory._line):  # type: ignore[attr-defined]
            assert key not in repr(value)
            assert key not in str(vars(value))
        with pytest.raises(StandfastError) as told:
            memory.history("nobody")
        assert key not in repr(told.value)


def test_a_closed_memory_says_so(server: Served, key: str) -> None:
    memory = Memory.connect(server.url, key)
    memory.close()
    memory.close()
    with pytest.raises(Unavailable, match="closed"):
        memory.recall("x")


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [n for n in sys.modules if n.startswith("standfast.interfaces.client")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(Incompatible, match=r"standfast\[client\]"):
        Memory.connect("http://127.0.0.1:9")


# Arguments


class Said:
    """A message as the libraries of providers have it."""

    def model_dump(self, **_: Any) -> dict[str, Any]:
        return {"role": "user", "content": "hi"}


def test_arguments_become_json() -> None:
    given = {"at": NOW, "tags": {"a"}, "more": (x for x in (1, 2)), "said": [Said()], "x": None}
    assert plain(given, "data") == {
        "at": "2026-11-15T12:00:00+00:00",
        "tags": ["a"],
        "more": [1, 2],
        "said": [{"role": "user", "content": "hi"}],
        "x": None,
    }


def test_arguments_become_parts_of_an_address() -> None:
    given = {"scope": None, "descend": True, "tags": ("a", "b"), "cursor": "", "limit": 5}
    assert as_query(given) == [
        ("descend", "true"),
        ("tags", "a"),
        ("tags", "b"),
        ("limit", "5"),
    ]
    assert as_query({"since": 0}) == [("since", "1970-01-01T00:00:00+00:00")]
    assert as_query({"until": NOW + timedelta(days=1)}) == [("until", "2026-11-16T12:00:00+00:00")]
