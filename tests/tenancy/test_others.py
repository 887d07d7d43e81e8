"""A10: what others began, what they call the same, and files that somebody wrote by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from standfast.types import Item, Message, Session
from tests.tenancy.comparing import differences
from tests.tenancy.crafting import AT, file_of, record
from tests.tenancy.estates import SHARED_SESSION, Estate
from tests.tenancy.houses import BOB, MISSING, House, furnished, get
from tests.tenancy.operations import ABOUT
from tests.tenancy.over_http import said
from tests.tenancy.over_mcp import Mcp
from tests.tenancy.surfaces import Call, Library, Said, call
from tests.tenancy.world import ANN, World, opened


@pytest.fixture(scope="module")
def house(built: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with furnished(built.copied(tmp_path_factory.mktemp("house"))) as found:
        yield found


# What others began


def test_A10_somebody_elses_work_is_like_work_that_never_was(house: House) -> None:
    ann, bob = house.http(ANN), house.http(BOB)
    job = bob.client.post("/v1/export", json={}).json()
    while bob.client.get(f"/v1/work/{job['id']}", params={"wait": 5}).json()["state"] == "running":
        pass
    for path in ("/v1/work/{}", "/v1/work/{}/events", "/v1/work/{}/file"):
        assert get(bob, path.format(job["id"])).ok
        told, missing = get(ann, path.format(job["id"])), get(ann, path.format(MISSING))
        assert told.text.replace(job["id"], MISSING) == missing.text
        assert missing.text.startswith("404")
    assert job["id"] not in house.clean(get(ann, "/v1/work"))
    same_scope = house.http(BOB)  # another key of the same person began nothing
    assert not get(same_scope, f"/v1/work/{job['id']}").ok


def test_A10_an_idempotency_key_is_its_senders(house: House) -> None:
    ann, carl = house.http(ANN), house.http("user:carl")
    headers = {"Idempotency-Key": "the-same"}

    def sent(client: Any, text: str) -> httpx2.Response:
        answer: httpx2.Response = client.client.post(
            "/v1/remember", json={"text": text}, headers=headers
        )
        return answer

    first = sent(carl, "Carl keeps the key")
    assert sent(carl, "Carl keeps the key").headers["idempotency-replayed"] == "true"
    other = sent(ann, "Ann keeps the key")  # another body: for Carl it would be a conflict
    assert other.status_code == 200
    assert sent(house.http("user:carl"), "Carl keeps the key").json()["items"][0]["status"] == (
        "merged"
    ), "another key of his is another sender"
    assert first.json()["items"][0]["id"] not in other.text
    assert sent(carl, "Carl keeps another key").status_code == 409


LISTS = ("records", "sessions", "changes", "messages")


@pytest.mark.parametrize("verb", LISTS)
def test_A10_a_page_that_others_began_shows_nothing_of_theirs(house: House, verb: str) -> None:
    ann, bob = house.http(ANN), house.http(BOB)
    more = {"session": SHARED_SESSION} if verb == "messages" else {}
    cursor = bob.client.get(f"/v1/{verb}", params={"limit": 1, **more}).json()["next"]
    assert cursor
    for asked in ({}, {"scope": ANN}, {"scope": BOB}):
        told = get(ann, f"/v1/{verb}", limit=500, cursor=cursor, **more, **asked)
        house.clean(told, Call(verb, asked))
        assert not (told.ok and asked.get("scope") == BOB)


# What a session, a resource, a prompt and a file say


def test_A10_sessions_and_messages_of_one_name_are_strangers(built: World, tmp_path: Path) -> None:
    """Ids of messages are of their session: those of others are free for one's own."""
    world = built.copied(tmp_path)
    theirs = world.others[BOB]
    ids = [theirs.ids[kind] for kind in ("message", "pending", "turn")]
    messages = [{"role": "user", "content": f"hello {n}", "id": i} for n, i in enumerate(ids)]
    told: list[list[Said]] = []
    for file in (world.crowded, world.empty):
        with opened(file, ANN) as ann:
            asked = [
                call("observe", session=SHARED_SESSION, messages=messages),
                call("messages", session=SHARED_SESSION),
                call("context", session=SHARED_SESSION, query=ABOUT),
                call("end", session=SHARED_SESSION),
            ]
            told.append([Library(ann).ask(one) for one in asked])
    assert all(one.ok for one in told[0])
    for beside, alone in zip(*told, strict=True):
        assert not differences(beside, alone, frozenset(ids))


@pytest.fixture(scope="module")
def agent(house: House) -> Mcp:
    return house.mcp(ANN)


def test_A10_resources_and_prompts_stay_inside(house: House, agent: Mcp) -> None:
    for kind in ("fact", "quarantined", "procedure", "turn", "erased"):
        id_ = house.bob.ids[kind]
        told, missing = (
            agent.read(f"memory://record/{id_}"),
            agent.read(f"memory://record/{MISSING}"),
        )
        assert told.text.replace(id_, MISSING) == missing.text
    house.clean(agent.read("memory://core"))
    for project in ("x", "x:user:bob", "../bob", BOB):
        asked = {"task": ABOUT, "project": project}
        told = agent.prompt("recall_before_task", **asked)
        house.clean(told, Call("prompt", asked))
    theirs = house.mcp(BOB)
    assert house.bob.word in theirs.read("memory://core").text
    assert house.bob.word in theirs.read(f"memory://record/{house.bob.ids['fact']}").text


