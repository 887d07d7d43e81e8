"""Any key that works opens the console, whatever it looks like; so does a one-time code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from standfast.access import keys
from standfast.access.codes import make_code
from tests.console.world import Console
from tests.serving import Served, served

OWN = "4f" * 32  # as `openssl rand -hex 32` makes it
FIELD = "A one-time code, or a key"


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served() as running:
        running.run(lambda engine: keys.ensure_key(engine, OWN, name="admin", actor="serve"))
        yield running


@pytest.fixture
def page(browser: Any, server: Served) -> Iterator[Console]:
    context = browser.new_context(reduced_motion="reduce")
    yield Console(context, server.url)
    context.close()


def test_X15_the_key_that_an_operator_chose_opens(page: Console) -> None:
    page.log_in(OWN).open("memories")
    page.assert_clean()


def test_X15_an_agents_key_for_one_scope_opens(page: Console, server: Served) -> None:
    _, secret = server.run(
        lambda engine: keys.create_key(engine, scopes=["user:ann"], rights=["read"], holder="agent")
    )
    page.log_in(secret).open("memories")
    page.assert_clean()


@pytest.mark.parametrize("link", [False, True], ids=["code", "link"])
def test_X15_a_code_that_is_pasted_opens(page: Console, server: Served, link: bool) -> None:
    code = server.run(make_code)
    page.log_in(f"{server.url}/#code={code}" if link else code).open("memories")


@pytest.mark.parametrize("text", ["0" * 64, "rck_" + "x" * 43, "two words", "schlüssel"])
def test_X15_what_is_neither_is_said_to_be_neither(page: Console, text: str) -> None:
    page.page.goto(page.url)
    page.page.get_by_label(FIELD).fill(text)
    page.page.get_by_role("button", name="Open the console").click()
    page.page.get_by_text("this is no key that works").wait_for()
    assert page.page.get_by_label(FIELD).is_visible(), "and one may try again"
