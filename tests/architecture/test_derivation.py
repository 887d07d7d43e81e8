"""One signature, five surfaces: what a verb takes is in the server's bodies and its OpenAPI page,
in the command line, in the tools and in the client, with the same default and the same words."""

from __future__ import annotations

import argparse
import asyncio
import inspect
import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from standfast.interfaces.caller import Caller
from standfast.interfaces.cli import build_parser
from standfast.interfaces.cli.options import COMMON
from standfast.interfaces.cli.verbs import COMMANDS, NO_COMMAND
from standfast.interfaces.client import RemoteMemory
from standfast.interfaces.http import build_app
from standfast.interfaces.http.models import ELSEWHERE
from standfast.interfaces.mcp import memories, procedures
from standfast.interfaces.mcp.server import _TOOLS, NO_TOOL, build_server
from standfast.memory import AsyncMemory
from standfast.memory.arguments import Argument, verb_names, verb_spec
from standfast.memory.sync import Memory

ROUTES = {"export_to": "export", "import_from": "import"}
every_verb = pytest.mark.parametrize("verb", verb_names())


@cache
def page() -> Any:
    return build_app("dict:", embedder="none", mcp=None).openapi()


def told_by_the_server(verb: str) -> dict[str, Any]:
    """Names -> schemas, of a body or of a query."""
    path = page()["paths"][f"/v1/{ROUTES.get(verb, verb)}"]
    operation = path.get("post") or path["get"]
    found = {
        one["name"]: {**one["schema"], "description": one.get("description")}
        for one in operation.get("parameters", ())
        if one["in"] == "query"
    }
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if body:
        name = body["schema"]["$ref"].rpartition("/")[2]
        found |= page()["components"]["schemas"][name]["properties"]
    return found


def plain(default: Any) -> Any:
    return list(default) if isinstance(default, tuple) else default


@every_verb
def test_every_argument_is_documented_in_the_verb(verb: str) -> None:
    for argument in verb_spec(verb).arguments:
        _every_argument_is_documented_in_the_verb(verb, argument)


def _every_argument_is_documented_in_the_verb(verb: str, argument: Argument) -> None:
    assert argument.said, f"say under Args of {verb} what {argument.name} is"


@every_verb
def test_the_server_takes_it_and_its_page_says_the_same(verb: str) -> None:
    for argument in verb_spec(verb).arguments:
        _the_server_takes_it_and_its_page_says_the_same(verb, argument)


def _the_server_takes_it_and_its_page_says_the_same(verb: str, argument: Argument) -> None:
    if (verb, argument.name) in ELSEWHERE:
        assert argument.name not in told_by_the_server(verb)
        return
    schema = told_by_the_server(verb)[argument.name]
    assert schema["description"] == argument.said
    if not argument.required and argument.default is not None:
        assert plain(schema["default"]) == plain(argument.default)


@every_verb
def test_the_client_takes_it(verb: str) -> None:
    for argument in verb_spec(verb).arguments:
        _the_client_takes_it(verb, argument)


def _the_client_takes_it(verb: str, argument: Argument) -> None:
    for face in (RemoteMemory, Memory):
        method = getattr(face, verb)
        parameter = inspect.signature(method).parameters[argument.name]
        assert parameter.default == argument.default
        assert method.__doc__ == getattr(AsyncMemory, verb).__doc__


@cache
def parsers() -> dict[str, argparse.ArgumentParser]:
    return dict(_below("", build_parser()))


