"""One case through the public interface: each turn said at its time, upkeep after each, then a
look at what is believed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from evaluation.learning.cases import Case
from standfast import AsyncMemory
from standfast.ports import Embedder
from standfast.types import Record, ReviewItem, Type
from standfast.wiring import read_settings

SCOPE = "user:evaluated"
MOMENT = timedelta(seconds=5)  # between a message and the upkeep after it
LIST_MAX = 200
# What nothing in the sets is about: of who has told much, a change may be about anything.
ELSE_KNOWN = (
    "I keep my stamps in a blue album.",
    "My neighbour Gerda plays the harp.",
    "My grandmother's sewing machine is a Singer.",
    "The attic has two skylights.",
    "I collect fossils.",
    "My favourite opera is Rusalka.",
)
BEFORE = timedelta(days=90)


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief:
    """A record that is no turn. ``current``: active or disputed, and not over by now.
    ``doubted``: somebody who looks is told that it is in doubt."""

    id: str
    text: str
    status: str
    current: bool
    doubted: bool

    @property
    def is_touched(self) -> bool:
        return self.doubted or not self.current

    def __str__(self) -> str:
        marks = ["doubted"] * self.doubted + ["over"] * (not self.current)
        return f"{self.text} [{', '.join([self.status, *marks])}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lived:
    """What was known after the first of the user's turns, before the last, and at the end."""

    first: Sequence[Belief]
    before: Sequence[Belief]
    after: Sequence[Belief]

    @property
    def fresh(self) -> list[Belief]:
        """What the last turn brought. Text never changes in place, so a change is a new record."""
        known = {belief.id for belief in self.before}
        return [belief for belief in self.after if belief.id not in known]


async def opened(embedder: Embedder | None, now: Sequence[datetime]) -> AsyncMemory:
    """An empty memory at the moment that ``now`` holds. No setting of this machine takes part, so
    no language model does."""
    return await AsyncMemory.open(
        "dict:",
        embedder=embedder if embedder is not None else "none",
        background=False,
        clock=lambda: now[0],
        settings=read_settings({}),
    )


async def live(case: Case, embedder: Embedder | None, told: Sequence[str] = ()) -> Lived:
    """In a store of its own: cases cannot see each other, and upkeep has one scope to look at.
    ``told``: long before."""
    now = [case.turns[0].at - BEFORE]
    memory = await opened(embedder, now)
    known: list[list[Belief]] = [[]]  # before anything was said, then after each user's turn
    try:
        if told:
            await memory.observe("before", list(told), scope=SCOPE, author=case.author)
            await memory.maintain()
        others = {one.id for one in await believed(memory, now[0])} if told else set()
        for place, turn in enumerate(case.turns):
            now[0] = turn.at
            message = {"role": turn.role, "content": turn.text, "id": f"m{place}", "at": turn.at}
            author = case.author if turn.role == "user" else ""
            await memory.observe(turn.session, [message], scope=SCOPE, author=author)
            now[0] += MOMENT
            await memory.maintain()
            if turn.role == "user":
                found = await believed(memory, now[0])
                known.append([one for one in found if one.id not in others or one.is_touched])
    finally:
        await memory.close()
    return Lived(first=known[1], before=known[-2], after=known[-1])


async def believed(
    memory: AsyncMemory, now: datetime, types: Sequence[Type] = (), scope: str = SCOPE
) -> list[Belief]:
    """What is kept of what was said, also what is over."""
    page = await memory.records(scope=scope, descend=True, types=types, limit=LIST_MAX)
    doubted = _under_review(await memory.review(scope=scope))
    return [
        Belief(
            id=record.id,
            text=record.text,
            status=record.status,
            current=_is_current(record, now),
            doubted=_is_current(record, now) and (_is_questioned(record) or record.id in doubted),
        )
        for record in page.items
        if record.type != "turn"
    ]


def _under_review(items: Sequence[ReviewItem]) -> set[str]:
    """Records that a person is asked about."""
    touched = [record for item in items for record in (item.record, *item.touches) if record]
    return {record.id for record in touched}


def _is_questioned(record: Record) -> bool:
    return record.status == "disputed" or bool(record.data.get("questioned"))


def _is_current(record: Record, now: datetime) -> bool:
    over = any(end is not None and end <= now for end in (record.valid_to, record.expires_at))
    return record.status in ("active", "disputed") and not over
