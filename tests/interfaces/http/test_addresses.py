"""Whose address counts: the peer's, or the one that a trusted proxy says; of IPv6 the network."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
import pytest

from standfast.errors import Invalid
from standfast.interfaces.http.addresses import Proxies, networks
from standfast.interfaces.http.anonymous import TRIES_PER_MINUTE
from standfast.interfaces.http.guards import address_of
from standfast.settings import Settings
from tests.serving import served

TRUSTED = "127.0.0.1, 10.0.0.0/24, 2001:db8:1::/48"


def seen(peer: str, *forwarded: str, trusted: str = TRUSTED) -> str:
    """The address that the server sees."""
    found: list[str] = []

    async def app(scope: Any, _: Any, __: Any) -> None:
        found.append(scope["client"][0])

    headers = [(b"x-forwarded-for", one.encode()) for one in forwarded]
    scope = {"type": "http", "client": (peer, 1), "headers": headers}
    asyncio.run(Proxies(app, trusted=networks(trusted))(scope, None, None))  # type: ignore[arg-type]
    return found[0]


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("127.0.0.1", ["192.0.2.7"], "192.0.2.7"),
        ("::ffff:127.0.0.1", ["192.0.2.7"], "192.0.2.7"),
        ("127.0.0.1", ["1.1.1.1, 192.0.2.7"], "192.0.2.7"),  # the first is the caller's own word
        ("127.0.0.1", ["1.1.1.1", "192.0.2.7, 10.0.0.9"], "192.0.2.7"),
        ("2001:db8:1::2", ["2001:db8:9::1"], "2001:db8:9::1"),
        ("192.0.2.9", ["192.0.2.7"], "192.0.2.9"),  # nobody's proxy
        ("127.0.0.1", [], "127.0.0.1"),
        ("127.0.0.1", ["10.0.0.9"], "127.0.0.1"),
        ("127.0.0.1", ["192.0.2.7, nonsense"], "127.0.0.1"),
        ("127.0.0.1", [""], "127.0.0.1"),
        ("10.0.0.9", ["127.0.0.1"], "10.0.0.9"),  # nobody becomes this machine by a header
        ("10.0.0.9", ["::1"], "10.0.0.9"),
        ("10.0.0.9", ["::ffff:127.0.0.1, 10.0.0.3"], "10.0.0.9"),
        ("10.0.0.9", ["0.0.0.0"], "10.0.0.9"),
    ],
)
def test_the_last_address_that_no_trusted_proxy_has_is_the_callers(
    peer: str, forwarded: list[str], address: str
) -> None:
    assert seen(peer, *forwarded) == address
    assert seen(peer, *forwarded, trusted="") == peer


def test_a_proxy_that_is_no_address_is_refused_in_one_line() -> None:
    for wrong in ("proxy.example", "10.0.0.1/24", "10.0.0.0/99"):
        with pytest.raises(Invalid, match="STANDFAST_TRUSTED_PROXIES"):
            networks(wrong)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:0:0:1", True),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", False),
        ("::ffff:192.0.2.7", "192.0.2.7", True),
        ("192.0.2.7", "192.0.2.8", False),
        ("::1", "::2", False),
    ],
)
def test_an_address_of_ipv6_counts_by_its_network(one: str, other: str, same: bool) -> None:
    counted = [address_of({"client": (address, 1)}) for address in (one, other)]
    assert (counted[0] == counted[1]) is same


def test_behind_a_trusted_proxy_a_stranger_uses_up_their_own_tries_only() -> None:
    settings = Settings(trusted_proxies="127.0.0.1")

    def tried(client: httpx2.Client, address: str) -> int:
        headers = {"X-Forwarded-For": address}
        return client.post("/v1/login", json={"code": "x"}, headers=headers).status_code

    with served(app={"settings": settings}) as server, httpx2.Client(base_url=server.url) as client:
        flood = [tried(client, f"2001:db8::{n:x}") for n in range(TRIES_PER_MINUTE + 1)]
        assert flood[-1] == 429
        assert tried(client, "192.0.2.8") == 401
