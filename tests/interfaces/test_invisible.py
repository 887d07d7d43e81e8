"""Invisible and control characters are stored as they came, and rendered nowhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from standfast import Memory, as_text
from standfast.types.invisible import shown, spelled_out
from tests.commands import run_here
from tests.interfaces.mcp_world import agent_of, opened, run, text_of
from tests.interfaces.workspaces import Desk

ANN = "user:ann"
TAGS = "".join(chr(0xE0000 + ord(c)) for c in "obey")
NEEDED = "خانه‌ها 👩‍💻 1️⃣"
HIDDEN = f"The p\u200bin{TAGS}\u202e is\u2066 at\x9b home\ue000\ufeff {NEEDED}"
SEEN = f"The pin is at\\u009b home\\ue000 {NEEDED}"
PRIVATE = frozenset(f"\u200b\u202e\u2066\x9b\ue000\ufeff{TAGS}")


def shows_nothing_hidden(rendered: str) -> bool:
    return PRIVATE.isdisjoint(rendered)


@pytest.fixture
def store(tmp_path: Path) -> str:
    path = str(tmp_path / "m.db")
    with Memory.open(path, embedder="none", background=False) as memory:
        memory.remember(HIDDEN, scope=ANN)
        memory.observe("chat", [HIDDEN], scope=ANN)
    return path


def test_the_test_text_says_what_it_is_meant_to() -> None:
    assert shown(HIDDEN) == SEEN
    assert NEEDED in spelled_out(HIDDEN)


def test_X9_contexts_show_what_is_seen_and_the_store_keeps_what_came(store: str) -> None:
    with Memory.open(store, embedder="none", background=False) as memory:
        alone = memory.context(query="home", scope=ANN)
        assert SEEN in alone.text
        assert HIDDEN in {hit.record.text for hit in alone.hits}
        memory.observe("p", [HIDDEN], scope=ANN, pending=True)
        for shape in ("openai", "anthropic", "gemini"):
            packet = memory.context(session="chat", query="home", scope=ANN, cite=True, shape=shape)
            said = json.dumps([*packet.messages], ensure_ascii=False)
            assert shows_nothing_hidden(packet.text + said)
            assert SEEN in packet.text
            assert NEEDED in said
        answer = memory.recall("home", scope=ANN)
        assert SEEN in as_text(answer)
        assert shows_nothing_hidden(as_text(answer))
        assert {hit.record.text for hit in answer.hits} == {HIDDEN}


def test_X9_a_tool_answer_hides_nothing_in_the_conversation(store: str) -> None:
    call = {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": f"a{TAGS}"}}
    answer = {
        "type": "tool_result",
        "tool_use_id": "c1",
        "content": [{"type": "text", "text": HIDDEN}],
    }
    thought = {"type": "thinking", "thinking": HIDDEN, "signature": "s"}
    with Memory.open(store, embedder="none", background=False) as memory:
        told = [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [thought, call]},
            {"role": "user", "content": [answer]},
        ]
        memory.observe("tools", told, scope=ANN)
        [_, spoken, answered] = memory.context(
            session="tools", scope=ANN, shape="anthropic"
        ).messages
    assert spoken["content"] == [thought, call], "what is signed, and calls, go back as they came"
    assert answered["content"][0]["content"][0]["text"] == SEEN


def test_X9_a_terminal_shows_escapes_and_json_is_read_back(store: str) -> None:
    for command in (
        ["recall", "home", "--scope", ANN],
        ["context", "home", "--scope", ANN],
        ["records", "--scope", ANN],
        ["messages", "chat", "--scope", ANN],
        ["history", "--scope", ANN],
    ):
        told = run_here(["--store", store, "--embedder", "none", *command])
        assert told.returncode == 0, told.stderr
        assert shows_nothing_hidden(told.stdout + told.stderr)
        assert "خانه‌ها 👩‍💻" in told.stdout or command[0] == "history"
    told = run_here(["--store", store, "--embedder", "none", "--json", "recall", "home"])
    assert shows_nothing_hidden(told.stdout)
    assert {hit["text"] for hit in json.loads(told.stdout)["hits"]} == {HIDDEN}


def test_X9_tools_and_resources_answer_with_what_is_seen() -> None:
    async def scenario() -> None:
        async with opened() as memory, agent_of(memory) as agent:
            id_ = (await memory.remember(HIDDEN, scope=ANN)).items[0].id
            for tool, arguments in (
                ("memory_search", {"query": "home", "explain": True}),
                ("memory_context", {"task": f"the home{TAGS}", "scope": ANN}),
                ("memory_history", {"id": id_}),
            ):
                answer = await agent.call(tool, **arguments)
                typed = json.dumps(answer.structured_content, ensure_ascii=False)
                assert SEEN in text_of(answer)
                assert shows_nothing_hidden(text_of(answer) + typed)
            resource = await agent.client.read_resource(f"memory://record/{id_}")
            assert shows_nothing_hidden(resource.contents[0].text)  # type: ignore[union-attr]
            [record] = await memory.get([id_])
            assert record.text == HIDDEN

    run(scenario())


def test_X9_slack_shows_no_hidden_text_and_no_mention() -> None:
    bots = pytest.importorskip("standfast.interfaces.slack.bot", reason="the extra slack")
    assert bots.as_plain(HIDDEN) == SEEN
    assert bots.as_plain("<!channel> a & b") == "&lt;!channel&gt; a &amp; b"


def test_X9_the_markdown_files_show_references_that_read_back(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.remember(HIDDEN)
    desk.chat(1, says={0: HIDDEN})
    desk.sync()
    assert shows_nothing_hidden(desk.page.read_text("utf-8"))
    assert NEEDED in desk.page.read_text("utf-8")
    assert desk.texts() == [HIDDEN]
    [log] = (tmp_path / "sessions").glob("*.jsonl")
    assert shows_nothing_hidden(log.read_text("utf-8"))
    assert json.loads(log.read_text("utf-8").splitlines()[0])["content"] == HIDDEN
    desk.sync()
    with desk.open() as memory:
        assert HIDDEN in [record.text for record in memory.records(scope="user:default").items]
