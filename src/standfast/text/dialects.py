"""How agents shape their messages: OpenAI Chat and Responses, Anthropic, Gemini, LangChain and
pydantic-ai. Each is read into the same parts: text, thinking, calls, answers, media. Pure.

A part keeps the block it was read from, so that a message can go back to its own provider as it
came. A message whose role nobody says is refused: guessing that the user said it would be
believing anybody.
"""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import date, datetime
from typing import Any, Literal

from standfast.errors import Invalid
from standfast.text.inputs import one_of
from standfast.types import Message, Role
from standfast.types.frozen import frozen

Dialect = Literal["chat", "responses", "gemini", "langchain", "pydantic"]
PartKind = Literal["text", "thinking", "call", "answer", "media"]

NO_ROLE = (
    'a message needs to say whose it is: {"role": "user", "content": ...}; also taken are the'
    " messages of OpenAI, Anthropic, Gemini, LangChain and pydantic-ai as they are"
)


@frozen
class Part:
    """A piece of a message. ``id`` names a call, or the call that an answer answers; the
    ``arguments`` of a call are JSON text. ``raw`` is the block as it came."""

    kind: PartKind
    text: str = ""
    id: str = ""
    name: str = ""
    arguments: str = ""
    raw: Mapping[str, Any] = field(default_factory=dict)


@frozen
class Body:
    """One message as we keep it: whose it is, and its own JSON."""

    role: Role
    original: Mapping[str, Any]


def plain_json(value: Any) -> Any:
    """A value as JSON can carry it: models and dataclasses as mappings, moments as text."""
    if isinstance(value, str | int | float | bool) or value is None:
        return value
    if isinstance(value, Mapping):
        return {str(key): plain_json(one) for key, one in value.items()}
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    if isinstance(value, datetime | date):
        return value.isoformat()
    if hasattr(value, "model_dump"):
        return plain_json(value.model_dump(exclude_none=True))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return {k: plain_json(v) for k, v in fields.items() if v is not None and k[0] != "_"}
    if isinstance(value, Sequence | set | frozenset):
        return [plain_json(one) for one in value]
    return value


def bodies_of(raw: Mapping[str, Any]) -> list[Body]:
    """The messages that one message of an agent is: one, or several where it speaks for several
    (a request of pydantic-ai may hold instructions, tool answers and what the user said)."""
    if _is_plain_text(raw):
        return [Body(role=_chat_role(raw), original=raw)]
    raw = _unwrapped(raw)
    dialect = dialect_of(raw)
    if dialect is None:
        raise Invalid(NO_ROLE)
    if dialect == "pydantic":
        return _pydantic_bodies(raw)
    return _without_answers(raw, _ROLES[dialect](raw))


_OF_PLAIN_TEXT = frozenset(("role", "content", "id", "author"))


def _is_plain_text(body: Mapping[str, Any]) -> bool:
    """Somebody said this, and no more, as most messages are: all who have roles tell it so."""
    told = body.keys() <= _OF_PLAIN_TEXT and isinstance(body.get("content"), str)
    return told and bool(body.get("role"))


def dialect_of(body: Mapping[str, Any]) -> Dialect | None:
    """Whose shape a message has; None: nobody's that says a role."""
    kind, parts = body.get("type"), body.get("parts")
    if isinstance(parts, list):
        if body.get("kind") in ("request", "response"):
            return "pydantic"
        return "gemini" if body.get("role") else None
    if body.get("role"):
        return "responses" if kind == "message" else "chat"
    if isinstance(kind, str) and kind in _LANGCHAIN_ROLES:
        return "langchain"
    return "responses" if isinstance(kind, str) and _is_item(kind) else None


def parts_of(body: Mapping[str, Any]) -> list[Part]:
    """Everything that a message holds, in its order."""
    if _is_plain_text(body):
        return [Part(kind="text", text=body["content"])]
    dialect = dialect_of(body)
    return list(_PARTS[dialect](body)) if dialect else []


