"""What can be said about a batch without looking into a store."""

from __future__ import annotations

from collections.abc import Iterator

from recollect.errors import Conflict, Invalid
from recollect.scopes import SYSTEM_ROOT, root_of
from recollect.types import Batch, Message, Record

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
    if not (takes_a_number(batch) or batch.used or batch.sweep or batch.drop_space or batch.mark):
        raise Invalid("an empty batch; put something into it")
    if batch.mark is not None and batch.mark.scope != SYSTEM_ROOT:
        raise Invalid(f"a mark belongs to {SYSTEM_ROOT!r}, not to {batch.mark.scope!r}")
    if root_of(batch.root) != batch.root:
        raise Invalid(f"{batch.root!r} is no root; name its first pair only")
    foreign = next((scope for scope in scopes_of(batch) if root_of(scope) != batch.root), None)
    if foreign is not None:
        raise Invalid(f"scope {foreign!r} is not of the batch's root {batch.root!r}; split it")
    _check_texts(batch)
    if batch.vectors and not batch.space:
        raise Invalid("vectors without the name of their space; set batch.space")


def takes_a_number(batch: Batch) -> bool:
    """Is it journalled? Use counters, sweeps, dropped spaces and marks alone are not."""
    return bool(
        batch.messages
        or batch.sessions
        or batch.cursors
        or batch.summaries
        or batch.records
        or batch.relations
        or batch.items
        or batch.vectors
        or batch.erase
    )


def scopes_of(batch: Batch) -> Iterator[str]:
    for things in (
        batch.messages,
        batch.sessions,
        batch.summaries,
        batch.records,
        batch.relations,
        batch.items,
    ):
        yield from (thing.scope for thing in things)
    yield from (record.session_scope for record in batch.records if record.session_scope)
    yield from (move.session.scope for move in batch.cursors)
    yield from (erase.scope for erase in batch.erase if erase.scope)


def _check_texts(batch: Batch) -> None:
    """Invalid if a database could not give a name or a text back as it is."""
    names = list(_names(batch))
    if "\x00" in "".join(names):
        name = next(name for name in names if "\x00" in name)
        raise Invalid(f"a NUL character in the name {name[:80]!r}; leave it out")
    try:
        for text in ("".join(names), *_texts(batch)):
            text.encode()
    except UnicodeEncodeError as error:
        raise Invalid(f"half a surrogate pair in a text: {error.reason}") from error


def _names(batch: Batch) -> Iterator[str]:
    yield from (batch.id, batch.change, batch.space, *scopes_of(batch))
    yield from (session.id for session in batch.sessions)
    for message in batch.messages:
        yield from (message.id, message.session)
    for move in batch.cursors:
        yield from (move.session.id, move.reader)
    for summary in batch.summaries:
        yield from (summary.id, summary.session)
    for record in batch.records:
        yield from (record.id, record.session, record.session_scope, record.hash, record.origin)
    for item in (*batch.items, *([batch.mark] if batch.mark else ())):
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
