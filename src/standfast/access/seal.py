"""Seals of exports: who wrote a file, as far as the reader knows their key already.

A key inside of a file proves nothing, so there is none. Ed25519; the keys are PEM, as openssl
writes them.
"""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import Any

from standfast import compat
from standfast.errors import Incompatible, Invalid, install_command

PREFIX = compat.SIGNATURE_PREFIX

Sign = Callable[[str], str]  # a checksum in, its signature out


def signer(pem: bytes, name: str) -> Sign:
    """Signs with a private key; ``name`` is where it came from."""
    kinds, load = _library()
    try:
        key = load.load_pem_private_key(pem, password=None)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, kinds.Ed25519PrivateKey):
        raise Invalid(f"{name} holds no private Ed25519 key; {HOW}")
    return lambda checksum: PREFIX + b64encode(key.sign(checksum.encode())).decode()


def check_signature(checksum: str, signature: str, pem: str) -> None:
    """Invalid if it is not that of the holder of this public key."""
    kinds, load = _library()
    try:
        key: Any = load.load_pem_public_key(pem.encode())
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, kinds.Ed25519PublicKey):
        raise Invalid(f"the trusted key is no public Ed25519 key; {HOW}")
    if not signature:
        raise Invalid(
            "this export is not signed, so no key can vouch for it; leave trusted_key out"
        )
    from cryptography.exceptions import InvalidSignature

    try:
        raw = b64decode(signature.removeprefix(PREFIX), validate=True)
        key.verify(raw, checksum.encode())
    except (binascii.Error, ValueError, InvalidSignature):
        raise Invalid("the trusted key did not sign this export; nothing was imported") from None


HOW = "make a pair with: openssl genpkey -algorithm ed25519 -out sign.pem"


def _library() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ModuleNotFoundError:
        raise Incompatible(
            f"signed exports need cryptography: {install_command('encrypt')}"
        ) from None
    return ed25519, serialization
