"""One POST to an address that somebody named: without redirects, within seconds, and never into a
private network that nobody allowed."""

from __future__ import annotations

import asyncio
import http.client
import ssl
import threading
from collections.abc import Mapping
from contextlib import suppress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from socket import (
    IPPROTO_TCP,
    SHUT_RDWR,
    SOCK_STREAM,
    create_connection,
    gaierror,
    getaddrinfo,
    socket,
)
from urllib.parse import SplitResult, urlsplit

from standfast.errors import Invalid
from standfast.types.frozen import frozen

SECONDS_MAX = 10.0
URL_LENGTH_MAX = 2_000
ANSWER_BYTES_MAX = 4_096
WAIT_SECONDS_MAX = 3_600.0
# IANA's special-purpose address registries, IPv4 and IPv6, and multicast. Our own list: that of
# ``ipaddress`` differs between versions of Python, and counts 192.0.0.192 as public in some.
_SPECIAL_IPV4 = tuple(
    map(
        IPv4Network,
        (
            *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
            *("172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24"),
            *("192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24"),
            *("198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        ),
    )
)
# Outside of 2000::/3 nothing is allocated for hosts on the public internet: loopback, unique and
# link local, multicast, discard-only, segment routing and the like need no lines of their own.
_UNICAST_IPV6 = IPv6Network("2000::/3")
_SPECIAL_IPV6 = tuple(
    map(
        IPv6Network,
        ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"),
    )
)
# IPv6 addresses that lead to an IPv4 address, the last four bytes: mapped, and translated (NAT64).
_IPV4_INSIDE = tuple(map(IPv6Network, ("::ffff:0:0/96", "64:ff9b::/96")))


@frozen(kw_only=False)
class Sent:
    """Was it taken? If not, why, and how long the receiver wants to be left alone."""

    taken: bool
    trouble: str = ""
    wait: float = 0.0


async def check(url: str, allowed: str) -> None:
    """Invalid, with the reason, if nothing may be sent there. A name that cannot be looked up
    now may be known later."""
    parts = _parts(url)
    try:
        await asyncio.to_thread(_addresses, parts, allowed)
    except gaierror:
        return


async def post(url: str, body: bytes, headers: Mapping[str, str], allowed: str) -> Sent:
    """In a thread of its own: a receiver that hangs must not use up those of the program. It ends
    with whoever waits for it, and in time also if the receiver answers byte by byte."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Sent] = loop.create_future()
    line = _Line()

    def finish(sent: Sent) -> None:
        if not done.done():
            done.set_result(sent)

    def work() -> None:
        sent = _post(url, body, headers, allowed, line)
        try:
            loop.call_soon_threadsafe(finish, sent)
        except RuntimeError:
            return  # the program has ended meanwhile

    threading.Thread(target=work, name="standfast webhook", daemon=True).start()
    try:
        async with asyncio.timeout(SECONDS_MAX):
            return await done
    except TimeoutError:
        return Sent(False, f"no answer within {SECONDS_MAX:g} seconds")
    finally:
        line.cut()


class _Line:
    """The connection of one thread, which another may cut."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket | None = None
        self._is_cut = False

    def hold(self, made: socket) -> None:
        with self._lock:
            self._socket = made
            if self._is_cut:
                made.close()
                raise OSError("nobody waits for it any more")

    def cut(self) -> None:
        """Whoever reads or writes there is woken."""
        with self._lock:
            self._is_cut = True
            if self._socket is not None:
                with suppress(OSError):
                    self._socket.shutdown(SHUT_RDWR)


def _post(url: str, body: bytes, headers: Mapping[str, str], allowed: str, line: _Line) -> Sent:
    try:
        parts = _parts(url)
        connection = _connection(parts, _addresses(parts, allowed)[0], line)
        try:
            path = parts.path or "/"
            target = f"{path}?{parts.query}" if parts.query else path
            connection.request("POST", target, body, dict(headers))
            answer = connection.getresponse()
            answer.read(ANSWER_BYTES_MAX)
            if 200 <= answer.status < 300:
                return Sent(True)
            wait = _seconds(answer.headers.get("Retry-After", ""))
            return Sent(False, f"the receiver answered {answer.status}", wait)
        finally:
            connection.close()
    except Invalid as error:
        return Sent(False, str(error))
    except (OSError, http.client.HTTPException) as error:
        said = getattr(error, "strerror", None) or type(error).__name__
        return Sent(False, f"cannot be reached: {said}")


def _parts(url: str) -> SplitResult:
    wrong = Invalid("a webhook's address is https://host/path, or http:// where that is allowed")
    if not isinstance(url, str) or not 0 < len(url) <= URL_LENGTH_MAX or not url.isascii():
        raise wrong
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise wrong from None
    if not url.isprintable() or " " in url or parts.scheme not in ("http", "https"):
        raise wrong
    if not parts.hostname or parts.fragment or parts.username is not None:
        raise wrong
    return parts


def _addresses(parts: SplitResult, allowed: str) -> list[str]:
    """Where the name leads now; Invalid if any of it is private and not allowed by name. The
    connection goes to what was looked at here, so that nobody changes the name in between."""
    host = parts.hostname or ""
    known = allowed.replace(",", " ").lower().split()
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        found = getaddrinfo(host, port, type=SOCK_STREAM, proto=IPPROTO_TCP)
    except UnicodeError:  # a part of it is empty or too long
        raise Invalid(f"{host[:80]!r} is no name of a host") from None
    addresses = list(dict.fromkeys(str(one[4][0]) for one in found))
    if host in known or f"{host}:{port}" in known:
        return addresses
    if parts.scheme != "https":
        raise Invalid(f"{host} must be reached by https, or be named in STANDFAST_WEBHOOK_HOSTS")
    for address in addresses:
        if not is_public(address):
            raise Invalid(
                f"{host} is an address of a private or special network; name it in "
                "STANDFAST_WEBHOOK_HOSTS if webhooks may go there"
            )
    return addresses


def is_public(address: str) -> bool:
    """Whether an address is of the public internet: of no special-purpose range, and neither is
    the IPv4 address that it stands for."""
    plain = _plain(ip_address(address.partition("%")[0]))
    if isinstance(plain, IPv4Address):
        return not any(plain in network for network in _SPECIAL_IPV4)
    return plain in _UNICAST_IPV6 and not any(plain in network for network in _SPECIAL_IPV6)


def _plain(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    if isinstance(address, IPv6Address) and any(address in network for network in _IPV4_INSIDE):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def _connection(parts: SplitResult, address: str, line: _Line) -> http.client.HTTPConnection:
    host = parts.hostname or ""
    secure = parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    made = http.client.HTTPConnection(host, port, timeout=SECONDS_MAX)
    raw = create_connection((address, port), timeout=SECONDS_MAX)
    line.hold(raw)
    if secure:
        context = ssl.create_default_context()
        secured = context.wrap_socket(raw, server_hostname=host, do_handshake_on_connect=False)
        try:
            line.hold(secured)  # it has taken over
            secured.do_handshake()
        except BaseException:
            secured.close()
            raise
        raw = secured
    made.sock = raw
    return made


def _seconds(text: str) -> float:
    return min(float(text), WAIT_SECONDS_MAX) if text.isascii() and text.isdigit() else 0.0
