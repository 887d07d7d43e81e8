"""Conversations as agents have them, drawn by a seed: in every dialect, with tools that answer
late, twice or never, and with everything that makes a provider refuse a list of messages."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count
from typing import Any

from standfast.text.messages import Intake, take_in
from standfast.text.redact import Redactor
from standfast.types import Message

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
WORDS = "tea boat seven Lisbon the plan was moved again and nobody knew why 你好 ok".split()
TOOLS = ("search", "read_file", "weather.get", "9lives", "send mail", "a" * 80)
REDACTOR = Redactor(kinds=frozenset())


def conversation(seed: int) -> list[Message]:
    """The messages of one conversation as ``observe`` would keep them."""
    dice = random.Random(seed)
    raw = list(_drawn(dice))
    if dice.random() < 0.3:  # logs are not always in order
        place = dice.randrange(len(raw))
        raw.insert(dice.randrange(len(raw)), raw.pop(place))
    return kept(raw)


def kept(raw: list[Any]) -> list[Message]:
    numbers = count(1)
    intake = Intake(
        scope="user:ann",
        session="s",
        now=NOW,
        redactor=REDACTOR,
        new_id=lambda: f"m{next(numbers)}",
    )
    return [taken.message for taken in take_in(raw, intake)]


def _drawn(dice: random.Random) -> Iterator[Any]:
    dialect = dice.choice([*DIALECTS])
    ids = count(1)
    for _ in range(dice.randint(1, 9)):
        if dice.random() < 0.15:
            dialect = dice.choice([*DIALECTS])  # agents move from one provider to another
        say, call, answer = DIALECTS[dialect]
        kind = dice.random()
        if kind < 0.35:
            yield say(dice, "user")
        elif kind < 0.6:
            yield say(dice, "assistant")
        elif kind < 0.68:
            yield {"role": dice.choice(["system", "developer"]), "content": text(dice)}
        else:
            names = [dice.choice(TOOLS) for _ in range(dice.randint(1, 3))]
            named = [(_id(dice, next(ids)), name) for name in names]
            yield from call(dice, named)
            if dice.random() < 0.2:
                yield say(dice, "user")  # somebody speaks while a tool works
            answered = [one for one in named if dice.random() < 0.85]
            if dice.random() < 0.2:
                dice.shuffle(answered)
            if answered:
                yield from answer(dice, answered)
            if answered and dice.random() < 0.08:
                yield from answer(dice, answered[:1])  # a second time


def _id(dice: random.Random, number: int) -> str:
    return dice.choice([f"call_{number}", f"toolu_{number:020}", f"c:{number}", "same", "x" * 60])


def text(dice: random.Random) -> str:
    if dice.random() < 0.08:
        return dice.choice(["", " ", "\n"])
    said = " ".join(dice.choices(WORDS, k=dice.randint(1, 9)))
    return said + dice.choice(["", "", " ", "\n"])


# Each dialect: who says something, who calls tools, and how tools answer.


def _chat_say(dice: random.Random, role: str) -> Any:
    if dice.random() < 0.25:
        image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
        return {"role": "user", "content": [{"type": "text", "text": text(dice)}, image]}
    return {"role": role, "content": text(dice)}


def _chat_call(dice: random.Random, named: list[tuple[str, str]]) -> Iterator[Any]:
    yield {
        "role": "assistant",
        "content": dice.choice([None, text(dice)]),
        "tool_calls": [
            {"id": id_, "type": "function", "function": {"name": name, "arguments": _json(dice)}}
            for id_, name in named
        ],
    }


def _chat_answer(dice: random.Random, named: list[tuple[str, str]]) -> Iterator[Any]:
    for id_, _ in named:
        yield {"role": "tool", "tool_call_id": id_, "content": text(dice)}


def _json(dice: random.Random) -> str:
    return dice.choice(["", "{}", '{"q": "tea"}', "[1]", "not json"])


def _anthropic_say(dice: random.Random, role: str) -> Any:
    blocks: list[Any] = [{"type": "text", "text": text(dice)}]
    if role == "assistant" and dice.random() < 0.4:
        blocks.insert(0, {"type": "thinking", "thinking": "hm", "signature": "sig"})
    if role == "user" and dice.random() < 0.2:
        source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
        blocks.append({"type": "image", "source": source})
    return {"role": role, "content": blocks}


def _anthropic_call(dice: random.Random, named: list[tuple[str, str]]) -> Iterator[Any]:
    blocks: list[Any] = [
        {"type": "tool_use", "id": id_, "name": name, "input": {"q": 1}} for id_, name in named
    ]
    if dice.random() < 0.5:
        blocks.insert(0, {"type": "text", "text": text(dice)})
    if dice.random() < 0.5:
        blocks.insert(0, {"type": "redacted_thinking", "data": "xyz"})
    yield {"role": "assistant", "content": blocks}


def _anthropic_answer(dice: random.Random, named: list[tuple[str, str]]) -> Iterator[Any]:
    results: list[Any] = [
        {"type": "tool_result", "tool_use_id": id_, "content": text(dice) or "done"}
        for id_, _ in named
    ]
    if dice.random() < 0.3:
        results.append({"type": "text", "text": text(dice)})
    yield {"role": "user", "content": results}


def _responses_say(dice: random.Random, role: str) -> Any:
    kind = "input_text" if role == "user" else "output_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text(dice)}]}


def _responses_call(dice: random.Random, named: list[tuple[str, str]]) -> Iterator[Any]:
    if dice.random() < 0.4:
        yield {"type": "reasoning", "id": "rs_1", "summary": []}
    for id_, name in named:
        yield {"type": "function_call", "call_id": id_, "name": name, "arguments": _json(dice)}


def _responses_answer(dice: random.Random, named: list[tuple[str, str]]) -> Iterator[Any]:
    for id_, _ in named:
        yield {"type": "function_call_output", "call_id": id_, "output": text(dice)}


def _gemini_say(dice: random.Random, role: str) -> Any:
    parts: list[Any] = [{"text": text(dice) or "hm"}]
    if role == "assistant" and dice.random() < 0.3:
        parts.insert(0, {"text": "thinking", "thought": True})
    return {"role": "user" if role == "user" else "model", "parts": parts}


def _gemini_call(dice: random.Random, named: list[tuple[str, str]]) -> Iterator[Any]:
    short = [(id_, name[:60].replace("9", "n").replace(" ", "_")) for id_, name in named]
    parts = [{"functionCall": {"name": name, "args": {"q": 1}}} for _, name in short]
    yield {"role": "model", "parts": parts, "note": dice.random()}


def _gemini_answer(dice: random.Random, named: list[tuple[str, str]]) -> Iterator[Any]:
    short = [(id_, name[:60].replace("9", "n").replace(" ", "_")) for id_, name in named]
    parts = [
        {"functionResponse": {"name": name, "response": {"result": text(dice)}}}
        for _, name in short
    ]
    yield {"role": dice.choice(["user", "function"]), "parts": parts}


def _langchain_say(dice: random.Random, role: str) -> Any:
    kind = "human" if role == "user" else "ai"
    if dice.random() < 0.3:
        return {"type": kind, "data": {"content": text(dice), "type": kind}}
    return {"type": kind, "content": text(dice)}


def _langchain_call(dice: random.Random, named: list[tuple[str, str]]) -> Iterator[Any]:
    calls = [{"id": id_, "name": name, "args": {}, "type": "tool_call"} for id_, name in named]
    yield {"type": "ai", "content": text(dice), "tool_calls": calls}


def _langchain_answer(dice: random.Random, named: list[tuple[str, str]]) -> Iterator[Any]:
    for id_, _ in named:
        yield {"type": "tool", "tool_call_id": id_, "content": text(dice)}


def _pydantic_say(dice: random.Random, role: str) -> Any:
    if role == "user":
        parts: list[Any] = [{"part_kind": "user-prompt", "content": text(dice)}]
        if dice.random() < 0.3:
            parts.insert(0, {"part_kind": "system-prompt", "content": text(dice)})
        return {"kind": "request", "parts": parts}
    return {"kind": "response", "parts": [{"part_kind": "text", "content": text(dice)}]}


def _pydantic_call(dice: random.Random, named: list[tuple[str, str]]) -> Iterator[Any]:
    parts: list[Any] = [
        {"part_kind": "tool-call", "tool_call_id": id_, "tool_name": name, "args": {"a": 1}}
        for id_, name in named
    ]
    if dice.random() < 0.4:
        parts.insert(0, {"part_kind": "thinking", "content": "hm"})
    yield {"kind": "response", "parts": parts}


def _pydantic_answer(dice: random.Random, named: list[tuple[str, str]]) -> Iterator[Any]:
    yield {
        "kind": "request",
        "parts": [
            {"part_kind": "tool-return", "tool_call_id": i, "tool_name": n, "content": text(dice)}
            for i, n in named
        ],
    }


DIALECTS: dict[str, Any] = {
    "chat": (_chat_say, _chat_call, _chat_answer),
    "anthropic": (_anthropic_say, _anthropic_call, _anthropic_answer),
    "responses": (_responses_say, _responses_call, _responses_answer),
    "gemini": (_gemini_say, _gemini_call, _gemini_answer),
    "langchain": (_langchain_say, _langchain_call, _langchain_answer),
    "pydantic": (_pydantic_say, _pydantic_call, _pydantic_answer),
}
