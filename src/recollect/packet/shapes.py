"""Messages as a model's API wants them: OpenAI- or Anthropic-shaped.

Both refuse a tool answer without its call and a call without its answer. Such leftovers become
plain text, so that what was said is still seen.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from recollect.types import Message, ToolCall
from recollect.types.arguments import Shape as Shape

Dict = dict[str, Any]

# What observe() adds to a message and an API would refuse.
_OURS = {"id", "at", "timestamp", "created_at", "author"}


def shaped(messages: Sequence[Message], shape: Shape) -> list[Dict]:
    answered = {id_ for message in messages for id_ in message.answers}
    called = {call.id for message in messages for call in message.calls}
    whole = answered & called
    if shape == "anthropic":
        return _alternating([part for m in messages for part in _anthropic(m, whole)])
    return [part for m in messages for part in _openai(m, whole)]


def _openai(message: Message, whole: set[str]) -> list[Dict]:
    original = _original(message)
    clean = all(call.id in whole for call in message.calls) and whole.issuperset(message.answers)
    if original and clean and not _has_anthropic_blocks(original):
        return [{key: value for key, value in original.items() if key not in _OURS}]
    parts: list[Dict] = [
        {"role": "tool", "tool_call_id": id_, "content": text}
        for id_, text in _answers(message, original)
        if id_ in whole
    ]
    text = _text_with_leftovers(message, original, whole)
    calls = [call for call in message.calls if call.id in whole]
    if calls:
        parts.append(
            {
                "role": "assistant",
                "content": text or None,
                "tool_calls": [_openai_call(call) for call in calls],
            }
        )
    elif text or not parts:
        parts.append({"role": _openai_role(message, bool(message.answers)), "content": text})
    return parts


def _openai_role(message: Message, held_answers: bool) -> str:
    if message.role in ("tool", "function") or held_answers:
        return "user"
    return "assistant" if message.role == "note" else message.role


def _openai_call(call: ToolCall) -> Dict:
    function = {"name": call.name, "arguments": call.arguments or "{}"}
    return {"id": call.id, "type": "function", "function": function}


def _anthropic(message: Message, whole: set[str]) -> list[Dict]:
    if message.role in ("system", "developer"):
        return []  # belongs into the system prompt, which is the caller's
    original = _original(message)
    blocks: list[Dict] = [
        {"type": "tool_result", "tool_use_id": id_, "content": text}
        for id_, text in _answers(message, original)
        if id_ in whole
    ]
    text = _text_with_leftovers(message, original, whole)
    if text:
        blocks.append({"type": "text", "text": text})
    blocks += [_anthropic_call(call) for call in message.calls if call.id in whole]
    if not blocks:
        return []
    role = "assistant" if message.role in ("assistant", "note") else "user"
    return [{"role": role, "content": blocks}]


def _anthropic_call(call: ToolCall) -> Dict:
    try:
        given = json.loads(call.arguments or "{}")
    except ValueError:
        given = call.arguments
    arguments = given if isinstance(given, dict) else {"arguments": given}
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments}


def _alternating(parts: list[Dict]) -> list[Dict]:
    """User and assistant in turn, the user first."""
    merged: list[Dict] = []
    for part in parts:
        if merged and merged[-1]["role"] == part["role"]:
            merged[-1] = {**part, "content": [*merged[-1]["content"], *part["content"]]}
        else:
            merged.append(part)
    while merged and merged[0]["role"] != "user":
        merged = merged[1:]
    return merged


def _original(message: Message) -> Mapping[str, Any]:
    loaded = json.loads(message.original) if message.original else {}
    return loaded if isinstance(loaded, dict) else {}


def _blocks(original: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = original.get("content")
    return [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []


def _has_anthropic_blocks(original: Mapping[str, Any]) -> bool:
    return any(block.get("type") in ("tool_use", "tool_result") for block in _blocks(original))


def _answers(message: Message, original: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Each answered id with its own text."""
    found = [
        (str(block.get("tool_use_id") or ""), _plain(block.get("content")))
        for block in _blocks(original)
        if block.get("type") == "tool_result"
    ]
    return found or [(id_, message.text) for id_ in message.answers]


def _plain(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(_plain(part) for part in content)
    return str(content.get("text") or "") if isinstance(content, dict) else ""


def _text_with_leftovers(message: Message, original: Mapping[str, Any], whole: set[str]) -> str:
    """What is said beside complete calls and answers."""
    if message.answers:
        own = "\n".join(str(b["text"]) for b in _blocks(original) if isinstance(b.get("text"), str))
    else:
        own = message.text
    lines = [own] if own else []
    lines += [
        f"[tool answer: {text}]" for id_, text in _answers(message, original) if id_ not in whole
    ]
    lines += [
        f"[called {call.name}({call.arguments}), no answer]"
        for call in message.calls
        if call.id not in whole
    ]
    return "\n".join(lines)
