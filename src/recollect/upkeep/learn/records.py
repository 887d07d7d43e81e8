"""From a candidate to the record it would be, and the scopes it goes to. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from recollect.errors import Invalid
from recollect.ports import NewId
from recollect.profiles import Profile
from recollect.scopes import make_scope
from recollect.text.claims.lessons import CHANGE, CHANGED_BY, Lesson, claim_as_data
from recollect.text.compare import text_hash
from recollect.text.trust import SUSPICION, derived_trust, suspicion
from recollect.types import (
    KIND_OF_TYPE,
    TRUST_OF_SOURCE,
    Durability,
    Message,
    Record,
    SessionKey,
)
from recollect.upkeep.learn.values import LearnCandidate

LEARNED = "learning"  # where a turn's ``data`` says what became of it


def record_of(
    candidate: LearnCandidate,
    messages: Sequence[Message],
    known: Sequence[Record],
    *,
    key: SessionKey,
    profile: Profile,
    now: datetime,
    new_id: NewId,
) -> Record:
    """The record of a candidate in its session's scope. It is believed no more than the least
    of the ``messages`` and ``known`` records it was made from, whatever anybody says."""
    lesson = candidate.lesson
    trust = derived_trust([one.trust for one in messages] + [one.trust for one in known])
    least = min(messages, key=lambda message: message.trust)
    people = [message for message in messages if message.role == "user"] or list(messages)
    kind = KIND_OF_TYPE[lesson.type]
    since = _since(lesson, messages[-1])
    doubt = suspicion(lesson.text) if trust < TRUST_OF_SOURCE["user"] else ""
    id_ = new_id()
    return Record(
        id=id_,
        scope=key.scope,
        kind=kind,
        type=lesson.type,
        text=lesson.text,
        learned_at=now,
        data=_data_of(candidate, doubt),
        tags=tuple(sorted(lesson.tags)),
        importance=lesson.importance,
        confidence=lesson.confidence,
        durability=_durability(lesson.durability, trust) or profile.durability_of_type[lesson.type],
        status="quarantined" if doubt else "active",
        source=least.source,
        trust=trust,
        author=people[0].author,
        origin=id_,
        session=key.id,
        lineage=lesson.messages,
        derived_from=candidate.leans_on,
        valid_from=since,
        valid_to=lesson.valid_to,
        expires_at=_expiry(messages),
        hash=text_hash(f"{lesson.text}\n{since}" if kind == "episodic" else lesson.text),
    )


def _since(lesson: Lesson, message: Message) -> datetime | None:
    """By itself a fact holds since it was said; of one that is over nobody knows since when."""
    said = message.at.astimezone(UTC)
    over = lesson.valid_to is not None and lesson.valid_to <= said
    return lesson.valid_from or (None if over else said)


def _data_of(candidate: LearnCandidate, doubt: str) -> Mapping[str, Any]:
    lesson = candidate.lesson
    data: dict[str, Any] = {"how": candidate.how}
    if lesson.claim is not None:
        data |= claim_as_data(lesson.claim)
    if lesson.entities:
        data["entities"] = list(lesson.entities)
    if lesson.changed_by is not None:
        data[CHANGED_BY] = lesson.changed_by.astimezone(UTC).isoformat()
    if lesson.change:
        data[CHANGE] = lesson.change
    if doubt:
        data[SUSPICION] = doubt
    return data


def _durability(wanted: Durability | None, trust: int) -> Durability | None:
    """What is in every context must have been said by a person."""
    return "standard" if wanted == "core" and trust < TRUST_OF_SOURCE["user"] else wanted


def _expiry(messages: Sequence[Message]) -> datetime | None:
    """What was said for a time is known for that time. Pending messages only wait that long."""
    ends = [one.expires_at for one in messages if one.expires_at and not one.pending]
    return min(ends, default=None)


def in_scope(record: Record, scope: str, key: SessionKey) -> Record:
    """A copy for another scope says where its session is."""
    return replace(record, scope=scope, session_scope=key.scope if scope != key.scope else "")


def scopes_of(key: SessionKey, messages: Sequence[Message], *, for_agents: bool) -> list[str]:
    """Where the facts of a session go, the widest scope first. With ``for_agents`` those of an
    agent of an organisation go to the organisation too, and those of the organisation to the
    agents that spoke."""
    parts = key.scope.split(":")
    if not for_agents or parts[0] != "org" or len(parts) not in (2, 4):
        return [key.scope]
    organisation = ":".join(parts[:2])
    if len(parts) == 4:
        return [organisation, key.scope] if parts[2] == "agent" else [key.scope]
    spoke = [one.author for one in messages if one.role == "assistant" and one.author]
    agents = [_agent_scope(parts[1], name) for name in dict.fromkeys(spoke)]
    return [organisation, *(scope for scope in agents if scope)]


def _agent_scope(organisation: str, name: str) -> str:
    """ "" if that name can be no scope."""
    plain = organisation.replace("%3A", ":").replace("%25", "%")
    try:
        return make_scope(("org", plain), ("agent", name))
    except Invalid:
        return ""
