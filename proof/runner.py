"""Runs families within a time, in turn, each from where it stopped."""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable
from pathlib import Path

from proof.family import ProofFamily
from proof.ledger import FOLDER, Entry, Ledger

SLICE_SECONDS = 60.0


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


def attempt(family: ProofFamily, seed: int) -> tuple[Entry, str]:
    """One trial in a folder of its own: what it did, and what broke."""
    done = Entry()
    folder = Path(tempfile.mkdtemp(prefix="recollect-proof-"))
    begun = time.monotonic()
    try:
        trial = family.attempt(seed, folder)
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
    while entry.units < family.target and time.monotonic() < until:
        done, broken = attempt(family, entry.seed)
        if broken:
            entry.broken.append({"seed": entry.seed, "said": broken[:500]})
            _say(family, f"BROKEN with seed {entry.seed}: {broken}")
        entry.seed += 1
        entry.trials += 1
        entry.units += done.units
        entry.seconds += done.seconds
        for name, number in done.figures.items():
            entry.figures[name] = entry.figures.get(name, 0) + number
        ledger.save(folder)
    share = f"{entry.units:,} of {family.target:,} {family.unit}"
    _say(family, f"{share} in {entry.seconds:,.0f} s")


def _caught(tries: int | None) -> str:
    return f"its mutant was caught after {tries} trials" if tries else "MUTANT NOT CAUGHT"


def _say(family: ProofFamily, text: str) -> None:
    with contextlib.suppress(BrokenPipeError):
        print(f"{family.name}: {text}", file=sys.stderr, flush=True)
