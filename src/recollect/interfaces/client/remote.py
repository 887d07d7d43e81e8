"""``RemoteMemory``: every verb of ``AsyncMemory``, done by a server.

The verbs have the signatures of the local ones because they are made from them. Nothing is
checked here but what JSON can carry; the server checks, and its errors come back as ours.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from recollect.interfaces.client import decode
from recollect.interfaces.client.connection import Connection
from recollect.interfaces.client.encode import as_query, plain
from recollect.interfaces.client.files import download, finished, upload
from recollect.memory import AsyncMemory
from recollect.types import Entry, Message, Receipt, Record, Relation, ReviewItem, Session
from recollect.types.pages import Consent, Due, Spent, Stats

P = ParamSpec("P")
R = TypeVar("R")
Verb = Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]
Send = Callable[[Connection, str, dict[str, Any]], Coroutine[Any, Any, Any]]


def _made(method: Verb[P, R], send: Send, read: decode.Read[R]) -> Verb[P, R]:
    """The verb, done elsewhere; only what the caller said is sent."""
    signature = inspect.signature(method)
    path = f"/v1/{method.__name__}"

    @wraps(method)
    async def remote(self: RemoteMemory, /, *args: P.args, **kwargs: P.kwargs) -> R:
        given = dict(signature.bind(self, *args, **kwargs).arguments)
        del given["self"]
        return read(await send(self._line, path, given))

    return remote


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
    target = given.pop("path")
    work = await finished(line, await line.begin("/v1/export", json=plain(given, "scope")))
    await download(line, work["file"], target)
    return work["receipt"]


async def _import(line: Connection, _: str, given: dict[str, Any]) -> Any:
    source = given.pop("path")
    return (await finished(line, await upload(line, source, as_query(given))))["receipt"]


def writes(method: Verb[P, Receipt]) -> Verb[P, Receipt]:
    return _made(method, _write, decode.one(Receipt))


def asks(method: Verb[P, R], read: decode.Read[R]) -> Verb[P, R]:
    return _made(method, _post, read)


def lists(method: Verb[P, R], read: decode.Read[R]) -> Verb[P, R]:
    return _made(method, _get, read)


class RemoteMemory(AsyncMemory):
    """A memory on a server. Get one with ``await AsyncMemory.connect(url, key)``."""

    def __init__(self, line: Connection) -> None:
        """Without an engine: that is on the other side."""
        self._line = line

    def __repr__(self) -> str:
        return f"RemoteMemory({self._line.url!r})"

    observe = writes(AsyncMemory.observe)
    remember = writes(AsyncMemory.remember)
    set_state = writes(AsyncMemory.set_state)
    end = writes(AsyncMemory.end)
    note = writes(AsyncMemory.note)
    relate = writes(AsyncMemory.relate)
    save_procedure = writes(AsyncMemory.save_procedure)
    procedure_used = writes(AsyncMemory.procedure_used)
    forget = writes(AsyncMemory.forget)
    revoke = writes(AsyncMemory.revoke)
    archive = writes(AsyncMemory.archive)
    undo = writes(AsyncMemory.undo)
    resolve = writes(AsyncMemory.resolve)
    set_policy = writes(AsyncMemory.set_policy)

    recall = asks(AsyncMemory.recall, decode.answer)
    context = asks(AsyncMemory.context, decode.packet)
    find_procedures = asks(AsyncMemory.find_procedures, decode.answer)
    get = asks(AsyncMemory.get, decode.several("records", Record))

    history = lists(AsyncMemory.history, decode.several("entries", Entry))
    review = lists(AsyncMemory.review, decode.several("items", ReviewItem))
    records = lists(AsyncMemory.records, decode.page(Record))
    relations = lists(AsyncMemory.relations, decode.several("relations", Relation))
    sessions = lists(AsyncMemory.sessions, decode.page(Session))
    messages = lists(AsyncMemory.messages, decode.page(Message))
    pending = lists(AsyncMemory.pending, decode.several("messages", Message))
    changes = lists(AsyncMemory.changes, decode.page(Entry))
    usage = lists(AsyncMemory.usage, decode.page(Spent))
    due = lists(AsyncMemory.due, decode.one(Due))
    stats = lists(AsyncMemory.stats, decode.one(Stats))
    policies = lists(AsyncMemory.policies, decode.several("policies", Consent))

    confirm = _made(AsyncMemory.confirm, _confirm, decode.one(Receipt))
    maintain = _made(AsyncMemory.maintain, _maintain, decode.one(Receipt))
    reembed = _made(AsyncMemory.reembed, _reembed, decode.one(Receipt))
    export_to = _made(AsyncMemory.export_to, _export, decode.one(Receipt))
    import_from = _made(AsyncMemory.import_from, _import, decode.one(Receipt))

    async def close(self) -> None:
        """Let go of the connection; the server's memory stays open."""
        await self._line.close()
