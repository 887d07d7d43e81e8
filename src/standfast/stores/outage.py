"""What is known about a server that may be away: why, and when it is tried again."""

from __future__ import annotations

import logging
import time

from standfast.errors import Unavailable

PAUSE_SECONDS = 1.0  # before the server is tried again; longer each time
PAUSE_MAX = 15.0

logger = logging.getLogger("standfast")


class Outage:
    """``trouble`` says why it is away; "" if it is not. It is said once, and once when it ends."""

    def __init__(self, name: str, meanwhile: str) -> None:
        self.trouble = ""
        self.pause = PAUSE_SECONDS
        self._name = name
        self._meanwhile = meanwhile
        self._again = 0.0

    @property
    def was_seen(self) -> bool:
        """It was just seen to be away: no use in trying."""
        return bool(self.trouble) and time.monotonic() < self._again

    def check(self) -> None:
        if self.was_seen:
            raise Unavailable(self.trouble, retry_after=self.pause)

    def begins(self, error: Unavailable) -> None:
        """It did not answer. Nothing new, if that was only said by ``check``."""
        if self.was_seen:
            return
        if not self.trouble:
            logger.warning("%s; %s", error, self._meanwhile)
            self.pause = PAUSE_SECONDS
        self.trouble = str(error)
        self._again = time.monotonic() + self.pause
        self.pause = min(2 * self.pause, PAUSE_MAX)

    def ends(self) -> None:
        if self.trouble:
            logger.warning("%s is back", self._name)
        self.trouble, self.pause = "", PAUSE_SECONDS
