"""Who asks: the key of a request, and the memory as its holder may use it."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b
from http import HTTPStatus
from ipaddress import ip_address
from typing import Any

from starlette.requests import HTTPConnection

from standfast.access import keys
from standfast.access.codes import HALF_PREFIX, whole_key
from standfast.access.keys import Key
from standfast.access.quotas import FAILURES_PER_MINUTE, Buckets, Quotas, SharedRates, TooMany
from standfast.access.shares import tenants_of
from standfast.access.tokens import Tokens
from standfast.errors import Denied, StandfastError, Unavailable
from standfast.interfaces.caller import Caller
from standfast.interfaces.http.anonymous import Visitors, is_guess, is_try
from standfast.interfaces.http.guards import (
    LOOPBACK,
    App,
    Message,
    Receive,
    Scope,
    Send,
    address_of,
    host_name,
)
from standfast.interfaces.http.problems import Unknown
from standfast.interfaces.http.secret_files import FIRST_KEY, delete_used
from standfast.memory import AsyncMemory
from standfast.settings import Settings

DEVICE_HEADER = "x-standfast-device"
ELSEWHERE = "this key was made for another address of this server, and is good for that one only"
NEEDS_KEY = "this server wants a key: send it as Authorization: Bearer rck_..."
ONLY_HERE = "no key was made yet, so only the server's own machine may ask; make one there"
AWAY = "the store of this server does not answer; try again"
SEEN_SECONDS = 3600.0
SEEN_MAX = 1000
CALLER = "standfast.caller"
MCP_PATH = "/mcp"
MCP_METADATA = "/.well-known/oauth-protected-resource/mcp"
# What a program that passes requests on adds to them, whichever it is.
PASSED_ON = re.compile(
    r"forwarded|real-?ip|client-?ip|connecting-ip|proxied|^via$|^cdn-loop$|"
    r"^x-(original|proxy|envoy|amzn|amz-cf|azure|arr|varnish|request-start)|^cf-"
)
BROWSER_COOKIE = "standfast_browser"  # half of a key that works in this browser only


class Door:
    """Lets callers in. Open while no key was ever made; once there was one, it stays closed to
    whoever has none, even when all keys are revoked."""

    def __init__(
        self, memory: AsyncMemory, settings: Settings, tokens: Tokens | None = None
    ) -> None:
        self.quotas = Quotas(
            engine=memory.engine,
            per_day=settings.writes_per_day,
            records=settings.stored_records,
            bytes=settings.stored_mb << 20,
        )
        self._memory = memory
        self._tokens = tokens
        self._keys_exist = False
        self._rate = Buckets(settings.rate)
        shared = memory.engine.shared
        self._shared = SharedRates(memory.engine, settings.rate) if shared else None
        self._failures = Buckets(FAILURES_PER_MINUTE)
        self.uses = keys.KeyUses(memory.engine)
        self._seen: dict[bytes, float] = {}  # digests of keys that were good, the latest last
        self._let_in: dict[str, tuple[Key, AsyncMemory]] = {}  # in this turn of the loop, by secret

    async def caller(self, connection: HTTPConnection) -> Caller:
        """Unknown, Denied, NotFound (of a device) or TooMany if there is none."""
        try:
            key, memory = await self._known(connection)
        except Unavailable as error:  # what a store is called is for those whom it knows
            if self.has_let_in(connection):
                raise
            raise Unavailable(AWAY, retry_after=error.retry_after, slow=error.slow) from None
        wait = max([await self._wait(tenant) for tenant in tenants_of(memory.engine)])
        if wait:
            raise TooMany("this tenant asks too often; slow down", wait)
        device = connection.headers.get(DEVICE_HEADER)
        if device is not None:
            scope = await keys.scope_of_device(memory.engine, device)
            engine = memory.engine
            memory = AsyncMemory(engine.narrowed((scope,), engine.rights))
        return Caller(memory=memory, via="http", key=key, quotas=self.quotas)

    def has_let_in(self, connection: HTTPConnection) -> bool:
        """Was its key good within the hour? For when nobody can look it up."""
        secret = _secret_of(connection)
        seen = self._seen.get(_digest(secret)) if secret else None
        return seen is not None and time.monotonic() - seen < SEEN_SECONDS

    async def note(self, connection: HTTPConnection) -> None:
        """Remember a key that is good, where none is needed."""
        secret = _secret_of(connection)
        if secret and not self.has_let_in(connection):
            with suppress(StandfastError):
                await self._known(connection)

    async def _wait(self, tenant: str) -> float:
        return await self._shared.take(tenant) if self._shared else self._rate.take(tenant)

    async def flush(self) -> None:
        """Write down what was counted."""
        await self.quotas.flush()
        await self.uses.flush()

    async def _known(self, connection: HTTPConnection) -> tuple[Key | None, AsyncMemory]:
        header = connection.headers.get("authorization", "")
        scheme, _, secret = header.partition(" ")
        if scheme.lower() == "bearer" and secret.strip():
            try:
                whole = _whole(connection, secret.strip())
                key, memory = await self._with_key(whole, _address_of(connection))
                if key.audience and key.audience != _resource(connection):
                    raise Denied(ELSEWHERE)
                return key, memory
            except Denied as denied:
                raise self.failed(connection, str(denied)) from None
        if not header and self._is_keyless(connection):
            return None, await self._for_this_machine()
        if header or self._tokens is not None or await self._any_keys():
            raise self.failed(connection, NEEDS_KEY)
        if not is_loopback(connection.client.host if connection.client else ""):
            raise self.failed(connection, ONLY_HERE)
        return None, self._metered(self._memory.engine)

    def _is_keyless(self, connection: HTTPConnection) -> bool:
        """A route that the profile's document shows without a key, asked for on this machine by
        this machine itself. Whoever passes requests on says so, or names another host."""
        scope, headers = connection.scope, connection.headers
        return (
            scope["path"] in self._memory.engine.profile.keyless
            and scope.get("method") in ("GET", "HEAD")
            and connection.client is not None
            and is_loopback(connection.client.host)
            and host_name(headers.get("host", "")) in LOOPBACK
            and scope.get("http_version") != "1.0"  # some say nothing, but speak as of old
            and not any(PASSED_ON.search(name) for name in headers)
        )

    async def _for_this_machine(self) -> AsyncMemory:
        """To read what one person keeps here; of several, what belongs to nobody in particular."""
        engine = self._memory.engine
        roots = await engine.store.roots(limit=2)
        scope = roots[0] if len(roots) == 1 else engine.default_scope
        return AsyncMemory(engine.narrowed((scope,), ("read",)))

    async def _with_key(self, secret: str, address: str) -> tuple[Key, AsyncMemory]:
        """Requests that arrived together look up a key together; the next ones look again, so a
        key that was revoked, by whichever process, is refused from then on."""
        here = self._let_in
        if secret not in here:
            asyncio.get_running_loop().call_soon(self._forget_who_came)
            if self._tokens is not None and self._tokens.is_one(secret):
                key, engine = await self._tokens.with_token(self._memory.engine, secret)
            else:
                key, engine = await keys.with_key(self._memory.engine, secret)
            here[secret] = key, self._metered(engine)
            if key.name == FIRST_KEY and _digest(secret) not in self._seen:
                await asyncio.to_thread(delete_used, secret)
            self._see(secret)
            self.uses.note(key)
        if not here[secret][0].works_from(address):
            raise Denied(keys.UNKNOWN)
        return here[secret]

    def _see(self, secret: str) -> None:
        digest = _digest(secret)
        self._seen.pop(digest, None)
        self._seen[digest] = time.monotonic()
        if len(self._seen) > SEEN_MAX:
            del self._seen[next(iter(self._seen))]

    def _metered(self, engine: Any) -> AsyncMemory:
        """The memory as somebody may use it whose writes are counted."""
        return AsyncMemory(replace(engine, meter=self.quotas))

    def _forget_who_came(self) -> None:
        self._let_in = {}  # a look-up that took longer fills the old one, which nobody asks

    def failed(self, connection: HTTPConnection, said: str) -> Unknown | TooMany:
        """What to raise for a request with nothing that opens: guessing is slowed down."""
        wait = self._failures.take(address_of(connection.scope))
        audit = self._memory.engine.audit
        if audit is not None and not wait:
            audit.note(self._memory.engine, "login refused", "", who=_address_of(connection))
        return TooMany("too many requests without a valid key", wait) if wait else Unknown(said)

    async def _any_keys(self) -> bool:
        self._keys_exist = self._keys_exist or await keys.any_key_was_made(self._memory.engine)
        return self._keys_exist


def _secret_of(connection: HTTPConnection) -> str:
    scheme, _, secret = connection.headers.get("authorization", "").partition(" ")
    with suppress(StandfastError):  # half a key
        return _whole(connection, secret.strip()) if scheme.lower() == "bearer" else ""
    return ""


def _digest(secret: str) -> bytes:
    return blake2b(secret.encode(), digest_size=16).digest()


def _address_of(connection: HTTPConnection) -> str:
    return connection.client.host if connection.client else ""


def _whole(connection: HTTPConnection, secret: str) -> str:
    """The key itself; of a browser's key the page sends half."""
    if not secret.startswith(HALF_PREFIX):
        return secret
    return whole_key(secret, connection.cookies.get(BROWSER_COOKIE, ""))


