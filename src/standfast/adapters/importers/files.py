"""Files of others: opened with care, read piece by piece, and refused in one line.

Nothing here trusts a size that a file states about itself, and nothing needs the whole of a large
file at once.
"""

from __future__ import annotations

import codecs
import csv
import json
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from standfast.errors import Invalid, NotFound, Unavailable

PIECE_BYTES = 1 << 20
ITEM_CHARACTERS_MAX = 64 << 20  # one conversation, one line; read, it may take 20 times as much
WHOLE_BYTES_MAX = 512 << 20  # of a file that has to be read as one value
UNPACKED_BYTES_MAX = 8 << 30
UNPACKED_TIMES_MAX = 200  # what grows more than this when it is unpacked is a trap
FOLDER_FILES_MAX = 100_000

# The parts of a chat program's export.
CONVERSATIONS = "conversations.json"
MEMORIES = "memories.json"

_BLANK = " \t\r\n"
# How archives begin that nobody unpacks here.
_PACKED = (b"PK\3\4", b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"7z\xbc\xaf", b"Rar!")
_TAR = (b"ustar", 257)
# What damaged pieces of an archive raise, by the way in which they were packed.
_DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError)


class CutOff(Invalid):
    """The file ends in the middle of something."""


@contextmanager
def opened(path: Path, member: str = "") -> Iterator[IO[bytes]]:
    """A file, or one file of a zip archive (the one whose name ends with ``member``)."""
    try:
        if member and _is_zip(path):
            with zipfile.ZipFile(path) as archive, _member(archive, path, member) as file:
                yield file
            return
        with path.open("rb") as file:
            yield file
    except FileNotFoundError:
        raise NotFound(f"there is no file {path}") from None
    except IsADirectoryError:
        raise Invalid(f"{path} is a folder; name a file of it") from None
    except _DAMAGED:
        raise Invalid(f"{path} is a damaged zip archive; get it again") from None
    except NotImplementedError:
        raise Invalid(f"{path} is packed in a way that is unknown here; unpack it first") from None
    except OSError as error:
        raise Unavailable(f"cannot read {path}: {error.strerror or error}") from None


@contextmanager
def _member(archive: zipfile.ZipFile, path: Path, name: str) -> Iterator[IO[bytes]]:
    found = [one for one in archive.infolist() if Path(one.filename).name == name]
    if not found:
        raise Invalid(f"{path} has no {name} in it")
    chosen = min(found, key=lambda one: len(one.filename))
    if chosen.flag_bits & 1:
        raise Invalid(f"{path} is encrypted; unpack it first")
    most = min(UNPACKED_BYTES_MAX, max(chosen.compress_size, 1 << 16) * UNPACKED_TIMES_MAX)
    with archive.open(chosen) as file:
        yield _Bounded(file, most, f"{name} in {path}")  # type: ignore[misc]


class _Bounded:
    """Reads no more than it said: an archive may lie about what is in it."""

    def __init__(self, file: IO[bytes], most: int, name: str) -> None:
        self._file, self._left, self._name = file, most, name

    def read(self, size: int = -1) -> bytes:
        piece = self._file.read(min(size, self._left + 1) if size >= 0 else self._left + 1)
        self._left -= len(piece)
        if self._left < 0:
            raise Invalid(f"{self._name} unpacks to far more than its size; it is not imported")
        return piece


def _is_zip(path: Path) -> bool:
    """A pipe or a device is none: to look for the end of one takes all of it."""
    return path.is_file() and zipfile.is_zipfile(path)


def exported(path: Path, whose: str, *, partial: bool) -> Iterator[tuple[Path, str, Any]]:
    """Every item of a chat program's export, with the file and the name of the part it is in. The
    export is a folder, an archive, or one of its files alone."""
    for file, member in _members(path, whose):
        with opened(file, member) as read:
            for one in json_items(read, str(file), partial=partial):
                yield file, member, one


def _members(path: Path, whose: str) -> Iterator[tuple[Path, str]]:
    if path.is_dir():
        found = [path / name for name in (CONVERSATIONS, MEMORIES) if (path / name).exists()]
        if not found:
            raise Invalid(f"{path} has no {CONVERSATIONS} in it; is it {whose}'s export?")
        yield from ((one, one.name) for one in found)
        return
    yield path, path.name if path.name == MEMORIES else CONVERSATIONS
    if _has_member(path, MEMORIES):
        yield path, MEMORIES


