"""A private copy of a SQLite file, as SQLite sees it: with what its write-ahead log has committed.

To read such a file in place may write to it, and to copy both files into a folder leaves somebody's
database there in plain text. So both are copied into private spools, and the pages come from there.
"""

from __future__ import annotations

import os
import shutil
import struct
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import IO, Any

import apsw

from standfast.access.spool import private_spool
from standfast.errors import NotFound, Unavailable

COPIES_MAX = 3
HEADER = struct.Struct(">8I")  # of a log: magic, version, page size, number, 2 salts, 2 sums
FRAME = struct.Struct(">6I")  # page, pages after a commit or 0, 2 salts, 2 sums
MAGIC = 0x377F0682  # with its last bit set, the sums are big-endian
IN_WAL_MODE = 2
_numbers = count()

Sums = tuple[int, int]


@contextmanager
def database_copy(path: Path) -> Iterator[tuple[str, int]]:
    """The address of the copy for SQLite, which cannot be written, and how many bytes were copied:
    what a file says of its own size is not believed."""
    with ExitStack() as until_read:
        main, log = _copied(path, until_read)
        pages = _Pages(main, log)
        vfs = _CopyVfs(f"standfast-import-{next(_numbers)}", pages)
        until_read.callback(vfs.unregister)
        yield f"file:copy?vfs={vfs.registered}&immutable=1", pages.copied


def _copied(path: Path, until_read: ExitStack) -> tuple[IO[bytes], IO[bytes]]:
    """The file and its log; copied again, if somebody wrote to one of them meanwhile."""
    files = (path, path.with_name(path.name + "-wal"))
    if not path.exists():
        raise NotFound(f"there is no file {path}")
    for _ in range(COPIES_MAX):
        before = [_state(file) for file in files]
        main, log = (until_read.enter_context(private_spool()) for _ in files)
        try:
            _copy(files[0], main)
            _copy(files[1], log)
        except OSError as error:
            raise Unavailable(f"cannot read {path}: {error.strerror or error}") from None
        if before == [_state(file) for file in files]:
            return main, log
        main.close()
        log.close()
    raise Unavailable(f"{path} is being written; end the program that uses it, then import again")


def _copy(file: Path, into: IO[bytes]) -> None:
    with suppress(FileNotFoundError), file.open("rb") as source:
        shutil.copyfileobj(source, into)


def _state(path: Path) -> tuple[int, int]:
    try:
        told = os.stat(path)
    except OSError:
        return 0, 0
    return told.st_size, told.st_mtime_ns


class _Pages:
    """The file as SQLite opens it: read only, each page in its last committed version."""

    def __init__(self, main: IO[bytes], log: IO[bytes]) -> None:
        self._main, self._log = main, log
        self._size = main.seek(0, os.SEEK_END)
        self.copied = self._size + log.seek(0, os.SEEK_END)
        main.seek(0)
        head = main.read(100).ljust(100, b"\0")
        size = int.from_bytes(head[16:18], "big")
        self._page_bytes = 65536 if size == 1 else size
        self._frames: dict[int, int] = {}
        if head[18] == IN_WAL_MODE:
            self._frames, pages = _committed(log, self._page_bytes)
            self._size = pages * self._page_bytes or self._size

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        page, inside = divmod(offset, self._page_bytes or 1)
        place = self._frames.get(page + 1)
        file = self._main if place is None else self._log
        file.seek(offset if place is None else place + inside)
        return file.read(amount)

    def xFileSize(self) -> int:  # noqa: N802
        return self._size

    def xSectorSize(self) -> int:  # noqa: N802
        return 4096

    def xDeviceCharacteristics(self) -> int:  # noqa: N802
        return int(apsw.SQLITE_IOCAP_IMMUTABLE)

    def xFileControl(self, _: int, __: int) -> bool:  # noqa: N802
        return False

    def xLock(self, _: int) -> None:  # noqa: N802
        return

    def xUnlock(self, _: int) -> None:  # noqa: N802
        return

    def xCheckReservedLock(self) -> bool:  # noqa: N802
        return False

    def xClose(self) -> None:  # noqa: N802
        return

    def xWrite(self, _: bytes, __: int) -> None:  # noqa: N802
        raise apsw.ReadOnlyError("a copy is read only")

    def xTruncate(self, _: int) -> None:  # noqa: N802
        raise apsw.ReadOnlyError("a copy is read only")

    def xSync(self, _: int) -> None:  # noqa: N802
        return


class _CopyVfs(apsw.VFS):
    """Knows one file, whatever it is called, and never one of the disk."""

    def __init__(self, name: str, pages: _Pages) -> None:
        self.registered, self._pages = name, pages
        super().__init__(name, "")

    def xFullPathname(self, name: str) -> str:  # noqa: N802
        return name

    def xAccess(self, _: str, __: int) -> bool:  # noqa: N802
        return False

    def xDelete(self, _: str, __: bool) -> None:  # noqa: N802
        raise apsw.ReadOnlyError("a copy is read only")

    def xOpen(self, _: Any, flags: list[int]) -> Any:  # noqa: N802
        if not flags[0] & apsw.SQLITE_OPEN_MAIN_DB:
            raise apsw.CantOpenError("nothing is kept beside a copy")
        return self._pages


# The write-ahead log (https://sqlite.org/fileformat2.html#walformat)


def _committed(log: IO[bytes], page_bytes: int) -> tuple[dict[int, int], int]:
    """Where in the log the last committed version of each page is, and how many pages there are
    then. What follows a frame that is not whole is what was never committed."""
    log.seek(0)
    head = log.read(HEADER.size)
    if len(head) < HEADER.size:
        return {}, 0
    magic, _, size, _, *salts, first, second = HEADER.unpack(head)
    order = "<" if magic & 1 == 0 else ">"
    sums = _summed(head[:24], (0, 0), order)
    if magic & ~1 != MAGIC or size != page_bytes or sums != (first, second):
        return {}, 0
    found: dict[int, int] = {}
    waiting: dict[int, int] = {}
    pages = 0
    while len(told := log.read(FRAME.size + page_bytes)) == FRAME.size + page_bytes:
        page, after, *rest = FRAME.unpack_from(told)
        sums = _summed(told[FRAME.size :], _summed(told[:8], sums, order), order)
        if rest[:2] != salts or tuple(rest[2:]) != sums:
            break
        waiting[page] = log.tell() - page_bytes
        if after:
            found |= waiting
            waiting, pages = {}, after
    return found, pages


def _summed(data: bytes, sums: Sums, order: str) -> Sums:
    one, two = sums
    for first, second in struct.iter_unpack(f"{order}II", data):
        one = (one + first + two) & 0xFFFFFFFF
        two = (two + second + one) & 0xFFFFFFFF
    return one, two
