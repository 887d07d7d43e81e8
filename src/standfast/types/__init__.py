"""The values that flow through standfast: frozen, plain, standard library only.

Every time is timezone-aware. Text never changes once written: a changed memory is a new
record that supersedes the old one. Two pairs of times keep the world apart from our books:
``valid_from``/``valid_to`` say when something was true, ``learned_at``/``retired_at`` when
we began and ceased to believe it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any, Literal, NamedTuple, get_args

from standfast import compat
from standfast.types.frozen import frozen

Kind = Literal["episodic", "semantic", "procedural"]
Type = Literal[
    "turn",
    "episode",
    "fact",
    "preference",
    "interaction",
    "summary",
    "user_request",
    "entity",
    "interest",
    "procedure",
]
Durability = Literal["core", "standard", "ephemeral"]
Status = Literal["active", "superseded", "archived", "disputed", "quarantined"]
Source = Literal["user", "assistant", "tool", "web", "import", "file", "system"]
RelationKind = Literal[
    "contradicts", "supports", "supersedes", "caused_by", "depends_on", "part_of", "implements"
]
Role = Literal["system", "developer", "user", "assistant", "tool", "function", "note"]
ItemStatus = Literal[
    "stored",
    "merged",
    "superseded",
    "disputed",
    "quarantined",
    "skipped",
    "pending",
    "volatile",
    "erased",
    "restored",
    "failed",
]
# Whose messages a packet's look like.
Shape = Literal["openai", "anthropic", "gemini"]
UpkeepStep = Literal[
    "archive", "supersede", "settle", "dispute", "merge", "importance", "profile", "procedure"
]
# By id upwards, downwards; the others: ties by the next, at last by id.
Order = Literal["recent", "important", "id", "newest"]
WorkKind = Literal["fold", "embed", "expire", "review"]
ReviewKind = Literal["disputed", "quarantined", "held", "stuck"]
ReviewAction = Literal["approve", "reject", "edit", "merge"]
Right = Literal["read", "write", "erase", "review", "import", "export", "policy", "audit", "admin"]
ALL_RIGHTS: frozenset[Right] = frozenset(get_args(Right))
# Who holds a key: a person, an agent (a model that calls tools), or a program that passes on what
# people say.
Holder = Literal["person", "agent", "service"]

# A vector as it is stored: little-endian float32, L2-normalised.
Vector = bytes

# Records whose text may not be written twice into one scope. Superseded and archived ones
# do not count: Berlin, then Hamburg, then Berlin again are three facts.
LIVE: tuple[Status, ...] = ("active", "disputed", "quarantined")

KIND_OF_TYPE: Mapping[Type, Kind] = {
    "turn": "episodic",
    "episode": "episodic",
    "summary": "episodic",
    "interaction": "episodic",
    "fact": "semantic",
    "preference": "semantic",
    "user_request": "semantic",
    "entity": "semantic",
    "interest": "semantic",
    "procedure": "procedural",
}

# How far a source is believed: 3 a person said it, 0 anybody may have written it.
TRUST_OF_SOURCE: Mapping[Source, int] = {
    "user": 3,
    "system": 3,
    "file": 2,
    "assistant": 2,
    "import": 1,
    "tool": 1,
    "web": 0,
}
PERSON_TRUST = 3
# How a line is marked that no person said, wherever it is rendered.
_MARK_OF_SOURCE: Mapping[Source, str] = {
    "assistant": "agent",
    "tool": "tool",
    "web": "web",
    "import": "import",
}
_MARK_OF_TRUST = ("web", "import", "agent")


def origin_mark(source: Source, trust: int) -> str:
    """``agent``, ``tool``, ``web`` or ``import``; "" for what a person said or confirmed, the
    application's own instructions, and files that are trusted as such. A source that is trusted
    less than its kind was only claimed: then the trust says by whom at best."""
    if trust >= PERSON_TRUST:
        return ""
    if mark := _MARK_OF_SOURCE.get(source):
        return mark
    return "" if trust >= TRUST_OF_SOURCE[source] else _MARK_OF_TRUST[max(trust, 0)]


# What somebody may claim at most for what they write, whatever they say where it comes from.
TRUST_OF_HOLDER: Mapping[Holder, int] = {"person": 3, "service": 3, "agent": 2}


class SessionKey(NamedTuple):
    """A session is named inside its scope; two users may both have a session "chat"."""

    scope: str
    id: str


@frozen
class ToolCall:
    id: str
    name: str
    arguments: str = ""


@frozen
class Message:
    """One line of a session's log. ``original`` holds the caller's own JSON when ``text``
    does not say it all (tool calls, content blocks, extra fields), so nothing is lost."""

    id: str
    scope: str
    session: str
    role: Role
    text: str
    at: datetime
    original: str = ""
    calls: tuple[ToolCall, ...] = ()
    answers: tuple[str, ...] = ()
    author: str = ""
    source: Source = "user"
    trust: int = 3
    seq: int = 0  # 1, 2, 3 ... inside the session, assigned by the store when 0
    pending: bool = False
    expires_at: datetime | None = None


@frozen
class Session:
    """A message log with named readers. ``version`` guards the fields below it only:
    appending messages and moving cursors do not change it."""

    scope: str
    id: str
    cursors: Mapping[str, int] = field(default_factory=dict)
    last_seq: int = 0
    channel: str = ""
    policy: str = ""
    state: Mapping[str, Any] = field(default_factory=dict)
    started_at: datetime | None = None
    ended_at: datetime | None = None
    version: int = 0


@frozen
class Summary:
    """What messages ``from_seq`` to ``to_seq`` of a session said; written once, never edited."""

    id: str
    scope: str
    session: str
    from_seq: int
    to_seq: int
    text: str
    how: Literal["model", "extract"]
    lineage: tuple[str, ...] = ()
    learned_at: datetime


@frozen
class Record:
    """One long-term memory.

    ``lineage`` names the messages of ``session`` it was made from, ``derived_from`` the
    records. ``session_scope`` says where that session is, if not in the record's own scope.
    Copies of one fact in several scopes share an ``origin``.
    """

    id: str
    scope: str
    kind: Kind
    type: Type
    text: str
    learned_at: datetime
    data: Mapping[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    importance: float = 0.5
    confidence: float = 1.0
    durability: Durability = "standard"
    status: Status = "active"
    source: Source = "user"
    trust: int = 3
    author: str = ""
    origin: str = ""
    session: str = ""
    session_scope: str = ""
    lineage: tuple[str, ...] = ()
    derived_from: tuple[str, ...] = ()
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    retired_at: datetime | None = None
    expires_at: datetime | None = None
    review_at: datetime | None = None
    uses: int = 0
    used_at: datetime | None = None
    hash: str = ""  # empty: never deduplicated (turns)
    version: int = 0  # 0 = not stored yet

    @property
    def at(self) -> datetime:
        """When it happened, as far as we know: the axis of ``since``, ``until`` and decay."""
        return self.valid_from or self.learned_at

    @property
    def session_key(self) -> SessionKey:
        return SessionKey(self.session_scope or self.scope, self.session)


@frozen
class Relation:
    """An edge between two records of one root. ``scope`` is that of its source record."""

    scope: str
    source: str
    target: str
    kind: RelationKind
    learned_at: datetime
    lineage: tuple[str, ...] = ()
    retired_at: datetime | None = None
    version: int = 0


MARKS = compat.IDEMPOTENCY
AUDIT = compat.AUDIT
MIRROR = compat.MIRRORS  # the items that say which folders hold a root as Markdown
MIRRORED = "Markdown files hold it until they are synced, in "  # how a note of forget begins
EXPORTED = "an export file holds it: "  # how another note of forget begins
BACKED_UP = "a backup holds it: "  # and a third one
JOB = compat.JOBS  # the cells that tell of a server's long work


@frozen
class Item:
    """A small named value: policies, proposals, tombstones. Those of the namespace ``MARKS`` say
    that a write was done, those of ``AUDIT`` by whom; they are kept with it, but the journal does
    not speak of them."""

    scope: str
    namespace: str
    key: str
    value: Any
    expires_at: datetime | None = None
    version: int = 0


@frozen
class CursorMove:
    """Compare-and-set of one reader's position; a reader that never moved stands at 0."""

    session: SessionKey
    reader: str
    old: int
    new: int


