"""Secrets do not come in through an import either: an export made elsewhere may hold some."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from standfast.text.compare import record_hash, text_hash
from standfast.text.inputs import clean_text
from standfast.text.redact import Redactor
from standfast.types import Entry, Item, Message, Record, Session, Summary, Touch

# Fields of a message's original that are names, not content.
_NOT_SECRET = ("role", "id", "at", "tool_call_id", "type")


def clean_message(message: Message, redactor: Redactor) -> Message:
    return replace(
        message,
        text=_clean(message.text, redactor),
        original=_clean_original(message.original, redactor),
        calls=tuple(
            replace(call, arguments=redactor.redact(call.arguments).text) for call in message.calls
        ),
    )


def _clean(text: str, redactor: Redactor) -> str:
    return redactor.redact(clean_text(text, "text", len(text) * 4)[0]).text


def _clean_original(original: str, redactor: Redactor) -> str:
    try:
        body = json.loads(original) if original else None
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        return redactor.redact(original).text
    content = {key: value for key, value in body.items() if key not in _NOT_SECRET}
    safe, found = redactor.redact_value(content)
    if not found:
        return original
    whole = {key: safe.get(key, value) for key, value in body.items()}
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":"))


def clean_record(record: Record, redactor: Redactor) -> Record:
    text = _clean(record.text, redactor)
    data, tags = _clean_value([record.data, list(record.tags)], redactor)
    return replace(record, text=text, data=data, tags=tuple(tags), hash=_hash_of(record, text))


def _hash_of(record: Record, text: str) -> str:
    """A dated episode's hash says more than its text; what it said stays part of it."""
    if text == record.text or not record.hash:
        return record.hash
    plain = record.hash == text_hash(record.text)
    return record_hash(text if plain else f"{text}\n{record.hash}")


def clean_summary(summary: Summary, redactor: Redactor) -> Summary:
    return replace(summary, text=_clean(summary.text, redactor))


def clean_session(session: Session, redactor: Redactor) -> Session:
    return replace(session, state=_clean_value(session.state, redactor))


def clean_item(item: Item, redactor: Redactor) -> Item:
    return replace(item, value=_clean_value(item.value, redactor))


def clean_entry(entry: Entry, redactor: Redactor) -> Entry:
    return replace(entry, touched=tuple(_clean_touch(touch, redactor) for touch in entry.touched))


def _clean_touch(touch: Touch, redactor: Redactor) -> Touch:
    return replace(
        touch,
        before=_clean_value(touch.before, redactor),
        after=_clean_value(touch.after, redactor),
    )


def _clean_value(value: Any, redactor: Redactor) -> Any:
    safe, found = redactor.redact_value(value)
    return safe if found else value
