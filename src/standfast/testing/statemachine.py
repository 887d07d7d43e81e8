"""The same random operations on the reference store and on another: every answer is equal.

``store_machine(open_other)`` is a Hypothesis state machine; run it with
``hypothesis.stateful.run_state_machine_as_test``. Names are drawn from small pools, so that
operations meet: ids clash, texts are written twice, versions go stale, rows expire.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from standfast.errors import Conflict, StandfastError
from standfast.ports import Store
from standfast.stores.dict import DictStore
from standfast.testing import draws
from standfast.testing.draws import DrawnBatch
from standfast.testing.snapshots import snapshot
from standfast.testing.values import NOW, ask
from standfast.types import Batch, Find, Listing, Search, SessionKey

Asked = TypeVar("Asked", Search, Listing, Listing | Find)


@dataclass(frozen=True)
class RefusedCommit:
    """An error as both stores must give it."""

    error: type[StandfastError]
    kind: str = ""
    ids: tuple[str, ...] = ()


class StoreMachine(RuleBasedStateMachine):
    """Two stores, one clock, and whatever Hypothesis makes of them."""

    open_other: Callable[[], Awaitable[Store]]

    def __init__(self) -> None:
        super().__init__()
        self._runner = asyncio.Runner()
        self._reference: Store = DictStore()
        self._other: Store = self._runner.run(_awaited(type(self).open_other()))
        self._now = NOW
        self._batches: list[Batch] = []
        self._changed = True

    def teardown(self) -> None:
        self._runner.run(self._reference.close())
        self._runner.run(self._other.close())
        self._runner.close()

    @rule(minutes=st.sampled_from([1, 3, 10]))
    def pass_time(self, minutes: int) -> None:
        self._now += timedelta(minutes=minutes)
        self._changed = True

    @rule(drafts=st.lists(draws.drafts(), min_size=1, max_size=3))
    def commit(self, drafts: list[DrawnBatch]) -> None:
        for draft in drafts:
            id_ = f"batch-{len(self._batches)}"
            batch = self._runner.run(draws.complete(self._reference, draft, id_, self._now))
            self._batches.append(batch)
            self._commit_to_both(batch)
            self.both_hold_the_same()

    @precondition(lambda self: self._batches)
    @rule(data=st.data())
    def commit_again(self, data: st.DataObject) -> None:
        self._commit_to_both(data.draw(st.sampled_from(self._batches)))

    @rule(query=draws.listings())
    def list_records(self, query: Listing | Find) -> None:
        query = _at(query, self._now)
        self._compare(lambda store: ask(store, query))

    @rule(query=draws.searches())
    def search(self, query: Search) -> None:
        query = _at(query, self._now)
        self._compare(lambda store: _scores(store, query))

    @rule(query=draws.searches(), limit=st.integers(0, 3))
    def search_the_best(self, query: Search, limit: int) -> None:
        """Of equally good hits a store may choose either, so only the scores are compared."""
        query = replace(_at(query, self._now), limit=limit)
        self._compare(lambda store: _best_scores(store, query))

    @rule(root=st.sampled_from([None, *draws.ROOTS]), ids=draws.record_ids())
    def read_by_id(self, root: str | None, ids: list[str]) -> None:
        self._compare(lambda store: store.records(root, ids, now=self._now))

    @rule(touching=draws.touched_ids(), change=st.sampled_from(["", "run", "batch-1"]))
    def read_history(self, touching: str, change: str) -> None:
        self._compare(
            lambda store: store.journal(None, touching=touching, change=change, limit=1000)
        )

    @rule(
        key=draws.session_keys(),
        after=st.integers(0, 4),
        limit=st.integers(0, 3),
        newest=st.booleans(),
    )
    def read_session(self, key: SessionKey, after: int, limit: int, newest: bool) -> None:
        self._compare(
            lambda store: store.messages(
                key, now=self._now, after=after, limit=limit, newest=newest
            )
        )
        self._compare(lambda store: store.summaries(key, after=after, limit=limit))

    @invariant()
    def both_hold_the_same(self) -> None:
        if self._changed:
            self._changed = False
            self._compare(lambda store: _everything(store, self._now))

    def _commit_to_both(self, batch: Batch) -> None:
        self._changed = True
        self._compare(lambda store: store.commit(batch))

    def _compare(self, call: Callable[[Store], Awaitable[object]]) -> None:
        expected = self._runner.run(_outcome(call(self._reference)))
        answer = self._runner.run(_outcome(call(self._other)))
        assert answer == expected


def store_machine(open_other: Callable[[], Awaitable[Store]]) -> type[StoreMachine]:
    """A state machine that compares the dict store with what ``open_other`` opens: an empty
    store each time."""

    class Machine(StoreMachine):
        pass

    Machine.open_other = staticmethod(open_other)
    return Machine


def _at(asked: Asked, now: datetime) -> Asked:
    return replace(asked, where=replace(asked.where, now=now))


async def _awaited(call: Awaitable[Store]) -> Store:
    return await call


async def _outcome(call: Awaitable[object]) -> object:
    try:
        return await call
    except Conflict as conflict:
        return RefusedCommit(Conflict, conflict.kind, conflict.ids)
    except StandfastError as error:
        return RefusedCommit(type(error))


async def _everything(store: Store, now: datetime) -> object:
    space = draws.SPACES[0]
    held = [
        await snapshot(store, root, now=now, namespaces=draws.NAMESPACES, space=space)
        for root in draws.ROOTS
    ]
    found = [await _scores(store, _at(one, now)) for one in draws.standing_queries()]
    return held, found, await store.roots()


async def _scores(store: Store, query: Search) -> object:
    return {
        hit.record.id: (
            hit.record,
            _rounded(hit.keyword),
            _rounded(hit.coverage),
            None if hit.similarity is None else _rounded(hit.similarity),
        )
        for hit in await store.search(query)
    }


async def _best_scores(store: Store, query: Search) -> object:
    hits = await store.search(query)
    words = sorted((_rounded(hit.keyword) for hit in hits), reverse=True)
    near = sorted(
        (_rounded(hit.similarity) for hit in hits if hit.similarity is not None), reverse=True
    )
    return words[: query.limit], near[: query.limit]


def _rounded(score: float) -> float:
    return round(score, 4) + 0.0  # no minus zero
