"""What the client says, in words that help, and never with a password."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from standfast.errors import Denied, StandfastError, Unavailable

# Our own word for "not as expected", and the server's.
MOVED = re.compile(r"\bmoved\b|can be retried|read or write conflict")
_REFUSED = re.compile(r"(?i)authentication|not allowed|permission|unauthori[sz]ed|invalid auth")
_AWAY = re.compile(r"(?i)connect|closed|refused|timed out|reset|unreachable|no route|broken pipe")

_FULL = re.compile(r"(?i)no space left|no storage space|fsync failed|disk quota")


@contextmanager
def speaking_of(name: str, *, writing: bool = False) -> Iterator[None]:
    """Raise Unavailable or Denied instead of what the client raises. ``writing``: nobody knows
    whether a write whose connection was cut has happened."""
    try:
        yield
    except StandfastError:
        raise
    except Exception as error:  # the client raises many kinds, bare ones among them
        raise _said(error, name, writing) from error


def is_away(error: Exception) -> bool:
    """Is nobody there, or has the connection been lost?"""
    said = f"{type(error).__name__} {error}"
    return isinstance(error, OSError | TimeoutError) or _AWAY.search(said) is not None


def _said(error: Exception, name: str, writing: bool) -> StandfastError:
    said = " ".join(str(error).split())[:200] or type(error).__name__
    if _REFUSED.search(said):
        return Denied(f"{name} refuses the user or the password; correct them in the URL")
    if _FULL.search(said):  # what the engine had begun to write may be found when it is opened
        return Unavailable(
            f"no space left for {name}; free some, then open it again",
            outcome_unknown=writing,
            lasting=True,
        )
    if is_away(error):
        return Unavailable(
            f"cannot reach {name}; is it running, and is the address right?",
            outcome_unknown=writing,
            retry_after=1,
            slow=isinstance(error, TimeoutError),
        )
    return Unavailable(f"{name} says: {said}")
