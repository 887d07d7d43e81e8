"""Choosing memories by what they are or where they came from, and following what was made of
them: what forgetting erases and revoking retires.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import get_args

from standfast.changes import slices
from standfast.engine import Engine, every_message, every_record, every_session, every_summary
from standfast.errors import Invalid
from standfast.packet.buffers import NOTES
from standfast.ports import Store, breath
from standfast.scopes import is_visible, root_of
from standfast.text.inputs import When, clean_name, moment, one_of
from standfast.types import (
    Erase,
    Find,
    Listing,
    Message,
    ReceiptItem,
    Record,
    Session,
    SessionKey,
    Source,
    Status,
    Where,
)
from standfast.types.frozen import frozen

PAGE = 500
EVERY_STATUS: tuple[Status, ...] = get_args(Status)

MessageKey = tuple[SessionKey, str]


@frozen
class Selection:
    """What the caller means, before checking. Selectors narrow each other."""

    ids: Sequence[str] = ()
    session: str | None = None
    scope: str | None = None
    descend: bool = False
    author: str | None = None
    source: str | None = None
    since: When | None = None
    until: When | None = None
    sources: bool = False
    several_authors: bool = False
    dry_run: bool = False


@frozen
class Filter:
    session: str
    author: str
    source: Source | None
    since: datetime | None
    until: datetime | None

    @property
    def whole(self) -> bool:
        """Nothing but a scope or a session was named: everything there goes."""
        return not (self.author or self.source or self.since or self.until)

    def takes(self, one: Message | Record) -> bool:
        return (
            (not self.author or one.author == self.author)
            and (self.source is None or one.source == self.source)
            and (self.since is None or one.at >= self.since)
            and (self.until is None or one.at < self.until)
        )


@dataclass(slots=True, kw_only=True)
class Doomed:
    """What was chosen and what was made of it, in one store and root."""

    store: Store
    root: str
    records: dict[str, Record] = field(default_factory=dict)
    messages: dict[MessageKey, Message] = field(default_factory=dict)
    summaries: dict[str, Erase] = field(default_factory=dict)
    sessions: dict[SessionKey, Session] = field(default_factory=dict)  # whose state goes too
    survivors: dict[str, str] = field(default_factory=dict)  # id -> what it is
    chosen: frozenset[str] = frozenset()  # records that were selected, and their sources

    @property
    def empty(self) -> bool:
        return not (self.records or self.messages or self.sessions)

    @property
    def remade(self) -> list[Record]:
        """Aggregates that go only because something in them goes."""
        reached = (record for id_, record in self.records.items() if id_ not in self.chosen)
        return [record for record in reached if is_aggregate(record)]


def checked(selection: Selection, verb: str) -> Filter:
    if isinstance(selection.ids, str):
        raise Invalid(f'ids must be a list: write ["{selection.ids[:40]}"]')
    named = (selection.session, selection.scope, selection.author, selection.source)
    if not selection.ids and not any(named) and selection.since is None and selection.until is None:
        raise Invalid(f"say what to {verb}: ids, session, scope, author, source, since or until")
    since, _ = moment(selection.since, "since")
    until, _ = moment(selection.until, "until")
    return Filter(
        session=clean_name(selection.session, "session") if selection.session else "",
        author=clean_name(selection.author, "author") if selection.author else "",
        source=one_of(selection.source, Source, "source") if selection.source else None,
        since=since,
        until=until,
    )


async def select(
    engine: Engine, selection: Selection, wanted: Filter
) -> tuple[list[Doomed], list[ReceiptItem]]:
    if selection.ids and not wanted.session:
        return await _select_ids(engine, selection, wanted)
    if selection.scope is None and wanted.session:
        scope = engine.write_scope(None)
        by_root: dict[str, tuple[str, ...]] = {root_of(scope): (scope,)}
        descend = False
    else:
        by_root, descend = await engine.read_scopes(selection.scope, descend=selection.descend)
    for scopes in by_root.values():
        for scope in scopes:
            engine.write_scope(scope)  # seeing a parent's memories is not owning them
    doomed = [
        await _select_in(engine, store, root, scopes, descend, wanted)
        for root, scopes in by_root.items()
        for store in engine.stores_of(root)
    ]
    if not selection.ids:
        return doomed, []
    return _narrow_to(doomed, selection.ids)


def _narrow_to(doomed: list[Doomed], ids: Sequence[str]) -> tuple[list[Doomed], list[ReceiptItem]]:
    """With a session, ids may name its messages or records. What was made of a message is found
    without it too: whoever died while forgetting may say it again."""
    wanted = set(ids)
    for group in doomed:
        group.sessions.clear()
        group.messages = {k: m for k, m in group.messages.items() if k[1] in wanted}
        group.records = {
            k: r for k, r in group.records.items() if not wanted.isdisjoint((k, *r.lineage))
        }
    found = {k[1] for group in doomed for k in group.messages}
    found |= {id_ for group in doomed for k, r in group.records.items() for id_ in (k, *r.lineage)}
    return doomed, [not_found(id_) for id_ in ids if id_ not in found]


def not_found(id_: str) -> ReceiptItem:
    return ReceiptItem(id=id_, status="skipped", reason="there is no such record")


async def _select_ids(
    engine: Engine, selection: Selection, wanted: Filter
) -> tuple[list[Doomed], list[ReceiptItem]]:
    """What the other selectors leave out is not found: they narrow each other."""
    ids = [clean_name(id_, "an id") for id_ in selection.ids]
    by_root: dict[str, tuple[str, ...]] | None = None
    if selection.scope is not None:
        by_root, _ = await engine.read_scopes(selection.scope, descend=selection.descend)
    found = {
        id_: (record, store)
        for id_, (record, store) in (await engine.find_records(ids)).items()
        if wanted.takes(record) and _is_in(record.scope, by_root, descend=selection.descend)
    }
    groups: dict[tuple[int, str], Doomed] = {}
    for record, store in found.values():
        engine.write_scope(record.scope)
        root = root_of(record.scope)
        group = groups.setdefault((id(store), root), Doomed(store=store, root=root))
        group.records[record.id] = record
    return list(groups.values()), [not_found(id_) for id_ in ids if id_ not in found]


def _is_in(scope: str, by_root: dict[str, tuple[str, ...]] | None, *, descend: bool) -> bool:
    if by_root is None:
        return True
    return is_visible(scope, by_root.get(root_of(scope), ()), descend=descend, exact=True)


async def _select_in(
    engine: Engine,
    store: Store,
    root: str,
    scopes: tuple[str, ...],
    descend: bool,
    wanted: Filter,
) -> Doomed:
    doomed = Doomed(store=store, root=root)
    where = Where(
        scopes=scopes,
        now=engine.now(),
        descend=descend,
        exact=True,
        statuses=EVERY_STATUS,
        sources=(wanted.source,) if wanted.source else (),
        authors=(wanted.author,) if wanted.author else (),
        session=wanted.session,
        since=wanted.since,
        until=wanted.until,
    )
    async for record in every_record(store, Listing(where=where, order="id")):
        doomed.records[record.id] = record
    async for session in _sessions_in(store, root, scopes, descend, wanted.session):
        key = SessionKey(session.scope, session.id)
        if wanted.whole:
            doomed.sessions[key] = session
        async for message in every_message(store, key, engine.now()):
            if wanted.takes(message):
                doomed.messages[key, message.id] = message
    return doomed


async def _sessions_in(
    store: Store, root: str, scopes: tuple[str, ...], descend: bool, wanted: str
) -> AsyncIterator[Session]:
    if wanted and not descend:
        keys = [SessionKey(scope, id_) for scope in scopes for id_ in (wanted, NOTES + wanted)]
        for session in await store.sessions(root, keys, limit=len(keys)):
            yield session
        return
    async for session in every_session(store, root):
        inside = is_visible(session.scope, scopes, descend=descend, exact=True)
        if inside and (not wanted or session.id in (wanted, NOTES + wanted)):
            yield session


def is_aggregate(record: Record) -> bool:
    """Profiles, summaries, episodes and learned procedures: they retell many statements. What
    they were made from was said by others and about other things, so it is never followed."""
    return record.type in ("summary", "episode") or bool(record.data.get("learned"))


async def follow_derivations(
    engine: Engine, doomed: Doomed, sources: bool, *, again: bool = False
) -> None:
    """Add what was made of the chosen messages and records and, with ``sources``, what the chosen
    records were made from. Only the chosen and their own sources are followed upwards: a record
    reached downwards has other sources, which nobody asked for. ``again``: all this was done
    before; only what was made of it since is looked for."""
    if not again:
        await _add_ancestors(engine, doomed, sources)
        doomed.chosen = frozenset(doomed.records)
    await _add_descendants(engine, doomed, sources, again=again)
    for id_ in (*doomed.records, *(key[1] for key in doomed.messages)):
        doomed.survivors.pop(id_, None)
    await _add_summaries(doomed)


async def _add_ancestors(engine: Engine, doomed: Doomed, sources: bool) -> None:
    """The sources and copies of the chosen records, and with ``sources`` those of the sources."""
    followed: set[str] = set()
    while records := [r for id_, r in doomed.records.items() if id_ not in followed]:
        followed.update(record.id for record in records)
        leading = [record for record in records if not is_aggregate(record)]
        await _add_sources(engine, doomed, leading, sources)


async def _add_descendants(engine: Engine, doomed: Doomed, sources: bool, *, again: bool) -> None:
    seen_records: set[str] = set()
    seen_messages: set[MessageKey] = set()
    known = set(doomed.records) if again else set()
    while True:
        records = [r for id_, r in doomed.records.items() if id_ not in seen_records]
        messages = [k for k in doomed.messages if k not in seen_messages]
        if not records and not messages:
            return
        seen_records.update(record.id for record in records)
        seen_messages.update(messages)
        await _add_made_of(engine, doomed, records, messages)
        fresh = [record for record in records if record.id not in known]
        await _add_messages_of_turns(engine, doomed, fresh)
        if not again:
            reached = [record for record in fresh if record.id not in doomed.chosen]
            copied = [record for record in reached if not is_aggregate(record)]
            _add_upwards(engine, doomed, await _copies_of(engine, doomed, copied), sources)


def _everywhere(engine: Engine, doomed: Doomed) -> Where:
    return Where(scopes=(doomed.root,), now=engine.now(), descend=True, statuses=EVERY_STATUS)


async def _add_made_of(
    engine: Engine, doomed: Doomed, records: list[Record], messages: list[MessageKey]
) -> None:
    everywhere = _everywhere(engine, doomed)
    for ids in slices([record.id for record in records], PAGE):
        made = Find(where=everywhere, derived_from=tuple(ids), order="id")
        async for record in every_record(doomed.store, made):
            doomed.records.setdefault(record.id, record)
    by_session: dict[SessionKey, list[str]] = {}
    for key, id_ in messages:
        by_session.setdefault(key, []).append(id_)
    for key, message_ids in by_session.items():
        for ids in slices(message_ids, PAGE):
            said = Find(where=replace(everywhere, session=key.id), lineage=tuple(ids), order="id")
            async for record in every_record(doomed.store, said):
                if record.session_key == key:  # another scope may have a session of that name
                    doomed.records.setdefault(record.id, record)


async def _add_messages_of_turns(engine: Engine, doomed: Doomed, records: list[Record]) -> None:
    """A turn and its message are one thing."""
    turns = [record for record in records if record.type == "turn"]
    for key, message in (await messages_of(engine, doomed, turns)).items():
        doomed.messages.setdefault(key, message)


async def _add_sources(
    engine: Engine, doomed: Doomed, records: list[Record], erase_them: bool
) -> None:
    """What they were made from, and copies: erased if asked, else named as survivors. Those of
    others survive, and are not even named where they cannot be seen."""
    derived = [record for record in records if record.type != "turn"]
    for (key, id_), message in (await messages_of(engine, doomed, derived)).items():
        await breath()
        if erase_them and engine.may_change(key.scope):
            doomed.messages.setdefault((key, id_), message)
        elif (key, id_) not in doomed.messages and engine.may_see(key.scope):
            doomed.survivors[id_] = "message"
    _add_upwards(engine, doomed, await _made_from(engine, doomed, records), erase_them)
    _add_upwards(engine, doomed, await _copies_of(engine, doomed, records), erase_them)


def _add_upwards(engine: Engine, doomed: Doomed, found: Iterable[Record], erase_them: bool) -> None:
    for record in found:
        if erase_them and engine.may_change(record.scope):
            doomed.records.setdefault(record.id, record)
        elif record.id not in doomed.records and engine.may_see(record.scope):
            doomed.survivors[record.id] = "record"


async def messages_of(
    engine: Engine, doomed: Doomed, records: Iterable[Record]
) -> dict[MessageKey, Message]:
    """The messages that these were made from, as far as they are still there."""
    wanted: dict[SessionKey, dict[str, None]] = {}
    for record in records:
        if record.session and record.lineage:
            wanted.setdefault(record.session_key, {}).update(dict.fromkeys(record.lineage))
    found: dict[MessageKey, Message] = {}
    for key, ids in wanted.items():
        known = [id_ for id_ in ids if (key, id_) in doomed.messages]
        found |= {(key, id_): doomed.messages[key, id_] for id_ in known}
        for part in slices([id_ for id_ in ids if (key, id_) not in found], PAGE):
            page = await doomed.store.messages(key, now=engine.now(), ids=part, limit=len(part))
            found |= {(key, message.id): message for message in page}
    return found


async def _made_from(engine: Engine, doomed: Doomed, records: list[Record]) -> list[Record]:
    found: list[Record] = []
    for ids in slices(list(dict.fromkeys(id_ for r in records for id_ in r.derived_from)), PAGE):
        found += await doomed.store.records(doomed.root, ids, now=engine.now())
    return found


async def _copies_of(engine: Engine, doomed: Doomed, records: list[Record]) -> list[Record]:
    """Other records with the same origin, in whatever scope."""
    found: list[Record] = []
    everywhere = _everywhere(engine, doomed)
    for ids in slices(list(dict.fromkeys(r.origin for r in records if r.origin)), PAGE):
        copied = Find(where=everywhere, origins=tuple(ids), order="id")
        found += [record async for record in every_record(doomed.store, copied)]
    return found


async def _add_summaries(doomed: Doomed) -> None:
    """A summary that covers an erased message goes, and so do all later ones, which were built
    on it; they are made again without it."""
    first: dict[SessionKey, int] = {}
    for (key, _), message in doomed.messages.items():
        first[key] = min(message.seq, first.get(key, message.seq))
    for key, seq in first.items():
        async for summary in every_summary(doomed.store, key, after=seq - 1):
            doomed.summaries[summary.id] = Erase(
                kind="summary", id=summary.id, scope=key.scope, session=key.id
            )
