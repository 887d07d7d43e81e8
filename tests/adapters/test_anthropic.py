"""Anthropic's memory tool on records; the SDK's own tests run beside these, see
``foreign/anthropic_files.py``."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

pytest.importorskip("anthropic.lib.tools", reason="anthropic is not installed (extra: anthropic)")

from anthropic.lib.tools import ToolError

from standfast import Memory
from standfast.adapters.anthropic import AsyncStandfastMemoryTool, StandfastMemoryTool
from tests.adapters.killed import HEAD, killed_writer

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(str(tmp_path / "m.db"), background=False, embedder="none") as opened:
        yield opened


@pytest.fixture
def tool(memory: Memory) -> StandfastMemoryTool:
    return StandfastMemoryTool(memory, scope="user:ann")


def call(tool: StandfastMemoryTool, command: str, **arguments: Any) -> Any:
    return tool.call({"command": command, **arguments})


def test_X14_memory_tool_the_six_commands(tool: StandfastMemoryTool) -> None:
    call(tool, "create", path="/memories/notes/tea.md", file_text="green\nblack\n")
    call(tool, "create", path="/memories/empty.txt", file_text="")
    assert "     1\tgreen" in call(tool, "view", path="/memories/notes/tea.md")
    call(tool, "str_replace", path="/memories/notes/tea.md", old_str="black", new_str="white")
    call(tool, "insert", path="/memories/notes/tea.md", insert_line=1, insert_text="oolong")
    shown = call(tool, "view", path="/memories/notes/tea.md", view_range=[2, 3])
    assert shown.endswith("     2\toolong\n     3\twhite")
    call(tool, "rename", old_path="/memories/notes", new_path="/memories/kept")
    listed = call(tool, "view", path="/memories")
    assert "/memories/kept/tea.md" in listed
    assert "/memories/notes" not in listed
    call(tool, "delete", path="/memories/kept")
    with pytest.raises(ToolError, match="does not exist"):
        call(tool, "view", path="/memories/kept/tea.md")


def test_X14_memory_tool_what_is_written_is_recalled_and_erased(
    tool: StandfastMemoryTool, memory: Memory, tmp_path: Path
) -> None:
    call(tool, "create", path="/memories/a.md", file_text="Ann hides an otter-quilt")
    (hit, *_) = memory.recall("where is the otter-quilt?", scope="user:ann").hits
    assert hit.record.source == "assistant"
    call(tool, "str_replace", path="/memories/a.md", old_str="otter-quilt", new_str="nothing")
    call(tool, "delete", path="/memories/a.md")
    memory.close()
    left = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert b"otter-quilt" not in left


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "memories/x", "/memoriesX/x", "/memories/../etc", "/memories/a/../../b",
     "/memories/%2e%2e/x", "/memories/..\\x", "/memories/\x00", "/memories/" + "a" * 600, 3, None],
)  # fmt: skip
def test_X14_memory_tool_no_path_leads_out(tool: StandfastMemoryTool, path: Any) -> None:
    for command, more in (("view", {}), ("create", {"file_text": "x"}), ("delete", {})):
        with pytest.raises(ToolError) as caught:
            call(tool, command, path=path, **more)
        assert "\n" not in str(caught.value)


def test_X14_memory_tool_one_file_has_one_name(tool: StandfastMemoryTool) -> None:
    call(tool, "create", path="/memories//a/./b.md", file_text="x")
    assert "x" in call(tool, "view", path="/memories/a/b.md")
    with pytest.raises(ToolError, match="already exists"):
        call(tool, "create", path="/memories/a/b.md/", file_text="y")
    with pytest.raises(ToolError, match="is a file"):
        call(tool, "create", path="/memories/a/b.md/c", file_text="y")
    with pytest.raises(ToolError, match="already exists"):
        call(tool, "create", path="/memories/a", file_text="y")


def test_X14_memory_tool_two_users_never_see_each_other(
    tool: StandfastMemoryTool, memory: Memory
) -> None:
    call(tool, "create", path="/memories/pin.md", file_text="on the fridge")
    other = StandfastMemoryTool(memory, scope="user:bob")
    with pytest.raises(ToolError, match="does not exist"):
        call(other, "view", path="/memories/pin.md")
    assert "pin" not in call(other, "view", path="/memories")


def test_X14_memory_tool_no_edit_is_lost(tool: StandfastMemoryTool) -> None:
    call(tool, "create", path="/memories/log.md", file_text="start\n")

    def work(number: int) -> None:
        call(tool, "insert", path="/memories/log.md", insert_line=0, insert_text=f"line {number}")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(12)))
    shown = call(tool, "view", path="/memories/log.md")
    assert [f"line {n}" in shown for n in range(12)] == [True] * 12


def _created(tool: StandfastMemoryTool, path: str, text: str) -> bool:
    try:
        call(tool, "create", path=path, file_text=text)
    except ToolError as error:
        if "already exists" not in str(error):
            raise
        return False
    return True


def test_X14_memory_tool_of_many_who_create_a_file_one_does(tool: StandfastMemoryTool) -> None:
    for round_ in range(4):
        path = f"/memories/{round_}.md"
        together = Barrier(4)

        def make(number: int, path: str = path, together: Barrier = together) -> bool:
            together.wait()
            return _created(tool, path, f"by {number}" if number else "by 1")

        with ThreadPoolExecutor(4) as pool:
            made = list(pool.map(make, range(4)))
        assert sum(made) == 1, made
        winner = made.index(True) or 1
        assert f"by {winner}" in call(tool, "view", path=path)
        assert len(tool.files._shelf.versions("user:ann", path, live=True)) == 1


CREATOR = """
import time
from anthropic.lib.tools import ToolError
from standfast.adapters.anthropic import StandfastMemoryTool
tool = StandfastMemoryTool(memory, scope="user:ann")
print("ready", flush=True)
sys.stdin.readline()
for number in range(10):
    try:
        tool.call({"command": "create", "path": f"/memories/{number}", "file_text": sys.argv[2]})
        print(number, flush=True)
    except ToolError as error:
        assert "already exists" in str(error), error
