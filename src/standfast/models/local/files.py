"""Files of networks: read once, and used only if they are what was shipped."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from standfast.errors import Incompatible, Unavailable, install_command
from standfast.types.frozen import frozen

INSTALL = install_command("local")


@frozen(kw_only=False)
class Status:
    """Whether the model can be used, and if not, why and what to do."""

    folder: Path
    ready: bool
    detail: str
    origin: str = ""  # where the weights came from
    size: int = 0  # bytes on disk


@frozen(kw_only=False)
class ModelFiles:
    """Content that has been checked: what is used is what was verified."""

    onnx: bytes
    tokenizer: bytes
    origin: str


def verified(path: Path, expected: str, *, damaged: str, get: str) -> bytes:
    """The content of a file, if its SHA-256 is the expected one; ``get`` says how to come by it.

    Unavailable: it cannot be read. Incompatible: it is another.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise Unavailable(f"{path} is missing; {get}") from error
    except OSError as error:
        raise Unavailable(f"cannot read {path}: {error}") from error
    actual = sha256(content).hexdigest()
    if actual != expected:
        raise Incompatible(f"{path} {damaged} (SHA-256 {actual[:12]}… instead of {expected[:12]}…)")
    return content
