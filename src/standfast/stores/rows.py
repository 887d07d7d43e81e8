"""Values to rows and back. The place of a name in these lists, and in those of ``index.codes``, is
its number in the file: new names go to the end, and none ever moves."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from hashlib import blake2b
from operator import attrgetter
from typing import Any, TypeVar, cast

from standfast.errors import Invalid, Unavailable
from standfast.index.codes import (
    DURABILITIES,
    KINDS,
    SOURCES,
    STATUSES,
    TYPES,
    code,
    micros,
    micros_or_none,
    moment,
    moment_or_none,
)
from standfast.index.derived import labels_blob
from standfast.ports import leaves_out
from standfast.types import (
    LIVE,
    Item,
    Message,
    Record,
    Relation,
    RelationKind,
    Role,
    Session,
    Summary,
    ToolCall,
    Touch,
)

T = TypeVar("T")
Row = Sequence[Any]

ROLES: tuple[Role, ...] = ("system", "developer", "user", "assistant", "tool", "function", "note")
HOWS = ("model", "extract")
RELATIONS: tuple[RelationKind, ...] = (
    "contradicts",
    "supports",
    "supersedes",
    "caused_by",
    "depends_on",
    "part_of",
    "implements",
)
TOUCHES = ("record", "message", "session", "summary", "relation", "item", "cursor", "vector")

CHECKSUM_BYTES = 8
STATE_KEPT_MAX = 200  # characters of tags and data
_SIZES = [size.to_bytes(8, "little") for size in range(1024)]  # as a checksum writes them
_SIZES_IN_TEXT = [size.decode("latin-1") for size in _SIZES]

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def to_json(value: Any) -> str:
    if not value and isinstance(value, (tuple, list, dict)):  # most are empty
        return "{}" if isinstance(value, dict) else "[]"
    try:
        return _encode(value)
    except (TypeError, ValueError) as error:
        raise Invalid(f"a stored value must be plain JSON: {error}") from error


def ids_json(ids: Sequence[str]) -> str:
    """``to_json`` of names, of which there are mostly none or one."""
    if not ids:
        return "[]"
    return f"[{_encode(ids[0])}]" if len(ids) == 1 and type(ids[0]) is str else to_json(ids)


def plain(name: str) -> str:
    """The name, or Invalid if SQL would read it as a shorter one."""
    if "\x00" in name:
        raise Invalid(f"a NUL character in {name[:80]!r}; leave it out")
    return name


def _number(value: float) -> float:
    if not math.isfinite(value):
        raise Invalid(f"{value} is not a finite number")
    return float(value) + 0.0  # of two zeros a file keeps one


# Records

RECORD = (
    "id, version, kind, type, status, source, durability, trust, importance, confidence, "
    "learned_at, retired_at, valid_from, valid_to, expires_at, review_at, uses, used_at, "
    "author, origin, session, session_scope, hash, tags, lineage, derived_from, data, text"
)
# With the path of its scope in front and its checksum behind: what ``record_of`` reads.
RECORD_WITH_SCOPE = "scope.path, " + ", ".join(
    f"record.{name}" for name in (*RECORD.split(", "), "checksum")
)

# What a change of a record may set, in the order of ``record_changes``.
RECORD_CHANGES = (
    "version, type, status, source, durability, trust, importance, confidence, retired_at, "
    "valid_from, valid_to, expires_at, review_at, author, tags, labels, data, single"
).split(", ")
# And what is written once, in the order of ``record_birth``.
RECORD_BIRTH = (
    "id, kind, learned_at, uses, used_at, words, origin, session, session_scope, hash, checksum, "
    "terms, lineage, derived_from, text"
).split(", ")

# For a change, behind its id: columns that must hold something, though nothing of it is written.
RECORD_UNBORN = (0, 0, 0, None, 0, "", "", "", "", b"", b"", "[]", "[]", "")


def record_birth(record: Record, found_by: tuple[int, bytes], state: bytes) -> tuple[Any, ...]:
    """Of a new record in a checked batch: its names can be in a file. ``found_by``: how many words
    it has, and which. ``state``: its ``state_checksum``."""
    words, terms = found_by
    learned_at = micros(record.learned_at)
    lineage, derived_from = ids_json(record.lineage), ids_json(record.derived_from)
    born = checksum_of_texts(
        record.scope, record.id, record.kind, str(learned_at), record.origin, record.session,
        record.session_scope, record.hash, lineage, derived_from, record.text,
    )  # fmt: skip
    return (
        record.id,
        code(KINDS, record.kind),
        learned_at,
        record.uses,
        micros_or_none(record.used_at),
        words,
        record.origin,
        record.session,
        record.session_scope,
        record.hash,
        born + state,
        terms,
        lineage,
        derived_from,
        record.text,
    )


def record_changes(record: Record, at: datetime) -> tuple[Any, ...]:
    """As it will be stored, one version further."""
    return (
        record.version + 1,
        code(TYPES, record.type),
        code(STATUSES, record.status),
        code(SOURCES, record.source),
        code(DURABILITIES, record.durability),
        record.trust,
        _number(record.importance),
        _number(record.confidence),
        micros_or_none(record.retired_at),
        micros_or_none(record.valid_from),
        micros_or_none(record.valid_to),
        micros_or_none(record.expires_at),
        micros_or_none(record.review_at),
        plain(record.author),
        to_json(record.tags),
        labels_blob(record.tags, record.data),
        to_json(dict(record.data)),
        int(is_single(record, at)),
    )


# Records in which these and their data are equal have the same ``record_changes``, if all of them
# have a hash or none has.
told_by = attrgetter(
    "version", "type", "status", "source", "durability", "trust", "importance", "confidence",
    "retired_at", "valid_from", "valid_to", "expires_at", "review_at", "author", "tags",
)  # fmt: skip


def is_single(record: Record, at: datetime) -> bool:
    """May no other record of its scope say the same?"""
    expired = record.expires_at is not None and record.expires_at <= at
    return bool(record.hash) and record.status in LIVE and not expired


def state_checksum(changes: Sequence[Any]) -> bytes:
    """Of what may change in a record, from what ``record_changes`` makes: all but what is derived
    from the rest."""
    return _state_checksum(*(changes[:15]), changes[16])


def _state_checksum(*state: Any) -> bytes:
    """Most records are in one of a few states."""
    tags, data = state[14:]
    if type(tags) is str and type(data) is str and len(tags) + len(data) <= STATE_KEPT_MAX:
        return _known_state(*state)
    return checksum(*state)


def is_sound(row: Row) -> bool:
    """Is a row of ``RECORD_WITH_SCOPE`` as it was written? Eight bytes tell of what never changes,
    eight more of what does; rows of older programs have only the first."""
    (
        scope, id_, version, kind, type_, status, source, durability, trust, importance, confidence,
        learned, retired, begins, ends, expires, review, _, _, author, origin, session,
        session_scope, hash_, tags, lineage, derived_from, data, text, stored,
    ) = row[:30]  # fmt: skip
    if not 0 <= kind < len(KINDS):
        return False
    born = checksum_of_texts(
        scope, id_, KINDS[kind], str(learned), origin, session, session_scope, hash_, lineage,
        derived_from, text,
    )  # fmt: skip
    if len(stored) == len(born):
        return bool(stored == born)
    state = _state_checksum(
        version, type_, status, source, durability, trust, importance, confidence, retired, begins,
        ends, expires, review, author, tags, data,
    )  # fmt: skip
    return bool(stored == born + state)


def damaged(id_: str, what: str = "record") -> Unavailable:
    return Unavailable(
        f"{what} {id_} is not as it was written: the file was changed or the disk is failing. "
        "Run `standfast doctor --heal`, with a backup if you have one",
        lasting=True,
    )


def record_of(row: Row) -> Record:
    """From the columns of ``RECORD_WITH_SCOPE``. Unavailable if it is not as it was written."""
    if not is_sound(row):
        raise damaged(str(row[1]))
    return read_record(row)


def read_record(row: Row) -> Record:
    """The same, whatever it says."""
    (
        scope, id_, version, kind, type_, status, source, durability, trust, importance, confidence,
        learned, retired, begins, ends, expires, review, uses, used, author, origin, session,
        session_scope, hash_, tags, lineage, derived_from, data, text,
    ) = row[:29]  # fmt: skip
    return Record(
        id=id_,
        scope=scope,
        kind=KINDS[kind],
        type=TYPES[type_],
        text=text,
        learned_at=moment(learned),
        data=json.loads(data) if data != "{}" else {},
        tags=() if tags == "[]" else _tuple(tags),
        importance=importance,
        confidence=confidence,
        durability=DURABILITIES[durability],
        status=STATUSES[status],
        source=SOURCES[source],
        trust=trust,
        author=author,
        origin=origin,
        session=session,
        session_scope=session_scope,
        lineage=() if lineage == "[]" else _tuple(lineage),
        derived_from=() if derived_from == "[]" else _tuple(derived_from),
        valid_from=None if begins is None else moment(begins),
        valid_to=None if ends is None else moment(ends),
        retired_at=None if retired is None else moment(retired),
        expires_at=None if expires is None else moment(expires),
        review_at=None if review is None else moment(review),
        uses=uses,
        used_at=None if used is None else moment(used),
        hash=hash_,
        version=version,
    )


def _tuple(text: str) -> tuple[str, ...]:
    return () if text == "[]" else tuple(json.loads(text))


def lineage_rows(root: int, record: int, value: Record) -> list[tuple[int, int, str, int]]:
    messages = ((root, 0, ref, record) for ref in dict.fromkeys(value.lineage))
    records = ((root, 1, ref, record) for ref in dict.fromkeys(value.derived_from))
    return [*messages, *records]


def checksum(*parts: object) -> bytes:
    """Of some values of a row: whoever reads it compares."""
    texts = [*map(str, parts)]
    try:
        if "".join(texts).isascii():  # a letter is a byte
            told = "".join([_SIZES_IN_TEXT[len(text)] + text for text in texts]).encode("latin-1")
        else:
            told = b"".join([_SIZES[len(one)] + one for one in [text.encode() for text in texts]])
    except (IndexError, UnicodeEncodeError):  # a long text, or half a character in a damaged row
        coded = [text.encode("utf-8", "surrogatepass") for text in texts]
        told = b"".join([len(one).to_bytes(8, "little") + one for one in coded])
    return blake2b(told, digest_size=CHECKSUM_BYTES).digest()


def checksum_of_texts(
    a: str, b: str, c: str, d: str, e: str, f: str, g: str, h: str, i: str, j: str, k: str
) -> bytes:
    """The same of so many texts in half the time: what records and messages are told by is written
    by the hundred, and looked at whenever it is read."""
    size = _SIZES_IN_TEXT
    try:
        told = "".join((
            size[len(a)], a, size[len(b)], b, size[len(c)], c, size[len(d)], d, size[len(e)], e,
            size[len(f)], f, size[len(g)], g, size[len(h)], h, size[len(i)], i, size[len(j)], j,
            size[len(k)], k,
        ))  # fmt: skip
        if "".join((a, b, c, d, e, f, g, h, i, j, k)).isascii():
            return blake2b(told.encode("latin-1"), digest_size=CHECKSUM_BYTES).digest()
    except (IndexError, TypeError):  # a long text, or a damaged row
        pass
    return checksum(a, b, c, d, e, f, g, h, i, j, k)


# Of what few different values are written. 1 and 1.0 read differently.
_known_state = lru_cache(maxsize=256, typed=True)(checksum)
_rest_checksum = lru_cache(maxsize=256, typed=True)(checksum)  # of a message: all but what it says


# Messages

MESSAGE_COLUMNS = (
    "seq, id, role, at, utc_offset, author, source, trust, pending, expires_at, calls, answers, "
    "text, original"
)


def message_row(message: Message, seq: int) -> tuple[Any, ...]:
    """In the order of ``MESSAGE_COLUMNS``, the checksum behind them."""
    at, offset = micros(message.at), message.at.utcoffset()
    seconds = int(offset.total_seconds()) if offset else 0
    expires, pending = micros_or_none(message.expires_at), int(message.pending)
    calls, answers = "[]", ids_json(message.answers)
    if message.calls:
        calls = to_json([[call.id, call.name, call.arguments] for call in message.calls])
    return (
        seq,
        plain(message.id),
        code(ROLES, message.role),
        at,
        seconds,
        plain(message.author),
        code(SOURCES, message.source),
        message.trust,
        pending,
        expires,
        calls,
        answers,
        message.text,
        message.original,
        checksum_of_texts(
            message.scope, message.session, message.id, str(seq), message.role, str(at),
            message.author, calls, answers, message.text, message.original,
        )
        + _rest_checksum(seconds, message.source, message.trust, pending, expires),
    )  # fmt: skip


def is_sound_message(scope: str, session: str, row: Row) -> bool:
    """Is a message as it was written, whose checksum stands behind its columns? Those of older
    programs have only the first half."""
    try:
        message = message_of(scope, session, row[:14])
        told: bytes = message_row(message, message.seq)[14]
    except Exception:  # whatever a damaged row makes of the decoder
        return False
    stored = bytes(row[14])
    return stored == told[: len(stored)] and len(stored) in (CHECKSUM_BYTES, len(told))


def sound_messages(scope: str, session: str, rows: Iterable[Row]) -> list[Message]:
    """Those that are as they were written; of others see ``sound``."""
    found = []
    for row in rows:
        if is_sound_message(scope, session, row):
            found.append(message_of(scope, session, row))
        elif not leaves_out(f"message {row[1]}"):
            raise damaged(str(row[1]), "message")
    return found


def message_of(scope: str, session: str, row: Row) -> Message:
    (seq, id_, role, at, offset, author, source, trust, pending, expires) = row[:10]
    (calls, answers, text, original) = row[10:14]
    return Message(
        id=id_,
        scope=scope,
        session=session,
        role=ROLES[role],
        text=text,
        at=_in_zone(at, offset),
        original=original,
        calls=tuple(ToolCall(id=i, name=n, arguments=a) for i, n, a in json.loads(calls)),
        answers=_tuple(answers),
        author=author,
        source=SOURCES[source],
        trust=trust,
        seq=seq,
        pending=bool(pending),
        expires_at=moment_or_none(expires),
    )


def _in_zone(number: int, offset: int) -> datetime:
    at = moment(number)
    return at.astimezone(timezone(timedelta(seconds=offset))) if offset else at


# Sessions, summaries, relations, items: as the store has them, with the path of the scope in front
# and a checksum of all the rest behind.

SESSION_COLUMNS = "id, last_seq, channel, policy, state, started_at, ended_at, version"
SUMMARY_COLUMNS = "id, from_seq, to_seq, how, learned_at, lineage, text"


SEALED_KINDS = {
    "session": "sessions",
    "summary": "summaries",
    "relation": "relations",
    "item": "items",
}


def sealed(*row: Any) -> tuple[Any, ...]:
    """A row of one of these kinds with its checksum behind it."""
    return (*row, checksum(*row))


def sound(what: str, rows: Iterable[Row], read: Callable[[Row], T]) -> Iterator[T]:
    """What these rows say. One that is not as it was written is Unavailable, by its name; or it is
    noted, if whoever asks leaves such rows out. Items never are: they are rules and marks (a
    policy, a tombstone), and without one of them the answer would be another."""
    for row in rows:
        if is_as_sealed(row):
            yield read(row)
        elif what == "item" or not leaves_out(f"{what} {NAME_IN_ROW[what](row)}"):
            raise damaged(NAME_IN_ROW[what](row), what)


def strictly_sound(what: str, rows: Iterable[Row]) -> Iterator[Row]:
    """All of them, or Unavailable. For a commit, which would seal anew whatever a row says by now;
    and for a page of many, which would look like the last one."""
    for row in rows:
        if not is_as_sealed(row):
            raise damaged(NAME_IN_ROW[what](row), what)
        yield row


def is_as_sealed(row: Row) -> bool:
    return checksum(*row[:-1]) == bytes(row[-1])


NAME_IN_ROW: Mapping[str, Callable[[Row], str]] = {
    "session": lambda row: str(row[1]),
    "summary": lambda row: str(row[2]),
    "relation": lambda row: f"{row[1]} {_named(RELATIONS, row[3])} {row[2]}",
    "item": lambda row: f"{row[1]}/{row[2]}",
}


def _named(names: Sequence[str], number: Any) -> str:
    known = isinstance(number, int) and 0 <= number < len(names)
    return names[number] if known else "?"


def session_row(session: Session) -> tuple[Any, ...]:
    """Scope, ``SESSION_COLUMNS``, cursors, checksum."""
    return sealed(
        session.scope,
        plain(session.id),
        session.last_seq,
        plain(session.channel),
        plain(session.policy),
        to_json(dict(session.state)),
        micros_or_none(session.started_at),
        micros_or_none(session.ended_at),
        session.version,
        cursors_json({plain(reader): seq for reader, seq in session.cursors.items()}),
    )


def cursors_json(cursors: Mapping[str, int]) -> str:
    """In one order, whoever kept them."""
    return to_json(dict(sorted(cursors.items())))


def session_of(row: Row) -> Session:
    scope, id_, last_seq, channel, policy, state, started, ended, version, cursors, _ = row
    return Session(
        scope=scope,
        id=id_,
        cursors=json.loads(cursors),
        last_seq=last_seq,
        channel=channel,
        policy=policy,
        state=json.loads(state) if state != "{}" else {},
        started_at=moment_or_none(started),
        ended_at=moment_or_none(ended),
        version=version,
    )


def summary_row(summary: Summary) -> tuple[Any, ...]:
    """Scope, session, ``SUMMARY_COLUMNS``, checksum."""
    return sealed(
        summary.scope,
        plain(summary.session),
        plain(summary.id),
        summary.from_seq,
        summary.to_seq,
        code(HOWS, summary.how),
        micros(summary.learned_at),
        to_json(summary.lineage),
        summary.text,
    )


def summary_of(row: Row) -> Summary:
    scope, session, id_, from_seq, to_seq, how, learned, lineage, text, _ = row
    return Summary(
        id=id_,
        scope=scope,
        session=session,
        from_seq=from_seq,
        to_seq=to_seq,
        text=text,
        how="model" if how == 0 else "extract",
        lineage=_tuple(lineage),
        learned_at=moment(learned),
    )


def relation_row(relation: Relation) -> tuple[Any, ...]:
    """Scope, source, target, kind, learned_at, retired_at, version, lineage, checksum."""
    return sealed(
        relation.scope,
        relation.source,
        relation.target,
        code(RELATIONS, relation.kind),
        micros(relation.learned_at),
        micros_or_none(relation.retired_at),
        relation.version,
        to_json(relation.lineage),
    )


def relation_of(row: Row) -> Relation:
    scope, source, target, kind, learned, retired, version, lineage, _ = row
    return Relation(
        scope=scope,
        source=source,
        target=target,
        kind=RELATIONS[kind],
        learned_at=moment(learned),
        lineage=_tuple(lineage),
        retired_at=moment_or_none(retired),
        version=version,
    )


def item_row(item: Item) -> tuple[Any, ...]:
    """Scope, namespace, key, value, expires_at, version, checksum."""
    return sealed(
        item.scope,
        plain(item.namespace),
        plain(item.key),
        to_json(item.value),
        micros_or_none(item.expires_at),
        item.version,
    )


def item_of(row: Row) -> Item:
    scope, namespace, key, value, expires, version, _ = row
    return Item(
        scope=scope,
        namespace=namespace,
        key=key,
        value=json.loads(value),
        expires_at=moment_or_none(expires),
        version=version,
    )


def touch_of(row: Row) -> Touch:
    kind, ref, scope, before, after = row
    return Touch(
        kind=cast(Any, TOUCHES[kind]),
        id=ref,
        scope=scope,
        before=None if before is None else json.loads(before),
        after=None if after is None else json.loads(after),
    )
