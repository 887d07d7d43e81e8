"""``python -m evaluation.learning``: play the sets of what people say, print how often the right
thing is believed afterwards. Ends with 0, or 2 if it cannot run."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from evaluation.cases import DataError
from evaluation.learning.cases import SETS, Case, load_all
from evaluation.learning.judging import Verdict, judge
from evaluation.learning.living import ELSE_KNOWN, live
from evaluation.learning.report import as_json, failures, render
from evaluation.running import embedder_named
from standfast.errors import StandfastError

GOOD, CANNOT = 0, 2


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evaluation.learning", description=__doc__)
    add = parser.add_argument
    add("--set", choices=SETS, action="append", help="this set; may be repeated")
    add("--failures", action="store_true", help="list what failed in the half for tuning")
    add("--json", type=Path, metavar="FILE", help="also write totals and the half for tuning here")
    add("--embedder", default="auto", help="auto (default: minilm if it is there), hashing, none")
    add("--among", action="store_true", help="six other things were told long before each case")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    try:
        cases = [case for name in (options.set or SETS) for case in load_all(name)]
        began = time.monotonic()
        told = ELSE_KNOWN if options.among else ()
        verdicts, space = asyncio.run(_judged(cases, options.embedder, told))
    except (DataError, StandfastError) as error:
        print(f"error: {error}", file=sys.stderr)
        return CANNOT
    if options.failures:
        print("\n".join([*failures(verdicts), ""]))
    print(render(verdicts))
    seconds = time.monotonic() - began
    print(f"{len(cases):,} cases, {space}, no language model, {seconds:.0f} s")
    if options.json:
        text = json.dumps(as_json(verdicts), ensure_ascii=False, indent=1)
        options.json.write_text(text + "\n", "utf-8")
    return GOOD


async def _judged(
    cases: Sequence[Case], embedder_name: str, told: Sequence[str]
) -> tuple[list[Verdict], str]:
    """The verdicts, and the space of the vectors they were reached with."""
    embedder = await embedder_named(embedder_name, None, os.cpu_count() or 1)
    space = embedder.space if embedder else "no vectors"
    return [judge(case, await live(case, embedder, told)) for case in cases], space


if __name__ == "__main__":
    sys.exit(main())
