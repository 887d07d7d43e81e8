"""What every verb shares: the ports, the scopes a handle may touch, policies, and embedding."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter as Tally
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from weakref import WeakValueDictionary

from standfast import compat
from standfast.errors import Denied, Invalid, Unavailable
from standfast.index.vectors import embedding_text, packed
from standfast.models.careful import Careful
from standfast.models.embedder import CarefulEmbedder, Embedded
from standfast.ports import (
    Cell,
    Clock,
    Embedder,
    NewId,
    PendingQueue,
    Store,
    cell_key,
    check_process,
    is_forked,
)
from standfast.profiles import Profile
from standfast.scopes import is_within, parents, parse_scope, root_of
from standfast.text.tokens import ESTIMATE, Counter
from standfast.types import (
    ALL_RIGHTS,
    TRUST_OF_HOLDER,
    TRUST_OF_SOURCE,
    Batch,
    Durability,
    Entry,
    Find,
    Holder,
    Item,
    Listing,
    Message,
    Record,
    Right,
    Session,
    SessionKey,
    Source,
    Summary,
    Vector,
)
from standfast.types.own import OwnTypes
from standfast.understanding.judging.judge import ChangeJudge
from standfast.understanding.reading.reader import Reader

if TYPE_CHECKING:
    from standfast.text.redact import Redactor

PAGE = 500

T = TypeVar("T")
SPACE_TRUSTED_SECONDS = 1.0
ACTIVE_SPACE = cell_key(compat.SPACE_CELLS, "active")
WANTED_SPACE = cell_key(
    compat.SPACE_CELLS, "wanted"
)  # before the first vector: which somebody asked for
REEMBEDDING = cell_key(compat.SPACE_CELLS, "reembedding")


class Once(Protocol):
    """Sees to it that what a handle writes is written once, however often it is asked for."""

    async def commit(
        self,
        batch: Batch,
        answer: Callable[[], Any] | None,
        commit: Callable[[Batch], Awaitable[int]],
    ) -> int: ...


class Auditing(Protocol):
    """Writes down who did what, without a word of it."""

    async def with_line(self, engine: Engine, batch: Batch) -> Batch: ...

    def committed(self, batch: Batch) -> None: ...

    def note(
        self,
        engine: Engine,
        act: str,
        verb: str,
        *,
        scopes: Iterable[str] = (),
        ids: Iterable[str] = (),
        who: str = "",
    ) -> None: ...

    def seen(self, engine: Engine, act: str, verb: str, scope: object, found: object) -> None: ...

    def forget_key(self, root: str) -> None: ...

    async def flush(self) -> None: ...

    async def run(self) -> None: ...


@dataclass(slots=True)
class Disk:
    """Why the last write was refused; "" if it was not. ``heard``: messages were written by
    this process."""

    trouble: str = ""
    heard: bool = False


@dataclass(slots=True)
class Callers:
    """How many calls somebody waits for now, of all handles of this engine, and what they do one
    after the other."""

    waiting: int = 0
    locks: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)


class Meter(Protocol):
    """Counts what is written, and raises before it is too much."""

    async def admit(self, batch: Batch) -> None: ...

    async def count(self, batch: Batch) -> None: ...


@dataclass(slots=True)
class Trusted:
    """The active space as it was read last, and until when (``time.monotonic``) a search may
    rely on it. A search that finds no vector there looks again; a write always does, but those
    that ask in one turn of a loop look together."""

    space: str = ""
    move: Cell | None = None  # the progress of a re-embedding, or what it left to drop
    until: float = 0.0
    turn: asyncio.AbstractEventLoop | None = None
    in_turn: str = ""

    def until_next_turn(self, space: str) -> None:
        self.turn, self.in_turn = asyncio.get_running_loop(), space
        self.turn.call_soon(self._end_turn)

    def _end_turn(self) -> None:
        self.turn = None


@dataclass(slots=True, kw_only=True)
class Engine:
    store: Store
    volatile: Store  # for users who opted out, and while the disk is full
    queue: PendingQueue | None = None  # where pending messages wait; None: in the store
    embedder: Embedder | None
    reader: Reader | None = None  # None: nothing is learned without a language model
    no_reader: str = ""  # why there is none
    change_judge: ChangeJudge | None = None  # None: equal texts merge, all else stays
    no_judge: str = ""  # why there is none
    profile: Profile
    clock: Clock
    new_id: NewId
    new_secret: NewId
    redactor: Redactor
    default_scope: str
    models: Careful | None = None  # None: summaries are extracts
    rules_only: bool = False  # learn without a model, though there is one
    unasked: bool = False  # nobody waits for a model now: it is asked another time
    own: OwnTypes = field(default_factory=OwnTypes)  # types that whoever opened it declared
    name: str = ""  # of this handle, for leases
    counter: Counter = ESTIMATE
    bound: tuple[str, ...] = ()  # the scopes this handle may not leave; () = none
    rights: frozenset[Right] = ALL_RIGHTS
    holder: Holder = "person"  # whose words the writes of this handle are
    key: str = ""  # the id of the key that this handle is for; "": whoever has the store
    until: datetime | None = None  # when that key ends
    used: Tally[tuple[str, str]] = field(default_factory=Tally)  # root and id of records
    kept_as_said: Tally[str] = field(default_factory=Tally)  # writers whose texts had no origin
    journal_days: int = 0  # how long the journal is kept; 0: for ever
    close_seconds: float = 2.0  # how long closing may learn
    webhook_hosts: str = ""  # private addresses that webhooks may go to
    claimed: set[str] = field(default_factory=set)  # spaces that the store is known to have
    volatile_roots: set[str] = field(default_factory=set)
    # Where a message of this process only stands: behind which one of the kept log.
    places: dict[tuple[SessionKey, str], int] = field(default_factory=dict)
    shared: bool = False  # several processes serve the same: nothing may be kept in one of them
    disk: Disk = field(default_factory=Disk)
    callers: Callers = field(default_factory=Callers)
    yields: bool = False  # upkeep that nobody asked for: whoever waits for an answer goes first
    trusted: Trusted = field(default_factory=Trusted)
    better: str = ""  # a local model that finds more than the one the store was begun with
    known_space: str = ""  # the store's vector space, where it was read just now
    once: Once | None = None
    audit: Auditing | None = None
    sign: Callable[[str], str] | None = None  # vouches for the checksum of an export
    meter: Meter | None = None  # None: nobody counts what this handle writes
    process: int = field(default_factory=os.getpid)  # that opened it
    closed: bool = False

    def now(self) -> datetime:
        self.check_open()
        return self.clock().astimezone(UTC)

    @property
    def is_forked(self) -> bool:
        """Is this a copy in a forked child? Its threads and connections are the parent's."""
        return is_forked(self.process)

    def check_open(self) -> None:
        """Unavailable in a forked child, where every wait for a thread would last for ever, and
        after ``close``."""
        if self.closed:
            raise Unavailable("this memory is closed; open it again")
        check_process(self.process, "memory")

    async def close(self) -> None:
        """Close the connections, and drop what a caller handed in and the models: a handle that
        somebody keeps must not keep those in memory. In a forked child nothing: the connections
        belong to the parent."""
        if self.is_forked or self.closed:
            return
        try:
            await self.store.close()
            await self.volatile.close()
            if self.queue is not None:
                await self.queue.close()
        finally:
            self.closed = True
            self.clock, self.new_id, self.new_secret = _closed_clock, _closed_id, _closed_id
            self.embedder = self.reader = self.change_judge = self.models = None
            self.counter, self.sign, self.meter = ESTIMATE, None, None
            self.audit = self.once = None

    @property
    def store_trouble(self) -> str:
        """Why the store answers from what this process has; "" if it does not."""
        trouble: str = getattr(self.store, "trouble", "")
        return trouble and f"searched only what this process has by keyword, {trouble}"

    # Scopes and rights

    def narrowed(
        self, scopes: Iterable[str] | None, rights: Iterable[Right], holder: Holder | None = None
    ) -> Engine:
        """The same engine for somebody who may do less; None: in the same scopes as this one.
        What is counted and what is volatile is shared with it. An agent stays one."""
        bound = self.bound if scopes is None else tuple(map(self.write_scope, scopes))
        if scopes is not None and not bound:  # an empty bound would mean no bound
            raise Invalid("a narrower handle needs at least one scope")
        lower = holder or self.holder
        if TRUST_OF_HOLDER[lower] > self.trust_max:
            lower = self.holder
        return replace(self, bound=bound, rights=frozenset(rights) & self.rights, holder=lower)

    def allow(self, right: Right) -> None:
        self.check_open()
        if right not in self.rights:
            may = ", ".join(sorted(self.rights)) or "nothing"
            raise Denied(f"this needs the right to {right}; this handle may {may}")

    # Trust: nobody is believed more than who they are, whatever they claim

    @property
    def trust_max(self) -> int:
        return TRUST_OF_HOLDER[self.holder]

    def source_of(self, claimed: Source) -> Source:
        """Where what this handle writes comes from. That an agent says a person or a file said it
        is the agent's word."""
        over = TRUST_OF_SOURCE[claimed] > self.trust_max or claimed == "file"
        return "assistant" if self.holder == "agent" and over else claimed

    def durability_of(self, wanted: Durability) -> Durability:
        """What is shown at every task is what people want there."""
        return "standard" if wanted == "core" and self.holder == "agent" else wanted

    def may_retire(self, record: Record) -> bool:
        """Who is trusted less takes nothing away from who is trusted more, unless they decide."""
        return record.trust <= self.trust_max or "review" in self.rights

    def check_retires(self, record: Record) -> None:
        if not self.may_retire(record):
            raise Denied(
                f"record {record.id!r} is a person's word, and an agent's key may not retire it; "
                "save what holds now, and let somebody with the right to review decide"
            )

    def write_scope(self, scope: str | None) -> str:
        if scope is None:
            if len(self.bound) > 1:
                raise Invalid(
                    f"this key reaches {self._bounds()}: name the scope that is meant, or send "
                    "X-Standfast-Device"
                )
            return self.bound[0] if self.bound else self.default_scope
        named = parse_scope(scope)
        if not self.may_change(named):
            raise Denied(f"scope {named!r} is outside {self._bounds()}, this handle's scope")
        return named

    def write_scope_in(self, root: str) -> str:
        """The widest scope of a root that this handle may write to."""
        own = [scope for scope in self.bound if root_of(scope) == root]
        return self.write_scope(own[0] if own else root)

    def _bounds(self) -> str:
        return ", ".join(map(repr, self.bound))

    def may_change(self, scope: str) -> bool:
        return not self.bound or any(is_within(scope, one) for one in self.bound)

    async def read_scopes(
        self, scope: str | Iterable[str] | None, *, descend: bool
    ) -> tuple[dict[str, tuple[str, ...]], bool]:
        """The scopes to look in by root, and whether to look below them."""
        if scope is None:
            if self.bound:
                roots = dict.fromkeys(map(root_of, self.bound))
                return {r: tuple(b for b in self.bound if root_of(b) == r) for r in roots}, True
            return {root: (root,) for root in await self.all_roots()}, True
        named = [scope] if isinstance(scope, str) else list(scope)
        if not named:
            raise Invalid("the list of scopes is empty; leave scope out to look everywhere")
        by_root: dict[str, tuple[str, ...]] = {}
        for one in map(parse_scope, named):
            if not self.may_change(one) and (descend or not self.may_see(one)):
                raise Denied(f"scope {one!r} is outside {self._bounds()}, this handle's scope")
            by_root[root_of(one)] = (*by_root.get(root_of(one), ()), one)
        return by_root, descend

    async def all_roots(self) -> list[str]:
        found: list[str] = sorted(self.volatile_roots)
        found += [root async for root in every_root(self.store) if root not in self.volatile_roots]
        return found

    def may_see(self, scope: str) -> bool:
        """Its own scopes, all below them, and their parents."""
        return self.may_change(scope) or any(is_within(one, scope) for one in self.bound)

    def stores_of(self, root: str) -> tuple[Store, ...]:
        return (self.store, self.volatile) if root in self.volatile_roots else (self.store,)

    def in_order(self, key: SessionKey, messages: Iterable[Message]) -> list[Message]:
        """The messages of a session as they were said, also where some of them are in this
        process only: those stand behind the kept one that came before them."""

        def place(message: Message) -> tuple[int, int, int]:
            behind = self.places.get((key, message.id))
            return (message.seq, 0, 0) if behind is None else (behind, 1, message.seq)

        return sorted(messages, key=place)

    async def find_records(self, ids: Sequence[str]) -> dict[str, tuple[Record, Store]]:
        """Records by id wherever this handle may look, with the store each lives in."""
        roots = set(map(root_of, self.bound))
        root = roots.pop() if len(roots) == 1 else None
        stores = (self.store, self.volatile) if self.volatile_roots else (self.store,)
        return {
            record.id: (record, store)
            for store in stores
            for record in await store.records(root, ids, now=self.now())
            if self.may_see(record.scope)
        }

    # Policies

    async def persists(self, scope: str, authors: Iterable[str] = ()) -> bool:
        """Checked before the first write: did the owner of a scope, or an author, opt out?"""
        return not await self._refusals(scope, authors)

    async def opted_out(self, scope: str, authors: Iterable[str]) -> frozenset[str]:
        """Those of these authors of whom nothing is to be kept in this scope."""
        asked = frozenset(authors)
        refusals = await self._refusals(scope, asked)
        return asked if "scope" in refusals else frozenset(a for a in asked if _of(a) in refusals)

    async def _refusals(self, scope: str, authors: Iterable[str]) -> frozenset[str]:
        chain = (*parents(scope), scope)
        keys = ("scope", *{_of(author) for author in authors if author})
        policies = await self.store.items(
            root_of(scope),
            compat.POLICIES,
            now=self.now(),
            scopes=chain,
            keys=keys,
            limit=len(chain) * len(keys),
        )
        return frozenset(
            item.key
            for item in policies
            if isinstance(item.value, Mapping) and not item.value.get("persist", True)
        )

    # Vectors

    async def space(self) -> str:
        """The store's active vector space; "" before the first vector was written."""
        trusted, space = self.trusted, self.known_space
        if not space and trusted.turn is asyncio.get_running_loop():
            return trusted.in_turn
        if not space:
            space, trusted.move = await active_spaces(self.store, self.now())
            if space:  # before the first vector anybody may be about to choose it
                trusted.until_next_turn(space)
        trusted.space = space
        trusted.until = time.monotonic() + SPACE_TRUSTED_SECONDS
        return space

    async def steady(self) -> Engine:
        """The same engine for one run over many records: it reads the space once. Vectors of two
        spaces are never compared, so what is written in an old one is merely due again."""
        return replace(self, known_space=await self.space())

    async def space_cell(self) -> Cell | None:
        """Read anew each time: another process may just have moved the store to a new space."""
        return await space_cell(self.store, self.now())

    async def vector_trouble(self, *, searching: bool = False) -> str:
        """Why vectors cannot be used now; "" if they can. Who is only searching may rely on what
        was read a moment ago."""
        if self.embedder is None:
            return "no embedder is configured"
        if searching and self._trusts(self.embedder.space):
            return ""
        space = await self.space()
        if space not in ("", self.embedder.space) and not self.may_replace(space):
            return f"the store's vectors are {space}, this process embeds {self.embedder.space}"
        return ""

    def may_replace(self, space: str) -> bool:
        """Is it a space of ours that this embedder's takes the place of, without being asked?"""
        return space in getattr(self.embedder, "succeeds", ())

    @property
    def moves_on(self) -> bool:
        """Does maintenance move the store, as it was read last, to this embedder's space?"""
        return self.may_replace(self.trusted.space)

    @property
    def asking(self) -> Embedder | None:
        """Who embeds questions: while the store moves on, the embedder of the space that it still
        has, where that was kept."""
        kept: Mapping[str, Embedder] = getattr(self.embedder, "former", {})
        return kept.get(self.trusted.space, self.embedder)

    def _trusts(self, space: str) -> bool:
        trusted = self.trusted
        known = trusted.space == space or self.moves_on
        return known and time.monotonic() < trusted.until

    async def embed_query(self, text: str, scopes: Sequence[str]) -> Embedded:
        """A query's vector in the active space. ``scopes`` are those it names: their root pays,
        and nothing is sent to a service if one of them opted out, nor are secrets."""
        trouble = await self.vector_trouble(searching=True)
        if not trouble and self.embedder is not None and not self.embedder.local:
            trouble = await self._opted_out(scopes)
            text = self.redactor.redact(text).text
        if trouble:
            return Embedded(vectors=[None], trouble=trouble)
        scope = scopes[0] if scopes else self.default_scope
        asking = replace(self, embedder=self.asking)
        found = await asking.embed_texts([text], root=root_of(scope), query=True)
        return replace(found, space=asking.embedder.space if asking.embedder else "")

    async def _opted_out(self, scopes: Sequence[str]) -> str:
        for scope in scopes:
            if not await self.persists(scope):
                return f"{scope} opted out: nothing of theirs is sent to an embedding service"
        return ""

    async def embed_records(self, records: Sequence[Record]) -> Embedded:
        """Vectors of the embedder's own space for records of one root. What somebody opted out
        of since it was written is not sent to a service: it gets the vector that means nothing,
        is found by keyword, and is due no more."""
        here = self.embedder is None or self.embedder.local
        sent = records if here else [one for one in records if await self._may_be_sent(one)]
        texts = [embedding_text(record) for record in sent]
        root = root_of(records[0].scope) if records else ""
        embedded = await self.embed_texts(texts, root=root)
        by_id = {r.id: vector for r, vector in zip(sent, embedded.vectors, strict=True)}
        nothing = (bytes(4 * self.embedder.dimensions) or None) if self.embedder else None
        vectors = [by_id.get(record.id) if record.id in by_id else nothing for record in records]
        return replace(embedded, vectors=vectors)

    async def _may_be_sent(self, record: Record) -> bool:
        return await self.persists(record.scope, (record.author,))

    async def embed_texts(
        self, texts: Sequence[str], *, root: str, query: bool = False
    ) -> Embedded:
        """Vectors of the embedder's own space, whatever the store's is; ``root`` pays."""
        nothing: list[Vector | None] = [None] * len(texts)
        if self.embedder is None:
            return Embedded(vectors=nothing, trouble="no embedder is configured")
        if not texts:
            return Embedded(vectors=nothing)
        try:
            if isinstance(self.embedder, CarefulEmbedder):
                return await self.embedder.embedded(texts, root=root, query=query)
            rows = await self.embedder.embed(texts)
            return Embedded(vectors=list(packed(rows, len(texts), self.embedder.dimensions)))
        except Unavailable as error:
            return Embedded(vectors=nothing, trouble=str(error))
        except Exception as error:
            # A provider may fail in any way; the write must not be lost over it.
            said = f"the embedder failed: {type(error).__name__}: {error}"
            return Embedded(vectors=nothing, trouble=said)


