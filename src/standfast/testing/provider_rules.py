"""What OpenAI Chat, Anthropic and Gemini refuse in a list of messages, as they publish it.

Each function answers with everything that is wrong; nothing is sent anywhere. The end of a list
is not judged: the caller appends the question.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Messages = Sequence[Mapping[str, Any]]

_OPENAI_ROLES = {"system", "developer", "user", "assistant", "tool"}
_OPENAI_FIELDS = {
    "role", "content", "name", "tool_calls", "tool_call_id", "refusal", "audio", "annotations",
}  # fmt: skip
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_GEMINI_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.-]{0,63}")
_ANTHROPIC_ID = re.compile(r"[a-zA-Z0-9_-]+")
_THOUGHTS = ("thinking", "redacted_thinking")


# OpenAI Chat


def openai_problems(messages: Messages) -> list[str]:
    return [f"message {n}: {wrong}" for n, wrong in _openai(messages)]


def _openai(messages: Messages) -> Iterator[tuple[int, str]]:
    waiting: list[str] = []  # calls that the next messages have to answer
    for n, message in enumerate(messages):
        role = message.get("role")
        if role not in _OPENAI_ROLES:
            yield n, f"role {role!r}"
        if unknown := message.keys() - _OPENAI_FIELDS:
            yield n, f"unknown fields {sorted(unknown)}"
        if role == "tool":
            if message.get("tool_call_id") not in waiting:
                yield n, "a tool message without a call just before it"
            else:
                waiting.remove(message["tool_call_id"])
            if not message.get("content"):
                yield n, "a tool message without content"
            continue
        if waiting:
            yield n, f"calls {waiting} were not answered"
        waiting = []
        yield from ((n, wrong) for wrong in _openai_calls(message))
        waiting = [call["id"] for call in message.get("tool_calls") or ()]
        yield from ((n, wrong) for wrong in _openai_content(message))
    if waiting:
        yield len(messages), f"calls {waiting} were not answered"


def _openai_calls(message: Mapping[str, Any]) -> Iterator[str]:
    calls = message.get("tool_calls")
    if calls is None:
        return
    if message.get("role") != "assistant" or not calls:
        yield "tool_calls that are empty or not the assistant's"
    ids = [call["id"] for call in calls]
    if len(set(ids)) < len(ids) or any(not id_ or len(id_) > 40 for id_ in ids):
        yield f"ids of calls {ids}"
    for call in calls:
        if call.get("type") != "function" or not _NAME.fullmatch(call["function"]["name"]):
            yield f"call {call}"
        if not isinstance(call["function"]["arguments"], str):
            yield "arguments that are no text"


def _openai_content(message: Mapping[str, Any]) -> Iterator[str]:
    content = message.get("content")
    if content is None:
        if not message.get("tool_calls"):
            yield "no content"
    elif isinstance(content, str):
        if not content.strip() and not message.get("tool_calls"):
            yield "empty content"
    elif not content or any(block.get("text") == "" for block in content):
        yield "empty blocks"


# Anthropic


def anthropic_problems(messages: Messages) -> list[str]:
    return [f"message {n}: {wrong}" for n, wrong in _anthropic(messages)]


def _anthropic(messages: Messages) -> Iterator[tuple[int, str]]:
    called: list[str] = []
    ever: set[str] = set()
    for n, message in enumerate(messages):
        expected = "user" if n % 2 == 0 else "assistant"
        if message.get("role") != expected:
            yield n, f"role {message.get('role')!r} where {expected} is due"
        blocks = message.get("content") or []
        kinds = [block["type"] for block in blocks]
        if not blocks or set(kinds) <= set(_THOUGHTS):
            yield n, "nothing is said"
        results = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
        if sorted(results) != sorted(called):
            yield n, f"calls {called} are answered by {results}"
        if results and any(kind != "tool_result" for kind in kinds[: len(results)]):
            yield n, "answers do not come first"
        called = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if ever & set(called) or len(set(called)) < len(called):
            yield n, f"ids used twice: {called}"
        ever |= set(called)
        yield from ((n, wrong) for wrong in _anthropic_blocks(blocks, expected))
    if called:
        yield len(messages), f"calls {called} were not answered"
    if messages and messages[-1]["role"] == "assistant":
        last = messages[-1]["content"][-1]
        if last.get("text", "x") != last.get("text", "x").rstrip():
            yield len(messages) - 1, "the last words end with a blank"


def _anthropic_blocks(blocks: Messages, role: str) -> Iterator[str]:
    begun = False
    for block in blocks:
        kind = block["type"]
        if kind in _THOUGHTS:
            if role != "assistant" or begun:
                yield "thoughts that do not begin an assistant's turn"
            if kind == "thinking" and not block.get("signature"):
                yield "a thought without its signature"
            continue
        begun = True
        if kind == "text" and not block["text"].strip():
            yield "an empty text"
        if kind == "tool_use":
            if role != "assistant" or not isinstance(block["input"], Mapping):
                yield f"call {block}"
            if not _NAME.fullmatch(block["name"]) or not _ANTHROPIC_ID.fullmatch(block["id"]):
                yield f"name {block['name']!r} or id {block['id']!r}"
        if kind == "tool_result" and (role != "user" or not block.get("content")):
            yield f"answer {block}"


# Gemini


def gemini_problems(contents: Messages) -> list[str]:
    return [f"content {n}: {wrong}" for n, wrong in _gemini(contents)]


def _gemini(contents: Messages) -> Iterator[tuple[int, str]]:
    called: list[str] = []
    for n, content in enumerate(contents):
        expected = "user" if n % 2 == 0 else "model"
        if content.get("role") != expected:
            yield n, f"role {content.get('role')!r} where {expected} is due"
        parts = content.get("parts") or []
        if not parts:
            yield n, "no parts"
        answered = [
            part["functionResponse"]["name"] for part in parts if "functionResponse" in part
        ]
        if sorted(answered) != sorted(called):
            yield n, f"calls {called} are answered by {answered}"
        called = [part["functionCall"]["name"] for part in parts if "functionCall" in part]
        yield from ((n, wrong) for part in parts for wrong in _gemini_part(part, expected))
    if called:
        yield len(contents), f"calls {called} were not answered"


def _gemini_part(part: Mapping[str, Any], role: str) -> Iterator[str]:
    if "text" in part and not part["text"]:
        yield "an empty text"
    for field, inner, whose in (
        ("functionCall", "args", "model"),
        ("functionResponse", "response", "user"),
    ):
        if field not in part:
            continue
        block = part[field]
        if role != whose or not isinstance(block.get(inner), Mapping):
            yield f"{field} {json.dumps(block, default=str)[:80]}"
        if not _GEMINI_NAME.fullmatch(block["name"]):
            yield f"name {block['name']!r}"
