"""mem0's ``Memory`` and ``AsyncMemory`` on this memory: the same methods and result shapes.

    from standfast.adapters.mem0 import Memory

``user_id``, ``agent_id`` and ``run_id`` become the scope ``user:...:agent:...:run:...``. An id
stays the same over all versions of a memory: it is that of the first one. No model is needed:
what was said is kept in the words in which it was said.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from functools import wraps
from types import TracebackType
from typing import Any, Self

from standfast.adapters.conditions import GROUPS, check, fulfils
from standfast.adapters.contention import key_lock, write_attempts
from standfast.adapters.shelf import part_of, utc_now
from standfast.errors import Invalid
from standfast.memory.sync import Memory as Standfast
from standfast.scopes import make_scope, parse_scope
from standfast.text.dialects import parts_of
from standfast.text.inputs import When, moment
from standfast.text.messages import text_of
from standfast.types import KIND_OF_TYPE, LIVE, Hit, Record, Status, Type
from standfast.types.arguments import LIMIT_MAX

NAME = "mem0"
ENTITIES = ("user_id", "agent_id", "run_id")
IDENTITY = (*ENTITIES, "actor_id")
PROCEDURAL = "procedural_memory"
TYPES: tuple[Type, ...] = tuple(type_ for type_ in KIND_OF_TYPE if type_ != "turn")
SHOWN: tuple[Status, ...] = ("active", "disputed")
PAGE = 500
UNSET: Any = object()

Fields = dict[str, Any]


class Mem0Invalid(Invalid, ValueError):  # noqa: N818  named after its parent
    """What mem0 calls a ValueError."""


class Mem0Memory:
    """``Memory()`` opens the store of the settings; ``Memory("file.db")`` another one;
    ``Memory(memory=...)`` uses one that is open already and leaves it open."""

    def __init__(
        self, store: str | None = None, *, memory: Standfast | None = None, **options: Any
    ) -> None:
        if store is not None and not isinstance(store, str):
            raise Mem0Invalid(
                "this Memory takes the path of a store, not mem0's configuration: "
                'write Memory("memory.db"); models are set up by settings'
            )
        self._own = memory is None
        self.memory = memory if memory is not None else Standfast.open(store, **options)

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """Takes ``{"store": path, ...options of Memory.open}``. What mem0 configures there
        (vector_store, llm, embedder) has no meaning here and is refused, not ignored."""
        config = dict(config_dict)
        foreign = sorted(set(config) & {"vector_store", "llm", "graph_store", "reranker"})
        if foreign or isinstance(config.get("embedder"), Mapping):
            named = ", ".join(foreign or ["embedder"])
            raise Mem0Invalid(
                f"{named}: standfast brings its own store and embedder; "
                'write from_config({"store": "memory.db"}) and see the settings'
            )
        return cls(config.pop("store", None), **config)

    def add(
        self,
        messages: str | Mapping[str, Any] | Iterable[Mapping[str, Any]],
        *,
        user_id: object = None,
        agent_id: object = None,
        run_id: object = None,
        metadata: Mapping[str, Any] | None = None,
        timestamp: When | None = None,
        expiration_date: object = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,  # noqa: ARG002  for the model that mem0 asks
    ) -> dict[str, Any]:
        """Keep what was said. With ``infer`` what the user says is compared with what is known:
        it is merged if that says it already (event NONE) and takes the place of what it
        outdates. Without, each message is kept for itself."""
        scope = _scope_of(_entities(user_id=user_id, agent_id=agent_id, run_id=run_id))
        if memory_type not in (None, PROCEDURAL):
            raise Mem0Invalid(f"memory_type {memory_type!r} is unknown; use {PROCEDURAL!r}")
        told = _messages(messages)
        until = _expiry(expiration_date)
        about: Fields = {"metadata": _metadata(metadata)}
        if expiration_date is not None:
            about["expiration_date"] = _day(expiration_date).isoformat()
        results: list[dict[str, Any]] = []
        if memory_type == PROCEDURAL and agent_id is not None:
            steps = "\n".join(f"{one['role']}: {text_of(parts_of(one))}" for one in told)
            about["metadata"] = {**about["metadata"], "memory_type": PROCEDURAL}
            results.append(self._keep(steps, scope, about, until, timestamp, type_="procedure"))
            return {"results": results}
        for one in told:
            text = text_of(parts_of(one))
            if one["role"] == "system" or not text.strip():
                continue
            said = {**about, "role": one["role"]}
            if one.get("name"):
                said["actor_id"] = str(one["name"])
            merging = infer and one["role"] == "user"
            results.append(self._keep(text, scope, said, until, timestamp, merging=merging))
        return {"results": results}

    def _keep(
        self,
        text: str,
        scope: str,
        about: Fields,
        until: datetime | None,
        timestamp: When | None,
        *,
        merging: bool = False,
        type_: Type = "fact",
    ) -> dict[str, Any]:
        at, _ = moment(timestamp, "timestamp")
        exact = not merging and type_ == "fact"
        since = at or (utc_now() if exact else None)
        while True:
            receipt = self.memory.remember(
                text,
                scope=scope,
                type=type_,
                kind="episodic" if exact else None,
                data={NAME: about},
                source="user" if about.get("role", "user") == "user" else "assistant",
                author=about.get("actor_id", ""),
                valid_from=since,
                expires_at=until,
                actor=NAME,
            )
            item = receipt.items[0]
            if not exact or item.status != "merged":
                break
            assert since is not None
            since += timedelta(microseconds=1)  # the same words at the same moment: two memories
        record = self.memory.get([item.id])[0]
        event = "NONE" if item.status == "merged" else "ADD"
        result: dict[str, Any] = {"id": _handle(record), "memory": record.text, "event": event}
        if "role" in about and not merging:
            result |= {"actor_id": about.get("actor_id"), "role": about["role"]}
        return result

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """One memory in its newest version; None if there is none, or another replaced it."""
        record = self._newest(memory_id)
        return _item(record, score=True) if record and record.status in LIVE else None

    def get_all(
        self,
        *,
        filters: Mapping[str, Any] | None = None,
        top_k: int = 20,
        show_expired: bool = False,  # noqa: ARG002  what expired is gone
        **more: Any,
    ) -> dict[str, Any]:
        """What there is, in the order in which it was added."""
        top_k = _count(more.pop("limit", top_k))
        asked = _filters(filters, more)
        found: list[dict[str, Any]] = []
        for record in self._listed(asked):
            if len(found) >= top_k:
                break
            if _asked_for(record, asked):
                found.append(_item(record))
        return {"results": found}

    def search(
        self,
        query: str,
        *,
        top_k: int = 20,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = 0.1,
        rerank: bool = False,
        explain: bool = False,
        reference_date: When | None = None,
        show_expired: bool = False,  # noqa: ARG002  what expired is gone
        **more: Any,
    ) -> dict[str, Any]:
        """What answers a question, best first. ``reference_date`` is the moment of asking."""
        if not isinstance(query, str) or not query.strip():
            raise Mem0Invalid("query must be text that is not empty")
        top_k = _count(more.pop("limit", top_k))
        asked = _filters(filters, more)
        if not isinstance(threshold, int | float | None) or not 0 <= (threshold or 0) <= 1:
            raise Mem0Invalid(f"threshold must be a number from 0 to 1, not {threshold!r}")
        if top_k == 0:
            return {"results": []}
        limit = min(max(top_k * 4, 60), LIMIT_MAX)
        while True:
            answer = self.memory.recall(
                query.strip(),
                scope=_read_scope(asked),
                descend=True,
                types=TYPES,
                statuses=SHOWN,
                limit=limit,
                threshold=threshold,
                fast=None if rerank else True,
                now=reference_date,
            )
            kept = [hit for hit in answer.hits if _asked_for(hit.record, asked)]
            if len(kept) >= top_k or len(answer.hits) < limit or limit == LIMIT_MAX:
                break
            limit = LIMIT_MAX  # a filter let few pass: look at all that may be looked at
        return {"results": [_scored(hit, explain=explain) for hit in kept[:top_k]]}

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: object = UNSET,
        data: str | None = None,
    ) -> dict[str, str]:
        """A new version under the same id. ``metadata`` is added to what is there."""
        text = data if text is None else text
        if text is None and metadata is None and expiration_date is UNSET:
            raise Mem0Invalid("say what to update: text, metadata or expiration_date")
        for _ in write_attempts():
            with key_lock(NAME, str(memory_id)):
                old = self._newest(memory_id)
                if old is None or old.status not in LIVE:
                    raise Mem0Invalid(f"there is no memory with the id {memory_id!r}")
                try:
                    self._supersede(old, memory_id, text, metadata, expiration_date)
                except Invalid:
                    newer = self._newest(memory_id)
                    if newer is None or newer.id == old.id:
                        raise
                    continue  # another process updated it meanwhile
            return {"message": "Memory updated successfully!"}
        raise Mem0Invalid(f"memory {memory_id!r} changes faster than it can be written; try again")

    def _supersede(
        self,
        old: Record,
        handle: str,
        text: str | None,
        metadata: Mapping[str, Any] | None,
        expiration_date: object,
    ) -> None:
        about = _about(old)
        about["metadata"] = {**about["metadata"], **_metadata(metadata)}
        about["handle"] = handle
        about["number"] += 1
        about["created_at"] = _created(old)
        until = old.expires_at
        if expiration_date is not UNSET:
            until = _expiry(expiration_date)
            about.pop("expiration_date", None)
            if expiration_date is not None:
                about["expiration_date"] = _day(expiration_date).isoformat()
        self.memory.remember(
            old.text if text is None else text,
            scope=old.scope,
            kind="episodic",  # exactly this text under this id, whatever else says the same
            type=old.type,
            tags=(*old.tags, _tag(handle)),
            importance=old.importance,
            data={NAME: about},
            source=old.source,
            author=old.author,
            valid_from=old.valid_from or old.learned_at,
            expires_at=until,
            supersedes=old.id,
            actor=NAME,
        )

    def delete(self, memory_id: str) -> dict[str, str]:
        """Erase a memory in all its versions, whoever wrote them, for good: its history too."""
        versions = self._versions(memory_id)
        if not versions:
            raise Mem0Invalid(f"there is no memory with the id {memory_id!r}")
        for start in range(0, len(versions), PAGE):
            ids = [record.id for record in versions[start : start + PAGE]]
            self.memory.forget(ids=ids, several_authors=True, actor=NAME)
        return {"message": "Memory deleted successfully!"}

    def delete_all(
        self, user_id: object = None, agent_id: object = None, run_id: object = None
    ) -> dict[str, str]:
        """Erase everything of a user, an agent or a run, also what was observed there."""
        asked = _entities(user_id=user_id, agent_id=agent_id, run_id=run_id)
        _scope_of(asked)  # nobody named would mean everybody
        scopes = {record.scope for record in self._listed(asked, statuses=(), types=())}
        for scope in sorted(s for s in scopes if fulfils(_entities_of(s), asked)):
            self.memory.forget(scope=scope, several_authors=True, actor=NAME)
        return {"message": "Memories deleted successfully!"}

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Every version of a memory, the oldest first."""
        versions = self._versions(memory_id)
        befores = [None, *(record.text for record in versions)]
        return [
            {
                "id": record.id,
                "memory_id": memory_id,
                "old_memory": before,
                "new_memory": record.text,
                "event": "ADD" if before is None else "UPDATE",
                "created_at": _created(record),
                "updated_at": record.learned_at.isoformat(),
                "is_deleted": False,
                "actor_id": _about(record).get("actor_id"),
                "role": _about(record).get("role"),
            }
            for before, record in zip(befores, versions, strict=False)
        ]

    def reset(self) -> None:
        """Erase everything that mem0's methods can reach: every user, agent and run."""
        for record in self._listed({}, statuses=(), types=()):
            if self.memory.get([record.id]):  # not gone yet with its scope
                self.memory.forget(scope=record.scope, several_authors=True, actor=NAME)

    def close(self) -> None:
        """Close the store, if this opened it."""
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

    def _newest(self, memory_id: str) -> Record | None:
        versions = self._versions(memory_id)
        return versions[-1] if versions else None

    def _versions(self, memory_id: str) -> list[Record]:
        """The first version has the id itself, all others are tagged with it."""
        if not isinstance(memory_id, str) or not memory_id.strip():
            raise Mem0Invalid("memory_id must be text that is not empty")
        first = tuple(one for one in self.memory.get([memory_id]) if one.type != "turn")
        where = first[0].scope if first else None  # the first one may have expired
        later = self._paged(scope=where, descend=not first, tags=(_tag(memory_id),))
        found = {one.id: one for one in (*first, *later) if _entities_of(one.scope)}
        return sorted(found.values(), key=lambda r: (_about(r)["number"], r.id))

    def _listed(
        self,
        asked: Mapping[str, Any],
        *,
        statuses: Iterable[Status] = SHOWN,
        types: Iterable[Type] = TYPES,
    ) -> Iterator[Record]:
        found = self._paged(scope=_read_scope(asked), descend=True, types=types, statuses=statuses)
        return (record for record in found if _entities_of(record.scope))

    def _paged(self, **asked: Any) -> Iterator[Record]:
        cursor = ""
        while True:
            page = self.memory.records(**asked, cursor=cursor, limit=PAGE)
            yield from page.items
            if not page.next:
                return
            cursor = page.next


