"""Prompts: one .md file each, with strict placeholders.

``{like_this}`` is replaced by the value of that name; ``{{`` and ``}}`` stand for braces. A value
that is missing or not wanted is an error. Values are put in as they are, once: braces in them mean
nothing. A line ``=== user ===`` parts what the model is told from what it is shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from standfast.errors import Invalid
from standfast.ports import Prompt
from standfast.types.own import NOTHING_OWN, OwnTypes

BEGINS_USER = "\n=== user ===\n"

_PIECE = re.compile(r"\{\{|\}\}|\{([a-z][a-z0-9_]*)\}|[{}]")
_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
_TAGS = "previous_summary|messages|question|memories|known|facts"
_TAG = re.compile(rf"<(?=\s*/?\s*(?:{_TAGS})\s*>)", re.IGNORECASE)

# An answer within a token limit still needs room for its JSON and a model that counts its own way.
ROOM = 1.5
CHARACTERS_PER_TOKEN_MAX = 8

EXTRACT_TOKENS_MAX = 2000
LEARNED_TYPES = ("fact", "preference", "interest", "entity", "user_request")
SLOTS = "home, employer, job, name, birthday, phone, likes"
EPISODE_RULE = "\nepisode: from draft and messages, what was wanted, done and achieved."


class Rendered(NamedTuple):
    system: str
    user: str


def render(name: str, /, **values: object) -> Rendered:
    """The prompt of that name with its values in; ``user`` is "" if it has no such part."""
    pieces = _read(name)
    wanted = {placeholder for placeholder, _ in pieces if placeholder}
    if wanted != set(values):
        missing = ", ".join(sorted(wanted - set(values))) or "nothing"
        extra = ", ".join(sorted(set(values) - wanted)) or "nothing"
        raise Invalid(f"prompt {name!r}: {missing} is missing, {extra} is too much")
    parts: list[list[str]] = [[], []]
    side = 0
    for placeholder, text in pieces:
        if placeholder:
            parts[side].append(str(values[placeholder]))
            continue
        before, begins, after = text.partition(BEGINS_USER)
        parts[side].append(before)
        if begins:
            side = 1
            parts[side].append(after)
    return Rendered("".join(parts[0]).strip(), "".join(parts[1]).strip())


@cache
def _read(name: str) -> tuple[tuple[str, str], ...]:
    """The file as (placeholder, "") and ("", text) in order."""
    if not _NAME.match(name):
        raise Invalid(f"{name!r} is no name of a prompt")
    try:
        text = files(__package__).joinpath(f"{name}.md").read_text("utf-8")
    except FileNotFoundError:
        raise Invalid(f"there is no prompt {name!r}") from None
    return tuple(pieces_of(text, name))


def pieces_of(text: str, name: str) -> list[tuple[str, str]]:
    """Texts between placeholders, with doubled braces resolved; a lone brace is an error."""
    pieces: list[tuple[str, str]] = []
    plain, at = "", 0
    for match in _PIECE.finditer(text):
        plain += text[at : match.start()]
        at = match.end()
        if match[1]:
            pieces += [("", plain), (match[1], "")]
            plain = ""
        elif match[0] in ("{{", "}}"):
            plain += match[0][0]
        else:
            line = text.count("\n", 0, match.start()) + 1
            raise Invalid(f"prompt {name!r}, line {line}: a lone brace; double it")
    pieces.append(("", plain + text[at:]))
    return pieces


def summarize(*, previous: str, messages: str, tokens: int) -> Prompt:
    """Fold older messages into the running summary; the answer is {"summary": text}."""
    system, user = render(
        "summarize",
        previous=as_data(previous.strip()) or "(none yet)",
        messages=as_data(messages.strip()),
        tokens=tokens,
    )
    return Prompt(
        operation="summarize",
        system=system,
        user=user,
        schema=summary_schema(tokens),
        tokens_max=int(tokens * ROOM) + 50,
    )


def summary_schema(tokens: int) -> Mapping[str, Any]:
    summary = {"type": "string", "minLength": 1, "maxLength": tokens * CHARACTERS_PER_TOKEN_MAX}
    return {
        "type": "object",
        "properties": {"summary": summary},
        "required": ["summary"],
        "additionalProperties": False,
    }


def extract(*, known: str, messages: str, draft: str = "", own: OwnTypes = NOTHING_OWN) -> Prompt:
    """Learn from messages beside what is known; the answer is {"facts": [...], "skip": text}.
    With the draft of an episode the answer holds the better "episode" too."""
    system, user = render(
        "extract",
        slots=SLOTS,
        episode=EPISODE_RULE if draft else "",
        own=f"\n{told}" if (told := own.as_text()) else "",
        known=as_data("\n".join(filter(None, (known.strip(), draft and f"draft: {draft}"))))
        or "(nothing)",
        messages=as_data(messages.strip()),
    )
    return Prompt(
        operation="extract",
        system=system,
        user=user,
        schema=extract_schema(episode=bool(draft), own=tuple(own.types)),
        tokens_max=EXTRACT_TOKENS_MAX,
    )


def extract_schema(*, episode: bool, own: tuple[str, ...] = ()) -> Mapping[str, Any]:
    """Every list is a text after commas: quotes and brackets would cost a third more."""
    text, share = {"type": "string"}, {"type": "number"}
    fact = {
        "text": text,
        "from": text,
        "type": {"type": "string", "enum": [*LEARNED_TYPES, *own]},
        "claim": text,
        "when": text,
        "confidence": share,
        "importance": share,
        "durability": {"type": "string", "enum": ["core", "standard", "ephemeral"]},
        "tags": text,
        "links": text,
    }
    if own:
        fact["fields"] = text
    facts = {"type": "array", "items": _object(fact, ["text", "from"])}
    answer = {"facts": facts, "skip": text} | ({"episode": text} if episode else {})
    return _object(answer, ["facts"])


def profile(*, title: str, facts: str, tokens: int) -> Prompt:
    """Say the facts of a scope in one short text; the answer is {"profile": text}."""
    system, user = render(
        "profile", title=as_data(title), facts=as_data(facts.strip()), tokens=tokens
    )
    text = {"type": "string", "minLength": 1, "maxLength": tokens * CHARACTERS_PER_TOKEN_MAX}
    return Prompt(
        operation="consolidate",
        system=system,
        user=user,
        schema=_object({"profile": text}, ["profile"]),
        tokens_max=int(tokens * ROOM) + 50,
    )


def _object(properties: Mapping[str, Any], required: list[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": required,
        "additionalProperties": False,
    }


def as_data(text: str) -> str:
    """Text that cannot close the tag around it: what people wrote stays between the tags."""
    return _TAG.sub("&lt;", text)