def _below(
    words: str, parser: argparse.ArgumentParser
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    yield words, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from _below(f"{words} {name}".strip(), inner)


@every_verb
def test_every_command_of_a_verb_takes_it(verb: str) -> None:
    for argument in verb_spec(verb).arguments:
        _every_command_of_a_verb_takes_it(verb, argument)


def _every_command_of_a_verb_takes_it(verb: str, argument: Argument) -> None:
    commands = [command for command in COMMANDS if command.verb == verb]
    assert bool(commands) != (verb in NO_COMMAND), "a command, or a reason why there is none"
    for command in commands:
        options = {action.dest: action for action in parsers()[command.words]._actions}
        if argument.name in command.left_out:
            assert argument.name not in options or verb == "resolve"
            continue
        if callable(command.own.get(argument.name)):
            continue  # in a form of its own; the tests of the command hold it
        own = command.own.get(argument.name, {})
        assert isinstance(own, dict)
        option = options[own.get("flag", "file").strip("-") if verb.endswith(("_to", "_from"))
                         and argument.name == "path" else argument.name]  # fmt: skip
        if argument.name in COMMON:
            continue
        assert option.help == own.get("help", argument.said)
        if not argument.required:
            assert plain(option.default) == plain(argument.default)


async def nobody(_: object) -> Caller:
    raise AssertionError("nobody asks")


@cache
def tools() -> dict[str, Any]:
    return {tool.name: tool for tool in asyncio.run(build_server(nobody).list_tools())}


def derived() -> dict[str, list[tuple[str, Any]]]:
    """Verb -> the tools that are made from it, each with what it leaves out."""
    found: dict[str, list[tuple[str, Any]]] = {}
    for name in _TOOLS:
        function = getattr(memories, name, None) or getattr(procedures, name)
        for verb, taken in function.from_verbs.items():
            found.setdefault(verb, []).append((name, taken))
    return found


@every_verb
def test_every_tool_of_a_verb_takes_it(verb: str) -> None:
    for argument in verb_spec(verb).arguments:
        _every_tool_of_a_verb_takes_it(verb, argument)


def _every_tool_of_a_verb_takes_it(verb: str, argument: Argument) -> None:
    made = derived().get(verb, [])
    assert bool(made) != (verb in NO_TOOL), "a tool, or a reason why there is none"
    for name, taken in made:
        if argument.name in taken.left_out:
            assert taken.left_out[argument.name], "with a reason"
            continue
        told = taken.told.get(argument.name)
        schema = tools()[name].input_schema["properties"][
            told.name if told and told.name else argument.name
        ]
        said = told.said if told and told.said else argument.said
        assert schema["description"].startswith(said)


A_NEW_ARGUMENT = '''
import asyncio, inspect, json
from typing import Literal
from standfast.access.rights import needs
from standfast.memory import AsyncMemory
from standfast.types import Answer

@needs("read")
async def recall(self, query: str, *, mood: Literal["calm", "wild"] = "calm") -> Answer:
    """Find.

    Args:
        query: what
        mood: how it is asked for
    """
    raise AssertionError

recall.__wrapped__.__globals__.update(globals())
AsyncMemory.recall = recall

from standfast.interfaces.cli import build_parser
from standfast.interfaces.client import RemoteMemory
from standfast.interfaces.http import build_app
from standfast.interfaces.mcp.server import build_server
from standfast.memory.sync import Memory

page = build_app("dict:", mcp=None).openapi()
tools = {tool.name: tool for tool in asyncio.run(build_server(None).list_tools())}
asked = build_parser().parse_args(["recall", "x", "--mood", "wild"])
print(json.dumps({
    "http": page["components"]["schemas"]["Recall"]["properties"]["mood"],
    "mcp": tools["memory_search"].input_schema["properties"]["mood"],
    "cli": asked.mood,
    "usual": build_parser().parse_args(["recall", "x"]).mood,
    "client": inspect.signature(RemoteMemory.recall).parameters["mood"].default,
    "sync": inspect.signature(Memory.recall).parameters["mood"].default,
}))
'''


def test_an_argument_that_is_added_to_a_verb_is_everywhere() -> None:
    """Written once: in the verb, with its line of documentation."""
    done = subprocess.run(
        [sys.executable, "-c", A_NEW_ARGUMENT], capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for page_of in ("http", "mcp"):
        schema = found[page_of]
        assert (schema["description"], schema["default"]) == ("how it is asked for", "calm")
        assert schema["enum"] == ["calm", "wild"]
    assert (found["cli"], found["usual"]) == ("wild", "calm")
    assert (found["client"], found["sync"]) == ("calm", "calm")
