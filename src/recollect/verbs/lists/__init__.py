"""Lists: what there is, page by page, for people and programs that look around.

``Lists`` holds these verbs of ``AsyncMemory``. All of them only read, and show what the handle
may see.
"""

from __future__ import annotations

from collections.abc import Iterable

from recollect.access.rights import needs
from recollect.engine import Engine
from recollect.text.inputs import When
from recollect.types import Entry, Message, Record, Relation, Session
from recollect.verbs.lists.changes import list_changes
from recollect.verbs.lists.records import RecordsWanted, list_records, records_by_id, relations_of
from recollect.verbs.lists.sessions import list_messages, list_pending, list_sessions
from recollect.verbs.lists.upkeep import count_all, list_due, list_policies, list_usage
from recollect.verbs.lists.values import Consent, Due, Page, Spent, Stats

__all__ = ["Consent", "Due", "Lists", "Page", "Spent", "Stats", "records_by_id"]


class Lists:
    """The verbs that list."""

    _engine: Engine

    @needs("read")
    async def records(
        self,
        *,
        scope: str | None = None,
        descend: bool = False,
        kinds: Iterable[str] = (),
        types: Iterable[str] = (),
        tags: Iterable[str] = (),
        statuses: Iterable[str] = (),
        sources: Iterable[str] = (),
        authors: Iterable[str] = (),
        session: str | None = None,
        since: When | None = None,
        until: When | None = None,
        newest: bool = False,
        cursor: str = "",
        limit: int = 100,
    ) -> Page[Record]:
        """Records, root by root in the order of their making; with ``newest`` those of all roots
        together, the newest first. Of every status unless ``statuses`` says otherwise. ``scope``
        as for ``recall``. ``cursor`` is the ``next`` of the page before."""
        wanted = RecordsWanted(
            scope=scope,
            descend=descend,
            kinds=kinds,
            types=types,
            tags=tags,
            statuses=statuses,
            sources=sources,
            authors=authors,
            session=session,
            since=since,
            until=until,
            newest=newest,
        )
        return await list_records(self._engine, wanted, cursor=cursor, limit=limit)

    @needs("read")
    async def relations(self, id: str) -> tuple[Relation, ...]:
        """The edges of a record, retired ones too, whose other end can be seen."""
        return await relations_of(self._engine, id)

    @needs("read")
    async def sessions(
        self,
        *,
        scope: str | None = None,
        descend: bool = False,
        cursor: str = "",
        limit: int = 100,
    ) -> Page[Session]:
        """Sessions in order of scope and name."""
        return await list_sessions(
            self._engine, scope=scope, descend=descend, cursor=cursor, limit=limit
        )

    @needs("read")
    async def messages(
        self,
        session: str,
        *,
        scope: str | None = None,
        newest: bool = False,
        cursor: str = "",
        limit: int = 100,
    ) -> Page[Message]:
        """What was said in a session, in order; with ``newest`` from the last message back."""
        return await list_messages(
            self._engine, session, scope=scope, newest=newest, cursor=cursor, limit=limit
        )

    @needs("read")
    async def pending(self, *, scope: str | None = None) -> tuple[Message, ...]:
        """Messages that wait for the next context there, oldest first."""
        return await list_pending(self._engine, scope=scope)

    @needs("read")
    async def changes(
        self, *, scope: str | None = None, cursor: str = "", limit: int = 50
    ) -> Page[Entry]:
        """The journal of a scope's root, newest first, as far as it can be seen."""
        return await list_changes(self._engine, scope=scope, cursor=cursor, limit=limit)

    @needs("read")
    async def usage(
        self,
        *,
        scope: str | None = None,
        day: str | None = None,
        cursor: str = "",
        limit: int = 100,
    ) -> Page[Spent]:
        """What models cost, by root scope, day (UTC), operation and model; for handles that own
        a whole root."""
        return await list_usage(self._engine, scope=scope, day=day, cursor=cursor, limit=limit)

    @needs("read")
    async def due(self, *, scope: str | None = None, limit: int = 100) -> Due:
        """What upkeep has still to do in a scope and below it, and what is stuck."""
        return await list_due(self._engine, scope=scope, limit=limit)

    @needs("read")
    async def stats(self, *, scope: str | None = None, descend: bool = False) -> Stats:
        """How many records there are, by kind, type and status, and how many sessions."""
        return await count_all(self._engine, scope=scope, descend=descend)

    @needs("read")
    async def policies(self, *, scope: str | None = None) -> tuple[Consent, ...]:
        """Who opted out of persistence, or in again, in a scope and below it."""
        return await list_policies(self._engine, scope=scope)
