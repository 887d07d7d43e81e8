"""Files of a workspace, opened so that nothing can lead out of it.

Every file is opened by its bare name inside a folder that is held open, and symbolic links are
never followed. A file is replaced as a whole or not at all; only its owner may read it.
"""

from __future__ import annotations

import asyncio
import errno
import os
import stat
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from standfast.errors import Incompatible, Invalid, Unavailable
from standfast.types.frozen import frozen

try:
    import fcntl
except ImportError:  # Windows
    raise Incompatible(
        "a Markdown workspace needs a POSIX system (Linux, macOS, WSL): it holds its folder open "
        "and locks it"
    ) from None

FOLDER_MODE = 0o700
FILE_MODE = 0o600
LOCK_SECONDS = 30.0
LOCK_LOOK_SECONDS = 0.05
_NOT_OURS = (errno.ELOOP, errno.ENOTDIR, errno.EISDIR)


@frozen
class Stamp:
    """Which file it was, and when it was written last; any save changes it."""

    inode: int
    size: int
    changed: int  # nanoseconds


@frozen
class Folder:
    path: Path
    fd: int

    @classmethod
    @contextmanager
    def opened(cls, path: Path, inside: Folder | None = None) -> Iterator[Folder]:
        """Hold a folder open; ``inside`` another one, ``path`` is its bare name there."""
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
        whole = inside.path / path if inside else path
        with speaking_of(whole):
            if inside:
                fd = os.open(path, flags | os.O_NOFOLLOW, dir_fd=inside.fd)
            else:
                fd = os.open(path, flags)
        try:
            yield cls(path=whole, fd=fd)
        finally:
            os.close(fd)

    def make(self, name: str) -> None:
        """A folder for its owner only, unless there is one."""
        with speaking_of(self.path / name):
            try:
                os.mkdir(name, FOLDER_MODE, dir_fd=self.fd)
            except FileExistsError:
                if not stat.S_ISDIR(self._status(name).st_mode):
                    raise Invalid(self._in_the_way(name, "folder")) from None
                return
            os.chmod(name, FOLDER_MODE, dir_fd=self.fd)

    def create(self, name: str, data: bytes) -> bool:
        """A file for its owner only. False: there is one, and it was left alone."""
        with speaking_of(self.path / name):
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            try:
                fd = os.open(name, flags, FILE_MODE, dir_fd=self.fd)
            except FileExistsError:
                if not stat.S_ISREG(self._status(name).st_mode):
                    raise Invalid(self._in_the_way(name, "file")) from None
                return False
            _write_out(fd, data)
            return True

    def read(self, name: str, bytes_max: int) -> tuple[bytes, Stamp] | None:
        """None if there is no such file; Invalid if it is larger, or no plain file."""
        with speaking_of(self.path / name):
            # Not to wait for a writer, should it be a pipe.
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            try:
                fd = os.open(name, flags, dir_fd=self.fd)
            except FileNotFoundError:
                return None
            with os.fdopen(fd, "rb") as file:
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode):
                    raise Invalid(self._in_the_way(name, "file"))
                data = file.read(bytes_max + 1)
        if len(data) > bytes_max:
            raise Invalid(
                f"{self.path / name} is larger than {bytes_max >> 20} MB and was left alone; "
                "shorten it"
            )
        return data, _stamp(status)

    def stamp(self, name: str) -> Stamp | None:
        with speaking_of(self.path / name):
            try:
                return _stamp(self._status(name))
            except FileNotFoundError:
                return None

    def replace(self, name: str, data: bytes) -> None:
        """The whole new content, or the old one untouched, whenever this is interrupted."""
        fresh = f".{name}.new"  # left over by a killed writer, it is simply written again
        with speaking_of(self.path / name):
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
            _write_out(os.open(fresh, flags, FILE_MODE, dir_fd=self.fd), data)
            os.rename(fresh, name, src_dir_fd=self.fd, dst_dir_fd=self.fd)
            os.fsync(self.fd)

    def append(self, name: str, data: bytes, *, cut: int = 0) -> None:
        """Behind what is there, in one write; ``cut`` bytes of a torn end go first."""
        with speaking_of(self.path / name):
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
            fd = os.open(name, flags, FILE_MODE, dir_fd=self.fd)
            if cut:
                os.ftruncate(fd, os.fstat(fd).st_size - cut)
            _write_out(fd, data)

    def remove(self, name: str) -> None:
        with speaking_of(self.path / name):
            try:
                os.unlink(name, dir_fd=self.fd)
            except FileNotFoundError:
                return

    def repair_mode(self, name: str, mode: int) -> str:
        """What was wrong with a file's or folder's mode, now put right; "" if nothing was."""
        with speaking_of(self.path / name):
            try:
                status = self._status(name)
            except FileNotFoundError:
                return ""
            if stat.S_ISLNK(status.st_mode):
                raise Invalid(self._in_the_way(name, "file or folder"))
            found = stat.S_IMODE(status.st_mode)
            is_folder = stat.S_ISDIR(status.st_mode)
            if found == mode or is_folder != (mode == FOLDER_MODE):
                return ""  # as it should be, or not ours
            # By name: opening and closing the store's file would drop this process's locks on it.
            os.chmod(name, mode, dir_fd=self.fd)
            return f"{self.path / name} had mode {found:04o}, now {mode:04o}"

    @asynccontextmanager
    async def locked(self, name: str = ".lock") -> AsyncIterator[None]:
        """One program at a time; the lock goes with the process that holds it."""
        with speaking_of(self.path / name):
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            fd = os.open(name, flags, FILE_MODE, dir_fd=self.fd)
        try:
            await self._take(fd)
            yield
        finally:
            os.close(fd)

    async def _take(self, fd: int) -> None:
        waited = 0.0
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if waited >= LOCK_SECONDS:
                    raise Unavailable(f"{self.path} is being synced already; try again") from None
            await asyncio.sleep(LOCK_LOOK_SECONDS)
            waited += LOCK_LOOK_SECONDS

    def names(self) -> list[str]:
        with speaking_of(self.path):
            return sorted(os.listdir(self.fd))

    def _status(self, name: str) -> os.stat_result:
        return os.stat(name, dir_fd=self.fd, follow_symlinks=False)

    def _in_the_way(self, name: str, wanted: str) -> str:
        return (
            f"{self.path / name} is no plain {wanted} (a symbolic link, or something else); "
            "move it out of the way"
        )


def _stamp(status: os.stat_result) -> Stamp:
    return Stamp(inode=status.st_ino, size=status.st_size, changed=status.st_mtime_ns)


def _write_out(fd: int, data: bytes) -> None:
    """Write all of it to the disk itself, for the owner only, and close."""
    with os.fdopen(fd, "wb", buffering=0) as file:
        os.fchmod(fd, FILE_MODE)
        rest = memoryview(data)
        while rest:
            rest = rest[file.write(rest) or 0 :]
        os.fsync(fd)


@contextmanager
def speaking_of(path: Path) -> Iterator[None]:
    """Errors of the file system leave as errors of ours."""
    try:
        yield
    except OSError as error:
        if error.errno in _NOT_OURS:
            raise Invalid(
                f"{path} is no plain file or folder of its own (a symbolic link, or something "
                "else in the way); move it out of the way"
            ) from error
        if isinstance(error, FileNotFoundError):
            raise Invalid(f"there is no {path}; make the workspace with `standfast new`") from error
        raise Unavailable(f"cannot use {path}: {error.strerror or error}") from error
