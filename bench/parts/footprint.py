"""Memory, file size, writing speed and the start of a process, at the sizes that have targets."""

from __future__ import annotations

from bench.parts.growth import Point, Side, measured
from bench.report import Claim, Result, Table, at_most, mib, ms, number
from bench.running import Bench

MEMORY_MAX_GIB = 0.6
FIRST_ANSWER_MAX = {100_000: 1.5, 1_000_000: 1.2}  # seconds
SHOWN = 100_000


async def run(bench: Bench) -> Result:
    points = await measured(bench)
    largest = points[-1]
    middle = min(points, key=lambda point: abs(point.records - SHOWN))
    shown = [middle, largest] if middle is not largest else [largest]
    columns = (
        "records", "", "memory", "at its peak", "file", "records/s written",
        "first answer", "first answer, cold disk cache", "first answer, no index saved",
    )  # fmt: skip
    rows = [
        (number(point.records), name, *_cells(side))
        for point in shown
        for name, side in (("standfast", point.ours), ("bare SQLite + numpy", point.bare))
    ]
    note = (
        "Memory and first answer are those of a new process, counted from its start, imports "
        "included. The bare one reads all vectors into a float32 matrix. Written: batches of 100, "
        "one after the other, each synced."
    )
    table = Table("Memory, file and start", columns, rows, note)
    return Result("footprint", [table], _claims(middle, largest))


def _cells(side: Side) -> tuple[str, ...]:
    return (
        mib(side.memory),
        mib(side.memory_peak),
        mib(side.size),
        number(side.throughput),
        ms(side.first),
        ms(side.first_cold),
        ms(side.first_unsaved),
    )


def _claims(middle: Point, largest: Point) -> list[Claim]:
    return [
        at_most(
            f"memory of a process that searches {number(largest.records)} records",
            largest.ours.memory / 2**30,
            MEMORY_MAX_GIB,
            "{:.2f} GiB",
        ),
        *(
            at_most(
                f"{number(point.records)} records: opened and answered",
                point.ours.first,
                FIRST_ANSWER_MAX[point.records],
                "{:.2f} s",
            )
            for point in (middle, largest)
            if point.records in FIRST_ANSWER_MAX
        ),
    ]
