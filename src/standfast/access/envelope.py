"""Exports that only some can read: files in the format of age, for those whose keys are named."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from standfast.access.spool import private_spool
from standfast.errors import Denied, Incompatible, Invalid, NotFound, Unavailable, install_command


@contextmanager
def sealed(into: IO[bytes], recipients: Iterable[str]) -> Iterator[IO[bytes]]:
    """A stream whose bytes arrive encrypted: ``recipients`` are public keys, ``age1...``. Nothing
    of it is ever on a disk in plain."""
    age = _age()
    try:
        keys = [age.x25519.Recipient.from_str(one.strip()) for one in recipients]
    except age.RecipientError:
        raise Invalid("a recipient is written age1...; age-keygen makes one") from None
    if not keys:
        raise Invalid("name at least one recipient")
    end, begin = os.pipe()
    failed: list[BaseException] = []

    def encrypt() -> None:
        try:
            with os.fdopen(end, "rb") as plain:
                age.encrypt_io(plain, into, keys)
        except BaseException as error:
            failed.append(error)

    working = threading.Thread(target=encrypt, name="standfast-envelope", daemon=True)
    working.start()
    try:
        with os.fdopen(begin, "wb") as plain:
            yield plain
    except BrokenPipeError:
        working.join()
        raise Unavailable(f"the export cannot be encrypted: {failed[0]}") from None
    finally:
        working.join()
    if failed:
        raise Unavailable(f"the export cannot be encrypted: {failed[0]}")


def opened(source: IO[bytes], identity: str | os.PathLike[str]) -> IO[bytes]:
    """What is inside, in a temporary file that nobody else can read."""
    age = _age()
    keys = list(_identities(age, identity))
    spool = private_spool()
    try:
        age.decrypt_io(source, spool, keys)
    except age.DecryptError as error:
        spool.close()
        raise Denied(f"this key does not open the file, or it is damaged: {error}") from None
    spool.seek(0)
    return spool


def _identities(age: Any, path: str | os.PathLike[str]) -> Iterator[Any]:
    try:
        lines = Path(path).expanduser().read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise NotFound(f"there is no key file {os.fspath(path)}") from None
    except (OSError, UnicodeDecodeError):
        raise Unavailable(f"cannot read {os.fspath(path)}") from None
    found = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    if not found:
        raise Invalid(f"{os.fspath(path)} holds no key; age-keygen makes one")
    for line in found:
        try:
            yield age.x25519.Identity.from_str(line)
        except age.IdentityError:
            raise Invalid(f"{os.fspath(path)} holds no AGE-SECRET-KEY") from None


def _age() -> Any:
    try:
        import pyrage
    except ImportError:
        raise Incompatible(f"encrypted exports need pyrage: {install_command('encrypt')}") from None
    return pyrage
