"""Does a small scope feel what else is in the file?"""

from __future__ import annotations

from pathlib import Path

from bench.filling import fill, query_of
from bench.fresh import start
from bench.report import Result, Table, at_most, ms, number, times
from bench.running import Bench
from bench.texts import Question
from bench.timing import Contender, Times, race
from standfast.stores.sqlite import SqliteStore

SCOPE = "org:small:agent:one"
ALONE, OTHERS, SIBLINGS = "alone", "others", "siblings"
VISITED = 50  # neighbours that are asked first, so that their indexes are in memory too
STARTS = 3


async def run(bench: Bench) -> Result:
    sizes = bench.sizes
    with bench.desk() as desk:
        stores = {name: await SqliteStore.open(desk / f"{name}.db") for name in _scopes(bench)}
        try:
            for name, scopes in _scopes(bench).items():
                total = sizes.tenant * len(scopes)
                bench.say(f"neighbours: writing {total:,} records ({name})")
                for begin, scope in zip(range(0, total, sizes.tenant), scopes, strict=True):
                    await fill(bench, stores[name], scope, begin, begin + sizes.tenant, total)
            questions = bench.corpus.questions(sizes.questions)
            for name, scopes in _scopes(bench).items():
                for scope in scopes[-VISITED:]:
                    await stores[name].search(query_of(questions[0], scope))
            bench.say("neighbours: asking")
            contenders = [_asking(name, store) for name, store in stores.items()]
            measured = await race(contenders, questions, sizes.rounds)
        finally:
            for store in stores.values():
                await store.close()
        first = {name: _first_answer(desk / f"{name}.db", questions[:1]) for name in stores}
    return _result(bench, measured, first)


def _scopes(bench: Bench) -> dict[str, list[str]]:
    """Every file holds the scope in question first, then its neighbours."""
    sizes = bench.sizes
    return {
        ALONE: [SCOPE],
        OTHERS: [SCOPE, *(f"org:other{i}" for i in range(sizes.others // sizes.tenant))],
        SIBLINGS: [
            SCOPE,
            *(f"org:small:agent:sibling{i}" for i in range(sizes.siblings // sizes.tenant)),
        ],
    }


def _asking(name: str, store: SqliteStore) -> Contender:
    async def ask(question: Question) -> object:
        return await store.search(query_of(question, SCOPE))

    return Contender(name, answer_async=ask)


def _first_answer(database: Path, questions: list[Question]) -> float:
    """From the start of a process; the median of a few."""
    times_ = Times([start("standfast", database, SCOPE, questions)["first"] for _ in range(STARTS)])
    return times_.median


def _result(bench: Bench, measured: dict[str, Times], first: dict[str, float]) -> Result:
    sizes = bench.sizes
    alone = measured[ALONE].median
    names = {
        ALONE: f"{number(sizes.tenant)} records alone",
        OTHERS: f"among {number(sizes.others)} records of other tenants",
        SIBLINGS: f"among {number(sizes.siblings)} records of sibling scopes",
    }
    rows = [
        (
            text,
            ms(measured[name].median),
            ms(measured[name].p95),
            times(measured[name].median / alone),
            ms(first[name]),
            times(first[name] / first[ALONE]),
        )
        for name, text in names.items()
    ]
    claims = [
        at_most(f"search {names[name]}, beside alone", measured[name].median / alone, 1.5)
        for name in (OTHERS, SIBLINGS)
    ]
    columns = ("a scope of", "median", "p95", "ratio", "new process, first answer", "ratio")
    note = (
        "The baseline is the same scope in a file of its own. "
        f"Up to {VISITED} neighbours were asked before, so their indexes are in memory too."
    )
    return Result("neighbours", [Table("Noisy neighbours", columns, rows, note)], claims)
