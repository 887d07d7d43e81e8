"""Hostile values of every argument of every verb, through every interface and on every engine: an
answer or one clear line, never a trace and never a failure of the server.

The calls are made from the registry of the verbs, so a verb or an argument that is added is tried
too. Values are what a caller can send: each interface has those that its form can carry.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import MAXYEAR, MINYEAR, UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import httpx2
import pytest

from standfast import AsyncMemory
from standfast.errors import StandfastError
from standfast.interfaces.answers import QUESTIONS
from standfast.interfaces.cli.parser import build_parser
from standfast.interfaces.cli.verbs import COMMANDS
from standfast.interfaces.http.models import ELSEWHERE
from standfast.interfaces.http.routes.verbs import TOPICS
from standfast.memory.arguments import Argument, verb_names, verb_spec
from tests import postgres, redis
from tests.commands import run_here
from tests.interfaces.http.conftest import ALL, ServeApp, Served, serve_app
from tests.interfaces.mcp_world import agent_of, opened, text_of

__all__ = ["serve_app"]

ANN = "user:ann"
WITH_FILES = ("export_to", "import_from")
DEEP: Any = []
for _ in range(60):
    DEEP = [DEEP]
LONE = "\ud800 tea \udfff"
TEXTS = (
    "", " ", "\x00", "tea\x00tea", LONE, "\u202e\u2028\u0085", "x" * 5000, "../../etc/passwd",
    "%00", "-1", "NaN", "1e999", "0001-01-01", "9999-12-31T23:59:59.999999+14:00",
    "-99999999-01-01", "2026-02-30", "user:ann:user:ann", ":", "user:", "{", '{"a":',
    '{"$where": 1}', "'; DROP TABLE record",
)  # fmt: skip
NUMBERS = (
    0, -1, -0.0, 1e308, 5e-324, 2**31, 2**53 + 1, 2**63, -(2**63) - 1, 10**400, True, False,
)  # fmt: skip
MANY: tuple[Any, ...] = (
    [], [None], [[]], {}, {"": None}, {"a": 2**70}, {"a": [1, {"b": LONE}]}, [LONE], ["\x00"],
    DEEP, {"deep": DEEP}, [{"role": "user", "content": LONE}], [{"role": 5, "content": {}}],
    [{"content": None, "at": 10**30}], {"\x00": "\x00"}, {LONE: LONE}, [True], ["x"] * 1001,
)  # fmt: skip
# What a system hands to a program: no NUL, and bytes that are no text in a form of their own.
IN_WORDS = ("\udcff tea", *(text for text in TEXTS if "\x00" not in text and text != LONE))
IN_JSON = (None, *TEXTS, *NUMBERS, *MANY)
IN_PYTHON = (
    *IN_JSON, math.nan, math.inf, -math.inf, b"\xff", bytearray(b"x"), 1j, object, ...,
    datetime(MINYEAR, 1, 1), datetime(MAXYEAR, 12, 31, 23, 59), datetime(MINYEAR, 1, 1, tzinfo=UTC),
    datetime(MINYEAR, 1, 1, tzinfo=timezone(timedelta(hours=14))),
    datetime(MAXYEAR, 12, 31, 23, 59, tzinfo=timezone(timedelta(hours=-12))),
    {"a": math.nan}, {"a": b"x"}, {1: 2}, {"a": {1, 2}}, frozenset({1}), range(3),
)  # fmt: skip


def needed(spec_arguments: tuple[Argument, ...], right: Mapping[str, Any]) -> dict[str, Any]:
    given = {one.name: right.get(one.name, "x") for one in spec_arguments if one.required}
    if any(one.name == "scope" for one in spec_arguments):
        given["scope"] = ANN
    return given


async def known(memory: AsyncMemory) -> dict[str, Any]:
    """Something right for every argument that a verb has to be given."""
    first = await memory.remember("Ann lives in Rome", scope=ANN)
    second = await memory.remember("Ann likes tea", scope=ANN)
    await memory.observe("s", "hello", scope=ANN)
    one, other = first.items[0].id, second.items[0].id
    return {
        "session": "s", "messages": "hello", "text": "Ann likes tea", "id": one, "ids": [one],
        "query": "tea", "source": one, "target": other, "kind": "supports", "name": "n",
        "steps": ["a"], "change": first.change, "state": {}, "record": one, "action": "approve",
        "relation": "supports", "id_or_name": "n", "success": True, "record_id": one,
    }  # fmt: skip


def shown(value: Any) -> str:
    return repr(value)[:60]


# Over HTTP


def over_http() -> Iterator[tuple[str, str]]:
    """Verbs, and by which method."""
    for verbs in TOPICS.values():
        for verb in verbs:
            reads = verb_spec(verb).right == "read" and verb not in QUESTIONS
            yield verb, "GET" if reads else "POST"


def test_X10_hostile_values_over_http_are_refused_and_fail_nothing(serve_app: ServeApp) -> None:
    server: Served = serve_app(embedder="none")
    server.key("admin", rights=ALL)
    right = server.run(known(server.app.state.memory))
    broken: dict[str, str] = {}
    tried = 0
    with server.client("admin") as client:
        for verb, method in over_http():
            arguments = verb_spec(verb).arguments
            given = {
                k: v for k, v in needed(arguments, right).items() if (verb, k) not in ELSEWHERE
            }
            for one in arguments:
                for value in IN_JSON if method == "POST" else TEXTS:
                    tried += 1
                    answer = _sent(client, verb, method, {**given, one.name: value})
                    told = answer.text if answer.status_code >= 400 else ""
                    if answer.status_code >= 500 or "Traceback" in told or "\n" in told.strip():
                        broken[f"{verb}({one.name}={shown(value)})"] = (
                            f"{answer.status_code} {told}"
                        )
    assert broken == {}
    assert tried > 2000, "nothing was tried"


def _sent(
    client: httpx2.Client, verb: str, method: str, given: Mapping[str, Any]
) -> httpx2.Response:
    if method == "GET":
        words = {k: v.encode("utf-8", "surrogatepass") if isinstance(v, str) else v
                 for k, v in given.items()}  # fmt: skip
        return client.get(f"/v1/{verb}", params={k: v for k, v in words.items() if v is not None})
    headers = {"Content-Type": "application/json"}
    return client.post(f"/v1/{verb}", content=json.dumps(given).encode(), headers=headers)


def test_X10_numbers_that_are_none_over_http_are_refused(serve_app: ServeApp) -> None:
    """JSON has no NaN; Python's reader takes it all the same, and much longer numbers."""
    server = serve_app(embedder="none")
    server.key("admin", rights=ALL)
    broken: dict[str, str] = {}
    words = (b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-0", b"1" * 5000, b'"\\ud800"', b"1E+2")
    with server.client("admin") as client:
        for verb, method in over_http():
            if method == "GET":
                continue
            for one in verb_spec(verb).arguments:
                for word in words:
                    body = b'{"scope":"user:ann","%s":%s}' % (one.name.encode(), word)
                    headers = {"Content-Type": "application/json"}
                    answer = client.post(f"/v1/{verb}", content=body, headers=headers)
                    if answer.status_code >= 500:
                        broken[f"{verb}({body!r})"] = answer.text
    assert broken == {}


# Over MCP


def test_X10_hostile_values_over_mcp_are_refused_in_one_line() -> None:
    broken: dict[str, str] = {}
    tried = 0

    async def main() -> None:
        nonlocal tried
        async with opened() as memory, agent_of(memory, rights=ALL) as agent:
            right = await known(memory)
            for tool in (await agent.client.list_tools()).tools:
                taken = tool.input_schema["properties"]
                given = {
                    name: right.get(name, "tea") for name in tool.input_schema.get("required", ())
                }
                for name in taken:
                    for value in IN_JSON:
                        if LONE in repr(value) or "\\ud800" in repr(value):
                            continue  # the client itself cannot send it; stdio has its own test
                        tried += 1
                        answer = await agent.call(tool.name, **{**given, name: value})
                        told = text_of(answer)
                        if answer.is_error and ("Traceback" in told or "\n" in told.strip()):
                            broken[f"{tool.name}({name}={shown(value)})"] = told

    asyncio.run(main())
    assert broken == {}
    assert tried > 1000, "nothing was tried"


# On the command line


def test_X10_hostile_values_on_the_command_line_are_one_line(
    tmp_path: Path, proving: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``run_here`` fails where there is a trace."""
    monkeypatch.chdir(tmp_path)
    store = ["--store", str(tmp_path / "memory.db"), "--embedder", "none", "--no-background"]
    run_here([*store, "remember", "Ann likes tea", "--scope", ANN])
    broken: dict[str, str] = {}
    tried = 0
    for words, options in commands():
        for option in options:
            for value in some(IN_WORDS, tried, 1 if proving else 6):
                tried += 1
                command = [*store, *words, *option(value)]
                done = run_here(command)
                told = done.stderr.strip()
                refused = done.returncode and not done.stdout  # else a receipt says it
                if len(told.splitlines()) > 1 or (refused and not told):
                    broken[" ".join(command[5:])[:200]] = told
    assert broken == {}
    assert tried > 500, "nothing was tried"


def commands() -> Iterator[tuple[list[str], list[Callable[[str], list[str]]]]]:
    """Every command of a verb, and how each of its arguments is given a value."""
    parser = build_parser().whole()
    for command in COMMANDS:
        if command.verb in WITH_FILES or command.verb == "maintain":
            continue
        inner: Any = parser
        words = command.words.split()
        for word in words:
            [choices] = [one.choices for one in inner._actions if isinstance(one.choices, dict)]
            inner = choices[word]
        yield words, [_option(one, inner) for one in inner._actions if _takes(one)]


def _takes(action: Any) -> bool:
    """A value of its own, and one that is not the program's."""
    common = ("store", "key_file", "profile", "embedder", "config", "actor")
    return action.nargs != 0 and action.dest not in common and not isinstance(action.choices, dict)


def _option(action: Any, parser: Any) -> Callable[[str], list[str]]:
    beside = [
        "approve" if one.choices else "tea"
        for one in parser._actions
        if not one.option_strings and one is not action and one.required
        and not isinstance(one.choices, dict)
    ]  # fmt: skip
    if action.option_strings:
        return lambda value: [*beside, f"{action.option_strings[-1]}={value}"]
    return lambda value: [*beside, "--", value] if not beside else [*beside, value]


# In the library, on every engine


@contextmanager
def of_surreal(folder: Path) -> Iterator[str]:
    pytest.importorskip("surrealdb")
    yield f"surrealkv://{folder}/memory"


ENGINES: dict[str, Callable[[Path], AbstractContextManager[str]]] = {
    "dict": lambda _: nullcontext("dict:"),
    "sqlite": lambda folder: nullcontext(str(folder / "memory.db")),
    "postgresql": lambda _: postgres.database(),
    "redis": lambda _: redis.database(),
    "surrealdb": of_surreal,
}


@pytest.mark.parametrize("engine", ENGINES)
def test_X10_hostile_values_are_refused_alike_on_every_engine(
    tmp_path: Path, engine: str, proving: bool
) -> None:
    broken: dict[str, str] = {}
    tried = 0

    async def main(address: str) -> None:
        nonlocal tried
        async with await AsyncMemory.open(address, embedder="none", background=False) as memory:
            right = await known(memory)
            for verb in verb_names():
                if verb in (*WITH_FILES, "maintain", "reembed", "doctor"):
                    continue
                spec = verb_spec(verb)
                given = needed(spec.arguments, right)
                for one in spec.arguments:
                    for value in some(IN_PYTHON, tried, 1 if proving else 5):
                        tried += 1
                        try:
                            await getattr(memory, verb)(**{**given, one.name: value})
                        except StandfastError as error:
                            if "\n" in str(error):
                                broken[f"{verb}({one.name}={shown(value)})"] = str(error)
                        except Exception as error:
                            broken[f"{verb}({one.name}={shown(value)})"] = repr(error)[:300]

    with ENGINES[engine](tmp_path) as address:
        asyncio.run(main(address))
    assert broken == {}
    assert tried > 1000, "nothing was tried"


def some(values: tuple[Any, ...], start: int, step: int) -> tuple[Any, ...]:
    """Every one of so many, others each time: together they are all tried, if not with each."""
    return values[start % step :: step]
