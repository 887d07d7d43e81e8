"""The proofs themselves: each family runs, notices its mutant, and goes on where it stopped."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from proof.families import FAMILIES
from proof.family import Broken, ProofFamily, Trial
from proof.ledger import Ledger
from proof.page import page
from proof.runner import attempt, catch, run

QUICK = [one for one in FAMILIES if one.name in ("faults", "histories", "fuzz", "erasure")]


@pytest.mark.parametrize("family", QUICK, ids=lambda one: one.name)
def test_X2_a_family_holds_and_notices_what_is_broken(family: ProofFamily) -> None:
    done, broken = attempt(family, 1)
    assert broken == ""
    assert done.units
    assert catch(family), "a check that cannot fail proves nothing"


@contextmanager
def _off_by_one() -> Iterator[None]:
    global _BROKEN
    _BROKEN = True
    yield
    _BROKEN = False


_BROKEN = False


def _count(seed: int, folder: Path) -> Trial:
    assert folder.is_dir()
    if _BROKEN or seed == 3:
        raise Broken(f"number {seed}")
    return Trial(units=1, figures=(("even", 1 - seed % 2),))


TOY = ProofFamily(
    name="toy",
    promise="Numbers are counted.",
    unit="numbers",
    target=5,
    attempt=_count,
    mutant=_off_by_one,
    mutant_said="one that is off",
)


def test_figures_accumulate_and_what_broke_is_named(tmp_path: Path) -> None:
    ledger = Ledger(commit="abc")
    assert not run([TOY], ledger, 60, tmp_path)
    entry = Ledger.of("abc", tmp_path).entries["toy"]
    assert (entry.units, entry.trials, entry.seed) == (5, 6, 6)
    assert entry.broken == [{"seed": 3, "said": entry.broken[0]["said"]}]
    assert entry.figures == {"even": 3}
    again = Ledger.of("abc", tmp_path)
    run([TOY], again, 60, tmp_path)
    assert again.entries["toy"].trials == 6, "what has its target is not run again"
    written = page([TOY], again)
    assert "| Numbers are counted. | 5 numbers | 5 | 1 | after 1 trial |" in written
    assert "seed 3" in written


def test_a_family_whose_mutant_is_not_noticed_proves_nothing(tmp_path: Path) -> None:
    @contextmanager
    def harmless() -> Iterator[None]:
        yield

    blind = ProofFamily(
        name="blind", promise="", unit="", target=1, attempt=lambda *_: Trial(units=1),
        mutant=harmless, mutant_said="none", mutant_tries=2,
    )  # fmt: skip
    assert not run([blind], Ledger(commit="abc"), 5, tmp_path)
