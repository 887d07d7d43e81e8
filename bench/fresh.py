"""A process of its own that opens a file, answers, and says what that took.

``python -m bench.fresh standfast|bare FILE`` reads questions as JSON from its standard input and
writes one JSON object. The clock starts before anything heavy is imported.
"""

import time

BEGAN = time.perf_counter()

import asyncio  # noqa: E402
import json  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
from collections.abc import Sequence  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import TYPE_CHECKING, Any, TypedDict  # noqa: E402

if TYPE_CHECKING:
    from bench.texts import Question


class Outcome(TypedDict):
    first: float  # seconds from the start to the first answer
    now: int  # bytes of memory after all answers
    peak: int
    found: int  # hits of the first answer


def start(kind: str, database: Path, scope: str, questions: "Sequence[Question]") -> Outcome:
    """Run this module in a new process."""
    asked = {
        "scope": scope,
        "questions": [(question.text, question.vector.hex()) for question in questions],
    }
    answer = subprocess.run(
        [sys.executable, "-m", "bench.fresh", kind, str(database.resolve())],
        cwd=Path(__file__).resolve().parents[1],  # where the package bench is
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode:
        raise RuntimeError(f"the measuring process failed:\n{answer.stderr}")
    outcome: Outcome = json.loads(answer.stdout)
    return outcome


async def answer_with_standfast(database: str, asked: dict[str, Any]) -> Outcome:
    from datetime import UTC, datetime

    from standfast.stores.sqlite import SqliteStore
    from standfast.types import Search, Where

    store = await SqliteStore.open(database)
    first, found = 0.0, 0
    for text, vector in asked["questions"]:
        query = Search(
            where=Where(scopes=(asked["scope"],), now=datetime.now(UTC)),
            text=text,
            vector=bytes.fromhex(vector),
            space="bench/384",
        )
        hits = await store.search(query)
        if not first:
            first, found = time.perf_counter() - BEGAN, len(hits)
    outcome = outcome_of(first, found)  # while all that a search needs is still in memory
    await store.close()
    return outcome


async def answer_bare(database: str, asked: dict[str, Any]) -> Outcome:
    import numpy as np

    from bench.baselines import BareFile, any_of, nearest_by_numpy, words_of

    bare = BareFile(Path(database))
    matrix = bare.matrix()
    first, found = 0.0, 0
    for text, vector in asked["questions"]:
        near = nearest_by_numpy(matrix, np.frombuffer(bytes.fromhex(vector), dtype="<f4"))
        worded = bare.by_words(any_of(words_of(text, stop_words=False)))
        if not first:
            first, found = time.perf_counter() - BEGAN, len(near) + len(worded)
    outcome = outcome_of(first, found)
    bare.close()
    return outcome


def outcome_of(first: float, found: int) -> Outcome:
    from bench.timing import memory_of_this_process

    memory = memory_of_this_process()
    return {"first": first, "found": found, "now": memory["now"], "peak": memory["peak"]}


def main() -> None:
    kind, database = sys.argv[1:]
    asked = json.load(sys.stdin)
    answering = {"standfast": answer_with_standfast, "bare": answer_bare}[kind]
    print(json.dumps(asyncio.run(answering(database, asked))))


if __name__ == "__main__":
    main()
