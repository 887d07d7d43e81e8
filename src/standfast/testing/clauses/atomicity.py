"""All of a batch happens, or nothing of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from standfast.errors import Conflict, Invalid
from standfast.ports import Store
from standfast.testing.harness import Contract, clause, refusal
from standfast.testing.snapshots import snapshot
from standfast.testing.values import (
    NOW,
    ROOT,
    SPACE,
    make_batch,
    make_item,
    make_message,
    make_move,
    make_record,
    make_relation,
    make_search,
    make_summary,
    put,
    unit,
)
from standfast.types import Erase, Session


async def _stays_as_it_was(store: Store, *bad: Any, **fields: Any) -> None:
    await put(
        store,
        make_record("old", hash="taken"),
        make_message("m0"),
        make_item("old"),
        Session(scope=ROOT, id="known"),
    )
    before = await snapshot(store, space=SPACE)
    error = Conflict if fields.pop("conflict", False) else Invalid
    good = (
        make_record("new"),
        replace(make_record("old", hash="taken"), version=1, importance=0.9),
        make_message("m1"),
        make_message("m1", session="brand new"),
        Session(scope=ROOT, id="another"),
        make_move(0, 1),
        make_summary("s1", 1, 1),
        make_relation("old", "new"),
        make_item("new"),
        replace(make_item("old", 2), version=1),
        Erase(kind="item", scope=ROOT, namespace="policy", id="nobody"),
    )
    given = {"vectors": {"new": unit(1, 0, 0)}, "space": SPACE, "used": ("old",), **fields}
    await refusal(store, make_batch(*good, *bad, **given), error)
    assert await snapshot(store, space=SPACE) == before
    assert await store.search(make_search(text="new")) == []
    assert (await put(store, *good, used=("old",))) == 2


class AtomicityClauses(Contract):
    """Whatever is wrong with a batch, nothing of it is there afterwards."""

    @clause
    async def test_X2_stale_record_undoes_the_batch(self, store: Store) -> None:
        """A stale version anywhere: nothing applied."""
        stale = replace(make_record("nobody"), version=3)
        await _stays_as_it_was(store, stale, conflict=True)

    @clause
    async def test_X2_stale_item_undoes_the_batch(self, store: Store) -> None:
        """Items come last; records, messages and cursors before them are taken back."""
        stale = make_item("stale", version=4)
        await _stays_as_it_was(store, stale, conflict=True)

    @clause
    async def test_X2_stale_relation_undoes_the_batch(self, store: Store) -> None:
        """A stale relation: nothing applied."""
        stale = make_relation("new", "old", version=2)
        await _stays_as_it_was(store, stale, conflict=True)

    @clause
    async def test_X2_stale_session_undoes_the_batch(self, store: Store) -> None:
        """A stale session: nothing applied."""
        await _stays_as_it_was(store, Session(scope=ROOT, id="known"), conflict=True)

    @clause
    async def test_X2_stale_cursor_undoes_the_batch(self, store: Store) -> None:
        """A moved cursor: nothing applied, the good move neither."""
        await _stays_as_it_was(store, make_move(1, 2, "other"), conflict=True)

    @clause
    async def test_X2_taken_message_id_undoes_the_batch(self, store: Store) -> None:
        """A taken message id: nothing applied, no number of the session used up."""
        await _stays_as_it_was(store, make_message("m0"), conflict=True)

    @clause
    async def test_X2_taken_hash_undoes_the_batch(self, store: Store) -> None:
        """An equal live text: nothing applied."""
        await _stays_as_it_was(store, make_record("twin", hash="taken"), conflict=True)

    @clause
    async def test_X2_foreign_scope_undoes_the_batch(self, store: Store) -> None:
        """One thing of another root: nothing applied in either root."""
        await _stays_as_it_was(store, make_record("x", scope="org:acme2"), root=ROOT)
        assert await store.records(None, ["x"], now=NOW) == []

    @clause
    async def test_X2_vector_without_record_undoes_the_batch(self, store: Store) -> None:
        """A vector needs its record."""
        vectors = {"new": unit(1, 0, 0), "nobody": unit(1, 0, 0)}
        await _stays_as_it_was(store, vectors=vectors)

    @clause
    async def test_X2_vectors_of_different_length_undo_the_batch(self, store: Store) -> None:
        """One space has one dimension."""
        vectors = {"new": unit(1, 0, 0), "old": unit(1, 0)}
        await _stays_as_it_was(store, vectors=vectors)

    @clause
    async def test_X2_broken_vector_undoes_the_batch(self, store: Store) -> None:
        """A vector is a row of four-byte numbers."""
        await _stays_as_it_was(store, vectors={"new": b"12345"})

    @clause
    async def test_X2_vectors_without_space_undo_the_batch(self, store: Store) -> None:
        """Nobody can compare a vector of no space."""
        await _stays_as_it_was(store, space="")

    @clause
    async def test_X2_relation_without_end_undoes_the_batch(self, store: Store) -> None:
        """Both ends of a relation exist or are made in the same batch."""
        await _stays_as_it_was(store, make_relation("new", "nobody"))
