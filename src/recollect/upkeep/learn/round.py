"""One round of learning over the sessions whose reader ``extract`` lags behind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from recollect.engine import Engine
from recollect.errors import Conflict, Invalid, Unavailable
from recollect.models.calls import FailedCall, sum_of
from recollect.ports import AnswerError, Store
from recollect.scopes import root_of
from recollect.types import ReceiptItem, Record, SessionKey, Usage, Work
from recollect.upkeep.learn.candidates import by_model, by_rules, worth_asking
from recollect.upkeep.learn.episodes import extract_of
from recollect.upkeep.learn.lanes import READER, next_turns
from recollect.upkeep.learn.values import OPTED_OUT, Learned, Turns
from recollect.upkeep.learn.writer import write
from recollect.upkeep.leases import failed, hold, may_try, release, succeeded

LEASE_SECONDS = 300  # longer than all tries of a model call together
SESSIONS_PER_ROUND = 500
ROUND_SECONDS = 5


@dataclass(slots=True, kw_only=True)
class LearnRound:
    """What a round of learning did. ``changes`` names the change of each root, for undo."""

    items: list[ReceiptItem] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    changes: dict[str, str] = field(default_factory=dict)


async def learn_sessions(
    engine: Engine, store: Store, work: Iterable[Work], done: LearnRound, *, everything: bool
) -> None:
    """Learn from what was said in these sessions since the last time; with ``everything`` also
    from what would still wait for more."""
    if engine.profile.learn == "off":
        return
    for one in work:
        key = SessionKey(one.scope, one.id)
        await _learn_session(engine, store, key, done, everything=everything)


def some_of(work: list[Work], engine: Engine) -> list[Work]:
    """A window that moves with time, so that sessions which wait or are stuck hide nobody."""
    if len(work) <= SESSIONS_PER_ROUND:
        return work
    rounds = int(engine.now().timestamp()) // ROUND_SECONDS
    start = rounds * SESSIONS_PER_ROUND % len(work)
    return [*work[start:], *work[:start]][:SESSIONS_PER_ROUND]


def has_model(engine: Engine, store: Store) -> bool:
    """What somebody wants forgotten with this process is never shown to a model."""
    if engine.models is None or engine.rules_only or store is engine.volatile:
        return False
    return engine.models.model_for("extract") is not None


async def _learn_session(
    engine: Engine, store: Store, key: SessionKey, done: LearnRound, *, everything: bool
) -> None:
    with_model = has_model(engine, store)
    while True:
        turns = await next_turns(engine, store, key, everything=everything, with_model=with_model)
        if turns is None:
            return
        turns = await _without_opted_out(engine, turns)
        shown = with_model and OPTED_OUT not in turns.unheard.values()
        episode = await extract_of(engine, turns) if shown else None
        if with_model and (worth_asking(turns) or episode):
            learned, note = await _asked(engine, turns, episode, done)
        else:
            learned, note = await by_rules(turns), ""
        if note or learned is None:
            done.items.append(ReceiptItem(id=key.id, status="failed", reason=note))
            return
        change = done.changes.get(root_of(key.scope)) or engine.new_id()
        try:
            written = await write(engine, turns, learned, episode=episode, change=change)
        except Conflict:
            return  # another worker was faster; its work stands
        except Invalid as error:  # it can never be written; others must not wait for it
            await failed(engine, store, key.scope, _work(key), str(error))
            done.items.append(ReceiptItem(id=key.id, status="failed", reason=str(error)))
            return
        done.items += written.items
        done.usage = sum_of(done.usage, Usage(texts_embedded=len(written.vectors)))
        done.changes[root_of(key.scope)] = change
        if turns.up_to >= turns.session.last_seq:
            return


async def _asked(
    engine: Engine, turns: Turns, episode: Record | None, done: LearnRound
) -> tuple[Learned | None, str]:
    """What a model makes of the turns, or a note why there is nothing yet. A model that fails
    leaves everything as it is, and is asked again later."""
    store, scope, work = turns.store, turns.session.scope, _work(turns.key)
    if waits := await may_try(engine, store, scope, work):
        return None, waits
    # A holder of its own: two rounds in one process must not both pay either.
    holder = engine.new_id()
    if not await hold(engine, store, scope, work, LEASE_SECONDS, holder):
        return None, "another worker is at it"
    try:
        if await _was_learned_meanwhile(turns):
            return None, "another worker was faster"
        learned, usage = await by_model(engine, turns, draft=episode.text if episode else "")
        done.usage = sum_of(done.usage, usage)
    except (Unavailable, Invalid) as error:
        # A refusal of our own, such as a budget that is used up, is no try.
        done.usage = sum_of(done.usage, _usage_of(error))
        retry_after = getattr(error, "retry_after", None) or 0.0
        tried = not isinstance(error, Unavailable) or isinstance(error, FailedCall)
        await failed(engine, store, scope, work, str(error), tried=tried, retry_after=retry_after)
        return None, f"nothing learned yet, will be tried again: {error}"
    finally:
        await release(engine, store, scope, work, holder)
    await succeeded(engine, store, scope, work)
    return learned, ""


def _work(key: SessionKey) -> str:
    return f"{READER}/{key.id}"


def _usage_of(error: Exception) -> Usage:
    return error.usage if isinstance(error, AnswerError | FailedCall) else Usage()


async def _was_learned_meanwhile(turns: Turns) -> bool:
    """Between reading the session and holding the lease, another worker may have finished."""
    now = await turns.store.sessions(root_of(turns.session.scope), (turns.key,))
    before = turns.session.cursors.get(READER, 0)
    return not now or now[0].cursors.get(READER, 0) != before


async def _without_opted_out(engine: Engine, turns: Turns) -> Turns:
    """The log may hold what was said before its author opted out; nothing more comes of it."""
    if turns.store is engine.volatile:
        return turns
    scope = turns.session.scope
    authors = {message.author for message in turns.messages}
    out = {author for author in authors if not await engine.persists(scope, (author,))}
    if not out:
        return turns
    said = [replace(one, text="") if one.author in out else one for one in turns.messages]
    unheard = {one.id: OPTED_OUT for one in turns.messages if one.author in out}
    earlier = [one for one in turns.earlier if one.author not in out]
    return replace(turns, messages=said, earlier=earlier, unheard={**turns.unheard, **unheard})
