"""How a command finds the server that runs on the same store, and asks it.

A command that opens a large store loads numpy, an index and perhaps a model for one answer; the
server has all of it in memory. It listens on a socket of its user's own, in a folder that nobody
else may enter, so there is neither a port nor an access key. It answers only what the command
would find by itself: the file has to be the one that the server has open, and of an encrypted
store the command has to prove that it has the store's key. Whatever goes wrong on the way, the
command opens the store itself, as where no server runs. No network, no heavy imports here.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from standfast import __version__
from standfast.interfaces.hooks.client import runtime_folder

VERBS = ("recall", "context")  # they embed a question and change nothing
LINE_BYTES_MAX = 4 << 20
ANSWER_BYTES_MAX = 64 << 20
RECEIVED_AT_ONCE = 1 << 16
NONCE_LETTERS = 32  # a server that is awake greets with a new one
GREETED_SECONDS = 2.0
SECONDS_MAX = 30.0  # for all of it: behind that a command asks the store itself
PATH_BYTES_MAX = 100  # of a socket's name: systems allow a few more

Line = dict[str, Any]


def socket_of(file: Path) -> Path | None:
    """Where the server of this store listens; None where there can be none."""
    if not hasattr(socket, "AF_UNIX"):
        return None
    digest = blake2b(os.fsencode(file.resolve()), digest_size=8).hexdigest()
    place = Path(runtime_folder()).parent / "servers" / digest
    return place if len(os.fsencode(place)) <= PATH_BYTES_MAX else None


def told(profile: str | None, embedder: str | None) -> Line:
    """What an answer depends on besides the question: both sides must have been told the same."""
    from standfast.wiring import deciding

    return {"version": __version__, **deciding(profile, embedder)}


def proof_of(key: bytes | None, nonce: bytes, question: bytes) -> bytes:
    """What a command shows to have the store's key, without showing the key: a keyed hash of the
    server's nonce and the question. Empty for a store that is not encrypted."""
    if key is None:
        return b""
    digest = blake2b(nonce + question, key=key, digest_size=32, person=b"standfast socket")
    return digest.hexdigest().encode()


def asked(file: Path, question: Mapping[str, Any], key: bytes | None = None) -> Any:
    """What the server of this store answers; None if none runs, or if it has no answer.
    ValueError if its answer cannot be read. ``key``: of the store, if it is encrypted."""
    place = socket_of(file)
    if place is None or not _is_ours(place.parent):
        return None
    try:
        said = _exchange(place, {**question, "file": identity_of(file)}, key)
    except OSError:  # TimeoutError too
        return None
    if not said:
        return None
    try:
        answer = json.loads(said)
    except RecursionError:
        raise ValueError("too deep") from None
    if not isinstance(answer, dict):
        raise ValueError("no object")
    return answer.get("answer")


def identity_of(file: Path) -> list[int]:
    """Device and inode: the server may still have open what lay here before."""
    found = file.stat()
    return [found.st_dev, found.st_ino]


def _exchange(place: Path, question: Mapping[str, Any], key: bytes | None) -> bytes:
    """The line that answers; empty if the server does not greet as this version does."""
    until = time.monotonic() + SECONDS_MAX
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.settimeout(GREETED_SECONDS)
        line.connect(str(place))
        nonce = _line_from(line, time.monotonic() + GREETED_SECONDS, NONCE_LETTERS + 1)
        if len(nonce) != NONCE_LETTERS:
            return b""
        asking = json.dumps(question).encode()
        line.settimeout(SECONDS_MAX)
        line.sendall(proof_of(key, nonce, asking) + b" " + asking + b"\n")
        return _line_from(line, until, ANSWER_BYTES_MAX)


def _line_from(line: socket.socket, until: float, most: int) -> bytes:
    """One line without its end, however slowly it drips; empty if it does not end. TimeoutError
    behind the deadline, ValueError if it is longer than ``most``."""
    found = bytearray()
    while not found.endswith(b"\n"):
        if (left := until - time.monotonic()) <= 0:
            raise TimeoutError
        line.settimeout(left)
        part = line.recv(min(RECEIVED_AT_ONCE, most + 1 - len(found)))
        if not part:
            return b""
        found += part
        if len(found) > most:
            raise ValueError("too long")
    return bytes(found[:-1])


def _is_ours(folder: Path) -> bool:
    """Only its owner could have put a socket there."""
    try:
        found = folder.stat()
    except OSError:
        return False
    return found.st_uid == os.getuid() and not found.st_mode & 0o077
