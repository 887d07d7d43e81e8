"""What the proxy has to understand of a request and of an answer; everything else is not read."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Dialect = Literal["chat", "responses"]
Body = dict[str, Any]

_FIRST = ("system", "developer")


def dialect_of(method: str, path: str) -> Dialect | None:
    if method != "POST":
        return None
    if path.endswith("/chat/completions"):
        return "chat"
    return "responses" if path.endswith("/responses") else None


def read_body(raw: bytes, dialect: Dialect) -> Body | None:
    """None for what is no such request: it is passed on for the other side to refuse."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(body, dict):
        return None
    if dialect == "chat":
        return body if isinstance(body.get("messages"), list) else None
    return body if isinstance(body.get("input"), str | list) else None


def said_in(body: Body, dialect: Dialect) -> list[dict[str, Any]]:
    """The messages of a request, without those that only instruct."""
    listed = body["messages"] if dialect == "chat" else body["input"]
    if isinstance(listed, str):
        listed = [{"role": "user", "content": listed}]
    return [
        dict(one) for one in listed if isinstance(one, Mapping) and one.get("role") not in _FIRST
    ]


def question_in(said: Iterable[Mapping[str, Any]]) -> str:
    """The words of the newest message of the user."""
    asked = [one for one in said if one.get("role") == "user"]
    return _text(asked[-1].get("content")) if asked else ""


def with_packet(body: Body, dialect: Dialect, text: str) -> Body:
    """The same request with the packet behind its instructions."""
    if dialect == "responses":
        told = body.get("instructions")
        both = f"{told}\n\n{text}" if isinstance(told, str) and told else text
        return {**body, "instructions": both}
    messages = list(body["messages"])
    place = 0
    while place < len(messages) and _role(messages[place]) in _FIRST:
        place += 1
    packet = {"role": _role(messages[0]) if place else "system", "content": text}
    return {**body, "messages": [*messages[:place], packet, *messages[place:]]}


def session_of(body: Body, dialect: Dialect) -> str:
    """Whoever sends a whole conversation begins it with the same words each time."""
    said = said_in(body, dialect)
    first = json.dumps(said[:1], ensure_ascii=False, sort_keys=True)
    return "proxy/" + hashlib.blake2b(first.encode(), digest_size=8).hexdigest()


def numbered(said: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Each with an id from its words, those before it, and how often that came already: what is
    sent again is known, also where a client leaves out what is old."""
    before, often = "", Counter[str]()
    for one in said:
        told = json.dumps(one, ensure_ascii=False, sort_keys=True, default=str)
        pair = f"{before}\0{told}"
        id_ = hashlib.blake2b(f"{often[pair]}\0{pair}".encode(), digest_size=12).hexdigest()
        before = told
        often[pair] += 1
        if one.get("type") in (None, "message") and one.get("role"):
            yield {**one, "id": id_}
        else:  # a call of a tool, its output: kept, and read as far as it is understood
            yield {"role": "note", "content": "", "item": dict(one), "id": id_}


@dataclass(slots=True)
class Listening:
    """Collects what an answer says while its bytes pass by."""

    dialect: Dialect
    limit: int = 4 << 20
    _held: bytearray = field(default_factory=bytearray)  # of a stream: the line that is not whole
    _texts: list[str] = field(default_factory=list)
    _said: int = 0  # characters of them
    _streamed: bool = False

    def hear(self, piece: bytes) -> None:
        """Takes as long as the piece is, into however many an answer is cut."""
        if len(self._held) + self._said > self.limit:
            return
        if not self._held and not self._streamed:
            piece = piece.lstrip()
            self._streamed = piece[:1] in (b"d", b"e", b":")
        if self._streamed:
            first, *more = piece.split(b"\n")
            self._held += first
            for part in more:
                self._event(bytes(self._held).strip())
                self._held = bytearray(part)
        else:
            self._held += piece

    def _event(self, line: bytes) -> None:
        if not line.startswith(b"data:"):
            return
        try:
            event = json.loads(line[5:])
        except (ValueError, RecursionError):
            return
        if isinstance(event, dict):
            self._texts.append(_delta(event, self.dialect))
            self._said += len(self._texts[-1])

    def answer(self) -> dict[str, Any] | None:
        """What the assistant said; None if it said nothing that could be read."""
        if self._streamed:
            text = "".join(self._texts)
            return {"role": "assistant", "content": text} if text else None
        try:
            whole = json.loads(self._held)
        except (ValueError, RecursionError):
            return None
        if not isinstance(whole, dict):
            return None
        return _message(whole) if self.dialect == "chat" else _output(whole)


def _delta(event: Mapping[str, Any], dialect: Dialect) -> str:
    if dialect == "responses":
        spoken = event.get("type") == "response.output_text.delta"
        return str(event.get("delta") or "") if spoken else ""
    choices = event.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    delta = first.get("delta") if isinstance(first, Mapping) else None
    content = delta.get("content") if isinstance(delta, Mapping) else None
    return content if isinstance(content, str) else ""


def _message(whole: Mapping[str, Any]) -> dict[str, Any] | None:
    choices = whole.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, Mapping) else None
    if not isinstance(message, Mapping):
        return None
    if not message.get("content") and not message.get("tool_calls"):
        return None
    return {**message, "role": "assistant"}


def _output(whole: Mapping[str, Any]) -> dict[str, Any] | None:
    texts = [
        str(part.get("text") or "")
        for item in whole.get("output") or ()
        if isinstance(item, Mapping) and item.get("type") == "message"
        for part in item.get("content") or ()
        if isinstance(part, Mapping)
    ]
    text = "".join(texts)
    return {"role": "assistant", "content": text} if text else None


def _role(message: Any) -> str:
    return str(message.get("role")) if isinstance(message, Mapping) else ""


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    texts = [part.get("text") for part in parts if isinstance(part, Mapping)]
    return "\n".join(text for text in texts if isinstance(text, str))
