"""What can be said about a batch without looking into a store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from standfast.errors import Conflict, Invalid
from standfast.scopes import SYSTEM_ROOT, root_of
from standfast.types import AUDIT, MARKS, Batch, Item, Message, Record

_NEVER_CHANGES = (
    "scope",
    "kind",
    "text",
    "hash",
    "lineage",
    "derived_from",
    "session",
    "session_scope",
    "origin",
    "author",
    "learned_at",
)


def check_batch(batch: Batch) -> None:
    """Invalid unless the batch says something, about one root only."""
    if not (takes_a_number(batch) or batch.items or _is_housekeeping(batch)):
        raise Invalid("an empty batch; put something into it")
    if batch.root == SYSTEM_ROOT:
        raise Invalid(f"{SYSTEM_ROOT!r} is no tenant; the registry keeps what is the store's own")
    if root_of(batch.root) != batch.root:
        raise Invalid(f"{batch.root!r} is no root; name its first pair only")
    scopes = scopes_of(batch)
    foreign = next((scope for scope in scopes if root_of(scope) != batch.root), None)
    if foreign is not None:
        raise Invalid(f"scope {foreign!r} is not of the batch's root {batch.root!r}; split it")
    _check_texts(batch, scopes)
    if batch.vectors and not batch.space:
        raise Invalid("vectors without the name of their space; set batch.space")


def takes_a_number(batch: Batch) -> bool:
    """Is it journalled? Housekeeping and marks alone are not."""
    return bool(
        batch.messages
        or batch.sessions
        or batch.cursors
        or batch.summaries
        or batch.records
        or batch.relations
        or any(map(is_journalled, batch.items))
        or batch.vectors
        or batch.erase
    )


def is_journalled(item: Item) -> bool:
    return item.namespace not in (MARKS, AUDIT)


def _is_housekeeping(batch: Batch) -> bool:
    return bool(batch.used or batch.sweep or batch.drop_space or batch.prune)


def scopes_of(batch: Batch) -> set[str]:
    """Every scope that it names, its root excepted."""
    scopes: set[str] = set()
    for things in (
        batch.messages,
        batch.sessions,
        batch.summaries,
        batch.records,
        batch.relations,
        batch.items,
    ):
        scopes.update([thing.scope for thing in things])
    for record in batch.records:
        if record.session_scope:
            scopes.add(record.session_scope)
    scopes.update([move.session.scope for move in batch.cursors])
    scopes.update([erase.scope for erase in batch.erase if erase.scope])
    return scopes


def _check_texts(batch: Batch, scopes: Iterable[str]) -> None:
    """Invalid if a database could not give a name or a text back as it is."""
    names = [*scopes, *_names(batch)]
    if "\x00" in "".join(names):
        name = next(name for name in names if "\x00" in name)
        raise Invalid(f"a NUL character in the name {name[:80]!r}; leave it out")
    try:
        for text in ("".join(names), *_texts(batch)):
            text.encode()
    except UnicodeEncodeError as error:
        raise Invalid(f"half a surrogate pair in a text: {error.reason}") from error


def _names(batch: Batch) -> Iterator[str]:
    yield from (batch.id, batch.change, batch.space, batch.actor, batch.reason)
    for session in batch.sessions:
        yield from (session.id, session.channel)
    for message in batch.messages:
        yield from (message.id, message.session, message.author)
    for move in batch.cursors:
        yield from (move.session.id, move.reader)
    for summary in batch.summaries:
        yield from (summary.id, summary.session)
    for record in batch.records:
        yield from (record.id, record.session, record.session_scope, record.hash, record.origin)
        yield from (record.author, *record.tags)
    for item in batch.items:
        yield from (item.namespace, item.key)


def _texts(batch: Batch) -> Iterator[str]:
    yield from (record.text for record in batch.records)
    yield from (summary.text for summary in batch.summaries)
    for message in batch.messages:
        yield from (message.text, message.original)


def check_unchanged(stored: Record, new: Record) -> None:
    """Invalid if a field differs that a record keeps for life."""
    changed = [name for name in _NEVER_CHANGES if getattr(stored, name) != getattr(new, name)]
    if changed:
        raise Invalid(
            f"record {new.id!r}: {', '.join(changed)} never changes; "
            "write a new record that supersedes it"
        )


def next_seq(message: Message, last: int) -> int:
    """The number of a message behind ``last``. An import may ask for the number the message
    had; then it must lie ahead."""
    if message.seq == 0:
        return last + 1
    if message.seq <= last:
        raise Conflict(
            f"message {message.id!r} asks for number {message.seq}, but its session is at {last}",
            kind="seq",
            ids=(message.id,),
        )
    return message.seq
