"""A turn and the turns around it: what was said just before and after belongs to its meaning.

"Yes, last Friday" answers the turn before it. So a search may score a turn together with its
neighbours in the same conversation: those of the same scope and session, in the order of their
times, without a pause in between. A neighbour counts less the further away it is, and a long
one for no more than twenty words. Somebody's own notes in a row are no conversation: a turn
has neighbours only if somebody else is among them.

The weights were chosen with cross-validation; see docs/explanation/recall.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from standfast.types import Record

BEFORE = (0.6, 0.36, 0.216)  # what the turn before counts, the one before that, ...
AFTER = (0.6, 0.36)
WORDS_MAX = 20
PAUSE_SECONDS = 3600  # a longer silence ends a conversation


def share(weight: float, words: int) -> float:
    """What a neighbour of that many words counts at a place of this weight."""
    return weight * min(1.0, WORDS_MAX / max(words, 1))


def usual_length(average: float, weights: float) -> float:
    """How many words a turn of average length has, together with neighbours at places of these
    weights, added up."""
    return average + weights * min(average, WORDS_MAX)


class Around(NamedTuple):
    """The neighbours of a turn: the weights of their places, and where they stand in its
    conversation; nearest first."""

    before: Sequence[tuple[float, int]] = ()
    after: Sequence[tuple[float, int]] = ()

    @property
    def places(self) -> Sequence[tuple[float, int]]:
        return (*self.before, *self.after)


def around(turns: Sequence[Record], place: int) -> Around:
    """The neighbours of one turn of a conversation, which is in the order of time."""
    before = _reached(turns, place, range(place - 1, -1, -1), BEFORE)
    found = Around(before, _reached(turns, place, range(place + 1, len(turns)), AFTER))
    spoken = {_speaker(turns[other]) for _, other in found.places}
    return found if spoken - {_speaker(turns[place])} else Around()


def _reached(
    turns: Sequence[Record], place: int, others: Iterable[int], weights: Sequence[float]
) -> Sequence[tuple[float, int]]:
    reached: list[tuple[float, int]] = []
    last = place
    for weight, other in zip(weights, others, strict=False):
        if abs((turns[other].at - turns[last].at).total_seconds()) > PAUSE_SECONDS:
            break
        reached.append((weight, other))
        last = other
    return reached


def _speaker(record: Record) -> tuple[str, str]:
    return record.source, record.author
