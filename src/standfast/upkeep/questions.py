"""Asking a model in the background: one worker at a time pays, and what fails is tried again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import field
from typing import Generic, TypeVar

from standfast.engine import Engine
from standfast.errors import Invalid, Unavailable
from standfast.models.calls import FailedCall
from standfast.ports import AnswerError, Store
from standfast.types import Usage
from standfast.types.frozen import frozen
from standfast.upkeep.leases import failed, hold, may_try, release, succeeded

LEASE_SECONDS = 300  # longer than all tries of a model call together

Made = TypeVar("Made")


@frozen
class Answered(Generic[Made]):
    """What a model made of something; None if there is nothing yet. ``trouble`` says why not;
    there is none if another worker is at it, for then nothing is wrong."""

    made: Made | None = None
    trouble: str = ""
    usage: Usage = field(default_factory=Usage)


async def asked_once(
    engine: Engine,
    store: Store,
    scope: str,
    work: str,
    *,
    is_done: Callable[[], Awaitable[bool]],
    ask: Callable[[], Awaitable[tuple[Made, Usage]]],
    yet: str,
    news: int = 0,
) -> Answered[Made]:
    """Ask, unless another worker does or the work has to wait. ``is_done``: between reading and
    holding the lease another may have finished. A model that fails leaves everything as it is;
    ``yet`` begins what is said then. ``news``: see ``may_try``."""
    if waits := await may_try(engine, store, scope, work, news=news):
        return Answered(trouble=waits)
    # A holder of its own: two rounds in one process must not both pay either.
    holder = engine.new_id()
    if not await hold(engine, store, scope, work, LEASE_SECONDS, holder):
        return Answered()
    try:
        if await is_done():
            return Answered()
        made, usage = await ask()
    except (Unavailable, Invalid) as error:
        # A refusal of our own, such as a budget that is used up, is no try.
        tried = not isinstance(error, Unavailable) or isinstance(error, FailedCall)
        retry_after = getattr(error, "retry_after", None) or 0.0
        await failed(
            engine,
            store,
            scope,
            work,
            str(error),
            tried=tried,
            retry_after=retry_after,
            news=news,
        )
        spent = error.usage if isinstance(error, AnswerError | FailedCall) else Usage()
        return Answered(trouble=f"{yet}, will be tried again: {error}", usage=spent)
    finally:
        await release(engine, store, scope, work, holder)
    await succeeded(engine, store, scope, work)
    return Answered(made=made, usage=usage)
