"""The verbs about single beliefs: to state one, why it did not come back, and what to do with it.
``resolve``, ``archive`` and ``undo`` are in the facade itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from standfast.access.rights import needs
from standfast.types import Answer, Durability, Kind, Receipt, Source, Status, Type
from standfast.types.arguments import (
    Actor,
    Filter,
    Ids,
    Json,
    Label,
    Limit,
    Name,
    Scope,
    Scopes,
    Share,
    StatementInputs,
    Tags,
    When,
)

if TYPE_CHECKING:
    from standfast.engine import Engine


class Beliefs:
    """The verbs about single beliefs."""

    _engine: Engine

    @needs("write")
    async def remember(
        self,
        text: str | StatementInputs,
        *,
        scope: Scope | None = None,
        kind: Kind | None = None,
        type: Type | None = None,
        tags: Tags = (),
        importance: Share | None = None,
        confidence: Share = 1.0,
        durability: Durability | None = None,
        valid_from: When | None = None,
        valid_to: When | None = None,
        expires_at: When | None = None,
        source: Source = "user",
        author: Label = "",
        data: Json | None = None,
        supersedes: Name | None = None,
        key: Name | None = None,
        actor: Actor = "",
    ) -> Receipt:
        """Keep a statement, or many. What says the same already is merged, not doubled.

        Many are texts, or mappings of what this verb takes; what one leaves open is as told
        beside them. All of them are of one root and one change, each hundred is one commit, and
        the receipt has an item for each. A bad one is refused by its number before anything of
        its hundred is written.

        Args:
            text: one statement, understood without the conversation it comes from; or a list
            scope: who it belongs to
            kind: default: follows from the type
            type: default: fact
            tags: short words, such as deploy or database
            importance: 0.5 is usual; 0.9 for what must not be missed
            confidence: how sure it is
            durability: core: shown at every task; standard; ephemeral: soon of no use
            valid_from: when it began to be true
            valid_to: when it ceased to be true
            expires_at: when to forget it
            source: where it comes from
            author: who said it
            data: more about it, as JSON
            supersedes: id of a record that this one takes the place of
            key: your own name for it in this scope; the same key again replaces it
            actor: who does it, for the journal
        """
        from standfast.verbs.remember import remember
        from standfast.verbs.statement import Statement, statements_of

        usual = Statement(
            text=text if isinstance(text, str) else "",
            scope=scope,
            kind=kind,
            type=type,
            tags=tags,
            importance=importance,
            confidence=confidence,
            durability=durability,
            valid_from=valid_from,
            valid_to=valid_to,
            expires_at=expires_at,
            source=source,
            author=author,
            data=data,
            supersedes=supersedes,
            key=key,
        )
        said = usual if isinstance(text, str) else statements_of(text, usual)
        return await remember(self._engine, said, actor=actor)

    @needs("write")
    async def edit(self, id: Name, text: str, *, actor: Actor = "") -> Receipt:
        """Put another text in the place of a record's: a new record of whoever edits, with the
        old one's scope, tags and times, that supersedes it. ``undo`` takes it back.

        Args:
            id: of the record
            text: what it should say
            actor: who does it, for the journal
        """
        from standfast.verbs.edit import edit

        return await edit(self._engine, id, text, actor=actor)

    @needs("write")
    async def pin(self, ids: Ids, *, pinned: bool = True, actor: Actor = "") -> Receipt:
        """Pin records: shown at every task, and they do not fade. Or pin them no longer. ``undo``
        takes it back.

        Args:
            ids: which records
            pinned: false: no longer
            actor: who does it, for the journal
        """
        from standfast.verbs.pin import pin

        return await pin(self._engine, ids, pinned=pinned, actor=actor)

    @needs("write")
    async def dispute(
        self, id: Name, *, text: str | None = None, by: Name | None = None, actor: Actor = ""
    ) -> Receipt:
        """Doubt a record: it and what speaks against it wait in ``review`` for a decision.

        Args:
            id: of the record
            text: what is said against it
            by: id of a record that speaks against it, instead of a text
            actor: who does it, for the journal
        """
        from standfast.verbs.dispute import dispute

        return await dispute(self._engine, id, text=text, by=by, actor=actor)

    @needs("read")
    async def why_not(
        self,
        id: Name,
        query: str,
        *,
        scope: Scopes | None = None,
        limit: Limit | None = None,
        kinds: Iterable[Kind] = (),
        types: Iterable[Type] = (),
        tags: Tags = (),
        where: Filter | None = None,
        statuses: Iterable[Status] | None = None,
        since: When | None = None,
        until: When | None = None,
        as_of: When | None = None,
        known_at: When | None = None,
        threshold: Share | None = None,
        descend: bool = False,
        profile: Label | None = None,
        now: When | None = None,
    ) -> Answer:
        """Why ``recall`` with these arguments does not return one record, or at which place it
        does: the first note says it, the hit has its scores as far as it got.

        Args:
            id: of the record
            query: a question or keywords; empty: the newest
            scope: where to look, parents included; none: everywhere
            limit: how many at most
            kinds: only this kind
            types: only this type
            tags: only with one of these tags
            where: what all, any or none of its tags and data are, as for ``recall``
            statuses: only with this status
            since: happened at or after
            until: happened before
            as_of: what was true at that time
            known_at: what we believed at that time
            threshold: leave out weaker hits
            descend: also everything below the scopes
            profile: rank as this profile does; default: this handle's
            now: the moment of asking, for decay and expiry
        """
        from standfast.verbs.recall import Question
        from standfast.verbs.why_not import why_not

        question = Question(
            text=query,
            scope=scope,
            limit=limit,
            kinds=kinds,
            types=types,
            tags=tags,
            where=where,
            statuses=statuses,
            since=since,
            until=until,
            as_of=as_of,
            known_at=known_at,
            threshold=threshold,
            descend=descend,
            profile=profile,
            now=now,
        )
        return await why_not(self._engine, id, question)
