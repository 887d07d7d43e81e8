"""Opening a workspace with its store, and keeping both in step for as long as it is watched."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from standfast.interfaces.markdown.exchange import ExchangeModel
from standfast.interfaces.markdown.folders import Stamp
from standfast.interfaces.markdown.mirror import read_snapshot
from standfast.interfaces.markdown.sync import Mirror
from standfast.interfaces.markdown.view import entries_after, last_number, tells_something
from standfast.interfaces.markdown.workspace import MEMORY_FILE, Workspace
from standfast.memory import AsyncMemory
from standfast.models.careful import Careful
from standfast.ports import Embedder, Prompt, Reply
from standfast.scopes import parse_scope
from standfast.types.frozen import frozen

PROFILE = "autobot"
LOOK_SECONDS = 1.0
SETTLED_SECONDS = 0.3
ROUND_SECONDS_MAX = 60.0  # what expires is not in the journal, so look now and then


@frozen
class ScopedModel:
    """The configured model, asked on behalf of one scope, within its budget."""

    careful: Careful
    scope: str

    async def ask(self, prompt: Prompt) -> Reply:
        return await self.careful.ask(prompt, scope=self.scope)


@asynccontextmanager
async def opened_mirror(
    path: str,
    *,
    scope: str | None = None,
    store: str | None = None,
    profile: str | None = None,
    embedder: str | Embedder | None = None,
    model: ExchangeModel | None = None,
) -> AsyncIterator[Mirror]:
    """A workspace and its store (its own ``memory.db``, unless another is named). The scope is
    the one it was synced with before, if there is one."""
    from standfast.wiring import open_engine, read_settings

    workspace = Workspace.at(path)
    config = workspace.config()  # before a store is made where there is no workspace
    with workspace.opened() as places:
        last = read_snapshot(places.memory)
    settings = read_settings(profile=profile or PROFILE)
    engine = await open_engine(store or workspace.store, embedder=embedder, settings=settings)
    if engine.profile.compaction == "window":
        engine.profile = replace(engine.profile, compact_above=config.memory_window)
    memory = AsyncMemory(engine)
    try:
        whose = parse_scope(scope or (last.scope if last else engine.default_scope))
        asker = model
        if asker is None and engine.models is not None:
            asker = ScopedModel(careful=engine.models, scope=whose)
        yield Mirror(engine=engine, workspace=workspace, scope=whose, model=asker)
    finally:
        await memory.close()


@frozen
class Seen:
    """How things stood at some moment: the journal's number, and MEMORY.md."""

    number: int
    stamp: Stamp | None


async def seen_now(mirror: Mirror) -> Seen:
    number = await last_number(mirror.engine, mirror.root)
    return Seen(number=number, stamp=page_stamp(mirror))


async def until_something_changes(mirror: Mirror, seen: Seen) -> None:
    """Wait until the store or MEMORY.md is other than it was, at most a minute."""
    number, stamp = seen.number, seen.stamp
    waited = 0.0
    while waited < ROUND_SECONDS_MAX:
        await mirror.engine.store.journal(mirror.root, after=number, limit=1, wait=LOOK_SECONDS)
        waited += LOOK_SECONDS
        fresh = await entries_after(mirror.engine, mirror.root, number)
        if page_stamp(mirror) != stamp or any(map(tells_something, fresh)):
            await _settled(mirror)
            return
        number = fresh[-1].seq if fresh else number


async def _settled(mirror: Mirror) -> None:
    """Editors save in several steps: wait until the file stays as it is for a moment."""
    stamp = page_stamp(mirror)
    while True:
        await asyncio.sleep(SETTLED_SECONDS)
        if page_stamp(mirror) == stamp:
            return
        stamp = page_stamp(mirror)


def page_stamp(mirror: Mirror) -> Stamp | None:
    with mirror.workspace.opened() as places:
        return places.memory.stamp(MEMORY_FILE)
