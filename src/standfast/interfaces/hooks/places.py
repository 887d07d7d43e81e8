"""Where hooks are installed on this machine: a list beside the file that leads them to a server.
Without the folder that both are in, no server says where it is."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from standfast.interfaces.hooks.client import runtime_folder

LIST, MADE = "installed", "made"


def note(settings: Path) -> None:
    """Hooks are in this file now."""
    _keep({*_known(), _name(settings)})


def strike(settings: Path) -> None:
    """They are not. With the last one everything goes."""
    left = _known() - {_name(settings)}
    if left:
        return _keep(left)
    folder = Path(runtime_folder())
    made = _lines(folder / MADE)
    shutil.rmtree(folder, ignore_errors=True)
    for above in folder.parents:  # those that were made for it, while nobody else uses them
        if not made or not above.is_relative_to(made[0]):
            return None
        try:
            above.rmdir()
        except OSError:
            return None
    return None


def _name(settings: Path) -> str:
    return os.path.abspath(settings)


def _known() -> set[str]:
    return {line for line in _lines(Path(runtime_folder()) / LIST) if os.path.exists(line)}


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []


def _keep(names: set[str]) -> None:
    folder = Path(runtime_folder())
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    if missing:
        _write(folder / MADE, [str(missing[-1])])
    _write(folder / LIST, sorted(names))


def _write(file: Path, lines: list[str]) -> None:
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
        out.write("".join(f"{line}\n" for line in lines))
