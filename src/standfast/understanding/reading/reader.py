"""The port of reading: who marks the clauses of messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from standfast.types.frozen import frozen
from standfast.understanding.reading.clauses import Clause


@frozen
class Reading:
    """What a reader is shown of a message: its text, the line before it, and who said it.
    ``foreign``: ranges of the text that are surely not the speaker's own (see ``structure``)."""

    text: str
    previous: str = ""
    speaker: str = ""
    foreign: tuple[tuple[int, int], ...] = ()


class Reader(Protocol):
    """Marks the clauses of messages. Raises Unavailable where no network can run."""

    @property
    def trouble(self) -> str:
        """Why it could not read when it was last asked to; "" if it could."""
        ...

    async def read(self, messages: Sequence[Reading]) -> list[list[Clause]]:
        """The clauses of each message in the order of its text, as far as they are believed: what
        is below its threshold is left out."""
        ...