def original_of(message: Message) -> Mapping[str, Any]:
    """A message as it came; empty if it came as it is kept, or if what is kept beside it is no
    message of the same role, as somebody may have written who made an export by hand."""
    try:
        loaded = json.loads(message.original) if message.original else {}
        bodies = bodies_of(loaded) if isinstance(loaded, dict) and loaded else []
        parts_of(loaded) if bodies else []
    except (ValueError, RecursionError, Invalid):
        return {}
    found: dict[str, Any] = loaded if [body.role for body in bodies] == [message.role] else {}
    return found


# Roles


_LANGCHAIN_ROLES: Mapping[Any, Role] = {
    "human": "user",
    "HumanMessageChunk": "user",
    "ai": "assistant",
    "AIMessageChunk": "assistant",
    "system": "system",
    "SystemMessageChunk": "system",
    "developer": "developer",
    "tool": "tool",
    "ToolMessageChunk": "tool",
    "function": "function",
}
_GEMINI_ROLES: Mapping[Any, Role] = {
    "user": "user",
    "model": "assistant",
    "function": "tool",
    "tool": "tool",
    "system": "system",
}


def _without_answers(raw: Mapping[str, Any], role: Role) -> list[Body]:
    """What a tool answered is the tool's word, whoever's message carries it: Anthropic and Gemini
    put it into one of the user's. What the user said beside it is a message of its own."""
    parts = parts_of(raw)
    if not any(part.kind == "answer" for part in parts):
        return [Body(role=role, original=raw)]
    where = "parts" if isinstance(raw.get("parts"), list) else "content"
    blocks = raw.get(where)
    if not isinstance(blocks, list) or all(part.kind == "answer" for part in parts):
        return [Body(role="tool", original=raw)]
    answers = [block for block in blocks if _is_answer(block)]
    rest = [block for block in blocks if not _is_answer(block)]
    said = {**raw, where: rest}
    beside = "user" if role == "tool" and raw.get("role") == "user" else role
    return [
        Body(role="tool", original={**raw, where: answers}),
        *([Body(role=beside, original=said)] if rest else []),
    ]


def _is_answer(block: Any) -> bool:
    if not isinstance(block, Mapping):
        return False
    return block.get("type") == "tool_result" or bool(gemini_block(block, "function_response"))


def _unwrapped(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """LangChain writes its messages down in two ways more: below ``data``, and below ``kwargs``
    with the name of the class."""
    kind = raw.get("type")
    if isinstance(kind, str) and kind in _LANGCHAIN_ROLES and isinstance(raw.get("data"), Mapping):
        return {**raw["data"], "type": kind}
    if raw.get("lc") is not None and isinstance(raw.get("kwargs"), Mapping):
        path = raw.get("id")
        last = path[-1] if isinstance(path, list) and path else ""
        name = str(last).removesuffix("Chunk").removesuffix("Message")
        return {**raw["kwargs"], "type": raw["kwargs"].get("type") or name.lower()}
    return raw


def _chat_role(raw: Mapping[str, Any]) -> Role:
    found: Role = one_of(raw["role"], Role, "role")
    return found


def _gemini_role(raw: Mapping[str, Any]) -> Role:
    role = raw["role"]
    if not isinstance(role, str) or role not in _GEMINI_ROLES:
        raise Invalid(f"role must be user, model or function beside parts, not {role!r}")
    answers = any(gemini_block(part, "function_response") for part in _mappings(raw["parts"]))
    return "tool" if role == "user" and answers else _GEMINI_ROLES[role]


def _item_role(raw: Mapping[str, Any]) -> Role:
    if raw.get("role"):
        return _chat_role(raw)
    return "tool" if str(raw["type"]).endswith("_output") else "assistant"


def _is_item(kind: str) -> bool:
    """An item of OpenAI's Responses that is no message."""
    return kind == "reasoning" or kind.endswith(("_call", "_call_output"))


# Blocks of OpenAI Chat and Anthropic, which share a form


def _chat_parts(body: Mapping[str, Any]) -> Iterator[Part]:
    content = body.get("content")
    if body.get("tool_call_id"):
        yield Part(kind="answer", id=str(body["tool_call_id"]), text=_flat(content), raw=body)
        return
    if body.get("role") == "function" and body.get("name"):
        yield Part(kind="answer", id=f"function:{body['name']}", name=str(body["name"]),
                   text=_flat(content), raw=body)  # fmt: skip
        return
    yield from _content(content)
    yield from _tool_calls(body.get("tool_calls"))
    legacy = body.get("function_call")
    if isinstance(legacy, Mapping):
        name = str(legacy.get("name") or "")
        yield _call(f"function:{name}", name, legacy.get("arguments"), legacy)
    if isinstance(body.get("refusal"), str) and body["refusal"]:
        yield Part(kind="text", text=body["refusal"], raw={"type": "refusal"})


def _content(content: Any) -> Iterator[Part]:
    if content is None:
        return
    if isinstance(content, str):
        yield Part(kind="text", text=content)
        return
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, list):
        raise Invalid(f"content must be text or a list of blocks, not {type(content).__name__}")
    for block in content:
        if isinstance(block, str):
            yield Part(kind="text", text=block)
        elif isinstance(block, Mapping):
            yield from _block(block)
        else:
            raise Invalid(f"content holds a {type(block).__name__}; use text or blocks")


