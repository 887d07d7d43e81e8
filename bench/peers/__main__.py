"""``python -m bench.peers``: measure every program, print Markdown, and write the page if asked.

A run that was stopped goes on where it was, on the same day; a finished one begins anew."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench import machine, page
from bench.peers import embedding
from bench.peers.peers import LARGE, PEERS, QUICK, jobs
from bench.peers.report import recorded, result
from bench.peers.running import Run
from bench.report import Report, write_json, write_page

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "reference" / "benchmarks-peers.md"
FREE_GIB = 6
EMBEDDED = {"quick": 200, "full": 2000}


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    add = parser.add_argument
    add("--quick", action="store_true", help=f"{QUICK[0]:,} records instead of {LARGE[-1]:,}")
    names = sorted({peer.name for peer in PEERS} | {"embedding"})
    add("--only", choices=names, action="append", help="this one beside standfast; repeatable")
    add("--fresh", action="store_true", help="measure all anew, also after a stop")
    add("--minutes", type=float, default=25.0, help="begin nothing after that (default: 25)")
    add("--docs", action="store_true", help="write the page")
    add(
        "--folder",
        type=Path,
        default=Path(".bench") / "peers",
        help="for environments and files, on a real disk (default: .bench/peers)",
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    folder: Path = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if trouble := _trouble(folder):
        print(trouble, file=sys.stderr)
        return 2
    size = "quick" if options.quick else "full"
    run = Run(folder, size, _sayer(), rounds=1 if options.quick else 2)
    run.deadline = time.monotonic() + options.minutes * 60
    only = ["standfast", *options.only] if options.only else []
    listed = list(jobs(QUICK if options.quick else None, only))
    run.go_on([*(job.key for job in listed), *_embedding_key(only)], fresh=options.fresh)
    report = Report(size, machine.today(), machine.facts(folder))
    for job in listed:
        run.measure(job)
    if _embedding_key(only):
        embedding.measure(run, EMBEDDED[size])
    report.results.append(result(listed, run.done))
    print(report.markdown())
    if run.is_late:
        run.say("out of time: the same command measures the rest")
    write_json(report, folder)
    if options.docs:
        write_page(report, PAGE)
        found = {"day": report.day, "machine": report.machine, **recorded(listed, run.done)}
        page.RECORDED.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
        page.main()
    return 0


def _embedding_key(only: Sequence[str]) -> list[str]:
    return [embedding.KEY] if not only or embedding.KEY in only else []


def _trouble(folder: Path) -> str:
    """Why a run cannot start."""
    if machine.free_bytes(folder) < FREE_GIB << 30:
        return f"{folder} needs {FREE_GIB} GiB free for environments and files"
    kind = machine.file_system_of(folder)
    if kind in machine.IN_MEMORY:
        return f"{folder} is on {kind}, where a sync costs nothing; name a --folder on a real disk"
    return ""


def _sayer() -> Callable[[str], None]:
    began = time.monotonic()

    def say(text: str) -> None:
        print(f"[{time.monotonic() - began:6.1f} s] {text}", file=sys.stderr, flush=True)

    return say


if __name__ == "__main__":
    sys.exit(main())
