"""One case through the public interface: messages in, questions asked, answers as message ids."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from typing import Any

from evaluation.baselines import Baselines
from evaluation.cases import Case, Question, Said
from standfast import AsyncMemory
from standfast.engine import Engine
from standfast.ports import Embedder
from standfast.profiles import Profile
from standfast.types import Hit
from standfast.wiring import open_engine, read_settings

STANDFAST = "standfast"
SCOPE = "user:evaluated"
ROUNDS_OF_UPKEEP_MAX = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A way to set standfast up; ``changes`` are fields of its profile."""

    name: str = STANDFAST
    changes: Mapping[str, Any] = field(default_factory=dict)

    def applied(self, profile: Profile) -> Profile:
        return replace(profile, **self.changes) if self.changes else profile


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What a measuring process has to know beside the case."""

    profile: str
    k: int
    variants: Sequence[Variant]
    baselines: bool
    learn: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One question, asked of one system."""

    set: str
    question: str
    category: str
    system: str
    ranked: Sequence[str]
    sessions: Sequence[str]
    gold: Sequence[str]
    gold_sessions: Sequence[str]
    ms: float

    @property
    def hit(self) -> bool:
        """Whether any of the evidence is in the first five."""
        if self.gold:
            return bool(set(self.gold) & set(self.ranked[:5]))
        return bool(set(self.gold_sessions) & set(self.sessions[:5]))

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "hit": self.hit}


async def ask_case(
    name: str, case: Case, task: Task, embedder: Embedder | None, place: str
) -> list[Outcome]:
    """Everything that is asked of one case, by every system. ``place`` becomes its store."""
    engine = await _opened(place, embedder, task)
    memory = AsyncMemory(engine)
    profile = engine.profile
    sessions = {said.id: said.session for said in case.messages}
    outcomes: list[Outcome] = []
    try:
        await _fill(memory, case, task)
        await memory.recall(case.questions[0].text, scope=SCOPE)  # the index is read in once
        for question in case.questions:
            for variant in task.variants:  # in turn, so that a busy moment hits all alike
                engine.profile = variant.applied(profile)
                outcomes.append(await _ask(name, memory, question, task, variant, sessions))
    finally:
        await memory.close()
    if task.baselines:
        outcomes += await _baselines(name, case, task, embedder, sessions)
    return outcomes


async def _baselines(
    name: str, case: Case, task: Task, embedder: Embedder | None, sessions: Mapping[str, str]
) -> list[Outcome]:
    simple = Baselines(case, embedder)
    outcomes = []
    for question in case.questions:
        began = time.perf_counter()
        found = await simple.rank(question, task.k)
        ms = (time.perf_counter() - began) * 1000
        outcomes += [
            _outcome(name, system, question, ranked, sessions, ms)
            for system, ranked in found.items()
        ]
    return outcomes


async def _opened(place: str, embedder: Embedder | None, task: Task) -> Engine:
    """As ``AsyncMemory.open`` does it, but in our hands, because a variant changes the profile.
    No upkeep runs behind our back."""
    environ = {
        "STANDFAST_PROFILE": task.profile,
        "STANDFAST_LEARN": "rules" if task.learn else "off",
    }
    return await open_engine(
        place,
        embedder=embedder if embedder is not None else "none",
        settings=read_settings(environ),
    )


async def _fill(memory: AsyncMemory, case: Case, task: Task) -> None:
    for session, messages in groupby(case.messages, key=lambda said: said.session):
        await memory.observe(session, list(map(_message, messages)), scope=SCOPE)
    if task.learn:
        for _ in range(ROUNDS_OF_UPKEEP_MAX):
            if not (await memory.maintain()).items:
                break


async def _ask(
    name: str,
    memory: AsyncMemory,
    question: Question,
    task: Task,
    variant: Variant,
    sessions: Mapping[str, str],
) -> Outcome:
    began = time.perf_counter()
    answer = await memory.recall(question.text, scope=SCOPE, limit=task.k, now=question.now)
    ms = (time.perf_counter() - began) * 1000
    return _outcome(name, variant.name, question, messages_of(answer.hits), sessions, ms)


def _message(said: Said) -> Mapping[str, Any]:
    named = {"author": said.author} if said.author else {}
    return {"role": said.role, "content": said.text, "id": said.id, "at": said.at, **named}


def messages_of(hits: Iterable[Hit]) -> list[str]:
    """The messages that the hits were made from, best first, each once."""
    return list(dict.fromkeys(id_ for hit in hits for id_ in hit.record.lineage))


def _outcome(
    name: str,
    system: str,
    question: Question,
    ranked: Sequence[str],
    sessions: Mapping[str, str],
    ms: float,
) -> Outcome:
    return Outcome(
        set=name,
        question=question.id,
        category=question.category,
        system=system,
        ranked=ranked,
        sessions=list(dict.fromkeys(sessions[id_] for id_ in ranked if id_ in sessions)),
        gold=sorted(question.gold),
        gold_sessions=sorted(question.gold_sessions),
        ms=ms,
    )
