"""What the pages say about MCP is what the server offers, and every configuration works."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
from typing import Any

import pytest

from standfast.interfaces.caller import Caller
from standfast.interfaces.cli import build_parser
from standfast.interfaces.mcp.server import build_server
from tests.docs.pages import PROJECT, blocks_of

REFERENCE = (PROJECT / "docs" / "reference" / "mcp.md").read_text("utf-8")
HOWTO = (PROJECT / "docs" / "howto" / "mcp.md").read_text("utf-8")


async def nobody(_: object) -> Caller:
    raise AssertionError("nobody asks")


SERVER = build_server(nobody)


def rows(first_column: str) -> dict[str, list[str]]:
    """The rows of the table with this head: first cell -> the other cells."""
    head = REFERENCE.index(f"| {first_column} |")
    lines = REFERENCE[head:].split("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0].strip("`"): row[1:] for row in cells}


def test_the_table_of_tools_is_that_of_the_server() -> None:
    def yes(hint: bool | None) -> str:
        return "yes" if hint else "no"

    table = rows("tool | what it does | reads only | may destroy | again")
    tools = asyncio.run(SERVER.list_tools())
    assert list(table) == [tool.name for tool in tools]
    for tool in tools:
        hints = tool.annotations
        assert hints
        assert table[tool.name][1:] == [
            yes(hints.read_only_hint),
            yes(hints.destructive_hint),
            yes(hints.idempotent_hint),
        ], tool.name


def test_the_table_of_arguments_is_that_of_the_server() -> None:
    table = rows("tool | arguments")
    tools = asyncio.run(SERVER.list_tools())
    assert list(table) == [tool.name for tool in tools]
    for tool in tools:
        written = re.findall(r"`(\w+)`", table[tool.name][0])
        assert written == list(tool.input_schema["properties"]), tool.name


def test_prompts_and_resources_are_those_of_the_server() -> None:
    prompts = {
        prompt.name: [argument.name for argument in prompt.arguments or []]
        for prompt in asyncio.run(SERVER.list_prompts())
    }
    written = rows("prompt | arguments | what it is")
    assert {name: re.findall(r"`(\w+)`", row[0]) for name, row in written.items()} == prompts
    resources = [str(one.uri) for one in asyncio.run(SERVER.list_resources())]
    resources += [one.uri_template for one in asyncio.run(SERVER.list_resource_templates())]
    assert list(rows("resource | what it is")) == resources


def configurations() -> list[dict[str, Any]]:
    found = [json.loads(block.code) for block in blocks_of(HOWTO) if block.language == "json"]
    return [
        server for one in found for server in one.get("mcpServers", one.get("servers", {})).values()
    ]


@pytest.mark.parametrize("server", configurations())
def test_every_configuration_names_what_there_is(server: dict[str, Any]) -> None:
    if "command" in server:
        assert server["command"] == "standfast"
        assert build_parser().parse_args(server["args"]).command == "mcp"
    else:
        assert server["url"] == "http://127.0.0.1:4777/mcp"
        assert server["headers"]["Authorization"].startswith("Bearer ")


def test_the_shell_lines_start_what_there_is() -> None:
    lines = [block.code.strip() for block in blocks_of(HOWTO) if block.language == "sh"]
    stdio, http = (shlex.split(line) for line in lines)
    own = stdio[stdio.index("--") + 1 :]
    assert own[0] == "standfast"
    assert build_parser().parse_args(own[1:]).scope == "user:ann"
    assert "http://127.0.0.1:4777/mcp" in http