class Entrance:
    """The layer that asks the door about every request but those to open paths; the caller is
    in the request's scope from there on, for the routes and for MCP."""

    def __init__(self, app: App, *, open_paths: Iterable[str]) -> None:
        self._app = app
        self._open = frozenset(open_paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        try:
            if scope["path"] in self._open:
                return await self._let_in(scope, receive, send)
            scope[CALLER] = await self._caller(HTTPConnection(scope))
        except TooMany:
            # Whoever goes on trying costs the others as much as work does.
            await _hold(scope)
            raise
        return await self._app(scope, receive, send)

    async def _caller(self, connection: HTTPConnection) -> Caller:
        door: Door = connection.app.state.door
        try:
            return await door.caller(connection)
        except Unknown as unknown:
            # Where a program learns how to ask; the same words at every route.
            unknown.metadata = base_of(connection) + MCP_METADATA
            raise

    async def _let_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Without a key. A try is counted before anything is read or looked up."""
        if not is_try(scope):
            return await self._app(scope, receive, send)
        visitors: Visitors = scope["app"].state.visitors
        visitors.take(address_of(scope))

        async def sending(message: Message) -> None:
            status = message.get("status")
            if status is not None and not is_guess(scope["path"], status):
                visitors.give_back(address_of(scope))
            if status == HTTPStatus.TOO_MANY_REQUESTS:
                await _hold(scope)
            await send(message)

        return await self._app(scope, receive, sending)


async def _hold(scope: Scope) -> None:
    await scope["app"].state.shares.refusals.hold(f"from {address_of(scope)}")


def base_of(connection: HTTPConnection) -> str:
    """The address that others know this server by."""
    public: str = connection.app.state.public_url
    return public or f"http://{connection.headers.get('host', '')}"


def _resource(connection: HTTPConnection) -> str:
    return base_of(connection) + str(connection.scope["path"]).rstrip("/")


def caller_of(scope: Any) -> Caller:
    """Whoever sent the request that this scope is of."""
    found: Caller = scope[CALLER]
    return found


def is_loopback(host: str) -> bool:
    """Is it this machine? So is a socket without an address."""
    if not host:
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return host == "localhost"
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback
