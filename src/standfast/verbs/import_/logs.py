"""Sessions with their messages, summaries and readers' positions.

Messages keep their numbers where the session is new here or ends before them, because summaries
and positions speak of those numbers. Where the session has gone on differently, messages are
appended, and summaries and positions are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial

from standfast.changes import retried
from standfast.engine import every_message
from standfast.errors import Conflict, Invalid
from standfast.forgotten import key_of
from standfast.packet.buffers import buffer_policy
from standfast.packet.policy import policy_of
from standfast.ports import beside, breath
from standfast.text.trust import suspicion, texts_in
from standfast.types import CursorMove, Message, Session, SessionKey, Summary
from standfast.verbs.import_.file import ExportLine
from standfast.verbs.import_.run import (
    EXPIRED,
    FORGOTTEN,
    KNOWN,
    OPTED_OUT,
    OTHER,
    REDACTED,
    ImportOutcome,
    ImportRun,
    Log,
    root_of_value,
    skipped,
)
from standfast.verbs.import_.secrets import clean_session, clean_summary

PAGE = 500
END_OF_SESSION = "end of session"  # the type of a line of our own, behind a session's last
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True, kw_only=True)
class Here:
    """What the store knows of a chunk's sessions and messages."""

    sessions: dict[SessionKey, Session]
    messages: dict[tuple[SessionKey, str], Message]
    summaries: set[str]
    buried: set[tuple[SessionKey, str]]
    buried_summaries: set[str]


@dataclass(slots=True, kw_only=True)
class LogPlan:
    here: Here
    logs: dict[SessionKey, Log]
    sessions: dict[SessionKey, Session] = field(default_factory=dict)
    messages: dict[tuple[SessionKey, str], Message] = field(default_factory=dict)
    summaries: dict[str, Summary] = field(default_factory=dict)
    cursors: list[CursorMove] = field(default_factory=list)
    outcomes: list[ImportOutcome] = field(default_factory=list)
    fresh: dict[SessionKey, int] = field(default_factory=dict)  # numbers kept in this commit
    asked: dict[tuple[str, str], bool] = field(default_factory=dict)


async def import_logs(run: ImportRun, lines: Sequence[ExportLine]) -> None:
    """Lines of one root. What does not fit is looked at again alone."""

    async def attempt(conflict: Conflict | None) -> None:
        if conflict is not None and conflict.kind == "summary":
            run.taken.update(conflict.ids)
        plan = await _planned(run, _root(lines), lines)
        change = run.begin(_root(lines))
        change.sessions += plan.sessions.values()
        change.messages += plan.messages.values()
        change.cursors += plan.cursors
        change.summaries += plan.summaries.values()
        try:
            await run.commit(change)
        except Invalid as error:
            await _alone(run, lines, str(error))
        else:
            _learn(run, plan, lines)

    too_fast = "the sessions change faster than they can be written; import again"
    await retried(attempt, too_fast)


async def _alone(run: ImportRun, lines: Sequence[ExportLine], error: str) -> None:
    if len(lines) == 1:
        if lines[0].type != END_OF_SESSION:
            run.report.fail(lines[0], error)
        return
    for line in lines:
        await import_logs(run, [line])


def _learn(run: ImportRun, plan: LogPlan, lines: Sequence[ExportLine]) -> None:
    for key, count in plan.fresh.items():
        plan.logs[key].present += count
    run.logs |= plan.logs
    for line in lines:
        if line.type == END_OF_SESSION:
            run.logs.pop(_key(line), None)
    for outcome in plan.outcomes:
        run.report.add(outcome)


def _root(lines: Sequence[ExportLine]) -> str:
    assert lines[0].value is not None
    return root_of_value(lines[0].value)


def _key(line: ExportLine) -> SessionKey:
    value = line.value
    if isinstance(value, Message | Summary):
        return SessionKey(value.scope, value.session)
    assert isinstance(value, Session)
    return SessionKey(value.scope, value.id)


async def _planned(run: ImportRun, root: str, lines: Sequence[ExportLine]) -> LogPlan:
    here = await _look(run, root, lines)
    logs = {}
    for key in dict.fromkeys(map(_key, lines)):
        known = run.logs.get(key) or Log(existed=key in here.sessions)
        stored = here.sessions[key].last_seq if key in here.sessions else 0
        logs[key] = replace(known, last=max(known.last, stored))
    plan = LogPlan(here=here, logs=logs)
    for line in lines:
        await breath()
        if line.type == END_OF_SESSION:
            await _plan_end(run, plan, line)
        elif isinstance(line.value, Session):
            await _plan_session(run, plan, line, line.value)
        elif isinstance(line.value, Message):
            await _plan_message(run, plan, line, line.value)
        elif isinstance(line.value, Summary):
            await _plan_summary(run, plan, line, line.value)
    return plan


async def _look(run: ImportRun, root: str, lines: Sequence[ExportLine]) -> Here:
    store, now = run.engine.store, run.engine.now()
    keys = list(dict.fromkeys(map(_key, lines)))
    sessions = {SessionKey(s.scope, s.id): s for s in await store.sessions(root, keys)}
    messages = [line.value for line in lines if isinstance(line.value, Message)]
    summaries = [line.value for line in lines if isinstance(line.value, Summary)]
    known: dict[tuple[SessionKey, str], Message] = {}
    for key in sessions:
        ids = [m.id for m in messages if (m.scope, m.session) == key]
        if ids:
            found = await store.messages(key, now=now, ids=ids, limit=len(ids))
            known |= {key_of(message): message for message in found}
    stones = await run.stones_of(root)
    safe = [await run.cleaned(message) for message in messages] if stones else []
    return Here(
        sessions=sessions,
        messages=known,
        summaries=await _known_summaries(run, summaries),
        buried=await stones.messages(safe) if stones else set(),
        buried_summaries=await stones.summaries(summaries) if stones else set(),
    )


async def _known_summaries(run: ImportRun, summaries: Sequence[Summary]) -> set[str]:
    known: set[str] = set()
    starts: dict[SessionKey, int] = {}
    for summary in summaries:
        key = SessionKey(summary.scope, summary.session)
        starts[key] = min(starts.get(key, summary.to_seq), summary.to_seq)
    for key, first in starts.items():
        found = await run.engine.store.summaries(key, after=max(0, first - 1), limit=PAGE)
        known |= {summary.id for summary in found}
    return known


async def _plan_session(run: ImportRun, plan: LogPlan, line: ExportLine, session: Session) -> None:
    key = _key(line)
    plan.logs[key].until = session.last_seq
    if key in plan.here.sessions or key in plan.sessions or plan.logs[key].last:
        plan.outcomes.append(skipped(line, KNOWN))
    elif not await run.persists(plan.asked, session.scope, ""):
        plan.logs[key].barred = OPTED_OUT
        plan.outcomes.append(skipped(line, OPTED_OUT))
    else:
        safe, note = clean_session(session, run.engine.redactor), ""
        if not run.trusting:
            own = buffer_policy(session.id, run.engine.profile) or policy_of(run.engine.profile)
            safe = replace(safe, policy=str(own))
            if doubt := suspicion("\n".join(texts_in(safe.state))):
                safe, note = replace(safe, state={}), f"its state was left out: it {doubt}"
        plan.sessions[key] = replace(safe, cursors={}, last_seq=0, version=0)
        plan.outcomes.append(run.stored(line, session.id, note))


async def _plan_message(run: ImportRun, plan: LogPlan, line: ExportLine, message: Message) -> None:
    key, log = _key(line), plan.logs[_key(line)]
    known = plan.here.messages.get((key, message.id)) or plan.messages.get((key, message.id))
    if known is not None:
        same = known.seq == message.seq
        log.numbered = log.numbered and same
        log.present += same and (key, message.id) in plan.here.messages
        text = (await run.cleaned(message)).text
        plan.outcomes.append(skipped(line, KNOWN if known.text == text else OTHER))
        return
    reason = await _why_not(run, plan, message)
    if reason:
        plan.outcomes.append(skipped(line, reason))
        return
    log.numbered = log.numbered and message.seq > log.last
    seq = message.seq if log.numbered else 0
    log.last = seq or log.last + 1
    safe = await run.cleaned(message)
    plan.messages[key, message.id] = replace(run.believed(safe), seq=seq)
    plan.fresh[key] = plan.fresh.get(key, 0) + bool(seq)
    notes = [] if seq else ["appended: the session has other messages here"]
    notes += [] if safe == message else [REDACTED]
    plan.outcomes.append(run.stored(line, message.id, "; ".join(notes)))


