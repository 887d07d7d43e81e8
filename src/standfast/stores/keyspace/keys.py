"""Where everything lies: the keys of a root, and how values are written.

A key is its parts with NUL between them, the first of which says what it is. Names hold no NUL, so
that the order of keys is that of their parts. Keys that begin with a dot are only got by name.

| key | value |
|---|---|
| .n | the header: numbers, see ``Header`` |
| .i id | where the record is: the key of its body |
| .r number | a record's body |
| a scope id | the same, in order of id |
| c scope stamp number | its row in the search index, in order of change |
| x scope stamp number | a record that is gone |
| .s scope | the stamp of its last change; s scope: to be found below a scope |
| .v space number, q space scope number | vectors, whole and in one byte a number |
| .d space | how many numbers they have, and the stamp since which there is such a space |
| y space since number | records by the space of their newest vector: the key of the body |
| h hash scope, g origin, l message, m record | and the number: the key of the body |
| w time kind ..., z time number | what expires, what is to be reviewed |
| e source kind target, f target source kind | relations from both ends |
| t scope session | sessions |
| k scope session reader | readers that lag behind |
| o scope session seq, .p scope session id | messages; their numbers by id |
| u scope session to from id, .u id | summaries; their keys by id |
| b namespace scope key | items |
| j seq, .b batch, jc change seq, jt id seq, ja also seq | the journal, and where to find entries |
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple, TypeVar

from standfast.errors import Invalid
from standfast.index.codes import micros
from standfast.ports import IndexRow, leaves_out, note_left_out
from standfast.stores.keyspace.engine import KeySpan
from standfast.stores.rows import CHECKSUM_BYTES, damaged
from standfast.types import Entry, Record
from standfast.types.serial import NAMES, from_plain, to_plain

T = TypeVar("T")

HEADER = b".n"
_BEFORE_TIME = 1 << 62
_MARK = b"\n#"  # before a value's checksum
_NAME = re.compile(rb'"(?:id|key|source)":"([^"]{1,200})"')


def key(*parts: str) -> bytes:
    """Invalid: it would be read as the key of something else, or of nothing."""
    joined = "\0".join(parts)
    if joined.count("\0") >= len(parts):
        name = next(part for part in parts if "\0" in part)
        raise Invalid(f"a NUL character in the name {name[:80]!r}; leave it out")
    return encoded(joined)


def encoded(name: str) -> bytes:
    try:
        return name.encode()
    except UnicodeEncodeError as error:
        raise Invalid(f"half a surrogate pair in a name: {error.reason}") from error


def place(number: int) -> str:
    """A number whose texts are in its order."""
    return f"{number:016x}"


def time_place(moment: datetime) -> str:
    return place(micros(moment) + _BEFORE_TIME)


def time_at(part: str) -> int:
    """Microseconds since 1970."""
    return int(part, 16) - _BEFORE_TIME


def parts_of(key_: bytes) -> list[str]:
    return key_.decode().split("\0")


def below(*parts: str) -> tuple[bytes, bytes]:
    """From the first to behind the last key that begins with these parts."""
    prefix = key(*parts)
    return prefix + b"\0", prefix + b"\1"


def span(*parts: str, follow: bool = False, limit: int = 0) -> KeySpan:
    return KeySpan(*below(*parts), limit=limit, follow=follow)


class Header(NamedTuple):
    """What a root knows about itself. Every write changes it, so it is what writes compare."""

    writes: int = 0
    head: int = 0  # the number of the last entry
    stamp: int = 0  # raised with every commit that changes what can be searched
    made: int = 0  # the number of the last record
    lost: int = 0  # up to this stamp nobody knows any more what is gone
    gone: int = 0  # how many are known to be gone
    floor: int = 0  # every scope has at least this stamp
    token: int = 0  # of the last write: no two write the same header

    @classmethod
    def read(cls, raw: bytes | None) -> Header:
        return cls(*map(int, raw.split())) if raw else cls()

    def written(self) -> bytes:
        return " ".join(map(str, self)).encode()


@dataclass(slots=True)
class RecordBody:
    """A record with what the store knows about it."""

    number: int
    changed: int  # the stamp at its last change
    spaces: tuple[str, ...]  # it may have a vector in these
    newest: str  # the space of the last one, and since when there is that space; "": none
    record: Record

    @property
    def key(self) -> bytes:
        return body_key(self.number)

    def written(self) -> bytes:
        head = json_bytes([self.number, self.changed, self.spaces, self.newest])
        return head + b"\n" + written(self.record)


def body_key(number: int) -> bytes:
    return key(".r", place(number))


def body_of(raw: bytes) -> RecordBody:
    """As a commit reads it, which must be able to erase what is damaged too: whatever it says."""
    head, _, rest = raw.partition(b"\n")
    number, changed, spaces, newest = json.loads(head)
    return RecordBody(number, changed, tuple(spaces), newest, told_as(Record, rest))


def changed_at(raw: bytes) -> int:
    """The stamp of a body's last change, without reading all of it."""
    return int(raw.split(b",", 2)[1])