def _block(block: Mapping[str, Any]) -> Iterator[Part]:
    kind = block.get("type")
    if kind == "tool_use":
        yield _call(block.get("id"), block.get("name"), block.get("input"), block)
    elif kind == "tool_result":
        answered = str(block.get("tool_use_id") or "")
        yield Part(kind="answer", id=answered, text=_flat(block.get("content")), raw=block)
    elif kind in ("thinking", "redacted_thinking", "reasoning"):
        said = block.get("thinking") or block.get("text") or block.get("reasoning")
        yield Part(kind="thinking", text=str(said or ""), raw=block)
    elif kind == "refusal":
        yield Part(kind="text", text=str(block.get("refusal") or ""), raw=block)
    elif isinstance(block.get("text"), str):
        yield Part(kind="text", text=block["text"], raw=block)
    else:
        yield Part(kind="media", text=str(kind or "block"), raw=block)


def _tool_calls(listed: Any) -> Iterator[Part]:
    if not listed:
        return
    if not isinstance(listed, list):
        raise Invalid("tool_calls must be a list")
    for call in listed:
        if not isinstance(call, Mapping):
            raise Invalid("a tool call is a mapping with id and function")
        inner = call.get("function") or call.get("custom")
        named = inner if isinstance(inner, Mapping) else call
        given = next((named[key] for key in ("arguments", "args", "input") if key in named), None)
        yield _call(call.get("id"), named.get("name"), given, call)


def _call(id_: Any, name: Any, arguments: Any, raw: Mapping[str, Any]) -> Part:
    if arguments is not None and not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    return Part(
        kind="call", id=str(id_ or ""), name=str(name or ""), arguments=arguments or "", raw=raw
    )


