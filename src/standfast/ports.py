"""The seams: what standfast needs from a store, an embedder, a model, a clock and an id
generator."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, runtime_checkable

from standfast.errors import Invalid, Unavailable
from standfast.types import (
    Batch,
    Durability,
    Entry,
    Find,
    Hit,
    Item,
    Kind,
    Listing,
    Message,
    Record,
    Relation,
    Search,
    Session,
    SessionKey,
    Source,
    Status,
    Summary,
    Type,
    Usage,
    Vector,
    Work,
    WorkKind,
)
from standfast.types.frozen import frozen

Made = TypeVar("Made")
Clock = Callable[[], datetime]
NewId = Callable[[], str]

BREATH_SECONDS = 0.008
BESIDE_CHARACTERS = 2_000  # of text that is read on the loop that everybody shares

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

_left_out: ContextVar[list[str] | None] = ContextVar("left_out", default=None)


@contextmanager
def leaving_out() -> Iterator[list[str]]:
    """The ids of records that stores leave out of what they find inside, because they are not as
    they were written: for whoever asks to say so."""
    ids: list[str] = []
    token = _left_out.set(ids)
    try:
        yield ids
    finally:
        _left_out.reset(token)


def note_left_out(ids: Iterable[str]) -> None:
    """For a store, on the task of whoever asks."""
    noted = _left_out.get()
    if noted is not None:
        noted.extend(ids)


def leaves_out(name: str) -> bool:
    """For a store: does whoever asks leave out what is not as it was written? Then that is noted
    by its name; if not, it is an error."""
    noted = _left_out.get()
    if noted is None:
        return False
    noted.append(name)
    return True


class _Held(threading.local):
    """Who holds the loop of this thread, as far as they were asked, and since when."""

    task: asyncio.Task[Any] | None = None
    since = 0.0  # ``time.thread_time``
    seen = 0.0  # ``time.monotonic``

    def let_go(self) -> None:
        self.task = None


_held = _Held()


def is_forked(process: int) -> bool:
    """Was what ``process`` opened inherited by a fork? Its threads stayed in the parent, and its
    connections must not be used here, nor closed."""
    return process != os.getpid()


def check_process(process: int, what: str = "store") -> None:
    """Unavailable in a forked child. To be asked before any lock: a thread of the parent may have
    held it."""
    if is_forked(process):
        raise Unavailable(
            f"this {what} was opened before a fork; open it again in the child process"
        )


async def breath() -> None:
    """For whoever does much at once on a loop that others share, and for whatever may answer
    without waiting and be asked again at once: between two small steps it lets the others go on,
    if this task has kept them waiting for a few milliseconds."""
    task = asyncio.current_task()
    if _held.task is task:
        # Nobody has worked for longer than has passed, and that costs nothing to know.
        if time.monotonic() - _held.seen <= BREATH_SECONDS:
            return
        if time.thread_time() - _held.since <= BREATH_SECONDS:
            return
        await asyncio.sleep(0)
    _held.task, _held.since, _held.seen = task, time.thread_time(), time.monotonic()
    asyncio.get_running_loop().call_soon(_held.let_go)


async def beside(characters: int, work: Callable[[], Made]) -> Made:
    """What work makes that reads so much text: of a long one beside the loop, in a thread that
    gives way to it every moment. For what is pure and lets no caller wait."""
    if characters <= BESIDE_CHARACTERS:
        await breath()
        return work()
    return await asyncio.to_thread(work)


@frozen
class Cell:
    """One value of the registry. ``version`` is the store's: 0 for a cell that is not there yet."""

    key: str
    value: Any
    expires_at: datetime | None = None
    version: int = 0


def cell_key(*parts: str) -> str:
    """The name of a cell. Only the last part may hold a tab; scopes and ids have none. With ""
    as the last part it is the prefix of all cells behind the others."""
    return "\t".join(parts)


