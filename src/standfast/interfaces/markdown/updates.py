"""What a model makes of folded messages: an account for the log, and an update of the facts.

An update is one reversible change. What the messages do not say is not believed, as in learning:
neither a new line, nor a changed one, nor that a fact they never speak of is over. What would end a
safety statement needs review. An update that would drop more than a third of the facts is not
applied: it is kept, out of sight of every search, until somebody looks at it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace

from standfast import compat
from standfast.changes import Change
from standfast.engine import Engine, every_message
from standfast.errors import Conflict, Invalid, Unavailable
from standfast.forgotten import Tombstones
from standfast.interfaces.markdown.exchange import (
    Consolidation,
    ExchangeModel,
    Update,
    consolidate,
    update_of,
)
from standfast.interfaces.markdown.history import without_stamp
from standfast.interfaces.markdown.intake import EditOutcome
from standfast.interfaces.markdown.mirror import memory_page
from standfast.interfaces.markdown.pages import FactLine, PageLine
from standfast.interfaces.markdown.view import facts_of
from standfast.lifecycle.match import live_equal
from standfast.lifecycle.safety import (
    NEEDS_REVIEW,
    denied_by,
    is_protected,
    needs_review,
    with_safety_note,
)
from standfast.lifecycle.settlement import settle
from standfast.lifecycle.status import archived, put_away, superseded
from standfast.scopes import root_of
from standfast.text.summary import short
from standfast.types import (
    Item,
    Message,
    ReceiptItem,
    Record,
    RelationKind,
    SessionKey,
    Summary,
)
from standfast.upkeep.learn.grounds import (
    ground_of,
    nearest_to,
    speaks_of,
    turned_round,
    ungrounded,
)
from standfast.verbs.statement import Statement, record_of

log = logging.getLogger(__name__)

ACTOR = "consolidation"
PROPOSALS = compat.PROPOSALS
SHOWN = 60  # characters of a line that is refused


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
        log.warning("consolidation of session %s failed: %s", summary.session, error)
        outcome.notes.append(f"the log has an extract, no model's account: {error}")
        return ""
    outcome.usages.append(answer.usage)
    shown = [FactLine(id=r.id, text=r.text, type=r.type) for r in page.shown]
    update = update_of(answer.memory_update, shown)
    if update.is_drastic:
        await _hold(engine, scope, summary, update, answer, outcome)
    else:
        await apply_update(engine, scope, summary, update, facts, messages, outcome)
    if reason := ungrounded(
        without_stamp(answer.history_entry), ground_of(messages, [summary.text])
    ):
        outcome.notes.append(f"the log has an extract, not the model's account: {reason}")
        return ""
    return engine.redactor.redact(answer.history_entry).text


async def _messages_of(engine: Engine, summary: Summary) -> list[Message]:
    key = SessionKey(summary.scope, summary.session)
    covered = every_message(
        engine.store, key, engine.now(), after=summary.from_seq - 1, until=summary.to_seq
    )
    return [message async for message in covered]


async def apply_update(
    engine: Engine,
    scope: str,
    summary: Summary,
    update: Update,
    facts: dict[str, Record],
    messages: Sequence[Message],
    outcome: EditOutcome,
    *,
    approved: bool = False,
) -> None:
    """All of it as one change, which the outcome names. What a person approved is not held
    against the messages any more."""
    change = Change(engine, root_of(scope), "consolidate", actor=ACTOR, id=engine.new_id())
    for fact, line in update.changed:
        reason = "" if approved else _unfounded(line.text, messages, [fact.text])
        if reason:
            change.tell(fact.id, "skipped", f"it stays: {reason}")
            continue
        made = _record(engine, scope, line, summary, messages, facts[fact.id])
        if not await _is_wanted(change, made, messages):
            continue
        if is_protected(facts[fact.id]) and not approved:
            _put_to_review(change, made, [facts[fact.id]])
        else:
            _replace(change, made, facts[fact.id])
    for line in update.new:
        reason = "" if approved else _unfounded(line.text, messages, ())
        if reason:
            outcome.notes.append(
                f"the model's line {short(line.text, SHOWN)!r} is refused: {reason}"
            )
            continue
        made = _record(engine, scope, line, summary, messages, None)
        if not await _is_wanted(change, made, messages):
            continue
        if (denied := denied_by(made, facts.values())) and not approved:
            _put_to_review(change, made, denied)
        else:
            change.put(made)
            change.tell(made.id, "stored", "learned from the conversation")
    for fact in update.dropped:
        if not (approved or speaks_of(messages, fact.text)):
            change.tell(fact.id, "skipped", "it stays: the messages do not speak of it")
            continue
        if is_protected(facts[fact.id]) and not approved:
            change.tell(fact.id, "skipped", f"it stays: {NEEDS_REVIEW}")
            continue
        change.put(archived(facts[fact.id], engine.now()))
        change.tell(fact.id, "stored", "archived")
    note = await change.embed()
    try:
        if not await change.commit():
            outcome.items += change.told  # what was refused
            return
    except Conflict as error:
        outcome.notes.append(f"the model's update was not applied, facts changed: {error}")
        return
    outcome.changes.append(change.id)
    outcome.items += change.told
    outcome.notes += [note] if note else []


def _unfounded(text: str, messages: Sequence[Message], known: Iterable[str]) -> str:
    """Why a line of the model's is not what the messages say; "" if it is."""
    near = nearest_to(text, messages)
    return turned_round(text, near) or ungrounded(text, ground_of(near, known))


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


