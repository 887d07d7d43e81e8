"""A scripted reader, which knows the clauses of the texts that it was given and of no others; and
what any reader finds in messages, without a memory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import get_args

from standfast.types import Message
from standfast.types.frozen import frozen
from standfast.understanding.reading.clauses import Clause, Label
from standfast.understanding.reading.foreign import foreign_ranges
from standfast.understanding.reading.reader import Reader, Reading
from standfast.understanding.reading.statements import LearnedStatement, statements_of


@frozen(kw_only=False)
class ScriptedClause:
    """A clause by its words. ``subject``: me, we, you, or words of the message or of the line
    before it."""

    words: str
    label: Label = "FACT"
    subject: str = "me"
    category: str = "other"
    lasts: str = "years"
    answers: bool = False
    confidence: float = 0.95


class ScriptedReader:
    """Implements ``Reader``. ``asked`` are the texts that it was shown; ``otherwise`` reads those
    that it does not know."""

    def __init__(
        self, clauses: Mapping[str, Iterable[ScriptedClause]], otherwise: Reader | None = None
    ) -> None:
        self._clauses = {text: tuple(some) for text, some in clauses.items()}
        self._otherwise = otherwise
        self.asked: list[str] = []
        self.trouble = ""

    async def read(self, messages: Sequence[Reading]) -> list[list[Clause]]:
        self.asked += [one.text for one in messages]
        rest = [one for one in messages if one.text not in self._clauses]
        others = await self._otherwise.read(rest) if self._otherwise and rest else [[]] * len(rest)
        found = dict(zip(rest, others, strict=True))
        return [found[one] if one in found else list(self._placed(one)) for one in messages]

    def _placed(self, reading: Reading) -> Iterable[Clause]:
        start = 0
        for one in self._clauses.get(reading.text, ()):
            start = reading.text.index(one.words, start)
            yield _clause(one, reading, start)
            start += len(one.words)


def _clause(one: ScriptedClause, reading: Reading, start: int) -> Clause:
    assert one.label in get_args(Label), one.label
    fixed = one.subject in ("me", "we", "you")
    return Clause(
        start=start,
        end=start + len(one.words),
        label=one.label,
        subject=one.subject,
        subject_in="fixed" if fixed else "message" if one.subject in reading.text else "previous",
        category=one.category,
        lasts=one.lasts,
        answers=one.answers,
        confidence=one.confidence,
    )


async def read_statements(
    reader: Reader, messages: Sequence[Message], *, before: Sequence[Message] = ()
) -> list[LearnedStatement]:
    """What people say in messages; the last one of ``before`` stands before the first."""
    lines = [before[-1] if before else None, *messages]
    people = [(last, one) for last, one in zip(lines, messages, strict=False) if one.role == "user"]
    asked = [
        Reading(
            text=one.text,
            previous=last.text if last else "",
            speaker=one.author,
            foreign=foreign_ranges(one.text),
        )
        for last, one in people
    ]
    found = zip(people, asked, await reader.read(asked), strict=True)
    return [
        statement
        for (last, one), shown, clauses in found
        for statement in statements_of(one, clauses, last, shown.foreign)
    ]


def statements_in(
    reader: Reader, messages: Sequence[Message], *, before: Sequence[Message] = ()
) -> list[LearnedStatement]:
    """The same, where no loop runs."""
    return asyncio.run(read_statements(reader, messages, before=before))