class AsyncMem0Memory:
    """The same methods, to be awaited."""

    def __init__(
        self, store: str | None = None, *, memory: Standfast | None = None, **options: Any
    ) -> None:
        self._blocking = Mem0Memory(store, memory=memory, **options)

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        made = cls.__new__(cls)
        made._blocking = Mem0Memory.from_config(config_dict)
        return made

    def close(self) -> None:
        self._blocking.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.close)


def _awaited(name: str) -> Any:
    blocking = getattr(Mem0Memory, name)

    @wraps(blocking)
    async def method(self: AsyncMem0Memory, *args: Any, **kwargs: Any) -> Any:
        return await asyncio.to_thread(getattr(self._blocking, name), *args, **kwargs)

    return method


for _name in ("add", "get", "get_all", "search", "update", "delete", "delete_all", "history",
              "reset"):  # fmt: skip
    setattr(AsyncMem0Memory, _name, _awaited(_name))

Memory = Mem0Memory
AsyncMemory = AsyncMem0Memory


# What comes in


def _entities(**given: object) -> Fields:
    return {name: _entity(value, name) for name, value in given.items() if value is not None}


def _entity(value: object, name: str) -> str:
    found = str(value).strip()
    if not found or any(character.isspace() for character in found):
        raise Mem0Invalid(f"{name} must be a word without blanks, not {str(value)[:80]!r}")
    return found


