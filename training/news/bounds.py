"""``python -m training.news.bounds EXAMPLES FOLDS...``: what the answers of the reader are worth.

FOLDS are the answers that ``training.news.train --fold N`` wrote: each to examples that the network
had not seen. Prints how well it tells them apart, and bounds for ``standfast.lifecycle.bounds``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

HARMLESS_MAX = 0.04  # of messages that change nothing and are taken for a change
LOST_MAX = 0.02  # of changes that are below what a rule must have behind it
KEPT_MAX = 0.06  # of passing sentences that are kept
SHOWN_MAX = 0.01  # of what is shown and is taken for somebody's own though a rule sees it
UNHEARD_MAX = 0.02  # of somebody's own words that are taken for something shown
Floats = NDArray[np.float64]


def ranked(yes: Floats, no: Floats) -> float:
    """How often something that is so is ranked above something that is not; one half is chance."""
    places = np.argsort(np.argsort(np.concatenate([yes, no]))) + 1
    count = len(yes)
    return float((places[:count].sum() - count * (count + 1) / 2) / (count * len(no)))


def of_messages(rows: Iterable[tuple[dict[str, Any], float]]) -> dict[tuple[str, bool], Floats]:
    """The highest answer of each message, by its kind and by what is so."""
    best: dict[tuple[str, bool, str], float] = {}
    for row, answer in rows:
        key = (row["kind"], row["answer"], row["message"])
        best[key] = max(best.get(key, -np.inf), answer)
    found: dict[tuple[str, bool], list[float]] = {}
    for (kind, so, _), answer in best.items():
        found.setdefault((kind, so), []).append(answer)
    return {key: np.array(answers) for key, answers in found.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m training.news.bounds", description=__doc__)
    parser.add_argument("examples", type=Path, metavar="EXAMPLES")
    parser.add_argument("folds", type=Path, nargs="+", metavar="FOLDS")
    options = parser.parse_args(arguments)
    with gzip.open(options.examples, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    answers = np.nanmax(np.stack([np.load(file) for file in options.folds]), axis=0)
    told = [pair for pair in zip(rows, answers.tolist(), strict=True) if not pair[0]["again"]]
    changes = of_messages(pair for pair in told if pair[0]["task"] == "changes")
    lasts = of_messages(pair for pair in told if pair[0]["task"] == "lasts")
    own = of_messages(pair for pair in told if pair[0]["task"] == "own")
    apart = ("life", "others")  # many statements beside one message
    quiet = np.concatenate([a for (k, so), a in changes.items() if not so and k not in apart])
    moved = np.concatenate([a for (k, so), a in changes.items() if so and k not in apart])
    passing = np.concatenate([a for (_, so), a in lasts.items() if not so])
    likely = float(np.quantile(quiet, 1 - HARMLESS_MAX))
    least = float(np.quantile(moved, LOST_MAX))
    lasting = float(np.quantile(passing, 1 - KEPT_MAX))
    mine, theirs = (
        np.concatenate([a for (_, so), a in own.items() if so == one]) for one in (True, False)
    )
    surely, shown = np.quantile(theirs, 1 - SHOWN_MAX), np.quantile(mine, UNHEARD_MAX)
    print(f"LIKELY = {likely:.2f}, LEAST = {least:.2f}, LASTING = {lasting:.2f}")
    print(f"OWN = {surely:.2f}, SHOWN = {shown:.2f}")
    bounds = (("changes", changes, likely), ("lasts", lasts, lasting), ("own", own, shown))
    for name, found, bound in bounds:
        for (kind, so), each in sorted(found.items()):
            word = "so" if so else "not so"
            line = f"{name:8} {kind:9} {word:7} {len(each):6,}: {np.mean(each > bound):6.1%} above"
            print(line + (f", {np.mean(each < least):6.1%} below" if name == "changes" else ""))
    print(f"changes are ranked right in {ranked(moved, quiet):.1%}")
    kept = np.concatenate([a for (_, so), a in lasts.items() if so])
    print(f"own words are ranked right in {ranked(mine, theirs):.1%}")
    print(f"lasting sentences are ranked right in {ranked(kept, passing):.1%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
