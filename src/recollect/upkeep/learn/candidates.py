"""From turns to candidates: by rules, or by one question to a model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from recollect.engine import Engine
from recollect.errors import Invalid
from recollect.models.calls import sum_of
from recollect.models.embedder import Embedded
from recollect.models.prompts import extract as extract_prompt
from recollect.ports import AnswerError
from recollect.scopes import root_of
from recollect.text.claims import Extraction, Gated, TurnReading, gate
from recollect.types import Message, Query, Record, Usage
from recollect.upkeep.learn.answers import read_answer
from recollect.upkeep.learn.shown import known_as_text, messages_as_text, show
from recollect.upkeep.learn.values import LearnCandidate, Learned, Turns

KNOWN_MAX = 12
KNOWN_PER_MESSAGE = 4
SEARCH_CHARACTERS_MAX = 2000
UNTOLD = "the model found nothing in it"


async def by_rules(turns: Turns) -> Learned:
    """What the rules find; it costs nothing."""
    found = await _read_by_rules(turns)
    return Learned(
        candidates=tuple(LearnCandidate(lesson=lesson, how="rules") for lesson in found.lessons),
        skipped={**found.skipped, **turns.unheard},
    )


async def _read_by_rules(turns: Turns) -> Extraction:
    """Whoever waits for something else gets a turn after each message."""
    reading = TurnReading(turns.earlier)
    for message in turns.messages:
        await asyncio.sleep(0)
        reading.read(message)
    return reading.found


def worth_asking(turns: Turns) -> bool:
    """Is there a message that the heuristics do not surely skip?"""
    return any(_may_teach(gate(message)) for message in turns.messages if message.text.strip())


def _may_teach(gated: Gated) -> bool:
    return not (gated.skip and gated.sure)


async def by_model(engine: Engine, turns: Turns, *, draft: str) -> tuple[Learned, Usage]:
    """One question for all of them, the episode of a session that is over included. What the
    rules are sure of is learned even if the model passes it over. Unavailable or Invalid if there
    is no answer that can be used."""
    assert engine.models is not None
    known, searched = await nearest(engine, turns)
    shown = show(turns.messages, turns.earlier, known)
    gates = {message.id: gate(message) for message in turns.messages}
    prompt = extract_prompt(
        known=known_as_text(shown), messages=messages_as_text(shown, gates), draft=draft
    )
    authors = {message.author for message in shown.messages.values()}
    reply = await engine.models.ask(prompt, scope=turns.session.scope, authors=authors)
    rules = await _read_by_rules(turns)
    try:
        learned = read_answer(reply.data, shown, rules, engine.redactor)
    except Invalid as error:
        raise AnswerError(str(error), usage=reply.usage) from None
    sure = [
        LearnCandidate(lesson=lesson, how="rules")
        for lesson in rules.lessons
        if all(gates[id_].sure for id_ in lesson.messages if id_ in gates)
    ]
    candidates = _completed(learned.candidates, sure)
    skipped = {id_: gated.skip or UNTOLD for id_, gated in gates.items()}
    skipped |= {**learned.skipped, **turns.unheard}
    return replace(learned, candidates=candidates, skipped=skipped), sum_of(searched, reply.usage)


def _completed(
    candidates: tuple[LearnCandidate, ...], sure: Sequence[LearnCandidate]
) -> tuple[LearnCandidate, ...]:
    """With what the rules are sure of, from messages that the model made nothing of."""
    told = {id_ for candidate in candidates for id_ in candidate.lesson.messages}
    return (*candidates, *(one for one in sure if told.isdisjoint(one.lesson.messages)))


async def nearest(engine: Engine, turns: Turns) -> tuple[list[Record], Usage]:
    """Known records that the messages may be about, the nearest first, and what finding them
    by meaning cost."""
    texts = [one.text[:SEARCH_CHARACTERS_MAX] for one in _speaking(turns.messages)]
    embedded = Embedded(vectors=[None] * len(texts))
    if not await engine.vector_trouble():
        embedded = await engine.embed_texts(texts, root=root_of(turns.session.scope), query=True)
    found: dict[str, tuple[float, Record]] = {}
    for text, vector in zip(texts, embedded.vectors, strict=True):
        query = Query(
            scopes=(turns.session.scope,),
            now=engine.now(),
            text=text,
            vector=vector,
            space=engine.embedder.space if engine.embedder and vector else "",
            kinds=("semantic", "procedural"),
            limit=KNOWN_PER_MESSAGE,
        )
        for hit in await turns.store.search(query):
            score = max(hit.similarity or 0.0, hit.coverage)
            before = found.get(hit.record.id, (0.0, hit.record))[0]
            found[hit.record.id] = (max(score, before), hit.record)
    ranked = sorted(found.values(), key=lambda pair: (-pair[0], pair[1].id))
    return [record for _, record in ranked[:KNOWN_MAX]], embedded.usage


def _speaking(messages: Sequence[Message]) -> list[Message]:
    people = [one for one in messages if one.role == "user" and one.text.strip()]
    return people or [one for one in messages if one.text.strip()][:1]
