"""What PostgreSQL complains about, in words that say what to do. No message holds a password."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors

from standfast.errors import Incompatible, Invalid, StandfastError, Unavailable

RETRY_SECONDS = 2.0

# Not this statement is wrong, but the moment: the same again may work.
AGAIN = (
    errors.SerializationFailure,
    errors.DeadlockDetected,
    errors.UniqueViolation,  # the other side of a race between two roots
)


def translated(error: psycopg.Error, place: str) -> StandfastError:
    """The error of ours that stands for one of PostgreSQL's."""
    said = _first_line(error)
    match error:
        case errors.DiskFull():
            return Unavailable(f"no space left for {place}; free some and try again")
        case errors.InsufficientPrivilege():
            return Unavailable(f"{place}: {said}; grant this user the right", lasting=True)
        case errors.ReadOnlySqlTransaction():
            return Unavailable(
                f"{place} is read-only; name the primary server, or several hosts and"
                " target_session_attrs=read-write",
                retry_after=RETRY_SECONDS,
            )
        case errors.LockNotAvailable() | errors.QueryCanceled():
            return Unavailable(
                f"{place} is too slow ({said}); try again", retry_after=RETRY_SECONDS, slow=True
            )
        case errors.TooManyConnections():
            return Unavailable(
                f"{place} takes no more connections; raise max_connections or use fewer processes",
                retry_after=RETRY_SECONDS,
            )
        case errors.IntegrityError() | errors.DataError() | errors.ProgramLimitExceeded():
            return Invalid(f"the store cannot hold this: {said}")
        case errors.UndefinedTable() | errors.UndefinedColumn() | errors.InvalidSchemaName():
            return Incompatible(
                f"{place} is not as this standfast made it ({said}); restore it from a backup"
            )
        case psycopg.OperationalError():
            return _unreachable(said, place)
    return Unavailable(f"{place}: {type(error).__name__}: {said}", retry_after=RETRY_SECONDS)


def _unreachable(said: str, place: str) -> Unavailable:
    """A connection that was refused or has been lost."""
    low = said.lower()
    if remedy := _tls_remedy(low):
        return Unavailable(f"{place}: {said}; {remedy}", lasting=True)
    if "authentication failed" in low or "no password supplied" in low:
        return Unavailable(
            f"{place}: wrong user or password; correct the address of the store", lasting=True
        )
    if "pg_hba.conf" in low:
        remedy = "add ?sslmode=require to the address" if "no encryption" in low else "allow it"
        return Unavailable(
            f"{place} refuses this connection ({said}); {remedy}, or change its pg_hba.conf",
            lasting=True,
        )
    if "does not exist" in low:
        return Unavailable(f"{place}: {said}; create it with createdb, or correct the address")
    if "starting up" in low or "shutting down" in low or "recovery" in low:
        return Unavailable(f"{place} is starting or ending; try again", retry_after=RETRY_SECONDS)
    return Unavailable(
        f"cannot reach {place} ({said}); check that it is running and that the address is right",
        retry_after=RETRY_SECONDS,
    )


def _tls_remedy(said: str) -> str:
    """What to do about a certificate, or about none; "" if it is neither."""
    if "certificate" in said and "does not match" in said:
        return "write the name that is in its certificate, or give it one with this name"
    if "root certificate file" in said or "could not read root certificate" in said:
        return "sslrootcert= has to name the file of the authority's certificate"
    if "certificate verify failed" in said or "signature failure" in said:
        return "its certificate is of no authority that sslrootcert= names; name the right one"
    if "does not support ssl" in said:
        return "switch TLS on there (ssl = on), or take sslmode= out of the address"
    if "ssl error" in said or "tlsv1 alert" in said:
        return "client and server do not agree about TLS; look at both certificates"
    return ""


def _first_line(error: psycopg.Error) -> str:
    """What the server says, or the last reason that the library gives."""
    primary = error.diag.message_primary
    if primary:
        return primary
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    fatal = [line.rpartition("FATAL:")[2].strip() for line in lines if "FATAL:" in line]
    return (fatal or lines or [type(error).__name__])[0]


@contextmanager
def speaking_of(place: str) -> Iterator[None]:
    """Errors of PostgreSQL and of unfit values leave as errors of ours."""
    try:
        yield
    except psycopg.Error as error:
        raise translated(error, place) from None
    except UnicodeEncodeError as error:
        raise Invalid("text with half a character (a lone surrogate); repair the text") from error
    except OverflowError as error:
        raise Invalid(f"a number is too large to store: {error}") from error