def _scope_of(entities: Mapping[str, str]) -> str:
    if not entities:
        raise Mem0Invalid("say whose memory it is: at least one of user_id, agent_id, run_id")
    pairs = [(name[:-3], entities[name]) for name in ENTITIES if name in entities]
    try:
        return make_scope(*pairs)
    except Invalid as error:
        raise Mem0Invalid(str(error)) from None


def _read_scope(asked: Mapping[str, Any]) -> str | None:
    """Where to look: below a user if one is named; an agent may work for every user."""
    user = asked.get("user_id")
    return make_scope(("user", user)) if isinstance(user, str) and user != "*" else None


def _messages(messages: object) -> list[Fields]:
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}]
    listed = [messages] if isinstance(messages, Mapping) else messages
    if not isinstance(listed, list | tuple):
        raise Mem0Invalid("messages must be text, a message or a list of messages")
    for one in listed:
        if not isinstance(one, Mapping) or one.get("role") is None or one.get("content") is None:
            raise Mem0Invalid('a message is a mapping such as {"role": "user", "content": "..."}')
    return [dict(one) for one in listed]


def _metadata(metadata: Mapping[str, Any] | None) -> Fields:
    """Whose it is cannot be said there: mem0 ignores such fields too."""
    if not isinstance(metadata or {}, Mapping):
        raise Mem0Invalid(f"metadata must be a mapping, not {type(metadata).__name__}")
    return {name: value for name, value in (metadata or {}).items() if name not in IDENTITY}


