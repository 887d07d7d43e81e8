"""Every screen in a real browser against a real server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from standfast.access.codes import make_code
from tests.console.conftest import AXE
from tests.console.world import ANN, SCREENS, TEAM, Console, console, fill, fill_hostile, with_data
from tests.serving import Served, served


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served() as running:
        running.ids = running.run(lambda _: fill(running.memory))  # type: ignore[attr-defined]
        yield running


@pytest.fixture(scope="module")
def admin(server: Served) -> str:
    return server.key()


def test_X15_a_link_with_a_code_opens_the_console_and_leaves_no_trace_in_the_address(
    browser: Any, server: Served
) -> None:
    code = server.run(make_code)
    context = browser.new_context()
    page = Console(context, server.url)
    page.page.goto(f"{server.url}/#code={code}")
    page.settled()
    assert code not in page.page.url
    assert "believed now" in page.text()
    page.page.get_by_role("button", name="Log out").click()
    page.page.get_by_text("The key is revoked").wait_for()
    page.page.go_back()
    assert page.page.locator("#main").count() == 0
    page.assert_clean()
    context.close()


def test_X15_a_link_opened_where_the_page_is_open_already_is_taken_too(
    browser: Any, server: Served
) -> None:
    code = server.run(make_code)
    context = browser.new_context()
    page = Console(context, server.url)
    page.page.goto(f"{server.url}/")
    page.page.get_by_role("button", name="Open the console").wait_for()
    page.page.goto(f"{server.url}/#code={code}")  # the same document: the browser loads nothing
    page.page.get_by_text("believed now").first.wait_for()
    assert code not in page.page.url
    page.assert_clean()
    context.close()


def test_X15_every_screen_shows_its_data_with_nothing_serious_for_axe(
    browser: Any, server: Served, admin: str
) -> None:
    found: dict[str, list[str]] = {}
    with console(browser, server, admin, bypass_csp=True) as page:
        page.page.evaluate(AXE.read_text("utf-8"))
        for scheme in ("light", "dark"):
            page.page.emulate_media(color_scheme=scheme)
            for screen, id_, params, words in with_data(server.ids):  # type: ignore[attr-defined]
                page.open(screen, id_, **params)
                page.main().get_by_text(words).first.wait_for()
                for trouble in _axe(page):
                    found.setdefault(trouble, []).append(f"{scheme} {screen} {id_}")
        assert found == {}
        page.assert_clean()


def _axe(page: Console) -> list[str]:
    said = page.page.evaluate(
        "() => axe.run(document, {resultTypes: ['violations']}).then((r) => r.violations)"
    )
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:200]}"
        for one in said
        if one["impact"] in ("serious", "critical")
    ]


def test_X15_every_screen_runs_under_its_own_policy(
    browser: Any, server: Served, admin: str
) -> None:
    """Without a console error, without a request to another host, narrow and with a touch."""
    with console(browser, server, admin, viewport={"width": 360, "height": 740}) as page:
        for screen, id_, params, words in with_data(server.ids):  # type: ignore[attr-defined]
            page.open(screen, id_, **params)
            page.main().get_by_text(words).first.wait_for()
            wide = page.page.evaluate("() => document.documentElement.scrollWidth")
            assert wide <= 360, screen
        page.assert_clean()


def test_X15_a_second_key_sees_nothing_of_the_first(browser: Any, server: Served) -> None:
    """And each of its empty screens says what to do."""
    key = server.key("user:new")
    with console(browser, server, key) as page:
        for screen, id_, params, words in with_data(server.ids):  # type: ignore[attr-defined]
            foreign = {k: v for k, v in params.items() if k != "scope"}
            page.open(screen, id_, **foreign)
            told = page.text()
            assert len(told) > 30, screen
            for secret in ("office", "Lorries leave", "Mara", "Berlin", TEAM):
                assert secret not in told, (screen, secret, words)
        page.errors[:] = [one for one in page.errors if "404" not in one]  # what is not theirs
        page.assert_clean()


def test_X15_every_screen_tells_an_error_of_the_api(
    browser: Any, server: Served, admin: str
) -> None:
    problem = {"type": "about:blank", "title": "x", "status": 503, "detail": "the disk is full"}
    with console(browser, server, admin) as page:
        page.open("operations")
        page.page.route(
            re.compile(r"/v1/(?!me)"),
            lambda route: route.fulfill(
                status=503, content_type="application/problem+json", body=json.dumps(problem)
            ),
        )
        for screen, id_, params, _ in with_data(server.ids):  # type: ignore[attr-defined]
            page.open(screen, id_, **params)
            page.main().get_by_text("the disk is full").first.wait_for()
        page.page.unroute_all()
        page.open("overview")
        page.main().get_by_text("believed now").wait_for()


def test_X15_the_server_goes_and_comes_back(browser: Any, tmp_path: Path) -> None:
    store = str(tmp_path / "memory.db")
    with served(store) as first:
        key = first.key()
        ids = first.run(lambda _: fill(first.memory))
        context = browser.new_context(reduced_motion="reduce")
        page = Console(context, first.url).log_in(key)
        page.open("memories")
        page.main().get_by_text("The office is in Vienna").wait_for()
    page.page.get_by_text("server gone").wait_for()
    for screen in SCREENS:
        page.page.keyboard.press("g")
        page.page.keyboard.press(SCREENS[screen])
        page.page.get_by_role("heading", level=1, name=screen, exact=False).wait_for()
    with served(store, port=urlsplit(page.url).port) as second:
        page.page.get_by_text("live", exact=True).wait_for()
        for screen, id_, params, words in with_data(ids):
            page.open(screen, id_, **params)
            page.main().get_by_text(words).first.wait_for()
        context.close()
        assert second.url == first.url


def test_X15_everything_is_reached_by_keyboard(browser: Any, server: Served, admin: str) -> None:
    with console(browser, server, admin) as page:
        keys = page.page.keyboard
        for screen, letter in SCREENS.items():
            keys.press("g")
            keys.press(letter)
            page.page.locator(f'nav a[data-screen="{screen}"][aria-current="page"]').wait_for()
            page.settled()
        keys.press("?")
        page.page.get_by_role("dialog").wait_for()
        keys.press("Escape")
        page.page.get_by_role("dialog").wait_for(state="hidden")
        page.open("memories", scope=TEAM)
        keys.press("j")
        keys.press("j")
        keys.press("k")
        assert page.page.locator(".row.chosen").count() == 1
        keys.press("Enter")
        page.page.locator("article.record").wait_for()
        keys.press("Escape")
        page.page.locator(".rows").wait_for()
        keys.press("/")
        keys.type("pipeline")
        keys.press("Enter")
        page.page.get_by_text("for “pipeline”").wait_for()
        page.assert_clean()


def test_X15_editing_pinning_and_archiving_are_undone_by_u_after_a_preview(
    browser: Any, server: Served, admin: str
) -> None:
    scope = "org:edits"
    made = server.run(lambda _: server.memory.remember("The lift is broken", scope=scope))
    with console(browser, server, admin) as page:
        ui = page.page
        page.open("memories", made.items[0].id)
        ui.get_by_role("button", name="Edit…").click()
        ui.get_by_label("What it should say").fill("The lift works again")
        ui.get_by_role("button", name="Save").click()
        ui.locator("article.record .said.large", has_text="The lift works again").wait_for()
        ui.get_by_text("The lift is broken").first.wait_for()
        ui.get_by_role("button", name="Pin", exact=True).click()
        ui.get_by_role("button", name="Unpin").wait_for()
        ui.keyboard.press("u")
        ui.get_by_role("button", name="Take it back").click()
        ui.get_by_role("button", name="Pin", exact=True).wait_for()
        ui.get_by_role("button", name="Archive").click()
        ui.locator("article.record").get_by_text("archived").first.wait_for()
        page.assert_clean()


def test_X15_forgetting_shows_what_goes_before_it_goes(
    browser: Any, server: Served, admin: str
) -> None:
    made = server.run(lambda _: server.memory.remember("The code is 4711", scope="org:gone"))
    id_ = made.items[0].id
    with console(browser, server, admin) as page:
        page.open("memories", id_)
        page.page.get_by_role("button", name="Forget…").click()
        page.page.get_by_text("This cannot be undone").wait_for()
        assert server.run(lambda _: server.memory.get([id_])), "only looked at"
        page.page.get_by_role("button", name="Erase 1 for good").click()
        page.page.get_by_text("Erased for good").wait_for()
        assert not server.run(lambda _: server.memory.get([id_]))


def test_X10_what_several_authors_said_is_listed_and_needs_a_tick(
    browser: Any, server: Served, admin: str
) -> None:
    scope = "org:kiln"
    first, richer = "The kiln is fired", "The kiln is fired on Mondays at 1,200 degrees"
    made = server.run(lambda _: server.memory.remember(first, scope=scope, author="ann"))
    server.run(lambda _: server.memory.remember(richer, scope=scope, author="ben"))
    id_ = made.items[0].id
    with console(browser, server, admin) as page:
        page.open("memories", id_)
        page.page.get_by_role("button", name="Forget…").click()
        page.page.locator(".plan li", has_text=richer).get_by_text("by ben").wait_for()
        erase = page.page.get_by_role("button", name="Erase 2 for good")
        assert erase.is_disabled()
        page.page.get_by_label("erase it although it is by ann, ben").check()
        erase.click()
        page.page.get_by_text("Erased for good").wait_for()
        assert not server.run(lambda _: server.memory.get([id_]))


def test_X15_a_contradiction_is_decided_in_the_review(
    browser: Any, server: Served, admin: str
) -> None:
    scope = "org:review"
    made = server.run(lambda _: server.memory.remember("Tea is at four", scope=scope))
    server.run(lambda _: server.memory.dispute(made.items[0].id, text="Tea is at five"))
    with console(browser, server, admin) as page:
        page.open("review", scope=scope)
        page.page.locator("ins", has_text="five").wait_for()
        page.page.get_by_role("button", name="Keep the newer").click()
        page.page.get_by_text("Nothing waits for you").wait_for()
        believed = server.run(lambda _: server.memory.recall("tea", scope=scope))
        assert [hit.record.text for hit in believed.hits] == ["Tea is at five"]
        page.page.keyboard.press("u")
        page.page.get_by_role("button", name="Take it back").click()
        page.page.locator("ins", has_text="five").wait_for()
        page.assert_clean()


def test_X15_what_others_write_appears_by_itself_in_two_tabs(
    browser: Any, server: Served, admin: str
) -> None:
    scope = "org:tabs"
    server.run(lambda _: server.memory.remember("The first", scope=scope))
    context = browser.new_context(reduced_motion="reduce")
    tabs = [Console(context, server.url).log_in(admin) for _ in range(2)]
    tabs[0].open("overview", scope=scope)
    tabs[1].open("changes", scope=scope)
    tabs[0].main().get_by_text("The first").first.wait_for()
    server.run(lambda _: server.memory.remember("A second thing entirely", scope=scope))
    for tab in tabs:
        tab.main().get_by_text("A second thing entirely").first.wait_for()
        tab.assert_clean()
    context.close()


def test_X15_back_and_forward_and_reload_with_a_kept_key(
    browser: Any, server: Served, admin: str
) -> None:
    context = browser.new_context(reduced_motion="reduce")
    page = Console(context, server.url).log_in(admin, keep=True)
    page.open("memories", scope=TEAM)
    page.page.locator(".row").first.click()
    page.page.locator("article.record").wait_for()
    page.page.go_back()
    page.page.locator(".rows").wait_for()
    assert f"scope={TEAM.replace(':', '%3A')}" in page.page.url
    page.page.go_forward()
    page.page.locator("article.record").wait_for()
    page.page.reload()
    page.page.locator("article.record").wait_for()
    assert "rck_" not in page.page.url
    page.assert_clean()
    context.close()


def test_X15_what_a_memory_says_is_never_more_than_text(browser: Any, server: Served) -> None:
    key = server.key(ANN)
    ids = server.run(lambda _: fill_hostile(server.memory))
    views: list[tuple[str, str, dict[str, str]]] = [
        *((screen, "", {}) for screen in SCREENS),
        ("recall", "", {"q": "the script the picture the link the drawing"}),
        ("packet", "", {"q": "the script the picture"}),
        ("graph", ids[0], {}),
        ("sessions", "<script>window.pwned = 1</script> the script", {"scope": ANN}),
        *(("memories", one, {}) for one in ids),
    ]
    with console(browser, server, key, viewport={"width": 360, "height": 740}) as page:
        for screen, id_, params in views:
            page.open(screen, id_, **params)
            inside = page.page.evaluate(
                "() => [window.pwned || 0, document.querySelectorAll('#main script, #main img, "
                '#main svg[onload], #main [onerror], a[href^="javascript:"]\').length,'
                "document.documentElement.scrollWidth]"
            )
            assert inside[:2] == [0, 0], (screen, id_)
            assert inside[2] <= 360, (screen, id_)
        page.open("memories", ids[-1])
        page.page.get_by_role("button", name=re.compile("Show all")).first.click()
        page.page.get_by_label("Menu").click(timeout=5000)  # it still answers
        page.assert_clean()


def test_X15_long_work_is_seen_and_cancelled(browser: Any, server: Served, admin: str) -> None:
    with console(browser, server, admin) as page:
        page.open("operations")
        page.page.get_by_role("button", name="Export everything").click()
        page.page.get_by_role("button", name="Save the file").wait_for()
        page.page.get_by_role("button", name="Make a key…").click()
        page.page.get_by_label("Whose it is").fill("kitchen")
        page.page.get_by_label("Scopes it reaches").fill("user:ann")
        page.page.get_by_role("button", name="Make it").click()
        secret = page.page.locator(".secret").inner_text()
        assert secret.startswith("rck_")
        page.page.get_by_role("button", name="Done").click()
        page.page.get_by_role("button", name="Revoke kitchen").click()
        page.page.get_by_role("button", name="Revoke it").click()
        page.page.get_by_text("it works no more").wait_for()
        page.assert_clean()
