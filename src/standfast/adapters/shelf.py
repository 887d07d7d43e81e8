"""A shelf: named things kept as records, one live version each.

The surfaces of other projects speak of keys, paths and handles that stay the same while what
they name changes. Text here is immutable, so every version is a record of its own that supersedes
the one before, and a tag leads from the key to all of them. Things on a shelf are never merged
with others that read alike: two keys may hold the same words.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import field
from datetime import UTC, datetime, timedelta
from typing import Any

from standfast.adapters.contention import key_lock, write_attempts
from standfast.errors import Conflict, Invalid, NotFound, StandfastError, Unavailable
from standfast.memory.sync import Memory
from standfast.types import LIVE, Record, Source, Status, Type
from standfast.types.frozen import frozen

PAGE = 1000
TICK = timedelta(microseconds=1)

log = logging.getLogger("standfast.adapters")


def utc_now() -> datetime:
    return datetime.now(UTC)


@frozen
class Placed:
    """What is to stand under a key. ``data`` comes back as it is, secrets excepted. Without a
    ``scope`` it is the handle's own."""

    scope: str | None
    key: str
    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    type: Type = "fact"
    source: Source = "assistant"
    author: str = ""
    importance: float | None = None
    created: datetime | None = None  # when there is no earlier version; default: now
    expires_at: datetime | None = None


KEPT = {"pinned": True}  # its owner deletes it, age does not


