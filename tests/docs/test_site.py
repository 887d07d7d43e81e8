"""The site: every page has its place in the navigation, and it asks nobody for anything."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts import build_site
from tests.docs.pages import PAGES, PROJECT

DOCS = PROJECT / "docs"
KINDS = {"Tutorials": "tutorial", "Reference": "reference", "Explanation": "explanation"}


def listed(index: Path) -> list[tuple[str, str]]:
    """Title of the section and path of every page that an index lists."""
    parts = build_site.sections(index.read_text("utf-8"), index.parent)
    return [(title, path) for title, pages in parts for _, path in pages]


def test_every_page_is_once_in_the_navigation() -> None:
    paths = [path for index in DOCS.rglob("index.md") for _, path in listed(index)]
    wanted = [
        page.relative_to(PROJECT).as_posix().removesuffix(".md")
        for page in PAGES
        if page.is_relative_to(DOCS) and page != DOCS / "index.md"
    ]
    wanted += [name.removesuffix(".md") for name in build_site.LIFTED]
    assert sorted(paths) == sorted(wanted)


def test_the_four_kinds_of_pages_are_told_apart() -> None:
    found = listed(DOCS / "index.md")
    for title, folder in KINDS.items():
        inside = {path.split("/")[1] for one, path in found if one == title}
        assert inside == {folder}, title
    inside = {path.split("/")[1] for one, path in found if one.startswith("How to")}
    assert inside == {"howto"}


def test_a_link_to_what_is_no_page_becomes_words() -> None:
    page = DOCS / "howto" / "serve.md"
    text = "[code](../../src/x.py) [page](mcp.md#a) [web](https://a.example)\n```\n[b](c.py)\n```\n"
    assert build_site.only_pages(text, page) == (
        "code [page](mcp.md#a) [web](https://a.example)\n```\n[b](c.py)\n```\n"
    )


_ASKS = re.compile(rb"""(?:src|href)=["']?(?:https?:)?//|url\(["']?(?:https?:)?//|@import""")


@pytest.mark.proof
@pytest.mark.filterwarnings("default")  # Sphinx's extensions warn of Sphinx
def test_the_site_is_built_without_a_fault_and_without_the_network(tmp_path: Path) -> None:
    site = tmp_path / "site"
    assert build_site.build(site) == 0
    assert (site / "searchindex.js").stat().st_size > 100_000
    methods = (site / "docs" / "reference" / "python.html").read_text("utf-8")
    assert "standfast.Memory.observe" in methods
    for file in [*site.rglob("*.html"), *site.rglob("*.css")]:
        content = re.sub(rb"<a [^>]*>", b"", file.read_bytes())
        assert not _ASKS.search(content), file.relative_to(site)
