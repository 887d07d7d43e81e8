"""Which messages and records the tombstones of a root stand for, whatever store they are in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from recollect.forgotten.tombstones import NAMESPACE, message_mark, text_mark
from recollect.ports import Store
from recollect.text.compare import text_hash
from recollect.text.messages import searchable_text
from recollect.types import Item, Message, Record, SessionKey, Summary

PAGE = 500

MessageKey = tuple[SessionKey, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Burials:
    """The tombstones of one root in ``store``, and the key they were made with."""

    store: Store
    root: str
    key: bytes
    now: datetime

    @classmethod
    async def of(cls, store: Store, root: str, now: datetime) -> Burials | None:
        """None while nothing was ever forgotten in this root."""
        secret = await secret_of(store, root, now)
        key = secret_key(secret.value) if secret else b""
        return cls(store=store, root=root, key=key, now=now) if key else None

    async def messages(self, messages: Sequence[Message]) -> set[MessageKey]:
        """The very message, or the same text said no later than the erasure."""
        by_id = {key_of(m): message_mark(self.key, m.scope, m.session, m.id) for m in messages}
        by_text = {key_of(m): self._text_mark(m.scope, searchable_text(m)) for m in messages}
        stones = await self._stones([*by_id.values(), *by_text.values()])
        return {
            key_of(message)
            for message in messages
            if by_id[key_of(message)] in stones
            or _covers(stones.get(by_text[key_of(message)]), message.at)
        }

    async def records(self, records: Sequence[Record]) -> set[str]:
        """Made from a forgotten message, or saying what was forgotten at or after they were
        learned."""
        marks = {record.id: self._text_mark(record.scope, record.text) for record in records}
        made_of = {record.id: self._lineage_marks(record) for record in records}
        stones = await self._stones(
            [*marks.values(), *(mark for marks in made_of.values() for mark in marks)]
        )
        return {
            record.id
            for record in records
            if _covers(stones.get(marks[record.id]), record.learned_at)
            or any(mark in stones for mark in made_of[record.id])
        }

    async def summaries(self, summaries: Sequence[Summary]) -> set[str]:
        marks = {
            summary.id: [
                message_mark(self.key, summary.scope, summary.session, id_)
                for id_ in summary.lineage
            ]
            for summary in summaries
        }
        stones = await self._stones([mark for some in marks.values() for mark in some])
        return {id_ for id_, some in marks.items() if any(mark in stones for mark in some)}

    def _text_mark(self, scope: str, text: str) -> str:
        return text_mark(self.key, scope, text_hash(text))

    def _lineage_marks(self, record: Record) -> list[str]:
        if not record.session:
            return []
        return [message_mark(self.key, *record.session_key, id_) for id_ in record.lineage]

    async def _stones(self, marks: Iterable[str]) -> dict[str, Item]:
        wanted = list(dict.fromkeys(marks))
        found: dict[str, Item] = {}
        for start in range(0, len(wanted), PAGE):
            part = wanted[start : start + PAGE]
            items = await self.store.items(
                self.root, NAMESPACE, now=self.now, keys=part, limit=len(part)
            )
            found |= {item.key: item for item in items}
        return found


@dataclass(slots=True, kw_only=True)
class Forgotten:
    """What must not come back, as far as it is known: from tombstones, and derived from that."""

    messages: dict[SessionKey, dict[str, int]] = field(default_factory=dict)  # with numbers
    records: set[str] = field(default_factory=set)

    def add_message(self, message: Message) -> None:
        key, id_ = key_of(message)
        self.messages.setdefault(key, {})[id_] = message.seq

    def has_message(self, message: Message) -> bool:
        key, id_ = key_of(message)
        return id_ in self.messages.get(key, ())

    def has_record(self, record: Record) -> bool:
        """Is it forgotten itself, or made from something that is?"""
        messages = self.messages.get(record.session_key, {})
        return (
            record.id in self.records
            or any(id_ in messages for id_ in record.lineage)
            or any(id_ in self.records for id_ in record.derived_from)
        )

    def has_summary(self, summary: Summary) -> bool:
        """Does it cover a forgotten message, or build on a summary that did?"""
        messages = self.messages.get(SessionKey(summary.scope, summary.session), {})
        return any(id_ in messages for id_ in summary.lineage) or any(
            0 < seq <= summary.to_seq for seq in messages.values()
        )


def key_of(message: Message) -> MessageKey:
    return SessionKey(message.scope, message.session), message.id


async def secret_of(store: Store, root: str, now: datetime) -> Item | None:
    items = await store.items(root, "secret", now=now, keys=(NAMESPACE,))
    return items[0] if items else None


def secret_key(value: object) -> bytes:
    """Empty if it is no key."""
    try:
        return bytes.fromhex(value) if isinstance(value, str) else b""
    except ValueError:
        return b""


def _covers(stone: Item | None, moment: datetime) -> bool:
    """A stone whose time cannot be read stands for ever."""
    if stone is None:
        return False
    try:
        return moment <= datetime.fromisoformat(stone.value)
    except (TypeError, ValueError):
        return True
