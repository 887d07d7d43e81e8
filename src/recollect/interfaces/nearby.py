"""How a command finds the server that runs on the same store, and asks it.

A command that opens a large store loads numpy, an index and perhaps a model for one answer; the
server has all of it in memory. It listens on a socket of its user's own, in a folder that nobody
else may enter, so there is neither a port nor a key. Whatever goes wrong on the way is no error:
the command opens the store itself, as where no server runs. No network, no heavy imports here.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from recollect import __version__
from recollect.interfaces.hooks.client import runtime_folder

VERBS = ("recall", "context")  # they embed a question and change nothing
LINE_BYTES_MAX = 4 << 20
GREETING = b"\n"  # of a server that is awake
GREETED_SECONDS = 2.0
SECONDS_MAX = 60.0
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
    from recollect.wiring import deciding

    return {"version": __version__, **deciding(profile, embedder)}


def asked(file: Path, question: Mapping[str, Any]) -> Any:
    """What the server of this store answers; None if none runs, or if it cannot say."""
    place = socket_of(file)
    if place is None or not _is_ours(place.parent):
        return None
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(GREETED_SECONDS)
            line.connect(str(place))
            if line.recv(len(GREETING)) != GREETING:
                return None
            line.settimeout(SECONDS_MAX)
            line.sendall(json.dumps(question).encode() + b"\n")
            with line.makefile("rb") as answers:
                return json.loads(answers.readline()).get("answer")
    except (OSError, ValueError, AttributeError):
        return None


def _is_ours(folder: Path) -> bool:
    """Only its owner could have put a socket there."""
    try:
        found = folder.stat()
    except OSError:
        return False
    return found.st_uid == os.getuid() and not found.st_mode & 0o077
