"""Signed exports: who made a file, told by a key that the reader has trusted before.

A signature lies beside its file, as ``<file>.sig``. It names the key that made it, but that proves
nothing by itself: ``verified`` compares with the keys that it is given, and with no others.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

from recollect.errors import Denied, Incompatible, Invalid, NotFound, Unavailable

FORMAT = "recollect signature"
VERSION = 1
SUFFIX = ".sig"
READ_BYTES = 1 << 20

Named = str | os.PathLike[str]


def sign(path: Named, private_key: Named) -> Path:
    """Write ``<path>.sig`` with an Ed25519 key (PEM, as ``ssh-keygen`` or ``openssl`` make it)."""
    key = _private(private_key)
    with open(path, "rb") as file:
        signed = key.sign(_told(file))
    public = _raw(key.public_key())
    body = {
        "format": FORMAT,
        "version": VERSION,
        "key": base64.b64encode(public).decode(),
        "signature": base64.b64encode(signed).decode(),
    }
    beside = Path(f"{os.fspath(path)}{SUFFIX}")
    beside.write_text(json.dumps(body) + "\n", encoding="utf-8")
    return beside


def verified(file: IO[bytes], signature: bytes, trusted: Iterable[Named]) -> str:
    """The fingerprint of the trusted key that signed all of the file; it is read from its beginning
    and put back there. Denied if none of them did."""
    cryptography = _cryptography()
    keys = {fingerprint(_raw(key)): key for key in map(_public, trusted)}
    if not keys:
        raise Invalid("name a key that you trust; the one in a signature proves nothing")
    signed = _read(signature)
    file.seek(0)
    told = _told(file)
    file.seek(0)
    for name, key in keys.items():
        try:
            key.verify(signed, told)
        except cryptography.exceptions.InvalidSignature:
            continue
        return name
    raise Denied(
        "the file is not signed by a key that you trust, or was changed since: "
        + ", ".join(sorted(keys))
    )


def signature_of(path: Named) -> bytes:
    """What lies beside a file."""
    beside = Path(f"{os.fspath(path)}{SUFFIX}")
    try:
        return beside.read_bytes()
    except FileNotFoundError:
        raise NotFound(f"there is no signature {beside}; get it from who made the file") from None
    except OSError as error:
        raise Unavailable(f"cannot read {beside}: {error.strerror}") from None


def fingerprint(public: bytes) -> str:
    """A short name for a key."""
    return hashlib.sha256(public).hexdigest()[:16]


def _told(file: IO[bytes]) -> bytes:
    """What is signed: a digest of all bytes, and what it is a digest of."""
    digest = hashlib.sha512()
    while part := file.read(READ_BYTES):
        digest.update(part)
    return f"{FORMAT} {VERSION}\n".encode() + digest.digest()


def _read(signature: bytes) -> bytes:
    try:
        body = json.loads(signature)
        if (body["format"], body["version"]) != (FORMAT, VERSION):
            raise ValueError
        return base64.b64decode(body["signature"], validate=True)
    except (ValueError, TypeError, KeyError):
        raise Invalid("this is no signature of an export; sign it again") from None


def _private(path: Named) -> Any:
    serialization = _cryptography().serialization
    data = _file(path)
    for load in (serialization.load_pem_private_key, serialization.load_ssh_private_key):
        try:
            return _ed25519(load(data, None), path, "sign")
        except (ValueError, TypeError):
            continue
    raise Invalid(f"{os.fspath(path)} is no private key without a password, in PEM")


def _public(path: Named) -> Any:
    serialization = _cryptography().serialization
    data = _file(path)
    for load in (serialization.load_pem_public_key, serialization.load_ssh_public_key):
        try:
            return _ed25519(load(data), path, "verify")
        except (ValueError, TypeError):
            continue
    raise Invalid(f"{os.fspath(path)} is no public key in PEM or as OpenSSH writes it")


def _ed25519(key: Any, path: Named, verb: str) -> Any:
    if "Ed25519" not in type(key).__name__ or not hasattr(key, verb):
        raise Invalid(
            f"{os.fspath(path)} is no Ed25519 key; make one: openssl genpkey -algorithm ed25519"
        )
    return key


def _raw(public: Any) -> bytes:
    serialization = _cryptography().serialization
    raw: bytes = public.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return raw


def _file(path: Named) -> bytes:
    try:
        return Path(path).expanduser().read_bytes()
    except FileNotFoundError:
        raise NotFound(f"there is no key file {os.fspath(path)}") from None
    except OSError as error:
        raise Unavailable(f"cannot read {os.fspath(path)}: {error.strerror}") from None


class _Cryptography:
    """The parts of the library that are used here."""

    def __init__(self) -> None:
        from cryptography import exceptions
        from cryptography.hazmat.primitives import serialization

        self.exceptions: Any = exceptions
        self.serialization: Any = serialization


def _cryptography() -> _Cryptography:
    try:
        return _Cryptography()
    except ImportError:
        raise Incompatible(
            "signatures need the extra encrypt: pip install 'recollect[encrypt]'"
        ) from None