def _closed_clock() -> datetime:
    raise Unavailable("this memory is closed; open it again")


def _closed_id() -> str:
    raise Unavailable("this memory is closed; open it again")


def _of(author: str) -> str:
    return f"author:{author}"


async def space_cell(store: Store, now: datetime) -> Cell | None:
    cells = await store.registry.get((ACTIVE_SPACE,), now=now)
    return cells[0] if cells else None


async def active_space(store: Store, now: datetime) -> str:
    cell = await space_cell(store, now)
    return str(cell.value) if cell else ""


async def active_spaces(store: Store, now: datetime) -> tuple[str, Cell | None]:
    """The active space, and the state of a move to another one."""
    cells = await store.registry.get((ACTIVE_SPACE, REEMBEDDING), now=now)
    found = {cell.key: cell for cell in cells}
    active = found.get(ACTIVE_SPACE)
    return str(active.value) if active else "", found.get(REEMBEDDING)


async def begun_space(store: Store, now: datetime) -> str:
    """The space of a store's vectors or, while it has none, the service that is to make them."""
    cells = await store.registry.get((ACTIVE_SPACE, WANTED_SPACE), now=now)
    found = {cell.key: str(cell.value) for cell in cells}
    return found.get(ACTIVE_SPACE) or found.get(WANTED_SPACE, "")


