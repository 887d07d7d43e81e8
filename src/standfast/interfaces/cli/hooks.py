"""Commands about the hooks of coding agents."""

from __future__ import annotations

import argparse

from standfast.interfaces.cli.output import print_json, print_lines
from standfast.interfaces.hooks.editors import EDITORS

CLAUDE = "claude-code"
AGENTS = (CLAUDE, *EDITORS)


def install(arguments: argparse.Namespace) -> int:
    from standfast.interfaces.hooks import claude, places

    if arguments.agent != CLAUDE:
        return _shown(arguments)
    file = claude.settings_file(project=arguments.project)
    command = claude.command_of(start=arguments.start, store=arguments.store)
    new = claude.install(file, command)
    places.note(file)
    if arguments.json:
        return print_json({"file": str(file), "changed": new, "command": command})
    there = "wrote hooks into" if new else "the hooks are already in"
    how = "it starts by itself" if arguments.start else "run `standfast serve` beside it"
    return print_lines([f"{there} {file}; they take effect in the next session", f"server: {how}"])


def _shown(arguments: argparse.Namespace) -> int:
    from standfast.wiring import read_settings

    text = EDITORS[arguments.agent](read_settings(profile=arguments.profile).scope)
    if arguments.json:
        return print_json({"agent": arguments.agent, "changed": False, "text": text})
    return print_lines([text])


def uninstall(arguments: argparse.Namespace) -> int:
    from standfast.interfaces.hooks import claude, places

    if arguments.agent != CLAUDE:
        if arguments.json:
            return print_json({"agent": arguments.agent, "changed": False})
        return print_lines(
            [f"nothing was ever written for {arguments.agent}; take out what you put in"]
        )
    file = claude.settings_file(project=arguments.project)
    gone = claude.uninstall(file)
    places.strike(file)
    if arguments.json:
        return print_json({"file": str(file), "changed": gone})
    return print_lines([f"took the hooks out of {file}" if gone else f"no hooks of ours in {file}"])