def _flat(content: Any) -> str:
    """The readable text of a tool's answer."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list | tuple):
        return "\n".join(text for text in map(_flat, content) if text)
    if isinstance(content, Mapping):
        for key in ("text", "output", "result", "content"):
            if isinstance(content.get(key), str):
                return str(content[key])
        if content.get("type") in ("image", "image_url", "input_image", "document", "file"):
            return f"[{content['type']}]"
    return json.dumps(content, ensure_ascii=False, default=str)


# The other dialects


def _item_parts(body: Mapping[str, Any]) -> Iterator[Part]:
    kind = str(body.get("type"))
    if kind == "message":
        yield from _content(body.get("content"))
    elif kind.endswith("_output"):
        answered = str(body.get("call_id") or body.get("id") or "")
        yield Part(kind="answer", id=answered, text=_flat(body.get("output")), raw=body)
    elif kind == "reasoning":
        yield Part(kind="thinking", text=_flat(body.get("summary")), raw=body)
    elif kind in ("function_call", "custom_tool_call"):
        given = body.get("arguments", body.get("input"))
        yield _call(body.get("call_id") or body.get("id"), body.get("name"), given, body)
    else:  # done by the provider itself: nobody answers it
        yield Part(kind="media", text=kind, raw=body)


def _gemini_parts(body: Mapping[str, Any]) -> Iterator[Part]:
    seen: dict[str, int] = {}
    for block in _mappings(body.get("parts")):
        call = gemini_block(block, "function_call")
        answer = gemini_block(block, "function_response")
        if call is not None:
            yield _call(_gemini_id(call, seen), call.get("name"), call.get("args") or {}, block)
        elif answer is not None:
            text = _flat(answer.get("response"))
            yield Part(kind="answer", id=_gemini_id(answer, seen), text=text, raw=block,
                       name=str(answer.get("name") or ""))  # fmt: skip
        elif isinstance(block.get("text"), str):
            kind: PartKind = "thinking" if block.get("thought") else "text"
            yield Part(kind=kind, text=block["text"], raw=block)
        else:
            yield Part(kind="media", text=next(iter(block), "part"), raw=block)


def gemini_block(block: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    """A part by its name, written as the Python client does or as the REST interface does."""
    head, *rest = name.split("_")
    camel = head + "".join(map(str.title, rest))
    found = block.get(name, block.get(camel))
    return found if isinstance(found, Mapping) else None


def _gemini_id(block: Mapping[str, Any], seen: dict[str, int]) -> str:
    """Gemini often gives no ids and pairs by name and order; so do we."""
    if block.get("id"):
        return str(block["id"])
    name = str(block.get("name") or "")
    seen[name] = seen.get(name, 0) + 1
    return f"gemini:{name}:{seen[name]}"


def _langchain_parts(body: Mapping[str, Any]) -> Iterator[Part]:
    if body.get("type") in ("tool", "ToolMessageChunk"):
        answered = str(body.get("tool_call_id") or "")
        yield Part(kind="answer", id=answered, text=_flat(body.get("content")), raw=body)
        return
    calls = list(_tool_calls(body.get("tool_calls")))
    yield from (part for part in _content(body.get("content")) if part.kind != "call" or not calls)
    yield from calls


def _pydantic_parts(body: Mapping[str, Any]) -> Iterator[Part]:
    for block in _mappings(body.get("parts")):
        kind = str(block.get("part_kind") or "")
        content = block.get("content")
        if kind in ("user-prompt", "system-prompt", "text", "instruction"):
            for part in _content(content):
                yield dataclasses.replace(part, raw={**block, "content": part.raw or part.text})
        elif kind == "thinking":
            yield Part(kind="thinking", text=str(content or ""), raw=block)
        elif kind == "tool-call":
            yield _call(block.get("tool_call_id"), block.get("tool_name"), block.get("args"), block)
        elif kind in ("tool-return", "retry-prompt") and block.get("tool_call_id"):
            answered = str(block["tool_call_id"])
            yield Part(kind="answer", id=answered, text=_flat(content), raw=block,
                       name=str(block.get("tool_name") or ""))  # fmt: skip
        elif kind == "retry-prompt":
            yield Part(kind="text", text=_flat(content), raw=block)
        else:
            yield Part(kind="media", text=kind or "part", raw=block)


_PYDANTIC_ROLES: Mapping[str, Role] = {
    "system-prompt": "system",
    "instruction": "system",
    "tool-return": "tool",
    "user-prompt": "user",
}


def _pydantic_bodies(raw: Mapping[str, Any]) -> list[Body]:
    if raw["kind"] == "response":
        return [Body(role="assistant", original=raw)]
    grouped: list[tuple[Role, list[Any]]] = []
    for block in _mappings(raw["parts"]):
        role = _PYDANTIC_ROLES.get(str(block.get("part_kind")), "tool")  # no person's words
        if not grouped or grouped[-1][0] != role:
            grouped.append((role, []))
        grouped[-1][1].append(block)
    return [Body(role=role, original={**raw, "parts": parts}) for role, parts in grouped]


def _mappings(listed: Any) -> list[Mapping[str, Any]]:
    found = [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    if isinstance(listed, list) and len(found) < len(listed):
        raise Invalid("parts must be a list of mappings")
    return found


_ROLES: Mapping[Dialect, Callable[[Mapping[str, Any]], Role]] = {
    "chat": _chat_role,
    "responses": _item_role,
    "gemini": _gemini_role,
    "langchain": lambda raw: _LANGCHAIN_ROLES[raw["type"]],
}
_PARTS: Mapping[Dialect, Callable[[Mapping[str, Any]], Iterable[Part]]] = {
    "chat": _chat_parts,
    "responses": _item_parts,
    "gemini": _gemini_parts,
    "langchain": _langchain_parts,
    "pydantic": _pydantic_parts,
}
