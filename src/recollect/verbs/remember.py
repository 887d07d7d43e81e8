"""remember: one statement into long-term memory, merged with what is there already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from recollect.changes import Change, retried
from recollect.engine import Engine
from recollect.errors import Conflict, Invalid, NotFound
from recollect.lifecycle.match import copies_of, live_equal, meet
from recollect.lifecycle.merge import (
    Outcome,
    Verdict,
    VerdictKind,
    replaced,
    settle,
    with_claim,
)
from recollect.lifecycle.status import held
from recollect.scopes import is_within, root_of
from recollect.text.claims.lessons import durability_for
from recollect.text.compare import text_hash
from recollect.text.inputs import (
    When,
    clean_data,
    clean_name,
    clean_tags,
    clean_text,
    expiry,
    one_of,
    share,
    utc_moment,
)
from recollect.text.messages import redaction_note
from recollect.text.redact import Secret
from recollect.text.trust import SUSPICION, suspicion, texts_in
from recollect.types import (
    KIND_OF_TYPE,
    LIVE,
    PERSON_TRUST,
    TRUST_OF_SOURCE,
    Durability,
    Kind,
    Listing,
    Receipt,
    Record,
    Source,
    Type,
    Where,
)

KEY_TAG = "key:"  # before the caller's own name of a record
TYPE_OF_KIND: Mapping[str, Type] = {
    "semantic": "fact",
    "episodic": "episode",
    "procedural": "procedure",
}
AGENTS_WORD = "kept as the assistant's word: an agent cannot say for others what they said"
NOT_CORE = "not core: what every packet shows is a person's choice"
LESS_TRUSTED = "who is trusted less replaces nothing"
# What was read in a record's text, and says nothing about a text that takes its place.
_READ_IN_IT = ("subject", "slot", "value", "negated", "exclusive", "entities", "how")
_JOURNALLED: Mapping[VerdictKind, str] = {
    "new": "remember",
    "outdated": "remember",
    "duplicate": "merge",
    "enriches": "merge",
    "supersedes": "supersede",
    "contradicts": "dispute",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What the caller said, before checking."""

    text: str
    scope: str | None = None
    kind: str | None = None
    type: str | None = None
    tags: Iterable[str] = ()
    importance: float | None = None
    confidence: float = 1.0
    durability: str | None = None
    valid_from: When | None = None
    valid_to: When | None = None
    expires_at: When | None = None
    source: str = "user"
    author: str = ""
    data: Mapping[str, Any] | None = None
    supersedes: str | None = None
    key: str | None = None


def corrected(old: Record, text: str, *, supersedes: str | None = None) -> Statement:
    """Another text in the place of a record's: said by whoever corrects it, for the same scope and
    the same times."""
    return Statement(
        text=text,
        scope=old.scope,
        kind=old.kind,
        type=old.type,
        tags=[tag for tag in old.tags if not tag.startswith(KEY_TAG)],
        key=next((tag.removeprefix(KEY_TAG) for tag in old.tags if tag.startswith(KEY_TAG)), None),
        importance=old.importance,
        confidence=old.confidence,
        durability=old.durability,
        valid_from=old.valid_from,
        valid_to=old.valid_to,
        expires_at=old.expires_at,
        source="user",
        author=old.author,
        data={k: v for k, v in old.data.items() if k not in (SUSPICION, *_READ_IN_IT)},
        supersedes=supersedes,
    )


async def remember(engine: Engine, statement: Statement, *, actor: str) -> Receipt:
    record, notes = record_of(statement, engine)
    record = with_claim(record)
    change = await Change.of_scope(
        engine, record.scope, "remember", authors=(record.author,), actor=actor
    )
    notes.append(await change.embed([record]))
    seen_hash = False

    async def attempt(conflict: Conflict | None) -> Outcome:
        nonlocal seen_hash
        # Somebody wrote the same or changed the neighbour: look again.
        seen_hash = seen_hash or (conflict is not None and conflict.kind == "hash")
        change.clear()
        replaces = statement.supersedes
        if statement.key is not None and replaces is None:
            replaces = await _named(change, record)
        outcome = await _met(change, record, replaces, seen_hash=seen_hash)
        change.reason = _JOURNALLED[outcome.kind]
        await change.embed()
        await change.commit()
        return outcome

    too_fast = "this memory changes faster than it can be written; try again"
    outcome = await retried(attempt, too_fast)
    reasons = [outcome.reason, "", change.why_volatile, *notes]
    if await _is_held(engine, record, outcome):
        reasons[1] = f"not recalled until approved: it {record.data[SUSPICION]}"
    status = "volatile" if change.why_volatile else outcome.status
    change.tell(outcome.id, status, "; ".join(filter(None, reasons)))
    return change.receipt()