class Registry(Protocol):
    """What a store knows about itself: keys, devices, the active space, leases, tries, budgets,
    quotas, long work. It is never journalled, belongs to no root, is neither exported nor undone,
    and each cell changes by itself, so that a store may keep it wherever it likes.

    A cell that expired by ``now`` is absent. Versions of a key never come again, not even when
    the cell was away in between.
    """

    async def get(self, keys: Sequence[str], *, now: datetime) -> list[Cell]:
        """Cells by key, in the order asked for, missing ones left out."""
        ...

    async def put(self, cell: Cell, *, now: datetime) -> Cell:
        """The cell as it is now. One that has expired by ``now`` is removed instead.

        Conflict: its version is not that of the store (0: there is none). Invalid: a key
        without a character or with a NUL in it, a value that is not plain JSON.
        """
        ...

    async def settle(self, root: str, *, seq: int, until: datetime) -> None:
        """Nothing is to be gone through in this root before ``until``, unless more happens in it
        than the journal says up to ``seq``."""
        ...

    async def unsettled(self, now: datetime, *, news: bool, limit: int = 100) -> list[str]:
        """Roots that nobody has gone through for too long, the longest first; with ``news``
        then also those in which something has happened since, uses included. Found without a
        look at the others."""
        ...

    async def list(
        self, prefix: str, *, now: datetime, after: str = "", limit: int = 100
    ) -> list[Cell]:
        """Cells whose key begins with ``prefix`` (no character of it is a pattern), ordered by
        key, behind the key ``after``."""
        ...


@frozen
class Capabilities:
    """What a store can, so that nobody has to guess it."""

    name: str  # such as "sqlite"
    # ``exact``: every score follows from the rows, by the formulas in ``standfast.index``.
    # ``native``: its engine finds candidates by itself, nearly the best; the rest is computed
    # from them. ``both``: native where there is much to search, exact where there is little.
    search: Literal["exact", "native", "both"]
    # What is left of erased rows once ``scrub`` has said True. ``nothing``: not a byte in its
    # files. ``engine``: no query finds them, but the engine may keep bytes in its log, its
    # replicas and backups until it cleans up. ``memory``: they were in this process only.
    erasure: Literal["nothing", "engine", "memory"]
    waits: bool  # ``journal(wait=)`` returns soon after a commit, through whatever handle
    processes: bool  # may several processes open it at once?
    # Where the engine may keep bytes of what was erased, and until when; receipts tell it.
    leftovers: str = ""


class Store(Protocol):
    """Where memories live. The only write is ``commit``.

    A root is the first pair of a scope ("org:acme"): the tenant. Whatever expired by ``now``
    is absent for every reader and for ``commit`` too. Reads of a root that does not exist are
    empty. ``standfast.testing.conformance`` is the contract in executable form.
    """

    @property
    def capabilities(self) -> Capabilities: ...

    @property
    def registry(self) -> Registry:
        """What the store knows about itself, beside the memories."""
        ...

    async def commit(self, batch: Batch) -> int:
        """Apply all of it or nothing, and return its number in the root's journal (1..n, no
        gaps, visible in order; 0 if the root has no journal entry yet and none was made).

        Conflict: a version, cursor, message id or live hash was not as expected.
        Invalid: it can never work (foreign root, vector without record, changed text, ...).
        Unavailable: see ``outcome_unknown``; committing the same ``batch.id`` again returns
        the first number and applies nothing twice.
        """
        ...

    async def records(self, root: str | None, ids: Sequence[str], *, now: datetime) -> list[Record]:
        """Records by id, in the order asked for, missing ones left out. ``None`` looks in
        every root (for a caller who may see them all)."""
        ...

    async def search(self, asked: Search) -> Sequence[Hit]:
        """The best ``limit`` of each arm, every hit with the raw scores of both, nothing if it
        has neither words nor a vector. Word statistics are those of the rows that its scopes
        can see, whatever else the filter says."""
        ...

    async def listing(self, asked: Listing) -> list[Record]:
        """``limit`` records that pass, in ``order``."""
        ...

    async def find(self, asked: Find) -> list[Record]:
        """The same of those that have the keys, found by them."""
        ...

    async def relations(self, root: str, ids: Sequence[str]) -> list[Relation]:
        """Every edge that touches one of these records, retired ones included."""
        ...

    async def sessions(
        self,
        root: str,
        keys: Sequence[SessionKey] = (),
        *,
        after: SessionKey | None = None,
        limit: int = 100,
    ) -> list[Session]:
        """Sessions by key, or those of a root behind ``after``, ordered by (scope, id)."""
        ...

    async def messages(
        self,
        session: SessionKey,
        *,
        now: datetime,
        ids: Sequence[str] = (),
        after: int = 0,
        before: int | None = None,
        limit: int = 100,
        newest: bool = False,
    ) -> list[Message]:
        """Messages by id, or those with ``after < seq < before`` in order. ``newest`` answers
        with the last ``limit`` of them instead of the first (still in order)."""
        ...

    async def summaries(
        self,
        session: SessionKey,
        *,
        after: int = 0,
        limit: int = 100,
        newest: bool = False,
    ) -> list[Summary]:
        """Summaries with ``to_seq > after``, in order; ``newest`` as for messages."""
        ...

    async def items(
        self,
        root: str,
        namespace: str | None,
        *,
        now: datetime,
        scopes: Sequence[str] = (),
        keys: Sequence[str] = (),
        prefix: str = "",
        after: Item | None = None,
        limit: int = 100,
    ) -> list[Item]:
        """Items of a namespace (None: of all) behind ``after``, ordered by (namespace, scope,
        key); empty filters let everything pass."""
        ...

    async def journal(
        self,
        root: str | None,
        *,
        after: int = 0,
        before: int | None = None,
        limit: int = 100,
        newest: bool = False,
        change: str = "",
        touching: str = "",
        wait: float = 0.0,
    ) -> list[Entry]:
        """Entries with ``after < seq < before`` in order; ``newest`` answers with the last
        ``limit`` of them instead of the first (still in order, root by root). ``change`` and
        ``touching`` (an id) narrow it; only then may the root be None. ``wait``: if there are
        none, wait up to that many seconds for one."""
        ...

    async def due(
        self,
        now: datetime,
        *,
        root: str | None = None,
        kinds: Sequence[WorkKind] = (),
        space: str = "",
        reader: str = "",
        limit: int = 100,
    ) -> list[Work]:
        """What should be done now, across roots or in one, of these kinds or of all; ``space`` is
        the vector space in which every record should have a vector. ``reader``: only the sessions
        in which this one lags behind, however many there are of another."""
        ...

    async def counts(
        self, scopes: Sequence[str], *, now: datetime, descend: bool = False
    ) -> dict[tuple[Kind, Type, Status], int]:
        """How many records there are of each kind, type and status, where a listing of these
        scopes would show them."""
        ...

    async def roots(self, *, after: str = "", limit: int = 100) -> list[str]:
        """Roots that hold anything, in order of name."""
        ...

    async def scrub(self) -> bool:
        """Make what this process erased unrecoverable now; at once, if it erased nothing since the
        last time. False: a reader still holds an old snapshot open, try again later."""
        ...

    async def close(self) -> None: ...


