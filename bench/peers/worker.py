"""A process in a peer's environment that writes or asks, and says what that took.

``python -m bench.peers.worker`` reads one JSON object from its standard input and answers with
one on its standard output. Nothing of standfast is imported unless standfast is the peer.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.peers.adapters import Adapter, opened
from bench.peers.material import TOP, Asked, Material, Rows, read_questions
from bench.timing import Times, memory_of_this_process

ROUNDS = 2
WARM_UP = 3


def write(job: dict[str, Any], adapter: Adapter) -> dict[str, Any]:
    material = Material(job["records"], job["scopes"])
    took = 0.0
    for rows in material.rows(job["batch"]):
        began = time.perf_counter()
        adapter.add(rows)
        took += time.perf_counter() - began
    began = time.perf_counter()
    adapter.finish()
    took += time.perf_counter() - began
    single = Times()
    for rows in material.single(job["single"]):
        with single.one():
            adapter.add_one(rows)
    return {
        "writes_per_second": job["records"] / took,
        "single": single.median,
        **_observed(adapter, material, job),
    }


def _observed(adapter: Adapter, material: Material, job: dict[str, Any]) -> dict[str, float]:
    """For the one that has messages beside records: a batch through its public interface."""
    observe = getattr(adapter, "observe", None)
    if observe is None:
        return {}
    times = Times()
    for rows in _hundreds(list(material.single(job["single"]))):
        with times.one():
            observe(rows)
    return {"observed_per_second": 100 * len(times.seconds) / max(sum(times.seconds), 1e-9)}


def _hundreds(rows: Sequence[Rows]) -> list[Rows]:
    import numpy as np

    return [
        Rows(
            "observed",
            [number for one in some for number in one.numbers],
            [text for one in some for text in one.texts],
            np.concatenate([one.vectors for one in some]),
        )
        for start in range(0, len(rows) - 99, 100)
        if (some := rows[start : start + 100])
    ]


def ask(adapter: Adapter, questions: Sequence[Asked], rounds: int = ROUNDS) -> dict[str, Any]:
    times = Times()
    for question in questions[:WARM_UP]:
        adapter.search(question)
    planted = exact = 0
    for turn in range(rounds):
        for question in questions:
            with times.one():
                found = adapter.search(question)
            if turn == 0:
                planted += len(question.planted & set(found))
                exact += len(question.exact & set(found))
    return {
        "median": times.median,
        "p95": times.p95,
        "recall": planted / (TOP * len(questions)),
        "exact": exact / sum(len(question.exact) for question in questions),
        "memory": memory_of_this_process()["now"],
    }


def disk_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def work(job: dict[str, Any]) -> dict[str, Any]:
    """Write, ask, or both in one process."""
    folder = Path(job["folder"])
    scopes = [f"u{number}" for number in range(job["scopes"])]
    adapter = opened(job["peer"], job["setting"], job["how"], folder / "files", scopes)
    done: dict[str, Any] = {}
    if job["write"]:
        done |= write(job, adapter)
    if job["ask"]:
        done |= ask(adapter, read_questions(folder), job["rounds"])
    adapter.close()
    return done | ({"disk": disk_of(folder / "files")} if job["write"] else {})


def main() -> None:
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # a library that prints must not spoil the answer
    print(json.dumps(work(json.load(sys.stdin))), file=answer, flush=True)


if __name__ == "__main__":
    main()