def _has_member(path: Path, name: str) -> bool:
    if not _is_zip(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return any(Path(one.filename).name == name for one in archive.infolist())


# Text


def text_pieces(file: IO[bytes], name: str) -> Iterator[str]:
    """UTF-8, or UTF-16 with a byte order mark; anything else is Invalid with the place."""
    first = file.read(PIECE_BYTES)
    if first.startswith(_PACKED) or first[_TAR[1] :].startswith(_TAR[0]):
        raise Invalid(f"{name} is an archive; unpack it and name the file that is in it")
    wide = first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    decoder = codecs.getincrementaldecoder("utf-16" if wide else "utf-8-sig")()
    done, piece = 0, first
    while True:
        try:
            text = decoder.decode(piece, final=not piece)
        except UnicodeDecodeError as error:
            where = done + error.start
            raise Invalid(
                f"{name} is not UTF-8 at byte {where:,}; save it as UTF-8 and import it again"
            ) from None
        if "\0" in text:
            raise Invalid(f"{name} is no text; is it the right kind of file?")
        if text:
            yield text
        if not piece:
            return
        done += len(piece)
        piece = file.read(PIECE_BYTES)


def lines(file: IO[bytes], name: str) -> Iterator[tuple[int, str]]:
    """Numbered lines without their ends; blank ones are left out."""
    rest, number = "", 0
    for piece in text_pieces(file, name):
        *whole, rest = (rest + piece).split("\n")
        for line in whole:
            number += 1
            if line.strip():
                yield number, line.rstrip("\r")
        if len(rest) > ITEM_CHARACTERS_MAX:
            raise Invalid(f"line {number + 1} of {name} is endless; is it the right kind of file?")
    if rest.strip():
        yield number + 1, rest.rstrip("\r")


def whole_text(file: IO[bytes], name: str) -> str:
    parts, size = [], 0
    for piece in text_pieces(file, name):
        size += len(piece)
        if size > WHOLE_BYTES_MAX:
            raise Invalid(f"{name} is larger than {WHOLE_BYTES_MAX >> 20} MiB; split it")
        parts.append(piece)
    return "".join(parts)


# JSON


def whole_json(file: IO[bytes], name: str) -> Any:
    text = whole_text(file, name)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        ended = error.pos >= len(text.rstrip())
        said = "it ends in the middle" if ended else f"it goes wrong in line {error.lineno}"
        raise (CutOff if ended else Invalid)(f"{name} is no whole JSON: {said}") from None
    except RecursionError:
        raise Invalid(f"{name} is nested too deeply") from None


def json_items(file: IO[bytes], name: str, *, partial: bool = False) -> Iterator[Any]:
    """The items of a JSON array, one at a time; of anything else, the value itself."""
    reading = _JsonWindow(text_pieces(file, name), name)
    start = reading.peek()
    if start == "":
        raise Invalid(f"{name} is empty")
    try:
        if start == "[":
            yield from reading.items()
        else:
            yield reading.value()
            reading.end()
    except CutOff:
        if not partial:
            raise


class _JsonWindow:
    """A window over a text in which values are found one after the other."""

    def __init__(self, pieces: Iterator[str], name: str) -> None:
        self._pieces, self._name = pieces, name
        self._text, self._at = "", 0
        self._decoder = json.JSONDecoder()

    def peek(self) -> str:
        """The next character that is not blank; "" at the end."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in _BLANK:
                    return self._text[self._at]
                self._at += 1
            if not self._more():
                return ""

    def _more(self) -> bool:
        piece = next(self._pieces, None)
        if piece is None:
            return False
        self._text = self._text[self._at :] + piece
        self._at = 0
        return True

    def items(self) -> Iterator[Any]:
        self._at += 1
        if self.peek() == "]":
            self._at += 1
            self.end()
            return
        while True:
            yield self.value()
            sign = self.peek()
            if sign not in (",", "]"):
                raise self._wrong() if sign else self._cut()
            self._at += 1
            if sign == "]":
                break
        self.end()

    def value(self) -> Any:
        """Read on until it is whole. Twice as much each time, so that it stays linear."""
        if not self.peek():
            raise self._cut()
        wanted = PIECE_BYTES
        while True:
            try:
                found, end = self._decoder.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                near_end = error.pos >= len(self._text) - 16 or "Unterminated" in error.msg
                if not near_end:
                    raise self._wrong() from None
            except RecursionError:
                raise Invalid(f"{self._name} is nested too deeply") from None
            else:
                # A number at the very end may go on in the next piece.
                if end < len(self._text) or not self._more():
                    self._at = end
                    return found
                continue
            if len(self._text) - self._at > ITEM_CHARACTERS_MAX:
                raise Invalid(f"a part of {self._name} is too large to be read")
            before = len(self._text) - self._at
            while len(self._text) - self._at < before + wanted:
                if not self._more():
                    if len(self._text) - self._at == before:
                        raise self._cut()
                    break
            wanted *= 2

    def end(self) -> None:
        if self.peek():
            raise self._wrong()

    def _wrong(self) -> Invalid:
        near = self._text[self._at : self._at + 30].replace("\n", " ")
        return Invalid(f"{self._name} is no JSON near {near!r}")

    def _cut(self) -> CutOff:
        return CutOff(
            f"{self._name} ends in the middle: it was cut off. Nothing was imported; get the whole "
            "file, or import what is there with --partial"
        )


def json_lines(file: IO[bytes], name: str, *, partial: bool = False) -> Iterator[tuple[int, Any]]:
    """One value a line; a last line that is none is a file that was cut off."""
    waiting: Invalid | None = None
    number = 0
    for number, line in lines(file, name):
        if waiting is not None:
            raise waiting
        try:
            yield number, json.loads(line)
        except (ValueError, RecursionError):
            waiting = Invalid(f"line {number} of {name} is no JSON")
            last = line
    if not number:
        raise Invalid(f"{name} is empty")
    if waiting is not None and not partial:
        cut = last.lstrip().startswith(("{", "[")) and not last.rstrip().endswith(("}", "]"))
        if cut:
            raise CutOff(
                f"{name} ends in the middle of a line: it was cut off. Nothing was imported; get "
                "the whole file, or import what is there with --partial"
            )
        raise waiting


def rows(file: IO[bytes], name: str) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a CSV file by the names in its first line."""

    def raw() -> Iterator[str]:
        rest = ""
        for piece in text_pieces(file, name):
            *whole, rest = (rest + piece).split("\n")
            yield from (line + "\n" for line in whole)
        if rest:
            yield rest

    csv.field_size_limit(16 << 20)
    try:
        reader = csv.DictReader(raw(), strict=True)
        if not reader.fieldnames:
            raise Invalid(f"{name} is empty")
        for row in reader:
            if None in row:
                raise Invalid(f"line {reader.line_num} of {name} has more cells than names")
            yield reader.line_num, {key: value or "" for key, value in row.items()}
    except csv.Error as error:
        raise Invalid(f"{name} is no CSV: {error}") from None
