"""The pace of long work: while others are about, all of it together takes half of the loop's time.

Work is stepped from one wait to the next. Behind a step that took so long the loop is left alone
for as long again, whichever work comes next.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Generator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from standfast.access.shares import Company
from standfast.types.frozen import frozen

T = TypeVar("T")


@dataclass(slots=True)
class Pace:
    """What the long work of one server shares."""

    company: Company
    _free_at: float = field(default=0.0)  # ``time.monotonic``

    def keeping(self, work: Coroutine[Any, Any, T], tenant: str) -> Paced[T]:
        """The same work, to be awaited; others of this tenant are no company."""
        return Paced(self, work, tenant)

    def spent(self, seconds: float, tenant: str) -> None:
        if self.company.has(tenant):
            self._free_at = max(self._free_at, time.monotonic()) + seconds

    @property
    def left(self) -> float:
        """For how long long work leaves the loop alone."""
        return self._free_at - time.monotonic()


@frozen(kw_only=False)
class Paced(Generic[T]):
    pace: Pace
    work: Coroutine[Any, Any, T]
    tenant: str

    def __await__(self) -> Generator[Any, Any, T]:
        go_on, given = self.work.send, None
        while True:
            begun = time.thread_time()
            try:
                awaited = go_on(given)
            except StopIteration as done:
                found: T = done.value
                return found
            self.pace.spent(time.thread_time() - begun, self.tenant)
            try:
                yield awaited
                while (left := self.pace.left) > 0:
                    yield from asyncio.sleep(left).__await__()
                go_on, given = self.work.send, None
            except BaseException as error:  # what is thrown in is for the work
                go_on, given = self.work.throw, error
