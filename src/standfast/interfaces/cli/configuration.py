"""Commands about the settings, and about the shell that the commands are typed into."""

from __future__ import annotations

import argparse
from dataclasses import fields
from typing import Any

from standfast.errors import Conflict
from standfast.interfaces.cli.output import print_json, print_lines, screen_for


def show(arguments: argparse.Namespace) -> int:
    from standfast.wiring import read_settings
    from standfast.wiring.configuration import config_file, sources
    from standfast.wiring.stores import without_password

    path = config_file()
    if arguments.init:
        return _init(path)
    settings = read_settings(store=arguments.store, profile=arguments.profile)
    origins = sources()
    shown = {
        field.name: "***"
        if field.name == "admin_key" and settings.admin_key
        else without_password(str(getattr(settings, field.name)))
        for field in fields(settings)
    }
    if arguments.json:
        return print_json({"file": str(path), "settings": shown, "from": origins})
    screen = screen_for(arguments)
    there = "" if path.exists() else " (not there; --init writes it)"
    lines = [screen.paint(f"# {path}{there}", "2")]
    for name, value in shown.items():
        said = screen.paint(f"  # {origins[name]}", "2") if name in origins else ""
        lines.append(f"{name} = {value or '-'}{said}")
    return print_lines(lines)


def _init(path: Any) -> int:
    """All settings with their defaults, each a comment: nothing changes until one is."""
    from standfast.settings import Settings

    defaults = Settings()
    lines = [
        "# Settings of standfast. Take the # away from a line to change it.",
        "# The environment (STANDFAST_<NAME>) counts before this file, an argument before both.",
        "# What each means: docs/reference/settings.md",
        "",
    ]
    for field in fields(Settings):
        value = getattr(defaults, field.name)
        lines.append(
            f"# {field.name} = " + (f'"{value}"' if isinstance(value, str) else str(value))
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    except FileExistsError:
        raise Conflict(f"{path} is there already; it was left as it is") from None
    print(f"wrote {path}")
    return 0


def completion(arguments: argparse.Namespace) -> int:
    """A script for the shell, made from the commands there are: a new one is in it."""
    from standfast.interfaces.cli.completions import script

    print(script(arguments.shell, arguments.whole()), end="")
    return 0
