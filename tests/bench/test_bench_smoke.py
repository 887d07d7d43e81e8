"""The benchmark runs from end to end on a handful of records. Times are not judged here."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench.__main__ import PAGE, PARTS, build_parser, measure
from bench.baselines import VectorTable
from bench.chart import draw
from bench.parts.hybrid import VEC0
from bench.report import BEGIN, END, Report, Series, write_json, write_page
from bench.running import FULL, Sizes
from bench.texts import CHUNK, Corpus

TINY = Sizes(
    name="tiny",
    hybrid=200,
    tenant=50,
    others=100,
    siblings=100,
    growth=(100, 200),
    questions=3,
    rounds=1,
    writers=4,
    writes=2,
    starts=1,
)


SLOW = ("http", "servers", "shards")  # they start servers; left to `make test-long`


@pytest.fixture(scope="module")
def parts(proving: bool) -> list[str]:
    return [part for part in PARTS if proving or part not in SLOW]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, parts: list[str]) -> Report:
    folder = tmp_path_factory.mktemp("bench")
    report = asyncio.run(measure(TINY, folder, parts))
    assert list(folder.iterdir()) == [], "a run leaves nothing behind"
    return report


def test_every_part_answers_with_a_table(report: Report, parts: list[str]) -> None:
    assert [result.name for result in report.results] == parts
    for result in report.results:
        assert result.tables
        for table in result.tables:
            assert table.rows
            assert {len(row) for row in table.rows} == {len(table.columns)}


def test_what_does_not_depend_on_the_clock_holds(report: Report) -> None:
    held = {claim.what: claim.met for claim in report.claims}
    assert held["the 12 truly nearest vectors found"]
    assert held["import standfast loads no numpy, server or model library"]
    assert held["standfast --help loads no numpy, server or model library"]


def test_the_report_can_be_kept_and_shown(report: Report, parts: list[str], tmp_path: Path) -> None:
    kept = json.loads(write_json(report, tmp_path).read_text("utf-8"))
    assert len(kept["results"]) == len(parts)
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", "utf-8")
    write_page(report, page, draw(report.series))
    text = page.read_text("utf-8")
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "### Targets" in text
    assert "old" not in text.splitlines()
    assert "(page.svg)" in text
    assert (tmp_path / "page.svg").exists()


def test_the_real_page_has_a_place_for_the_tables() -> None:
    text = PAGE.read_text("utf-8")
    assert text.index(BEGIN) < text.index(END)


def test_the_chart_shows_every_line(report: Report) -> None:
    picture = ElementTree.fromstring(draw(report.series))
    lines = picture.findall(".//{*}g/{*}polyline")
    assert len(lines) == len(report.series) > 0


def test_a_chart_of_equal_values_has_an_axis() -> None:
    picture = draw([Series("flat", "one", "ms", [(1.0, 5.0), (10.0, 5.0)])])
    assert "nan" not in picture
    assert "polyline" in picture


def test_sqlite_vec_is_compared_with(report: Report) -> None:
    if not VectorTable.is_installed():
        pytest.skip("sqlite-vec is not installed: `make bench` installs it")
    (hybrid,) = (result for result in report.results if result.name == "hybrid")
    assert VEC0 in {row[0] for row in hybrid.tables[0].rows}


def test_the_same_seed_gives_the_same_records() -> None:
    first, again = Corpus().chunk(7), Corpus().chunk(7)
    assert first.texts == again.texts
    assert first.vectors.tobytes() == again.vectors.tobytes()
    assert first.texts != Corpus().chunk(8).texts


def test_pieces_cover_a_range_once() -> None:
    corpus = Corpus()
    pieces = list(corpus.records(CHUNK - 150, CHUNK + 30, 100))
    assert [first for first, _ in pieces] == [CHUNK - 150, CHUNK - 50, CHUNK]
    assert [len(piece.texts) for _, piece in pieces] == [100, 50, 30]
    assert pieces[2][1].texts == corpus.chunk(1).texts[:30]


def test_sizes_can_be_scaled() -> None:
    small = FULL.scaled(0.001)
    assert small.hybrid == 100
    assert small.growth[-1] == 1000
    assert FULL.scaled(1) is FULL


def test_the_options_of_the_command() -> None:
    options = build_parser().parse_args(["--quick", "--only", "hybrid", "--only", "imports"])
    assert options.quick
    assert options.only == ["hybrid", "imports"]