@frozen
class Erase:
    """What to remove for good, with its index rows, vectors and relations.

    ``record`` and ``summary`` need ``id``; ``message`` needs ``scope``, ``session``, ``id``;
    ``session`` needs ``scope``, ``id`` and takes its messages and summaries along;
    ``item`` needs ``scope``, ``namespace``, ``id`` (its key).
    """

    kind: Literal["record", "message", "session", "summary", "item"]
    id: str
    scope: str = ""
    session: str = ""
    namespace: str = ""


@frozen
class Batch:
    """The only way to write: all of it happens, or none of it. Everything in it belongs to
    one root scope. ``change`` groups the commits of one larger run (default: the batch)."""

    id: str
    root: str
    at: datetime
    reason: str
    actor: str = ""
    change: str = ""
    messages: tuple[Message, ...] = ()
    sessions: tuple[Session, ...] = ()
    cursors: tuple[CursorMove, ...] = ()
    summaries: tuple[Summary, ...] = ()
    records: tuple[Record, ...] = ()
    relations: tuple[Relation, ...] = ()
    items: tuple[Item, ...] = ()
    vectors: Mapping[str, Vector] = field(default_factory=dict)  # record id -> vector
    space: str = ""  # of the vectors
    erase: tuple[Erase, ...] = ()
    used: tuple[str, ...] = ()  # record ids that were useful; counted, not journalled
    sweep: bool = False  # drop what expired before ``at``; not journalled
    drop_space: str = ""  # drop the root's vectors of this space; not journalled
    prune: tuple[int, ...] = ()  # entries of the journal to drop, never its last; not journalled