"""


def test_X14_memory_tool_of_several_processes_one_creates(tmp_path: Path) -> None:
    store = str(tmp_path / "shared.db")
    with Memory.open(store, background=False, embedder="none") as memory:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        creators = [
            subprocess.Popen(
                [sys.executable, "-W", "ignore", "-c", HEAD + CREATOR, store, who], **pipes
            )
            for who in ("one", "two")
        ]
        for one in creators:
            assert one.stdout is not None
            assert one.stdout.readline() == "ready\n"
        for one in creators:
            assert one.stdin is not None
            one.stdin.write("go\n")
            one.stdin.flush()
        told = [one.communicate(timeout=60)[0].split() for one in creators]
        assert [one.returncode for one in creators] == [0, 0]
        assert sorted(told[0] + told[1]) == [str(number) for number in range(10)]
        tool = StandfastMemoryTool(memory, scope="user:ann")
        for who, made in zip(("one", "two"), told, strict=True):
            for number in made:
                assert call(tool, "view", path=f"/memories/{number}").endswith(f"\t{who}")


def test_X14_memory_tool_asynchronously(memory: Memory) -> None:
    async def scene() -> str:
        tool = AsyncStandfastMemoryTool(memory, scope="user:ann")
        await tool.call({"command": "create", "path": "/memories/a.md", "file_text": "x"})
        return str(await tool.call({"command": "view", "path": "/memories/a.md"}))

    assert asyncio.run(scene()).endswith("     1\tx")


WRITER = """
from standfast.adapters.anthropic import StandfastMemoryTool
tool = StandfastMemoryTool(memory, scope="user:ann")
path = "/memories/log.md"
tool.call({"command": "create", "path": path, "file_text": "start"})
for number in range(10_000):
    more = {"insert_line": 0, "insert_text": f"line {number}"}
    tool.call({"command": "insert", "path": path, **more})
    print(number, flush=True)
"""


def test_X14_memory_tool_what_was_answered_survives_a_kill(tmp_path: Path) -> None:
    store = str(tmp_path / "killed.db")
    answered = killed_writer(WRITER, store)
    with Memory.open(store, background=False, embedder="none") as memory:
        tool = StandfastMemoryTool(memory, scope="user:ann")
        shown = call(tool, "view", path="/memories/log.md")
        kept = [text for line in shown.splitlines()[1:] if (text := line.split("\t")[1])]
        assert len(call(tool, "view", path="/memories").splitlines()) == 3  # one file, not two
    wanted = [*(f"line {n}" for n in reversed(range(answered))), "start"]
    assert kept[-len(wanted) :] == wanted
