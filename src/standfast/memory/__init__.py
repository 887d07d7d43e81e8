"""The facade: a few verbs over one engine. ``AsyncMemory`` is the source; ``sync.Memory`` is
the same on a background loop.

Every interface is made from the signatures and docstrings here: an argument that a verb gets, with
its line under ``Args``, is in the server, its OpenAPI page, the command line, the tools and the
client. What a verb does is loaded when it is first used.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Self

from standfast.access.rights import hinting, needs
from standfast.memory.beliefs import Beliefs
from standfast.memory.lists import Lists
from standfast.memory.whole import WholeStore
from standfast.types import (
    Answer,
    Entry,
    Kind,
    Packet,
    Receipt,
    Record,
    RelationKind,
    ReviewAction,
    ReviewItem,
    Shape,
    Source,
    Status,
    Type,
)
from standfast.types.arguments import (
    Actor,
    Filter,
    Ids,
    Json,
    Label,
    Limit,
    MessageInput,
    MessageInputs,
    Name,
    Scope,
    Scopes,
    Share,
    Steps,
    StorePath,
    Tags,
    When,
)

if TYPE_CHECKING:
    import asyncio

    from standfast.engine import Engine
    from standfast.ports import Clock, Embedder, Model, NewId
    from standfast.settings import Settings
    from standfast.text.redact import Redactor
    from standfast.text.tokens import TokenCount


class AsyncMemory(WholeStore, Lists, Beliefs):
    """A memory for agents. Open one with ``await AsyncMemory.open(...)``; close it, or use it
    as an async context manager."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._upkeep: asyncio.Task[None] | None = None
        self._telling: asyncio.Task[None] | None = None
        self._auditing: asyncio.Task[None] | None = None

    @property
    def engine(self) -> Engine:
        """What the verbs work on, for ``standfast.access`` and the books of a server."""
        return self._engine

    @classmethod
    @hinting
    async def open(
        cls,
        store: StorePath | None = None,
        *,
        embedder: str | Embedder | None = None,
        profile: str | None = None,
        scope: str | None = None,
        settings: Settings | None = None,
        clock: Clock | None = None,
        new_id: NewId | None = None,
        redactor: Redactor | None = None,
        count_tokens: TokenCount | None = None,
        model: str | Model | None = None,
        own_types: Json | StorePath | None = None,
        background: bool = True,
    ) -> Self:
        """Open a store by path or URL.

        Args:
            store: a path, a server (``postgresql://user@host/database``), or ``dict:`` (in this
                process only); without it STANDFAST_STORE, or a file in the user's data folder
            embedder: "auto" (the store's; for a new one the model in the box), "recall-2",
                "minilm", "hashing", "none", a service such as "openai:...", or an object
            profile: a preset by name
            scope: binds the handle: no call may leave it; settings: instead of the environment
            clock, new_id: what time it is and where ids come from, for tests
            redactor: what takes secrets out
            count_tokens: counts like your model does; without it budgets are kept on the safe side
            model: a language model ("openai:...", an object); without it STANDFAST_MODEL, or none
            own_types: types of your own, and what a model is told that learns; or a file of them
            background: whether upkeep runs by itself
        """
        import asyncio

        from standfast.wiring import open_engine  # the one place that knows every class

        engine = await open_engine(
            store,
            embedder=embedder,
            profile=profile,
            scope=scope,
            settings=settings,
            clock=clock,
            new_id=new_id,
            redactor=redactor,
            count_tokens=count_tokens,
            model=model,
            own_types=own_types,
        )
        memory = cls(engine)
        if engine.audit is not None:
            memory._auditing = asyncio.create_task(engine.audit.run())
        if background:
            from standfast.upkeep.background import run_in_background

            memory._upkeep = asyncio.create_task(run_in_background(engine))
            memory._telling = asyncio.create_task(_tell_others(engine))
        return memory

    @classmethod
    async def connect(
        cls, url: str, key: str | None = None, *, timeout: float = 60.0
    ) -> AsyncMemory:
        """A memory on a server (``standfast serve``) with the same verbs and the same results.

        Args:
            url: where the server is
            key: who you are
            timeout: how many seconds one request may take
        """
        from standfast.interfaces.client import connect  # needs the extra `client`

        return await connect(url, key, timeout=timeout)

    @needs("write")
    async def observe(
        self,
        session: Name,
        messages: MessageInput | MessageInputs,
        *,
        scope: Scope | None = None,
        channel: Label = "",
        author: Label = "",
        source: Source | None = None,
        pending: bool = False,
        expires_at: When | None = None,
        actor: Actor = "",
    ) -> Receipt:
        """Append messages to a session's log; each becomes a searchable turn.

        Messages are strings (the user said it) or mappings as OpenAI and Anthropic shape them,
        with an optional ``id`` (sending it again changes nothing), ``at`` and ``author``.

        Args:
            session: a name for the conversation or task
            messages: in order; text means that the user said it, else role and content; an "id"
                makes sending one again harmless
            scope: whose session it is
            channel: where the session takes place
            author: who wrote messages that do not say it
            source: where messages that do not say it come from
            pending: they wait to be delivered to the next task
            expires_at: when to forget them
            actor: who does it, for the journal
        """
        from standfast.verbs.observe import observe

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

    @needs("read")
    async def recall(
        self,
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
        explain: bool = False,
        fast: bool | None = None,
        profile: Label | None = None,
        now: When | None = None,
    ) -> Answer:
        """The memories that answer a question, best first, each with its reasons.

        Args:
            query: a question or keywords; empty: the newest
            scope: where to look, parents included; none: everywhere
            limit: how many at most
            kinds: only this kind
            types: only this type
            tags: only with one of these tags
            where: what all, any or none of its tags and data are:
                {"tags": {"all": ["a"], "none": ["b"]}, "data": {"any": {"year": {"gte": 2024}}}}
            statuses: only with this status
            since: happened at or after
            until: happened before
            as_of: what was true at that time
            known_at: what we believed at that time
            threshold: leave out weaker hits
            descend: also everything below the scopes
            explain: how each score came about
            fast: no model chooses among the candidates; default: as the profile says
            profile: rank as this profile does, to compare; default: this handle's
            now: the moment of asking, for decay and expiry
        """
        from standfast.upkeep.learn.on_demand import learn_before_read, with_notes
        from standfast.verbs.recall import Question, recall

        question = Question(
            text=query,
            scope=_read_once(scope),
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
            explain=explain,
            fast=fast,
            profile=profile,
            now=now,
        )
        notes = await learn_before_read(self._engine, question.scope, descend=descend)
        return with_notes(await recall(self._engine, question), notes)

    @needs("read")
    async def context(
        self,
        *,
        session: Name | None = None,
        query: str | None = None,
        scope: Scopes | None = None,
        tokens: int | None = None,
        shape: Shape = "openai",
        where: Filter | None = None,
        threshold: Share | None = None,
        as_of: When | None = None,
        known_at: When | None = None,
        cite: bool = False,
        now: When | None = None,
    ) -> Packet:
        """One packet for the next model call.

        Core memories, facts, episodes and procedures for the query, the session's summary and
        newest messages, together within ``tokens``; without it the conversation comes as the
        profile says.

        Args:
            session: the session whose messages belong into it
            query: what it is for; none: what the user said last
            scope: where to look, parents included; none: everywhere
            tokens: the budget
            shape: whose messages its own look like
            where: of memories only those whose tags and data match, as for ``recall``
            threshold: leave out weaker hits
            as_of: what was true at that time
            known_at: what we believed at that time
            cite: each line of the text has its id, type and trust
            now: the moment of asking
        """
        from standfast.upkeep.learn.on_demand import learn_before_read, with_notes
        from standfast.verbs.context import ContextWish, context

        scope = _read_once(scope)
        wanted = ContextWish(
            session=session,
            query=query,
            scope=scope,
            tokens=tokens,
            shape=shape,
            where=where,
            threshold=threshold,
            as_of=as_of,
            known_at=known_at,
            cite=cite,
            now=now,
        )
        asked = self._engine.write_scope(scope) if not isinstance(scope, list) else scope
        notes = await learn_before_read(self._engine, asked, session=session)
        return with_notes(await context(self._engine, wanted, self._engine.counter), notes)

    @needs("write")
    async def confirm(self, packet: Packet) -> Receipt:
        """A packet was used: the messages in its ``pending`` are consumed. Without it they are
        delivered again, so a crash in between loses nothing.

        Args:
            packet: as ``context`` answered it
        """
        from standfast.verbs.confirm import confirm

        return await confirm(self._engine, packet)

    @needs("write")
    async def set_state(
        self, session: Name, state: Json, *, scope: Scope | None = None, actor: Actor = ""
    ) -> Receipt:
        """Set the state of a session's task; an empty one takes it away.

        Every context of the session carries it.

        Args:
            session: which session
            state: a small JSON object
            scope: whose session it is
            actor: who does it, for the journal
        """
        from standfast.verbs.state import set_state

        return await set_state(self._engine, session, state, scope=scope, actor=actor)

    @needs("write")
    async def end(
        self,
        session: Name,
        *,
        scope: Scope | None = None,
        outcome: str | None = None,
        actor: Actor = "",
    ) -> Receipt:
        """A session is over: keep an episode of it, unless it was trivial. Its log stays.

        Args:
            session: which session
            scope: whose session it is
            outcome: how it ended, in a sentence
            actor: who does it, for the journal
        """
        from standfast.verbs.end import end

        return await end(self._engine, session, scope=scope, outcome=outcome, actor=actor)

    @needs("write")
    async def note(
        self,
        session: Name,
        text: str,
        *,
        role: Name = "agent",
        scope: Scope | None = None,
        actor: Actor = "",
    ) -> Receipt:
        """Add a short note by role to the block of a session; every context of it shows it.

        Args:
            session: which session
            text: what to note
            role: who notes it
            scope: whose session it is
            actor: who does it, for the journal
        """
        from standfast.verbs.state import note

        return await note(self._engine, session, text, role=role, scope=scope, actor=actor)

    @needs("write")
    async def relate(
        self, source: Name, kind: RelationKind, target: Name, *, actor: Actor = ""
    ) -> Receipt:
        """Link two records of one root: ``relate(a, "supports", b)``.

        Args:
            source: id of the one
            kind: how they are linked
            target: id of the other
            actor: who does it, for the journal
        """
        from standfast.verbs.relate import relate

        return await relate(self._engine, source, kind, target, actor=actor)

    @needs("write")
    async def save_procedure(
        self,
        name: Name,
        steps: Steps,
        *,
        triggers: Tags = (),
        text: str = "",
        scope: Scope | None = None,
        tags: Tags = (),
        actor: Actor = "",
    ) -> Receipt:
        """Keep how something is done: ordered steps under a name. Saving the same name in the
        same scope again makes a new version.

        Args:
            name: short and unique in its scope, such as: deploy the site
            steps: what to do, in order
            triggers: words that call for it; all words of one must occur
            text: what it is about; default: its name
            scope: whose it is
            tags: short words, such as deploy or database
            actor: who does it, for the journal
        """
        from standfast.verbs.procedures import save_procedure

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
        id_or_name: Name,
        *,
        success: bool,
        scope: Scope | None = None,
        note: str = "",
        actor: Actor = "",
    ) -> Receipt:
        """Count that a procedure was followed, and whether it worked.

        Args:
            id_or_name: its id or its name
            success: whether it worked
            scope: whose it is; a name is looked for there and above
            note: what happened, if it did not work
            actor: who does it, for the journal
        """
        from standfast.verbs.procedures import procedure_used

        return await procedure_used(
            self._engine, id_or_name, success=success, scope=scope, note=note, actor=actor
        )

    @needs("read")
    async def find_procedures(
        self, query: str, *, scope: Scopes | None = None, limit: Limit = 5
    ) -> Answer:
        """Procedures for a task: those whose trigger is in the query first, the most used and
        successful ones before others, then by meaning.

        Args:
            query: what is to be done
            scope: where to look, parents included; none: everywhere
            limit: how many at most
        """
        from standfast.verbs.procedures import find_procedures

        return await find_procedures(self._engine, query, scope=scope, limit=limit)

    @needs("erase")
    async def forget(
        self,
        *,
        ids: Ids = (),
        session: Name | None = None,
        scope: Scope | None = None,
        descend: bool = False,
        author: Name | None = None,
        source: Source | None = None,
        since: When | None = None,
        until: When | None = None,
        sources: bool = False,
        several_authors: bool = False,
        dry_run: bool = False,
        actor: Actor = "",
    ) -> Receipt:
        """Erase for good, with everything derived. Selectors narrow each other.

        Args:
            ids: which records, or with a session which messages
            session: what was said there (needs its scope)
            scope: what is there
            descend: also everything below the scope
            author: what this author said
            source: what came from this source
            since: happened at or after
            until: happened before
            sources: also what it was made from, and copies
            several_authors: erase it although it is by more than one author
            dry_run: only list the texts that would go, and their authors
            actor: who does it, for the journal
        """
        from standfast.verbs.forget import forget
        from standfast.verbs.selection import Selection

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
            several_authors=several_authors,
            dry_run=dry_run,
        )
        return await forget(self._engine, selection, actor=actor)

    @needs("write")
    async def revoke(
        self,
        *,
        ids: Ids = (),
        session: Name | None = None,
        scope: Scope | None = None,
        descend: bool = False,
        author: Name | None = None,
        source: Source | None = None,
        since: When | None = None,
        until: When | None = None,
        dry_run: bool = False,
        actor: Actor = "",
    ) -> Receipt:
        """Retire everything that came from somewhere, with everything derived, in one change
        that ``undo`` takes back. Selectors narrow each other.

        What has other sources too stays and is named in ``survivors``; the log stays, and is not
        learned from again.

        Args:
            ids: which records, or with a session which messages
            session: what was said there (needs its scope)
            scope: what is there
            descend: also everything below the scope
            author: what this author said
            source: what came from this source
            since: happened at or after
            until: happened before
            dry_run: only say what would go
            actor: who does it, for the journal
        """
        from standfast.verbs.revoke import revoke
        from standfast.verbs.selection import Selection

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
        self, id: Name | None = None, *, scope: Scope | None = None, limit: Limit = 50
    ) -> tuple[Entry, ...]:
        """What happened to one record, oldest first; without an id, the newest changes of a
        scope's root, newest first.

        Args:
            id: of a record
            scope: whose changes
            limit: how many at most
        """
        from standfast.verbs.history import history

        return await history(self._engine, id, scope=scope, limit=limit)

    @needs("write")
    async def archive(self, ids: Ids, *, actor: Actor = "") -> Receipt:
        """Retire records: they are not recalled any more, but still known to have been believed.
        ``undo`` takes it back.

        Args:
            ids: which records
            actor: who does it, for the journal
        """
        from standfast.verbs.archive import archive

        return await archive(self._engine, ids, actor=actor)

    @needs("write")
    async def undo(
        self,
        change: Name,
        *,
        scope: Scope | None = None,
        dry_run: bool = False,
        actor: Actor = "",
    ) -> Receipt:
        """Take a change back, by a change that can be undone too.

        Args:
            change: as a receipt or the history names it
            scope: where the change was made
            dry_run: only say what would come back, or what stands in the way
            actor: who does it, for the journal
        """
        from standfast.verbs.undo import undo

        return await undo(self._engine, change, scope=scope, dry_run=dry_run, actor=actor)

    @needs("read")
    async def review(
        self, *, scope: Scope | None = None, limit: Limit = 50
    ) -> tuple[ReviewItem, ...]:
        """What waits for a person's decision: disputed and quarantined records, change sets that
        were held, work that is stuck.

        Args:
            scope: only this scope and all below it
            limit: how many at most
        """
        from standfast.verbs.review import review

        return await review(self._engine, scope=scope, limit=limit)

    @needs("review")
    async def resolve(
        self,
        id: Name,
        action: ReviewAction,
        *,
        text: str | None = None,
        into: Name | None = None,
        actor: Actor = "",
    ) -> Receipt:
        """Decide about something under review, in one change that ``undo`` takes back.

        Args:
            id: what to decide about
            action: what to do with it
            text: for edit: the new text
            into: for merge: id of the record that stays
            actor: who does it, for the journal
        """
        from standfast.verbs.resolve import resolve

        return await resolve(self._engine, id, action, text=text, into=into, actor=actor)

    @needs("read")
    async def get(self, ids: Ids) -> tuple[Record, ...]:
        """Records by id; what does not exist or cannot be seen is left out.

        Args:
            ids: which records
        """
        from standfast.verbs.lists.records import records_by_id

        return await records_by_id(self._engine, ids)

    @needs("policy")
    async def set_policy(
        self, scope: Scope, *, persist: bool, author: Label = "", actor: Actor = ""
    ) -> Receipt:
        """Opt a scope and all below it, or one author in it, out of being kept, or in again.
        What is stored already stays until it is forgotten.

        Args:
            scope: which scope
            persist: whether it is kept
            author: only what this author says
            actor: who does it, for the journal
        """
        from standfast.verbs.set_policy import set_policy

        return await set_policy(self._engine, scope, persist=persist, author=author, actor=actor)

    async def close(self) -> None:
        """Write what is buffered and let go of the store. Where upkeep runs by itself, what was
        said here is learned first, for STANDFAST_CLOSE_SECONDS; the log says what is left."""
        if self._engine.is_forked or self._engine.closed:
            return
        import asyncio

        from standfast.changes import flush_uses
        from standfast.upkeep.background import last_round

        upkeep, self._upkeep = self._upkeep, None
        for task in filter(None, (upkeep, self._telling, self._auditing)):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        self._telling = self._auditing = None
        try:
            if upkeep is not None:
                await last_round(self._engine)
            await flush_uses(self._engine)
            if self._engine.audit is not None:
                await self._engine.audit.flush()
        finally:
            await self._engine.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


def _read_once(scope: Scopes | None) -> str | list[str] | None:
    """Scopes that are looked at twice, though they may come from a generator."""
    return scope if scope is None or isinstance(scope, str) else list(scope)


async def _tell_others(engine: Engine) -> None:
    """Webhooks, for memories that stay open: a command is over before the first look."""
    import asyncio

    await asyncio.sleep(1)
    from standfast.memory.webhooks import run_webhooks

    await run_webhooks(engine)