# Walks: everything of one kind, page by page. A page that is not full is the last one.


async def chunked(many: AsyncIterator[T], size: int = PAGE) -> AsyncIterator[list[T]]:
    """What a walk finds, as lists of a bounded size."""
    chunk: list[T] = []
    async for one in many:
        chunk.append(one)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


async def every_root(store: Store) -> AsyncIterator[str]:
    after = ""
    while True:
        page = await store.roots(after=after, limit=PAGE)
        for root in page:
            yield root
        if len(page) < PAGE:
            return
        after = page[-1]


async def every_record(
    store: Store, asked: Listing | Find, *, size: int = PAGE
) -> AsyncIterator[Record]:
    """All that is asked for, in an order that pages: ``id`` or ``newest``."""
    after: str | None = asked.after
    while after is not None:
        page = replace(asked, after=after, limit=size)
        found = await (store.find(page) if isinstance(page, Find) else store.listing(page))
        for record in found:
            yield record
        after = found[-1].id if len(found) == size else None


async def every_session(
    store: Store, root: str, *, after: SessionKey | None = None
) -> AsyncIterator[Session]:
    while True:
        page = await store.sessions(root, after=after, limit=PAGE)
        for session in page:
            yield session
        if len(page) < PAGE:
            return
        after = SessionKey(page[-1].scope, page[-1].id)


