"""The benchmark page's top: nothing on it that was not recorded."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench import page, report
from bench.chart import draw
from bench.machine import ABSENT

RECORDED = json.loads(page.RECORDED.read_text("utf-8"))
OWN = json.loads(page.OWN.read_text("utf-8"))


def test_the_page_is_what_was_recorded(tmp_path: Path) -> None:
    copy = tmp_path / page.PAGE.name
    copy.write_text(page.PAGE.read_text("utf-8"), "utf-8")
    page.write(RECORDED, OWN, copy)
    assert copy.read_text("utf-8") == page.PAGE.read_text("utf-8"), "run `python -m bench.page`"
    chart = (tmp_path / page.CHART).read_text("utf-8")
    assert chart == page.PAGE.with_name(page.CHART).read_text("utf-8")


def test_the_chart_has_a_line_and_a_colour_for_each_program() -> None:
    drawn = page.series(RECORDED)
    names = {one.name for one in drawn}
    assert names >= {"standfast", "sqlite-vec + FTS5", "Chroma", "mem0"}
    root = ElementTree.fromstring(draw(drawn))
    lines = [one for one in root.iter() if one.tag.endswith("polyline")]
    assert len({one.get("stroke") for one in lines}) == len(names)
    width = float(root.get("width", "0"))
    for text in root.iter("{http://www.w3.org/2000/svg}text"):
        assert float(text.get("x", "0")) < width


@pytest.mark.parametrize(
    ("ours", "said"), [(0.002, "reached"), (0.008, "**missed**: 2.4x is wanting")]
)
def test_a_target_says_by_how_much_it_is_missed(ours: float, said: str) -> None:
    about = {"records": 1000, "scopes": 1, "p95": 0.01}
    asked = [
        {**about, "peer": "standfast", "way": "recall", "program": "standfast", "median": ours},
        {**about, "peer": "sqlitevec", "way": "hybrid", "program": "s", "median": 0.004},
    ]
    for one in asked:
        one["asked"] = "both arms"
    table = page.targets({"asked": asked, "written": [], "embedding": {}})
    assert [row[-1] for row in table.rows] == [said]


@pytest.mark.parametrize(("power", "said"), [(0.0, "0.00"), (1.0, "1.00"), (0.5, "0.50")])
def test_the_exponent_is_that_of_the_curve(power: float, said: str) -> None:
    points = [(size, 3 * size**power) for size in (100, 1000, 30_000)]
    assert report.power(report.exponent(points)) == said
    assert report.power(report.exponent(points[:1])) == "-"


def test_every_program_of_the_chart_says_how_it_grows() -> None:
    drawn = dict.fromkeys(one.name for one in page.series(RECORDED))
    assert [row[0] for row in page.grown(RECORDED).rows] == list(drawn)


def test_a_target_of_our_own_is_reached_or_missed() -> None:
    claim = {"what": "a", "measured": "2 ms", "target": "at most 1 ms"}
    own = {"day": "2026-01-01", "machine": {"cores": "2"}}
    for met, said in ((True, "reached"), (False, "**missed**")):
        table = page.own_targets({**own, "claims": [{**claim, "met": met}]})
        assert table.rows == [("a", "2 ms", "at most 1 ms", said)]


def test_the_page_tells_no_package_that_was_not_there_and_aligns_words_left() -> None:
    assert report.facts({"python": "3.11", "apsw": ABSENT}) == "python 3.11"
    rows = [("1,000 records: recall beside Chroma", "0.78x"), ("2,000 records: the same", "1 ms")]
    assert "| --- | ---: |" in report.render(report.Table("Targets", ("what", "measured"), rows))