@frozen
class Touch:
    """One thing a commit touched: its fields before and after, text excepted.
    ``before`` is None when the commit created it, ``after`` None when it erased it."""

    kind: Literal["record", "message", "session", "summary", "relation", "item", "cursor", "vector"]
    id: str
    scope: str
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None


@frozen
class Entry:
    """One commit in the journal of its root."""

    root: str
    seq: int
    at: datetime
    batch: str
    change: str
    reason: str
    actor: str = ""
    touched: tuple[Touch, ...] = ()


# Conditions on tags and data (``standfast.index.conditions``): field, quantifier, terms.
Matching = tuple[tuple[str, str, tuple[Any, ...]], ...]


@frozen
class Where:
    """Which records. ``scopes`` are of one root; each also shows its parents, and with
    ``descend`` everything below it. What is empty lets everything pass. With ``as_of`` or
    ``known_at`` the four times decide instead of today's status (quarantined records stay out).
    """

    scopes: tuple[str, ...]
    now: datetime
    descend: bool = False
    exact: bool = False  # only the named scopes, no parents
    kinds: tuple[Kind, ...] = ()
    types: tuple[Type, ...] = ()
    durabilities: tuple[Durability, ...] = ()
    tags: tuple[str, ...] = ()  # any of them
    statuses: tuple[Status, ...] = ("active", "disputed")
    sources: tuple[Source, ...] = ()
    authors: tuple[str, ...] = ()
    session: str = ""
    since: datetime | None = None  # on Record.at, inclusive
    until: datetime | None = None  # on Record.at, exclusive
    as_of: datetime | None = None
    known_at: datetime | None = None
    matching: Matching = ()  # on tags and data, all of them


@frozen
class Search:
    """What to look for: by words, by meaning, or by both."""

    where: Where
    text: str = ""
    vector: Vector | None = None
    space: str = ""  # of the vector
    similar_above: float = -2.0  # what the vector arm finds must be more similar than this
    around: bool = False  # score turns together with their neighbours, see ``index.neighbours``
    limit: int = 12  # per arm


@frozen
class Listing:
    """What to go through, in an order."""

    where: Where
    order: Order = "recent"
    after: str = ""  # with order "id" or "newest": start behind this id
    limit: int = 12


