"""The verbs that list: what there is, page by page, for people and programs that look around.
All of them only read, and show what the handle may see."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from standfast.access.rights import needs
from standfast.types import (
    Entry,
    Kind,
    Message,
    Record,
    Relation,
    Session,
    Source,
    Status,
    Summary,
    Type,
)
from standfast.types.arguments import Cursor, Day, Filter, Limit, Name, Names, Scope, Tags, When
from standfast.types.pages import Consent, Due, Page, ScopeCount, Spent, Stats

if TYPE_CHECKING:
    from standfast.engine import Engine


class Lists:
    """The verbs that list."""

    _engine: Engine

    @needs("read")
    async def records(
        self,
        *,
        scope: Scope | None = None,
        descend: bool = False,
        kinds: Iterable[Kind] = (),
        types: Iterable[Type] = (),
        tags: Tags = (),
        where: Filter | None = None,
        statuses: Iterable[Status] = (),
        sources: Iterable[Source] = (),
        authors: Names = (),
        session: Name | None = None,
        since: When | None = None,
        until: When | None = None,
        newest: bool = False,
        cursor: Cursor = "",
        limit: Limit = 100,
    ) -> Page[Record]:
        """Records in the order of their making, or the newest first; of every status unless told
        otherwise. In the order of their making they come root by root; the newest of all roots
        together.

        Args:
            scope: this one and its parents; none: everywhere
            descend: also everything below the scope
            kinds: only this kind
            types: only this type
            tags: only with one of these tags
            where: what all, any or none of its tags and data are:
                {"tags": {"all": ["a"], "none": ["b"]}, "data": {"any": {"year": {"gte": 2024}}}}
            statuses: only with this status
            sources: only from this source
            authors: only what this author said
            session: what came from this session
            since: happened at or after
            until: happened before
            newest: the newest first
            cursor: where the page before ended: its ``next``
            limit: how many on a page
        """
        from standfast.verbs.lists.records import RecordsWanted, list_records

        wanted = RecordsWanted(
            scope=scope,
            descend=descend,
            kinds=kinds,
            types=types,
            tags=tags,
            where=where,
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
    async def relations(self, id: Name) -> tuple[Relation, ...]:
        """The edges of a record, retired ones too, whose other end can be seen.

        Args:
            id: of a record
        """
        from standfast.verbs.lists.records import relations_of

        return await relations_of(self._engine, id)

    @needs("read")
    async def sessions(
        self,
        *,
        scope: Scope | None = None,
        descend: bool = False,
        cursor: Cursor = "",
        limit: Limit = 100,
    ) -> Page[Session]:
        """Sessions in order of scope and name.

        Args:
            scope: this one and its parents; none: everywhere
            descend: also everything below the scope
            cursor: where the page before ended: its ``next``
            limit: how many on a page
        """
        from standfast.verbs.lists.sessions import list_sessions

        return await list_sessions(
            self._engine, scope=scope, descend=descend, cursor=cursor, limit=limit
        )

    @needs("read")
    async def messages(
        self,
        session: Name,
        *,
        scope: Scope | None = None,
        newest: bool = False,
        around: Name | None = None,
        cursor: Cursor = "",
        limit: Limit = 100,
    ) -> Page[Message]:
        """What was said in a session, in order; with ``newest`` from the last message back.

        Args:
            session: which session
            scope: whose session it is
            newest: from the last message back
            around: begin a little before the message with this id
            cursor: where the page before ended: its ``next``
            limit: how many on a page
        """
        from standfast.verbs.lists.sessions import list_messages

        return await list_messages(
            self._engine,
            session,
            scope=scope,
            newest=newest,
            around=around,
            cursor=cursor,
            limit=limit,
        )

    @needs("read")
    async def summaries(
        self, session: Name, *, scope: Scope | None = None, limit: Limit = 100
    ) -> tuple[Summary, ...]:
        """What a session's older messages were folded into, in order; the newest ones if there
        are more than the limit.

        Args:
            session: which session
            scope: whose session it is
            limit: how many at most
        """
        from standfast.verbs.lists.sessions import list_summaries

        return await list_summaries(self._engine, session, scope=scope, limit=limit)

    @needs("read")
    async def pending(self, *, scope: Scope | None = None) -> tuple[Message, ...]:
        """Messages that wait for the next context there, oldest first.

        Args:
            scope: whose messages
        """
        from standfast.verbs.lists.sessions import list_pending

        return await list_pending(self._engine, scope=scope)

    @needs("read")
    async def changes(
        self, *, scope: Scope | None = None, cursor: Cursor = "", limit: Limit = 50
    ) -> Page[Entry]:
        """The journal of a scope's root, newest first, as far as it can be seen.

        Args:
            scope: whose changes
            cursor: where the page before ended: its ``next``
            limit: how many on a page
        """
        from standfast.verbs.lists.changes import list_changes

        return await list_changes(self._engine, scope=scope, cursor=cursor, limit=limit)

    @needs("read")
    async def usage(
        self,
        *,
        scope: Scope | None = None,
        day: Day | None = None,
        cursor: Cursor = "",
        limit: Limit = 100,
    ) -> Page[Spent]:
        """What models cost, by root scope, day (UTC), operation and model; for handles that own
        a whole root.

        Args:
            scope: whose costs
            day: only on this day, such as 2026-05-03
            cursor: where the page before ended: its ``next``
            limit: how many on a page
        """
        from standfast.verbs.lists.upkeep import list_usage

        return await list_usage(self._engine, scope=scope, day=day, cursor=cursor, limit=limit)

    @needs("read")
    async def due(self, *, scope: Scope | None = None, limit: Limit = 100) -> Due:
        """What upkeep has still to do in a scope and below it, and what is stuck.

        Args:
            scope: only this scope and all below it
            limit: how many of each at most
        """
        from standfast.verbs.lists.upkeep import list_due

        return await list_due(self._engine, scope=scope, limit=limit)

    @needs("read")
    async def stats(self, *, scope: Scope | None = None, descend: bool = False) -> Stats:
        """How many records there are, by kind, type and status, and how many sessions. If
        ``complete`` is false, ``sessions`` means "at least"; records are always exact.

        Args:
            scope: this one and its parents; none: everywhere
            descend: also everything below the scope
        """
        from standfast.verbs.lists.upkeep import count_all

        return await count_all(self._engine, scope=scope, descend=descend)

    @needs("read")
    async def scopes(
        self, *, scope: Scope | None = None, cursor: Cursor = "", limit: Limit = 100
    ) -> Page[ScopeCount]:
        """The scopes that hold memories and those above them, in order of name, with how many
        there are: a tree, since a scope begins with its parent.

        Args:
            scope: only this scope and all below it
            cursor: where the page before ended: its ``next``
            limit: how many on a page
        """
        from standfast.verbs.lists.scopes import list_scopes

        return await list_scopes(self._engine, scope=scope, cursor=cursor, limit=limit)

    @needs("read")
    async def policies(self, *, scope: Scope | None = None) -> tuple[Consent, ...]:
        """Who opted out of being kept, or in again, in a scope and below it.

        Args:
            scope: only this scope and all below it
        """
        from standfast.verbs.lists.upkeep import list_policies

        return await list_policies(self._engine, scope=scope)
