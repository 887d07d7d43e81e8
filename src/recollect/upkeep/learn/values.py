"""What the steps of learning hand to one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from recollect.ports import Store
from recollect.text.claims.lessons import Lesson
from recollect.types import Message, RelationKind, Session, SessionKey

How = Literal["rules", "model"]
Lane = Literal["post-chat-memory", "regular-chat-memory-digest"]

OPTED_OUT = "its author opted out of persistence"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """Messages of one session that are learned from together: one model answer, one commit.
    Memories that recollect rendered, and messages that are doubted, are out of the texts already;
    ``unheard`` says by message id why."""

    store: Store
    session: Session
    messages: Sequence[Message]
    earlier: Sequence[Message]  # what was said before: context only
    up_to: int  # where the reader stands afterwards
    lane: Lane
    unheard: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> SessionKey:
        return SessionKey(self.session.scope, self.session.id)

    @property
    def closes(self) -> bool:
        """Is this the end of a session that is over?"""
        return self.session.ended_at is not None and self.up_to >= self.session.last_seq


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnCandidate:
    """A lesson before it meets what is known. ``leans_on`` are known records whose words it
    uses beside those of its messages; ``links`` point at other candidates of the same answer."""

    lesson: Lesson
    how: How
    leans_on: tuple[str, ...] = ()
    links: tuple[tuple[RelationKind, int], ...] = ()
    note: str = ""  # what was dropped of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """What some turns taught. ``skipped`` says by message why it taught nothing; ``refused``
    are facts of a model that do not hold, by the message they were said to come from."""

    candidates: tuple[LearnCandidate, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)
    refused: tuple[tuple[str, str], ...] = ()
    episode: str = ""
