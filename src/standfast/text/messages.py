"""Turning what agents send into Message values; ``dialects`` knows the shapes.

Nothing is lost: whatever role, text and tool calls do not say stays in ``original``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from standfast.errors import Invalid
from standfast.text.dialects import Body, Part, bodies_of, parts_of, plain_json
from standfast.text.inputs import (
    MESSAGE_BYTES_MAX,
    When,
    clean_name,
    clean_text,
    clean_value,
    moment,
)
from standfast.text.redact import Redactor, Secret
from standfast.types import PERSON_TRUST, TRUST_OF_SOURCE, Message, Source, ToolCall
from standfast.types.arguments import MessageInput as MessageInput
from standfast.types.frozen import frozen

SOURCE_OF_ROLE: Mapping[str, Source] = {
    "user": "user",
    "system": "system",
    "developer": "system",
    "assistant": "assistant",
    "note": "assistant",
    "tool": "tool",
    "function": "tool",
}

# Fields that ``Message`` carries by itself when the content is plain text.
_PLAIN = {"role", "content", "id", "at", "author"}
_NOT_SECRET = {"role", "id", "at", "tool_call_id", "type", "kind", "call_id"}


@frozen
class Taken:
    """A message that came in, and what had to be said about it."""

    message: Message
    notes: tuple[str, ...]


def _as_claimed(source: Source) -> Source:
    return source


@frozen
class Intake:
    """What applies to every message of one call."""

    scope: str
    session: str
    now: datetime
    redactor: Redactor
    new_id: Any
    author: str = ""
    source: Source | None = None
    source_of: Callable[[Source], Source] = _as_claimed
    trust_max: int = PERSON_TRUST
    pending: bool = False
    expires_at: datetime | None = None


def take_in(messages: MessageInput | Iterable[MessageInput], intake: Intake) -> list[Taken]:
    """Check and normalise all of them, or raise Invalid naming the first that is wrong."""
    single = isinstance(messages, str | Mapping)
    listed: list[Any] = [messages] if single else list(_iterated(messages))
    taken: list[Taken] = []
    for number, raw in enumerate(listed):
        try:
            taken.extend(_take_in_one(raw, intake))
        except Invalid as error:
            raise Invalid(f"message {number}: {error}") from None
    return taken


def _iterated(messages: Any) -> Iterable[Any]:
    try:
        yield from messages
    except TypeError:
        raise Invalid(
            f"messages must be text, a message or a list of them, not {type(messages).__name__}"
        ) from None


def _take_in_one(raw: Any, intake: Intake) -> Iterable[Taken]:
    if isinstance(raw, str):
        raw = {"role": "user", "content": raw}
    elif not isinstance(raw, Mapping):
        raw = plain_json(raw)
    if not isinstance(raw, Mapping):
        raise Invalid(
            f"a message is text or a mapping with role and content, not {type(raw).__name__}"
        )
    at, note = moment(_time_of(raw), "at")
    named = _id_of(raw)
    bodies = bodies_of({k: v for k, v in raw.items() if k != "at"})
    for number, body in enumerate(bodies):
        name = f"{named}/{number}" if named and number else named
        yield _taken(body, intake, name or intake.new_id(), at, note)


def _taken(body: Body, intake: Intake, id_: str, at: datetime | None, note: str) -> Taken:
    safe, findings = _redacted(body.original, intake.redactor)
    parts = parts_of(safe)
    text, repaired = clean_text(text_of(parts), "a message", MESSAGE_BYTES_MAX)
    source = intake.source_of(intake.source or SOURCE_OF_ROLE[body.role])
    message = Message(
        id=id_,
        scope=intake.scope,
        session=intake.session,
        role=body.role,
        text=text,
        at=at or intake.now,
        original=_original(safe),
        calls=tuple(
            ToolCall(id=part.id, name=part.name, arguments=part.arguments)
            for part in parts
            if part.kind == "call"
        ),
        answers=tuple(part.id for part in parts if part.kind == "answer"),
        author=_author_of(body.original) or intake.author,
        source=source,
        trust=min(TRUST_OF_SOURCE[source], intake.trust_max),
        pending=intake.pending,
        expires_at=intake.expires_at,
    )
    said = (note, repaired, redaction_note(findings))
    return Taken(message=message, notes=tuple(note for note in said if note))


def _id_of(raw: Mapping[str, Any]) -> str:
    return clean_name(raw["id"], "id") if raw.get("id") and not raw.get("lc") else ""


def _time_of(raw: Mapping[str, Any]) -> When | None:
    for name in ("at", "timestamp", "created_at"):
        if raw.get(name) is not None:
            found: When = raw[name]
            return found
    return None


def _author_of(raw: Mapping[str, Any]) -> str:
    name = raw.get("author") or raw.get("name") or ""
    return clean_name(name, "author") if name else ""


def _redacted(
    raw: Mapping[str, Any], redactor: Redactor
) -> tuple[dict[str, Any], tuple[Secret, ...]]:
    body = clean_value(dict(raw), "a message")
    secret = {key: value for key, value in body.items() if key not in _NOT_SECRET}
    if secret.keys() == {"content"} and isinstance(secret["content"], str):
        redacted = redactor.redact(secret["content"])  # most messages are nothing but text
        return {**body, "content": redacted.text}, redacted.found
    safe, findings = redactor.redact_value(secret)
    return {key: safe.get(key, value) for key, value in body.items()}, findings


def redaction_note(findings: Sequence[Secret]) -> str:
    return "redacted: " + ", ".join(sorted({f.kind for f in findings})) if findings else ""


def _original(body: Mapping[str, Any]) -> str:
    if body.keys() <= _PLAIN and isinstance(body.get("content"), str):
        return ""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def text_of(parts: Iterable[Part]) -> str:
    """The readable part of a message: its text and what tools answered, in order."""
    return "\n".join(p.text for p in parts if p.kind in ("text", "answer") and p.text)


def searchable_text(message: Message) -> str:
    """What a turn is found by: its text, or the calls it made when it says nothing."""
    if message.text.strip():
        return message.text
    return "\n".join(f"{call.name}({call.arguments})" for call in message.calls)


def turn_id(scope: str, session: str, message: str) -> str:
    """The same message always makes the same turn."""
    name = "\0".join((scope, session, message)).encode()
    return hashlib.blake2b(name, digest_size=16).hexdigest()
