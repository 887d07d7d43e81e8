"""What an engine has to do: read and write the sorted keys of a root, in one step each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, Protocol

from standfast.ports import IndexRow
from standfast.types import Record, Vector


class Get(NamedTuple):
    """The value of a key; with ``follow`` the value of the key that it holds."""

    key: bytes
    follow: bool = False


class KeySpan(NamedTuple):
    """Keys from ``start`` to before ``end`` in order, with their values; ``limit`` 0: all.
    ``newest``: the last ones, backwards. ``follow``: as for ``Get``. ``bare``: only the keys."""

    start: bytes
    end: bytes
    limit: int = 0
    newest: bool = False
    follow: bool = False
    bare: bool = False


Ask = Get | KeySpan
Pairs = list[tuple[bytes, bytes]]


@dataclass(slots=True, kw_only=True)
class NearChange:
    """What an index of the engine's own has to know about a record: what it was (None: new),
    what it is now (None: gone), its row, and the vectors that it was given, by space.
    ``spaces``: it may have had vectors in these before."""

    number: int
    old: Record | None = None
    new: Record | None = None
    row: IndexRow | None = None
    spaces: Sequence[str] = ()
    vectors: Mapping[str, Vector] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class KeyChanges:
    """One write. First spans and keys are dropped, then values put. A key whose value is empty is
    only there to be found by a span."""

    expected: Mapping[bytes, bytes | None] = field(default_factory=dict)  # else nothing happens
    spans_gone: list[tuple[bytes, bytes]] = field(default_factory=list)
    gone: list[bytes] = field(default_factory=list)
    puts: dict[bytes, bytes] = field(default_factory=dict)
    near: list[NearChange] = field(default_factory=list)  # for an engine that searches by itself
    space_gone: str = ""
    scopes_gone: Sequence[str] = ()  # that had vectors in that space
    entered: bool = False  # the journal of the root has grown
    used: bool = False  # something was used: news, too


class KeyEngine(Protocol):
    """Each root has sorted keys of its own; the root "" is the registry's. Keys that begin with
    a dot are never asked for by a span. Raises Unavailable."""

    async def read(self, root: str, asks: Sequence[Ask]) -> list[bytes | Pairs | None]:
        """The answers in the order of the questions, all of one moment: bytes or None for a
        ``Get``, pairs for a ``KeySpan`` (an empty value where there is none)."""
        ...

    async def begin(
        self, root: str, asks: Sequence[Ask], ids: Sequence[str]
    ) -> tuple[list[bytes | Pairs | None], dict[str, str]]:
        """``read`` for a commit that will make records or summaries with these ids. Whoever has
        one of them already is answered, as id -> root ("" for those that nobody had): they are
        kept for this root now."""
        ...

    async def write(self, root: str, changes: KeyChanges) -> bool:
        """All of it or nothing. False: something was not as expected. Unavailable, with
        ``outcome_unknown``: nobody can say whether it happened."""
        ...

    async def owners(self, ids: Sequence[str]) -> dict[str, str]:
        """To which root the records with these ids belong, as far as they have one."""
        ...

    async def take_over(self, id_: str, old: str, new: str, *, at_once: bool) -> bool:
        """Give an id that nothing has any more to another root. False: somebody was quicker, or
        has asked for it just now and may be about to use it (if not ``at_once``)."""
        ...

    async def release(self, root: str, ids: Sequence[str]) -> None:
        """Nothing of this root has these ids any more."""
        ...

    def news(self, root: str) -> AbstractAsyncContextManager[KeyNews]:
        """Listen for commits."""
        ...

    # What is known about all roots

    async def roots(self, after: str, limit: int) -> list[str]:
        """Those that a commit has been tried in, by name."""
        ...

    async def busy(self, now: datetime, space: str | None) -> list[str]:
        """Roots in which something may be due, by name: every one in which something is. Of another
        ``space`` than the last time something may be due in every root; None: vectors are not
        asked for."""
        ...

    async def rest(self, root: str, header: bytes, until: datetime | None) -> None:
        """Nothing is due there before ``until``, if ``header`` is still its header."""
        ...

    async def settle(self, root: str, header: bytes, until: datetime, *, news: bool) -> None:
        """As ``Registry.settle``; ``news``: there are some already, or the header has moved."""
        ...

    async def unsettled(self, now: datetime, *, news: bool, limit: int) -> list[str]: ...

    async def scrub(self) -> bool: ...

    async def close(self) -> None: ...


class KeyNews(Protocol):
    async def wait(self, seconds: float) -> None:
        """Returns after a commit, or when the time is over; or for no reason."""
        ...
