"""Sorted keys in Redis: a hash for the values of a root and a sorted set for their order, under one
hash tag, so that a cluster keeps a root in one place.

What concerns all roots (which there are, where something may be due) lies under a tag of its own.
One server changes both in one script. A cluster cannot, so there it is written before a commit and
again after it: what a crash in between may lose is a hint, made anew when the store is opened.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime
from typing import Any

from standfast.index.codes import micros
from standfast.stores.keyspace.engine import Ask, Get, KeyChanges, KeyNews, KeySpan, Pairs
from standfast.stores.keyspace.keys import encoded
from standfast.stores.redis import scripts
from standfast.stores.redis.failures import speaking_of

POLL_SECONDS = 0.05
AT_ONCE = 100  # commands on their way
IN_USE_MS = 60_000  # whoever has asked for an id writes it within this time, or not at all

Answers = list[bytes | Pairs | None]


class RedisEngine:
    """``standfast.stores.keyspace.engine.KeyEngine``. ``client`` is a ``redis.asyncio`` one, of a
    server or of a cluster; ``name`` is how messages call it, without its password. ``listening``:
    one with connections of its own for those who wait for news, if there may be many."""

    def __init__(
        self, client: Any, *, name: str, prefix: str, cluster: bool, listening: Any = None
    ) -> None:
        self.client = client
        self._listening = listening
        self.name = name
        self.cluster = cluster
        self._prefix = prefix
        self._tag = f"{{{prefix}}}"
        self._scripts: dict[str, Any] = {}
        self._known: set[str] = set()  # roots that a cluster has been told of

    # Names

    def tagged(self, root: str, name: str) -> str:
        return f"{self._prefix}:{{{root or self._prefix}}}:{name}"

    def _values(self, root: str) -> str:
        return self.tagged(root, "values")

    def _order(self, root: str) -> str:
        return self.tagged(root, "keys")

    def _channel(self, root: str) -> str:
        return self.tagged(root, "news")

    def _about(self, name: str) -> str:
        """What concerns all roots."""
        return f"{self._prefix}:{self._tag}:about:{name}"

    def _id(self, id_: str) -> bytes:
        return encoded(f"{self._prefix}:id:{id_}")

    async def run(self, source: str, keys: Sequence[Any], args: Sequence[Any]) -> Any:
        with speaking_of(self.name):
            return await self.script(self.client, source, keys, args)

    async def script(
        self, client: Any, source: str, keys: Sequence[Any], args: Sequence[Any]
    ) -> Any:
        """Run a script, or add it to a pipeline. A cluster gets its text each time: its client
        does not look after scripts that a node does not know."""
        if self.cluster:
            found = client.eval(source, len(keys), *keys, *args)
            return found if client is not self.client else await found
        if source not in self._scripts:
            self._scripts[source] = self.client.register_script(source)
        return await self._scripts[source](keys=list(keys), args=list(args), client=client)

    async def command(self, *parts: Any) -> Any:
        with speaking_of(self.name):
            return await self.client.execute_command(*parts)

    # Names that concern all roots

    async def add(self, name: str, member: str) -> None:
        await self.command("SADD", self._about(name), member)

    async def remove(self, name: str, member: str) -> None:
        await self.command("SREM", self._about(name), member)

    async def members(self, name: str) -> list[str]:
        return [one.decode() for one in await self.command("SMEMBERS", self._about(name))]

    # Keys

    async def read(self, root: str, asks: Sequence[Ask]) -> Answers:
        with speaking_of(self.name):
            return _answers(asks, await self._asked(self.client, root, asks))

    async def _asked(self, client: Any, root: str, asks: Sequence[Ask]) -> Any:
        if all(isinstance(one, Get) and not one.follow for one in asks):
            keys = [one.key for one in asks if isinstance(one, Get)]
            return await client.hmget(self._values(root), keys)
        names = [self._values(root), self._order(root)]
        return await self.script(client, scripts.READ, names, list(_questions(asks)))

    async def begin(
        self, root: str, asks: Sequence[Ask], ids: Sequence[str]
    ) -> tuple[Answers, dict[str, str]]:
        mine = f"{root}\0{int(time.time() * 1000)}"
        with speaking_of(self.name):
            if self.cluster:
                await self._tell(root)
                olds = await self._each(
                    ids, lambda name: self.client.set(name, mine, nx=True, get=True)
                )
                return await self.read(root, asks), _owners(ids, olds)
            async with self.client.pipeline(transaction=False) as pipe:
                names = [self._values(root), self._order(root)]
                await self.script(pipe, scripts.READ, names, list(_questions(asks)))
                for one in ids:
                    pipe.set(self._id(one), mine, nx=True, get=True)
                first, *olds = await pipe.execute()
        return _answers(asks, first), _owners(ids, olds)

    async def write(self, root: str, changes: KeyChanges) -> bool:
        keys = [self._values(root), self._order(root)]
        if not self.cluster:
            keys += map(self._about, ("roots", "due", "until", "news"))
        what = "e" if changes.entered else "u" if changes.used else "m" if root else ""
        args = [root, self._channel(root), what, *_written(changes)]
        args += self._near(root, changes)
        source = scripts.ERASE if any(one.new is None for one in changes.near) else scripts.WRITE
        with speaking_of(self.name, writing=True):
            done = await self.script(self.client, source, keys, args)
        if self.cluster and done and what:
            await self._tell_news(root, what)
        return bool(done)

    def _near(self, root: str, changes: KeyChanges) -> Iterator[Any]:  # noqa: ARG002
        """For an index of the engine's own."""
        return iter(())

    async def owners(self, ids: Sequence[str]) -> dict[str, str]:
        if not ids:
            return {}
        with speaking_of(self.name):
            if self.cluster:
                found = await self._each(ids, self.client.get)
            else:
                found = await self.client.mget([self._id(one) for one in ids])
        return {id_: owner for id_, owner in _owners(ids, found).items() if owner}

    async def _each(self, ids: Sequence[str], ask: Callable[[bytes], Awaitable[Any]]) -> list[Any]:
        """Of a cluster, which takes no command for keys in several places."""
        found: list[Any] = []
        for start in range(0, len(ids), AT_ONCE):
            some = ids[start : start + AT_ONCE]
            found += await asyncio.gather(*(ask(self._id(one)) for one in some))
        return found

    async def take_over(self, id_: str, old: str, new: str, *, at_once: bool) -> bool:
        mine = f"{new}\0{int(time.time() * 1000)}"
        age = 0 if at_once else IN_USE_MS
        return bool(await self.run(scripts.TAKE_OVER, [self._id(id_)], [old, mine, age]))

    async def release(self, root: str, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), AT_ONCE):
            names = [self._id(one) for one in ids[start : start + AT_ONCE]]
            if self.cluster:
                await asyncio.gather(*(self.run(scripts.RELEASE, [one], [root]) for one in names))
                continue
            with speaking_of(self.name):
                async with self.client.pipeline(transaction=False) as pipe:
                    for one in names:
                        await self.script(pipe, scripts.RELEASE, [one], [root])
                    await pipe.execute()

    # News

    def news(self, root: str) -> AbstractAsyncContextManager[KeyNews]:
        return self._polled() if self.cluster or not root else self._subscribed(root)

    @asynccontextmanager
    async def _subscribed(self, root: str) -> AsyncIterator[KeyNews]:
        with speaking_of(self.name):
            # Each that listens has a connection for itself, for as long as it does.
            line = self._listening or self.client
            async with line.pubsub(ignore_subscribe_messages=True) as pubsub:
                await pubsub.subscribe(self._channel(root))
                yield _Subscribed(pubsub, self.name)

    @asynccontextmanager
    async def _polled(self) -> AsyncIterator[KeyNews]:
        yield _Polled()

    # What is known about all roots

    async def _tell(self, root: str) -> None:
        """Before the first commit: a root that nobody knows of would never be looked after."""
        if root in self._known:
            return
        async with self.client.pipeline() as pipe:
            pipe.zadd(self._about("roots"), {root: 0})
            pipe.zadd(self._about("until"), {root: "-inf"}, nx=True)
            pipe.zadd(self._about("due"), {root: 0})
            await pipe.execute()
        self._known.add(root)

    async def _tell_news(self, root: str, what: str) -> None:
        async with self.client.pipeline() as pipe:
            if what == "e":
                pipe.zadd(self._about("roots"), {root: 0})
            pipe.zadd(self._about("due"), {root: 0})
            if what != "m":
                pipe.zadd(self._about("news"), {root: 0})
            await pipe.execute()

    async def begin_anew(self) -> None:
        """In a cluster hints may have been lost: let the first look go through every root."""
        if self.cluster:
            with speaking_of(self.name):
                await self.client.delete(self._about("space"))

    async def roots(self, after: str, limit: int) -> list[str]:
        with speaking_of(self.name):
            low = f"({after}" if after else "-"
            found = await self.client.zrangebylex(self._about("roots"), low, "+", 0, limit)
        return [name.decode() for name in found]

    async def busy(self, now: datetime, space: str | None) -> list[str]:
        if space is not None:
            about = [self._about(name) for name in ("due", "roots", "space")]
            await self.run(scripts.OTHER_SPACE, about, [space or "-"])
        with speaking_of(self.name):
            found = await self.client.zrangebyscore(self._about("due"), "-inf", _score(now))
        return sorted(name.decode() for name in found)

    async def rest(self, root: str, header: bytes, until: datetime | None) -> None:
        score = "" if until is None else _score(until)
        if not self.cluster:
            keys = [self._values(root), self._about("due")]
            await self.run(scripts.REST, keys, [root, header, score])
            return
        with speaking_of(self.name):
            if until is None:
                await self.client.zrem(self._about("due"), root)
            else:
                await self.client.zadd(self._about("due"), {root: score})
            if await self.client.hget(self._values(root), ".n") != header:
                await self.client.zadd(self._about("due"), {root: 0})

    async def settle(self, root: str, header: bytes, until: datetime, *, news: bool) -> None:
        about = [self._about("until"), self._about("news")]
        if not self.cluster:
            args = [root, header, _score(until), "1" if news else "0"]
            await self.run(scripts.SETTLE, [self._values(root), *about], args)
            return
        with speaking_of(self.name):
            await self.client.zadd(about[0], {root: _score(until)})
            await self.client.zrem(about[1], root)
            if news or await self.client.hget(self._values(root), ".n") != header:
                await self.client.zadd(about[1], {root: 0})

    async def unsettled(self, now: datetime, *, news: bool, limit: int) -> list[str]:
        until, stirred = self._about("until"), self._about("news")
        with speaking_of(self.name):
            waited = await self.client.zrangebyscore(until, "-inf", _score(now), 0, limit)
            found = [name.decode() for name in waited]
            after = "-"
            while news and len(found) < limit:
                some = await self.client.zrangebylex(stirred, after, "+", 0, 500)
                if not some:
                    break
                scores = await self.client.zmscore(until, some)
                late = _score(now)
                rest = [one for one, at in zip(some, scores, strict=True) if (at or 0) > late]
                found += [name.decode() for name in rest]
                after = b"(" + some[-1]
        return found[:limit]

    async def scrub(self) -> bool:
        """The append-only file is written anew, without what was erased; the server does that by
        itself, in the background."""
        from redis.exceptions import ResponseError

        with speaking_of(self.name):
            try:
                if not self.cluster:
                    await self.client.bgrewriteaof()
                for node in self.client.get_primaries() if self.cluster else ():
                    await node.execute_command("BGREWRITEAOF")
            except ResponseError as error:  # it is being done, or not allowed
                return "progress" not in str(error)
        return True

    async def close(self) -> None:
        await self.client.aclose()
        if self._listening is not None:
            await self._listening.aclose()


