"""Two kinds of session that belong to standfast itself: what waits, and what is noted.

The *pending buffer* of a scope holds messages that came in between tasks. The next context of
any session there delivers them; they count as consumed when the caller confirms the packet, or
when a compaction has summarised them, and until then they are delivered again.

The *block* of a session holds short notes by role ("chief: ..."), shown beside its messages.
"""

from __future__ import annotations

from collections.abc import Sequence

from standfast import compat
from standfast.errors import Invalid
from standfast.packet.policy import Policy
from standfast.profiles import Profile
from standfast.text.inputs import clean_name
from standfast.types import CursorMove, Message, SessionKey

PENDING = compat.PENDING_SESSION
NOTES = compat.NOTES_SESSIONS
CONSUMED = compat.CONSUMED
LEARNER = "extract"  # the reader that stands where learning is; here, so that a log needs no more
NOTE_LINE = "- note: "  # how a summary without a model begins the line of a note
PENDING_ABOVE = 50
PENDING_KEPT = 10


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


def consumed_up_to(key: SessionKey, cursors: object, seq: int) -> CursorMove | None:
    """The move that consumes up to ``seq``; None if that much is consumed already."""
    place = cursors.get(CONSUMED, 0) if isinstance(cursors, dict) else 0
    if place >= seq:
        return None
    return CursorMove(session=key, reader=CONSUMED, old=place, new=seq)


def _compacted(summary: str) -> list[str]:
    """Older notes of one role, one behind the other, on one line."""
    lines: list[str] = []
    role = ""
    for line in summary.split("\n"):
        who, colon, said = line.removeprefix(NOTE_LINE).partition(": ")
        noted = line.startswith(NOTE_LINE) and bool(colon)
        if noted and lines and who == role:
            lines[-1] += f"; {said}"
        else:
            lines.append(f"{who}{colon}{said}")
        role = who if noted else ""
    return lines


def note_lines(summary: str, notes: Sequence[Message]) -> str:
    """A block as text: what was compacted, then one note a line, by role."""
    lines = _compacted(summary) if summary else []
    lines += [f"{message.author or message.role}: {message.text}" for message in notes]
    return "\n".join(lines)
