"""One line to a server: requests, and trying again where that is safe.

A read may always be sent again. A write carries an ``Idempotency-Key`` of its own, so that the
server does it once however often it arrives. Nothing else is repeated once it may have arrived.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import Any
from urllib.parse import SplitResult, urlsplit

from standfast.errors import Incompatible, Invalid, StandfastError, Unavailable, install_command
from standfast.interfaces.client.failures import error_of

try:
    import httpx2
except ModuleNotFoundError:
    raise Incompatible(
        f"connecting to a server needs httpx2: {install_command('client')}"
    ) from None

SECONDS = 60.0
TRIES = 3
PAUSE_SECONDS = 0.2
PAUSE_SECONDS_MAX = 5.0
PASSING = (429, 502, 503, 504)


class Connection:
    """A connection that is opened when needed and kept."""

    def __init__(self, url: str, key: str | None, seconds: float) -> None:
        parts = address(url)
        self.url = url.rstrip("/")
        self._seconds = seconds
        self._process = os.getpid()
        headers = {"Accept": "application/json", **_authorization(key)}
        try:
            self._http = httpx2.AsyncClient(
                base_url=self.url,
                headers=headers,
                timeout=seconds,
                # Reading all certificates takes a tenth of a second, and http:// needs none.
                verify=parts.scheme == "https",
                # A redirect would carry the key to whoever is named there.
                follow_redirects=False,
                # What is said to this machine is for no proxy.
                trust_env=not _is_here(parts.hostname or ""),
            )
        except (OSError, ValueError) as error:
            raise Invalid(
                f"cannot set up a connection to {self.url}: {error}; "
                "look at SSL_CERT_FILE, SSL_CERT_DIR and the proxies in the environment"
            ) from None

    def __repr__(self) -> str:
        return f"Line({self.url!r})"

    async def reach(self) -> None:
        """Unavailable if there is no server, Incompatible if it is another one."""
        response = await self._tried("GET", "/health", {}, again=True)
        if response.status_code == 404:
            raise Incompatible(
                f"there is no standfast at {self.url}; write the address as the server prints it, "
                "without /v1"
            )
        if response.status_code not in (200, 503):
            raise error_of(response.status_code, response.content, response.headers)
        if response.status_code == 200 and not _is_ours(response.content):
            raise Incompatible(f"what answers at {self.url} is not standfast; is it the right one?")

    async def read(self, method: str, path: str, **parts: Any) -> Any:
        return await self._answer(method, path, parts, again=True)

    async def write(self, path: str, body: dict[str, Any]) -> Any:
        parts = {**_json(body), "headers": _with_type({"Idempotency-Key": uuid.uuid4().hex})}
        return await self._answer("POST", path, parts, again=True)

    async def begin(self, path: str, **parts: Any) -> Any:
        """Ask for something that the server does not recognise when it is asked again."""
        return await self._answer("POST", path, parts, again=False)

    async def post(self, path: str, body: dict[str, Any]) -> Any:
        """A question that is too long for an address."""
        return await self._answer("POST", path, _json(body), again=True)

    @asynccontextmanager
    async def stream(self, path: str) -> AsyncIterator[AsyncIterator[bytes]]:
        self._check_process()
        try:
            async with self._http.stream("GET", path) as response:
                if response.status_code != 200:
                    body = await response.aread()
                    raise error_of(response.status_code, body, response.headers)
                yield response.aiter_bytes()
        except httpx2.TransportError as error:
            raise self._unreachable(error, unknown=False) from error

    async def close(self) -> None:
        if self._process == os.getpid():
            await self._http.aclose()

    async def _answer(self, method: str, path: str, parts: dict[str, Any], *, again: bool) -> Any:
        response = await self._tried(method, path, parts, again=again)
        if response.status_code >= 300:
            raise error_of(response.status_code, response.content, response.headers)
        try:
            return json.loads(response.content)
        except (ValueError, RecursionError):
            raise Incompatible(f"{self.url} does not answer in JSON; is it standfast?") from None

    def _check_process(self) -> None:
        if self._process != os.getpid():
            raise Unavailable(
                "this connection was opened before a fork; open it again in the child process"
            )

    async def _tried(
        self, method: str, path: str, parts: dict[str, Any], *, again: bool
    ) -> httpx2.Response:
        # Parent and child would read each other's answers.
        self._check_process()
        for number in range(1, TRIES + 1):
            last = number == TRIES
            try:
                response = await self._http.request(method, path, **parts)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                if last:
                    raise self._unreachable(error, unknown=False) from error
                await asyncio.sleep(_pause(number))
                continue
            except httpx2.TransportError as error:
                if last or not again:
                    raise self._unreachable(error, unknown=method != "GET") from error
                await asyncio.sleep(_pause(number))
                continue
            if last or not again or response.status_code not in PASSING:
                return response
            wait = _wait(error_of(response.status_code, response.content, response.headers), number)
            if wait is None:
                return response
            await asyncio.sleep(wait)
        raise AssertionError("the last try returns or raises")

    def _unreachable(self, error: Exception, *, unknown: bool) -> Unavailable:
        said = str(error) or type(error).__name__
        if isinstance(error, httpx2.TimeoutException):
            said = f"no answer within {self._seconds:g} seconds"
        elif "WRONG_VERSION_NUMBER" in said:
            said = "it does not speak https; write http://, or put a proxy with TLS before it"
        return Unavailable(f"cannot reach {self.url}: {said}", outcome_unknown=unknown)


def address(url: str) -> SplitResult:
    """The parts of a server's address, or Invalid."""
    try:
        parts = urlsplit(url if isinstance(url, str) else "")
        plain = not (parts.query or parts.fragment or parts.username or parts.password)
        fits = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # a port that is none
        fits = plain = False
    if not fits or not plain:
        raise Invalid(f'{url!r} is no address; write it as "http://127.0.0.1:4777"')
    return parts


def _authorization(key: str | None) -> dict[str, str]:
    said = key.strip() if isinstance(key, str) else key
    if said is None or said == "":
        return {}
    # Looked at here: what cannot be sent would be shown in an error.
    if not isinstance(said, str) or not said.isascii() or not said.isprintable() or " " in said:
        raise Invalid("the key has characters that no key has; copy it again")
    return {"Authorization": f"Bearer {said}"}


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_ours(body: bytes) -> bool:
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(said, dict) and said.get("status") in ("ok", "degraded")


def _wait(error: StandfastError, number: int) -> float | None:
    """How long until it may work; None if waiting would not help, or take too long."""
    if isinstance(error, Unavailable) and error.lasting:
        return None
    said = error.retry_after if isinstance(error, Unavailable) else None
    if said is None:
        return _pause(number)
    return max(said, _pause(number)) if said <= PAUSE_SECONDS_MAX else None


def _pause(number: int) -> float:
    """Longer each time, and not in step with everybody else."""
    return PAUSE_SECONDS * 2.0**number * random.uniform(0.5, 1.0)


def _json(body: dict[str, Any]) -> dict[str, Any]:
    # ASCII: half a surrogate pair is told as an escape, and repaired where it is stored.
    return {"content": json.dumps(body, allow_nan=False).encode(), "headers": _with_type({})}


def _with_type(headers: dict[str, str]) -> dict[str, str]:
    return {"Content-Type": "application/json", **headers}
