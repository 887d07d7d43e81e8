"""``docs/reference/proofs.md``, from the last ledgers: of each family the last that tried it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from proof.family import ProofFamily
from proof.ledger import Entry, Ledger

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "proofs.md"

HEAD = """\
# Proofs

Every promise below was tried at length by `make proof`, which anybody can run again; the figures
are those of the last commit on which it was tried, which is named. A check that cannot fail proves
nothing: before a family counts, a line of the code is broken on purpose, and the family has to
notice.

`make proof` goes on where it stopped and adds to the figures of the same commit, which is the last
one that changed the code; `PROOF=10` gives it ten minutes, `FAMILY=fuzz` runs one family, and
`python -m proof --again` tries what broke once more. The ledgers are JSON: `proof/results/`.
"""


def page(families: Iterable[ProofFamily], *ledgers: Ledger) -> str:
    """``ledgers``: the newest first."""
    return "\n".join((HEAD, *_lines([_tried(one, ledgers) for one in families]), ""))


class Tried(NamedTuple):
    """A family, and where it was last tried."""

    family: ProofFamily
    entry: Entry
    where: str


def _tried(family: ProofFamily, ledgers: Sequence[Ledger]) -> Tried:
    for ledger in ledgers:
        entry = ledger.entries.get(family.name)
        if entry is not None and (entry.units or entry.broken):
            return Tried(family, entry, f"`{ledger.commit}`, {ledger.at[:10]}")
    return Tried(family, Entry(), "-")


def _lines(tried: list[Tried]) -> Iterator[str]:
    yield "| promise | tried | of | broken | the mutant was noticed | commit |"
    yield "|---|---:|---:|---:|---|---|"
    for family, entry, where in tried:
        caught = entry.mutant_caught_after
        noticed = f"after {caught} trial{'' if caught == 1 else 's'}" if caught else "**no**"
        units = f"{entry.units:,} {family.unit}"
        cells = (family.promise, units, f"{family.target:,}", _broken(entry), noticed, where)
        yield f"| {' | '.join(cells)} |"
    yield ""
    yield from _takes(tried)
    for family, entry, _ in tried:
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


def _takes(tried: list[Tried]) -> Iterator[str]:
    """How long the full counts take, as fast as the trials so far went."""
    yield "## What a full run takes"
    yield ""
    yield "As fast as the trials so far went, on that machine and beside all else that it did."
    yield ""
    yield "| family | units | minutes to all of them | minutes spent so far |"
    yield "|---|---:|---:|---:|"
    whole = 0.0
    for family, entry, _ in tried:
        minutes = entry.seconds / entry.units * family.target / 60 if entry.units else None
        whole += minutes or 0
        told = f"{minutes:,.0f}" if minutes is not None else "not tried yet"
        yield f"| {family.name} | {family.target:,} | {told} | {entry.seconds / 60:,.1f} |"
    yield f"| together | | {whole:,.0f} | |"
    yield ""


def write(families: Iterable[ProofFamily], ledgers: Iterable[Ledger]) -> Path:
    PAGE.write_text(page(families, *ledgers).rstrip() + "\n", "utf-8")
    return PAGE


def _broken(entry: Entry) -> str:
    """How many, and whether the same trials hold by now."""
    still = sum("mended" not in one for one in entry.broken)
    if still or not entry.broken:
        return str(len(entry.broken))
    return f"{len(entry.broken)}, mended since"
