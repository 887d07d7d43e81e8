"""``RemoteMemory``: every verb of ``AsyncMemory``, done by a server.

The verbs have the signatures of the local ones because they are made from them, and so are the
routes of the server. Nothing is checked here but what JSON can carry; the server checks, and its
errors come back as ours.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any

from standfast.interfaces.answers import QUESTIONS
from standfast.interfaces.client.connection import Connection
from standfast.interfaces.client.encode import as_query, plain
from standfast.interfaces.client.files import download, finished, upload
from standfast.interfaces.decode import reader_of
from standfast.memory import AsyncMemory
from standfast.memory.arguments import verb_names, verb_spec
from standfast.types import Message

Send = Callable[[Connection, str, dict[str, Any]], Coroutine[Any, Any, Any]]


async def _write(line: Connection, path: str, given: dict[str, Any]) -> Any:
    return await line.write(path, {name: plain(value, name) for name, value in given.items()})


async def _post(line: Connection, path: str, given: dict[str, Any]) -> Any:
    return await line.post(path, {name: plain(value, name) for name, value in given.items()})


async def _get(line: Connection, path: str, given: dict[str, Any]) -> Any:
    return await line.read("GET", path, params=as_query(given))


async def _confirm(line: Connection, path: str, given: dict[str, Any]) -> Any:
    pending: tuple[Message, ...] = given["packet"].pending
    named = [{"id": m.id, "scope": m.scope, "session": m.session} for m in pending]
    return await line.write(path, {"pending": named})


async def _maintain(line: Connection, path: str, given: dict[str, Any]) -> Any:
    return (await finished(line, await line.begin(path, json=plain(given, "maintain"))))["receipt"]


async def _reembed(line: Connection, path: str, given: dict[str, Any]) -> Any:
    work = await finished(line, await line.begin(path), given.get("progress"))
    return work["receipt"]


async def _export(line: Connection, _: str, given: dict[str, Any]) -> Any:
    target, told = given.pop("path"), _counted(given)
    work = await finished(line, await line.begin("/v1/export", json=plain(given, "scope")), told)
    await download(line, work["file"], target)
    return work["receipt"]


async def _import(line: Connection, _: str, given: dict[str, Any]) -> Any:
    source, told = given.pop("path"), _counted(given)
    return (await finished(line, await upload(line, source, as_query(given)), told))["receipt"]


def _counted(given: dict[str, Any]) -> Callable[[int], None] | None:
    """The server says how much is done, not of how much."""
    progress = given.pop("progress", None)
    return None if progress is None else lambda done: progress(done, 0)


# What is sent in another way than its arguments as they are.
OTHERWISE: dict[str, Send] = {
    "confirm": _confirm,
    "maintain": _maintain,
    "reembed": _reembed,
    "export_to": _export,
    "import_from": _import,
}


def _sender(verb: str) -> Send:
    """As the server takes it: questions that are too long for an address are posted."""
    if verb_spec(verb).right != "read":
        return _write
    return _post if verb in QUESTIONS else _get


def _made(verb: str) -> Callable[..., Coroutine[Any, Any, Any]]:
    """The verb, done elsewhere; only what the caller said is sent."""
    method = getattr(AsyncMemory, verb)
    signature = inspect.signature(method)
    send, read = OTHERWISE.get(verb) or _sender(verb), reader_of(verb)

    @wraps(method)
    async def remote(self: RemoteMemory, /, *args: Any, **kwargs: Any) -> Any:
        given = dict(signature.bind(self, *args, **kwargs).arguments)
        del given["self"]
        return read(await send(self._line, f"/v1/{verb}", given))

    return remote


class RemoteMemory(AsyncMemory):
    """A memory on a server. Get one with ``await AsyncMemory.connect(url, key)``."""

    def __init__(self, line: Connection) -> None:
        """Without an engine: that is on the other side."""
        self._line = line

    def __repr__(self) -> str:
        return f"RemoteMemory({self._line.url!r})"

    async def close(self) -> None:
        """Let go of the connection; the server's memory stays open."""
        await self._line.close()


for _verb in verb_names():
    setattr(RemoteMemory, _verb, _made(_verb))
