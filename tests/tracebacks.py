"""Fail a test during which anything wrote a traceback: to the standard error of this process or of
one that it started, or to the log.

A folder's ``conftest.py`` imports both names. A test that provokes a traceback on purpose is marked
``tracebacks(reason)``.
"""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Generator
from typing import Any

import pytest

MARK = "Traceback (most recent call last)"


@pytest.fixture(autouse=True)
def piped_tracebacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a process wrote into a pipe is seen only by whoever reads the pipe."""
    _drop_stale_handlers()
    communicate = subprocess.Popen.communicate

    def watched(self: Any, *args: Any, **options: Any) -> Any:
        out, err = communicate(self, *args, **options)
        told = err.decode("utf-8", "replace") if isinstance(err, bytes) else err or ""
        if MARK in told:
            sys.stderr.write(told)
        return out, err

    monkeypatch.setattr(subprocess.Popen, "communicate", watched)


def _drop_stale_handlers() -> None:
    """A command that an earlier test ran here logs to a stream that was closed with it: that ends
    in a traceback of the log itself."""
    loggers = [logging.root, *logging.root.manager.loggerDict.values()]
    for logger in (one for one in loggers if isinstance(one, logging.Logger)):
        for handler in list(logger.handlers):
            stream = getattr(handler, "stream", None)
            if getattr(stream, "closed", False):
                logger.removeHandler(handler)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    report = yield
    # Behind the teardown, when whatever the test left running has been ended.
    if report.when == "teardown" and report.passed and not item.get_closest_marker("tracebacks"):
        written = f"{report.capstderr}\n{report.caplog}"
        if MARK in written:
            report.outcome = "failed"
            report.longrepr = f"a traceback was written during {item.nodeid}:\n{written}"
    return report
