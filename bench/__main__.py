"""``python -m bench``: measure, print Markdown, keep JSON, and write the page if asked to."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path

from bench import machine, page
from bench.chart import draw
from bench.parts import (
    commands,
    concurrent,
    engines,
    footprint,
    growth,
    http,
    hybrid,
    imports,
    learning,
    native,
    neighbours,
    servers,
    sessions,
    shards,
    tenants,
)
from bench.report import Report, Result, write_json, write_page
from bench.running import FULL, QUICK, Bench, Sizes, needed_bytes

PARTS: dict[str, Callable[[Bench], Awaitable[Result]]] = {
    "imports": imports.run,
    "commands": commands.run,
    "hybrid": hybrid.run,
    "neighbours": neighbours.run,
    "concurrent": concurrent.run,
    "sessions": sessions.run,
    "learning": learning.run,
    "http": http.run,
    "footprint": footprint.run,
    "growth": growth.run,
    "engines": engines.run,
    "tenants": tenants.run,
    "servers": servers.run,
    "native": native.run,
    "shards": shards.run,
}
HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "reference" / "benchmarks.md"


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="20,000 records, about a minute")
    parser.add_argument("--scale", type=float, default=1.0, help="multiply all sizes by this")
    parser.add_argument("--only", choices=PARTS, action="append", help="this part; may be repeated")
    parser.add_argument(
        "--folder",
        type=Path,
        default=Path(".bench"),
        help="where the files go, on a real disk; what is made there is removed (default: .bench)",
    )
    parser.add_argument(
        "--data", type=Path, help="a folder with locomo10.json: learning is measured on it too"
    )
    parser.add_argument(
        "--store", action="append", default=[], help="a server to measure too; may be repeated"
    )
    parser.add_argument("--docs", action="store_true", help="write the tables and the chart")
    return parser


async def measure(
    sizes: Sizes,
    folder: Path,
    only: Sequence[str] = (),
    data: Path | None = None,
    stores: Sequence[str] = (),
) -> Report:
    """Run the parts, all or those named."""
    bench = Bench(sizes, folder, data, tuple(stores))
    report = Report(sizes.name, machine.today(), machine.facts(folder))
    for name, run in PARTS.items():
        if not only or name in only:
            report.results.append(await run(bench))
    bench.say("done")
    return report


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    sizes = (QUICK if options.quick else FULL).scaled(options.scale)
    folder: Path = options.folder
    was_there = folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        if trouble := _trouble(sizes, folder):
            print(trouble, file=sys.stderr)
            return 2
        report = asyncio.run(
            measure(sizes, folder, options.only or (), options.data, options.store)
        )
    finally:
        if not was_there:
            with suppress(OSError):  # somebody else works in it
                folder.rmdir()
    print(report.markdown())
    kept = write_json(report, HERE / "results")
    print(f"kept in {kept.relative_to(HERE.parent)}", file=sys.stderr)
    if options.docs:
        write_page(report, PAGE, draw(report.series) if report.series else "", targets=False)
        page.record_own(report)
        page.main()
    return 0


def _trouble(sizes: Sizes, folder: Path) -> str:
    """Why a run cannot start."""
    needed, free = needed_bytes(sizes), machine.free_bytes(folder)
    if free < needed:
        return (
            f"{folder} has {free >> 30} GiB free; this run needs {(needed >> 30) + 1}: try --quick"
        )
    kind = machine.file_system_of(folder)
    if kind in machine.IN_MEMORY:
        return f"{folder} is on {kind}, where a sync costs nothing; name a --folder on a real disk"
    return ""


if __name__ == "__main__":
    sys.exit(main())
