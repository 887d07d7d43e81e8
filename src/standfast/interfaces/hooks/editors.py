"""Agents that have no hooks of their own, or none that are documented: what to write where."""

from __future__ import annotations

import json
from collections.abc import Callable

RULE = (
    "Before a task call the tool memory_context with what the task is about. When you learn a "
    "decision, a convention or a preference that will matter again, call memory_save. Never save "
    "secrets."
)


def _server(scope: str) -> dict[str, object]:
    return {"command": "standfast", "args": ["mcp", "--scope", scope]}


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _cursor(scope: str) -> str:
    rule = f"---\ndescription: memory\nalwaysApply: true\n---\n{RULE}"
    return _pages(
        (".cursor/mcp.json", _json({"mcpServers": {"standfast": _server(scope)}})),
        (".cursor/rules/standfast.mdc", rule),
    )


def _codex(scope: str) -> str:
    arguments = json.dumps(["mcp", "--scope", scope], ensure_ascii=False)
    table = f'[mcp_servers.standfast]\ncommand = "standfast"\nargs = {arguments}'
    return _pages(("~/.codex/config.toml", table), ("AGENTS.md", RULE))


def _gemini(scope: str) -> str:
    return _pages(
        ("~/.gemini/settings.json", _json({"mcpServers": {"standfast": _server(scope)}})),
        ("GEMINI.md", RULE),
    )


def _vscode(scope: str) -> str:
    server = {"type": "stdio", **_server(scope)}
    return _pages(
        (".vscode/mcp.json", _json({"servers": {"standfast": server}})),
        (".github/copilot-instructions.md", RULE),
    )


def _pages(*pages: tuple[str, str]) -> str:
    return "\n\n".join(f"# add to {file}\n{text}" for file, text in pages)


EDITORS: dict[str, Callable[[str], str]] = {
    "cursor": _cursor,
    "codex": _codex,
    "gemini": _gemini,
    "vscode": _vscode,
}
