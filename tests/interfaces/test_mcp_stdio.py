"""``standfast mcp`` as agents run it: a process each, the official client, one shared file."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from standfast import Memory
from standfast.interfaces.mcp.stdio import _heard, what_is_wrong
from standfast.testing.scripted import ScriptedServer, hangs
from tests.interfaces.conftest import Run
from tests.interfaces.mcp_world import TOOLS, Agent, command, run, started

PATIENCE_SECONDS = 60


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_X2_a_whole_conversation_over_stdio(tmp_path: Path, mode: str) -> None:
    async def scenario() -> None:
        async with started(tmp_path / "memory.db", "--scope", "user:ann", mode=mode) as agent:
            assert "memory_context" in (agent.client.instructions or "")
            assert tuple(t.name for t in (await agent.client.list_tools()).tools) == TOOLS
            assert len((await agent.client.list_prompts()).prompts) == 2
            assert len((await agent.client.list_resources()).resources) == 1
            assert len((await agent.client.list_resource_templates()).resource_templates) == 1
            await every_tool(agent)
            assert "takes no" in await agent.fails("memory_save", text="x", colour="red")
            assert "outside 'user:ann'" in await agent.fails(
                "memory_save", text="x", scope="user:b"
            )
            texts = [f"Number {n} of the concurrent notes" for n in range(30)]
            await asyncio.gather(*(agent.saves(text) for text in texts))
            assert len(await agent.finds("concurrent notes", limit=50, types=["fact"])) == 30

    run(scenario())


async def every_tool(agent: Agent) -> None:
    id_ = await agent.saves("Ann deploys on Tuesdays", tags=["deploy"])
    assert await agent.finds("when does Ann deploy?") == ["Ann deploys on Tuesdays"]
    assert "Tuesdays" in await agent.says("memory_context", task="deploy")
    await agent.does("procedure_save", name="deploy", steps=["make deploy"])
    assert (await agent.does("procedure_find", query="deploy"))["memories"]
    await agent.does("procedure_used", procedure="deploy", success=True)
    await agent.does("session_log", session="chat", messages=["Hello!"])
    await agent.does("session_log", session="chat", ended=True, outcome="Deployed.")
    assert (await agent.does("memory_history", id=id_))["changes"]
    assert (await agent.does("memory_review"))["questions"] == []
    [content] = (await agent.client.read_resource(f"memory://record/{id_}")).contents
    assert "Tuesdays" in content.text  # type: ignore[union-attr]
    begun = await agent.client.get_prompt("recall_before_task", {"task": "deploy"})
    assert "Tuesdays" in begun.messages[0].content.text  # type: ignore[union-attr]
    done = await agent.does("memory_forget", ids=[id_], dry_run=False)
    assert done["items"][0]["status"] == "erased"


def test_a_cancelled_call_ends_and_the_next_one_works(tmp_path: Path) -> None:
    async def scenario(server: ScriptedServer) -> None:
        environment = {
            "STANDFAST_MODEL": "openai:any",
            "STANDFAST_MODEL_URL": server.url,
            "OPENAI_API_KEY": "none",
        }
        async with started(tmp_path / "memory.db", "--scope", "user:ann", **environment) as agent:
            for number in range(20):
                await agent.saves(f"Deploy rule number {number} is about team {number}")
            async with anyio.create_task_group() as group:
                group.start_soon(
                    lambda: agent.call("memory_search", query="deploy rule", limit=2, fast=False)
                )
                with anyio.fail_after(PATIENCE_SECONDS):
                    while not server.requests:  # the model is asked, and will never answer
                        await anyio.sleep(0.05)
                group.cancel_scope.cancel()
            begun = time.monotonic()
            assert len(await agent.finds("deploy rule", limit=2, fast=True)) == 2
            assert time.monotonic() - begun < 20, "it waited for the call that was cancelled"

    with ScriptedServer(otherwise=hangs()) as server:
        run(scenario(server))


def test_X2_two_servers_on_one_file_and_one_is_killed(tmp_path: Path) -> None:
    """What either acknowledged is there, also for the other, also after kill -9."""
    store = tmp_path / "memory.db"
    acknowledged: list[str] = []

    async def write(agent: Agent, name: str, rounds: int) -> None:
        for number in range(rounds):
            text = f"{name} wrote statement {number} about subject {name}{number}"
            items = (await agent.does("memory_save", text=text))["items"]
            assert items[0]["status"] == "stored"
            acknowledged.append(text)

    async def scenario() -> None:
        async with started(store, "--scope", "user:ann") as survivor:
            with raw_server(store) as victim:
                written = asyncio.create_task(write(survivor, "heron", 40))
                await asyncio.to_thread(write_raw, victim, "crane", 25, acknowledged)
                for number in range(25, 400):  # never read: some of it may be written or not
                    send(victim, saving(number, f"crane wrote statement {number} late"))
                victim.send_signal(signal.SIGKILL)
                victim.wait(PATIENCE_SECONDS)
                await written
            await write(survivor, "after", 10)
            assert len(await survivor.finds("crane wrote statement 7 about", limit=3)) == 3

    run(scenario())
    with Memory.open(str(store), embedder="hashing", background=False) as memory:
        kept: set[str] = set()
        cursor = ""
        while True:
            page = memory.records(scope="user:ann", cursor=cursor, limit=500)
            kept |= {record.text for record in page.items}
            cursor = page.next
            if not cursor:
                break
    assert len(acknowledged) == 75
    assert set(acknowledged) <= kept


def write_raw(
    victim: subprocess.Popen[bytes], name: str, rounds: int, acknowledged: list[str]
) -> None:
    for number in range(rounds):
        text = f"{name} wrote statement {number} about subject {name}{number}"
        answer = ask(victim, saving(number, text))
        assert answer["result"]["structuredContent"]["items"][0]["status"] == "stored"
        acknowledged.append(text)


def test_standard_output_carries_the_protocol_alone_and_eof_ends_it(tmp_path: Path) -> None:
    with raw_server(tmp_path / "memory.db") as server:
        ask(server, saving(1, "Ann likes tea"))
        ask(server, calling(2, "memory_search", query="tea"))
        send(server, {"jsonrpc": "2.0", "method": "notifications/unheard-of"})
        assert server.stdin
        server.stdin.write(b"this is not JSON\n\xff\xfe\n\n")
        assert "result" in ask(server, calling(3, "memory_search", query="tea"))
        out, err = server.communicate(timeout=PATIENCE_SECONDS)
    assert server.returncode == 0
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in out.splitlines())
    assert b"Traceback" not in err


def test_sigterm_ends_it_cleanly_and_flushes(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    with raw_server(store) as server:
        id_ = ask(server, saving(1, "Ann likes tea"))["result"]["structuredContent"]["items"][0][
            "id"
        ]
        ask(server, calling(2, "memory_search", query="tea"))
        server.send_signal(signal.SIGTERM)
        server.wait(PATIENCE_SECONDS)
        assert server.stderr
        assert server.stderr.read() == b""
    assert server.returncode == 0
    assert not store.with_name("memory.db-wal").exists(), "the store was not closed"
    with Memory.open(str(store), embedder="hashing", background=False) as memory:
        assert memory.get([id_])[0].uses == 1


def test_sigterm_ends_it_even_if_nobody_reads_its_answers(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    with raw_server(store) as server:
        saved = ask(server, saving(1, "Ann keeps a very long diary. " * 3000))
        id_ = saved["result"]["structuredContent"]["items"][0]["id"]
        for number in range(2, 12):  # ten times as much as a pipe holds
            send(server, reading(number, f"memory://record/{id_}"))
        time.sleep(1)
        server.send_signal(signal.SIGTERM)
        server.wait(PATIENCE_SECONDS)
    assert server.returncode == 0


def test_what_is_wrong_with_the_start_ends_it_with_a_word(standfast: Run) -> None:
    for options, code, said in (
        (("--scope", "ann"), 2, "kind:id"),
        (("--profile", "nobody"), 2, "profile"),
    ):
        done = standfast("mcp", *options)
        assert done.returncode == code
        assert said in done.stderr
        assert done.stdout == ""


def test_what_is_wrong_with_the_store_is_told_to_the_agent(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    store.mkdir()

    async def scenario() -> None:
        async with started(store) as agent:
            told = await agent.fails("memory_search", query="tea")
            assert "memory.db" in told
            store.rmdir()
            assert await agent.finds("tea") == []  # tried again

    run(scenario())


def test_without_a_scope_the_setting_decides_and_binds(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with started(tmp_path / "memory.db", STANDFAST_SCOPE="user:eva") as agent:
            await agent.saves("Eva likes tea")
            found = await agent.does("memory_search", query="tea")
            assert found["memories"][0]["scope"] == "user:eva"
            assert "outside 'user:eva'" in await agent.fails(
                "memory_search", query="tea", scope="user:default"
            )

    run(scenario())


# Without the client, to see every byte


@contextmanager
def raw_server(store: Path) -> Iterator[subprocess.Popen[bytes]]:
    parameters = command(store, "--scope", "user:ann")
    server = subprocess.Popen(
        [sys.executable, *parameters.args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ,
    )
    with server:
        try:
            hello = {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            }
            ask(server, {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello})
            send(server, {"jsonrpc": "2.0", "method": "notifications/initialized"})
            yield server
        finally:
            if server.poll() is None:
                server.kill()


def send(server: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    assert server.stdin
    server.stdin.write(json.dumps(message).encode() + b"\n")
    server.stdin.flush()


def ask(server: subprocess.Popen[bytes], message: dict[str, Any]) -> Any:
    send(server, message)
    assert server.stdout
    while True:
        answer = json.loads(server.stdout.readline())
        if answer.get("id") == message["id"]:
            return answer


def calling(id_: int, tool: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params}


def saving(id_: int, text: str) -> dict[str, Any]:
    return calling(id_, "memory_save", text=text)


def reading(id_: int, uri: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "method": "resources/read", "params": {"uri": uri}}


def test_X8_the_store_is_opened_when_the_client_has_had_its_first_answer() -> None:
    opened: list[int] = []

    class Watched:
        def begin(self) -> None:
            opened.append(len(heard))

    async def lines() -> AsyncIterator[str]:
        for line in ("initialize", "initialized", "tools/list", "tools/call"):
            yield line

    async def scenario() -> None:
        async for line in _heard(lines(), Watched()):  # type: ignore[arg-type]
            heard.append(line)

    heard: list[str] = []
    run(scenario())
    assert len(heard) == 4
    assert opened == [1], "not with the first line, and not only with the first tool"


@pytest.mark.parametrize(
    ("line", "id_"),
    [
        ("{bad", None),
        ("[]", None),
        ("7", None),
        ("[" * 100_000, None),
        ('{"id": 5, "method": "ping"}', 5),
        ('{"jsonrpc": "1.0", "id": "a", "method": "ping"}', "a"),
        ('{"jsonrpc": "2.0", "id": {}, "method": "ping"}', None),
        ('{"jsonrpc": "2.0", "id": "\\udc00", "method": "ping"}', None),
        ('{"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": 7}', 6),
        ('{"jsonrpc": "2.0", "id": 2, "method": "ping", "params": {"a": "\\ud800"}}', 2),
        ('[{"jsonrpc": "2.0", "id": 9, "method": "ping"}]', None),
    ],
)
def test_X2_what_is_no_message_is_answered(line: str, id_: str | int | None) -> None:
    """Whoever sent it would wait for ever."""
    wrong = what_is_wrong(line)
    assert wrong is not None
    assert wrong.id == id_
    assert json.loads(wrong.model_dump_json())["error"]["code"] in (-32700, -32600)
    assert what_is_wrong('{"jsonrpc": "2.0", "id": 1, "method": "ping"}') is None
    assert what_is_wrong(" ") is None


def test_X2_malformed_lines_are_answered_over_stdio(tmp_path: Path) -> None:
    with raw_server(tmp_path / "memory.db") as server:
        assert server.stdin
        server.stdin.write(b'{bad\n{"jsonrpc":"2.0","id":4,"method":"ping","params":"\\ud800"}\n')
        out, _ = server.communicate(timeout=PATIENCE_SECONDS)
    said = [json.loads(line) for line in out.splitlines()]
    errors = [(one["id"], one["error"]["code"]) for one in said if "error" in one]
    assert errors == [(None, -32700), (4, -32600)]
