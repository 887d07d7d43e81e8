"""Names and texts that mean something to an engine: each comes back as it is, or is refused in one
clear line, the same on every engine; and what others have stays as it was."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from standfast import AsyncMemory
from standfast.errors import Invalid, NotFound
from tests import postgres, redis

HOSTILE = (
    "\x00", "a\x00b", "\ud800", "a\udfffb", "\x1a", "\x1a0", "\x1a1\x00", "'", "''", '"', "\\",
    "\\\\", "\\'", "'; DROP TABLE record; --", "' OR '1'='1", '") OR (""="', "$$", "$1",
    "$$ SELECT 1 $$", "%s", "%(now)s", "%", "%%", "%d%n", "{}", "{0}", "{root}", "{a.b}", "{{}}",
    "}{", "}", "{", "a}b", "{user:zoe}", "${jndi:x}", "`id`", "$(id)", "; ls",
    "redis.call('FLUSHALL')", "]] return 1 --", "KEYS[1]", "' .. redis.call('GET','x') .. '",
    "\r\n", "a\r\nb", "*1\r\n$8\r\nFLUSHALL\r\n", "$-1\r\n", "+OK\r\n",
    "CREATE x; REMOVE TABLE record;", "$param", "<future> { 1 }", "record:⟨x⟩", "⟨x⟩", "a:b",
    "user:zoe", "type::thing('a','b')", "/*", "*/", "--", "#", "//", "a\tb", " ", "\u00a0",
    "\u200b", "\u202e", "\u2028", "\ufeff", "\uffff", "é", "e\u0301", "İ", "漢字", "🙂", "𝐀",
    "\U000e0041", "\U0010ffff", "NULL", "null", "true", "0", "-1", "1e999", "NaN", "[]",
    '{"a":1}', "\\u0000", "\\x00", "&#0;", "<script>", "*", "?", "[a-z]*", "a*", "user:*", "..",
    "../../etc", "~", "x\x7fy", "x\x85y", "\x1b[31m", "@tag", "-word", "a|b", "a&b", "<->", "a:*",
    "\\d+", "%41", "%00", "%3A", "x%25y", "@@", "_", "__proto__", "a" * 300, "$$;$$",
)  # fmt: skip
SAMPLE = 9  # every so many, in a quick run
ANN, ZOE = "user:ann", "user:zoe"


async def answered(asked: Awaitable[Any]) -> Any:
    """What it tells, or that it was refused, in one line."""
    try:
        return await asked
    except (Invalid, NotFound) as error:
        said = str(error)
    assert len(said.splitlines()) == 1, said
    return "refused"


async def told(memory: AsyncMemory, name: str, number: int) -> list[Any]:
    """What is known after it was used as everything that has a name, and as a text."""
    found: list[Any] = []

    async def kept(asked: Awaitable[Any]) -> None:
        receipt = await answered(asked)
        if isinstance(receipt, str):
            found.append(receipt)
            return
        for item in receipt.items:
            found.append(item.status)
            for record in await memory.get([item.record or item.id]):
                found.append((record.scope, record.text, record.author, record.tags, record.data))

    fact = f"fact {number}"
    await kept(memory.remember(f"{fact} of a scope", scope=f"user:{name}"))
    await kept(memory.remember(f"{fact}: {name}", scope=ANN))
    await kept(memory.remember(f"{fact} by an author", author=name, scope=ANN))
    await kept(memory.remember(f"{fact} with a tag", tags=[name], scope=ANN))
    await kept(memory.remember(f"{fact} with data", data={name: [name, {"a": name}]}, scope=ANN))
    await kept(memory.remember(f"{fact} by somebody", actor=name, scope=ANN))
    await kept(memory.remember(f"{fact} instead", supersedes=name, scope=ANN))
    await kept(memory.observe(name, [f"hello {number}"], scope=ANN))
    said = {"role": "user", "content": name or "x", "id": name, "author": name}
    await kept(memory.observe("chat", [said], scope=ANN, channel=name))
    await kept(memory.save_procedure(name, [name or "x"], triggers=[name], scope=ANN))
    await kept(memory.forget(ids=[name]))
    for session in (name, "chat"):
        page = await answered(memory.messages(session, scope=ANN, limit=1000))
        found.append(page if isinstance(page, str) else [(m.text, m.author) for m in page.items])
    for asked in (
        memory.recall(name or "x", scope=ANN, tags=[name]),
        memory.recall(name or "x", scope=ANN, where={"data.a": name}),
        memory.context(session=name, query=name, scope=ANN),
        memory.history(name, scope=ANN),
        memory.set_state("chat", {name: name}, scope=ANN),
    ):
        answer = await answered(asked)
        found.append(answer if isinstance(answer, str) else "answered")
    return found


async def known_of(memory: AsyncMemory, scope: str) -> list[Any]:
    page = await memory.records(scope=scope, limit=1000)
    return sorted((one.text, one.author, one.status) for one in page.items)


async def all_told(address: str, names: tuple[str, ...]) -> list[list[Any]]:
    async with await AsyncMemory.open(address, embedder="none", background=False) as memory:
        await memory.remember("Zoe keeps bees", scope=ZOE)
        await memory.observe("chat", ["I am Zoe"], scope=ZOE)
        before = await known_of(memory, ZOE)
        found = [await told(memory, name, number) for number, name in enumerate(names)]
        assert await known_of(memory, ZOE) == before, "what another tenant has"
        return found


@cache
def reference(names: tuple[str, ...]) -> list[list[Any]]:
    return asyncio.run(all_told("dict:", names))


@contextmanager
def file(folder: Path) -> Iterator[str]:
    yield str(folder / "memory.db")


@contextmanager
def embedded(_: Path) -> Iterator[str]:
    pytest.importorskip("surrealdb", reason="pip install surrealdb")
    yield "mem://"


ENGINES: dict[str, Callable[[Path], AbstractContextManager[str]]] = {
    "sqlite": file,
    "postgresql": lambda _: postgres.database(),
    "redis": lambda _: redis.database(),
    "surrealdb": embedded,
}


def test_A10_there_are_more_than_a_hundred_hostile_names() -> None:
    assert len(set(HOSTILE)) == len(HOSTILE) > 100


@pytest.mark.parametrize("engine", ENGINES)
def test_A10_a_hostile_name_comes_back_or_is_refused(
    tmp_path: Path, engine: str, proving: bool
) -> None:
    names = HOSTILE if proving else HOSTILE[:4] + HOSTILE[4::SAMPLE]
    names = tuple(name for name in names if name != ZOE)  # that is her, and nobody else
    expected = reference(names)
    with ENGINES[engine](tmp_path) as address:
        found = asyncio.run(all_told(address, names))
    for name, ours, theirs in zip(names, expected, found, strict=True):
        assert theirs == ours, name