async def _named(change: Change, record: Record) -> str | None:
    """The record of this very scope that has the same key, and says something else."""
    tag = next(tag for tag in record.tags if tag.startswith(KEY_TAG))
    where = Where(
        scopes=(record.scope,), now=change.engine.now(), exact=True, statuses=LIVE, tags=(tag,)
    )
    found = await change.store.listing(Listing(where=where, limit=1))
    return found[0].id if found and found[0].hash != record.hash else None


async def _is_held(engine: Engine, record: Record, outcome: Outcome) -> bool:
    """A doubted statement is not held back where somebody trusted has said the same."""
    if record.status != "quarantined" or outcome.id == record.id:
        return record.status == "quarantined"
    found = await engine.find_records([outcome.id])
    return any(known.status == "quarantined" for known, _ in found.values())


def record_of(statement: Statement, engine: Engine) -> tuple[Record, list[str]]:
    """Check every field; the notes say what was assumed or removed."""
    raw, repaired = clean_text(statement.text, "the text")
    redacted = engine.redactor.redact(raw)
    if not redacted.text.strip():
        raise Invalid("there is nothing to remember: the text is empty")
    if not isinstance(statement.data or {}, Mapping):
        raise Invalid(f"data must be a mapping, not {type(statement.data).__name__}")
    beside: dict[str, Any] = {
        "data": clean_data(statement.data or {}, "data"),
        "tags": clean_tags(statement.tags),
    }
    if statement.key is not None:
        beside["tags"] += (KEY_TAG + clean_name(statement.key, "key"),)
    found: tuple[Secret, ...] = ()
    if any(beside.values()):
        beside, found = engine.redactor.redact_value({**beside, "tags": list(beside["tags"])})
    type_ = _type_of(statement)
    kind: Kind = one_of(statement.kind or KIND_OF_TYPE[type_], Kind, "kind")
    claimed: Source = one_of(statement.source, Source, "source")
    source = engine.source_of(claimed)
    trust = min(TRUST_OF_SOURCE[source], engine.trust_max)
    valid_from, note_from = utc_moment(statement.valid_from, "valid_from")
    valid_to, note_to = utc_moment(statement.valid_to, "valid_to")
    expires_at, note_until = expiry(statement.expires_at, engine.now())
    if valid_from and valid_to and valid_to <= valid_from:
        raise Invalid(f"valid_to {valid_to} is not after valid_from {valid_from}")
    wanted = statement.durability or durability_for(
        redacted.text, kind, trust, engine.profile.durability_of_type[type_]
    )
    durability: Durability = one_of(wanted, Durability, "durability")
    if type_ == "episode" and expires_at is None and engine.profile.episode_ttl_seconds:
        expires_at = engine.now() + timedelta(seconds=engine.profile.episode_ttl_seconds)
    id_ = engine.new_id()
    record = Record(
        id=id_,
        scope=engine.write_scope(statement.scope),
        kind=kind,
        type=type_,
        text=redacted.text,
        learned_at=engine.now(),
        data=beside["data"],
        tags=tuple(sorted(beside["tags"])),
        importance=0.5
        if statement.importance is None
        else share(statement.importance, "importance"),
        confidence=share(statement.confidence, "confidence"),
        durability=engine.durability_of(durability),
        source=source,
        trust=trust,
        author=clean_name(statement.author, "author") if statement.author else "",
        origin=id_,
        valid_from=valid_from,
        valid_to=valid_to,
        expires_at=expires_at,
        hash=_hash_of(redacted.text, kind, valid_from.isoformat() if valid_from else ""),
    )
    said = [
        repaired,
        redaction_note([*redacted.found, *found]),
        note_from or note_to or note_until,
        AGENTS_WORD if source != claimed else "",
        NOT_CORE if statement.durability == "core" and record.durability != "core" else "",
    ]
    return held(record, doubt_of(record)), [note for note in said if note]


