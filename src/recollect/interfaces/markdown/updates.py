"""What a model makes of folded messages: an account for the log, and an update of the facts.

An update is one reversible change. One that would drop more than a third of the facts is not
applied: it is kept, out of sight of every search, until somebody looks at it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from recollect.engine import Engine
from recollect.errors import Conflict, Invalid, Unavailable
from recollect.interfaces.markdown.exchange import (
    Consolidation,
    ExchangeModel,
    Update,
    consolidate,
    update_of,
)
from recollect.interfaces.markdown.intake import EditOutcome
from recollect.interfaces.markdown.mirror import memory_page
from recollect.interfaces.markdown.pages import FactLine, PageLine
from recollect.interfaces.markdown.view import facts_of, graves_of
from recollect.scopes import root_of
from recollect.text.compare import text_hash
from recollect.types import (
    LIVE,
    Item,
    Message,
    Query,
    ReceiptItem,
    Record,
    Relation,
    SessionKey,
    Summary,
)
from recollect.verbs.remember import Statement, record_of

ACTOR = "consolidation"
PROPOSALS = "proposal"
PAGE = 500


@dataclass(slots=True, kw_only=True)
class UpdateWriting:
    """One update on its way into the store."""

    records: list[Record] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    fresh: list[Record] = field(default_factory=list)  # those of the records that are new
    items: list[ReceiptItem] = field(default_factory=list)


async def learn_from(
    engine: Engine, scope: str, model: ExchangeModel, summary: Summary, outcome: EditOutcome
) -> str:
    """The model's account of a fold; "" if it gave none. Its update is applied or held."""
    messages = await _messages_of(engine, summary)
    if not await engine.persists(scope, {message.author for message in messages}):
        return ""  # nothing of somebody who opted out is shown to a model
    facts = await facts_of(engine, scope)
    page = await memory_page(engine, scope, facts, ())
    try:
        answer = await consolidate(model, page.text, messages)
    except (Invalid, Unavailable) as error:
        outcome.notes.append(f"the log has an extract, no model's account: {error}")
        return ""
    outcome.usages.append(answer.usage)
    shown = [FactLine(id=r.id, text=r.text, type=r.type) for r in page.shown]
    update = update_of(answer.memory_update, shown)
    if update.is_drastic:
        await _hold(engine, scope, summary, update, answer, outcome)
    else:
        await apply_update(engine, scope, summary, update, facts, messages, outcome)
    return engine.redactor.redact(answer.history_entry).text


async def _messages_of(engine: Engine, summary: Summary) -> list[Message]:
    key = SessionKey(summary.scope, summary.session)
    found: list[Message] = []
    after = summary.from_seq - 1
    while after < summary.to_seq:
        limit = min(PAGE, summary.to_seq - after)
        page = await engine.store.messages(key, now=engine.now(), after=after, limit=limit)
        if not page:
            break
        found += [message for message in page if message.seq <= summary.to_seq]
        after = page[-1].seq
    return found


async def apply_update(
    engine: Engine,
    scope: str,
    summary: Summary,
    update: Update,
    facts: dict[str, Record],
    messages: Sequence[Message],
    outcome: EditOutcome,
) -> None:
    """All of it as one change, which the outcome names."""
    writing = UpdateWriting()
    now = engine.now()
    for fact, line in update.changed:
        made = _record(engine, scope, line, summary, messages, facts[fact.id])
        if await _is_wanted(engine, made, messages, writing):
            _replace(writing, made, facts[fact.id], now)
    for line in update.new:
        made = _record(engine, scope, line, summary, messages, None)
        if await _is_wanted(engine, made, messages, writing):
            _add(writing, made, "learned from the conversation")
    for fact in update.dropped:
        gone = replace(facts[fact.id], status="archived", retired_at=now)
        writing.records.append(gone)
        writing.items.append(ReceiptItem(id=fact.id, status="stored", reason="archived"))
    if not writing.records:
        return
    change = engine.new_id()
    vectors, space, note = await engine.embed_for_writing(writing.fresh)
    parts: dict[str, Any] = {
        "records": tuple(writing.records),
        "relations": tuple(writing.relations),
        "vectors": vectors,
        "space": space,
    }
    batch = engine.batch(root_of(scope), "consolidate", actor=ACTOR, change=change, **parts)
    try:
        await engine.commit(engine.store, batch)
    except Conflict as error:
        outcome.notes.append(f"the model's update was not applied, facts changed: {error}")
        return
    outcome.changes.append(change)
    outcome.items += writing.items
    outcome.notes += [note] if note else []


