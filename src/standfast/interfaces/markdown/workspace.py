"""Where the files of a workspace are, how they are made, and who may read them."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from standfast.errors import Invalid
from standfast.interfaces.markdown.config import DEFAULT_TEXT, Config, read_config
from standfast.interfaces.markdown.folders import (
    FILE_MODE,
    FOLDER_MODE,
    Folder,
    speaking_of,
)
from standfast.interfaces.markdown.pages import EMPTY_HISTORY, EMPTY_PAGE
from standfast.types.frozen import frozen

MEMORY_FOLDER = "memory"
SESSIONS_FOLDER = "sessions"
MEMORY_FILE = "MEMORY.md"
HISTORY_FILE = "HISTORY.md"
CONFIG_FILE = "config.yml"
STORE_FILE = "memory.db"
CONFIG_BYTES_MAX = 1 << 20
NAME_LENGTH_MAX = 120

_KEPT = re.compile(r"[^A-Za-z0-9._-]")


@frozen
class Places:
    """The folders of a workspace, held open."""

    top: Folder
    memory: Folder
    sessions: Folder


@frozen
class Workspace:
    path: Path

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> Workspace:
        """The folder itself may be reached through a link; nothing below it may be one."""
        named = os.fspath(path)
        if not named or "\0" in named:
            raise Invalid("name a folder for the workspace")
        return cls(path=Path(os.path.realpath(Path(named).expanduser())))

    @property
    def store(self) -> str:
        return str(self.path / STORE_FILE)

    @property
    def key(self) -> str:
        """Names this workspace in the store."""
        return hashlib.blake2b(os.fsencode(self.path), digest_size=16).hexdigest()

    @contextmanager
    def opened(self) -> Iterator[Places]:
        with (
            Folder.opened(self.path) as top,
            Folder.opened(Path(MEMORY_FOLDER), top) as memory,
            Folder.opened(Path(SESSIONS_FOLDER), top) as sessions,
        ):
            yield Places(top=top, memory=memory, sessions=sessions)

    def create(self) -> list[str]:
        """Make what is missing, repair the modes of what is there; says what it did."""
        self._make_top()
        done: list[str] = []
        with Folder.opened(self.path) as top:
            for name in (MEMORY_FOLDER, SESSIONS_FOLDER):
                top.make(name)
            if top.create(CONFIG_FILE, DEFAULT_TEXT.encode()):
                done.append(f"{self.path / CONFIG_FILE} made")
        with self.opened() as places:
            for name, text in ((MEMORY_FILE, EMPTY_PAGE), (HISTORY_FILE, EMPTY_HISTORY)):
                if places.memory.create(name, text.encode()):
                    done.append(f"{self.path / MEMORY_FOLDER / name} made")
        return done + self.repair()

    def _make_top(self) -> None:
        with speaking_of(self.path):
            try:
                self.path.mkdir(mode=FOLDER_MODE, parents=True)
            except FileExistsError:
                if not self.path.is_dir():
                    raise Invalid(
                        f"{self.path} is a file; name a folder for the workspace"
                    ) from None

    def repair(self) -> list[str]:
        """Make everything readable by its owner only; says what was not."""
        fixed: list[str] = []
        with Folder.opened(self.path) as top:  # folders first: they may be closed to us
            for name in (MEMORY_FOLDER, SESSIONS_FOLDER):
                fixed.append(top.repair_mode(name, FOLDER_MODE))
            for name in (CONFIG_FILE, STORE_FILE, f"{STORE_FILE}-wal", f"{STORE_FILE}-shm"):
                fixed.append(top.repair_mode(name, FILE_MODE))
        with self.opened() as places:
            for folder in (places.memory, places.sessions):
                fixed += [folder.repair_mode(name, FILE_MODE) for name in folder.names()]
        return [found for found in fixed if found]

    def config(self) -> Config:
        """The defaults where there is no config.yml."""
        with Folder.opened(self.path) as top:
            found = top.read(CONFIG_FILE, CONFIG_BYTES_MAX)
        if found is None:
            return Config(notes=("there is no config.yml: the defaults apply",))
        try:
            return read_config(found[0].decode("utf-8"))
        except UnicodeDecodeError:
            raise Invalid("config.yml is not UTF-8; convert it first") from None


def session_file(session: str) -> str:
    """A file name for a session, whatever it is called: one name per session, no way out of
    the folder, never hidden, never too long."""
    safe = _KEPT.sub(lambda found: quote(found[0], safe=""), session)
    if safe.startswith("."):
        safe = "%2E" + safe[1:]
    if len(safe) > NAME_LENGTH_MAX:
        tail = hashlib.blake2b(session.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        # A % never stands in the shortened part's tail, so no other session has this name.
        safe = f"{safe[:NAME_LENGTH_MAX]}%{tail}"
    return f"{safe}.jsonl"
