"""Messages as a model's API takes them: OpenAI Chat, Anthropic or Gemini.

All three refuse a call without its answer and an answer without its call, and want the answers
right behind the call. Anthropic and Gemini also want user and assistant in turn, the user first.
So a conversation is first put in order (``steps``), then written in the words of the provider. A
block that came from the same provider goes back as it came.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from standfast.packet.window import call_pairs
from standfast.text.dialects import Part, dialect_of, gemini_block, original_of, parts_of
from standfast.types import Message, Shape
from standfast.types.frozen import frozen

Dict = dict[str, Any]

# Stands where the user's first words were folded or left out.
BEFORE = "(what was said before is left out here)"

# What observe() adds to a message and an API would refuse.
_OURS = {"id", "at", "timestamp", "created_at", "author"}
_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_ID = re.compile(r"[a-zA-Z0-9_-]{1,40}")
_NAME_MAX = 64
_BRACKETS = re.compile(r"[\[\]{}]")
DEPTH_MAX = 64


@dataclass(slots=True, kw_only=True)
class TalkStep:
    """One message in order: what one side says, with its calls; answers are a step of their own.
    ``original`` is the message as it came, where all of it is still here."""

    role: Literal["system", "user", "assistant", "tool"]
    parts: list[Part]
    original: Mapping[str, Any] = field(default_factory=dict)
    system_role: str = "system"


def shaped(messages: Sequence[Message], shape: Shape) -> list[Dict]:
    ordered = steps(messages)
    if shape == "openai":
        return [one for step in ordered for one in _openai(step)]
    spoken = [step for step in ordered if step.role != "system"]
    write = _anthropic if shape == "anthropic" else _gemini
    return _in_turn([one for step in spoken if (one := write(step))], shape)


def opening_words(shape: Shape) -> str:
    """What ``shaped`` may put in front of the messages; somebody has to pay for it."""
    return "" if shape == "openai" else BEFORE


# Order


def steps(messages: Sequence[Message]) -> list[TalkStep]:
    """The conversation with every call followed by its answers. What has no other half is no
    call any more: an answer nobody asked for is dropped, an unanswered call is told in words."""
    read = [_parts(message) for message in messages]
    answer_of = _answers(messages, read)
    ids = _Ids()
    found: list[TalkStep] = []
    for index, message in enumerate(messages):
        own = [part for part in read[index] if part.kind != "answer"]
        if not own:
            continue
        calls = [p for p in own if p.kind == "call"]
        kept = [p for p in calls if id(p) in answer_of]
        named = {id(part): ids.name(part.id) for part in kept}
        whole = len(kept) == len(calls) and len(own) == len(read[index])
        unchanged = whole and all(named[id(p)] == p.id and _is_plain(p) for p in kept)
        found.append(
            TalkStep(
                role=_role(message),
                parts=[_told(part, named) for part in own],
                original=original_of(message) if unchanged else {},
                system_role=message.role,
            )
        )
        answers = [replace(answer_of[id(p)], id=named[id(p)], name=p.name) for p in kept]
        if answers:
            found.append(TalkStep(role="tool", parts=answers))
    return [step for step in found if _says_something(step)]


def _answers(messages: Sequence[Message], read: Sequence[Sequence[Part]]) -> dict[int, Part]:
    """The answer of each call, by identity of the part; each answer serves one call."""
    answers: dict[int, Part] = {}
    used: set[int] = set()
    for caller, answerer, id_ in call_pairs(messages):
        calls = [p for p in read[caller] if p.kind == "call" and p.id == id_]
        given = [p for p in read[answerer] if p.kind == "answer" and p.id == id_]
        free = [p for p in given if id(p) not in used]
        for call in calls:
            if id(call) not in answers and free:
                answers[id(call)] = free.pop(0)
                used.add(id(answers[id(call)]))
    return answers


def _told(part: Part, named: Mapping[int, str]) -> Part:
    if part.kind != "call":
        return part
    if id(part) in named:
        new = named[id(part)]
        return part if new == part.id else replace(part, id=new, raw={})
    words = f"{_function_name(part.name)}({_as_json(part.arguments)})"
    return Part(kind="text", text=f"[called {words}, no answer]")


def _as_json(arguments: str) -> str:
    """As they are if they are JSON, and else as a string of it: nothing ends the quotation."""
    known = _loaded(arguments or "{}") is not None
    return arguments if known else json.dumps(arguments, ensure_ascii=False)


def _loaded(text: str) -> Any:
    """What it says in JSON; None if it says nothing there, or is nested deeper than anybody who
    reads or writes it could follow."""
    depth = deepest = 0
    for sign in _BRACKETS.findall(text):
        depth += 1 if sign in "[{" else -1
        deepest = max(deepest, depth)
    try:
        return json.loads(text) if deepest <= DEPTH_MAX else None
    except (ValueError, RecursionError):
        return None


def _parts(message: Message) -> list[Part]:
    original = original_of(message)
    if original and message.role == "tool":
        return [part for part in parts_of(original) if part.kind == "answer"]
    if original:
        return [part for part in parts_of(original) if part.kind != "text" or part.text.strip()]
    parts = [Part(kind="text", text=message.text)] if message.text.strip() else []
    if message.answers:
        return [Part(kind="answer", id=id_, text=message.text) for id_ in message.answers]
    calls = [Part(kind="call", id=c.id, name=c.name, arguments=c.arguments) for c in message.calls]
    return parts + calls


def _is_plain(call: Part) -> bool:
    """A call that every provider takes as it is."""
    return bool(call.arguments) and _function_name(call.name) == call.name


def _role(message: Message) -> Literal["system", "user", "assistant", "tool"]:
    if message.role in ("system", "developer"):
        return "system"
    return "assistant" if message.role in ("assistant", "note") else "user"


def _says_something(step: TalkStep) -> bool:
    """Thoughts alone are nothing that a provider takes."""
    return any(part.kind != "thinking" for part in step.parts)


class _Ids:
    """Ids that every provider takes, each used once."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def name(self, id_: str) -> str:
        new, number = id_, len(self._used) + 1
        while not _ID.fullmatch(new) or new in self._used:
            new, number = f"call_{number}", number + 1
        self._used.add(new)
        return new


