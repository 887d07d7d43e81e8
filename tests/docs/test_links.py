"""Links between pages lead somewhere, and every page can be reached from the index."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, PROJECT

_LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def links_of(page: Path) -> list[str]:
    text = _FENCE.sub("", page.read_text("utf-8"))
    return [match["target"] for match in _LINK.finditer(text) if "://" not in match["target"]]


def target_of(page: Path, link: str) -> Path:
    return (page.parent / link.partition("#")[0]).resolve() if link[0] != "#" else page


def heading_anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(PROJECT).as_posix())
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    broken = [link for link in links_of(page) if not target_of(page, link).exists()]
    for link in links_of(page):
        anchor = link.partition("#")[2]
        target = target_of(page, link)
        if anchor and target.suffix == ".md" and anchor not in heading_anchors(target):
            broken.append(link)
    assert broken == []


def test_every_page_is_reachable_from_the_index() -> None:
    index = PROJECT / "docs" / "index.md"
    reached, waiting = set(), [index]
    while waiting:
        page = waiting.pop()
        if page in reached:
            continue
        reached.add(page)
        targets = (target_of(page, link) for link in links_of(page))
        waiting += [target for target in targets if target.suffix == ".md" and target.exists()]
    lost = [page for page in PAGES if page.is_relative_to(PROJECT / "docs") and page not in reached]
    assert lost == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(PROJECT).as_posix())
def test_no_heading_of_a_page_skips_a_level(page: Path) -> None:
    text = _FENCE.sub("", page.read_text("utf-8"))
    levels = [len(marks) for marks in re.findall(r"^(#+) ", text, re.MULTILINE)]
    skips = [below for above, below in pairwise(levels) if below > above + 1]
    assert skips == []


_NAMED = re.compile(r"`([\w-]+(?:/[\w.-]+)*/[\w.-]+(?:/|\.py))`")
_ROOTS = (PROJECT, PROJECT / "src", PROJECT / "src" / "standfast", PROJECT / "tests")
# Made by a command.
_MADE = ("bench/results/",)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(PROJECT).as_posix())
def test_the_files_of_the_source_that_a_page_names_are_there(page: Path) -> None:
    named = set(_NAMED.findall(_FENCE.sub("", page.read_text("utf-8")))) - set(_MADE)
    assert [name for name in sorted(named) if not any((r / name).exists() for r in _ROOTS)] == []


def test_a_decision_has_the_number_of_its_file() -> None:
    found = sorted((PROJECT / "docs" / "adr").glob("0*.md"))
    assert [f"# {int(page.name[:4])}. " for page in found] == [
        re.match(r"# \d+\. |", page.read_text("utf-8"))[0]  # type: ignore[index]
        for page in found
    ]
    assert [int(page.name[:4]) for page in found] == list(range(1, len(found) + 1))
