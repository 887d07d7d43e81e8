"""Bytes of what is gone: an engine's own cleaning up goes through all that it holds, whosoever it
is, so it is asked for where something was erased and not in every round of upkeep."""

from __future__ import annotations

import time
from collections.abc import Callable

from standfast.types import Batch

EXPIRED_SECONDS = 3600.0  # what expired by itself need not be gone from the files at once


class Leftovers:
    """What this process dropped since its engine was last asked to clean up; and, an hour after it
    began, what others dropped who were killed before they asked."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._cleaned = clock()
        self._erased = False
        self._expired = True

    def note(self, batch: Batch) -> None:
        """Something that is being committed."""
        self._erased = self._erased or bool(batch.erase or batch.drop_space or batch.prune)
        self._expired = self._expired or batch.sweep

    def taken(self) -> bool:
        """Is there something to clean up now? Whoever is told so does it, or says ``put_back``."""
        late = self._clock() - self._cleaned >= EXPIRED_SECONDS
        if not self._erased and not (self._expired and late):
            return False
        self._erased = self._expired = False
        self._cleaned = self._clock()
        return True

    def put_back(self) -> None:
        """It could not be done."""
        self._erased = True
