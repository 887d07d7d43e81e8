"""What every verb shares: the ports, scopes a handle may touch, embedding, and careful commits."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from recollect.asking import Careful
from recollect.errors import Conflict, Denied, Invalid, Unavailable
from recollect.ports import Clock, Embedder, NewId, Store
from recollect.profiles import Profile
from recollect.redaction import Redactor
from recollect.scopes import SYSTEM_ROOT, is_within, parents, parse_scope, root_of
from recollect.tokens import ESTIMATE, Counter
from recollect.types import Batch, Item, Record, Vector
from recollect.vectors import embedding_text, packed

ATTEMPTS_MAX = 16
ROOTS_PAGE = 500


@dataclass(slots=True, kw_only=True)
class Engine:
    store: Store
    volatile: Store  # for users who opted out, and while the disk is full
    embedder: Embedder | None
    profile: Profile
    clock: Clock
    new_id: NewId
    new_secret: NewId
    redactor: Redactor
    default_scope: str
    models: Careful | None = None  # None: summaries are extracts
    name: str = ""  # of this handle, for leases
    counter: Counter = ESTIMATE
    bound: str = ""  # the scope this handle may not leave; "" = none
    used: Tally[str] = field(default_factory=Tally)
    first_vector: bool = True  # whether this handle has still to see that the space is claimed
    volatile_roots: set[str] = field(default_factory=set)

    def now(self) -> datetime:
        return self.clock().astimezone(UTC)

    # Scopes

    def write_scope(self, scope: str | None) -> str:
        if scope is None:
            return self.bound or self.default_scope
        named = parse_scope(scope)
        if self.bound and not is_within(named, self.bound):
            raise Denied(
                f"scope {named!r} is outside {self.bound!r}, which this handle is bound to"
            )
        return named

    async def read_scopes(
        self, scope: str | Iterable[str] | None, *, descend: bool
    ) -> tuple[dict[str, tuple[str, ...]], bool]:
        """The scopes to look in by root, and whether to look below them."""
        if scope is None:
            if self.bound:
                return {root_of(self.bound): (self.bound,)}, True
            return {root: (root,) for root in await self.all_roots()}, True
        named = [scope] if isinstance(scope, str) else list(scope)
        if not named:
            raise Invalid("the list of scopes is empty; leave scope out to look everywhere")
        by_root: dict[str, tuple[str, ...]] = {}
        for one in map(parse_scope, named):
            if self.bound and not (
                is_within(one, self.bound) or (is_within(self.bound, one) and not descend)
            ):
                raise Denied(f"scope {one!r} is outside {self.bound!r}")
            by_root[root_of(one)] = (*by_root.get(root_of(one), ()), one)
        return by_root, descend

    async def all_roots(self) -> list[str]:
        found: list[str] = sorted(self.volatile_roots)
        after = ""
        while page := await self.store.roots(after=after, limit=ROOTS_PAGE):
            found += [root for root in page if root not in self.volatile_roots]
            after = page[-1]
        return [root for root in found if root != SYSTEM_ROOT]

    def may_see(self, scope: str) -> bool:
        return not self.bound or is_within(scope, self.bound) or is_within(self.bound, scope)

    def stores_of(self, root: str) -> tuple[Store, ...]:
        return (self.store, self.volatile) if root in self.volatile_roots else (self.store,)

    async def find_records(self, ids: Sequence[str]) -> dict[str, tuple[Record, Store]]:
        """Records by id wherever this handle may look, with the store each lives in."""
        root = root_of(self.bound) if self.bound else None
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
        chain = (*parents(scope), scope)
        policies = await self.store.items(
            root_of(scope), "policy", now=self.now(), scopes=chain, limit=1000
        )
        keys = {"scope", *(f"author:{author}" for author in authors if author)}
        return all(item.value.get("persist", True) for item in policies if item.key in keys)

    # Writing

    def batch(self, root: str, reason: str, *, actor: str, change: str, **parts: Any) -> Batch:
        return Batch(
            id=self.new_id(),
            root=root,
            at=self.now(),
            reason=reason,
            actor=actor,
            change=change,
            **parts,
        )

    async def commit(self, store: Store, batch: Batch) -> int:
        """Commit; where the outcome is unknown ask again with the same id, which is safe."""
        try:
            return await store.commit(batch)
        except Unavailable as error:
            if not error.outcome_unknown:
                raise
        return await store.commit(batch)

    # Vectors

    async def space(self) -> str:
        """The store's active vector space; "" before the first vector was written."""
        return await active_space(self.store, self.now())

    async def space_item(self) -> Item | None:
        """Read anew each time: another process may just have moved the store to a new space."""
        return await space_item(self.store, self.now())

    async def claim_space(self, space: str) -> None:
        """The first vector decides the space of the store; whoever comes second finds out by
        reading it."""
        item = Item(scope=SYSTEM_ROOT, namespace="space", key="active", value=space)
        batch = self.batch(SYSTEM_ROOT, "claim space", actor="", change="", items=(item,))
        with suppress(Conflict):
            await self.commit(self.store, batch)

    async def vector_trouble(self) -> str:
        """Why vectors cannot be used now; "" if they can."""
        if self.embedder is None:
            return "no embedder is configured"
        space = await self.space()
        if space and space != self.embedder.space:
            return f"the store's vectors are {space}, this process embeds {self.embedder.space}"
        return ""

    async def embed(self, texts: Sequence[str]) -> tuple[list[Vector | None], str]:
        """Vectors for the active space, or Nones and the reason."""
        trouble = await self.vector_trouble()
        if trouble:
            return [None] * len(texts), trouble
        return await self.embed_texts(texts)

    async def embed_texts(self, texts: Sequence[str]) -> tuple[list[Vector | None], str]:
        """Vectors of the embedder's own space, whatever the store's is."""
        nothing: list[Vector | None] = [None] * len(texts)
        if self.embedder is None or not texts:
            return nothing, "" if self.embedder else "no embedder is configured"
        try:
            rows = await self.embedder.embed(texts)
            return list(packed(rows, len(texts), self.embedder.dimensions)), ""
        except Unavailable as error:
            return nothing, str(error)
        except Exception as error:
            # A provider may fail in any way; the write must not be lost over it.
            return nothing, f"the embedder failed: {type(error).__name__}: {error}"

    async def embed_for_writing(
        self, records: Sequence[Record]
    ) -> tuple[dict[str, Vector], str, str]:
        """Vectors by record id, their space, and a note when some are left for later."""
        if self.embedder is not None and not self.embedder.local:
            return {}, "", "vectors pending: maintenance will add them"
        vectors, trouble = await self.embed([embedding_text(record) for record in records])
        found = {
            record.id: vector
            for record, vector in zip(records, vectors, strict=True)
            if vector is not None
        }
        if not found or self.embedder is None:
            return {}, "", f"vectors pending: {trouble}" if trouble and self.embedder else ""
        if self.first_vector:
            self.first_vector = False
            if not await self.space():
                await self.claim_space(self.embedder.space)
            if trouble := await self.vector_trouble():
                return {}, "", f"vectors pending: {trouble}"
        return found, self.embedder.space, ""


async def space_item(store: Store, now: datetime) -> Item | None:
    items = await store.items(SYSTEM_ROOT, "space", now=now, keys=("active",))
    return items[0] if items else None


async def active_space(store: Store, now: datetime) -> str:
    item = await space_item(store, now)
    return str(item.value) if item else ""