def _record(
    engine: Engine,
    scope: str,
    line: PageLine,
    summary: Summary,
    messages: Sequence[Message],
    old: Record | None,
) -> Record:
    """It is believed no more than the messages that it was made from."""
    statement = Statement(
        text=line.text,
        scope=scope,
        type=old.type if old else line.type or "fact",
        tags=old.tags if old else line.tags,
        importance=old.importance if old else None,
        durability=old.durability if old else None,
        source="assistant",
    )
    record, _ = record_of(statement, engine)
    return replace(
        record,
        trust=min((message.trust for message in messages), default=record.trust),
        session=summary.session,
        lineage=summary.lineage,
    )


async def _is_wanted(
    engine: Engine, record: Record, messages: Sequence[Message], writing: UpdateWriting
) -> bool:
    """Not what is known already, and not what was forgotten after it had been said."""
    if any(one.hash == record.hash for one in writing.fresh):
        return False
    equal = Query(
        scopes=(record.scope,),
        now=engine.now(),
        exact=True,
        statuses=LIVE,
        hashes=(record.hash,),
        limit=1,
    )
    if await engine.store.search(equal):
        return False
    graves = await graves_of(engine, record.scope, [text_hash(record.text)])
    said = max((message.at for message in messages), default=engine.now())
    return not any(said <= grave for grave in graves.values())


def _add(writing: UpdateWriting, made: Record, reason: str) -> None:
    writing.records.append(made)
    writing.fresh.append(made)
    writing.items.append(ReceiptItem(id=made.id, status="stored", reason=reason))


def _replace(writing: UpdateWriting, made: Record, old: Record, now: Any) -> None:
    """Who is trusted less does not overrule: then both stay, and the file shows the conflict."""
    overrules = made.trust >= old.trust
    kind: Any = "supersedes" if overrules else "contradicts"
    if overrules:
        writing.records.append(replace(old, status="superseded", retired_at=now))
    _add(writing, made, f"{kind} {old.id}")
    edge = Relation(scope=made.scope, source=made.id, target=old.id, kind=kind, learned_at=now)
    writing.relations.append(edge)


async def _hold(
    engine: Engine,
    scope: str,
    summary: Summary,
    update: Update,
    answer: Consolidation,
    outcome: EditOutcome,
) -> None:
    """The text is kept as a quarantined record, so that forgetting finds it like any other."""
    dropped = tuple(fact.id for fact in update.dropped)
    text = engine.redactor.redact(answer.memory_update).text
    record = Record(
        id=engine.new_id(),
        scope=scope,
        kind="episodic",
        type="summary",
        text=text,
        learned_at=engine.now(),
        status="quarantined",
        source="assistant",
        trust=0,
        session=summary.session,
        lineage=summary.lineage,
        derived_from=dropped,
    )
    value = {"record": record.id, "summary": summary.id, "dropped": list(dropped)}
    item = Item(scope=scope, namespace=PROPOSALS, key=record.id, value=value)
    batch = engine.batch(
        root_of(scope), "proposal", actor=ACTOR, change="", records=(record,), items=(item,)
    )
    await engine.commit(engine.store, batch)
    told = (
        f"the model's update would drop {len(dropped)} of {update.facts} facts: held for review, "
        "not applied"
    )
    outcome.items.append(ReceiptItem(id=record.id, status="quarantined", reason=told))
