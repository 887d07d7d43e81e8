"""What the reader in the box finds in messages: statements, not compared with anything yet."""

from __future__ import annotations

import re
from collections.abc import Sequence

from standfast.engine import Engine
from standfast.text.redact.prose import asks_for_secret
from standfast.text.small_talk import is_small_talk
from standfast.text.trust import suspicion
from standfast.types import PERSON_TRUST, Message
from standfast.understanding.reading.foreign import foreign_ranges, read_until
from standfast.understanding.reading.reader import Reading
from standfast.understanding.reading.statements import LearnedStatement, statements_of
from standfast.upkeep.learn.lanes import UNREAD, Turns

PREVIOUS_CHARACTERS_MAX = 400  # of the line before a message: its end
OUTSIDE = frozenset(("tool", "web", "file"))
_LETTER = re.compile(r"[^\W_]")


def why_skipped(message: Message) -> str:
    """Why nobody reads a message, in words that hold none of its text; "" if somebody does."""
    if message.role in ("system", "developer"):
        return "instructions of the application"
    if message.role in ("tool", "function") or message.source in OUTSIDE:
        return "not said by a person"
    if not message.text.strip():
        return "empty"
    return "" if _LETTER.search(message.text) else "no words"


def may_teach(message: Message) -> bool:
    """Whether a language model is to be asked about a message."""
    return not why_skipped(message) and not is_small_talk(message.text.strip())


async def statements_in(engine: Engine, turns: Turns) -> list[LearnedStatement]:
    """What people say in these messages; standing orders only as a person's own word. Unavailable
    where no network can run."""
    if engine.reader is None:
        return []
    read = [one for one in turns.messages if one.role == "user" and not why_skipped(one)]
    before = _lines_before(turns)
    asked = [_reading(one, before.get(one.id)) for one in read]
    found = await engine.reader.read(asked) if asked else []
    return [
        statement
        for message, shown, clauses in zip(read, asked, found, strict=True)
        for statement in statements_of(message, clauses, before.get(message.id), shown.foreign)
        if _may_keep(statement, message, before.get(message.id))
    ]


def _may_keep(statement: LearnedStatement, message: Message, previous: Message | None) -> bool:
    """No order of anybody but a person, and no answer to what nobody should have asked."""
    if statement.type == "user_request" and message.trust < PERSON_TRUST:
        return False
    asked = previous.text if previous is not None and statement.asked else ""
    return not (asks_for_secret(asked) or suspicion(asked))


def too_long(messages: Sequence[Message]) -> dict[str, str]:
    """By message id, from where on a text is not read."""
    return {
        one.id: f"{UNREAD}too long, behind its first {place} characters"
        for one in messages
        if not why_skipped(one)
        and (place := read_until(one.text, foreign_ranges(one.text))) < len(one.text)
    }


def _reading(message: Message, previous: Message | None) -> Reading:
    foreign = foreign_ranges(message.text)
    return Reading(
        text=message.text[: read_until(message.text, foreign)],
        previous=previous.text[-PREVIOUS_CHARACTERS_MAX:] if previous else "",
        speaker=message.author,
        foreign=foreign,
    )


def _lines_before(turns: Turns) -> dict[str, Message]:
    """By message id, what somebody said just before it."""
    found: dict[str, Message] = {}
    last: Message | None = None
    for message in (*turns.earlier, *turns.messages):
        if message.role not in ("user", "assistant") or not message.text.strip():
            continue
        if last is not None:
            found[message.id] = last
        last = message
    return found
