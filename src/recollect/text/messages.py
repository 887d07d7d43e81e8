"""Turning what agents send (strings, OpenAI- and Anthropic-shaped messages) into Message values.

Nothing is lost: whatever role, text and tool calls do not say stays in ``original``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollect.errors import Invalid
from recollect.text.inputs import (
    MESSAGE_BYTES_MAX,
    When,
    clean_name,
    clean_text,
    clean_value,
    moment,
    one_of,
)
from recollect.text.redact import Redactor, Secret
from recollect.types import TRUST_OF_SOURCE, Message, Role, Source, ToolCall
from recollect.types.arguments import MessageInput as MessageInput

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
_NOT_SECRET = {"role", "id", "at", "tool_call_id", "type"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A message that came in, and what had to be said about it."""

    message: Message
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Intake:
    """What applies to every message of one call."""

    scope: str
    session: str
    now: datetime
    redactor: Redactor
    new_id: Any
    author: str = ""
    source: Source | None = None
    pending: bool = False
    expires_at: datetime | None = None


def take_in(messages: MessageInput | Iterable[MessageInput], intake: Intake) -> list[Taken]:
    """Check and normalise all of them, or raise Invalid naming the first that is wrong."""
    single = isinstance(messages, str | Mapping)
    listed: list[Any] = [messages] if single else list(_iterated(messages))
    taken: list[Taken] = []
    for number, raw in enumerate(listed):
        try:
            taken.append(_take_in_one(raw, intake))
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


def _take_in_one(raw: Any, intake: Intake) -> Taken:
    if isinstance(raw, str):
        raw = {"role": "user", "content": raw}
    elif not isinstance(raw, Mapping) and hasattr(raw, "model_dump"):
        raw = raw.model_dump(exclude_none=True)
    if not isinstance(raw, Mapping):
        raise Invalid(
            f"a message is text or a mapping with role and content, not {type(raw).__name__}"
        )
    role: Role = one_of(raw.get("role", "user"), Role, "role")
    at, note = moment(_time_of(raw), "at")
    body, findings = _redacted({k: v for k, v in raw.items() if k != "at"}, intake.redactor)
    text, repaired = clean_text(text_of(body), "a message", MESSAGE_BYTES_MAX)
    source = intake.source or SOURCE_OF_ROLE[role]
    message = Message(
        id=clean_name(raw["id"], "id") if raw.get("id") else intake.new_id(),
        scope=intake.scope,
        session=intake.session,
        role=role,
        text=text,
        at=at or intake.now,
        original=_original(body),
        calls=_calls_of(body),
        answers=_answers_of(body),
        author=_author_of(raw) or intake.author,
        source=source,
        trust=TRUST_OF_SOURCE[source],
        pending=intake.pending,
        expires_at=intake.expires_at,
    )
    said = (note, repaired, redaction_note(findings))
    return Taken(message=message, notes=tuple(note for note in said if note))


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


def text_of(body: Mapping[str, Any]) -> str:
    """The readable part of a message: its text blocks and tool results, in order."""
    return "\n".join(part for part in _texts(body.get("content")) if part)


def _texts(content: Any) -> Iterable[str]:
    if content is None:
        return
    if isinstance(content, str):
        yield content
    elif isinstance(content, Mapping):
        yield from _texts([content])
    elif isinstance(content, list):
        for block in content:
            if isinstance(block, str):
                yield block
            elif isinstance(block, Mapping):
                if isinstance(block.get("text"), str):
                    yield block["text"]
                elif block.get("type") == "tool_result":
                    yield from _texts(block.get("content"))
            else:
                raise Invalid(f"content holds a {type(block).__name__}; use text or blocks")
    else:
        raise Invalid(f"content must be text or a list of blocks, not {type(content).__name__}")


def _blocks(body: Mapping[str, Any], kind: str) -> Iterable[Mapping[str, Any]]:
    content = body.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, Mapping) and block.get("type") == kind:
            yield block


def _calls_of(body: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    calls: list[ToolCall] = []
    listed = body.get("tool_calls") or []
    if not isinstance(listed, list):
        raise Invalid("tool_calls must be a list")
    for call in listed:
        if not isinstance(call, Mapping):
            raise Invalid("a tool call is a mapping with id and function")
        function = call.get("function")
        named = function if isinstance(function, Mapping) else call
        calls.append(_call(call.get("id"), named.get("name"), named.get("arguments")))
    calls.extend(
        _call(block.get("id"), block.get("name"), block.get("input"))
        for block in _blocks(body, "tool_use")
    )
    return tuple(calls)


def _call(id_: Any, name: Any, arguments: Any) -> ToolCall:
    if arguments is not None and not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    return ToolCall(id=str(id_ or ""), name=str(name or ""), arguments=arguments or "")


def _answers_of(body: Mapping[str, Any]) -> tuple[str, ...]:
    answered = [str(body["tool_call_id"])] if body.get("tool_call_id") else []
    answered += [str(b.get("tool_use_id") or "") for b in _blocks(body, "tool_result")]
    return tuple(answered)


def searchable_text(message: Message) -> str:
    """What a turn is found by: its text, or the calls it made when it says nothing."""
    if message.text.strip():
        return message.text
    return "\n".join(f"{call.name}({call.arguments})" for call in message.calls)


def turn_id(scope: str, session: str, message: str) -> str:
    """The same message always makes the same turn."""
    name = "\0".join((scope, session, message)).encode()
    return hashlib.blake2b(name, digest_size=16).hexdigest()
