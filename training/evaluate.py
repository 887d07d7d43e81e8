"""``python -m training.evaluate DATA NAME=FOLDER...``: models beside each other, paired.

Every data set that ``python -m evaluation`` finds in DATA is asked of each model (a folder that
``training.convert`` or ``standfast model pull`` made) through observe and recall; the first model
is the one that the others are compared with. Prints means and gains with 95 % intervals.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from evaluation.__main__ import sets_in
from evaluation.asking import Outcome, Task, Variant, ask_case
from evaluation.cases import Case, DataError, DataSet
from evaluation.report import signed
from evaluation.running import limited
from evaluation.scores import Summary, compare, summarise
from evaluation.sets import SETS
from evaluation.vectors import CachedEmbedder
from standfast.errors import StandfastError
from standfast.models.providers.minilm.model import MiniLmEmbedder
from standfast.ports import Embedder

SHOWN = ("turn recall@5", "turn recall@10", "session recall@10", "session all@5")
LABEL, CELL = 24, 26


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m training.evaluate", description=__doc__)
    add = parser.add_argument
    add("data", type=Path, metavar="DATA", help="the folder with the data sets")
    add("models", type=_named, nargs="+", metavar="NAME=FOLDER", help="the models, first the old")
    add("--only", choices=SETS, action="append", default=[], help="this set; may be repeated")
    add("--limit", type=int, help="the first N questions of each set")
    add("--profile", default="default", help="the profile to measure")
    add("--threads", type=int, default=1, help="threads of the model")
    add("--cache", type=Path, help="a folder where vectors are kept between runs")
    return parser


def _named(text: str) -> tuple[str, Path]:
    name, equals, folder = text.partition("=")
    if not (name and equals and folder):
        raise argparse.ArgumentTypeError(f"{text!r}: write NAME=FOLDER")
    return name, Path(folder)


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    try:
        models = {
            name: _embedder(name, folder, options.threads, options.cache)
            for name, folder in options.models
        }
        for data_set, paths in sets_in(options.data, options.only):
            cases = list(limited(data_set.load(paths), options.limit))
            found = {
                name: summarise(name, _answers(data_set, cases, options.profile, embedder))
                for name, embedder in models.items()
            }
            print(table(data_set.name, found), flush=True)
    except (DataError, StandfastError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _embedder(name: str, folder: Path, threads: int, cache: Path | None) -> Embedder:
    model = MiniLmEmbedder(folder, threads=threads)
    return CachedEmbedder(model, cache / name) if cache else model


def _answers(
    data_set: DataSet, cases: Iterable[Case], profile: str, embedder: Embedder
) -> list[Outcome]:
    task = Task(profile=profile, k=data_set.k, variants=[Variant()], baselines=False)
    outcomes: list[Outcome] = []
    for number, case in enumerate(cases):
        with tempfile.TemporaryDirectory() as folder:
            place = str(Path(folder) / f"{number}.db")
            outcomes += asyncio.run(ask_case(data_set.name, case, task, embedder, place))
    return outcomes


def table(name: str, found: Mapping[str, Summary]) -> str:
    """The first as it is, each other with what it gains."""
    (first, old), *others = found.items()
    shown = [measure for measure in SHOWN if measure in old.whole.scores]
    lines = [f"== {name}: {len(old.values):,} questions", _line("", shown)]
    lines.append(_line(first, [str(old.whole.scores[measure]) for measure in shown]))
    for title, new in others:
        lines.append(_line(title, [str(new.whole.scores[measure]) for measure in shown]))
        gains = compare(new, old)
        lines.append(_line("  gain", [signed(gains[measure]) for measure in shown]))
    for row in old.rows[1:]:
        lines.append(_line(f"  {row.category}, recall@10", []))
        for title, one in found.items():
            score = next(other for other in one.rows if other.category == row.category).scores
            lines.append(_line(f"    {title}", [str(score[m]) for m in shown if m in score]))
    return "\n".join(lines)


def _line(label: str, cells: Sequence[str]) -> str:
    return f"  {label:<{LABEL}}" + "".join(f"{cell:>{CELL}}" for cell in cells)


if __name__ == "__main__":
    sys.exit(main())
