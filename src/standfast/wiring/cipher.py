"""Where the key of a store comes from: a file, or the system's keyring."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

from standfast import compat
from standfast.errors import Incompatible, Invalid, NotFound, Unavailable, install_command
from standfast.settings import PREFIX

VARIABLE = f"{PREFIX}KEY_FILE"
KEYRING = "keyring:"
SECRET_BYTES_MIN = 32
KEY_BYTES = 32
_HOW = "make one: head -c 32 /dev/urandom | base64 > standfast.key && chmod 600 standfast.key"


@contextmanager
def key_named(place: str) -> Iterator[None]:
    """In the environment, where every process of a command looks for it, until it ends."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = place
    try:
        yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before


def key_from(place: str) -> bytes | None:
    """The key that a setting names: a file, ``keyring:service/name``, or none. It is made from
    what stands there, which has to be drawn by lot: no password is stretched here."""
    if not place:
        return None
    secret = _of_keyring(place[len(KEYRING) :]) if place.startswith(KEYRING) else _of_file(place)
    if len(secret) < SECRET_BYTES_MIN:
        raise Invalid(
            f"{place} holds less than {SECRET_BYTES_MIN} bytes, too few for a key; {_HOW}"
        )
    _need_cryptography()
    return blake2b(secret, digest_size=KEY_BYTES, person=compat.STORE_KEY_PERSON).digest()


def _of_file(name: str) -> bytes:
    path = Path(name).expanduser()
    try:
        mode = path.stat().st_mode
        if os.name == "posix" and mode & 0o077:
            raise Invalid(f"others may read the key file {path}; close it: chmod 600 {path}")
        return path.read_bytes().strip()
    except FileNotFoundError:
        raise NotFound(f"there is no key file {path}; {_HOW}") from None
    except OSError as error:
        raise Unavailable(f"cannot read the key file {path}: {error.strerror}") from None


def _of_keyring(entry: str) -> bytes:
    try:
        import keyring
    except ImportError:
        raise Incompatible("a key in the keyring needs: pip install keyring") from None
    service, _, name = entry.partition("/")
    services = (service,) if service else compat.KEYRING_SERVICES
    found = (keyring.get_password(one, name or "store") for one in services)
    secret = next((one for one in found if one is not None), None)
    if secret is None:
        raise NotFound(f"the keyring has no {entry!r}; put one there: keyring set {service} {name}")
    return str(secret).strip().encode()


def _need_cryptography() -> None:
    """Temporary files are encrypted too."""
    try:
        import cryptography  # noqa: F401
    except ImportError:
        raise Incompatible(f"encryption needs cryptography: {install_command('encrypt')}") from None