async def _why_not(run: ImportRun, plan: LogPlan, message: Message) -> str:
    if key_of(message) in plan.here.buried or run.forgotten.has_message(message):
        run.forgotten.add_message(message)
        return FORGOTTEN
    if message.expires_at is not None and message.expires_at <= run.engine.now():
        return EXPIRED
    barred = plan.logs[SessionKey(message.scope, message.session)].barred
    if barred or not await run.persists(plan.asked, message.scope, message.author):
        return OPTED_OUT
    return ""


async def _plan_summary(run: ImportRun, plan: LogPlan, line: ExportLine, summary: Summary) -> None:
    log = plan.logs[_key(line)]
    reason = ""
    if summary.id in plan.here.summaries or summary.id in plan.summaries:
        reason = KNOWN
    elif summary.id in run.taken:
        reason = "another summary has this id"
    elif summary.id in plan.here.buried_summaries or run.forgotten.has_summary(summary):
        reason = FORGOTTEN
    elif log.barred:
        reason = log.barred
    elif not run.trusting and (doubt := suspicion(summary.text)):
        reason = f"it {doubt}"
    elif not await _keeps_numbers(run, plan, line, summary.to_seq):
        reason = log.why
    elif not 1 <= summary.from_seq <= summary.to_seq:
        run.report.fail(line, "from_seq and to_seq are no range of messages")
        return
    if reason:
        plan.outcomes.append(skipped(line, reason))
        return
    cleaning = partial(clean_summary, summary, run.engine.redactor)
    plan.summaries[summary.id] = await beside(len(summary.text), cleaning)
    plan.outcomes.append(run.stored(line, summary.id))


async def _keeps_numbers(run: ImportRun, plan: LogPlan, line: ExportLine, until: int) -> bool:
    """Do the numbers of the file mean the same messages here?"""
    log = plan.logs[_key(line)]
    if not log.existed or not log.numbered:
        return log.numbered
    if log.pure is None:
        log.pure = await _count(run, _key(line), log.until or until) == log.present
    return log.pure


async def _count(run: ImportRun, key: SessionKey, until: int) -> int:
    counted = 0
    async for _ in every_message(run.engine.store, key, run.engine.now(), until=until):
        counted += 1
    return counted


async def _plan_end(run: ImportRun, plan: LogPlan, line: ExportLine) -> None:
    """Where the session ended in the file it ends here too, even if its last messages are gone:
    otherwise the next message would get a number that readers believe to have passed."""
    session, key = line.value, _key(line)
    log = plan.logs[key]
    assert isinstance(session, Session)
    if log.barred:
        return
    numbered = await _keeps_numbers(run, plan, line, session.last_seq)
    if numbered and session.last_seq > log.last:
        marker = _marker(session)
        plan.messages[key, marker.id] = marker
        log.last = session.last_seq
    here = plan.here.sessions.get(key)
    for reader, position in sorted(session.cursors.items()):
        at = here.cursors.get(reader) if here else None
        if at == position:
            continue
        reason = log.why if not numbered else ""
        if at is not None:
            reason = f"this reader stands at {at} here"
        elif position > session.last_seq:
            reason = "this position is behind the end of its session"
        if reason:
            id_ = f"{session.id}/{reader}"
            line_ = replace(line, type="session")
            plan.outcomes.append(ImportOutcome(line=line_, id=id_, status="skipped", reason=reason))
        else:
            plan.cursors.append(CursorMove(session=key, reader=reader, old=0, new=position))


def _marker(session: Session) -> Message:
    """A message nobody ever sees, because it expired long ago; upkeep sweeps it away. All it
    leaves is its number."""
    return Message(
        id=f"end-of-import-{session.last_seq}",
        scope=session.scope,
        session=session.id,
        role="note",
        text="",
        at=_LONG_AGO,
        seq=session.last_seq,
        expires_at=_LONG_AGO,
    )
