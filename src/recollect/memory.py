"""The facade: a few verbs over one engine. ``AsyncMemory`` is the source; ``sync.Memory`` is
the same on a background loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from recollect.access.rights import needs
from recollect.engine import Engine
from recollect.text.inputs import When
from recollect.text.messages import MessageInput
from recollect.types import Answer, Entry, Packet, Receipt, Record, ReviewItem
from recollect.upkeep.loop import flush_uses, maintain, run_in_background
from recollect.verbs.archive import archive
from recollect.verbs.confirm import confirm
from recollect.verbs.context import ContextWish, context
from recollect.verbs.end import end
from recollect.verbs.export import Target, export_to
from recollect.verbs.forget import forget
from recollect.verbs.history import history
from recollect.verbs.import_ import Source as ImportSource
from recollect.verbs.import_ import import_from
from recollect.verbs.lists import Lists, records_by_id
from recollect.verbs.observe import observe
from recollect.verbs.procedures import find_procedures, procedure_used, save_procedure
from recollect.verbs.recall import Question, recall
from recollect.verbs.reembed import reembed
from recollect.verbs.relate import relate
from recollect.verbs.remember import Statement, remember
from recollect.verbs.resolve import resolve
from recollect.verbs.review import review
from recollect.verbs.revoke import revoke
from recollect.verbs.selection import Selection
from recollect.verbs.set_policy import set_policy
from recollect.verbs.state import note, set_state
from recollect.verbs.undo import undo


class AsyncMemory(Lists):
    """A memory for agents. Open one with ``await AsyncMemory.open(...)``; close it, or use it
    as an async context manager."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._upkeep: asyncio.Task[None] | None = None

    @classmethod
    async def open(
        cls, store: str | None = None, *, background: bool = True, **options: Any
    ) -> Self:
        """Open a store by path or URL; see ``recollect.wiring.open_engine`` for the options.
        Upkeep runs in the background unless ``background`` is False."""
        from recollect.wiring import open_engine  # the one place that knows every class

        memory = cls(await open_engine(store, **options))
        if background:
            memory._upkeep = asyncio.create_task(run_in_background(memory._engine))
        return memory

    @classmethod
    async def connect(
        cls, url: str, key: str | None = None, *, timeout: float = 60.0
    ) -> AsyncMemory:
        """A memory on a server (``recollect serve``) with the same verbs and the same results.
        ``key`` says who you are; ``timeout`` is how many seconds one request may take."""
        from recollect.interfaces.client import connect  # needs the extra `client`

        return await connect(url, key, timeout=timeout)

    @needs("write")
    async def observe(
        self,
        session: str,
        messages: MessageInput | Iterable[MessageInput],
        *,
        scope: str | None = None,
        channel: str = "",
        author: str = "",
        source: str | None = None,
        pending: bool = False,
        expires_at: When | None = None,
        actor: str = "",
    ) -> Receipt:
        """Append messages to a session's log and make each a searchable turn.

        Messages are strings (the user said it) or mappings as OpenAI and Anthropic shape them,
        with an optional ``id`` (sending it again changes nothing), ``at`` and ``author``.
        """
        return await observe(
            self._engine,
            session,
            messages,
            scope=scope,
            channel=channel,
            author=author,
            source=source,
            pending=pending,
            expires_at=expires_at,
            actor=actor,
        )

    @needs("write")
    async def remember(
        self,
        text: str,
        *,
        scope: str | None = None,
        kind: str | None = None,
        type: str | None = None,
        tags: Iterable[str] = (),
        importance: float | None = None,
        confidence: float = 1.0,
        durability: str | None = None,
        valid_from: When | None = None,
        valid_to: When | None = None,
        expires_at: When | None = None,
        source: str = "user",
        author: str = "",
        data: Mapping[str, Any] | None = None,
        supersedes: str | None = None,
        actor: str = "",
    ) -> Receipt:
        """Keep one statement. What says the same already is merged, not doubled;
        ``supersedes`` names a record that this one replaces."""
        statement = Statement(
            text=text,
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
        )
        return await remember(self._engine, statement, actor=actor)

    @needs("read")
    async def recall(
        self,
        query: str,
        *,
        scope: str | Iterable[str] | None = None,
        limit: int | None = None,
        kinds: Iterable[str] = (),
        types: Iterable[str] = (),
        tags: Iterable[str] = (),
        statuses: Iterable[str] | None = None,
        since: When | None = None,
        until: When | None = None,
        as_of: When | None = None,
        known_at: When | None = None,
        threshold: float | None = None,
        descend: bool = False,
        explain: bool = False,
        fast: bool | None = None,
        now: When | None = None,
    ) -> Answer:
        """The memories that answer a question, best first, each with its reasons.

        ``scope`` is one or a list and shows its parents too; without it, every scope this
        handle may see. ``as_of`` asks what was true then, ``known_at`` what we believed then,
        ``now`` is the moment of asking. With ``fast=False`` a model, if one is configured,
        chooses among twice as many candidates; by default the profile decides. An empty query
        lists the newest.
        """
        question = Question(
            text=query,
            scope=scope,
            limit=limit,
            kinds=kinds,
            types=types,
            tags=tags,
            statuses=statuses,
            since=since,
            until=until,
            as_of=as_of,
            known_at=known_at,
            threshold=threshold,
            descend=descend,
            explain=explain,
            fast=fast,
            now=now,
        )
        return await recall(self._engine, question)

    @needs("read")
    async def context(
        self,
        *,
        session: str | None = None,
        query: str | None = None,
        scope: str | Iterable[str] | None = None,
        tokens: int | None = None,
        shape: str = "openai",
        threshold: float | None = None,
        as_of: When | None = None,
        known_at: When | None = None,
        cite: bool = False,
        now: When | None = None,
    ) -> Packet:
        """One packet for the next model call: core memories, facts, episodes and procedures for
        the query (or for what the user said last), the session's summary and newest messages,
        together within ``tokens``; without it the conversation comes as the profile says.

        ``shape`` is "openai", "anthropic" or "gemini". ``threshold``, ``as_of`` and ``known_at``
        as for ``recall``. With ``cite`` each line of the text has its id, type and trust."""
        wanted = ContextWish(
            session=session,
            query=query,
            scope=scope,
            tokens=tokens,
            shape=shape,
            threshold=threshold,
            as_of=as_of,
            known_at=known_at,
            cite=cite,
            now=now,
        )
        return await context(self._engine, wanted, self._engine.counter)

    @needs("write")
    async def confirm(self, packet: Packet) -> Receipt:
        """Say that a packet was used: its pending messages are consumed. Without it they are
        delivered again, so a crash in between loses nothing."""
        return await confirm(self._engine, packet)

    @needs("write")
    async def set_state(
        self,
        session: str,
        state: Mapping[str, Any],
        *,
        scope: str | None = None,
        actor: str = "",
    ) -> Receipt:
        """Set the current state of a session's task (a small JSON object); every context of the
        session carries it. An empty one takes it away."""
        return await set_state(self._engine, session, state, scope=scope, actor=actor)

    @needs("write")
    async def end(
        self,
        session: str,
        *,
        scope: str | None = None,
        outcome: str | None = None,
        actor: str = "",
    ) -> Receipt:
        """A session is over: keep what was requested, how it went and what came of it as an
        episode, unless the exchange was trivial. Its log stays."""
        return await end(self._engine, session, scope=scope, outcome=outcome, actor=actor)

    @needs("write")
    async def note(
        self,
        session: str,
        text: str,
        *,
        role: str = "agent",
        scope: str | None = None,
        actor: str = "",
    ) -> Receipt:
        """Add a short note by role ("chief: ...") to the block of a session; every context of
        that session shows it."""
        return await note(self._engine, session, text, role=role, scope=scope, actor=actor)

    @needs("write")
    async def relate(self, source: str, kind: str, target: str, *, actor: str = "") -> Receipt:
        """Link two records of one root: ``relate(a, "supports", b)``."""
        return await relate(self._engine, source, kind, target, actor=actor)

    @needs("write")
    async def save_procedure(
        self,
        name: str,
        steps: Iterable[str],
        *,
        triggers: Iterable[str] = (),
        text: str = "",
        scope: str | None = None,
        tags: Iterable[str] = (),
        actor: str = "",
    ) -> Receipt:
        """Keep how something is done: ordered steps under a name. Saving the same name in the
        same scope again makes a new version. A context whose query has all words of a trigger
        offers it."""
        return await save_procedure(
            self._engine,
            name,
            steps,
            triggers=triggers,
            text=text,
            scope=scope,
            tags=tags,
            actor=actor,
        )

    @needs("write")
    async def procedure_used(
        self,
        id_or_name: str,
        *,
        success: bool,
        scope: str | None = None,
        note: str = "",
        actor: str = "",
    ) -> Receipt:
        """Count that a procedure was followed, and whether it worked."""
        return await procedure_used(
            self._engine, id_or_name, success=success, scope=scope, note=note, actor=actor
        )

    @needs("read")
    async def find_procedures(
        self, query: str, *, scope: str | Iterable[str] | None = None, limit: int = 5
    ) -> Answer:
        """Procedures for a task: those whose trigger is in the query first, the most used and
        successful ones before others, then by meaning."""
        return await find_procedures(self._engine, query, scope=scope, limit=limit)

    @needs("erase")
    async def forget(
        self,
        *,
        ids: Sequence[str] = (),
        session: str | None = None,
        scope: str | None = None,
        descend: bool = False,
        author: str | None = None,
        source: str | None = None,
        since: When | None = None,
        until: When | None = None,
        sources: bool = False,
        dry_run: bool = False,
        actor: str = "",
    ) -> Receipt:
        """Erase for good, with everything derived. Selectors narrow each other; ``ids`` name
        records, or messages when ``session`` is given. ``sources=True`` also erases the sources
        and copies that the receipt would otherwise name as survivors."""
        selection = Selection(
            ids=ids,
            session=session,
            scope=scope,
            descend=descend,
            author=author,
            source=source,
            since=since,
            until=until,
            sources=sources,
            dry_run=dry_run,
        )
        return await forget(self._engine, selection, actor=actor)

    @needs("write")
    async def revoke(
        self,
        *,
        ids: Sequence[str] = (),
        session: str | None = None,
        scope: str | None = None,
        descend: bool = False,
        author: str | None = None,
        source: str | None = None,
        since: When | None = None,
        until: When | None = None,
        dry_run: bool = False,
        actor: str = "",
    ) -> Receipt:
        """Retire everything that came from somewhere, with everything derived, in one change
        that ``undo`` takes back. Selectors as for ``forget``. What has other sources too stays
        and is named in ``survivors``; the log stays, and is not learned from again."""
        selection = Selection(
            ids=ids,
            session=session,
            scope=scope,
            descend=descend,
            author=author,
            source=source,
            since=since,
            until=until,
            dry_run=dry_run,
        )
        return await revoke(self._engine, selection, actor=actor)

    @needs("read")
    async def history(
        self, id: str | None = None, *, scope: str | None = None, limit: int = 50
    ) -> tuple[Entry, ...]:
        """What happened to one record, oldest first; without an id, the newest changes of a
        scope's root, newest first."""
        return await history(self._engine, id, scope=scope, limit=limit)

    @needs("write")
    async def archive(self, ids: Sequence[str], *, actor: str = "") -> Receipt:
        """Retire records: they are not recalled any more, but still known to have been believed.
        ``undo`` takes it back."""
        return await archive(self._engine, ids, actor=actor)

    @needs("write")
    async def undo(self, change: str, *, scope: str | None = None, actor: str = "") -> Receipt:
        """Take a change back (``receipt.change``), by a change that can be undone too."""
        return await undo(self._engine, change, scope=scope, actor=actor)

    @needs("read")
    async def review(self, *, scope: str | None = None, limit: int = 50) -> tuple[ReviewItem, ...]:
        """What waits for a person: disputed and quarantined records, change sets that were held,
        work that is stuck; of a scope and all below it, or of all scopes of this handle."""
        return await review(self._engine, scope=scope, limit=limit)

    @needs("write")
    async def resolve(
        self,
        id: str,
        action: str,
        *,
        text: str | None = None,
        into: str | None = None,
        actor: str = "",
    ) -> Receipt:
        """Decide about something under review: "approve", "reject", "edit" with the new
        ``text``, or "merge" ``into`` another record. One change, which ``undo`` takes back."""
        return await resolve(self._engine, id, action, text=text, into=into, actor=actor)

    @needs("read")
    async def get(self, ids: Sequence[str]) -> tuple[Record, ...]:
        """Records by id; a foreign id is missing like one that never was."""
        return await records_by_id(self._engine, ids)

    @needs("write")
    async def set_policy(
        self, scope: str, *, persist: bool, author: str = "", actor: str = ""
    ) -> Receipt:
        """Opt a scope (and all below it), or one author in it, out of persistence or in again.
        What is stored already stays until it is forgotten."""
        return await set_policy(self._engine, scope, persist=persist, author=author, actor=actor)

    @needs("read")
    async def export_to(
        self,
        path: Target,
        *,
        scope: str | Iterable[str] | None = None,
        descend: bool = True,
    ) -> Receipt:
        """Write everything this handle may see, or some scopes of it, as JSON lines: to a file,
        which is there complete or not at all, or to a binary stream."""
        return await export_to(self._engine, path, scope=scope, descend=descend)

    @needs("write")
    async def import_from(
        self,
        path: ImportSource,
        *,
        dry_run: bool = False,
        partial: bool = False,
        actor: str = "",
    ) -> Receipt:
        """Read an export in, with a report per line; doing it again changes nothing. A file that
        was cut off or changed is refused, unless ``partial`` asks for what is there."""
        return await import_from(self._engine, path, dry_run=dry_run, partial=partial, actor=actor)

    @needs("admin")
    async def maintain(
        self,
        *,
        dry_run: bool = False,
        scope: str | None = None,
        force: bool = False,
        retry: bool = False,
    ) -> Receipt:
        """One round of upkeep by hand, and consolidation now: of a scope and all below it, or of
        everything. ``dry_run`` writes nothing and says what consolidation would do; ``force``
        does it even if it retires more than the profile's share; ``retry`` tries again what is
        stuck after too many failures."""
        options = {"dry_run": dry_run, "force": force, "retry": retry}
        return await maintain(self._engine, scope=scope, **options)

    @needs("admin")
    async def reembed(self, progress: Callable[[int], None] | None = None) -> Receipt:
        """Move the store to the space of this handle's embedder, while others go on reading the
        old one. May be killed and started again."""
        return await reembed(self._engine, progress)

    async def close(self) -> None:
        """Write what is buffered and let go of the store."""
        if self._upkeep is not None:
            self._upkeep.cancel()
            with suppress(asyncio.CancelledError):
                await self._upkeep
        try:
            await flush_uses(self._engine)
        finally:
            await self._engine.store.close()
            await self._engine.volatile.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
