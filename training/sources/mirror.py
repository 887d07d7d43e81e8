"""Files of pinned commits, read from clones that somebody made before."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class SourceError(Exception):
    """A clone is missing or has not the pinned commit; the message says what to run."""


@dataclass(frozen=True, slots=True)
class Pin:
    """A public repository at one commit, and the licence of what is read from it."""

    repository: str  # "owner/name"
    commit: str
    licence: str

    @property
    def commands(self) -> str:
        folder = self.repository.replace("/", "+")
        return (
            f"git clone https://github.com/{self.repository} {folder} && "
            f"git -C {folder} cat-file -e {self.commit}"
        )


class Mirror:
    """A folder with clones, each named ``owner+name``; bare ones are fine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def check(self, pin: Pin) -> None:
        """SourceError unless the commit is there."""
        if not self._git(pin, "cat-file", "-t", pin.commit).startswith(b"commit"):
            raise SourceError(f"{pin.repository}@{pin.commit[:7]} is no commit")

    def text(self, pin: Pin, path: str) -> str:
        return self._git(pin, "show", f"{pin.commit}:{path}").decode("utf-8", "replace")

    def json(self, pin: Pin, path: str) -> Any:
        return json.loads(self.text(pin, path))

    def lines(self, pin: Pin, path: str) -> list[str]:
        return self.text(pin, path).split("\n")

    def paths(self, pin: Pin, pattern: str) -> list[str]:
        """Every path of the commit that matches whole."""
        found = self._git(pin, "ls-tree", "-r", "-z", "--name-only", pin.commit)
        return [name for name in found.decode().split("\0") if re.fullmatch(pattern, name)]

    def _git(self, pin: Pin, *command: str) -> bytes:
        done = subprocess.run(
            ["git", f"--git-dir={self._place(pin)}", *command], capture_output=True, check=False
        )
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or [""]
            raise SourceError(
                f"{pin.repository}@{pin.commit[:7]}: git {command[0]} failed ({said[0]}); "
                f"in {self._folder} run: {pin.commands}"
            )
        return done.stdout

    def _place(self, pin: Pin) -> Path:
        folder = self._folder / pin.repository.replace("/", "+")
        places: Sequence[Path] = (folder / ".git", folder / "repo" / ".git", folder / "repo")
        return next((place for place in places if place.is_dir()), folder)
