"""Hooks go into an agent's settings and out again: nothing else in them changes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast.errors import Invalid
from standfast.interfaces.cli import main
from standfast.interfaces.hooks import claude, client

COMMAND = claude.command_of(start=False, store=None)
OTHERS = {"hooks": [{"type": "command", "command": "echo 'done, \"all\"'"}]}

SETTINGS = [
    "{}",
    "{ }\n",
    "{\n}\n",
    '{"model": "opus"}',
    '{\n  "model": "opus",\n  "permissions": {"allow": ["Bash(ls:*)"]}\n}\n',
    '{\r\n\t"model": "opus"\r\n}',
    '{"hooks": {}}',
    '{"hooks": {}, "model": "opus"}',
    '{"hooks": {"Stop": []}}',
    '{"hooks": {"Stop": [ ], "SessionStart": []}}\n\n',
    json.dumps({"hooks": {"Stop": [OTHERS]}}),
    json.dumps({"hooks": {"Stop": [OTHERS, OTHERS], "Notification": [OTHERS]}, "a": 1}, indent=4),
    json.dumps({"hooks": {name: [OTHERS] for name in claude.EVENTS}}, indent=2),
    json.dumps({"zürich 🏔": "ä", "hooks": {"PreToolUse": [OTHERS]}}, ensure_ascii=False),
]


@pytest.mark.parametrize("text", SETTINGS)
def test_O8_uninstall_leaves_every_byte_as_it_was(tmp_path: Path, text: str) -> None:
    file = tmp_path / "settings.json"
    file.write_bytes(text.encode())
    assert claude.install(file, COMMAND)
    installed = json.loads(file.read_bytes())
    for event in claude.EVENTS:
        own = [one for one in installed["hooks"][event] if claude._is_ours(one)]
        assert len(own) == 1
    assert _others(installed) == _others(json.loads(text))
    assert not claude.install(file, COMMAND), "a second time changes nothing"
    assert claude.uninstall(file)
    assert file.read_bytes() == text.encode()
    assert not claude.uninstall(file)


def _others(settings: dict[str, Any]) -> dict[str, Any]:
    hooks = {
        name: [one for one in entries if not claude._is_ours(one)]
        for name, entries in settings.get("hooks", {}).items()
    }
    kept = {name: entries for name, entries in hooks.items() if entries}
    return {**{k: v for k, v in settings.items() if k != "hooks"}, "hooks": kept}


_HOOKS = st.dictionaries(
    st.sampled_from([*claude.EVENTS, "Notification"]), st.lists(st.just(OTHERS), max_size=2)
)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)


@given(
    settings=st.dictionaries(st.text(max_size=5).filter(lambda k: k != "hooks"), _VALUES),
    hooks=st.none() | _HOOKS,
    indent=st.sampled_from([None, 0, 2, 4, "\t"]),
    plain=st.booleans(),
    end=st.sampled_from(["", "\n", "\n\n", " "]),
)
def test_O8_any_settings_come_back(
    tmp_path_factory: pytest.TempPathFactory,
    settings: dict[str, Any],
    hooks: dict[str, Any] | None,
    indent: Any,
    plain: bool,
    end: str,
) -> None:
    whole = {**settings, **({"hooks": hooks} if hooks is not None else {})}
    before = (json.dumps(whole, indent=indent, ensure_ascii=plain) + end).encode()
    file = tmp_path_factory.mktemp("home") / "settings.json"
    file.write_bytes(before)
    claude.install(file, COMMAND)
    assert _others(json.loads(file.read_bytes())) == _others(whole)
    claude.uninstall(file)
    assert file.read_bytes() == before


def test_O8_a_file_that_was_made_for_hooks_goes_with_them(tmp_path: Path) -> None:
    file = tmp_path / ".claude" / "settings.json"
    assert claude.install(file, COMMAND)
    assert file.stat().st_mode & 0o777 == 0o600
    assert claude.uninstall(file)
    assert list(tmp_path.iterdir()) == []


def test_O8_settings_that_the_agent_wrote_anew_lose_ours_and_nothing_else(tmp_path: Path) -> None:
    """Claude Code writes the file in its own form when somebody changes a setting there."""
    file = tmp_path / "settings.json"
    file.write_text('{"model": "opus", "hooks": {"Stop": []}}')
    claude.install(file, COMMAND)
    rewritten = {**json.loads(file.read_text()), "added": True}
    file.write_text(json.dumps(rewritten, indent=3))
    assert claude.uninstall(file)
    left = json.loads(file.read_text())
    assert left.pop("hooks") == {name: [] for name in ("Stop", *claude.EVENTS)}
    assert left == {"model": "opus", "added": True}


def test_O8_an_older_command_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text("{}")
    claude.install(file, COMMAND.replace("-IS", "-I"))
    assert claude.install(file, COMMAND)
    assert file.read_text().count("client.py") == len(claude.EVENTS)
    claude.uninstall(file)
    assert file.read_text() == "{}"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "nonsense", '{"hooks": []}', '{"hooks": {"Stop": {}}}', "\ufeff{}"]
)
def test_O8_what_is_no_settings_file_is_left_alone(tmp_path: Path, text: str) -> None:
    file = tmp_path / "settings.json"
    file.write_text(text, "utf-8")
    for change in (lambda: claude.install(file, COMMAND), lambda: claude.uninstall(file)):
        with pytest.raises(Invalid, match="nothing was changed"):
            change()
    assert file.read_text("utf-8") == text


def test_O8_a_link_stays_a_link_and_modes_stay(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    real.chmod(0o640)
    link = tmp_path / "settings.json"
    link.symlink_to(real)
    claude.install(link, COMMAND)
    assert link.is_symlink()
    assert "client.py" in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o640
    claude.uninstall(link)
    assert real.read_text() == "{}"
    assert sorted(os.listdir(tmp_path)) == ["dotfiles.json", "settings.json"]


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        ("cursor", (".cursor/mcp.json", "mcpServers", "alwaysApply: true")),
        ("codex", ("~/.codex/config.toml", "[mcp_servers.standfast]", "AGENTS.md")),
        ("gemini", ("~/.gemini/settings.json", "mcpServers", "GEMINI.md")),
        ("vscode", (".vscode/mcp.json", '"type": "stdio"', "copilot-instructions.md")),
    ],
)
def test_O8_other_agents_are_told_what_to_write_and_nothing_is_written(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    agent: str,
    said: tuple[str, ...],
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert main(["hooks", "install", agent]) == 0
    out = capsys.readouterr().out
    for part in said:
        assert part in out
    assert list(tmp_path.iterdir()) == []
    assert main(["hooks", "uninstall", agent]) == 0


@pytest.mark.parametrize("before", [(), (".local",), (".local/share/standfast",), (".claude",)])
def test_O8_a_home_is_as_it_was_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: tuple[str, ...]
) -> None:
    """Folders included, and while hooks elsewhere are still installed nothing goes."""
    home = tmp_path / "home"
    home.mkdir()
    for folder in before:
        (home / folder).mkdir(parents=True)
    (home / "kept.txt").write_text("x")
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.chdir(project)
    tree = sorted(home.rglob("*"))
    assert main(["hooks", "install", "claude-code"]) == 0
    assert main(["hooks", "install", "claude-code", "--project"]) == 0
    run = Path(client.runtime_folder())
    assert run.is_dir()
    assert main(["hooks", "uninstall", "claude-code"]) == 0
    assert run.is_dir()
    assert main(["hooks", "uninstall", "claude-code", "--project"]) == 0
    kept = [path for path in tree if path != home / ".claude"]
    assert [path for path in sorted(home.rglob("*")) if path != home / ".claude"] == kept
    assert list(project.iterdir()) == []