@pytest.mark.parametrize("project", ["bob", "x:user:bob", "x%3Auser:bob", BOB, "../bob", ""])
def test_A10_a_project_only_narrows(house: House, agent: Mcp, project: str) -> None:
    """Tools take a project by its id; whatever is put there stays below the caller's scope."""
    for tool, arguments in {
        "memory_search": {"query": ABOUT, "limit": 50},
        "memory_context": {"task": ABOUT, "session": SHARED_SESSION},
        "memory_history": {"limit": 200},
        "memory_review": {},
        "procedure_find": {"query": "vault"},
        "memory_save": {"text": "I was here"},
        "session_log": {"session": SHARED_SESSION, "messages": ["I was here"]},
    }.items():
        house.clean(agent.use(tool, **arguments, project=project), Call(tool, {"p": project}))


def crafted(bob: Estate) -> dict[str, bytes]:
    """Files that Ann's key sends in, each about somebody else."""
    session = Session(scope=BOB, id=SHARED_SESSION)
    message = Message(
        id="planted", scope=BOB, session=SHARED_SESSION, role="user", text="planted", at=AT
    )
    policy = Item(scope=BOB, namespace="policy", key="scope", value={"persist": False})
    return {
        "a record": file_of(record(BOB, "planted")),
        "behind an own header": file_of(record(BOB, "planted"), scopes=(ANN,)),
        "under a known id": file_of(record(BOB, bob.ids["fact"], "planted")),
        "a session of others": file_of(
            record(ANN, "own-with-lineage", session=SHARED_SESSION, session_scope=BOB,
                   lineage=(bob.ids["message"],))
        ),
        "a log": file_of(session, message),
        "an opt-out": file_of(policy),
        "no tenant": file_of(record(ANN, "planted"), scopes=("system:store",)),
        "another spelling": file_of(record("user:ANN", "planted")),
    }  # fmt: skip


CRAFTED = ("a record", "behind an own header", "under a known id", "a session of others")
CRAFTED += ("a log", "an opt-out", "no tenant", "another spelling")


@pytest.mark.parametrize("name", CRAFTED)
def test_A10_a_crafted_file_plants_nothing(house: House, name: str) -> None:
    lines = crafted(house.bob)[name]
    asked = call("import_from", lines=lines)
    for surface in (house.http(ANN), Library(opened(house.world.crowded, ANN))):
        told = surface.ask(asked)
        house.clean(told, asked)
        assert '"stored"' not in told.text
    assert house.http(BOB).ask(call("get", ids=["planted"])).text.endswith('{"records":[]}')


def test_A10_an_import_does_not_tell_what_others_have_forgotten(
    built: World, tmp_path: Path
) -> None:
    """A line of others that was forgotten there does not take an own line along."""
    world = built.copied(tmp_path)
    texts = (f"The vault was once {world.others[BOB].word} red", "The vault was never grey")
    told = []
    with opened(world.crowded, ANN) as ann:
        for number, text in enumerate(texts):
            lines = file_of(
                record(BOB, f"theirs-{number}", text),
                record(ANN, f"mine-{number}", "Ann likes tea", derived_from=(f"theirs-{number}",)),
            )
            said_ = Library(ann).ask(call("import_from", lines=lines, dry_run=True))
            told.append(Said(said_.ok, said_.text.replace(f"-{number}", "")))
    assert not differences(*told, frozenset())


def test_A10_an_entry_of_others_is_not_recognised(built: World, tmp_path: Path) -> None:
    """Whether the journal of somebody else has a certain entry is theirs to know."""
    world = built.copied(tmp_path)
    with opened(world.crowded) as owner:
        entry = owner.history(scope=BOB, limit=1)[0]
    for touched in (entry.touched, ()):
        right = replace(entry, touched=touched)
        wrong = replace(right, batch=MISSING)
        with opened(world.crowded, ANN) as ann:
            told = [
                Library(ann).ask(call("import_from", lines=file_of(one))) for one in (right, wrong)
            ]
        assert not differences(*told, frozenset())


def test_A10_a_session_id_of_mcp_is_no_identity(house: House) -> None:
    bob = house.mcp(BOB)
    assert bob.ask(call("recall", query=ABOUT)).ok
    key = house.server.key(ANN)
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "memory_search", "arguments": {"query": ABOUT}},
    }
    accepted = "application/json, text/event-stream"
    for session in ("0" * 32, "bob"):
        headers = {
            "Authorization": f"Bearer {key}", "Accept": accepted, "Mcp-Session-Id": session
        }  # fmt: skip
        answer = httpx2.post(f"{house.server.url}/mcp", json=body, headers=headers, timeout=60)
        house.clean(said(answer), Call("recall", {"query": ABOUT}))
