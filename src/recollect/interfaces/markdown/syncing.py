"""One round between a workspace and its store: edits in, upkeep, changes out.

The order makes every step safe to repeat. The store is written first, then MEMORY.md, then the
snapshot that says what MEMORY.md held, and last the number of the journal up to which all of it
stands. Whoever is killed in between is caught up by the next round.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from recollect.engine import Engine
from recollect.errors import Conflict, Invalid
from recollect.interfaces.markdown.config import Config
from recollect.interfaces.markdown.edits import Plan, plan_edits
from recollect.interfaces.markdown.exchange import Asker
from recollect.interfaces.markdown.folders import Folder, Stamp
from recollect.interfaces.markdown.history import Entry, ids_in
from recollect.interfaces.markdown.learning import Folded, learn_from
from recollect.interfaces.markdown.looking import (
    entries_after,
    facts_of,
    known_about,
    last_number,
    sessions_of,
    sessions_touched,
    tells_something,
)
from recollect.interfaces.markdown.mirror import (
    PAGE_BYTES_MAX,
    Snapshot,
    append_history,
    drop_history,
    episode_entries,
    history_gone,
    lines_written,
    memory_page,
    read_history,
    read_snapshot,
    summaries_of,
    summary_entries,
    write_sessions,
    write_snapshot,
)
from recollect.interfaces.markdown.pages import parse
from recollect.interfaces.markdown.taking import ACTOR, Outcome, take_in
from recollect.interfaces.markdown.workspace import MEMORY_FILE, Places, Workspace
from recollect.memory import AsyncMemory
from recollect.policies import policy_from, policy_of
from recollect.scopes import root_of
from recollect.types import Item, Receipt, ReceiptItem, SessionKey, Summary

NAMESPACE = "mirror"
ATTEMPTS_MAX = 5
WATCH_SECONDS = 1.0
ROUND_SECONDS_MAX = 60.0  # what expires is not in the journal, so look now and then
ENTRIES_MAX = 20_000  # further behind than this, everything is compared anew


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """MEMORY.md as it was read."""

    text: str
    digest: str
    stamp: Stamp


@dataclass(slots=True, kw_only=True)
class Round:
    """What one round knows and does."""

    places: Places
    config: Config
    snapshot: Snapshot | None
    state: Item | None
    number: int  # of the journal, when the round began
    touched: set[str] | None  # sessions; None: look at all of them
    erased: bool  # summaries may be gone
    outcome: Outcome = field(default_factory=Outcome)
    plan: Plan = field(default_factory=Plan)
    held: tuple[str, ...] = ()
    told: dict[str, str] = field(default_factory=dict)  # summary id -> a model's account

    @property
    def last(self) -> Snapshot:
        return self.snapshot or Snapshot()

    @property
    def writes_files(self) -> bool:
        return self.config.memory_window > 0


@dataclass(slots=True, kw_only=True)
class Mirror:
    engine: Engine
    workspace: Workspace
    scope: str
    model: Asker | None = None

    @property
    def memory(self) -> AsyncMemory:
        return AsyncMemory(self.engine)

    @property
    def root(self) -> str:
        return root_of(self.scope)

    async def sync(self, *, accept: bool = False) -> Receipt:
        """One round. ``accept`` also retires what a drastic edit of MEMORY.md had removed.

        Invalid: a file cannot be read, or is not what it should be; nothing was changed.
        Unavailable: the workspace or the store cannot be written.
        """
        if not await self.engine.persists(self.scope):
            note = f"{self.scope} opted out of persistence: the files were left alone"
            return Receipt(items=(), notes=(note,))
        config = self.workspace.config()
        with self.workspace.opened() as places:
            async with places.memory.locked():
                this = await self._begin(places, config)
                await self._run(this, accept)
        this.outcome.notes += config.notes
        return this.outcome.receipt()

    async def _begin(self, places: Places, config: Config) -> Round:
        read_page(places.memory)  # what cannot be read is refused before anything is done
        snapshot = read_snapshot(places.memory)
        state = await self._state()
        number, touched, rebuild = await self._news(state, snapshot, config)
        return Round(
            places=places,
            config=config,
            snapshot=snapshot,
            state=state,
            number=number,
            touched=touched,
            erased=rebuild or touched is None,
        )

    async def _run(self, this: Round, accept: bool) -> None:
        await self._follow_config(this.config)
        await self._edits_in(this, accept)
        before = await last_number(self.engine, self.root)
        upkeep = await self.memory.maintain()
        this.outcome.items += [i for i in upkeep.items if i.reason.startswith("folded")]
        this.outcome.notes += upkeep.notes
        fresh = await entries_after(self.engine, self.root, before)
        if this.touched is not None:
            more = sessions_touched(fresh, self.scope)
            this.touched = None if more is None else this.touched | more
        await self._learn(this)
        await self._log_out(this)
        files = await write_sessions(
            self.engine, self.scope, this.places.sessions, this.last.sessions, this.touched
        )
        await self._page_out(this, tuple(sorted(files)), accept)
        await self._remember_number(this)

    # Where we stand

    async def _state(self) -> Item | None:
        found = await self.engine.store.items(
            self.root, NAMESPACE, now=self.engine.now(), keys=(self.workspace.key,)
        )
        return found[0] if found else None

    async def _news(
        self, state: Item | None, snapshot: Snapshot | None, config: Config
    ) -> tuple[int, set[str] | None, bool]:
        """The journal's number now, the sessions touched since the last round, and whether to
        compare everything: the first time, after a gap, or when a file's record is gone."""
        newest = await last_number(self.engine, self.root)
        value = state.value if state and isinstance(state.value, dict) else {}
        number = value.get("number")
        usable = (
            isinstance(number, int)
            and 0 <= number <= newest
            and newest - number <= ENTRIES_MAX
            and snapshot is not None
            and (value.get("logged") is True or config.memory_window == 0)
        )
        if not usable or not isinstance(number, int):
            return newest, None, True
        entries = await entries_after(self.engine, self.root, number)
        if number < newest and (not entries or entries[0].seq != number + 1):
            return newest, None, True
        return newest, sessions_touched(entries, self.scope), False

    async def _remember_number(self, this: Round) -> None:
        """Only after something that concerns the files: our own note of it does not."""
        value = {"number": this.number, "logged": this.writes_files}
        if this.state and this.state.value == value:
            return
        if this.state and this.state.value.get("logged") == this.writes_files:
            since = await entries_after(self.engine, self.root, this.state.value["number"])
            if not any(tells_something(entry) for entry in since):
                return
        item = Item(
            scope=self.root,
            namespace=NAMESPACE,
            key=self.workspace.key,
            value=value,
            version=this.state.version if this.state else 0,
        )
        batch = self.engine.batch(self.root, "mirror", actor=ACTOR, change="", items=(item,))
        with suppress(Conflict):  # another place may mirror the same folder; both are right
            await self.engine.commit(self.engine.store, batch)

    async def _follow_config(self, config: Config) -> None:
        """Sessions that were begun under another window get this one."""
        wanted = policy_of(self.engine.profile)
        if wanted.rule != "window":
            return
        changed = []
        async for session in sessions_of(self.engine, self.scope):
            policy = policy_from(session.policy, wanted)
            if policy.rule == "window" and policy.above != config.memory_window:
                changed.append(replace(session, policy=str(wanted)))
        for session in changed:
            batch = self.engine.batch(
                self.root, "memory_window", actor=ACTOR, change="", sessions=(session,)
            )
            with suppress(Conflict):  # it is being written to; the next round sees it again
                await self.engine.commit(self.engine.store, batch)

    # MEMORY.md into the store

    async def _edits_in(self, this: Round, accept: bool) -> None:
        page = read_page(this.places.memory)
        this.held = ()
        this.plan = Plan()
        if page is None or (page.digest == this.last.page and not this.last.held):
            return
        lines = parse(page.text)
        known = await known_about(self.engine, self.scope, lines, this.last.lines)
        this.plan = plan_edits(
            lines,
            this.last.lines,
            known,
            saved_at=datetime.fromtimestamp(page.stamp.changed / 1e9, UTC),
            now=self.engine.now(),
        )
        await take_in(self.memory, self.scope, this.plan, this.outcome)
        if this.plan.is_drastic and not accept:
            this.held = tuple(this.plan.retired)
            this.outcome.notes.append(held_notice(this.plan))
        elif this.plan.retired:
            receipt = await self.memory.archive(this.plan.retired, actor=ACTOR)
            this.outcome.add(receipt, "its line was deleted")

    # The store into MEMORY.md

    async def _page_out(self, this: Round, files: Sequence[str], accept: bool) -> None:
        """Write it anew, unless somebody saved it since it was read: then read it again first."""
        for _ in range(ATTEMPTS_MAX):
            before = read_page(this.places.memory)
            if before and before.digest != this.last.page and self._was_saved(this, before):
                await self._edits_in(this, accept)
            if await self._page_written(this, before, files):
                return
        this.outcome.notes.append("MEMORY.md keeps being saved; the next round writes it")

    def _was_saved(self, this: Round, page: Page) -> bool:
        return this.plan.is_empty or page.digest != self._seen_digest

    _seen_digest: str = ""

    async def _page_written(
        self, this: Round, before: Page | None, files: Sequence[str]
    ) -> bool:
        folder = this.places.memory
        facts = await facts_of(self.engine, self.scope)
        shown = {id_: record for id_, record in facts.items() if id_ not in this.held}
        notices = [held_notice(this.plan)] if this.held else []
        page = await memory_page(self.engine, self.scope, shown, notices)
        data = page.text.encode()
        lines = lines_written(page.shown, this.held, this.last.lines, self.engine.now())
        if this.outcome.failed or not self._may_write(this, before, facts):
            write_snapshot(folder, replace(this.last, sessions=tuple(files)))
            return True
        if folder.stamp(MEMORY_FILE) != (before.stamp if before else None):
            return False
        if before is None or before.text.encode() != data:
            folder.replace(MEMORY_FILE, data)
        this.outcome.notes += [_conflict_note(group) for group in page.conflicts]
        snapshot = Snapshot(
            lines=lines, page=digest_of(data), held=this.held, sessions=tuple(files)
        )
        if snapshot != this.snapshot:
            write_snapshot(folder, snapshot)
        return True
