"""What can be said about a cell of the registry without looking into a store."""

from __future__ import annotations

from standfast.errors import Conflict, Invalid
from standfast.ports import Cell

_SURROGATES = range(0xD800, 0xE000)
_LAST = 0x10FFFF


def check_cell(given: Cell) -> None:
    check_key(given.key)


def check_key(key: str) -> None:
    """Invalid unless every database can give it back as it is."""
    if not key or "\x00" in key:
        raise Invalid(f"{key[:80]!r} is no key; use at least one character, and no NUL")
    try:
        key.encode()
    except UnicodeEncodeError as error:
        raise Invalid(f"half a surrogate pair in a key: {error.reason}") from error


def check_version(given: Cell, stored: int) -> None:
    """Conflict unless the cell was made from what the store has now (0: nothing)."""
    if given.version != stored:
        raise Conflict(
            f"{given.key!r} was changed meanwhile; read it again", kind="cell", ids=(given.key,)
        )


def behind(prefix: str) -> str | None:
    """The first text behind all that begin with ``prefix``; None if there is none."""
    for place in range(len(prefix) - 1, -1, -1):
        following = ord(prefix[place]) + 1
        if following in _SURROGATES:
            following = _SURROGATES.stop
        if following <= _LAST:
            return prefix[:place] + chr(following)
    return None