def doubt_of(record: Record) -> str:
    """Why a statement must wait for approval; what a person says need not."""
    if record.trust >= PERSON_TRUST:
        return ""
    return suspicion("\n".join((record.text, *record.tags, *texts_in(record.data))))


def _type_of(statement: Statement) -> Type:
    if statement.type is None:
        kind = one_of(statement.kind or "semantic", Kind, "kind")
        return TYPE_OF_KIND[kind]
    type_: Type = one_of(statement.type, Type, "type")
    if type_ == "turn":
        raise Invalid("turns come from observe(); remember() takes facts, episodes and procedures")
    return type_


def _hash_of(text: str, kind: Kind, when: str) -> str:
    """Two episodes may read the same and be two; facts may not."""
    return text_hash(f"{text}\n{when}") if kind == "episodic" and when else text_hash(text)


async def _met(
    change: Change, record: Record, supersedes: str | None, *, seen_hash: bool
) -> Outcome:
    """What becomes of the record among those that are known; the change takes it in."""
    old = await _replaceable(change, supersedes) if supersedes is not None else None
    if old is not None and record.status != "quarantined" and _reach(change, record) >= old.trust:
        return await _superseding(change, record, old)
    if old is not None and record.status != "quarantined":
        return await _disputing(change, record, old)
    outcome = await meet(
        change.engine,
        change.store,
        record,
        change.vector_of(record),
        change.space,
        seen_hash=seen_hash,
    )
    change.put(*outcome.records)
    change.draw(*outcome.relations)
    return outcome


def _reach(change: Change, record: Record) -> int:
    """How trusted that may be which it replaces. A line that a person edited in a file is that
    person's word about what stood there."""
    own_hand = record.source == "file" and change.engine.trust_max >= PERSON_TRUST
    return max(record.trust, PERSON_TRUST) if own_hand else record.trust


async def _superseding(change: Change, record: Record, old: Record) -> Outcome:
    """What the caller says outright needs no judging. Unlike a change that was noticed, it does
    not begin now unless it says so: without ``valid_from`` the old one was never true."""
    engine, store = change.engine, change.store
    equal = await live_equal(store, record.scope, record.hash, engine.now())
    new = record if equal is None or equal.id == old.id else equal
    alike = await copies_of(engine, store, record, [old])
    olds = [one for one in (old, *alike) if one.id != new.id]
    # What is above can be seen, not changed: there the edge alone hides it.
    ours = [
        one
        for one in olds
        if engine.may_change(one.scope)
        and is_within(one.scope, record.scope)
        and one.trust <= _reach(change, record)
    ]
    change.put(*replaced(ours, record, now=engine.now(), new_id=engine.new_id))
    if new is record:
        change.put(record)
    await change.link_again(new.id, "supersedes", [one.id for one in olds], scope=record.scope)
    return Outcome(
        kind="supersedes",
        status="stored" if new is record else "merged",
        id=new.id,
        reason=f"supersedes {old.id}",
    )


async def _disputing(change: Change, record: Record, old: Record) -> Outcome:
    """Both stay, for a person to decide; what says the same already is left as it is."""
    engine, store = change.engine, change.store
    if equal := await live_equal(store, record.scope, record.hash, engine.now()):
        return Outcome(kind="duplicate", status="merged", id=equal.id, reason=LESS_TRUSTED)
    verdict = Verdict(kind="contradicts", targets=(old,), reason=LESS_TRUSTED)
    outcome = settle(record, verdict, now=engine.now(), new_id=engine.new_id)
    change.put(*outcome.records)
    change.draw(*outcome.relations)
    return outcome


async def _replaceable(change: Change, old_id: str) -> Record:
    found = await change.engine.find_records([old_id])
    old, store = found.get(old_id, (None, change.store))
    if old is None or store is not change.store or root_of(old.scope) != change.root:
        raise NotFound(f"there is no record {old_id!r} to supersede")
    if old.type == "turn" or old.status == "superseded":
        raise Invalid(
            f"record {old_id!r} is a {old.type} with status {old.status}: not replaceable"
        )
    return old