def tag_of(name: str, *parts: str) -> str:
    """The tag of a key, or of a group that many things are in."""
    told = json.dumps(parts, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return f"{name}:{hashlib.blake2b(told, digest_size=16).hexdigest()}"


def part_of(record: Record, name: str) -> dict[str, Any]:
    """What an ecosystem keeps with a record; {} if it is nothing that it would write. Whoever may
    write into a scope may write data and tags of any name there."""
    part = record.data.get(name)
    return dict(part) if isinstance(part, Mapping) else {}


def key_tags(name: str, key: str) -> tuple[str, str]:
    """What everything on a shelf is tagged with: that it is there, and under which key."""
    return tag_of(name, "all"), tag_of(name, "key", key)


class KeyShelf:
    """The things of one ecosystem; ``name`` keeps its keys apart from those of others. ``fits``
    knows what it writes: anything else that carries its tags is on no shelf, and is only erased
    with the rest."""

    def __init__(
        self,
        memory: Memory,
        name: str,
        *,
        fits: Callable[[Mapping[str, Any]], bool] = bool,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self.memory = memory
        self.name = name
        self._fits = fits
        self._clock = clock

    def holds(self, record: Record) -> bool:
        """Is it one of ours?"""
        return self._fits(part_of(record, self.name))

    def tag(self, *parts: str) -> str:
        return tag_of(self.name, *parts)

    def get(self, scope: str | None, key: str) -> Record | None:
        """The live version; expired, forgotten and replaced ones are not."""
        found = self.versions(scope, key, live=True)
        return found[-1] if found else None

    def versions(self, scope: str | None, key: str, *, live: bool = False) -> list[Record]:
        """All versions that are there, the oldest first."""
        tag = self.tag("key", key)
        found = self.tagged(scope, tag) if live else self.everything(scope, tag)
        exact = [record for record in found if scope in (None, record.scope)]
        return sorted(exact, key=lambda record: (record.learned_at, record.id))

    def tagged(
        self,
        scope: str | None,
        tag: str,
        *,
        descend: bool = False,
        statuses: Iterable[Status] = LIVE,
    ) -> Iterator[Record]:
        """What is ours and has a tag, in the order of its making, page by page."""
        found = self.everything(scope, tag, descend=descend, statuses=statuses)
        return filter(self.holds, found)

    def everything(
        self,
        scope: str | None,
        tag: str,
        *,
        descend: bool = False,
        statuses: Iterable[Status] = (),
    ) -> Iterator[Record]:
        """The same, also what others wrote under it."""
        cursor = ""
        while True:
            page = self.memory.records(
                scope=scope,
                descend=descend,
                tags=(tag,),
                statuses=tuple(statuses),
                cursor=cursor,
                limit=PAGE,
            )
            yield from page.items
            if not page.next:
                return
            cursor = page.next

    def put(self, thing: Placed, *, expect: str | None = None, new: bool = False) -> str:
        """Make ``thing`` the live version of its key; the id of its record. Whoever writes the
        same key at the same time may be replaced or replace, but there is one version after.
        Conflict, if ``expect`` names a record and it is not the live version any more; or if it
        must be ``new`` and is not: of several who make it at once, one does."""
        with self.lock(thing.scope, thing.key):
            return self._put(thing, expect, new=new)

    def lock(self, scope: str | None, key: str) -> AbstractContextManager[None]:
        """For whoever reads a key and writes it again: in this process nobody comes between."""
        return key_lock(self.name, scope, key)

    def _put(self, thing: Placed, expect: str | None, *, new: bool) -> str:
        created = thing.created
        trouble: StandfastError | None = None
        for _ in write_attempts():
            live = self.versions(thing.scope, thing.key, live=True)
            old = live[-1] if live else None
            if expect is not None and (old is None or old.id != expect):
                raise Conflict(f"{thing.key!r} was changed meanwhile; look at it again")
            if new and old is not None:
                raise Conflict(f"{thing.key!r} is there already")
            since = (old.valid_from if old else None) or created or self._clock()
            try:
                id_, merged = self._write(thing, old, since)
            except (Invalid, NotFound) as error:
                if not self._moved(thing, old):
                    raise
                trouble = error  # somebody else replaced it meanwhile: look again
                continue
            if merged:  # the same words at the same moment under another key
                created = since + TICK
                continue
            self._settle(thing, id_, new=new)
            return id_
        raise Unavailable(f"{thing.key!r} changes faster than it can be written; try again") from (
            trouble
        )

    def _write(self, thing: Placed, old: Record | None, since: datetime) -> tuple[str, bool]:
        receipt = self.memory.remember(
            thing.text,
            scope=thing.scope,
            kind="episodic",  # never merged by likeness: two keys may say the same
            type=thing.type,
            tags=(*key_tags(self.name, thing.key), *thing.tags),
            data={**thing.data, **KEPT},
            importance=thing.importance,
            source=thing.source,
            author=thing.author,
            valid_from=since,
            expires_at=thing.expires_at,
            supersedes=old.id if old else None,
            actor=self.name,
        )
        item = receipt.items[0]
        if "redacted" in item.reason:  # the surfaces of others have no place to say it
            log.warning("%s %r was not kept as it came: %s", self.name, thing.key, item.reason)
        return item.id, item.status == "merged" and (old is None or item.id != old.id)

    def _moved(self, thing: Placed, old: Record | None) -> bool:
        now = self.get(thing.scope, thing.key)
        return (now and now.id) != (old and old.id)

    def _settle(self, thing: Placed, ours: str, *, new: bool) -> None:
        """Who makes a key at the same time as others leaves several live versions, also beside a
        version that replaced one of them. Everybody therefore looks behind their own commit, and
        takes back only what was committed before it; who had to be the first takes back their own.
        So the last one always stays, and nobody takes back what another counts on."""
        live = self.versions(thing.scope, thing.key, live=True)
        if all(one.id == ours for one in live):
            return
        place = self._place_of(ours)
        before = [one.id for one in live if self._place_of(one.id) < place]
        if before and new:
            self.memory.archive([ours], actor=self.name)
            raise Conflict(f"{thing.key!r} was made by another at the same time")
        if before:
            self.memory.archive(before, actor=self.name)

    def _place_of(self, id_: str) -> int:
        return self.memory.history(id_, limit=1)[0].seq

    def remove(self, scope: str | None, key: str) -> bool:
        """Erase all versions for good; False if there was nothing."""
        with self.lock(scope, key):
            return self.erase(self.versions(scope, key))

    def erase(self, records: Iterable[Record]) -> bool:
        """Erase these for good, whoever wrote which version; False if there are none."""
        ids = [record.id for record in records]
        for start in range(0, len(ids), PAGE):
            part = ids[start : start + PAGE]
            self.memory.forget(ids=part, several_authors=True, actor=self.name)
        return bool(ids)
