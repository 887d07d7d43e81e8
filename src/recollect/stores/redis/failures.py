"""What the client says, in words that help, and never with a password."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    BusyLoadingError,
    ConnectionError,
    NoPermissionError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisClusterException,
    RedisError,
    TimeoutError,
)

from recollect.errors import Denied, RecollectError, Unavailable


@contextmanager
def speaking_of(name: str, *, writing: bool = False) -> Iterator[None]:
    """Raise Unavailable or Denied instead of what the client raises. ``writing``: nobody knows
    whether a write whose connection was cut has happened."""
    try:
        yield
    except RecollectError:
        raise
    except (RedisError, RedisClusterException, OSError) as error:
        raise _said(error, name, writing) from error


def _said(error: Exception, name: str, writing: bool) -> RecollectError:
    said = str(error).partition("\n")[0][:200]
    match error:
        case AuthenticationError() | AuthorizationError():
            return Denied(f"{name} refuses the user or the password; correct them in the URL")
        case NoPermissionError():
            return Denied(f"{name} does not allow this user what recollect needs: {said}")
        case OutOfMemoryError():
            return Unavailable(
                f"{name} is full; raise its maxmemory, or forget something", lasting=True
            )
        case BusyLoadingError():
            return Unavailable(f"{name} is loading its data; try again", retry_after=1)
        case ReadOnlyError():
            return Unavailable(f"{name} is a replica and takes no writes; name its master")
        case TimeoutError():
            return Unavailable(
                f"{name} does not answer in time", outcome_unknown=writing, retry_after=1
            )
        case ConnectionError() | OSError() | RedisClusterException():
            return Unavailable(
                f"cannot reach {name}; is it running, and is the address right?",
                outcome_unknown=writing,
                retry_after=1,
            )
    if "MISCONF" in said:  # what follows is the server's reason, and perhaps which command it was
        why = said.partition("MISCONF")[2].partition("script:")[0].strip(" .,')")
        return Unavailable(
            f"{name} cannot write to its disk ({why}); free some space", lasting=True
        )
    return Unavailable(f"{name} says: {said}", outcome_unknown=writing and "CLUSTERDOWN" in said)