# OpenAI Chat


def _openai(step: TalkStep) -> list[Dict]:
    if step.role == "tool":
        return [
            {"role": "tool", "tool_call_id": part.id, "content": part.text or "(nothing)"}
            for part in step.parts
        ]
    if step.original and _is_openai(step.original):
        return [{key: value for key, value in step.original.items() if key not in _OURS}]
    content = _openai_content(step.parts)
    if step.role == "system":
        return [{"role": step.system_role, "content": _joined(step.parts)}]
    calls = [_openai_call(part) for part in step.parts if part.kind == "call"]
    if calls:
        text = _joined(step.parts) or None
        return [{"role": "assistant", "content": text, "tool_calls": calls}]
    if step.role == "assistant":
        return [{"role": "assistant", "content": _joined(step.parts)}]
    return [{"role": "user", "content": content}]


def _is_openai(original: Mapping[str, Any]) -> bool:
    """Chat itself, with nothing of Anthropic's in it and nothing empty."""
    if dialect_of(original) != "chat" or original.get("role") in ("note", "function"):
        return False
    if "function_call" in original:
        return False
    content = original.get("content")
    if not isinstance(content, list):
        said = isinstance(content, str) and bool(content.strip())
        return said or bool(original.get("tool_calls"))
    own = {"text", "image_url", "input_audio", "file", "refusal"}
    return bool(content) and all(
        isinstance(block, dict) and block.get("type") in own and not _is_blank(block)
        for block in content
    )


def _is_blank(block: Mapping[str, Any]) -> bool:
    text = block.get("text")
    return isinstance(text, str) and not text.strip()


