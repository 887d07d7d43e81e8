"""remember: one statement into long-term memory, merged with what is there already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from recollect.engine import ATTEMPTS_MAX, Engine
from recollect.errors import Conflict, Invalid, NotFound, Unavailable
from recollect.lifecycle.match import copies_of, meet
from recollect.lifecycle.merge import Outcome, VerdictKind, replaced, with_claim
from recollect.ports import Store
from recollect.scopes import root_of
from recollect.text.compare import text_hash
from recollect.text.inputs import (
    When,
    clean_name,
    clean_tags,
    clean_text,
    clean_value,
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
    TRUST_OF_SOURCE,
    Durability,
    Kind,
    Query,
    Receipt,
    ReceiptItem,
    Record,
    Relation,
    Source,
    Type,
    Usage,
    Vector,
)

TYPE_OF_KIND: Mapping[str, Type] = {
    "semantic": "fact",
    "episodic": "episode",
    "procedural": "procedure",
}
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberPlace:
    """Where a statement goes, and what makes it findable by meaning."""

    store: Store
    volatile: bool
    vectors: Mapping[str, Vector]
    space: str
    actor: str
    change: str


async def remember(engine: Engine, statement: Statement, *, actor: str) -> Receipt:
    record, notes = record_of(statement, engine)
    record = with_claim(record)
    place, note = await _place(engine, record, actor)
    notes += [note] if note else []
    seen_hash = False
    for _ in range(ATTEMPTS_MAX):
        try:
            outcome = await _write(engine, record, place, statement.supersedes, seen_hash=seen_hash)
            break
        except Conflict as conflict:
            # Somebody wrote the same or changed the neighbour: look again.
            seen_hash = seen_hash or conflict.kind == "hash"
    else:
        raise Unavailable("this memory changes faster than it can be written; try again")
    status = outcome.status
    reasons = [outcome.reason] if outcome.reason else []
    if await _is_held(engine, record, outcome):
        reasons.append(f"not recalled until approved: it {record.data[SUSPICION]}")
    if place.volatile:
        status = "volatile"
        reasons.append("kept in this process only: opted out of persistence")
    return Receipt(
        items=(ReceiptItem(id=outcome.id, status=status, reason="; ".join([*reasons, *notes])),),
        change=place.change,
        usage=Usage(texts_embedded=len(place.vectors)),
    )


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
    beside = {"data": clean_value(statement.data or {}, "data"), "tags": clean_tags(statement.tags)}
    found: tuple[Secret, ...] = ()
    if any(beside.values()):
        beside, found = engine.redactor.redact_value({**beside, "tags": list(beside["tags"])})
    type_ = _type_of(statement)
    kind: Kind = one_of(statement.kind or KIND_OF_TYPE[type_], Kind, "kind")
    source: Source = one_of(statement.source, Source, "source")
    valid_from, note_from = utc_moment(statement.valid_from, "valid_from")
    valid_to, note_to = utc_moment(statement.valid_to, "valid_to")
    expires_at, note_until = expiry(statement.expires_at, engine.now())
    if valid_from and valid_to and valid_to <= valid_from:
        raise Invalid(f"valid_to {valid_to} is not after valid_from {valid_from}")
    durability = statement.durability or engine.profile.durability_of_type[type_]
    doubt = _doubt(redacted.text, beside["data"], source)
    id_ = engine.new_id()
    record = Record(
        id=id_,
        scope=engine.write_scope(statement.scope),
        kind=kind,
        type=type_,
        text=redacted.text,
        learned_at=engine.now(),
        data={**beside["data"], SUSPICION: doubt} if doubt else beside["data"],
        tags=tuple(sorted(beside["tags"])),
        importance=0.5
        if statement.importance is None
        else share(statement.importance, "importance"),
        confidence=share(statement.confidence, "confidence"),
        durability=one_of(durability, Durability, "durability"),
        status="quarantined" if doubt else "active",
        source=source,
        trust=TRUST_OF_SOURCE[source],
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
    ]
    return record, [note for note in said if note]


def _doubt(text: str, data: Mapping[str, Any], source: Source) -> str:
    """Why a statement must wait for approval; what the user says need not."""
    if TRUST_OF_SOURCE[source] >= TRUST_OF_SOURCE["user"]:
        return ""
    return suspicion("\n".join((text, *texts_in(data))))


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


async def _place(engine: Engine, record: Record, actor: str) -> tuple[RememberPlace, str]:
    persists = await engine.persists(record.scope, (record.author,))
    if not persists:
        engine.volatile_roots.add(root_of(record.scope))
    vectors, space, note = await engine.embed_for_writing([record])
    place = RememberPlace(
        store=engine.store if persists else engine.volatile,
        volatile=not persists,
        vectors=vectors,
        space=space,
        actor=actor,
        change=engine.new_id(),
    )
    return place, note


async def _write(
    engine: Engine, record: Record, place: RememberPlace, supersedes: str | None, *, seen_hash: bool
) -> Outcome:
    if supersedes is not None:
        await _replaceable(engine, record, place, supersedes)
    if supersedes is None or record.status == "quarantined":
        vector = place.vectors.get(record.id)
        outcome = await meet(engine, place.store, record, vector, place.space, seen_hash=seen_hash)
    else:
        outcome = await _superseding(engine, record, place, supersedes)
    if outcome.records:
        await _commit(engine, record, place, outcome)
    return outcome


async def _superseding(
    engine: Engine, record: Record, place: RememberPlace, old_id: str
) -> Outcome:
    """What the caller says outright needs no judging. Unlike a change that was noticed, it does
    not begin now unless it says so: without ``valid_from`` the old one was never true."""
    old = await _replaceable(engine, record, place, old_id)
    equal = await _live_equal(engine, record, place)
    new = record if equal is None or equal.id == old.id else equal
    alike = await copies_of(engine, place.store, record, [old])
    olds = [one for one in (old, *alike) if one.id != new.id]
    # What is above can be seen, not changed: there the edge alone hides it.
    ours = [one for one in olds if engine.may_change(one.scope)]
    written = replaced(ours, record, now=engine.now(), new_id=engine.new_id)
    edges = {edge.target: edge for edge in await _edges_from(new, place)}
    return Outcome(
        kind="supersedes",
        status="stored" if new is record else "merged",
        id=new.id,
        reason=f"supersedes {old.id}",
        records=(*written, record) if new is record else written,
        relations=tuple(
            Relation(
                scope=record.scope,
                source=new.id,
                target=one.id,
                kind="supersedes",
                learned_at=engine.now(),
                version=edges[one.id].version if one.id in edges else 0,
            )
            for one in olds
        ),
    )


async def _edges_from(new: Record, place: RememberPlace) -> list[Relation]:
    """A record that was replaced, brought back by undo and is replaced again has its edge."""
    if new.version == 0:
        return []
    edges = await place.store.relations(root_of(new.scope), (new.id,))
    return [edge for edge in edges if (edge.source, edge.kind) == (new.id, "supersedes")]


async def _replaceable(engine: Engine, record: Record, place: RememberPlace, old_id: str) -> Record:
    found = await engine.find_records([old_id])
    old, store = found.get(old_id, (None, place.store))
    if old is None or store is not place.store or root_of(old.scope) != root_of(record.scope):
        raise NotFound(f"there is no record {old_id!r} to supersede")
    if old.type == "turn" or old.status == "superseded":
        raise Invalid(
            f"record {old_id!r} is a {old.type} with status {old.status}: not replaceable"
        )
    return old


async def _live_equal(engine: Engine, record: Record, place: RememberPlace) -> Record | None:
    query = Query(
        scopes=(record.scope,),
        now=engine.now(),
        exact=True,
        statuses=LIVE,
        hashes=(record.hash,),
        limit=1,
    )
    hits = await place.store.search(query)
    return hits[0].record if hits else None


async def _commit(engine: Engine, record: Record, place: RememberPlace, outcome: Outcome) -> None:
    """All of it or nothing. Closed copies have a text of their own to embed."""
    again, space, _ = await engine.embed_for_writing(
        [one for one in outcome.unembedded if one.id != record.id]
    )
    vectors = {one.id: place.vectors.get(one.id) for one in outcome.unembedded}
    found = {id_: vector for id_, vector in vectors.items() if vector is not None}
    found |= again if space == place.space else {}
    batch = engine.batch(
        root_of(record.scope),
        _JOURNALLED[outcome.kind],
        actor=place.actor,
        change=place.change,
        records=outcome.records,
        relations=outcome.relations,
        vectors=found,
        space=place.space if found else "",
    )
    await engine.commit(place.store, batch)
