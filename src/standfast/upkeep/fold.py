"""Folding: older messages of a session into its summary, in the background.

The log keeps every message. A summary says what messages up to ``to_seq`` said; it is stored
in the same commit that moves the reader ``fold``, so two workers never fold the same messages
twice and a killed one leaves nothing half done. What the reader has seen is examined; what the
newest summary covers is folded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Literal

from standfast.changes import Change
from standfast.engine import Engine
from standfast.errors import Conflict, Invalid
from standfast.models.prompts import summarize
from standfast.packet.buffers import PENDING, consumed_up_to
from standfast.packet.policy import Policy, fold_count, policy_from, policy_of
from standfast.packet.window import units
from standfast.ports import Store, beside
from standfast.scopes import root_of
from standfast.text.summary import extract_summary, formatted, short
from standfast.text.trust import heard
from standfast.types import (
    CursorMove,
    Message,
    ReceiptItem,
    Session,
    SessionKey,
    Summary,
    Usage,
    Work,
)
from standfast.types.frozen import frozen
from standfast.upkeep.heard import retired, turns_of
from standfast.upkeep.questions import Answered, asked_once

How = Literal["model", "extract"]

READER = "fold"
ROOM_FOR_COUNTING = 1.5  # our count errs on the high side
MESSAGES_AT_ONCE = 500
PILE = 2  # of what stays: so much waits before an extract does instead of a model
TOKENS_PER_MESSAGE = 5  # role and separators, on the safe side


@frozen
class FoldWindow:
    """A session as it stands: its newest summary and the messages behind it."""

    session: Session
    summary: Summary | None
    messages: list[Message]
    more: bool  # there are newer messages still

    @property
    def key(self) -> SessionKey:
        return SessionKey(self.session.scope, self.session.id)


async def fold_sessions(engine: Engine, store: Store, work: Iterable[Work]) -> list[ReceiptItem]:
    """Go over sessions that have messages nobody has looked at yet."""
    items: list[ReceiptItem] = []
    for one in work:
        items += await _fold_session(engine, store, one)
    return items


async def _fold_session(engine: Engine, store: Store, work: Work) -> list[ReceiptItem]:
    key = SessionKey(work.scope, work.id)
    items: list[ReceiptItem] = []
    while True:
        window = await read_window(engine, store, key)
        if window is None:
            return items
        count = messages_to_fold(engine, window)
        summary = await _summarised(engine, store, window, count) if count else None
        if isinstance(summary, Answered):
            trouble = summary.trouble
            failure = [ReceiptItem(id=key.id, status="failed", reason=trouble)] if trouble else []
            return [*items, *failure]
        try:
            await _commit(engine, store, window, summary)
        except Conflict:
            return items  # another worker was faster; its work stands
        if summary is not None:
            said = f"folded up to {summary.to_seq} ({summary.how})"
            items.append(ReceiptItem(id=key.id, status="stored", reason=said))
        if not window.more:
            return items


async def _summarised(
    engine: Engine, store: Store, window: FoldWindow, count: int
) -> Summary | Answered[str]:
    """The new summary, or why there is none yet. A model that fails leaves the session as it is:
    the packet shows its newest messages, and it is tried again."""
    policy = session_policy(engine, window.session)
    before = window.summary.text if window.summary else ""
    folding = window.messages[:count]
    gone = retired(await turns_of(engine, store, folding))
    length = sum(len(message.text) for message in folding)
    folded = await beside(length, lambda: heard(folding, gone))
    extract = partial(extract_summary, before, folded, policy.summary_tokens, engine.counter.count)
    models = engine.models
    if engine.unasked and models is not None:
        return Answered()
    if models is None or models.model_for("summarize") is None or store is engine.volatile:
        text = await beside(length, extract)
        return _summary(engine, window, folding, text, "extract")

    async def is_done() -> bool:
        newest = await store.summaries(window.key, limit=1, newest=True)
        return [one.id for one in newest] != ([window.summary.id] if window.summary else [])

    answered = await asked_once(
        engine,
        store,
        window.session.scope,
        f"fold/{window.session.id}",
        is_done=is_done,
        ask=lambda: _asked(engine, window, folded, policy),
        yet="no summary yet",
        news=window.session.last_seq,
    )
    if answered.made is None:
        if not answered.trouble or count < PILE * (len(window.messages) - count):
            return answered
        # The model has been away for long: an extract now is better than no summary at all.
        text = await beside(length, extract)
        return _summary(engine, window, folding, text, "extract")
    return _summary(engine, window, folding, answered.made, "model")


async def _asked(
    engine: Engine, window: FoldWindow, folded: Sequence[Message], policy: Policy
) -> tuple[str, Usage]:
    assert engine.models is not None
    prompt = summarize(
        previous=window.summary.text if window.summary else "",
        messages=formatted(folded),
        tokens=policy.summary_tokens,
    )
    authors = {message.author for message in folded}
    reply = await engine.models.ask(prompt, scope=window.session.scope, authors=authors)
    text = str(reply.data["summary"]).strip()
    if not text:
        raise Invalid("the model answered with an empty summary")
    if engine.counter.count(text) > policy.summary_tokens * ROOM_FOR_COUNTING:
        text = short(text, policy.summary_tokens * 2)
    return text, reply.usage


async def read_window(engine: Engine, store: Store, key: SessionKey) -> FoldWindow | None:
    sessions = await store.sessions(root_of(key.scope), (key,))
    if not sessions:
        return None
    summaries = await store.summaries(key, limit=1, newest=True)
    summary = summaries[0] if summaries else None
    messages = await store.messages(
        key,
        now=engine.now(),
        after=summary.to_seq if summary else 0,
        limit=MESSAGES_AT_ONCE + 1,
    )
    return FoldWindow(
        session=sessions[0],
        summary=summary,
        messages=messages[:MESSAGES_AT_ONCE],
        more=len(messages) > MESSAGES_AT_ONCE,
    )


def session_policy(engine: Engine, session: Session) -> Policy:
    return policy_from(session.policy, policy_of(engine.profile))


def message_cost(engine: Engine, message: Message) -> int:
    return engine.counter.count(message.original or message.text) + TOKENS_PER_MESSAGE


def messages_to_fold(engine: Engine, window: FoldWindow) -> int:
    """By the session's policy; of a long backlog the older half, whatever the policy counts."""
    policy = session_policy(engine, window.session)
    if policy.rule == "window" and policy.above == 0:
        return 0
    if window.more:
        half = len(window.messages) // 2
        starts = [piece.start for piece in units(window.messages)]
        # A single exchange of calls and answers may fill the whole page: then all of it goes.
        return max((s for s in starts if 0 < s <= half), default=len(window.messages))
    return fold_count(window.messages, policy, lambda message: message_cost(engine, message))


async def _commit(
    engine: Engine, store: Store, window: FoldWindow, summary: Summary | None
) -> None:
    """The summary, if there is one, and the reader's new place, together."""
    session, key = window.session, window.key
    change = Change(engine, root_of(key.scope), "fold", store=store, actor="maintenance")
    place = session.cursors.get(READER, 0)
    seen = window.messages[-1].seq if window.more else session.last_seq
    if seen > place:
        change.cursors.append(CursorMove(session=key, reader=READER, old=place, new=seen))
    if summary is not None:
        change.summaries.append(summary)
        if key.id == PENDING:
            consumed = consumed_up_to(key, dict(session.cursors), summary.to_seq)
            change.cursors += [consumed] if consumed else []
    await change.commit()


def _summary(
    engine: Engine, window: FoldWindow, folded: Sequence[Message], text: str, how: How
) -> Summary:
    before = window.summary
    return Summary(
        id=engine.new_id(),
        scope=window.session.scope,
        session=window.session.id,
        from_seq=before.to_seq + 1 if before else 1,
        to_seq=folded[-1].seq,
        text=text,
        how=how,
        lineage=tuple(message.id for message in folded),
        learned_at=engine.now(),
    )