def _openai_content(parts: Iterable[Part]) -> str | list[Dict]:
    images = [(part, _image(part)) for part in parts]
    if not any(image for _, image in images):
        return _joined(part for part, _ in images)
    return [
        {"type": "image_url", "image_url": {"url": image.url}}
        if image
        else {"type": "text", "text": _words(part)}
        for part, image in images
        if image or _words(part)
    ]


def _openai_call(part: Part) -> Dict:
    function = {"name": _function_name(part.name), "arguments": part.arguments or "{}"}
    return {"id": part.id, "type": "function", "function": function}


# Anthropic


def _anthropic(step: TalkStep) -> Dict | None:
    blocks = [block for part in step.parts if (block := _anthropic_block(part, step))]
    if not any(block["type"] not in ("thinking", "redacted_thinking") for block in blocks):
        return None
    return {"role": "assistant" if step.role == "assistant" else "user", "content": blocks}


def _anthropic_block(part: Part, step: TalkStep) -> Dict | None:
    kind = part.raw.get("type")
    if part.kind == "thinking":
        own = kind == "redacted_thinking" or (kind == "thinking" and part.raw.get("signature"))
        return dict(part.raw) if own and step.role == "assistant" else None
    if part.kind == "answer":
        if kind == "tool_result":
            content = part.raw.get("content") or "(nothing)"
            return {**part.raw, "tool_use_id": part.id, "content": content}
        return {"type": "tool_result", "tool_use_id": part.id, "content": part.text or "(nothing)"}
    if part.kind == "call":
        own = part.raw if kind == "tool_use" else {}
        said = {"type": "tool_use", "id": part.id, "name": _function_name(part.name)}
        return {**own, **said, "input": _arguments(part)}
    if part.kind == "media":
        if kind in ("image", "document") and isinstance(part.raw.get("source"), Mapping):
            return dict(part.raw)
        if image := _image(part):
            return {"type": "image", "source": image.anthropic()}
    if kind == "text" and not _is_blank(part.raw) and set(part.raw) <= _ANTHROPIC_TEXT:
        return dict(part.raw)
    words = _words(part)
    return {"type": "text", "text": words} if words else None


_ANTHROPIC_TEXT = {"type", "text", "cache_control", "citations"}


# Gemini


def _gemini(step: TalkStep) -> Dict | None:
    parts = [one for part in step.parts if (one := _gemini_part(part))]
    return (
        {"role": "model" if step.role == "assistant" else "user", "parts": parts} if parts else None
    )


def _gemini_part(part: Part) -> Dict | None:
    if part.kind == "call":
        given = gemini_block(part.raw, "function_call") or {"args": _arguments(part)}
        return _gemini_named(part, "functionCall", given)
    if part.kind == "answer":
        given = gemini_block(part.raw, "function_response") or {"response": _response(part)}
        return _gemini_named(part, "functionResponse", given)
    if _is_gemini(part.raw):
        return dict(part.raw) if part.raw.get("text", "x") else None
    if image := _image(part):
        return image.gemini()
    words = _words(part)
    return {"text": words} if words else None


def _gemini_named(part: Part, kind: str, given: Mapping[str, Any]) -> Dict:
    """A call or its answer; both have to bear the same name. What else stands beside it, such as
    the signature of a thought, goes back as it came."""
    beside = {k: v for k, v in part.raw.items() if "ignature" in k} if _is_gemini(part.raw) else {}
    return {kind: {**given, "name": _gemini_name(part.name)}, **beside}


_GEMINI = {
    "text", "inlineData", "inline_data", "fileData", "file_data", "functionCall", "function_call",
    "functionResponse", "function_response", "executableCode", "executable_code",
    "codeExecutionResult", "code_execution_result",
}  # fmt: skip


def _is_gemini(raw: Mapping[str, Any]) -> bool:
    return "type" not in raw and "part_kind" not in raw and bool(_GEMINI & raw.keys())