@runtime_checkable
class ScopeTally(Protocol):
    """A store that counts by scope without reading its records. One that cannot is read through."""

    async def tally(self, root: str, *, now: datetime) -> Mapping[tuple[str, Status], int]:
        """How many records of each status each scope of a root holds; none with nothing."""
        ...


class IndexRow(NamedTuple):
    """A record as a search index sees it; ``standfast.index.feed.index_row`` makes one. A store
    that keeps words, labels and terms beside the record need not cut its text again."""

    # Names the record as long as it lives: a row's number. One that was made later has a greater
    # one, so that turns of one moment stand as they came.
    key: int
    id: bytes
    kind: int  # this and the next four: see ``standfast.index.codes``
    type: int
    status: int
    source: int
    durability: int
    importance: float
    learned_at: int  # times are microseconds since 1970
    retired_at: int  # or ``NEVER_ENDS``, like the two below
    valid_from: int  # or ``NEVER_BEGAN``
    valid_to: int
    expires_at: int
    words: int  # how many
    author: str
    session: str
    session_scope: str
    labels: bytes  # see ``standfast.index.derived``
    terms: bytes


class FeedStamps(NamedTuple):
    """How new the store is."""

    scopes: Mapping[str, int]  # those that ever held a record -> the number of the last change
    dimensions: int | None = None  # of the space that was asked for, if it has vectors


class FeedChanges(NamedTuple):
    """What became of a scope's records: those that are new or changed, in parts, and the keys of
    those that are gone. ``gone`` None: nobody knows any more; then ``rows`` are all there are."""

    rows: Iterable[Sequence[Sequence[Any]]]  # each in the order of ``IndexRow``
    gone: Sequence[int] | None


class Glance(NamedTuple):
    """What ranking asks of every record that was found: most of them are never wanted whole."""

    id: str
    scope: str
    kind: Kind
    type: Type
    source: Source
    durability: Durability
    importance: float
    at: int  # ``Record.at``, in microseconds since 1970
    author: str
    origin: str
    session: str
    hash: str
    tagged: bool
    text: str

    @classmethod
    def of(cls, one: Record) -> Glance:
        at = (one.at - _EPOCH) // _MICROSECOND
        told = (one.id, one.scope, one.kind, one.type, one.source, one.durability, one.importance)
        named = (one.author, one.origin, one.session, one.hash)
        return cls(*told, at, *named, bool(one.tags), one.text)


