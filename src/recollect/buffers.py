"""Two kinds of session that belong to recollect itself: what waits, and what is noted.

The *pending buffer* of a scope holds messages that came in between tasks. The next context of
any session there delivers them; they count as consumed when the caller confirms the packet, or
when a compaction has summarised them, and until then they are delivered again.

The *block* of a session holds short notes by role ("chief: ..."), shown beside its messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recollect.engine import Engine
from recollect.errors import Conflict, Invalid
from recollect.inputs import clean_name
from recollect.policies import Policy
from recollect.ports import Store
from recollect.profiles import Profile
from recollect.scopes import parents, root_of
from recollect.types import CursorMove, Message, Packet, Receipt, ReceiptItem, SessionKey

PENDING = "~pending"
NOTES = "~notes/"
CONSUMED = "consumed"
PENDING_ABOVE = 50
PENDING_KEPT = 10
PENDING_DELIVERED_MAX = 100
ATTEMPTS_MAX = 8


def session_name(name: object, what: str = "session") -> str:
    """A session of the caller's; names that begin with ~ are ours."""
    found = clean_name(name, what)
    if found.startswith("~"):
        raise Invalid(f"{what} {found!r}: names that begin with ~ are reserved")
    return found


def pending_key(scope: str) -> SessionKey:
    return SessionKey(scope, PENDING)


def notes_key(scope: str, session: str) -> SessionKey:
    return SessionKey(scope, NOTES + session)


def buffer_policy(session: str, profile: Profile) -> Policy | None:
    """The policy of a session of ours; None for a caller's."""
    tokens = profile.summary_tokens
    if session == PENDING:
        return Policy(
            rule="messages", above=PENDING_ABOVE, keep=PENDING_KEPT, summary_tokens=tokens
        )
    if session.startswith(NOTES):
        above = profile.block_entries_max
        return Policy(rule="messages", above=above, keep=above // 2, summary_tokens=tokens)
    return None


async def waiting(
    engine: Engine, store: Store, scopes: Iterable[str]
) -> tuple[list[Message], list[str]]:
    """Messages nobody has consumed yet, oldest first, and summaries of those compacted away:
    for each scope its own and its parents'."""
    found: list[Message] = []
    summaries: list[str] = []
    for scope in dict.fromkeys(seen for one in scopes for seen in (*parents(one), one)):
        key = pending_key(scope)
        sessions = await store.sessions(root_of(scope), (key,))
        if not sessions:
            continue
        newest = await store.summaries(key, limit=1, newest=True)
        summaries += [summary.text for summary in newest]
        after = sessions[0].cursors.get(CONSUMED, 0)
        found += await store.messages(
            key, now=engine.now(), after=after, limit=PENDING_DELIVERED_MAX
        )
    return sorted(found, key=lambda message: (message.at, message.scope, message.seq)), summaries


async def confirm(engine: Engine, packet: Packet) -> Receipt:
    """The packet was used: its pending messages need not be delivered again. How far that
    reaches is read from the store, for a packet may have come a long way."""
    by_key: dict[SessionKey, list[str]] = {}
    for message in packet.pending:
        key = SessionKey(engine.write_scope(message.scope), message.session)
        if key.id != PENDING:
            raise Invalid(f"message {message.id!r} was not pending; confirm what a packet lists")
        by_key.setdefault(key, []).append(message.id)
    items: list[ReceiptItem] = []
    for key, ids in by_key.items():
        found: set[str] = set()
        for store in engine.stores_of(root_of(key.scope)):
            here = await store.messages(key, now=engine.now(), ids=ids, limit=len(ids))
            found.update(message.id for message in here)
            if here:
                await _consume(engine, store, key, max(message.seq for message in here))
        items += [_confirmed(id_, id_ in found) for id_ in ids]
    return Receipt(items=tuple(items))


def _confirmed(id_: str, known: bool) -> ReceiptItem:
    if known:
        return ReceiptItem(id=id_, status="stored", reason="consumed")
    return ReceiptItem(id=id_, status="skipped", reason="no such message is pending")


async def _consume(engine: Engine, store: Store, key: SessionKey, seq: int) -> None:
    root = root_of(key.scope)
    for _ in range(ATTEMPTS_MAX):
        sessions = await store.sessions(root, (key,))
        move = consumed_up_to(key, sessions[0].cursors, seq) if sessions else None
        if move is None:
            return
        batch = engine.batch(root, "consume", actor="", change="", cursors=(move,))
        try:
            await engine.commit(store, batch)
            return
        except Conflict:
            continue  # another session consumed some meanwhile: look again


def consumed_up_to(key: SessionKey, cursors: object, seq: int) -> CursorMove | None:
    """The move that consumes up to ``seq``; None if that much is consumed already."""
    place = cursors.get(CONSUMED, 0) if isinstance(cursors, dict) else 0
    if place >= seq:
        return None
    return CursorMove(session=key, reader=CONSUMED, old=place, new=seq)


def note_lines(summary: str, notes: Sequence[Message]) -> str:
    """A block as text: what was compacted, then one note a line, by role."""
    lines = [summary] if summary else []
    lines += [f"{message.author or message.role}: {message.text}" for message in notes]
    return "\n".join(lines)