def _gemini_name(name: str) -> str:
    clean = re.sub(r"[^a-zA-Z0-9_.-]", "_", name)[:_NAME_MAX] or "unnamed"
    return clean if clean[0].isalpha() or clean[0] == "_" else f"_{clean}"[:_NAME_MAX]


def _response(part: Part) -> Dict:
    given = _loaded(part.text)
    given = part.text if given is None else given
    return given if isinstance(given, dict) else {"result": given}


# What they share


def _in_turn(listed: list[Dict], shape: Shape) -> list[Dict]:
    """User and assistant in turn, the user first. Thoughts stay only where a turn begins."""
    key = "content" if shape == "anthropic" else "parts"
    merged: list[Dict] = []
    for one in listed:
        if merged and merged[-1]["role"] == one["role"]:
            more = [block for block in one[key] if not _is_thought(block)]
            merged[-1] = {**merged[-1], key: [*merged[-1][key], *more]}
        else:
            merged.append(one)
    if merged and merged[0]["role"] != "user":
        begin: Dict = {"type": "text", "text": BEFORE} if key == "content" else {"text": BEFORE}
        merged.insert(0, {"role": "user", key: [begin]})
    return _without_trailing_blanks(merged) if shape == "anthropic" else merged


def _is_thought(block: Mapping[str, Any]) -> bool:
    return block.get("type") in ("thinking", "redacted_thinking") or bool(block.get("thought"))


def _without_trailing_blanks(merged: list[Dict]) -> list[Dict]:
    """Anthropic refuses a last assistant message that ends with a blank."""
    if merged and merged[-1]["role"] == "assistant":
        *before, last = merged[-1]["content"]
        if last.get("type") == "text":
            last = {**last, "text": last["text"].rstrip()}
        merged[-1] = {**merged[-1], "content": [*before, last]}
    return merged


@frozen(kw_only=False)
class _Picture:
    """An image by its address, or as data in base64."""

    url: str

    def _data(self) -> tuple[str, str] | None:
        head, comma, data = self.url.partition(",")
        if not head.startswith("data:") or not comma or not head.endswith(";base64"):
            return None
        return head.removeprefix("data:").removesuffix(";base64"), data

    def anthropic(self) -> Dict:
        if found := self._data():
            return {"type": "base64", "media_type": found[0], "data": found[1]}
        return {"type": "url", "url": self.url}

    def gemini(self) -> Dict:
        if found := self._data():
            return {"inlineData": {"mimeType": found[0], "data": found[1]}}
        return {"fileData": {"fileUri": self.url}}


def _image(part: Part) -> _Picture | None:
    if part.kind != "media":
        return None
    raw = part.raw
    given = raw.get("image_url")
    url = given.get("url") if isinstance(given, Mapping) else given
    source = raw.get("source")
    if isinstance(source, Mapping) and raw.get("type") == "image":
        if source.get("type") == "base64":
            url = f"data:{source.get('media_type')};base64,{source.get('data')}"
        else:
            url = source.get("url")
    inline = raw.get("inlineData", raw.get("inline_data"))
    if isinstance(inline, Mapping):
        kind = str(inline.get("mimeType", inline.get("mime_type")) or "")
        url = f"data:{kind};base64,{inline.get('data')}" if kind.startswith("image/") else None
    return _Picture(url) if isinstance(url, str) and url else None


def _words(part: Part) -> str:
    """A part as words, where a provider has nothing else for it."""
    if part.kind == "text":
        return part.text if part.text.strip() else ""
    return f"[{part.text}]" if part.kind == "media" and part.text else ""


def _joined(parts: Iterable[Part]) -> str:
    return "\n".join(words for part in parts if (words := _words(part)))


def _arguments(part: Part) -> Dict:
    given = _loaded(part.arguments or "{}")
    given = part.arguments if given is None else given
    return given if isinstance(given, dict) else {"arguments": given}


def _function_name(name: str) -> str:
    return _NAME.sub("_", name)[:_NAME_MAX] or "unnamed"
