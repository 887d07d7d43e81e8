"""A reader in place of a model that learns: it reads the messages it is shown, and answers in the
form that was asked for.

    with ScriptedServer(learns_by_reading(reader)) as server:
        ...                        # every question for facts gets a sensible answer
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from standfast.models.prompts import LEARNED_TYPES
from standfast.testing.reader import read_statements
from standfast.testing.scripted import ScriptedAnswer, ScriptedQuestion, says_json, summarises
from standfast.text.tokens import estimate
from standfast.types import Message, Role
from standfast.understanding.reading.reader import Reader
from standfast.understanding.reading.statements import LearnedStatement

ROLES: Mapping[str, Role] = {"USER": "user", "ASSISTANT": "assistant", "TOOL": "tool"}

_LINE = re.compile(
    r"\[(?P<handle>t\d+)\] \w{3} (?P<at>\d{4}-\d\d-\d\d \d\d:\d\d [+-]\d{4}) (?P<role>[A-Z]+)"
    r"(?: (?P<name>[^:\n]*))?: (?P<text>.*)"
)


async def answer_for(shown: str, reader: Reader) -> dict[str, Any]:
    """The answer to a question for facts: what the reader finds in the messages it shows."""
    said = shown.rpartition("<messages>")[2].partition("</messages>")[0]
    messages = list(_messages(said))
    found = await read_statements(reader, messages)
    told = {id_ for one in found for id_ in one.messages}
    skipped = [f"{one.id}: nothing lasting" for one in messages if one.id not in told]
    return {"facts": [_fact(one) for one in found], "skip": "; ".join(skipped)}


def learns_by_reading(reader: Reader) -> Callable[[ScriptedQuestion], ScriptedAnswer]:
    """As a behaviour of the scripted server; tokens are those of question and answer by the
    estimate. Questions for summaries and profiles are answered too."""

    def rule(asked: ScriptedQuestion) -> ScriptedAnswer:
        wanted = (asked.schema or {}).get("properties", {})
        asked_tokens = estimate(asked.system + asked.user + json.dumps(asked.schema))
        if "facts" not in wanted:
            return replace(summarises()(asked), usage=(asked_tokens, 60))
        answer = says_json(asyncio.run(answer_for(asked.user, reader)))
        return replace(answer, usage=(asked_tokens, estimate(answer.text or "")))

    return rule


def _messages(said: str) -> Iterator[Message]:
    """Lines that begin with a handle; a message of several lines goes on with indented ones."""
    for block in re.split(r"\n(?=\[t\d+\] )", said.strip()):
        found = _LINE.match(block)
        if found is None:
            continue
        rest = block[found.end() :].replace("\n    ", "\n")
        yield Message(
            id=found["handle"],
            scope="user:shown",
            session="shown",
            role=ROLES.get(found["role"], "system"),
            text=found["text"] + rest,
            at=datetime.strptime(found["at"], "%Y-%m-%d %H:%M %z"),
            author=found["name"] or "",
            source="user" if found["role"] == "USER" else "tool",
        )


def _fact(statement: LearnedStatement) -> dict[str, Any]:
    fact: dict[str, Any] = {
        "text": statement.text,
        "from": ", ".join(statement.messages),
        "type": statement.type if statement.type in LEARNED_TYPES else "fact",
        "confidence": statement.confidence,
        "importance": statement.importance,
        "tags": ", ".join(statement.tags),
    }
    if statement.valid_from is not None:
        fact["when"] = statement.valid_from.date().isoformat()
    return fact