@frozen
class Find:
    """What to look up by a key, of which a store has an index: a record must have one of the
    values of each key that is given. Answered like a listing."""

    where: Where
    hashes: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    lineage: tuple[str, ...] = ()  # made from any of these messages (needs ``where.session``)
    derived_from: tuple[str, ...] = ()  # made from any of these records
    order: Order = "recent"
    after: str = ""
    limit: int = 12


@frozen
class Why:
    """One step in the making of a score."""

    stage: str
    value: float
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.stage} {self.value:+.3f}" + (f" ({self.detail})" if self.detail else "")


@frozen
class Hit:
    """A record with the store's raw scores and, after ranking, one score and its reasons.

    ``similarity`` is the cosine, None where no vector was compared. ``keyword`` is BM25,
    0 only if no token matches, comparable inside one answer only. ``coverage`` is the share
    of the query's word weight that the record holds, comparable everywhere. ``lift`` says how
    far the similarity stands out: in standard deviations above the average of all that passes
    the filters. ``keyword_around`` and ``lift_around`` are those of the record with its
    neighbours, where the query asked for them; without neighbours the same as its own.
    ``after_question`` then says whether the turn before it asks.
    """

    record: Record
    similarity: float | None = None
    keyword: float = 0.0
    coverage: float = 0.0
    lift: float | None = None
    keyword_around: float = 0.0
    lift_around: float | None = None
    after_question: bool = False
    score: float = 0.0
    why: tuple[Why, ...] = ()


@frozen
class Usage:
    """What an operation cost."""

    texts_embedded: int = 0
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0


@frozen
class ReceiptItem:
    """What became of one thing. For messages ``id`` is the message's and ``record`` that of
    the searchable turn; for everything else ``id`` is the record's. In the receipt of a dry run
    ``step`` is what upkeep would do to it, and ``text`` and ``author`` say what would be erased or
    retired, and whose it is."""

    id: str
    status: ItemStatus
    reason: str = ""
    record: str = ""
    step: UpkeepStep | None = None
    text: str = ""
    author: str = ""


@frozen
class Receipt:
    items: tuple[ReceiptItem, ...]
    change: str = ""  # give this to undo()
    survivors: tuple[str, ...] = ()  # forget: sources and copies that still hold it
    notes: tuple[str, ...] = ()
    usage: Usage = Usage()


@frozen
class ReviewItem:
    """Something that waits for a person's decision: give ``id`` to ``resolve()``.

    ``disputed``: a record and those that speak against it; ``quarantined``: a record that is not
    recalled until approved; ``held``: a change set that was not applied; ``stuck``: work that
    failed too often. ``touches`` are the other records that a decision concerns, as far as they
    can be seen.
    """

    id: str
    kind: ReviewKind
    scope: str
    why: str
    since: datetime | None = None
    record: Record | None = None
    touches: tuple[Record, ...] = ()
    actions: tuple[ReviewAction, ...] = ()


@frozen
class Answer:
    hits: tuple[Hit, ...]
    notes: tuple[str, ...] = ()
    usage: Usage = Usage()


@frozen
class Packet:
    """What to put before the next model call. ``text`` begins with ``stable_text``, whose
    ``hash`` stays the same while nothing in it changed. ``tokens`` counts text and messages by
    ``counter``. ``near_misses`` are what the budget dropped."""

    text: str
    stable_text: str
    tokens: int
    counter: str
    hash: str
    hits: tuple[Hit, ...] = ()
    messages: tuple[Mapping[str, Any], ...] = ()
    pending: tuple[Message, ...] = ()
    near_misses: tuple[Hit, ...] = ()
    notes: tuple[str, ...] = ()
    usage: Usage = Usage()


@frozen
class Work:
    """Something that is due because of the state of the store; never queued twice.

    ``fold``: readers lag behind in session ``id`` (``detail`` names the reader);
    ``embed``: record ``id`` has no vector in the active space; ``expire``: row ``id`` is past
    its expiry; ``review``: record ``id`` is past its review date.
    """

    kind: WorkKind
    root: str
    scope: str
    id: str
    detail: str = ""
