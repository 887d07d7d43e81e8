"""How much of the exact top ten a native search finds, where there is much to choose from."""

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Callable, Sequence

import numpy as np

from standfast.ports import Store
from standfast.stores.surreal import SurrealStore
from standfast.testing.values import make_batch, make_record, make_search
from standfast.types import Hit, Search

DIMENSIONS = 128
SPACE = f"proof/{DIMENSIONS}"
TOP = 10
QUESTIONS = 40
BATCH = 200


Opened = Callable[[str, int], Awaitable[Store]]


async def recalls(
    opened: Opened, *, records: int, among: Sequence[int] = (1, 100)
) -> list[tuple[float, float]]:
    """By words and by meaning, in one scope of that size and in one of a hundred. ``opened``: the
    store for so many scopes, searched "native" or "exact"; never both at once."""
    found = []
    for scopes in among:
        asked = _questions(scopes)
        store = await opened("native", scopes)
        began = time.perf_counter()
        await _fill(store, records, scopes)
        loaded = time.perf_counter()
        await store.search(asked[0])
        if isinstance(store, SurrealStore):
            await store.built()
        built = time.perf_counter()
        got = [await store.search(one) for one in asked]
        native = (time.perf_counter() - built) / len(asked)
        await store.close()
        exact = await opened("exact", scopes)
        for one in asked:  # every scope is loaded
            await exact.search(one)
        warm = time.perf_counter()
        right = [await exact.search(one) for one in asked]
        indexed = (time.perf_counter() - warm) / len(asked)
        await exact.close()
        found.append(_compared(got, right))
        words, meaning = found[-1]
        print(  # for whoever runs it with -s
            f"\n{records:,} records, scopes: {scopes}; words {words:.3f}, meaning {meaning:.3f};"
            f" native {native * 1e3:.1f} ms, through the index {indexed * 1e3:.1f} ms;"
            f" loaded {records / (loaded - began):.0f} a second, built in {built - loaded:.1f} s"
        )
    return found


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


def _compared(got: list[list[Hit]], right: list[list[Hit]]) -> tuple[float, float]:
    words, near = list[float](), list[float]()
    for own, exact in zip(got, right, strict=True):
        for shares, best in ((words, _by_word), (near, _by_meaning)):
            if wanted := best(exact):
                shares.append(len(wanted & best(own)) / len(wanted))
    return sum(words) / len(words), sum(near) / len(near)


def _by_word(hits: list[Hit]) -> set[str]:
    best = sorted(hits, key=lambda hit: (-hit.keyword, hit.record.id))[:TOP]
    return {hit.record.id for hit in best if hit.keyword > 0}


def _by_meaning(hits: list[Hit]) -> set[str]:
    best = sorted(hits, key=lambda hit: (-(hit.similarity or -2.0), hit.record.id))[:TOP]
    return {hit.record.id for hit in best}
