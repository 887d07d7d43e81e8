"""A real browser and a real server with something of everything in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.tracebacks import piped_tracebacks, pytest_runtest_makereport

__all__ = ["piped_tracebacks", "pytest_runtest_makereport"]

CHROMIUM = os.environ.get("STANDFAST_CHROMIUM") or shutil.which("chromium") or ""
ARGUMENTS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
PATIENCE = 15_000  # milliseconds: the machine may be busy
AXE = Path(__file__).parent / "vendor" / "axe.min.js"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Of this module alone: Playwright's loop must not be running when other tests want one."""
    if not CHROMIUM:
        pytest.skip("no Chromium here: apt-get install chromium, or set STANDFAST_CHROMIUM")
    api = pytest.importorskip("playwright.sync_api", reason="the package playwright is not here")
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield running
        running.close()
