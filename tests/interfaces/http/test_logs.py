"""The server's log: a line for each request, and nothing of what was asked in it."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from standfast.errors import Invalid
from standfast.interfaces.http import build_app
from standfast.interfaces.http.logs import set_up
from standfast.settings import Settings

SECRET = "the combination is 31-7-22"


@pytest.fixture(autouse=True)
def logger_as_before() -> Iterator[None]:
    logger = logging.getLogger("standfast")
    before = logger.handlers, logger.level, logger.propagate
    yield
    logger.handlers, logger.level, logger.propagate = before


def asked(tmp_path: Path, settings: Settings) -> None:
    set_up(settings)
    app = build_app(str(tmp_path / "memory.db"), embedder="hashing", settings=settings, mcp=None)
    with TestClient(app, base_url="http://127.0.0.1", client=("127.0.0.1", 50000)) as client:
        client.post("/v1/remember", json={"text": SECRET})
        client.get("/v1/records", params={"tags": SECRET})
        client.get("/nowhere", params={"q": SECRET})


def test_C6_each_request_is_a_line_of_json_without_what_was_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked(tmp_path, Settings(log_level="info", log_format="json"))
    written = capsys.readouterr().err
    lines = [json.loads(line) for line in written.splitlines()]
    shown = [(line["method"], line["route"], line["status"]) for line in lines]
    assert ("POST", "/v1/remember", 200) in shown
    assert ("GET", "/v1/records", 200) in shown
    assert any(status == 404 for _, _, status in shown)
    assert all(line["milliseconds"] >= 0 and line["from"] == "127.0.0.1" for line in lines)
    assert "combination" not in written


def test_C6_by_default_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked(tmp_path, Settings())
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("settings", [Settings(log_level="loud"), Settings(log_format="xml")])
def test_C6_a_wrong_word_for_the_log_says_which_there_are(settings: Settings) -> None:
    with pytest.raises(Invalid, match="write "):
        set_up(settings)


def test_C6_an_operator_brings_the_admin_key(tmp_path: Path) -> None:
    """By a variable or a file; started again it is the same key, and nothing has to be read."""
    import asyncio

    from standfast import AsyncMemory
    from standfast.access import keys
    from standfast.interfaces.http.first_start import admit

    secret = "f" * 64
    file = tmp_path / "secret"
    file.write_text(f"{secret}\n", "ascii")

    async def started(settings: Settings) -> None:
        store = str(tmp_path / "memory.db")
        async with await AsyncMemory.open(store, embedder="none", background=False) as memory:
            assert await admit(memory, settings) == ""
            key, _ = await keys.with_key(memory.engine, secret)
            assert "admin" in key.rights
            assert len(await keys.list_keys(memory.engine)) == 1

    asyncio.run(started(Settings(admin_key_file=str(file))))
    asyncio.run(started(Settings(admin_key=secret)))
    for wrong in (Settings(admin_key="short"), Settings(admin_key_file=str(tmp_path / "none"))):
        with pytest.raises(Invalid):
            asyncio.run(started(wrong))
