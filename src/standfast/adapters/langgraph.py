"""LangGraph's ``BaseStore`` on this memory: items under keys in namespaces, kept in one file.

    from standfast.adapters.langgraph import StandfastStore

    with StandfastStore.open("memory.db") as store:
        graph = builder.compile(store=store)

A namespace becomes a scope below ``app:langgraph``, so that what a namespace holds can be
forgotten, exported or opted out of like any other scope. An item that changes is a new version of
a record; what is deleted is erased. Search is that of this memory: by words and by meaning.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any, Self

from langgraph.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    ensure_embeddings,
    get_text_at_path,
    tokenize_path,
)

from standfast.adapters.conditions import check, fulfils
from standfast.adapters.namespaces import (
    NAME,
    SCOPE,
    TEXT_CHARACTERS_MAX,
    Namespace,
    key_of,
    prefix_tag,
    prefix_tags,
    readable,
    scope_below,
)
from standfast.adapters.shelf import KeyShelf, Placed, part_of, utc_now
from standfast.errors import Invalid
from standfast.memory.sync import Memory
from standfast.scopes import parse_scope
from standfast.types import Record, Source, Status
from standfast.types.arguments import LIMIT_MAX

SHOWN: tuple[Status, ...] = ("active", "disputed")
TTL_MAX = 10**9  # minutes
MARGIN = 4  # how many times more than asked for is searched, when a filter may drop some


class StandfastStore(BaseStore):
    """Thread-safe. ``index`` chooses the fields that are searched; its ``embed`` is used by a
    store that ``open`` makes. ``ttl`` is LangGraph's: minutes, refreshed by reading."""

    supports_ttl = True

    def __init__(
        self,
        memory: Memory,
        *,
        scope: str = SCOPE,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        source: Source = "assistant",
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self.memory = memory
        self.index_config = index
        self.ttl_config = ttl
        self._scope = parse_scope(scope)
        self._source: Source = source
        self._clock = clock
        self._shelf = KeyShelf(memory, NAME, fits=_is_item, clock=clock)
        self._own = False

    @classmethod
    def open(
        cls,
        store: str | None = None,
        *,
        scope: str = SCOPE,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        **options: Any,
    ) -> Self:
        """Open a memory of its own (options as for ``Memory.open``), closed with the store."""
        if index and index.get("embed") and "embedder" not in options:
            options["embedder"] = LangChainEmbedder(index)
        made = cls(Memory.open(store, **options), scope=scope, index=index, ttl=ttl)
        made._own = True
        return made

    def close(self) -> None:
        if self._own:
            self.memory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """What reads sees the state before; of several writes to one key the last one counts."""
        results: list[Result] = []
        writes: dict[tuple[Namespace, str], PutOp] = {}
        for op in ops:
            if isinstance(op, PutOp):
                writes.pop((op.namespace, op.key), None)
                writes[op.namespace, op.key] = op
                results.append(None)
            else:
                results.append(self._read(op))
        for op in writes.values():
            self._write(op)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, list(ops))

    def _read(self, op: Op) -> Result:
        match op:
            case GetOp():
                return self._get(op)
            case SearchOp():
                return self._search(op)
            case ListNamespacesOp():
                return self._namespaces(op)
        raise Invalid(f"a {type(op).__name__} is no operation of a store")

    # One item

    def _get(self, op: GetOp) -> Item | None:
        record = self._shelf.get(self._scope_of(op.namespace), key_of(op.namespace, op.key))
        if record is None:
            return None
        return _item(self._refreshed(record) if op.refresh_ttl else record)

    def _write(self, op: PutOp) -> None:
        scope, key = self._scope_of(op.namespace), key_of(op.namespace, op.key)
        if op.value is None:
            self._shelf.remove(scope, key)
            return
        told = self._text(op)
        about = {
            "namespace": list(op.namespace),
            "key": op.key,
            "value": dict(op.value),
            "indexed": bool(told),
        }
        if op.ttl is not None:
            about["ttl"] = op.ttl
        self._place(scope, key, told or op.key or "-", about)

    def _place(self, scope: str, key: str, text: str, about: Mapping[str, Any]) -> None:
        namespace = tuple(about["namespace"])
        self._shelf.put(
            Placed(
                scope=scope,
                key=key,
                text=text[:TEXT_CHARACTERS_MAX],
                data={NAME: about},
                tags=tuple(prefix_tags(namespace)),
                source=self._source,
                expires_at=self._expiry(about.get("ttl")),
            )
        )

    def _text(self, op: PutOp) -> str:
        """What the item is found by; "" if it is not to be found by a query."""
        assert op.value is not None
        if op.index is False:
            return ""
        fields = op.index or (self.index_config or {}).get("fields") or ["$"]
        if list(fields) == ["$"]:
            return readable(op.value)
        found = [text for field in fields for text in _texts_at(op.value, field)]
        return "\n".join(text for text in found if text.strip())

    def _expiry(self, minutes: float | None) -> datetime | None:
        if minutes is None:
            return None
        if isinstance(minutes, bool) or not isinstance(minutes, int | float) or minutes <= 0:
            raise Invalid(f"ttl is a number of minutes above 0, not {minutes!r}")
        return self._clock().astimezone(UTC) + timedelta(minutes=minutes)

    def _refreshed(self, record: Record) -> Record:
        """Reading puts the end off. A record's expiry is part of it, so that is a new version."""
        about = record.data[NAME]
        if about.get("ttl") is None or record.expires_at is None:
            return record
        whole = timedelta(minutes=about["ttl"])
        if record.expires_at - self._clock() > whole * 0.95:
            return record  # just written or read: not worth a write
        key = key_of(tuple(about["namespace"]), about["key"])
        self._place(record.scope, key, record.text, about)
        return record  # the item itself did not change

    # Many items

    def _search(self, op: SearchOp) -> list[SearchItem]:
        check(op.filter or {})
        last = op.offset + op.limit
        found: dict[str, tuple[Record, float | None]] = {}
        if op.query:
            for record, score in self._recalled(op, last):
                found[record.id] = (record, score)
        if len(found) < last:
            for record in self._matching(op):
                known = 0.0 if op.query and record.data[NAME]["indexed"] else None
                found.setdefault(record.id, (record, known))
                if len(found) >= last and op.query:
                    break
        chosen = list(found.values())
        if not op.query:  # the newest first, like LangGraph's own stores with a database
            chosen.sort(key=lambda one: (one[0].learned_at, one[0].id), reverse=True)
        page = chosen[op.offset : last]
        if op.refresh_ttl:
            for record, _ in page:
                self._refreshed(record)
        return [_found(record, score) for record, score in page]

    def _recalled(self, op: SearchOp, last: int) -> Iterator[tuple[Record, float]]:
        limit = min(last * MARGIN if op.filter else last, LIMIT_MAX)
        while True:
            answer = self.memory.recall(
                op.query or "",
                scope=self._scope_of(op.namespace_prefix),
                descend=True,
                tags=(prefix_tag(op.namespace_prefix),),
                statuses=SHOWN,
                threshold=0.0,
                limit=max(limit, 1),
            )
            kept = [hit for hit in answer.hits if self._passes(hit.record, op, scored=True)]
            if len(kept) >= last or len(answer.hits) < limit or limit == LIMIT_MAX:
                break
            limit = LIMIT_MAX
        for hit in kept[:last]:
            yield hit.record, hit.score

    def _matching(self, op: SearchOp) -> Iterator[Record]:
        for record in self._listed(op.namespace_prefix):
            if self._passes(record, op, scored=False):
                yield record

    def _passes(self, record: Record, op: SearchOp, *, scored: bool) -> bool:
        about = part_of(record, NAME)
        if not self._shelf.holds(record) or (scored and not about["indexed"]):
            return False
        return fulfils(about["value"], op.filter or {})

    def _listed(self, prefix: Namespace) -> Iterator[Record]:
        """The live items below a namespace; of two that were written at once, the later one."""
        newest: dict[str, Record] = {}
        found = self._shelf.tagged(
            self._scope_of(prefix), prefix_tag(prefix), descend=True, statuses=SHOWN
        )
        for record in found:
            about = record.data[NAME]
            newest[key_of(tuple(about["namespace"]), about["key"])] = record
        yield from newest.values()

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = op.match_conditions or ()
        found = {
            tuple(record.data[NAME]["namespace"]) for record in self._listed(_known(conditions))
        }
        matching = [one for one in found if all(_matches(one, wish) for wish in conditions)]
        if op.max_depth is not None:
            matching = list({one[: op.max_depth] for one in matching})
        return sorted(matching)[op.offset : op.offset + op.limit]

    # Where things are

    def _scope_of(self, namespace: Namespace) -> str:
        return scope_below(self._scope, namespace)


