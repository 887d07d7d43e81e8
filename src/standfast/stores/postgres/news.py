"""Who waits for news of a root is woken by what the server tells of commits: a hint, no more.
Whoever is woken looks for itself, and looks from time to time without being woken."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from standfast import compat
from standfast.stores.postgres.connection import DatabasePlace, Db, connect, cut

CHANNEL = compat.POSTGRES_CHANNEL
AGAIN_SECONDS = 1.0  # after a lost connection


class NewsBoard:
    """One listening connection, made for the first who waits."""

    def __init__(self, place: DatabasePlace) -> None:
        self._place = place
        self._lock = threading.Lock()
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._loops: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}
        self._thread: threading.Thread | None = None
        self._db: Db | None = None
        self._over = threading.Event()

    @contextmanager
    def expecting(self, root: str) -> Iterator[asyncio.Event]:
        """The event is set when something has happened in the root."""
        event = asyncio.Event()
        with self._lock:
            self._waiting.setdefault(root, set()).add(event)
            self._loops[event] = asyncio.get_running_loop()
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._listen, name="standfast-news", daemon=True
                )
                self._thread.start()
        try:
            yield event
        finally:
            with self._lock:
                del self._loops[event]
                self._waiting[root].discard(event)
                if not self._waiting[root]:
                    del self._waiting[root]

    def close(self) -> None:
        """Blocks."""
        self._over.set()
        with self._lock:
            thread, db = self._thread, self._db
        if db is not None:
            cut(db)
        if thread is not None:
            thread.join()

    # On its thread

    def _listen(self) -> None:
        while not self._over.is_set():
            with contextlib.suppress(psycopg.Error):
                db = connect(self._place)
                try:
                    self._follow(db)
                finally:
                    with self._lock:
                        self._db = None
                    db.close()
            self._over.wait(AGAIN_SECONDS)

    def _follow(self, db: Db) -> None:
        db.execute(f"LISTEN {CHANNEL}")
        with self._lock:
            self._db = db
        self._wake(*self._waiting)  # what happened before it listened
        if not self._over.is_set():
            for told in db.notifies():
                self._wake(told.payload)

    def _wake(self, *roots: str) -> None:
        with self._lock:
            events = [event for root in roots for event in self._waiting.get(root, ())]
            loops = [(self._loops[event], event) for event in events]
        for loop, event in loops:
            with contextlib.suppress(RuntimeError):  # it was closed: nobody waits
                loop.call_soon_threadsafe(event.set)