def _day(value: object) -> date:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(str(value))
    except ValueError:
        raise Mem0Invalid(f'expiration_date={value!r} is no day; write "2026-12-31"') from None


def _expiry(value: object) -> datetime | None:
    """A memory lives through the day on which it expires."""
    if value is None:
        return None
    end = datetime.combine(_day(value) + timedelta(days=1), time.min, UTC)
    if end <= utc_now():
        raise Mem0Invalid(f"expiration_date {value} has passed already; give a day to come")
    return end


def _filters(filters: Mapping[str, Any] | None, more: Mapping[str, Any]) -> Fields:
    """mem0 2 wants the ids in ``filters``, mem0 1 wanted them beside it: both work here."""
    beside = {name: more[name] for name in ENTITIES if more.get(name) is not None}
    if unknown := sorted(set(more) - set(ENTITIES)):
        raise Mem0Invalid(f"{', '.join(unknown)}: no such argument")
    asked: Fields = {**(filters or {}), **beside}
    for name in ENTITIES:
        if isinstance(asked.get(name), str | int):
            asked[name] = _entity(asked[name], name)
    if not _names_someone(asked):
        raise Mem0Invalid('say whose memories: filters={"user_id": "..."}, or agent_id, or run_id')
    try:
        check(asked)
    except Invalid as error:
        raise Mem0Invalid(str(error)) from None
    return asked


