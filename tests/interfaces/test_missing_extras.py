"""A command whose packages are not installed says in one line how to get them, without an index."""

from __future__ import annotations

import sys

import pytest

from standfast.errors import Incompatible, install_command
from standfast.interfaces.cli import main


@pytest.mark.parametrize(
    ("command", "module", "extra"),
    [
        ("serve", "standfast.interfaces.http", "server"),
        ("mcp", "standfast.interfaces.mcp.stdio", "server"),
        ("proxy --upstream http://127.0.0.1:1", "standfast.adapters.proxy.server", "proxy"),
        ("slack", "standfast.interfaces.slack.bot", "slack"),
    ],
)
def test_a_command_without_its_packages_says_how_to_install_them(
    command: str,
    module: str,
    extra: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    parent, _, name = module.rpartition(".")
    if parent in sys.modules:
        monkeypatch.delattr(sys.modules[parent], name, raising=False)
    assert main(["--store", "dict:", *command.split()]) == Incompatible.exit_code
    said = capsys.readouterr().err.strip()
    assert install_command(extra) in said
    assert len(said.splitlines()) == 1