class FeedRecord(Protocol):
    """A record, made of its row only if it is wanted: more are compared than chosen."""

    @property
    def vector(self) -> Vector | None: ...

    @property
    def glance(self) -> Glance: ...

    def record(self) -> Record: ...


class LaterRecord:
    """``FeedRecord`` of a store that has nothing to glance at but the record itself."""

    __slots__ = ("_made", "_make", "vector")

    def __init__(self, make: Callable[[], Record], vector: Vector | None = None) -> None:
        self._make = make
        self._made: Record | None = None
        self.vector = vector

    def record(self) -> Record:
        if self._made is None:
            self._made = self._make()
        return self._made

    @property
    def glance(self) -> Glance:
        return Glance.of(self.record())


class Feed(Protocol):
    """What the search index in ``standfast.index`` is fed from: a store as it is at one moment.

    Its methods are called from one worker thread at a time, in one go, and block; a store with
    an asynchronous driver hands the call to its event loop and waits. Everything that they answer
    is of one moment: that of ``stamps``, which is called first.
    """

    def stamps(self, scopes: Sequence[str], below: Sequence[str], space: str) -> FeedStamps:
        """Of these scopes, and of all that are below ``below``. Each change of what can be
        searched raises the stamp of its scope; a lower one is never seen after a higher one."""
        ...

    def changes(self, scope: str, after: int) -> FeedChanges:
        """What changed behind this stamp, in any order. 0: everything there is."""
        ...

    def vectors(
        self, scope: str, space: str, keys: Sequence[int] | None
    ) -> Iterable[Sequence[tuple[int, bytes]]]:
        """The vectors of these records, or of all, in parts: their keys, and the vectors in one
        byte per number (``standfast.index.derived.quantised``). Who is left out has none."""
        ...

    def records(self, keys: Sequence[int], space: str) -> Mapping[int, FeedRecord]:
        """Records by key, with their vectors of a space (none, if it has no name)."""
        ...


class SavedIndex(NamedTuple):
    """What a store kept of a search index: all that there was of one part of it at ``stamp``."""

    stamp: int
    rows: int  # about how many
    # In the order of the keys: what ``ScopeIndex.saved`` made, or, where that is lost, the rows.
    parts: Iterable[bytes | Sequence[Sequence[Any]]]
    changed: Iterable[int]  # of vectors: the keys of what changed behind the stamp


@runtime_checkable
class SavedFeed(Feed, Protocol):
    """A feed of a store that keeps search indexes beside its rows, so that a process need not
    build them; see ``standfast.index.snapshot``."""

    def saved(self, scope: str, part: str) -> SavedIndex | None:
        """One part, for ``part`` "" the words and columns, else the vectors of a space; None if
        there is none that fits. Of vectors some parts may be missing."""
        ...


class NativeHit(NamedTuple):
    """A record that an engine found by itself."""

    record: Record
    similarity: float | None  # the cosine with the vector of the search; None: there is none
    keyword: float = 0.0  # by whatever measure the engine has; only its order counts


class NativeHits(list[Hit]):
    """The answer of ``Store.search``, where the engine found it by itself: answers say so."""


class NativeArms(NamedTuple):
    """What an engine found by itself, and what it knows about all that the scopes can see. An arm
    has more than ``limit`` hits where the engine may have missed some: the best are chosen anew."""

    by_word: Sequence[NativeHit]
    by_meaning: Sequence[NativeHit]
    documents: int  # visible records that have not expired, whatever else the filter says
    words: int  # how many they have in all
    frequencies: Mapping[str, int]  # for each term: how many of them hold it
    # Similarities of some records that pass the filter, whichever, but not chosen by them; of all,
    # if there are few. Two hundred will do.
    sample: Sequence[float]


