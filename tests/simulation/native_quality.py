"""How much of the exact top ten a native search finds, where there is much to choose from."""

from __future__ import annotations

import random

import numpy as np

from recollect.ports import Store
from recollect.stores.redis import RedisStore
from recollect.testing.values import make_batch, make_record, make_search
from recollect.types import Hit, Search

DIMENSIONS = 128
SPACE = f"proof/{DIMENSIONS}"
TOP = 10
QUESTIONS = 40
BATCH = 200


async def recalls(address: str, *, records: int) -> tuple[tuple[float, float], tuple[float, float]]:
    """By words and by meaning: in one scope of that size, and in one of a hundred."""
    found = []
    for scopes in (1, 100):
        store = await RedisStore.open(f"{address}&prefix=q{scopes}")
        exact = await RedisStore.open(f"{address.replace('native', 'exact')}&prefix=q{scopes}")
        try:
            await _fill(store, records, scopes)
            found.append(await _compared(store, exact, scopes))
        finally:
            await store.close()
            await exact.close()
    return found[0], found[1]


def _scope(number: int, scopes: int) -> str:
    return "org:acme" if scopes == 1 else f"org:acme:agent:a{number % scopes:03}"


async def _fill(store: Store, records: int, scopes: int) -> None:
    chance = random.Random(7)
    numbers = np.random.default_rng(7)
    topics = numbers.normal(size=(64, DIMENSIONS))
    words = [f"word{n}" for n in range(4000)]
    weights = [1 / (n + 1) for n in range(len(words))]
    for start in range(0, records, BATCH):
        vectors, batch = {}, []
        for n in range(start, start + BATCH):
            text = " ".join(chance.choices(words, weights, k=chance.randrange(8, 24)))
            batch.append(make_record(f"r{n:06}", text, _scope(n, scopes)))
            vector = topics[n % 64] + numbers.normal(scale=0.8, size=DIMENSIONS)
            vectors[f"r{n:06}"] = (vector / np.linalg.norm(vector)).astype("<f4").tobytes()
        await store.commit(make_batch(*batch, vectors=vectors, space=SPACE, id=f"b{start}"))


def _questions(scopes: int) -> list[Search]:
    chance = random.Random(8)
    numbers = np.random.default_rng(8)
    topics = np.random.default_rng(7).normal(size=(64, DIMENSIONS))
    asked = []
    for n in range(QUESTIONS):
        vector = topics[n % 64] + numbers.normal(scale=0.8, size=DIMENSIONS)
        text = " ".join(f"word{min(3999, int(chance.paretovariate(0.5)))}" for _ in range(4))
        asked.append(
            make_search(
                _scope(n * 7, scopes),
                text=text,
                vector=(vector / np.linalg.norm(vector)).astype("<f4").tobytes(),
                space=SPACE,
                limit=TOP,
            )
        )
    return asked


async def _compared(store: Store, exact: Store, scopes: int) -> tuple[float, float]:
    words, near = [], []
    for asked in _questions(scopes):
        got, right = await store.search(asked), await exact.search(asked)
        for shares, best in ((words, _by_word), (near, _by_meaning)):
            wanted = best(right)
            if wanted:
                shares.append(len(wanted & best(got)) / len(wanted))
    return sum(words) / len(words), sum(near) / len(near)


def _by_word(hits: list[Hit]) -> set[str]:
    best = sorted(hits, key=lambda hit: (-hit.keyword, hit.record.id))[:TOP]
    return {hit.record.id for hit in best if hit.keyword > 0}


def _by_meaning(hits: list[Hit]) -> set[str]:
    best = sorted(hits, key=lambda hit: (-(hit.similarity or -2.0), hit.record.id))[:TOP]
    return {hit.record.id for hit in best}
