"""What lasts of what was said: of sentences that no rule reads, and of those that one does.

Who reads English sentences says it; where there is nobody, or a sentence is in another language,
the vectors of the model in the box say it for what no rule reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from standfast.engine import Engine
from standfast.errors import Unavailable
from standfast.lifecycle.bounds import LASTING, LASTING_REPLY, MAY_LAST, PASSING, SURELY_LASTING
from standfast.ports import Reader
from standfast.text.claims.foreign import language_of
from standfast.text.claims.lessons import Lesson, durability_for
from standfast.text.claims.sentences import plain, sentences
from standfast.text.claims.voice import own_words
from standfast.types import TRUST_OF_SOURCE, Message
from standfast.upkeep.learn.endurance import endurance_in

Unread = tuple[str, Lesson]  # a sentence as it was said, and its lesson
Barred = tuple[str, str, Lesson]  # a part of one, the sentence, and the lesson of the part


async def lasting_in(engine: Engine, root: str, unread: Sequence[Unread]) -> list[Lesson]:
    """Of what no rule reads, what lasts."""
    if not unread or engine.embedder is None or await engine.vector_trouble():
        return []
    odds = await _odds(engine.reader, [text for text, _ in unread])
    kept = [one for text, one in unread if text in odds and odds[text] > _least(one)]
    tells = endurance_in(engine.embedder.space)
    rest = [one for one in unread if one[0] not in odds]
    if tells is None or not rest:
        return kept
    embedded = await engine.embed_texts([text for text, _ in rest], root=root)
    found = zip(rest, embedded.vectors, strict=True)
    return kept + [one for (_, one), vector in found if vector is not None and tells.holds(vector)]


def _least(lesson: Lesson) -> float:
    """Who answers, or replies to what was said, tells more with fewer words."""
    return LASTING_REPLY if lesson.asked or lesson.replies else LASTING


async def surely_lasting_in(reader: Reader | None, barred: Sequence[Barred]) -> list[Lesson]:
    """Of what some rule takes for nothing that lasts, what surely does, in a sentence that may:
    "obviously I'm the Queen and I have seventeen corgis" does not."""
    odds = await _odds(reader, [text for part, whole, _ in barred for text in (part, whole)])
    return [
        lesson
        for part, whole, lesson in barred
        if odds.get(part, SURELY_LASTING) > SURELY_LASTING and odds.get(whole, 0.0) > MAY_LAST
    ]


async def fleeting_in(
    engine: Engine, messages: Sequence[Message], lessons: Sequence[Lesson]
) -> list[Lesson]:
    """Facts that the rules read in messages of which nothing lasts: "I keep yawning". They count
    only where they change something."""
    asked = [one for one in lessons if _may_be_fleeting(one)]
    ids = {id_ for one in asked for id_ in one.messages}
    said = {
        one.id: [part.text for part in sentences(plain(own_words(one.text)))]
        for one in messages
        if one.id in ids and one.role == "user"
    }
    odds = await _odds(engine.reader, [text for parts in said.values() for text in parts])
    passing = {
        id_
        for id_, parts in said.items()
        if parts and all(odds.get(text, PASSING) < PASSING for text in parts)
    }
    return [one for one in asked if passing.issuperset(one.messages)]


def _may_be_fleeting(lesson: Lesson) -> bool:
    """What was asked for, what answers a question, corrects, or matters for somebody's safety is
    kept in any case."""
    if lesson.type != "fact" or lesson.asked or lesson.replies or lesson.corrects or lesson.doubts:
        return False
    usual = durability_for(lesson.text, "semantic", TRUST_OF_SOURCE["user"], "standard")
    return usual != "core"


async def _odds(reader: Reader | None, texts: Sequence[str]) -> Mapping[str, float]:
    """That they last, of the English ones; nothing where nobody reads them."""
    english = list(dict.fromkeys(text for text in texts if not language_of(text)))
    if reader is None or not english:
        return {}
    try:
        return dict(zip(english, await reader.lasts(english), strict=True))
    except Unavailable:
        return {}
