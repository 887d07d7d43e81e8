"""What the dict store holds, and how a half-done commit is taken back."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple, Protocol, TypeVar

from recollect.errors import Invalid
from recollect.scopes import root_of
from recollect.text import analysis
from recollect.types import Entry, Item, Message, Record, Relation, Session, Summary, Vector

K = TypeVar("K")
V = TypeVar("V")

_ABSENT = object()


class Expiring(Protocol):
    @property
    def expires_at(self) -> datetime | None: ...


def is_expired(thing: Expiring, now: datetime) -> bool:
    return thing.expires_at is not None and thing.expires_at <= now


class Row(NamedTuple):
    """A record with everything that is indexed for it, so that dropping one drops the other."""

    record: Record
    counts: Mapping[str, int]  # how often it holds each term
    length: int  # in terms
    vectors: Mapping[str, Vector]  # by space


def row_of(record: Record) -> Row:
    found = analysis.document_terms(record.text, record.author)
    return Row(record, Counter(found), len(found), {})


class Tables:
    """Plain dicts of frozen values. Nothing depends on their order: every read sorts."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self.relations: dict[tuple[str, str, str], Relation] = {}  # source, kind, target
        self.sessions: dict[tuple[str, str], Session] = {}  # scope, id
        self.messages: dict[tuple[str, str, str], Message] = {}  # scope, session, id
        self.summaries: dict[str, Summary] = {}
        self.items: dict[tuple[str, str, str], Item] = {}  # scope, namespace, key
        self.entries: dict[tuple[str, int], Entry] = {}  # root, seq
        self.numbers: dict[tuple[str, str], int] = {}  # root, batch id -> seq
        self.heads: dict[str, int] = {}  # root -> seq of its last entry
        self._log: list[tuple[dict[Any, Any], Any, Any]] = []

    def put(self, table: dict[K, V], key: K, value: V) -> None:
        self._log.append((table, key, table.get(key, _ABSENT)))
        table[key] = value

    def drop(self, table: dict[K, V], key: K) -> None:
        if key in table:
            self._log.append((table, key, table.pop(key)))

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Whatever is put or dropped inside is taken back if the body raises."""
        self._log.clear()
        try:
            yield
        except BaseException:
            for table, key, old in reversed(self._log):
                if old is _ABSENT:
                    del table[key]
                else:
                    table[key] = old
            raise
        finally:
            self._log.clear()

    def drop_record(self, id_: str) -> None:
        """Remove a record with its index rows, vectors and relations."""
        self.drop(self.rows, id_)
        for key in [key for key in self.relations if id_ in (key[0], key[2])]:
            self.drop(self.relations, key)

    def record_in(self, root: str, id_: str, now: datetime) -> Record | None:
        """The unexpired record of this root, if there is one."""
        row = self.rows.get(id_)
        if row is None or root_of(row.record.scope) != root or is_expired(row.record, now):
            return None
        return row.record


def detached_record(record: Record) -> Record:
    """A copy that shares nothing that can be changed from outside."""
    return replace(record, data=plain_json(record.data)) if record.data else record


def detached_session(session: Session) -> Session:
    return replace(session, cursors=dict(session.cursors), state=plain_json(session.state))


def detached_item(item: Item) -> Item:
    return replace(item, value=plain_json(item.value))


def plain_json(value: Any) -> Any:
    """The value as JSON gives it back; Invalid if JSON cannot hold it."""
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise Invalid(f"a stored value must be plain JSON: {error}") from error
