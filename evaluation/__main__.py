"""``python -m evaluation DATA``: ask the questions of every data set found there, print rows,
keep the answers, compare with the last recorded run. Ends with 0, 1 (worse) or 2 (cannot run)."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench.places import BY_ITSELF, kind_of
from evaluation.asking import STANDFAST, Outcome, Task, Variant
from evaluation.baselines import BM25, SUM, VECTORS
from evaluation.cases import DataError, DataSet
from evaluation.recorded import FOLDER, TOLERANCE, drops, last, record
from evaluation.report import Measured, render
from evaluation.running import Plan, embedder_named, limited, run
from evaluation.scores import summarise
from evaluation.sets import SETS
from evaluation.variants import variants_of
from standfast.errors import StandfastError

GOOD, WORSE, CANNOT = 0, 1, 2
SECONDS_OF_SILENCE = 10


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evaluation", description=__doc__)
    add = parser.add_argument
    add("data", type=Path, metavar="DATA", help="the folder with the data sets")
    add("--only", choices=SETS, action="append", help="this set; may be repeated")
    add("--limit", type=_positive, help="the first N questions of each set")
    add("--k", type=_positive, help="memories to ask for (default: what the set says)")
    add("--embedder", default="recall-2", help="recall-2 (default), minilm, hashing or none")
    add("--profile", default="default", help="the profile to measure")
    add("--store", type=_engine, metavar="ADDRESS",
        help="keep each case on this engine, and not in a file: mem://, or a PostgreSQL or "
        "Redis server, where each gets a database or prefix of its own")  # fmt: skip
    add("--native", action="store_true", help="and let that engine search")
    add("--jobs", type=_positive, default=1, help="processes (times are honest with 1)")
    add("--stages", help="the ranking stages to run instead of the profile's: a,b,c")
    add("--without", action="append", default=[], metavar="STAGE",
        help="also measure without this stage; may be repeated; `each`: every one")  # fmt: skip
    add("--set", action="append", default=[], metavar="FIELD=JSON",
        help="also measure with this field of the profile changed; may be repeated")  # fmt: skip
    add("--learn", action="store_true", help="let facts be learned before asking")
    add("--no-baselines", action="store_true", help="leave the simple retrievers out")
    add("--cache", type=Path, default=_cache_folder(), help="where vectors are kept between runs")
    add("--no-cache", action="store_true", help="embed everything anew")
    add("--out", type=Path, default=Path(".evaluation"), help="where the answers are written")
    add("--results", type=Path, default=FOLDER, help="where recorded runs are")
    add("--tolerance", type=float, default=TOLERANCE, help="points that a score may fall")
    add("--record", action="store_true", help="make this run the one to compare with")
    return parser


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def _engine(address: str) -> str:
    if kind_of(address) not in BY_ITSELF:
        raise argparse.ArgumentTypeError(f"{address!r} is no address of {', '.join(BY_ITSELF)}")
    return address


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "standfast" / "evaluation"


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    try:
        return _main(options, list(sys.argv[1:] if arguments is None else arguments))
    except (DataError, StandfastError) as error:
        print(f"error: {error}", file=sys.stderr)
        return CANNOT


def _main(options: argparse.Namespace, arguments: list[str]) -> int:
    if options.native and not options.store:
        raise DataError("--native is for an engine: say which by --store")
    found = sets_in(options.data, options.only or [])
    variants = variants_of(options.profile, options.stages, options.without, options.set)
    space = _check_embedder(options)
    worse = False
    for data_set, paths in found:
        measured = _measure(options, data_set, paths, variants, space)
        print(render(measured), flush=True)
        worse |= _compare(options, measured, _command(options, arguments))
        print(flush=True)
    return WORSE if worse else GOOD


def sets_in(folder: Path, only: Sequence[str]) -> list[tuple[DataSet, Sequence[Path]]]:
    """The data sets that are there, or DataError with what is expected."""
    if not folder.is_dir():
        raise DataError(f"{folder} is no folder; name the one that holds the data sets")
    wanted = [SETS[name] for name in (only or SETS)]
    found = [(one, paths) for one in wanted if (paths := one.files(folder))]
    there = {one.name for one, _ in found}
    missing = [one for one in wanted if one.name not in there]
    if missing and (only or not found):
        lines = "".join(f"\n  {one.name}: {one.expected}" for one in missing)
        raise DataError(f"{folder} lacks, in itself or in folders below:{lines}")
    return found


def _check_embedder(options: argparse.Namespace) -> str:
    """Its space; fails before an hour is spent without vectors."""
    import asyncio

    cache = None if options.no_cache else options.cache

    async def probe() -> str:
        embedder = await embedder_named(options.embedder, cache, os.cpu_count() or 1)
        if embedder is None:
            return "no vectors"
        await embedder.embed(["Is the model there?"])
        return embedder.space

    return asyncio.run(probe())


def _measure(
    options: argparse.Namespace,
    data_set: DataSet,
    paths: Sequence[Path],
    variants: Sequence[Variant],
    space: str,
) -> Measured:
    k = options.k or data_set.k
    plan = Plan(
        set=data_set.name,
        embedder=options.embedder,
        jobs=options.jobs,
        cache=None if options.no_cache else options.cache,
        store=options.store or "",
        native=options.native,
        task=Task(
            profile=options.profile,
            k=k,
            variants=variants,
            baselines=not options.no_baselines,
            learn=options.learn,
        ),
    )
    cases = limited(data_set.load(paths), options.limit)
    outcomes, messages, stores = run(plan, cases, _teller(data_set.name))
    if not outcomes:
        raise DataError(f"{paths[0]} holds no question with evidence")
    write_answers(outcomes, options.out / f"{data_set.name}.jsonl")
    by_system = {name: [one for one in outcomes if one.system == name] for name in _names(outcomes)}
    summaries = {name: summarise(name, found) for name, found in by_system.items()}
    simple = [summaries.pop(name) for name in (BM25, VECTORS, SUM) if name in summaries]
    ours = summaries.pop(variants[0].name)
    setting = f"{space}, {options.profile}" + ("" if variants[0].name == STANDFAST else ", changed")
    return Measured(
        name=data_set.name,
        ours=ours,
        baselines=simple,
        variants=list(summaries.values()),
        messages=messages,
        stores=stores,
        k=k,
        setting=setting + (", learned" if options.learn else "") + _engine_of(options),
        has_sessions=data_set.has_sessions,
    )


def _engine_of(options: argparse.Namespace) -> str:
    """Never the address itself: it may hold a password."""
    if not options.store:
        return ""
    return f", {kind_of(options.store)}" + (" natively" if options.native else "")


def _names(outcomes: Sequence[Outcome]) -> list[str]:
    return list(dict.fromkeys(one.system for one in outcomes))


def _teller(name: str) -> Callable[[int, int], None]:
    spoke = time.monotonic()

    def tell(stores: int, answers: int) -> None:
        nonlocal spoke
        if time.monotonic() - spoke > SECONDS_OF_SILENCE:
            spoke = time.monotonic()
            print(f"{name}: {stores:,} stores, {answers:,} answers", file=sys.stderr, flush=True)

    return tell


def write_answers(outcomes: Sequence[Outcome], path: Path) -> None:
    """One JSON object per question and system."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for outcome in outcomes:
            row: dict[str, Any] = outcome.as_json()
            row["ms"] = round(row["ms"], 2)
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _compare(options: argparse.Namespace, measured: Measured, command: str) -> bool:
    """Whether it is worse than the recorded run; with --record it becomes that run."""
    if options.record:
        path = record(measured, options.results, command)
        print(f"recorded as {path.name}")
        return False
    before = last(measured, options.results)
    if before is None:
        print("no run of the same questions and settings is recorded (--record makes this one it)")
        return False
    fallen = drops(measured, before, options.tolerance)
    when = f"the run of {before['date']} (commit {before['commit']})"
    if not fallen:
        print(f"not worse than {when}, within {options.tolerance:g} points or one question")
        return False
    print(f"WORSE than {when} by more than {options.tolerance:g} points and one question:")
    for drop in fallen:
        print(f"  {drop}")
    return True


def _command(options: argparse.Namespace, arguments: Sequence[str]) -> str:
    """As a person would type it, without this machine's folders."""
    places = ("data", "cache", "out", "results", *(["store"] if options.store else []))
    folders = {str(getattr(options, name)): name.upper() for name in places}
    shown = [folders.get(word, word) for word in arguments if word != "--record"]
    return " ".join(["python -m evaluation", *shown])


if __name__ == "__main__":
    sys.exit(main())
