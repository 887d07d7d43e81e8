"""The pages of consent in a real browser: their own rules must let the answer through, and only
that."""

from __future__ import annotations

import os
import shutil
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from standfast.interfaces.http import build_app
from tests.interfaces.http.conftest import served

CHROMIUM = os.environ.get("STANDFAST_CHROMIUM") or shutil.which("chromium") or ""
PATIENCE = 30_000  # milliseconds: the machine may be busy


@pytest.mark.proof
@pytest.mark.skipif(not CHROMIUM, reason="no Chromium here; set STANDFAST_CHROMIUM")
def test_O8_a_person_agrees_in_a_browser_and_the_program_is_called_back(tmp_path: Path) -> None:
    api = pytest.importorskip("playwright.sync_api", reason="the package playwright is not here")
    called: list[str] = []

    class Callback(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            called.append(self.path)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            return

    program = HTTPServer(("127.0.0.1", 0), Callback)
    threading.Thread(target=program.serve_forever, daemon=True).start()
    back = f"http://127.0.0.1:{program.server_port}/callback"
    with served(build_app(str(tmp_path / "m.db"), embedder="hashing")) as server:
        secret = server.key("ann", "user:ann")
        told = {"client_name": "<b>Notes</b>", "redirect_uris": [back]}
        client = httpx2.post(f"{server.address}/oauth/register", json=told).json()["client_id"]
        link = (
            f"{server.address}/oauth/authorize?response_type=code&client_id={client}"
            f"&redirect_uri={back}&state=s&code_challenge={'a' * 43}&code_challenge_method=S256"
        )
        with api.sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=CHROMIUM, args=["--headless", "--no-sandbox", "--disable-gpu"]
            )
            page = browser.new_page()
            said: list[str] = []
            page.on("console", lambda message: said.append(message.text))
            page.goto(link, timeout=PATIENCE)
            assert page.locator("b").count() == 0, "a program's name is text"
            page.get_by_label("Your key").fill(secret)
            page.get_by_role("button", name="Go on").click(timeout=PATIENCE)
            assert page.get_by_label("user:ann").is_checked(timeout=PATIENCE)
            page.get_by_label("write: ").uncheck()
            width = page.locator("main").evaluate("one => one.getBoundingClientRect().width")
            assert width < 800, "the page's own style counts"
            page.get_by_role("button", name="Allow").click()
            page.wait_for_url(f"{back}**", timeout=PATIENCE)
            browser.close()
    program.shutdown()
    program.server_close()
    answer = parse_qs(urlsplit(next(path for path in called if "code" in path)).query)
    assert (answer["state"], answer["iss"]) == (["s"], [server.address])
    assert [line for line in said if "Content Security Policy" in line] == []
