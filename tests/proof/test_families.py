"""The proofs themselves: each family runs, notices its mutant, and goes on where it stopped."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest

from proof import faults, timing
from proof.families import FAMILIES
from proof.family import HIGHEST, Broken, ProofFamily, Trial
from proof.ledger import Entry, Ledger
from proof.page import page
from proof.runner import again, attempt, catch, run

QUICK = [one for one in FAMILIES if one.name in ("faults", "histories", "fuzz", "erasure")]


@pytest.mark.parametrize("family", QUICK, ids=lambda one: one.name)
def test_X2_a_family_holds_and_notices_what_is_broken(family: ProofFamily) -> None:
    done, broken = attempt(family, 1)
    assert broken == ""
    assert done.units
    assert catch(family), "a check that cannot fail proves nothing"


@pytest.mark.proof
@pytest.mark.parametrize(
    "family", [one for one in FAMILIES if one not in QUICK], ids=lambda one: one.name
)
def test_X2_a_long_family_notices_what_is_broken(family: ProofFamily) -> None:
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


def test_what_broke_is_tried_again_and_noted_when_it_holds() -> None:
    ledger = Ledger(commit="abc")
    ledger.entries["toy"] = Entry(units=2, broken=[{"seed": 1, "said": "lost"}])
    with TOY.mutant():
        assert not again([TOY], ledger, "later")
    assert "mended" not in page([TOY], ledger)
    assert again([TOY], ledger, "later")
    assert "| 1, mended since |" in page([TOY], ledger)
    assert "**broken**, mended in `later`, seed 1" in page([TOY], ledger)


def _sum(seed: int, _: Path) -> Trial:
    if _BROKEN:
        raise Broken("out of order")
    return Trial(units=1, figures=(("sum", seed), (f"largest {HIGHEST}", seed)))


@pytest.mark.proof
def test_trials_beside_each_other_are_booked_in_the_order_of_their_seeds(tmp_path: Path) -> None:
    beside = replace(TOY, attempt=_sum, parallel=True)
    assert run([beside], Ledger(commit="abc"), 60, tmp_path)
    entry = Ledger.of("abc", tmp_path).entries["toy"]
    assert entry.units >= 5
    assert entry.seed == entry.trials
    last = entry.seed - 1
    assert entry.figures == {"sum": last * (last + 1) // 2, f"largest {HIGHEST}": last}


def test_what_cannot_be_had_here_is_named_and_no_unit() -> None:
    def refuses(_: int, __: Path) -> Trial:
        pytest.skip("no such server")

    done, broken = attempt(replace(TOY, attempt=refuses), 1)
    assert (done.units, broken) == (0, "")
    assert done.figures == {"not tried here: no such server": 1}


def test_the_page_shows_of_each_family_the_last_commit_that_tried_it() -> None:
    other = replace(TOY, name="other", promise="Others too.")
    new = Ledger(commit="new", at="2026-02-02", entries={"toy": Entry(units=3)})
    old = Ledger(commit="old", at="2026-01-01", entries={"toy": Entry(units=5)})
    old.entries["other"] = Entry(units=4, mutant_caught_after=1)
    written = page([TOY, other], new, old)
    assert "| Numbers are counted. | 3 numbers | 5 | 0 | **no** | `new`, 2026-02-02 |" in written
    assert "| Others too. | 4 numbers | 5 | 0 | after 1 trial | `old`, 2026-01-01 |" in written


def test_the_page_says_how_long_all_of_it_takes() -> None:
    entry = Entry(units=2, seconds=60.0, mutant_caught_after=1)
    written = page([TOY], Ledger(commit="abc", entries={"toy": entry}))
    assert "| toy | 5 | 2 | 1.0 |" in written
    assert "not tried yet" in page([TOY], Ledger(commit="abc"))


def test_thirty_faults_and_twelve_invariants() -> None:
    assert len(set(faults.KINDS)) == 30
    assert len(set(faults.INVARIANTS)) == 12


def test_an_answer_that_takes_longer_for_what_is_somebodys_is_noticed() -> None:
    def slow(_: object, id_: str) -> None:
        time.sleep(0.002 if id_ == "theirs" else 0.0)

    def even(_: object, __: str) -> None: ...

    dice = random.Random(1)
    assert timing._chance(slow, None, "theirs", 30, dice) > 0.5 + timing.NOISE
    with pytest.raises(Broken, match="longer"), mock.patch.object(timing, "TIMES", 5):
        timing._compare("get", slow, None, "theirs", dice)
    with mock.patch.object(timing, "NOISE", 0.3):
        timing._compare("get", even, None, "theirs", dice)


def test_an_adapter_that_takes_a_name_for_another_is_noticed(tmp_path: Path) -> None:
    from proof import doors

    careless = replace(
        doors.CHAIN, asks={"messages": lambda m, name: doors._history(m, name.strip()).messages}
    )
    with (
        mock.patch.dict(doors.DOORS, langchain=careless),
        pytest.raises(Broken, match="is told"),
    ):
        doors.try_door("langchain", tmp_path)


def test_two_processes_that_try_two_families_keep_both_figures(tmp_path: Path) -> None:
    ours, theirs = Ledger.of("abc", tmp_path), Ledger.of("abc", tmp_path)
    ours.entries["kills"] = Entry(trials=1, units=4)
    ours.save(tmp_path)
    theirs.entries["fuzz"] = Entry(trials=2, units=9)
    theirs.save(tmp_path)
    ours.entries["kills"] = Entry(trials=2, units=8)
    ours.save(tmp_path)
    kept = Ledger.of("abc", tmp_path).entries
    assert {name: entry.units for name, entry in kept.items()} == {"kills": 8, "fuzz": 9}
