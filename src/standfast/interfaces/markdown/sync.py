"""One round between a workspace and its store: edits in, upkeep, changes out.

The order makes every step safe to repeat. The store is written first, then MEMORY.md, then the
snapshot that says what MEMORY.md held, and last the number of the journal up to which all of it
stands. Whoever is killed in between is caught up by the next round.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from standfast.changes import Change, put_item
from standfast.engine import Engine
from standfast.errors import Conflict, Invalid
from standfast.interfaces.markdown.arrivals import take_in_log, take_in_sessions
from standfast.interfaces.markdown.config import Config
from standfast.interfaces.markdown.edits import EditPlan, Written, flat, plan_edits
from standfast.interfaces.markdown.exchange import ExchangeModel
from standfast.interfaces.markdown.folders import Folder, Stamp
from standfast.interfaces.markdown.history import ids_in
from standfast.interfaces.markdown.intake import ACTOR, EditOutcome, take_in
from standfast.interfaces.markdown.mirror import (
    PAGE_BYTES_MAX,
    MemoryPage,
    WorkspaceSnapshot,
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
from standfast.interfaces.markdown.pages import parse
from standfast.interfaces.markdown.patches import patched
from standfast.interfaces.markdown.updates import learn_from
from standfast.interfaces.markdown.view import (
    entries_after,
    facts_of,
    heads_of,
    known_about,
    last_number,
    records_by_id,
    sessions_of,
    sessions_touched,
    tells_something,
)
from standfast.interfaces.markdown.workspace import HISTORY_FILE, MEMORY_FILE, Places, Workspace
from standfast.memory import AsyncMemory
from standfast.packet.policy import policy_from, policy_of
from standfast.scopes import root_of
from standfast.text.compare import text_hash
from standfast.types import MIRROR, Item, Receipt, Record, SessionKey, Summary
from standfast.types.frozen import frozen
from standfast.upkeep.loop import one_round

ATTEMPTS_MAX = 5
ACCOUNTS_PER_ROUND = 3  # how often a model is asked
ENTRIES_MAX = 20_000  # further behind than this, everything is compared anew


@frozen
class FilePage:
    """MEMORY.md as it was read."""

    text: str
    data: bytes
    stamp: Stamp


@dataclass(slots=True, kw_only=True)
class SyncRound:
    """What one round knows and does."""

    places: Places
    config: Config
    last: WorkspaceSnapshot  # what the files held
    state: Item | None
    number: int  # of the journal, when the round began
    touched: set[str] | None  # sessions; None: look at all of them
    is_first: bool  # there was no snapshot
    rebuild: bool  # files that were there are gone
    page: FilePage | None = None  # as it was when its edits were taken in
    plan: EditPlan = field(default_factory=EditPlan)
    edited: bool = False
    held: tuple[str, ...] = ()
    outcome: EditOutcome = field(default_factory=EditOutcome)

    @property
    def logs(self) -> bool:
        """A window of 0 leaves MEMORY.md and HISTORY.md alone."""
        return self.config.memory_window > 0


@frozen
class Mirror:
    engine: Engine
    workspace: Workspace
    scope: str
    model: ExchangeModel | None = None

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

    async def _run(self, this: SyncRound, accept: bool) -> None:
        await self._follow_config(this.config)
        await self._arrivals_in(this)
        await self._edits_in(this, accept)
        await self._upkeep(this)
        await self._log_out(this)
        files = await write_sessions(
            self.engine, self.scope, this.places.sessions, this.last.sessions, this.touched
        )
        await self._page_out(this, tuple(sorted(files)), accept)
        await self._remember_number(this)

    async def _upkeep(self, this: SyncRound) -> None:
        """Older messages are folded before the files are written, so they show the result."""
        before = await last_number(self.engine, self.root)
        done = await one_round(self.engine)
        this.outcome.items += [item for item in done.items if item.reason.startswith("folded")]
        this.outcome.notes += [
            f"{item.id}: {item.reason}" for item in done.items if item.status == "failed"
        ]
        fresh = await entries_after(self.engine, self.root, before)
        more = sessions_touched(fresh, self.scope)
        if this.touched is not None:
            this.touched = None if more is None else this.touched | more

    # Where we stand

    async def _begin(self, places: Places, config: Config) -> SyncRound:
        read_page(places.memory)  # what cannot be read is refused before anything is done
        snapshot = read_snapshot(places.memory)
        if snapshot and snapshot.scope != self.scope:
            raise Invalid(
                f"{self.workspace.path} holds the memories of {snapshot.scope}, not of "
                f"{self.scope}; make another workspace for those"
            )
        complete = snapshot is not None and _all_there(places, snapshot)
        found = await self.engine.store.items(
            self.root, MIRROR, now=self.engine.now(), keys=(self.workspace.key,)
        )
        state = found[0] if found else None
        newest = await last_number(self.engine, self.root)
        touched = await self._touched(state, newest, config) if complete else None
        return SyncRound(
            places=places,
            config=config,
            last=snapshot or WorkspaceSnapshot(scope=self.scope),
            state=state,
            number=newest,
            touched=touched,
            is_first=snapshot is None,
            rebuild=not complete and state is not None,
        )

    async def _touched(self, state: Item | None, newest: int, config: Config) -> set[str] | None:
        """The sessions that changed since the last round; None: compare all of them."""
        value = state.value if state and isinstance(state.value, dict) else {}
        number = value.get("number")
        if not isinstance(number, int) or not 0 <= newest - number <= ENTRIES_MAX:
            return None
        if config.memory_window and not value.get("logged"):
            return None
        entries = await entries_after(self.engine, self.root, number)
        if number < newest and (not entries or entries[0].seq != number + 1):
            return None
        return sessions_touched(entries, self.scope)

    async def _remember_number(self, this: SyncRound) -> None:
        """Only after something that concerns the files: our own note of it does not."""
        folder = str(self.workspace.path)
        value = {"number": this.number, "logged": this.logs, "folder": folder}
        known = this.state.value if this.state and isinstance(this.state.value, dict) else {}
        number = known.get("number")
        same = (known.get("logged"), known.get("folder")) == (this.logs, folder)
        if same and isinstance(number, int) and number <= this.number:
            since = await entries_after(self.engine, self.root, number)
            if not any(tells_something(entry) for entry in since if entry.seq <= this.number):
                return
        item = Item(
            scope=self.root,
            namespace=MIRROR,
            key=self.workspace.key,
            value=value,
            version=this.state.version if this.state else 0,
        )
        with suppress(Conflict):  # somebody mirrors the same folder elsewhere; both are right
            await put_item(self.engine, item, "mirror", actor=ACTOR)

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
            change = Change(self.engine, self.root, "memory_window", actor=ACTOR)
            change.sessions.append(session)
            with suppress(Conflict):  # it is being changed; the next round sees it again
                await change.commit()

    # What was there before us

    async def _arrivals_in(self, this: SyncRound) -> None:
        """Files that nobody but us has written are not read back: where only the snapshot was
        lost, what was forgotten since would come back."""
        if not (this.is_first and this.state is not None):
            await take_in_sessions(
                self.memory, self.scope, this.places.sessions, this.last.sessions, this.outcome
            )
        if this.logs:
            await take_in_log(
                self.memory,
                self.scope,
                this.places.memory,
                this.outcome,
                torn=this.state is not None,
            )

    # MEMORY.md into the store

    async def _edits_in(self, this: SyncRound, accept: bool) -> None:
        """Doing this twice takes nothing in twice: what is known already is recognised."""
        this.page = page = read_page(this.places.memory)
        this.held, this.plan, this.outcome.failed = (), EditPlan(), False
        if page is None:
            return
        lines = parse(page.text)
        seen = this.last.seen
        known = await known_about(self.engine, self.scope, lines, this.last.lines, seen.values())
        this.plan = plan_edits(
            lines,
            this.last.lines,
            known,
            saved_at=datetime.fromtimestamp(page.stamp.changed / 1e9, UTC),
            now=self.engine.now(),
            seen=seen,
        )
        this.edited = this.edited or not this.plan.is_empty
        await take_in(self.memory, self.scope, this.plan, this.outcome)
        if this.plan.is_drastic and not accept:
            this.held = tuple(this.plan.retired)
            this.outcome.notes.append(held_notice(this.plan))
        elif this.plan.retired:
            receipt = await self.memory.archive(this.plan.retired, actor=ACTOR)
            this.outcome.add(receipt, "its line was deleted")
        self._note_taken(this)

    def _note_taken(self, this: SyncRound) -> None:
        """Lines that were taken in stand in the file, although not as we write them yet: who
        edits them before the round is finished edits these facts."""
        if not this.outcome.lines:
            return
        now = self.engine.now()
        taken = {
            id_: Written(hash=text_hash(text), at=now) for id_, text in this.outcome.lines.items()
        }
        seen = {text_hash(text): id_ for id_, text in this.outcome.lines.items()}
        this.last = replace(
            this.last, lines={**taken, **this.last.lines}, seen={**this.last.seen, **seen}
        )
        write_snapshot(this.places.memory, this.last)

    # The store into MEMORY.md

    async def _page_out(self, this: SyncRound, files: Sequence[str], accept: bool) -> None:
        """Somebody may save the file at any moment: then that is taken in first."""
        for _ in range(ATTEMPTS_MAX):
            if this.places.memory.stamp(MEMORY_FILE) != (this.page and this.page.stamp):
                await self._edits_in(this, accept)
            facts = await facts_of(self.engine, self.scope)
            if this.outcome.failed or not await self._may_write(this, facts):
                write_snapshot(this.places.memory, replace(this.last, sessions=tuple(files)))
                return
            if await self._write_page(this, facts, files):
                return
        this.outcome.notes.append("MEMORY.md keeps being saved; the next round writes it")

    async def _may_write(self, this: SyncRound, facts: dict[str, Record]) -> bool:
        """With a window of 0 only what a person edited, or what must go, is written."""
        if this.logs or this.edited or this.page is None:
            return True
        gone = [id_ for id_ in this.last.lines if id_ not in facts]
        return len(await records_by_id(self.engine, self.root, gone)) < len(gone)

    async def _write_page(
        self, this: SyncRound, facts: dict[str, Record], files: Sequence[str]
    ) -> bool:
        """False: the file was saved by somebody else meanwhile."""
        shown = {id_: record for id_, record in facts.items() if id_ not in this.held}
        notices = [held_notice(this.plan)] if this.held else []
        page = await memory_page(self.engine, self.scope, shown, notices)
        text = await self._laid_out(this, page)
        data = text.encode()
        folder = this.places.memory
        if folder.stamp(MEMORY_FILE) != (this.page and this.page.stamp):
            return False
        if this.page is None or this.page.data != data:
            folder.replace(MEMORY_FILE, data)
        snapshot = WorkspaceSnapshot(
            scope=self.scope,
            lines=lines_written(page.shown, this.held, this.last.lines, self.engine.now()),
            sessions=tuple(files),
            seen=_seen_in(text, this.last.seen, page.shown),
        )
        if this.is_first or snapshot != this.last:
            write_snapshot(folder, snapshot)
        this.outcome.notes += [_conflict_note(group) for group in page.conflicts]
        return True

    async def _laid_out(self, this: SyncRound, page: MemoryPage) -> str:
        """The file as it should be, with everything that the person wrote where it is."""
        if this.page is None:
            return page.text
        facts = {record.id: record for record in page.shown}
        lines = parse(this.page.text)
        lost = [line.id for line in lines if line.id and line.id not in facts]
        heads = await heads_of(self.engine, self.root, lost, facts)
        seen = this.last.seen
        taken = {line.text: seen.get(text_hash(line.text), "") for line in lines}
        wanted = replace(
            page.wanted,
            becomes={id_: record.id for id_, record in heads.items()},
            taken=taken,
            gone={dropped.line.text for dropped in this.plan.dropped if dropped.line.own},
        )
        return patched(this.page.text, wanted)

    # The store into HISTORY.md

    async def _log_out(self, this: SyncRound) -> None:
        """Entries are added; they go only with what they tell of."""
        folder = this.places.memory
        known = ids_in(read_history(folder))
        by_session = await self._summaries(this.touched)
        there = None
        if this.touched is None:
            there = {f"summary:{s.id}" for some in by_session for s in some}
        gone = await history_gone(self.engine, self.scope, known, there)
        for id_ in drop_history(folder, gone, torn=this.touched is None):
            this.outcome.notes.append(f"{id_} is gone from HISTORY.md with what it told of")
        if not this.logs:
            return
        told = await self._accounts(this, by_session, set(known))
        logged = set(known)
        entries = await episode_entries(self.engine, self.scope, logged)
        for summaries in by_session:
            entries += await summary_entries(self.engine, summaries, told, logged)
        for entry in append_history(folder, entries):
            this.outcome.notes.append(f"{entry.id} was added to HISTORY.md")

    async def _summaries(self, touched: set[str] | None) -> list[list[Summary]]:
        return [
            await summaries_of(self.engine, SessionKey(session.scope, session.id))
            async for session in sessions_of(self.engine, self.scope)
            if touched is None or session.id in touched
        ]

    async def _accounts(
        self, this: SyncRound, by_session: list[list[Summary]], known: set[str]
    ) -> dict[str, str]:
        """What a model says about folds that are new; it is not asked about the past."""
        if self.model is None or this.rebuild:
            return {}
        fresh = [s for some in by_session for s in some if f"summary:{s.id}" not in known]
        fresh.sort(key=lambda summary: (summary.learned_at, summary.id))
        return {
            summary.id: await learn_from(self.engine, self.scope, self.model, summary, this.outcome)
            for summary in fresh[-ACCOUNTS_PER_ROUND:]
        }


def _all_there(places: Places, snapshot: WorkspaceSnapshot) -> bool:
    """Were files removed that we had written?"""
    names = set(places.sessions.names())
    return places.memory.stamp(HISTORY_FILE) is not None and names.issuperset(snapshot.sessions)


def _seen_in(text: str, seen: Mapping[str, str], shown: Iterable[Record]) -> dict[str, str]:
    """The facts that were made of the person's own texts, as far as those are still there."""
    known = {flat(record.text): record.id for record in shown}
    found: dict[str, str] = {}
    for line in parse(text):
        hash_ = text_hash(line.text)
        id_ = seen.get(hash_) or known.get(flat(line.text))
        if line.own and id_:
            found[hash_] = id_
    return found


def read_page(folder: Folder) -> FilePage | None:
    """None if there is none; Invalid if it is too large or no text."""
    found = folder.read(MEMORY_FILE, PAGE_BYTES_MAX)
    if found is None:
        return None
    data, stamp = found
    if b"\0" in data:
        raise Invalid(f"{folder.path / MEMORY_FILE} holds binary data and was left alone")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Invalid(
            f"{folder.path / MEMORY_FILE} is not UTF-8 (byte 0x{data[error.start]:02x} at "
            f"{error.start}) and was left alone; save it as UTF-8"
        ) from None
    return FilePage(text=text, data=data, stamp=stamp)


def held_notice(plan: EditPlan) -> str:
    return (
        f"{len(plan.retired)} of {plan.lines_known} facts are missing in this file; nothing was "
        "retired. `standfast sync --accept` retires them; delete the file to get them back."
    )


def _conflict_note(group: Iterable[Record]) -> str:
    return "conflict: " + " contradicts ".join(record.id for record in group)
