"""The search indexes of this process: made when asked for, thrown out by size."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping

from standfast.index.scope import ScopeIndex
from standfast.ports import Feed

IsLittle = Callable[[str, int], bool]  # of a scope, behind a stamp


class IndexCache:
    """One index per scope, so a search can only ever touch what its scopes may see, and one
    lock per root, so one tenant never waits for another's. Used from any thread."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._guard = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}
        self._indexes: OrderedDict[str, tuple[ScopeIndex, int]] = OrderedDict()
        self._bytes = 0

    def lock_of(self, root: str) -> threading.Lock:
        with self._guard:
            return self._locks.setdefault(root, threading.Lock())

    def index(self, feed: Feed, scope: str, stamp: int, space: str) -> ScopeIndex:
        """The scope's index as of ``stamp``, with the vectors of ``space`` if it has a name. The
        caller holds the lock of the root."""
        with self._guard:
            index, _ = self._indexes.get(scope, (None, 0))
        if index is None or index.is_worn:
            index = ScopeIndex(scope)
        elif index.stamp == stamp and (not space or index.vectors(space) is not None):
            with self._guard:  # as it was: its size, too
                if scope in self._indexes:
                    self._indexes.move_to_end(scope)
                    return index
        try:
            if index.stamp != stamp:
                index.refresh(feed, stamp)
            if space:
                index.load_vectors(feed, space)
        except BaseException:
            self._drop(scope)  # it may be half refreshed
            raise
        self._keep(scope, index)
        return index

    def holds(
        self,
        stamps: Mapping[str, int],
        space: str,
        rows_max: int,
        is_little: IsLittle | None = None,
    ) -> bool:
        """Are the indexes of these scopes here as of these stamps, or as of others behind which
        little came, with the vectors of ``space`` if it has a name, and of so many rows at most?
        The caller holds the lock of the root."""
        with self._guard:
            held = [self._indexes.get(scope, (None, 0))[0] for scope in stamps]
        indexes = [index for index in held if index is not None and not index.is_worn]
        return (
            len(indexes) == len(stamps)
            and sum(index.size for index in indexes) <= rows_max
            and not (space and any(index.vectors(space) is None for index in indexes))
            and all(
                index.stamp == stamps[index.scope]
                or (is_little is not None and is_little(index.scope, index.stamp))
                for index in indexes
            )
        )

    def scopes(self) -> list[str]:
        """Whose indexes are here."""
        with self._guard:
            return list(self._indexes)

    def held(self, scope: str) -> ScopeIndex | None:
        """The scope's index as it is. The caller holds the lock of the root."""
        with self._guard:
            return self._indexes.get(scope, (None, 0))[0]

    def _drop(self, scope: str) -> None:
        with self._guard:
            _, size = self._indexes.pop(scope, (None, 0))
            self._bytes -= size

    def _keep(self, scope: str, index: ScopeIndex) -> None:
        size = index.nbytes
        with self._guard:
            self._bytes += size - self._indexes.get(scope, (index, 0))[1]
            self._indexes[scope] = (index, size)
            self._indexes.move_to_end(scope)
            while self._bytes > self._bytes_max and len(self._indexes) > 1:
                _, (_, freed) = self._indexes.popitem(last=False)
                self._bytes -= freed

    def clear(self) -> None:
        with self._guard:
            self._indexes.clear()
            self._bytes = 0