class _Subscribed:
    def __init__(self, pubsub: Any, name: str) -> None:
        self._pubsub = pubsub
        self._name = name

    async def wait(self, seconds: float) -> None:
        with speaking_of(self._name):
            await self._pubsub.get_message(timeout=seconds)


class _Polled:
    async def wait(self, seconds: float) -> None:
        await asyncio.sleep(min(seconds, POLL_SECONDS))


def _questions(asks: Sequence[Ask]) -> Iterator[Any]:
    for one in asks:
        if isinstance(one, Get):
            yield from ("f" if one.follow else "g", one.key)
        else:
            flags = ("n" if one.newest else "") + ("f" if one.follow else "")
            flags += "b" if one.bare else ""
            yield from ("s", one.start, one.end, one.limit or -1, flags)


def _answers(asks: Sequence[Ask], found: Sequence[Any]) -> Answers:
    answers: Answers = []
    for asked, given in zip(asks, found, strict=True):
        if not isinstance(asked, KeySpan):
            answers.append(given)
        elif asked.bare:
            answers.append([(name, b"") for name in given[0]])
        else:
            answers.append(list(zip(*given, strict=True)))
    return answers


def _written(changes: KeyChanges) -> Iterator[Any]:
    yield len(changes.expected)
    for name, value in changes.expected.items():
        yield from (name, "0" if value is None else "1", value or b"")
    yield len(changes.spans_gone)
    for start, end in changes.spans_gone:
        yield from (start, end)
    yield len(changes.gone)
    yield from changes.gone
    yield len(changes.puts)
    for name, value in changes.puts.items():
        yield from (name, value)


def _owners(ids: Sequence[str], found: Sequence[bytes | None]) -> dict[str, str]:
    return {
        id_: raw.partition(b"\0")[0].decode() if raw else ""
        for id_, raw in zip(ids, found, strict=True)
    }


def _score(moment: datetime) -> float:
    return float(micros(moment))
