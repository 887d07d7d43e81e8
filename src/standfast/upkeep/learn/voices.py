"""What somebody says themselves, and what they correct, by who reads it with what is around it.

Rules know the marks with which somebody else's words begin (``standfast.text.claims.voice``). Many
messages have none: a diary between two blank lines, a scene, a letter and "too long?" behind it.
Where the reader is sure it is heeded; where it is not the rules decide.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from standfast.engine import Engine
from standfast.errors import Unavailable
from standfast.lifecycle.bounds import LIKELY, NO_CORRECTION, OWN, SHOWN
from standfast.ports import Reader
from standfast.text.claims.foreign import language_of
from standfast.text.claims.passages import PASSAGES_MAX, in_its_place, is_read, may_show, passages
from standfast.text.claims.voice import OwnWords, is_framed, own_words
from standfast.text.normal import one_line
from standfast.types import Message
from standfast.upkeep.learn.lanes import CHARACTERS_MAX, Turns

TALK_MIN = 4  # passages
READ_CHARACTERS_MAX = 20_000
_LONG_RUN = re.compile(r"[!-~]{400,}")  # encoded data, minified code, a key held down


async def in_own_words(engine: Engine, turns: Turns) -> Turns:
    """The same turns, with what people only show left out of their messages."""
    turns = replace(
        turns,
        messages=[readable(one) for one in turns.messages],
        earlier=[readable(one) for one in turns.earlier],
    )
    if engine.reader is None:
        return turns
    try:
        return replace(
            turns,
            messages=await _own_of(engine.reader, turns.messages),
            earlier=await _own_of(engine.reader, turns.earlier),
        )
    except Unavailable:
        return turns


def readable(message: Message) -> Message:
    """The message as far as rules read it in bounded time: a long run without a space is no
    language, and of a very long text the beginning is read."""
    text = _LONG_RUN.sub("…", message.text)[:READ_CHARACTERS_MAX]
    return message if text == message.text else replace(message, text=text)


async def _own_of(reader: Reader, messages: Sequence[Message]) -> list[Message]:
    return [
        replace(one, text=await own_part(reader, one.text)) if one.role == "user" else one
        for one in messages
    ]


async def corrected_in(
    reader: Reader | None, message: Message, told: Sequence[str]
) -> dict[str, bool]:
    """Of what was just told, what the message surely corrects, and what it surely does not."""
    said = own_words(message.text).strip()
    if reader is None or not told or not said or language_of(said):
        return {}
    try:
        odds = await reader.changes(said, told)
    except Unavailable:
        return {}
    read = zip(told, odds, strict=True)
    return {text: odd > LIKELY for text, odd in read if not NO_CORRECTION <= odd <= LIKELY}


async def own_part(reader: Reader, text: str) -> str:
    """A message as it was sent where the rules say the same; else its own passages."""
    if not may_show(text) or len(text) > CHARACTERS_MAX or is_framed(text) or language_of(text):
        return text
    parts = [in_its_place(text, place) for place in passages(text)]
    asked = [part for part in parts if is_read(part[1])][:PASSAGES_MAX]
    odds = dict(zip(asked, await reader.own(asked), strict=True))
    ruled = one_line(own_words(text))
    # What a rule cuts is given back beside something that is shown, or in a long talk of one voice.
    shows = any(odd < SHOWN for odd in odds.values())
    given_back = shows or (len(odds) >= TALK_MIN and min(odds.values()) > OWN)
    heard = [
        _heard(part, odds.get((before, part, behind), 0.0), part in ruled, given_back)
        for before, part, behind in parts
    ]
    own = OwnWords("\n".join(filter(None, heard)))
    return text if one_line(own) == ruled else own


def _heard(part: str, odds: float, is_ruled: bool, given_back: bool) -> str:
    """What the speaker says of a passage. In one that has marks of speech the rules cut, too."""
    if odds > OWN and given_back:
        return own_words(part) if may_show(part) else part
    return own_words(part) if odds > SHOWN and is_ruled else ""
