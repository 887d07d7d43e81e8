"""Runs families within a time, in turn, each from where it stopped."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
import time
import traceback
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from proof.family import HIGHEST, ProofFamily
from proof.ledger import FOLDER, Entry, Ledger

SLICE_SECONDS = 60.0
WORKERS = max(1, min(4, os.cpu_count() or 1))


def run(
    families: Iterable[ProofFamily], ledger: Ledger, seconds: float, folder: Path = FOLDER
) -> bool:
    """Until every family has its target or the time is over; False if anything broke."""
    families = list(families)
    for family in families:
        entry = ledger.entries.setdefault(family.name, Entry())
        if entry.mutant_caught_after is None:
            entry.mutant_caught_after = catch(family)
            ledger.save(folder)
            _say(family, _caught(entry.mutant_caught_after))
    deadline = time.monotonic() + seconds
    turn = min(SLICE_SECONDS, seconds / (2 * len(families)))  # a short run shows all of them
    while time.monotonic() < deadline:
        waiting = [one for one in families if ledger.entries[one.name].units < one.target]
        if not waiting:
            break
        for family in waiting:
            until = min(deadline, time.monotonic() + turn * family.share)
            _slice(family, ledger, until, folder)
    return all(
        not ledger.entries[one.name].broken and ledger.entries[one.name].mutant_caught_after
        for one in families
    )


def catch(family: ProofFamily) -> int:
    """After how many trials the broken code was noticed; 0: not at all, so its proof is void."""
    with family.mutant():
        for seed in range(family.mutant_tries):
            if attempt(family, -1 - seed)[1]:
                return seed + 1
    return 0


def again(families: Iterable[ProofFamily], ledger: Ledger, commit: str) -> bool:
    """Try once more what broke; what holds now is noted as mended. False if anything does not."""
    held = True
    for family in families:
        for one in ledger.entries.get(family.name, Entry()).broken:
            _, broken = attempt(family, int(one["seed"]))
            if not broken:
                one.setdefault("mended", commit)
            held = held and not broken
            _say(family, f"seed {one['seed']}: {broken or 'holds'}")
    return held


def attempt(family: ProofFamily, seed: int) -> tuple[Entry, str]:
    """One trial in a folder of its own: what it did, and what broke."""
    done = Entry()
    folder = Path(tempfile.mkdtemp(prefix="standfast-proof-"))
    begun = time.monotonic()
    try:
        trial = family.attempt(seed, folder)
    except pytest.skip.Exception as error:  # a server of a database that cannot be had here
        done.figures = {f"not tried here: {error}": 1}
        return done, ""
    except Exception as error:
        done.seconds = time.monotonic() - begun
        where = traceback.extract_tb(error.__traceback__)[-1]
        return done, f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    done.units, done.figures = trial.units, dict(trial.figures)
    done.seconds = time.monotonic() - begun
    return done, ""


def _slice(family: ProofFamily, ledger: Ledger, until: float, folder: Path) -> None:
    entry = ledger.entries[family.name]
    tries = _beside(family, entry, until) if family.parallel else _in_turn(family, entry, until)
    for seed, (done, broken) in tries:
        _book(family, entry, seed, done, broken)
        ledger.save(folder)
    share = f"{entry.units:,} of {family.target:,} {family.unit}"
    _say(family, f"{share} in {entry.seconds:,.0f} s")


Tried = Iterator[tuple[int, tuple[Entry, str]]]


def _in_turn(family: ProofFamily, entry: Entry, until: float) -> Tried:
    while entry.units < family.target and time.monotonic() < until:
        yield entry.seed, attempt(family, entry.seed)


def _beside(family: ProofFamily, entry: Entry, until: float) -> Tried:
    """A trial for each processor at once; their results in the order of their seeds."""
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as pool:
        waiting: deque[Future[tuple[Entry, str]]] = deque()
        following = entry.seed
        while True:
            going_on = entry.units < family.target and time.monotonic() < until
            while going_on and len(waiting) < WORKERS:
                waiting.append(pool.submit(attempt, family, following))
                following += 1
            if not waiting:
                return
            yield entry.seed, waiting.popleft().result()


def _book(family: ProofFamily, entry: Entry, seed: int, done: Entry, broken: str) -> None:
    if broken:
        entry.broken.append({"seed": seed, "said": broken[:500]})
        _say(family, f"BROKEN with seed {seed}: {broken}")
    entry.seed = seed + 1
    entry.trials += 1
    entry.units += done.units
    entry.seconds += done.seconds / (WORKERS if family.parallel else 1)
    for name, number in done.figures.items():
        before = entry.figures.get(name, 0)
        highest = name.endswith(HIGHEST)
        entry.figures[name] = max(before, number) if highest else before + number


def _caught(tries: int | None) -> str:
    return f"its mutant was caught after {tries} trials" if tries else "MUTANT NOT CAUGHT"


def _say(family: ProofFamily, text: str) -> None:
    with contextlib.suppress(BrokenPipeError):
        print(f"{family.name}: {text}", file=sys.stderr, flush=True)
