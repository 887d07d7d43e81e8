"""``python -m bench.page``: the top of the benchmark page, from the recorded results.

A chart of time against size for every program, the targets, and how costs grow. Nothing is measured
here: ``python -m bench --docs`` and ``python -m bench.peers --docs`` record what they measured, and
end with this.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.chart import draw
from bench.report import Claim, Report, Series, Table, exponent, facts, number, power, render

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "reference"
PAGE = FOLDER / "benchmarks.md"
RECORDED = FOLDER / "benchmarks-peers.json"
OWN = FOLDER / "benchmarks.json"
CHART = "benchmarks-peers.svg"
BEGIN = "<!-- page: begin (written by `python -m bench.page`) -->"
END = "<!-- page: end -->"

Row = Mapping[str, Any]
TARGETS = ("what", "measured", "target", "")  # columns
OURS = ("standfast", "recall")
# The way of asking each program that does most of what a recall does.
DRAWN = (
    OURS,
    ("sqlitevec", "hybrid"),
    ("lancedb-indexed", "hybrid"),
    ("chroma", "plain"),
    ("langgraph-sqlite", "vector"),
    ("langgraph-memory", "vector"),
    ("mem0", "search"),
)


@dataclass(frozen=True, slots=True)
class SpeedTarget:
    """So many times as fast as another program asked in one way."""

    peer: str
    way: str
    records: int
    scopes: int
    least: float


SPEED = (
    SpeedTarget("sqlitevec", "hybrid", 1_000, 1, 1.2),
    SpeedTarget("sqlitevec", "vector", 1_000, 1, 0.6),
    SpeedTarget("sqlitevec", "hybrid", 10_000, 1, 6.0),
    SpeedTarget("sqlitevec", "vector", 10_000, 1, 4.0),
    SpeedTarget("sqlitevec", "hybrid", 100_000, 1, 20.0),
    SpeedTarget("sqlitevec", "vector", 100_000, 1, 18.0),
    SpeedTarget("langgraph-sqlite", "vector", 20_000, 1, 15.0),
    SpeedTarget("langgraph-sqlite", "vector", 20_000, 10, 3.0),
    SpeedTarget("lancedb-indexed", "hybrid", 100_000, 1, 9.0),
    SpeedTarget("chroma", "plain", 1_000, 1, 1.0),
    SpeedTarget("chroma", "plain", 100_000, 1, 0.4),
)
SPREAD_MOST = 3.0  # p95 beside the median, ten scopes
FILE_MOST, FILE_RECORDS = 1.5, 100_000  # the file beside that of sqlite-vec + FTS5
SINGLE_MOST = 3.0  # one durable write beside one into sqlite-vec + FTS5
BATCH_LEAST = 0.5  # records a second, beside the same
EMBEDDING_LEAST = 3.0  # texts a second beside onnxruntime


def series(recorded: Mapping[str, Any]) -> list[Series]:
    """Of the files with one scope: what asking costs, and what one durable write costs."""
    found: list[Series] = []
    for peer, way in DRAWN:
        rows = [
            row
            for row in recorded["asked"]
            if (row["peer"], row["way"], row["scopes"]) == (peer, way, 1)
        ]
        if rows:
            points = [(row["records"], row["median"] * 1000) for row in rows]
            found.append(Series("one question, median", rows[0]["program"], "ms", points))
    for peer, _ in DRAWN:
        rows = [
            row
            for row in recorded["written"]
            if (row["peer"], row["scopes"]) == (peer, 1) and not row["in_memory"]
        ]
        if rows:
            points = [(row["records"], row["single"] * 1000) for row in rows]
            found.append(Series("one durable write", rows[0]["program"], "ms", points))
    return found


def targets(recorded: Mapping[str, Any]) -> Table:
    rows = [*_speed(recorded), *_spread(recorded), *_writing(recorded), *_embedding(recorded)]
    return Table("Beside other programs", TARGETS, rows)


def own_targets(own: Mapping[str, Any]) -> Table:
    """What ``python -m bench`` set out to reach."""
    claims = [Claim(**one) for one in own["claims"]]
    rows = [
        (one.what, one.measured, one.target, "reached" if one.met else "**missed**")
        for one in claims
    ]
    note = f"Run of {own['day']} ({facts(own['machine'])})."
    return Table("Beside bare baselines, and by itself", TARGETS, rows, note)


def grown(recorded: Mapping[str, Any]) -> Table:
    """With which power of the number of records the lines of the chart rise."""
    found: dict[str, dict[str, str]] = {}
    for one in series(recorded):
        found.setdefault(one.name, {})[one.panel] = power(exponent(one.points))
    panels = list(dict.fromkeys(one.panel for one in series(recorded)))
    rows = [(name, *(told.get(panel, "-") for panel in panels)) for name, told in found.items()]
    note = (
        "The slope of each line of the chart: 0 does not depend on the number of records, 1 grows "
        "in proportion to it. Up to 1,000,000 records: [how it grows](#how-it-grows)."
    )
    return Table("With which power of the number of records", ("program", *panels), rows, note)


def _speed(recorded: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for one in SPEED:
        theirs = _asked(recorded, one.peer, one.way, one.records, one.scopes)
        ours = _asked(recorded, *OURS, one.records, one.scopes)
        if theirs and ours:
            scopes = f" in {one.scopes} scopes" if one.scopes > 1 else ""
            what = f"{number(one.records)} records{scopes}: recall beside {theirs['program']}"
            ratio = theirs["median"] / ours["median"]
            yield _least(f"{what}, {theirs['asked']}", ratio, one.least)


def _spread(recorded: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for row in recorded["asked"]:
        if (row["peer"], row["way"]) == OURS and row["scopes"] > 1:
            what = f"{number(row['records'])} records in {row['scopes']} scopes: p95 beside median"
            yield _most(what, row["p95"] / row["median"], SPREAD_MOST)


def _writing(recorded: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for theirs in recorded["written"]:
        ours = _written(recorded, "standfast", theirs["records"], theirs["scopes"])
        if theirs["peer"] == "sqlitevec" and theirs["scopes"] == 1 and ours:
            size = f"{number(theirs['records'])} records"
            single = ours["single"] / theirs["single"]
            beside = f"beside {theirs['program']}"
            yield _most(f"{size}: one durable `remember` {beside}", single, SINGLE_MOST)
            batch = ours["batch"] / theirs["batch"]
            yield _least(f"{size}: records/s in batches {beside}", batch, BATCH_LEAST)
            if theirs["records"] == FILE_RECORDS and "disk" in theirs:
                size = f"{size}: the file, saved indexes included, {beside}"
                yield _most(size, ours["disk"] / theirs["disk"], FILE_MOST)


def _embedding(recorded: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    found = recorded["embedding"]
    if found:
        ratio = found["ours"] / found["plain"]
        yield _least("texts embedded a second, beside onnxruntime", ratio, EMBEDDING_LEAST)


def _least(what: str, ratio: float, least: float) -> tuple[str, ...]:
    missed = f"**missed**: {least / ratio:.1f}x is wanting" if ratio < least else "reached"
    return what, f"{ratio:.2f}x", f"at least {least:g}x", missed


def _most(what: str, ratio: float, most: float) -> tuple[str, ...]:
    missed = f"**missed**: {ratio / most:.1f}x too much" if ratio > most else "reached"
    return what, f"{ratio:.2f}x", f"at most {most:g}x", missed


def _asked(recorded: Mapping[str, Any], peer: str, way: str, records: int, scopes: int) -> Row:
    wanted = (peer, way, records, scopes)
    return _first(recorded["asked"], ("peer", "way", "records", "scopes"), wanted)


def _written(recorded: Mapping[str, Any], peer: str, records: int, scopes: int) -> Row:
    return _first(recorded["written"], ("peer", "records", "scopes"), (peer, records, scopes))


def _first(rows: Sequence[Row], names: Sequence[str], wanted: Sequence[object]) -> Row:
    """Empty if there is none."""
    return next((one for one in rows if [one[name] for name in names] == list(wanted)), {})


def write(recorded: Mapping[str, Any], own: Mapping[str, Any], page: Path = PAGE) -> None:
    """The chart beside the page, and both between its marks."""
    text = page.read_text("utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{page} has no place for the results: {BEGIN} ... {END}")
    page.with_name(CHART).write_text(draw(series(recorded)), "utf-8")
    parts = [
        BEGIN,
        f"![What a question and a write cost against the number of records]({CHART})",
        f"Run of {recorded['day']} ({facts(recorded['machine'])}). Lower is better; both axes "
        "are logarithmic. Every program got the same texts and vectors; "
        "[who, how and all rows](benchmarks-peers.md).",
        "## Targets",
        render(targets(recorded)),
        render(own_targets(own)),
        render(grown(recorded)),
        END,
    ]
    page.write_text(before + "\n\n".join(parts) + after, "utf-8")


def record_own(report: Report) -> None:
    """What ``python -m bench`` found, for the page."""
    claims = [asdict(one) for one in report.claims]
    own = {"day": report.day, "machine": report.machine, "claims": claims}
    OWN.write_text(json.dumps(own, indent=1) + "\n", "utf-8")


def main() -> int:
    write(*(json.loads(one.read_text("utf-8")) for one in (RECORDED, OWN)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
