"""Where a request comes from: the peer, or what a proxy that the operator trusts says of it."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from standfast.errors import Invalid
from standfast.interfaces.http.guards import App, Receive, Scope, Send

FORWARDED_FOR = b"x-forwarded-for"

Networks = tuple[IPv4Network | IPv6Network, ...]


def networks(listed: str) -> Networks:
    """From addresses and networks with commas between them."""
    try:
        return tuple(ip_network(one.strip()) for one in listed.split(",") if one.strip())
    except ValueError as error:
        raise Invalid(
            f"STANDFAST_TRUSTED_PROXIES={listed!r}: {error}; write addresses or networks, such as "
            "10.0.0.5 or 10.0.0.0/24, with commas between them"
        ) from None


class Proxies:
    """The layer that puts the caller's address in the place of a trusted proxy's. Each proxy adds
    the address that it sees at the end, so the last one that is not a proxy's is the caller's: what
    stands before it anybody may have written."""

    def __init__(self, app: App, *, trusted: Networks) -> None:
        self._app = app
        self._trusted = trusted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._trusted and scope.get("client") and self._trusts(scope["client"][0]):
            given = [value for name, value in scope["headers"] if name == FORWARDED_FOR]
            caller = self._caller(b",".join(given).decode("latin-1"))
            scope = {**scope, "client": (caller, 0)} if caller else scope
        await self._app(scope, receive, send)

    def _caller(self, forwarded: str) -> str:
        """ "" if it is not known. Nobody becomes this machine by a header."""
        for one in reversed(forwarded.split(",")):
            address = parse_address(one.strip())
            if address is None or address.is_loopback or address.is_unspecified:
                return ""
            if not self._trusts(str(address)):
                return str(address)
        return ""

    def _trusts(self, peer: str) -> bool:
        address = parse_address(peer)
        return address is not None and any(address in one for one in self._trusted)


@lru_cache(maxsize=4096)
def parse_address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
