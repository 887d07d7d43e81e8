"""Who has the places of an answer. Pure.

Trust does not rank: the best text comes first, whoever wrote it. But pages and tools write without
end, and whoever writes them may repeat the words of a question as often as they like. So they have
at most half of the places while something else is waiting, by no weight that could be outbid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar, get_args

from standfast.types import TRUST_OF_SOURCE, Record, Source

OUTSIDE: tuple[Source, ...] = ("web", "tool")
# All others. An import is somebody's own history, however little is known of who wrote it.
INSIDE: tuple[Source, ...] = tuple(one for one in get_args(Source) if one not in OUTSIDE)
OUTSIDE_TRUST = max(TRUST_OF_SOURCE[one] for one in OUTSIDE)
PASSED_OVER = "pages and tools take half of the places at most, while others wait"


class HoldsRecord(Protocol):
    @property
    def record(self) -> Record: ...


T = TypeVar("T", bound=HoldsRecord)


def outside(records: Iterable[Record]) -> list[bool]:
    """Of each: is it the word of a page or a tool alone? What somebody more trusted has said too
    is theirs as well."""
    return [one.source in OUTSIDE and one.trust <= OUTSIDE_TRUST for one in records]


def is_outside(record: Record) -> bool:
    return outside((record,))[0]


def holds_outside(one: HoldsRecord) -> bool:
    return is_outside(one.record)


def is_crowded(found: Sequence[bool]) -> bool:
    """Are more than half of them of pages and tools? As ``outside`` tells of each."""
    return 2 * sum(found) > len(found)


def placed(
    found: Sequence[T], places: int, is_theirs: Callable[[T], bool] = holds_outside
) -> tuple[list[T], list[T]]:
    """Who has a place, in the order they came, and who would have had one and was passed over:
    the last of pages and tools."""
    first, behind = list(found[:places]), found[places:]
    theirs = [n for n, one in enumerate(first) if is_theirs(one)]
    over = len(theirs) - places // 2
    if over <= 0 or not behind:
        return first, []
    waiting = [one for one in behind if not is_theirs(one)][:over]
    passed = frozenset(theirs[len(theirs) - len(waiting) :])
    kept = [one for n, one in enumerate(first) if n not in passed]
    return [*kept, *waiting], [first[n] for n in sorted(passed)]
