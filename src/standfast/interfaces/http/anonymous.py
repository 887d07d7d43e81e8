"""Requests that need no key: how often one address may try, and how fast it is answered.

Anybody can send them, so they have to be the cheapest and come last. A try (a login, whatever OAuth
asks, anything but reading a page) takes a token of its address before anything else happens, and
gets it back if it was none of a guesser's. Pages are not refused, but an address that reads many of
them is answered more slowly.
"""

from __future__ import annotations

import hashlib

from standfast.access.quotas import Buckets, TooMany
from standfast.interfaces.http.guards import Scope

TRIES_PER_MINUTE = 30
PAGES_PER_MINUTE = 300
PAUSE_SECONDS = 0.01  # behind each page beyond those: the loop is left to whoever has a key
LOGIN = "/v1/login"
REGISTER, AUTHORIZE, CONSENT, TOKEN, REVOKE = (
    f"/oauth/{name}" for name in ("register", "authorize", "consent", "token", "revoke")
)
TRIED = (LOGIN, REGISTER, AUTHORIZE, CONSENT, TOKEN, REVOKE)
WRITTEN = (REGISTER, REVOKE)  # these write something, or nothing, without telling which


class Visitors:
    """Rates by address; and how often a person may be asked, by their key."""

    def __init__(self) -> None:
        self._tries = Buckets(TRIES_PER_MINUTE)
        self._pages = Buckets(PAGES_PER_MINUTE)
        self._asked = Buckets(TRIES_PER_MINUTE)
        self._refused = Buckets(TRIES_PER_MINUTE)

    def take(self, address: str) -> None:
        """TooMany if this address has no try left."""
        if wait := self._tries.take(address):
            raise TooMany("too many tries from here; wait a moment", wait)

    def give_back(self, address: str) -> None:
        """It was no guess."""
        self._tries.pay(address, -1)

    def pause(self, address: str) -> float:
        """How many seconds its next page waits, now that there was one more."""
        return PAUSE_SECONDS if self._pages.take(address) else 0.0

    def is_refused_often(self, address: str) -> bool:
        """Is one more request that no route ever sees too many?"""
        return self._refused.take(address) > 0

    def check_person(self, key: str) -> None:
        """TooMany if whoever has this key was asked too often."""
        if wait := self._asked.take(hashlib.sha256(key.encode()).hexdigest()):
            raise TooMany("this key was shown too often; wait a moment", wait)


def is_try(scope: Scope) -> bool:
    return scope["path"] in TRIED or scope["method"] not in ("GET", "HEAD")


def is_guess(path: str, status: int) -> bool:
    """Does an answer of this kind count?"""
    return path in WRITTEN or 400 <= status < 500
