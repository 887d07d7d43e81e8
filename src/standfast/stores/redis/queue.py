"""Messages that wait in Redis: a queue for each scope, first in first out, with a time to live.

Whoever takes messages out keeps a claim on them until they are done: a process that is killed in
between finds them again, and so does everybody else when the claim is old. Which ids have been
here is remembered as long as they would live, so that a message which is sent twice waits once.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

from standfast.errors import Unavailable
from standfast.ports import QueuedMessage
from standfast.stores.keyspace.keys import read_as, written
from standfast.stores.outage import Outage
from standfast.stores.redis.engine import RedisEngine
from standfast.stores.redis.store import check_server, engine_at, facts_of
from standfast.types import Message

SECONDS = 3.0  # that an answer may take: a task waits for it
OLDEST = 6  # it needs less than a store does
CLAIM_MS = 600_000  # that others wait before they take over what somebody claimed
PEEKED_MAX = 100
SCOPES = "pending"  # of all that something waits in
MEANWHILE = "pending messages wait in the store until it is back"
LEFTOVERS = "Redis may hold bytes of messages that waited there until it rewrites its files"

# KEYS: the queue, the ids that have been here, a counter. ARGV: id, its life (ms), body, ...
PUT = """
local time = redis.call('TIME')
local now, known, last = time[1] * 1000 + math.floor(time[2] / 1000), {}, 0
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
for i = 1, #ARGV, 3 do
  local life = tonumber(ARGV[i + 1])
  if redis.call('ZADD', KEYS[2], 'NX', now + life, ARGV[i]) == 1 then
    local number = string.format('%016.0f', redis.call('INCR', KEYS[3]))
    redis.call('RPUSH', KEYS[1], ARGV[i] .. '\\0' .. number .. '\\0' .. ARGV[i + 2])
  else
    known[#known + 1] = ARGV[i]
  end
  last = math.max(last, life)
end
for i = 1, 3 do
  if redis.call('PTTL', KEYS[i]) < last then redis.call('PEXPIRE', KEYS[i], last) end
end
return {redis.call('LLEN', KEYS[1]), known}
"""

# KEYS: the queue, what is claimed. ARGV: whose claim, for how long (ms), how many. What this
# owner claimed before, or nobody has finished for too long, comes first.
TAKE = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local out, claim = {}, string.format('%s\\0%.0f\\0', ARGV[1], now + ARGV[2])
local function take(id, body)
  redis.call('HSET', KEYS[2], id, claim .. body)
  out[#out + 1] = body
end
local held = redis.call('HGETALL', KEYS[2])
for i = 1, #held, 2 do
  local first = string.find(held[i + 1], '%z')
  local second = string.find(held[i + 1], '%z', first + 1)
  local old = tonumber(string.sub(held[i + 1], first + 1, second - 1)) < now
  if old or string.sub(held[i + 1], 1, first - 1) == ARGV[1] then
    take(held[i], string.sub(held[i + 1], second + 1))
  end
end
local left = redis.call('PTTL', KEYS[1])
while #out < tonumber(ARGV[3]) do
  local body = redis.call('LPOP', KEYS[1])
  if not body then break end
  take(string.sub(body, 1, string.find(body, '%z') - 1), body)
end
if left > redis.call('PTTL', KEYS[2]) then redis.call('PEXPIRE', KEYS[2], left) end
return out
"""


class RedisQueue:
    """``standfast.ports.PendingQueue``. Use ``open``."""

    leftovers = LEFTOVERS

    def __init__(self, engine: RedisEngine) -> None:
        self._engine = engine
        self._outage = Outage(engine.name, MEANWHILE)

    @classmethod
    async def open(cls, address: str) -> RedisQueue:
        """It may be away. Incompatible: it would throw messages away. Denied, Invalid: as for a
        store."""
        engine, _ = engine_at(address, seconds=SECONDS)
        queue = cls(engine)
        try:
            async with queue._asking():
                facts = await facts_of(engine)
            check_server(facts, engine.name, accepts_loss=True, oldest=OLDEST)
        except Unavailable:
            return queue
        except BaseException:
            await queue.close()
            raise
        return queue

    @property
    def trouble(self) -> str:
        return self._outage.trouble

    @asynccontextmanager
    async def _asking(self) -> AsyncIterator[None]:
        self._outage.check()
        try:
            yield
        except Unavailable as error:
            self._outage.begins(error)
            raise
        self._outage.ends()

    def _key(self, scope: str, name: str) -> str:
        return self._engine.tagged(scope, f"pending:{name}")

    async def put(self, waiting: Sequence[QueuedMessage], *, now: datetime) -> tuple[set[str], int]:
        scope = waiting[0].message.scope
        args: list[Any] = []
        for one in waiting:
            assert one.message.expires_at is not None
            life = (one.message.expires_at - now) // timedelta(milliseconds=1)
            args += [one.message.id, max(1, life), _body(one)]
        async with self._asking():
            keys = [self._key(scope, name) for name in ("queue", "known", "number")]
            length, known = await self._engine.run(PUT, keys, args)
            await self._engine.add(SCOPES, scope)
        return {id_.decode() for id_ in known}, int(length)

    async def take(self, scope: str, owner: str, limit: int) -> list[QueuedMessage]:
        keys = [self._key(scope, "queue"), self._key(scope, "claimed")]
        async with self._asking():
            bodies = await self._engine.run(TAKE, keys, [owner, CLAIM_MS, limit])
        return _in_order(bodies)

    async def done(self, scope: str, ids: Sequence[str]) -> None:
        async with self._asking():
            await self._engine.command("HDEL", self._key(scope, "claimed"), *ids)

    async def waiting(self, scope: str, owner: str) -> list[QueuedMessage]:
        async with self._asking():
            held = await self._engine.command("HVALS", self._key(scope, "claimed"))
            queue = self._key(scope, "queue")
            bodies = await self._engine.command("LRANGE", queue, 0, PEEKED_MAX - 1)
        claims = [one.split(b"\0", 2) for one in held]
        own = [body for whose, _, body in claims if whose.decode() == owner]
        return _in_order((*own, *bodies))

    async def scopes(self) -> list[str]:
        async with self._asking():
            found = []
            for scope in await self._engine.members(SCOPES):
                if await self._is_empty(scope):
                    await self._engine.remove(SCOPES, scope)
                    if await self._is_empty(scope):  # nobody has put anything meanwhile
                        continue
                    await self._engine.add(SCOPES, scope)
                found.append(scope)
        return sorted(found)

    async def _is_empty(self, scope: str) -> bool:
        keys = [self._key(scope, "queue"), self._key(scope, "claimed")]
        return not await self._engine.command("EXISTS", *keys)

    async def close(self) -> None:
        await self._engine.close()


def _body(one: QueuedMessage) -> bytes:
    return one.channel.encode() + b"\0" + written(one.message)


def _in_order(bodies: Iterable[bytes]) -> list[QueuedMessage]:
    """As they came: claims have no order."""
    parts = sorted((body.split(b"\0", 3) for body in bodies), key=lambda one: one[1])
    return [
        QueuedMessage(read_as(Message, message), channel.decode())
        for _, _, channel, message in parts
    ]
