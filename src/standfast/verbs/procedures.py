"""Procedures: named, ordered steps, when to take them, and how often they worked.

A procedure is a record of kind procedural. Its name is unique in its scope: saving it again
makes a new version that supersedes the old one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from standfast.changes import Change, retried
from standfast.engine import Engine
from standfast.errors import Conflict, Denied, Invalid, NotFound
from standfast.lifecycle.procedures import (
    counted_data,
    name_hash,
    named,
    phrases_in,
    procedure_data,
    tally,
    version_of,
)
from standfast.lifecycle.status import held, superseded
from standfast.ports import Store
from standfast.scopes import parents, root_of, visible_from
from standfast.text.analysis import terms
from standfast.text.compare import text_hash
from standfast.text.inputs import clean_name, clean_tags, clean_text, count
from standfast.text.messages import redaction_note
from standfast.text.trust import SUSPICION
from standfast.types import LIVE, Answer, Hit, ItemStatus, Listing, Receipt, Record, Where, Why
from standfast.types.frozen import frozen
from standfast.verbs.recall import Question, recall
from standfast.verbs.statement import doubt_of

STEPS_MAX = 50
STEP_CHARACTERS_MAX = 2000
TRIGGERS_MAX = 20
TRIGGER_CHARACTERS_MAX = 200
NAME_CHARACTERS_MAX = 120
NOTE_CHARACTERS_MAX = 500
LISTED_MAX = 200
TRUST_MIN = 1  # what anybody may have written is never offered as a way to act


@frozen
class Saved:
    """What the caller wants kept, checked and without secrets."""

    name: str
    steps: tuple[str, ...]
    triggers: tuple[str, ...]
    text: str
    tags: tuple[str, ...]
    notes: tuple[str, ...]


async def save_procedure(
    engine: Engine,
    name: str,
    steps: Iterable[str],
    *,
    triggers: Iterable[str],
    text: str,
    scope: str | None,
    tags: Iterable[str],
    actor: str,
) -> Receipt:
    saved = _checked(engine, name, steps, triggers, text, tags)
    place = engine.write_scope(scope)
    change = await Change.of_scope(engine, place, "procedure", actor=actor)
    change.notes += saved.notes

    async def attempt(_: Conflict | None) -> Receipt:
        known = await named(engine, change.store, place, saved.name)
        if known is not None and _is_unchanged(known, saved):
            change.tell(known.id, "merged", "known, and unchanged")
            return change.receipt(wrote=False)
        change.clear()
        record = _record(engine, place, saved, known)
        _check_replaces(engine, record, known)
        change.put(*([superseded(known, record.learned_at)] if known else []), record)
        if known:
            change.link(record, "supersedes", known)
        note = await change.embed()
        await change.commit()
        reason = f"version {version_of(record)}" + (f", supersedes {known.id}" if known else "")
        is_held = record.status == "quarantined"
        if is_held:
            reason = f"not offered until approved: it {record.data[SUSPICION]}"
        status: ItemStatus = "quarantined" if is_held else "stored"
        status = "volatile" if change.why_volatile else status
        change.tell(record.id, status, change.why_volatile or reason)
        return change.receipt(note)

    too_fast = "this procedure changes faster than it can be saved; try again"
    return await retried(attempt, too_fast)


def _check_replaces(engine: Engine, record: Record, known: Record | None) -> None:
    """A name has one procedure: whoever may not replace it needs another name."""
    if known is None or known.status == "quarantined":
        return
    if record.trust < known.trust and not engine.may_retire(known):
        raise Denied(
            f"procedure {record.data['name']!r} was saved by a person, and an agent does not "
            "replace it; save yours under another name"
        )
    if record.status == "quarantined":
        raise Invalid(
            f"this version of {record.data['name']!r} {record.data[SUSPICION]}, so it does not "
            "replace the one that is known; save it under another name and have it approved"
        )


def _checked(
    engine: Engine,
    name: str,
    steps: Iterable[str],
    triggers: Iterable[str],
    text: str,
    tags: Iterable[str],
) -> Saved:
    given = {
        "name": clean_name(name, "name").strip(),
        "steps": _texts(steps, "step", STEPS_MAX, STEP_CHARACTERS_MAX),
        "triggers": _texts(triggers, "trigger", TRIGGERS_MAX, TRIGGER_CHARACTERS_MAX),
        "text": clean_text(text, "text")[0].strip(),
        "tags": list(clean_tags(tags)),
    }
    if not given["steps"]:
        raise Invalid(f"a procedure has 1 to {STEPS_MAX} steps; {given['name']!r} has none")
    if len(given["name"]) > NAME_CHARACTERS_MAX:
        raise Invalid(f"the name of a procedure is at most {NAME_CHARACTERS_MAX} characters long")
    safe, found = engine.redactor.redact_value(given)
    note = redaction_note(found)
    return Saved(
        name=safe["name"],
        steps=tuple(safe["steps"]),
        triggers=tuple(safe["triggers"]),
        text=safe["text"],
        tags=tuple(sorted(safe["tags"])),
        notes=(note,) if note else (),
    )


def _texts(given: Iterable[str], what: str, most: int, longest: int) -> list[str]:
    if isinstance(given, str):
        raise Invalid(f'{what}s must be a list: write ["{given[:40]}"]')
    found: list[str] = []
    for number, one in enumerate(given, start=1):
        text = clean_text(one, f"{what} {number}")[0].strip()
        if not text or len(text) > longest:
            raise Invalid(f"{what} {number} must be a text of 1 to {longest} characters")
        found.append(text)
    if len(found) > most:
        raise Invalid(f"{len(found)} {what}s are more than {most}; split the procedure")
    return found


def _is_unchanged(known: Record, saved: Saved) -> bool:
    data = known.data
    return (
        phrases_in(data, "steps") == list(saved.steps)
        and phrases_in(data, "triggers") == list(saved.triggers)
        and text_hash(known.text) == text_hash(_told(saved))
        and set(saved.tags) <= set(known.tags)
    )


def _told(saved: Saved) -> str:
    return saved.text or saved.name


def _record(engine: Engine, scope: str, saved: Saved, known: Record | None) -> Record:
    id_ = engine.new_id()
    version = version_of(known) + 1 if known else 1
    record = Record(
        id=id_,
        scope=scope,
        kind="procedural",
        type="procedure",
        text=_told(saved),
        learned_at=engine.now(),
        data=procedure_data(saved.name, saved.steps, saved.triggers, version=version),
        tags=saved.tags,
        durability=engine.durability_of(engine.profile.durability_of_type["procedure"]),
        source=engine.source_of("user"),
        trust=engine.trust_max,
        origin=id_,
        hash=name_hash(saved.name),
    )
    return held(record, doubt_of(record))


async def procedure_used(
    engine: Engine, id_or_name: str, *, success: bool, scope: str | None, note: str, actor: str
) -> Receipt:
    if not isinstance(success, bool):
        raise Invalid(f"success must be True or False, not {success!r}")
    said = clean_text(note, "note")[0].strip()
    if len(said) > NOTE_CHARACTERS_MAX:
        raise Invalid(f"a note is at most {NOTE_CHARACTERS_MAX} characters long")
    safe = engine.redactor.redact(said).text
    wanted = clean_name(id_or_name, "id_or_name")

    async def attempt(_: Conflict | None) -> Receipt:
        record, store = await _found(engine, wanted, scope)
        root = root_of(engine.write_scope(record.scope))
        change = Change(
            engine, root, "procedure used", store=store, actor=actor, id=engine.new_id()
        )
        counted = replace(record, data=counted_data(record.data, success, engine, safe))
        change.put(counted)
        change.used.append(record.id)
        await change.commit()
        reason = "{successes} successes, {failures} failures".format(**counted.data)
        change.tell(record.id, "stored", reason)
        return change.receipt()

    too_fast = "this procedure changes faster than it can be counted; try again"
    return await retried(attempt, too_fast)


async def _found(engine: Engine, id_or_name: str, scope: str | None) -> tuple[Record, Store]:
    place = engine.write_scope(scope)
    by_id = (await engine.find_records([id_or_name])).get(id_or_name)
    if by_id is not None and (scope is None or by_id[0].scope in visible_from((place,))):
        record, store = by_id
        if record.kind != "procedural" or record.status not in LIVE:
            raise Invalid(f"{id_or_name!r} is a {record.type} with status {record.status}")
        return record, store
    for one in (place, *reversed(parents(place))):
        for store in engine.stores_of(root_of(place)):
            found = await named(engine, store, one, id_or_name)
            if found is not None:
                return found, store
    raise NotFound(f"there is no procedure {id_or_name!r} in {place!r}")


# Finding


async def find_procedures(
    engine: Engine, query: str, *, scope: str | Iterable[str] | None, limit: int
) -> Answer:
    """Those one of whose triggers is in the query first, then by meaning."""
    count(limit, "limit")
    question = Question(text=query, scope=scope, limit=limit, kinds=("procedural",), cut=False)
    answer = await recall(engine, question)
    by_root, descend = await engine.read_scopes(scope, descend=False)
    listed: list[Hit] = []
    for root, scopes in by_root.items():
        for store in engine.stores_of(root):
            where = Where(scopes=scopes, now=engine.now(), descend=descend, kinds=("procedural",))
            ours = Listing(where=where, order="important", limit=LISTED_MAX)
            listed += [Hit(record=record) for record in await store.listing(ours)]
    first = [_explained(hit) for hit in triggered(listed, query)]
    seen = {hit.record.id for hit in first}
    rest = [hit for hit in answer.hits if hit.record.id not in seen and is_offered(hit.record)]
    return replace(answer, hits=tuple([*first, *rest][:limit]))


def _explained(hit: Hit) -> Hit:
    why = Why(stage="trigger", value=worth(hit.record), detail="a trigger is in the query")
    return replace(hit, score=1.0, why=(why,))


def triggered(hits: Iterable[Hit], query: str) -> list[Hit]:
    """Procedures one of whose triggers is in the query, the most used and successful first."""
    asked = frozenset(terms(query))
    matching = [
        hit for hit in hits if is_offered(hit.record) and _is_triggered(hit.record.data, asked)
    ]
    return sorted(matching, key=lambda hit: (-worth(hit.record), hit.record.id))


def is_offered(record: Record) -> bool:
    return record.trust >= TRUST_MIN and record.status == "active"


def worth(record: Record) -> float:
    """Uses, weighed by how often it worked; one that mostly fails falls behind an untried one.
    Being shown is no use."""
    successes, failures = tally(record.data, "successes"), tally(record.data, "failures")
    rate = (successes + 1) / (successes + failures + 2)
    return (1 + successes + failures) * rate**2


def _is_triggered(data: Mapping[str, Any], asked: frozenset[str]) -> bool:
    listed = phrases_in(data, "triggers")
    return any(words and asked.issuperset(words) for words in map(terms, listed))
