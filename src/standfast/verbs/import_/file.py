"""The file: is it one of ours, is it whole, and what do its lines say?"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import IO, Any

from standfast import compat
from standfast.errors import Incompatible, Invalid
from standfast.types.frozen import frozen
from standfast.types.serial import TYPES, VERSION, Value, from_plain

LINE_BYTES_MAX = 128 << 20  # a message of 16 MiB, its original, and every letter escaped


@frozen
class ExportLine:
    """One value of the file, or why it is none. ``size`` is in bytes."""

    number: int
    type: str
    size: int
    value: Value | None = None
    error: str = ""


@frozen
class FileSurvey:
    """What is known of a file before anything of it is imported. ``problem`` says why it is
    not the file that was written; empty if it is."""

    scopes: tuple[str, ...]
    lines: int
    problem: str
    space: str = ""  # of the vectors of the store it was written from; "": not known
    checksum: str = ""
    signature: str = ""


def survey(file: IO[bytes], name: str) -> FileSurvey:
    """Read the whole file once. Invalid if it is no export, Incompatible if it is too new."""
    file.seek(0)
    first = file.readline(LINE_BYTES_MAX)
    scopes = _scopes_of(first, name)
    space = _text_of(_json(first), "space")
    hashed, last, number = hashlib.sha256(), first, 1
    while line := file.readline(LINE_BYTES_MAX):
        if not last.endswith(b"\n"):
            why = f"line {number} is too long"
            return FileSurvey(scopes=scopes, lines=number, problem=why, space=space)
        hashed.update(last)
        last, number = line, number + 1
    checksum = hashed.hexdigest()
    return FileSurvey(
        scopes=scopes,
        lines=number,
        problem=_problem(last, checksum, number),
        space=space,
        checksum=checksum,
        signature=_text_of(_json(last), "signature"),
    )


def _text_of(line: Any, name: str) -> str:
    """A text of a line, "" if it has none of that name."""
    found = line.get(name) if isinstance(line, dict) else ""
    return found if isinstance(found, str) else ""


def _scopes_of(line: bytes, name: str) -> tuple[str, ...]:
    if not line:
        raise Invalid(f"{name} is empty")
    header = _json(line)
    if not isinstance(header, dict) or header.get("format") not in compat.EXPORT_FORMATS:
        raise Invalid(f"{name} is not an export of standfast: its first line is no header")
    version = header.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise Invalid(f"{name} does not say which version of the format it has")
    if version > VERSION:
        raise Incompatible(
            f"{name} was written by a newer standfast (format {version}, this one reads up to "
            f"{VERSION}); upgrade standfast"
        )
    scopes = header.get("scopes")
    if not isinstance(scopes, list) or not all(isinstance(scope, str) for scope in scopes):
        raise Invalid(f"{name} does not say which scopes it holds")
    return tuple(scopes)


def _problem(last: bytes, sha256: str, number: int) -> str:
    """What keeps the last line from being the right end."""
    end = _json(last)
    if not isinstance(end, dict) or end.get("type") != "end":
        return f"it ends with line {number}, and that is not the end line: it was cut off"
    if end.get("sha256") != sha256:
        return "its checksum does not fit: it was changed after it was written"
    return ""


def lines_of(file: IO[bytes]) -> Iterator[ExportLine]:
    """Every line behind the header, bad ones with their error; the end line left out."""
    file.seek(0)
    file.readline(LINE_BYTES_MAX)
    number = 1
    while raw := file.readline(LINE_BYTES_MAX):
        number += 1
        line = _line(raw, number)
        if line is not None:
            yield line


def _line(raw: bytes, number: int) -> ExportLine | None:
    found = _json(raw)
    type_ = found.get("type") if isinstance(found, dict) else None
    if type_ == "end":
        return None
    try:
        value = _value(found, type_, cut_off=not raw.endswith(b"\n"))
    except Invalid as error:
        known = type_ if isinstance(type_, str) and type_ in TYPES else "line"
        return ExportLine(number=number, type=str(known), size=len(raw), error=str(error))
    return ExportLine(number=number, type=str(type_), size=len(raw), value=value)


def _value(found: Any, type_: Any, *, cut_off: bool) -> Value:
    if not isinstance(found, dict):
        raise Invalid("it is cut off" if cut_off else "it is not a JSON object")
    if not isinstance(type_, str) or type_ not in TYPES:
        raise Invalid(f"the type {type_!r:.60} is unknown")
    if found.keys() != {"type", "value"}:
        raise Invalid("it must have a type and a value, and nothing else")
    try:
        value: Value = from_plain(TYPES[type_], found["value"])
    except RecursionError:
        raise Invalid("it is nested too deeply") from None
    return value


def _json(raw: bytes) -> Any:
    """None if it is not JSON: no line of ours is null."""
    try:
        return json.loads(raw, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")