def _names_someone(asked: Mapping[str, Any]) -> bool:
    if any(name in asked for name in ENTITIES):
        return True
    return any(
        isinstance(part, Mapping) and _names_someone(part)
        for group in GROUPS[:2]
        for part in asked.get(group) or ()
    )


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise Mem0Invalid(f"top_k must be a whole number from 0 on, not {value!r}")
    return min(value, LIMIT_MAX)


# What goes out


def _tag(handle: str) -> str:
    return f"{NAME}:{handle}"


def _about(record: Record) -> dict[str, Any]:
    """What mem0 keeps with a record. Whoever may write there may have written anything."""
    part = part_of(record, NAME)
    metadata, number = part.get("metadata"), part.get("number")
    part["metadata"] = dict(metadata) if isinstance(metadata, Mapping) else {}
    part["number"] = number if isinstance(number, int) else 1
    return part


def _handle(record: Record) -> str:
    told = _about(record).get("handle")
    return told if isinstance(told, str) else record.id


def _created(record: Record) -> str:
    told = _about(record).get("created_at")
    return str(told or (record.valid_from or record.learned_at).isoformat())


def _entities_of(scope: str) -> Fields:
    """Whose a scope is; of nobody, if mem0's ids cannot name its root: the user of an app or of
    an organisation is not the user of that name."""
    parts = parse_scope(scope).split(":")
    if f"{parts[0]}_id" not in ENTITIES:
        return {}
    pairs = zip(parts[::2], parts[1::2], strict=True)
    named = {f"{kind}_id": id_.replace("%3A", ":").replace("%25", "%") for kind, id_ in pairs}
    return {name: named[name] for name in ENTITIES if name in named}


def _asked_for(record: Record, asked: Mapping[str, Any]) -> bool:
    return bool(_entities_of(record.scope)) and fulfils(_fields(record), asked)


def _fields(record: Record) -> Fields:
    """What a filter may ask about."""
    about = _about(record)
    own = {name: about[name] for name in ("actor_id", "role", "expiration_date") if name in about}
    return {
        **about["metadata"],
        **own,
        **_entities_of(record.scope),
        "id": _handle(record),
        "created_at": _created(record),
        "updated_at": record.learned_at.isoformat(),
    }


def _item(record: Record, *, score: bool = False) -> dict[str, Any]:
    about = _about(record)
    item: dict[str, Any] = {
        "id": _handle(record),
        "memory": record.text,
        "hash": hashlib.md5(record.text.encode(), usedforsecurity=False).hexdigest(),
        "metadata": about["metadata"] or None,
        "created_at": _created(record),
        "updated_at": record.learned_at.isoformat(),
    }
    if score:
        item["score"] = None
    item |= _entities_of(record.scope)
    named = ("actor_id", "role", "expiration_date")
    return item | {name: about[name] for name in named if name in about}


def _scored(hit: Hit, *, explain: bool) -> dict[str, Any]:
    item = _item(hit.record) | {"score": hit.score}
    if explain:
        item["score_details"] = {
            "semantic_score": hit.similarity,
            "bm25_score": hit.keyword,
            "final_score": hit.score,
            "stages": [str(why) for why in hit.why],
        }
    return item