def record_in(raw: bytes) -> Record:
    """The record of a body. Unavailable if it is not as it was written."""
    return read_as(Record, raw.partition(b"\n")[2])


def sound_records(bodies: Sequence[bytes | None]) -> list[Record | None]:
    """The records of these bodies for who looks for what fits: those that are not as they were
    written are left out, and noted."""
    return [record_in(raw) if raw and is_sound_body(raw) else None for raw in bodies]


def is_sound_body(raw: bytes) -> bool:
    """False: it is not as it was written, which is noted for whoever asks."""
    rest = raw.partition(b"\n")[2]
    if sound := is_sound(rest):
        return sound
    note_left_out([_name_in(rest)])
    return False


def json_bytes(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def written(value: Any) -> bytes:
    """With a checksum behind it, which JSON cannot hold: it has no line breaks."""
    told = json_bytes(to_plain(value))
    return told + _MARK + _sum_of(told)


def is_sound(raw: bytes) -> bool:
    """Is it as it was written? What older programs wrote has no checksum, and is believed."""
    told, mark, stored = raw.rpartition(_MARK)
    return not mark or stored == _sum_of(told)


def read_as(kind: type[T], raw: bytes) -> T:
    """Unavailable, with its name, if it is not as it was written."""
    if is_sound(raw):
        with suppress(ValueError, Invalid):
            return told_as(kind, raw)
    raise damaged(_name_in(raw), NAMES.get(kind, "value"))


def if_sound(kind: type[T], raw: bytes) -> T | None:
    """The same; None, and noted, if it is not and whoever asks leaves such values out."""
    if is_sound(raw) or not leaves_out(f"{NAMES.get(kind, 'value')} {_name_in(raw)}"):
        return read_as(kind, raw)
    return None


def told_as(kind: type[T], raw: bytes) -> T:
    """The same, whatever it says."""
    return from_plain(kind, json.loads(raw.partition(_MARK)[0]))


def _sum_of(told: bytes) -> bytes:
    return blake2b(told, digest_size=CHECKSUM_BYTES).hexdigest().encode()


def _name_in(raw: bytes) -> str:
    """The id of a value, or the key of an item, as far as it can be read."""
    found = _NAME.search(raw)
    return found[1].decode("utf-8", "replace") if found else "?"


def entry_bytes(entry: Entry, also: Sequence[str | None]) -> bytes:
    """With what its touches mention beside."""
    return json_bytes(also) + b"\n" + written(entry)


def entry_of(
    raw: bytes, read: Callable[[type[Entry], bytes], Entry] = read_as
) -> tuple[Entry, list[str | None]]:
    """Unavailable if it is not as it was written, unless that is how it is ``read``."""
    also, _, rest = raw.partition(b"\n")
    return read(Entry, rest), json.loads(also)


# An index row: numbers, the lengths of the texts, the texts.
_ROW = struct.Struct("<q5Bd5qI6I")


def row_bytes(row: IndexRow) -> bytes:
    texts = (
        row.id,
        row.author.encode(),
        row.session.encode(),
        row.session_scope.encode(),
        row.labels,
        row.terms,
    )
    numbers = (*row[:1], *row[2:14])
    return _ROW.pack(*numbers, *map(len, texts)) + b"".join(texts)


def row_of(raw: bytes) -> IndexRow:
    number, *rest = _ROW.unpack_from(raw)
    at, texts = _ROW.size, []
    for length in rest[-6:]:
        texts.append(raw[at : at + length])
        at += length
    id_, author, session, session_scope, labels, terms = texts
    names = (_text(author), _text(session), _text(session_scope))
    return IndexRow._make((number, id_, *rest[:12], *names, labels, terms))


@lru_cache(maxsize=4096)
def _text(raw: bytes) -> str:
    return raw.decode()
