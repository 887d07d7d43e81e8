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

from standfast.errors import Denied, Invalid, StandfastError, Unavailable


@contextmanager
def speaking_of(name: str, *, writing: bool = False, opening: bool = False) -> Iterator[None]:
    """Raise Unavailable instead of what the client raises; Denied, if the store is only being
    opened. ``writing``: nobody knows whether a write whose connection was cut has happened."""
    try:
        yield
    except StandfastError:
        raise
    except UnicodeEncodeError as error:
        raise Invalid(f"half a surrogate pair in a name: {error.reason}") from error
    except (RedisError, RedisClusterException, OSError) as error:
        said = _said(error, name, writing, opening)
        if opening or not isinstance(said, Denied):
            raise said from error
        raise Unavailable(str(said), lasting=True) from error  # its users are refused nothing


def _said(error: Exception, name: str, writing: bool, opening: bool) -> StandfastError:
    said = str(error).partition("\n")[0][:200]
    match error:
        case AuthenticationError() | AuthorizationError():
            return Denied(f"{name} refuses the user or the password; correct them in the URL")
        case NoPermissionError():
            return Denied(f"{name} does not allow this user what standfast needs: {said}")
        case OutOfMemoryError():
            return Unavailable(
                f"{name} is full; raise its maxmemory, or forget something", lasting=True
            )
        case BusyLoadingError():
            return Unavailable(f"{name} is loading its data; try again", retry_after=1)
        case ReadOnlyError():
            return Unavailable(f"{name} is a replica and takes no writes; name its master")
        case TimeoutError():
            tls = "; is that its port for TLS?" if opening and name.startswith("rediss") else ""
            return Unavailable(
                f"{name} does not answer in time{tls}",
                outcome_unknown=writing,
                retry_after=1,
                slow=True,
            )
        case ConnectionError() if "No connection available" in said:  # all are in use
            return Unavailable(
                f"{name} is too slow: no connection was free in time; try again",
                retry_after=1,
                slow=True,
            )
        case _ if remedy := _tls_remedy(str(error)):
            return Unavailable(f"{name}: {remedy}", outcome_unknown=writing, lasting=True)
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


def _tls_remedy(said: str) -> str:
    """What is wrong with a certificate, or with the lack of one; "" if nothing is."""
    if "CERTIFICATE_VERIFY_FAILED" not in said:
        speaks = "WRONG_VERSION_NUMBER" not in said and "record layer failure" not in said
        return "" if speaks else "it does not speak TLS there; write redis://, or its TLS port"
    why = said.partition("certificate verify failed:")[2].partition("(_ssl")[0].strip(" .")
    return (
        f"its certificate cannot be trusted ({why or 'it was not verified'}); name the authority "
        "with ?ssl_ca_certs=FILE, and the host as the certificate does"
    )
