"""PostgreSQL by itself and through standfast: commits of many at once beside bare transactions,
requests of as many to one and to several server processes, and searches by the database beside bare
queries of the same kinds. Servers are named by ``--store``."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np
import psycopg

from bench.filling import batch_of, fill, query_of
from bench.parts.http import Client
from bench.places import fresh, kind_of, with_options
from bench.report import Claim, Result, Table, at_least, at_most, ms, nothing_named, times
from bench.running import Bench
from bench.serving import Running, running
from bench.texts import Question
from bench.timing import Contender, cpu_seconds, race
from standfast.ports import Store
from standfast.stores.postgres import PostgresStore

WRITERS = 32
PROCESSES = (1, 2, 4)
TURNS = 60  # of each connection
SECONDS = 8.0
RECORDS_MAX = 100_000
SCOPES = 100
QUESTIONS_MAX = 30
ROOT = "org:bench"
BARE = "standfast_bench"


async def run(bench: Bench) -> Result:
    tables: list[Table] = []
    claims: list[Claim] = []
    for address in bench.stores:
        if kind_of(address) == "postgresql":
            bench.say("servers: commits")
            with fresh(address) as place:
                bare = await _commits(bench, place, tables, claims)
            await _observed(bench, address, bare, tables, claims)
            for scopes in (1, SCOPES):
                bench.say(f"servers: native search, {scopes} scopes")
                with fresh(address) as place:
                    await _searches(bench, place, scopes, tables, claims)
    return Result("servers", tables or [nothing_named("PostgreSQL beside itself")], claims)


# Commits


async def _commits(bench: Bench, address: str, tables: list[Table], claims: list[Claim]) -> float:
    """And how many bare transactions a second there were."""
    chunks = [chunk for _, chunk in bench.corpus.records(0, 200, 1)]
    store = await PostgresStore.open(address)  # it makes what a bare table of vectors needs, too
    with _connected(address) as db:
        db.execute(f"DROP TABLE IF EXISTS {BARE}")
        db.execute(f"CREATE TABLE {BARE} (root text, id text PRIMARY KEY, text text, e vector)")
    bare = await asyncio.to_thread(_bare_rate, address, chunks)
    with _connected(address) as db:
        db.execute(f"DROP TABLE {BARE}")
    try:
        ours = await _our_rate(store, chunks)
    finally:
        await store.close()
    rows = [("bare INSERT transaction", f"{bare:.0f}", "1.00x")]
    rows.append(("commit of one record with its vector", f"{ours:.0f}", times(ours / bare)))
    note = f"{WRITERS} writers at once, each to a root of its own, for {SECONDS:.0f} s."
    tables.append(Table("Commits on PostgreSQL", ("", "a second", "ratio"), rows, note))
    claims.append(at_least("commits on PostgreSQL beside bare transactions", ours / bare, 0.5))
    return bare


# Requests to one or several server processes


async def _observed(
    bench: Bench, address: str, bare: float, tables: list[Table], claims: list[Claim]
) -> None:
    rows, rates = [], []
    for processes in PROCESSES:
        bench.say(f"servers: observe, {processes} processes")
        with fresh(address) as place, ExitStack() as stack:
            servers = [stack.enter_context(running("standfast", place)) for _ in range(processes)]
            rate, cpu = await _observe_rate(bench, servers)
        rows.append((str(processes), f"{rate:.0f}", times(rate / bare), ms(cpu)))
        rates.append(rate)
    columns = ("server processes", "requests/s", "beside bare INSERT transactions", "CPU each")
    note = (
        f"{WRITERS} connections, each with messages of its own user, shared among the processes; "
        f"{os.cpu_count()} cores for the servers, the database and the client. CPU is that of the "
        "server processes for one request, their upkeep included."
    )
    tables.append(Table("observe over HTTP on PostgreSQL", columns, rows, note))
    best = max(rates) / bare
    claims.append(at_least("observe over HTTP on PostgreSQL beside bare transactions", best, 0.5))


async def _observe_rate(bench: Bench, servers: list[Running]) -> tuple[float, float]:
    """Requests a second of all connections together, and seconds of the servers for each."""
    texts = [chunk.texts[0] for _, chunk in bench.corpus.records(0, 2000, 1)]

    async def one(connection: int, turns: range) -> None:
        client = Client(servers[connection % len(servers)])
        for turn in turns:
            text = f"{texts[(connection * 61 + turn) % len(texts)]} {connection} {turn}"
            body = {
                "session": f"chat/{connection}",
                "scope": f"user:{connection}",
                "messages": [{"role": "user", "content": text}],
            }
            await client.post("/v1/observe", body)
        client.close()

    await asyncio.gather(*(one(n, range(3)) for n in range(WRITERS)))  # warms up
    used, began = sum(cpu_seconds(one.pid) for one in servers), time.perf_counter()
    await asyncio.gather(*(one(n, range(3, 3 + TURNS)) for n in range(WRITERS)))
    seconds, count = time.perf_counter() - began, WRITERS * TURNS
    return count / seconds, (sum(cpu_seconds(one.pid) for one in servers) - used) / count


def _connected(address: str) -> psycopg.Connection[Any]:
    """The type vector may be where the store has put it."""
    options = "-c search_path=public,standfast"
    return psycopg.connect(address, autocommit=True, options=options)


def _bare_rate(address: str, chunks: list[Any]) -> float:
    """As many connections as writers, each in a thread of its own."""
    begin = threading.Barrier(WRITERS + 1)

    def write(writer: int) -> int:
        count = 0
        with _connected(address) as db:
            begin.wait()
            ends = time.perf_counter() + SECONDS
            while time.perf_counter() < ends:
                chunk = chunks[count % len(chunks)]
                with db.transaction():
                    db.execute(
                        f"INSERT INTO {BARE} VALUES (%s, %s, %s, %s::vector)",
                        (f"r{writer}", f"{writer}-{count}", chunk.texts[0], _vector(chunk)),
                    )
                count += 1
        return count

    with ThreadPoolExecutor(WRITERS) as threads:
        counts = [threads.submit(write, writer) for writer in range(WRITERS)]
        begin.wait()
        return sum(one.result() for one in counts) / SECONDS


def _vector(chunk: Any) -> str:
    return str(chunk.vectors[0].tolist())


async def _our_rate(store: Store, chunks: list[Any]) -> float:
    ends = time.perf_counter() + SECONDS

    async def write(writer: int) -> int:
        count = 0
        while time.perf_counter() < ends:
            batch = batch_of(f"user:writer{writer}", count, chunks[count % len(chunks)])
            batch = replace(batch, records=(replace(batch.records[0], hash=""),))
            await store.commit(batch)
            count += 1
        return count

    counts = await asyncio.gather(*(write(writer) for writer in range(WRITERS)))
    return sum(counts) / SECONDS


# Searches


def _scope(number: int, scopes: int) -> str:
    return ROOT if scopes == 1 else f"{ROOT}:agent:a{number % scopes}"


async def _searches(
    bench: Bench, address: str, scopes: int, tables: list[Table], claims: list[Claim]
) -> None:
    count = min(bench.sizes.hybrid, RECORDS_MAX)
    questions = bench.corpus.questions(min(bench.sizes.questions, QUESTIONS_MAX))
    store = await PostgresStore.open(with_options(address, native_above=1))
    bare = await asyncio.to_thread(_bare_table, bench, address, count, scopes)
    try:
        each = count // scopes
        for number in range(scopes):
            await fill(bench, store, _scope(number, scopes), number * each, (number + 1) * each)
        asked = _scope(7, scopes)

        async def native(question: Question) -> object:
            query = query_of(question, asked)
            found = await store.search(replace(query, limit=10))
            assert len(found) >= 10, "it found nothing"
            return found

        found = await race(
            [
                Contender("native", answer_async=native),
                Contender("bare", answer=lambda question: _bare_queries(bare, question, asked)),
            ],
            questions,
            bench.sizes.rounds,
        )
    finally:
        await store.close()
        bare.close()
    ratio = found["native"].median / found["bare"].median
    rows = [(name, ms(one.median), ms(one.p95)) for name, one in found.items()]
    where = "one scope" if scopes == 1 else f"{scopes} scopes"
    note = (
        f"{count:,} records in {where}; bare: one exact vector query within the scope and one "
        "full text query (GIN, ts_rank), one after the other."
    )
    tables.append(Table(f"Native search, {where}", ("", "median", "p95"), rows, note))
    claims.append(at_most(f"native search on PostgreSQL, {where}", ratio, 2.0))


def _bare_table(bench: Bench, address: str, count: int, scopes: int) -> Any:
    db = _connected(address)
    db.execute(f"DROP TABLE IF EXISTS {BARE}")
    db.execute(
        f"CREATE TABLE {BARE} (scope text, text text, e vector, ts tsvector GENERATED ALWAYS AS"
        " (to_tsvector('simple', text)) STORED)"
    )
    with db.cursor().copy(f"COPY {BARE} (scope, text, e) FROM STDIN") as copy:
        number = 0
        for _, chunk in bench.corpus.records(0, count, 100):
            for text, vector in zip(chunk.texts, chunk.vectors, strict=True):
                scope = _scope(number * scopes // count, scopes)
                copy.write_row((scope, text, str(vector.tolist())))
                number += 1
    db.execute(f"CREATE INDEX ON {BARE} (scope)")
    db.execute(f"CREATE INDEX ON {BARE} USING gin (ts)")
    db.execute(f"ANALYZE {BARE}")
    return db


def _bare_queries(db: Any, question: Question, scope: str) -> None:
    vector = str(np.frombuffer(question.vector, dtype="<f4").tolist())
    db.execute(
        f"SELECT text, 1 - (e <=> %s::vector) FROM {BARE} WHERE scope = %s"
        " ORDER BY e <=> %s::vector LIMIT 10",
        (vector, scope, vector),
    ).fetchall()
    words = " | ".join(sorted({word for word in question.text.lower().split() if word.isalnum()}))
    db.execute(
        f"SELECT text, ts_rank(ts, asked) AS rank FROM {BARE}, to_tsquery('simple', %s) AS asked"
        " WHERE scope = %s AND ts @@ asked ORDER BY rank DESC LIMIT 10",
        (words or "nothing", scope),
    ).fetchall()
