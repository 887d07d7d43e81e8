"""How good a search is where there is something to choose from: exact, or nearly."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from standfast.ports import Store
from standfast.stores.dict import DictStore
from standfast.testing.harness import Contract, clause
from standfast.testing.values import NOW, ROOT, make_batch, make_record, make_search, unit
from standfast.types import Batch, Hit, Search, Vector

TOP = 10
RECALL_MIN = 0.95  # of the best by each arm, on average, for a search that is not exact
LIFT_MAX = 0.6  # by how much a lift may differ there
RECORDS = 480
DIMENSIONS = 24
QUESTIONS = 12
SPACE = f"quality/{DIMENSIONS}"
SCOPES = (ROOT, f"{ROOT}:agent:a", f"{ROOT}:agent:b", "org:other")
WORDS = [f"word{number}" for number in range(120)]


def _vector(chance: random.Random, near: Sequence[float]) -> tuple[float, ...]:
    return tuple(number + chance.gauss(0, 0.6) for number in near)


def _world() -> tuple[list[Batch], list[Search]]:
    """Records around a few topics, the same ones in every scope; and what is asked."""
    chance = random.Random(11)
    topics = [[chance.gauss(0, 1) for _ in range(DIMENSIONS)] for _ in range(8)]
    batches = []
    for start in range(0, RECORDS, 40):
        records, vectors = [], dict[str, Vector]()
        scope = SCOPES[start // 40 % len(SCOPES)]
        for number in range(start, start + 40):
            text = " ".join(chance.choices(WORDS, k=chance.randrange(3, 14)))
            records.append(make_record(f"r{number:04}", text, scope))
            vectors[f"r{number:04}"] = unit(*_vector(chance, chance.choice(topics)))
        batches.append(make_batch(*records, vectors=vectors, space=SPACE))
    questions = [
        make_search(
            SCOPES[number % 3],
            text=" ".join(chance.choices(WORDS, k=3)),
            vector=unit(*_vector(chance, chance.choice(topics))),
            space=SPACE,
            descend=number % 2 == 0,
            limit=TOP,
        )
        for number in range(QUESTIONS)
    ]
    return batches, questions


def best(hits: Sequence[Hit]) -> tuple[set[str], set[str]]:
    """The ids of the best ten by words, and of those by meaning."""
    words = sorted(hits, key=lambda hit: (-hit.keyword, hit.record.id))
    near = sorted(hits, key=lambda hit: (-(hit.similarity or -2.0), hit.record.id))
    return (
        {hit.record.id for hit in words[:TOP] if hit.keyword > 0},
        {hit.record.id for hit in near[:TOP]},
    )


async def _planted(store: Store) -> tuple[DictStore, list[Search]]:
    """The same in the store and in the reference."""
    reference = DictStore()
    batches, questions = _world()
    for batch in batches:
        await reference.commit(batch)
        await store.commit(batch)
    return reference, questions


class QualityClauses(Contract):
    @clause
    async def test_L1_the_best_are_found(self, store: Store) -> None:
        """All of them by an exact search, nearly all by another."""
        reference, questions = await _planted(store)
        shares: list[float] = []
        for asked in questions:
            exact = best(await reference.search(asked))
            found = best(await store.search(asked))
            shares += [
                len(best & got) / len(best) for best, got in zip(exact, found, strict=True) if best
            ]
        recall = sum(shares) / len(shares)
        exact_search = store.capabilities.search == "exact"
        assert recall >= (1.0 if exact_search else RECALL_MIN), f"recall {recall:.3f}"

    @clause
    async def test_L1_scores_of_what_is_found_are_right(self, store: Store) -> None:
        """Whoever found it: the same words, the same cosine; a lift may be an estimate."""
        reference, questions = await _planted(store)
        lift_max = 0.05 if store.capabilities.search == "exact" else LIFT_MAX
        for asked in questions:
            everything = await reference.search(replace(asked, limit=RECORDS))
            exact = {hit.record.id: hit for hit in everything}
            for hit in await store.search(asked):
                right = exact[hit.record.id]
                assert abs(hit.keyword - right.keyword) < 1e-6
                assert abs(hit.coverage - right.coverage) < 1e-6
                assert abs((hit.similarity or 0) - (right.similarity or 0)) < 1e-5
                assert abs((hit.lift or 0) - (right.lift or 0)) < lift_max

    @clause
    async def test_A10_no_scope_leaks_into_another(self, store: Store) -> None:
        """Not a single hit, however alike the records of others are."""
        _, questions = await _planted(store)
        for asked in questions:
            for scope in (*SCOPES, "org:acme:agent:nobody", "org:nobody"):
                where = replace(asked.where, scopes=(scope,), now=NOW, descend=False)
                hits = await store.search(replace(asked, where=where, limit=50))
                visible = {scope, ROOT} if scope.startswith(ROOT) else {scope}
                assert {hit.record.scope for hit in hits} <= visible
