"""``docs/reference/proofs.md``, from the last ledger."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from proof.family import ProofFamily
from proof.ledger import Entry, Ledger

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "proofs.md"

HEAD = """\
# Proofs

Every promise below was tried at length by `make proof`, which anybody can run again; the figures
are those of its last run and of the commit that is named. A check that cannot fail proves nothing:
before a family counts, a line of the code is broken on purpose, and the family has to notice.

`make proof` goes on where it stopped and adds to the figures of the same commit; `PROOF=10` gives
it ten minutes, `FAMILY=fuzz` runs one family, and `python -m proof --again` tries what broke once
more. The ledger is JSON: `proof/results/`.
"""


def page(families: Iterable[ProofFamily], ledger: Ledger) -> str:
    return "\n".join((HEAD, *_lines(list(families), ledger), ""))


def _lines(families: list[ProofFamily], ledger: Ledger) -> Iterator[str]:
    yield f"Commit `{ledger.commit}`, {ledger.at[:10]}."
    yield ""
    yield "| promise | tried | of | broken | the mutant was noticed |"
    yield "|---|---:|---:|---:|---|"
    for family in families:
        entry = ledger.entries.get(family.name, Entry())
        caught = entry.mutant_caught_after
        noticed = f"after {caught} trial{'' if caught == 1 else 's'}" if caught else "**no**"
        tried = f"{entry.units:,} {family.unit}"
        cells = (family.promise, tried, f"{family.target:,}", _broken(entry), noticed)
        yield f"| {' | '.join(cells)} |"
    yield ""
    yield from _takes(families, ledger)
    for family in families:
        entry = ledger.entries.get(family.name, Entry())
        yield f"## {family.name}"
        yield ""
        spent = f"{entry.trials:,} trials in {entry.seconds / 60:,.1f} minutes"
        yield f"{family.promise} {spent}. The mutant: {family.mutant_said}."
        figures = ", ".join(f"{number:,} {name}" for name, number in entry.figures.items())
        if figures:
            yield ""
            yield f"In them: {figures}."
        for what, why in family.not_promised:
            yield ""
            yield f"- not promised: {what}; {why}"
        for one in entry.broken[:10]:
            yield ""
            mended = f", mended in `{one['mended']}`" if "mended" in one else ""
            yield f"- **broken**{mended}, seed {one['seed']}: `{one['said']}`"
        yield ""


def _takes(families: list[ProofFamily], ledger: Ledger) -> Iterator[str]:
    """How long the full counts take, as fast as the trials of this ledger went."""
    yield "## What a full run takes"
    yield ""
    yield "As fast as the trials so far went, on that machine and beside all else that it did."
    yield ""
    yield "| family | units | minutes to all of them | minutes spent so far |"
    yield "|---|---:|---:|---:|"
    whole = 0.0
    for family in families:
        entry = ledger.entries.get(family.name, Entry())
        minutes = entry.seconds / entry.units * family.target / 60 if entry.units else None
        whole += minutes or 0
        told = f"{minutes:,.0f}" if minutes is not None else "not tried yet"
        yield f"| {family.name} | {family.target:,} | {told} | {entry.seconds / 60:,.1f} |"
    yield f"| together | | {whole:,.0f} | |"
    yield ""


def write(families: Iterable[ProofFamily], ledger: Ledger) -> Path:
    PAGE.write_text(page(families, ledger).rstrip() + "\n", "utf-8")
    return PAGE


def _broken(entry: Entry) -> str:
    """How many, and whether the same trials hold by now."""
    still = sum("mended" not in one for one in entry.broken)
    if still or not entry.broken:
        return str(len(entry.broken))
    return f"{len(entry.broken)}, mended since"
