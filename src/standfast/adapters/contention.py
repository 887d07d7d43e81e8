"""Concurrent writers of one key: a lock per key in this process, and retries with jitter against
the writers of other processes."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from weakref import WeakValueDictionary

from standfast.errors import Unavailable

LOCK_SECONDS = 60  # a store that hangs must not hold everybody for ever
RETRY_SECONDS = 30
FIRST_PAUSE_SECONDS = 0.005
LONGEST_PAUSE_SECONDS = 0.5


class _Locks:
    """Locks by key, each for as long as somebody holds it or waits for it. Keys of two stores may
    share one: that costs a wait and no more."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Also in a forked child: whoever held a lock in the parent never releases it there."""
        self._guard = threading.Lock()
        self._by_key: WeakValueDictionary[tuple[str, ...], threading.RLock]
        self._by_key = WeakValueDictionary()

    def of(self, key: tuple[str, ...]) -> threading.RLock:
        with self._guard:
            lock = self._by_key.get(key)
            if lock is None:
                lock = self._by_key[key] = threading.RLock()
            return lock


_locks = _Locks()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_locks.clear)


@contextmanager
def key_lock(*key: str | None) -> Iterator[None]:
    """Let one writer of this process at a time work on a key. Reentrant."""
    lock = _locks.of(tuple(part or "" for part in key))
    if not lock.acquire(timeout=LOCK_SECONDS):
        raise Unavailable(
            f"{key[-1]!r} has been busy with other writers for {LOCK_SECONDS} s; try again"
        )
    try:
        yield
    finally:
        lock.release()


def write_attempts() -> Iterator[int]:
    """Number the attempts of an optimistic write, for ``RETRY_SECONDS``, with exponential backoff
    and full jitter between them: writers that pause alike would meet again."""
    until = time.monotonic() + RETRY_SECONDS
    for number in count():
        yield number
        if time.monotonic() >= until:
            return
        longest = min(FIRST_PAUSE_SECONDS * 2 ** min(number, 16), LONGEST_PAUSE_SECONDS)
        time.sleep(random.uniform(0, longest))
