"""What lists answer with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Generic, TypeVar

from standfast.types import ReviewItem, Work
from standfast.types.frozen import frozen

T = TypeVar("T")


@frozen
class Page(Generic[T]):
    """Some of a list. ``next`` is the cursor of the page behind it; "" behind the last one."""

    items: tuple[T, ...]
    next: str = ""


@frozen
class Spent:
    """What one operation with one model cost a root scope on one day (UTC)."""

    scope: str
    day: str
    operation: str
    model: str
    calls: int
    tokens_in: int
    tokens_out: int
    cost: float


@frozen
class Due:
    """What upkeep has still to do, and what it gave up until somebody looks."""

    work: tuple[Work, ...]
    stuck: tuple[ReviewItem, ...]


@frozen
class Reembedding:
    """A store on its way from one vector space to another: ``done`` of ``records`` have their new
    vector, and the others take about ``minutes`` (None: not measured yet)."""

    old: str
    new: str
    records: int
    done: int = 0
    minutes: float | None = None

    @property
    def percent(self) -> int:
        return 100 * self.done // max(self.records, 1)

    def __str__(self) -> str:
        if not self.records:
            return f"re-embedding from {self.old} to {self.new} begins with the next maintenance"
        left = "" if self.minutes is None else f", about {max(1, round(self.minutes))} min left"
        told = f"{self.done:,} of {self.records:,} records{left}"
        return f"re-embedding from {self.old} to {self.new}: {told}"


@frozen
class Stats:
    """How much there is. Records are counted exactly, of every status. Sessions are counted up to
    a number only: then ``complete`` is False, and ``sessions`` means "at least"."""

    records: int
    sessions: int
    kinds: Mapping[str, int] = field(default_factory=dict)
    types: Mapping[str, int] = field(default_factory=dict)
    statuses: Mapping[str, int] = field(default_factory=dict)
    complete: bool = True
    reembedding: Reembedding | None = None  # told to a handle that sees the whole store


@frozen
class ScopeCount:
    """How many records a scope itself holds, of every status; how many of them are believed; and
    how many there are in it and all below it, as far as the asker may see them."""

    scope: str
    records: int
    believed: int
    below: int


@frozen
class Consent:
    """Whether what is said in a scope, or by one author in it, is kept."""

    scope: str
    author: str
    persist: bool
