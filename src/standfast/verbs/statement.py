"""A statement: what a caller wants remembered, checked field by field, as the record it becomes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from datetime import timedelta
from difflib import get_close_matches
from typing import Any

from standfast import compat
from standfast.engine import Engine
from standfast.errors import Invalid, StandfastError
from standfast.lifecycle.status import held
from standfast.text.claim import SAID, SUBJECT
from standfast.text.compare import record_hash
from standfast.text.inputs import (
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
from standfast.text.messages import redaction_note
from standfast.text.redact import Secret
from standfast.text.safety_slots import durability_for
from standfast.text.trust import SUSPICION, suspicion, texts_in
from standfast.types import (
    KIND_OF_TYPE,
    PERSON_TRUST,
    TRUST_OF_SOURCE,
    Durability,
    Kind,
    Record,
    Source,
    Type,
)
from standfast.types.frozen import frozen
from standfast.types.own import OwnType

KEY_TAG = compat.KEY_TAG  # before the caller's own name of a record
TYPE_OF_KIND: Mapping[str, Type] = {
    "semantic": "fact",
    "episodic": "episode",
    "procedural": "procedure",
}
AGENTS_WORD = "kept as the assistant's word: an agent cannot say for others what they said"
NOT_CORE = "not core: what every packet shows is a person's choice"
# What was read in a record's text, and says nothing about a text that takes its place.
_READ_IN_IT = (
    "subject", "slot", "value", "negated", "exclusive", "entities", "how", SAID, SUBJECT,
)  # fmt: skip


@frozen
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


def statements_of(many: Iterable[str | Mapping[str, Any]], usual: Statement) -> Iterator[Statement]:
    """Each as texts or mappings say it; what one leaves open is as usual."""
    if isinstance(many, str | bytes | Mapping) or not isinstance(many, Iterable):
        raise Invalid(f"the text must be text, or a list of statements, not {type(many).__name__}")
    for name in ("supersedes", "key"):
        if getattr(usual, name) is not None:
            raise Invalid(f"{name} belongs to one statement; say it there: {{'{name}': ...}}")
    for number, one in enumerate(many, start=1):
        try:
            yield replace(usual, **({"text": one} if isinstance(one, str) else _fields_of(one)))
        except StandfastError as error:
            raise in_place(error, number) from None


def in_place(error: StandfastError, number: int) -> StandfastError:
    """The same error, saying which of many statements it is about."""
    error.args = (f"statement {number}: {error}",)
    return error


def _fields_of(one: Any) -> dict[str, Any]:
    if not isinstance(one, Mapping):
        raise Invalid(
            f"must be text or a mapping such as {{'text': ...}}, not {type(one).__name__}"
        )
    known = [field.name for field in fields(Statement)]
    for name in one:
        if name not in known:
            near = get_close_matches(str(name), known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"use {', '.join(known)}"
            raise Invalid(f"there is no field {name!r}; {hint}")
    if "text" not in one:
        raise Invalid("there is nothing to remember: it has no 'text'")
    return dict(one)


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
    own = engine.own.of_tags(beside["tags"])
    if own is not None:
        own.check(beside["data"])
    type_ = _type_of(statement, own)
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


def _type_of(statement: Statement, own: OwnType | None) -> Type:
    if own is not None and statement.type not in (None, own.like):
        raise Invalid(f"a record of type {own.name!r} is a {own.like}, not a {statement.type}")
    if own is not None:
        return own.like
    if statement.type is None:
        kind = one_of(statement.kind or "semantic", Kind, "kind")
        return TYPE_OF_KIND[kind]
    type_: Type = one_of(statement.type, Type, "type")
    if type_ == "turn":
        raise Invalid("turns come from observe(); remember() takes facts, episodes and procedures")
    return type_


def _hash_of(text: str, kind: Kind, when: str) -> str:
    """Two episodes may read the same and be two; facts may not."""
    return record_hash(f"{text}\n{when}" if kind == "episodic" and when else text)