async def every_message(
    store: Store, key: SessionKey, now: datetime, *, after: int = 0, until: int | None = None
) -> AsyncIterator[Message]:
    """Behind ``after``, up to and with ``until``."""
    before = None if until is None else until + 1
    while True:
        page = await store.messages(key, now=now, after=after, before=before, limit=PAGE)
        for message in page:
            yield message
        if len(page) < PAGE:
            return
        after = page[-1].seq


async def every_summary(store: Store, key: SessionKey, *, after: int = 0) -> AsyncIterator[Summary]:
    """Several may end at one message: those at the end of a full page wait for the next one."""
    size = PAGE
    while True:
        page = await store.summaries(key, after=after, limit=size)
        last = page[-1].to_seq if page else after
        full = len(page) == size
        whole = [one for one in page if one.to_seq < last] if full else page
        for summary in whole:
            yield summary
        if not full:
            return
        size = size if whole else 2 * size
        after = whole[-1].to_seq if whole else after


async def every_item(
    store: Store,
    root: str,
    namespace: str,
    now: datetime,
    *,
    prefix: str = "",
    after: Item | None = None,
    size: int = PAGE,
) -> AsyncIterator[Item]:
    while True:
        page = await store.items(root, namespace, now=now, prefix=prefix, after=after, limit=size)
        for item in page:
            yield item
        if len(page) < size:
            return
        after = page[-1]


async def every_entry(
    store: Store, root: str, *, after: int = 0, size: int = PAGE
) -> AsyncIterator[Entry]:
    while True:
        page = await store.journal(root, after=after, limit=size)
        for entry in page:
            yield entry
        if len(page) < size:
            return
        after = page[-1].seq
