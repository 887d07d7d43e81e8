"""Numbers as people read them: Markdown tables, targets met or missed, and plain JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bench.machine import ABSENT

BEGIN = "<!-- bench: begin (written by `python -m bench --docs`) -->"
END = "<!-- bench: end -->"


@dataclass(frozen=True, slots=True)
class Table:
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """A target and what was measured."""

    what: str
    measured: str
    target: str
    met: bool


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a chart."""

    panel: str
    name: str
    unit: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Result:
    name: str
    tables: Sequence[Table] = ()
    claims: Sequence[Claim] = ()
    series: Sequence[Series] = ()


@dataclass(slots=True)
class Report:
    size: str
    day: str
    machine: Mapping[str, str]
    results: list[Result] = field(default_factory=list)

    @property
    def claims(self) -> list[Claim]:
        return [claim for result in self.results for claim in result.claims]

    @property
    def series(self) -> list[Series]:
        return [series for result in self.results for series in result.series]

    def markdown(self, *, targets: bool = True) -> str:
        parts = [
            f"Run of {self.day} ({self.size}): {facts(self.machine)}.",
            _targets(self.claims, self.size) if targets else "",
        ]
        parts += [render(table) for result in self.results for table in result.tables]
        return "\n\n".join(part for part in parts if part)

    def json(self) -> str:
        return json.dumps(asdict(self), indent=1)


def facts(machine: Mapping[str, str]) -> str:
    """What it ran on. A package that the process which led the run did not need is no fact."""
    told = (f"{name} {value}" for name, value in machine.items() if value != ABSENT)
    return "; ".join(told)


def render(table: Table) -> str:
    lines = [
        f"### {table.title}",
        "",
        _row(table.columns),
        _row([_alignment(column) for column in zip(*table.rows, strict=True)]),
        *map(_row, table.rows),
    ]
    return "\n".join([*lines, "", table.note] if table.note else lines)


def _targets(claims: Sequence[Claim], size: str) -> str:
    if not claims:
        return ""
    rows = [
        (claim.what, claim.measured, claim.target, "met" if claim.met else "**missed**")
        for claim in claims
    ]
    note = "" if size == "full" else "The targets are set for the sizes of a full run."
    return render(Table("Targets", ("what", "measured", "target", ""), rows, note))


def _alignment(cells: Sequence[str]) -> str:
    """Numbers stand to the right, words to the left, also words that begin with a number."""
    words = (cell[:1].isalpha() or cell[:1] == "*" or len(cell.split()) > 3 for cell in cells)
    return "---" if any(words) else "---:"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def nothing_named(title: str) -> Table:
    """Of a part that needs a server, where there is none."""
    return Table(title, ("not measured",), [("name a PostgreSQL server with --store",)])


def at_most(what: str, value: float, limit: float, show: str = "{:.2f}x") -> Claim:
    return Claim(what, show.format(value), "at most " + show.format(limit), value <= limit)


def at_least(what: str, value: float, limit: float, show: str = "{:.2f}x") -> Claim:
    return Claim(what, show.format(value), "at least " + show.format(limit), value >= limit)


def ms(seconds: float) -> str:
    value = seconds * 1000
    if math.isnan(value):
        return "-"
    return (
        f"{value:.2f} ms" if value < 10 else f"{value:.1f} ms" if value < 100 else f"{value:.0f} ms"
    )


def mib(size: float) -> str:
    value = size / 2**20
    return f"{value:.1f} MiB" if value < 100 else f"{value:.0f} MiB"


def number(count: float) -> str:
    return f"{count:,.0f}"


def times(value: float) -> str:
    return f"{value:.2f}x"


def exponent(points: Sequence[tuple[float, float]]) -> float:
    """How a value grows with a size: 0 not at all, 1 in proportion. By least squares of the
    logarithms; not a number where there are fewer than two sizes."""
    logs = [(math.log(size), math.log(value)) for size, value in points]
    middle = sum(size for size, _ in logs) / len(logs)
    spread = sum((size - middle) ** 2 for size, _ in logs)
    return sum((size - middle) * value for size, value in logs) / spread if spread else math.nan


def power(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2f}"


def write_json(report: Report, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{report.size.replace(' ', '')}.json"
    path.write_text(report.json() + "\n", "utf-8")
    return path


def write_page(report: Report, page: Path, chart: str = "", *, targets: bool = True) -> None:
    """Put the tables, and the chart if there is one, between the page's two marks."""
    text = page.read_text("utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{page} has no place for the tables: {BEGIN} ... {END}")
    parts = [BEGIN, report.markdown(targets=targets), END]
    if chart:
        picture = page.with_suffix(".svg")
        picture.write_text(chart, "utf-8")
        parts.insert(2, f"![Cost against the number of records]({picture.name})")
    page.write_text(before + "\n\n".join(parts) + after, "utf-8")