class NativeSearch(Protocol):
    """What a store offers whose engine searches by itself (``Capabilities.search``). Its
    ``search`` is then ``standfast.index.native.search``, which computes the scores from this."""

    async def arms(self, asked: Search, terms: Sequence[str]) -> NativeArms:
        """The candidates of both arms. ``terms``: those of its text, as they are indexed."""
        ...

    async def turns(
        self, asked: Search, ids: Sequence[str], reach: int
    ) -> Mapping[str, Sequence[NativeHit]]:
        """For each of these turns: the turns of its scope and session that stand not more than
        ``reach`` places before or behind it, itself among them, in the order of time; those of
        one moment as they came."""
        ...


class QueuedMessage(NamedTuple):
    """A message that waits, and the channel that it came from."""

    message: Message
    channel: str = ""


class PendingQueue(Protocol):
    """Where pending messages wait outside of the store, until somebody takes them into it. All
    methods raise Unavailable while it is away; ``trouble`` says why, "" if it is not."""

    leftovers: str  # what it may keep of messages that are gone, and until when

    @property
    def trouble(self) -> str: ...

    async def put(self, waiting: Sequence[QueuedMessage], *, now: datetime) -> tuple[set[str], int]:
        """Messages of one scope, each with a time to live. The ids that have been here before,
        which are not put again, and how many wait there now."""
        ...

    async def take(self, scope: str, owner: str, limit: int) -> list[QueuedMessage]:
        """The oldest. They are this owner's until they are ``done``, and come again if it asks
        before; after a while anybody's."""
        ...

    async def done(self, scope: str, ids: Sequence[str]) -> None: ...

    async def waiting(self, scope: str, owner: str) -> list[QueuedMessage]:
        """What this owner would be given."""
        ...

    async def scopes(self) -> list[str]:
        """Those in which something waits."""
        ...

    async def close(self) -> None: ...


class Embedder(Protocol):
    """Texts to vectors of one space. Vectors of different spaces are never compared."""

    @property
    def space(self) -> str:
        """Names the model and its dimension, such as ``hashing/384``."""
        ...

    @property
    def dimensions(self) -> int: ...

    @property
    def local(self) -> bool:
        """True: quick and in this process, so writes embed at once. False: writes leave it to
        the maintenance loop and never wait for it."""
        ...

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector per text; need not be normalised. Raises Unavailable."""
        ...


@frozen
class Limits:
    """What a service takes at once: ``texts`` and ``tokens`` in one request, ``tokens_each`` in
    one text."""

    texts: int
    tokens: int
    tokens_each: int


@frozen
class Rows:
    """One vector per text, and what they cost. Tokens of 0: the service did not say."""

    rows: Sequence[Sequence[float]]
    usage: Usage = field(default_factory=Usage)


@runtime_checkable
class EmbeddingService(Protocol):
    """An embedder behind a network. It asks once and never retries: ``standfast.models.embedder``
    does that, and keeps to the limits and the budgets."""

    @property
    def name(self) -> str:
        """Names provider and model, such as ``openai:text-embedding-3-small``."""
        ...

    @property
    def space(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    @property
    def limits(self) -> Limits: ...

    async def ask(self, texts: Sequence[str], *, query: bool) -> Rows:
        """``query``: these texts are questions, not what is searched. Raises as ``Model.ask``
        does; Unavailable and ``lasting`` if the vectors have another dimension."""
        ...


@frozen
class Prompt:
    """One question to a model. ``operation`` says what for ("summarize", "extract"); ``schema``
    is the JSON schema of the answer; ``tokens_max`` bounds the answer."""

    operation: str
    system: str
    user: str
    schema: Mapping[str, Any] | None = None
    tokens_max: int = 1000


@frozen
class Reply:
    """A model's answer. ``data`` is it parsed and found to fit, where a schema was given."""

    text: str
    data: Any = None
    usage: Usage = field(default_factory=Usage)
    notes: tuple[str, ...] = ()


class AnswerError(Invalid):
    """The model answered, but the answer does not fit; ``usage`` is what it cost all the same."""

    def __init__(self, message: str, *, usage: Usage) -> None:
        super().__init__(message)
        self.usage = usage


class Model(Protocol):
    """A language model. It asks once and never retries: ``standfast.models.careful`` does that."""

    @property
    def name(self) -> str:
        """Names provider and model, such as ``openai:gpt-4o-mini``."""
        ...

    async def ask(self, prompt: Prompt) -> Reply:
        """Raises Unavailable if there is no answer (``outcome_unknown``: the question may have
        been paid for), AnswerError if it does not fit the schema or is empty, Invalid if the
        model refuses this one question. Token counts of 0 in the usage mean that the provider
        did not say."""
        ...