async def _is_wanted(change: Change, record: Record, messages: Sequence[Message]) -> bool:
    """Not what is known already, and not what was forgotten after it had been said."""
    new = [one for one in change.records.values() if one.hash and one.version == 0]
    if any(one.hash == record.hash for one in new):
        return False
    store, now = change.store, change.engine.now()
    if await live_equal(store, record.scope, record.hash, now):
        return False
    said = max((message.at for message in messages), default=now)
    stones = await Tombstones.of(store, change.root, now)
    return stones is None or not await stones.covers(record.scope, record.text, said)


def _put_to_review(change: Change, made: Record, known: Sequence[Record]) -> None:
    """A model ends no safety statement: its line is disputed, and what is known stays active."""
    verdict = needs_review(*known)
    outcome = settle(
        with_safety_note(made, verdict),
        verdict,
        now=change.engine.now(),
        new_id=change.engine.new_id,
    )
    change.put(*outcome.records)
    change.draw(*outcome.relations)
    change.tell(outcome.id, outcome.status, outcome.reason)


def _replace(change: Change, made: Record, old: Record) -> None:
    """Who is trusted less does not overrule: then both stay, and the file shows the conflict."""
    overrules = made.trust >= old.trust
    kind: RelationKind = "supersedes" if overrules else "contradicts"
    if overrules:
        change.put(superseded(old, change.engine.now()))
    change.put(made)
    change.tell(made.id, "stored", f"{kind} {old.id}")
    change.link(made, kind, old)


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
    record = put_away(
        Record(
            id=engine.new_id(),
            scope=scope,
            kind="episodic",
            type="summary",
            text=text,
            learned_at=engine.now(),
            source="assistant",
            trust=0,
            session=summary.session,
            lineage=summary.lineage,
            derived_from=dropped,
        )
    )
    value = {"record": record.id, "summary": summary.id, "dropped": list(dropped)}
    change = Change(engine, root_of(scope), "proposal", actor=ACTOR)
    change.put(record)
    change.items.append(Item(scope=scope, namespace=PROPOSALS, key=record.id, value=value))
    await change.commit()
    told = (
        f"the model's update would drop {len(dropped)} of {update.facts} facts: held for review, "
        "not applied"
    )
    outcome.items.append(ReceiptItem(id=record.id, status="quarantined", reason=told))
