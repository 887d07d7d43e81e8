"""The page of routes is generated and up to date, and the curl lines of the pages work."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess

import pytest

from scripts import http_table
from tests.docs.pages import PAGES, PROJECT, blocks_of
from tests.interfaces.http.conftest import Served

AGAINST_A_SERVER = "run against a server"


def test_the_table_of_routes_is_up_to_date() -> None:
    text = http_table.PAGE.read_text("utf-8")
    assert text == http_table.written(text, http_table.table(http_table.openapi())), (
        "run `make docs`"
    )


def test_a_page_without_a_place_for_routes_is_an_error() -> None:
    with pytest.raises(SystemExit, match="no place"):
        http_table.written("nothing here", "")


def curl_lines() -> list[tuple[str, str]]:
    return [
        (page.relative_to(PROJECT).as_posix(), line)
        for page in PAGES
        for block in blocks_of(page.read_text("utf-8"))
        if block.remark.startswith(AGAINST_A_SERVER)
        for line in re.split(r"\n(?=curl )", block.code.strip())
    ]


def test_there_are_curl_lines() -> None:
    assert len(curl_lines()) >= 6


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
@pytest.mark.parametrize(("page", "line"), curl_lines())
def test_a_curl_line_works_as_it_stands(server: Served, page: str, line: str) -> None:
    done = subprocess.run(
        line,
        shell=True,
        capture_output=True,
        text=True,
        env={**os.environ, "URL": server.address, "KEY": server.keys["ann"]},
        check=True,
        timeout=30,
    )
    answer = json.loads(done.stdout)
    assert "detail" not in answer, (page, answer)
