"""Where hooks are installed on this machine: a list beside the file that leads them to a server.
Without the folder that both are in, no server says where it is."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from recollect.interfaces.hooks.client import runtime_folder

LIST = "installed"


def note(settings: Path) -> None:
    """Hooks are in this file now."""
    _keep({*_known(), _name(settings)})


def strike(settings: Path) -> None:
    """They are not. With the last one everything goes."""
    left = _known() - {_name(settings)}
    if left:
        _keep(left)
    else:
        shutil.rmtree(runtime_folder(), ignore_errors=True)


def _name(settings: Path) -> str:
    return os.path.abspath(settings)


def _known() -> set[str]:
    try:
        lines = (Path(runtime_folder()) / LIST).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return set()
    return {line for line in lines if os.path.exists(line)}


def _keep(names: set[str]) -> None:
    folder = Path(runtime_folder())
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    text = "".join(f"{name}\n" for name in sorted(names))
    with open(os.open(folder / LIST, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
