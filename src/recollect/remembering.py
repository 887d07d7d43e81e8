"""remember: one statement into long-term memory, merged with what is there already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from recollect.duplicates import difference, text_hash
from recollect.engine import ATTEMPTS_MAX, Engine
from recollect.errors import Conflict, Invalid, NotFound, Unavailable
from recollect.inputs import (
    When,
    clean_name,
    clean_tags,
    clean_text,
    clean_value,
    one_of,
    share,
    utc_moment,
)
from recollect.messages import redaction_note
from recollect.ports import Store
from recollect.redaction import Finding
from recollect.scopes import root_of
from recollect.types import (
    KIND_OF_TYPE,
    LIVE,
    TRUST_OF_SOURCE,
    Durability,
    ItemStatus,
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
from recollect.vectors import says_nothing

TYPE_OF_KIND: Mapping[str, Type] = {
    "semantic": "fact",
    "episodic": "episode",
    "procedural": "procedure",
}
STRENGTH: tuple[Durability, ...] = ("ephemeral", "standard", "core")
NEIGHBOURS = 8


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
class Place:
    """Where a statement goes, and what makes it findable by meaning."""

    store: Store
    volatile: bool
    vectors: Mapping[str, Vector]
    space: str
    actor: str
    change: str


async def remember(engine: Engine, statement: Statement, *, actor: str) -> Receipt:
    record, notes = record_of(statement, engine)
    place, note = await _place(engine, record, actor)
    notes += [note] if note else []
    seen_hash = False
    for _ in range(ATTEMPTS_MAX):
        try:
            status, id_, reason = await _write(
                engine, record, place, statement.supersedes, seen_hash=seen_hash
            )
            break
        except Conflict as conflict:
            # Somebody wrote the same or changed the neighbour: look again.
            seen_hash = seen_hash or conflict.kind == "hash"
    else:
        raise Unavailable("this memory changes faster than it can be written; try again")
    reasons = [reason] if reason else []
    if place.volatile:
        status = "volatile"
        reasons.append("kept in this process only: opted out of persistence")
    return Receipt(
        items=(ReceiptItem(id=id_, status=status, reason="; ".join([*reasons, *notes])),),
        change=place.change,
        usage=Usage(texts_embedded=len(place.vectors)),
    )


def record_of(statement: Statement, engine: Engine) -> tuple[Record, list[str]]:
    """Check every field; the notes say what was assumed or removed."""
    raw, repaired = clean_text(statement.text, "the text")
    redacted = engine.redactor.redact(raw)
    if not redacted.text.strip():
        raise Invalid("there is nothing to remember: the text is empty")
    beside = {"data": clean_value(statement.data or {}, "data"), "tags": clean_tags(statement.tags)}
    found: tuple[Finding, ...] = ()
    if any(beside.values()):
        beside, found = engine.redactor.redact_value({**beside, "tags": list(beside["tags"])})
    type_ = _type_of(statement)
    kind: Kind = one_of(statement.kind or KIND_OF_TYPE[type_], Kind, "kind")
    source: Source = one_of(statement.source, Source, "source")
    valid_from, note_from = utc_moment(statement.valid_from, "valid_from")
    valid_to, note_to = utc_moment(statement.valid_to, "valid_to")
    expires_at, note_until = utc_moment(statement.expires_at, "expires_at")
    if valid_from and valid_to and valid_to <= valid_from:
        raise Invalid(f"valid_to {valid_to} is not after valid_from {valid_from}")
    durability = statement.durability or engine.profile.durability_of_type[type_]
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
        durability=one_of(durability, Durability, "durability"),
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


async def _place(engine: Engine, record: Record, actor: str) -> tuple[Place, str]:
    persists = await engine.persists(record.scope, (record.author,))
    if not persists:
        engine.volatile_roots.add(root_of(record.scope))
    vectors, space, note = await engine.embed_for_writing([record])
    place = Place(
        store=engine.store if persists else engine.volatile,
        volatile=not persists,
        vectors=vectors,
        space=space,
        actor=actor,
        change=engine.new_id(),
    )
    return place, note


async def _write(
    engine: Engine, record: Record, place: Place, supersedes: str | None, *, seen_hash: bool
) -> tuple[ItemStatus, str, str]:
    if supersedes is not None:
        return await _supersede(engine, record, place, supersedes)
    query = _equal_or_near(engine, record, place)
    if seen_hash:  # the store holds this very text, though no vector led to it
        query = replace(query, vector=None, hashes=(record.hash,))
    for hit in await place.store.search(query):
        known = hit.record
        reason = _sameness(record, known, hit.similarity, engine.profile.duplicate_above)
        if not reason:
            continue
        if known.scope == record.scope:
            await _merge(engine, known, record, place)
            return "merged", known.id, reason
        record = replace(record, origin=known.origin or known.id)
    await _commit(engine, place, "remember", [record], scope=record.scope, vectors=place.vectors)
    if record.origin != record.id:
        return "stored", record.id, "a copy of it is visible from here already"
    return "stored", record.id, ""


def _equal_or_near(engine: Engine, record: Record, place: Place) -> Query:
    """An equal text is also the nearest one, so with a vector one look finds both."""
    query = Query(scopes=(record.scope,), now=engine.now(), statuses=LIVE, limit=NEIGHBOURS)
    vector = place.vectors.get(record.id)
    if record.kind == "episodic" or vector is None or says_nothing(vector):
        return replace(query, hashes=(record.hash,))
    above = engine.profile.duplicate_above
    return replace(query, vector=vector, space=place.space, similar_above=above)


def _sameness(record: Record, known: Record, similarity: float | None, above: float) -> str:
    """Why both say the same; "" if they do not. Cosine alone never decides: a number, a name
    or a "not" makes two statements of two alike sentences."""
    if known.type == "turn" or (known.kind != record.kind and known.hash != record.hash):
        return ""
    if known.hash == record.hash:
        return "the same text is known"
    if similarity is None or similarity <= above or difference(known.text, record.text):
        return ""
    if (known.valid_from, known.valid_to) != (record.valid_from, record.valid_to):
        return ""
    return f"says the same as a known one (cosine {similarity:.2f})"


async def _merge(engine: Engine, known: Record, record: Record, place: Place) -> None:
    """What was said again adds its tags and weight; the text stays as it was first said. A
    held-back record that somebody more trusted says too is held back no longer."""
    confirmed = known.status == "quarantined" and record.trust > known.trust
    merged = replace(
        known,
        status="active" if confirmed else known.status,
        tags=tuple(sorted({*known.tags, *record.tags})),
        importance=max(known.importance, record.importance),
        confidence=max(known.confidence, record.confidence),
        durability=max(known.durability, record.durability, key=STRENGTH.index),
        trust=max(known.trust, record.trust),
        valid_from=known.valid_from or record.valid_from,
        valid_to=known.valid_to or record.valid_to,
        expires_at=known.expires_at
        and record.expires_at
        and max(known.expires_at, record.expires_at),
    )
    if merged != known:
        await _commit(engine, place, "merge", [merged], scope=known.scope, vectors={})


async def _supersede(
    engine: Engine, record: Record, place: Place, old_id: str
) -> tuple[ItemStatus, str, str]:
    """The new record replaces the old one. If the new one says since when it is true, the old
    one was true until then: a closed copy keeps that, so ``as_of`` an earlier day still finds
    it, while ``known_at`` an earlier day finds what we believed then."""
    old = await _replaceable(engine, record, place, old_id)
    now = engine.now()
    written = [replace(old, status="superseded", retired_at=now)]
    vectors = dict(place.vectors)
    if record.valid_from and (old.valid_from is None or old.valid_from < record.valid_from):
        closed = replace(
            old,
            id=engine.new_id(),
            status="superseded",
            valid_to=record.valid_from,
            learned_at=now,
            derived_from=(old.id,),
            uses=0,
            used_at=None,
            version=0,
        )
        written.append(closed)
        again, space, _ = await engine.embed_for_writing([closed])
        vectors |= again if space == place.space else {}
    equal = await _live_equal(engine, record, place)
    new_id = record.id if equal is None or equal.id == old.id else equal.id
    if new_id == record.id:
        written.append(record)
    else:
        vectors.pop(record.id, None)
    edge = Relation(
        scope=record.scope, source=new_id, target=old.id, kind="supersedes", learned_at=now
    )
    await _commit(
        engine, place, "supersede", written, vectors=vectors, relations=(edge,), scope=record.scope
    )
    return "stored" if new_id == record.id else "merged", new_id, f"supersedes {old.id}"


async def _replaceable(engine: Engine, record: Record, place: Place, old_id: str) -> Record:
    found = await engine.find_records([old_id])
    old, store = found.get(old_id, (None, place.store))
    if old is None or store is not place.store or root_of(old.scope) != root_of(record.scope):
        raise NotFound(f"there is no record {old_id!r} to supersede")
    if old.type == "turn" or old.status == "superseded":
        raise Invalid(
            f"record {old_id!r} is a {old.type} with status {old.status}: not replaceable"
        )
    return old


async def _live_equal(engine: Engine, record: Record, place: Place) -> Record | None:
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


async def _commit(
    engine: Engine,
    place: Place,
    reason: str,
    records: Sequence[Record],
    *,
    scope: str,
    vectors: Mapping[str, Vector],
    relations: tuple[Relation, ...] = (),
) -> None:
    batch = engine.batch(
        root_of(scope),
        reason,
        actor=place.actor,
        change=place.change,
        records=tuple(records),
        relations=relations,
        vectors=vectors,
        space=place.space if vectors else "",
    )
    await engine.commit(place.store, batch)