class LangChainEmbedder:
    """Embeddings of LangChain as the embedder of a memory. They are asked at once when something
    is written, so that it is found at once."""

    local = True

    def __init__(self, index: IndexConfig) -> None:
        self._embeddings = ensure_embeddings(index["embed"])
        self.dimensions = int(index["dims"])

    @property
    def space(self) -> str:
        name = getattr(self._embeddings, "model", None) or type(self._embeddings).__name__
        return f"langchain-{name}/{self.dimensions}"

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        found: list[list[float]] = await self._embeddings.aembed_documents(list(texts))
        return found


def _is_item(part: Mapping[str, Any]) -> bool:
    """Is it as ``_write`` makes it?"""
    namespace, ttl = part.get("namespace"), part.get("ttl", 1)
    return (
        isinstance(namespace, list)
        and all(isinstance(name, str) for name in namespace)
        and isinstance(part.get("key"), str)
        and isinstance(part.get("value"), Mapping)
        and isinstance(part.get("indexed"), bool)
        and (ttl is None or (isinstance(ttl, int | float) and 0 < ttl < TTL_MAX))
    )


def _texts_at(value: Mapping[str, Any], field: str) -> list[str]:
    return list(get_text_at_path(dict(value), tokenize_path(field) if field != "$" else field))


def _item(record: Record) -> Item:
    about = record.data[NAME]
    return Item(
        value=dict(about["value"]),
        key=about["key"],
        namespace=tuple(about["namespace"]),
        created_at=record.valid_from or record.learned_at,
        updated_at=record.learned_at,
    )


def _found(record: Record, score: float | None) -> SearchItem:
    item = _item(record)
    return SearchItem(
        namespace=item.namespace,
        key=item.key,
        value=item.value,
        created_at=item.created_at,
        updated_at=item.updated_at,
        score=score,
    )


def _known(conditions: Iterable[MatchCondition]) -> Namespace:
    """The longest beginning that all namespaces which fulfil the conditions share."""
    best: Namespace = ()
    for one in conditions:
        if one.match_type == "prefix":
            sure = one.path[: one.path.index("*")] if "*" in one.path else one.path
            best = max(best, tuple(sure), key=len)
    return best


def _matches(namespace: Namespace, wish: MatchCondition) -> bool:
    if len(namespace) < len(wish.path):
        return False
    if wish.match_type == "suffix":
        part = namespace[len(namespace) - len(wish.path) :]
    else:
        part = namespace[: len(wish.path)]
    return all(asked in ("*", label) for label, asked in zip(part, wish.path, strict=True))
