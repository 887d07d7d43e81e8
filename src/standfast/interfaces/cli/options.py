"""Options of a command, made from what a verb takes."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime
from typing import Any

from standfast.interfaces.cli.times import human_time
from standfast.memory.arguments import Argument, bare, choices_of, element_of, members, verb_spec
from standfast.types.frozen import frozen

COMMON = ("actor", "profile")  # every command has them
PLAIN = {"statuses": "status"}  # whose singular is not the word without its s

_TIME: Mapping[str, Any] = {"metavar": "TIME", "type": human_time}

Add = Callable[[Any, Argument], None]


@frozen
class Command:
    """A verb as a command. ``own`` says how an argument is given where the rules below do not
    fit, as options of ``add_argument`` or as what adds it; ``left_out`` names those that cannot
    be given, and why; ``more`` are options that no verb takes, by flag or name."""

    words: str
    verb: str
    help: str
    run: Callable[[argparse.Namespace], int] | None = None  # None: call it and show the answer
    own: Mapping[str, Mapping[str, Any] | Add] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    more: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def add_options(parser: Any, command: Command) -> None:
    for argument in verb_spec(command.verb).arguments:
        own = command.own.get(argument.name, {})
        if argument.name in COMMON or argument.name in command.left_out:
            continue
        if callable(own):
            own(parser, argument)
        else:
            flag, options = option_of(argument)
            merged = {**options, **own}
            parser.add_argument(merged.pop("flag", flag), **merged)
    for flag, more in command.more.items():
        parser.add_argument(flag, **more)


def option_of(argument: Argument) -> tuple[str, dict[str, Any]]:
    """The flag (or the name, of what is positional) and how it is added."""
    kinds = [bare(one)[0] for one in members(bare(argument.hint)[0]) if one is not type(None)]
    several = [one for one in kinds if element_of(one) is not None]
    options: dict[str, Any] = {"help": argument.said.replace("%", "%%")}
    if several:
        options |= _choice(bare(element_of(several[0]))[0])
        if argument.positional:
            return argument.name, {**options, "nargs": "+"}
        default: list[str] | None = None if argument.default is None else []
        options |= {"action": "append", "default": default, "dest": argument.name}
        return f"--{_singular(argument.name)}", options
    if kinds == [bool]:
        return _switch(argument, options)
    options |= _TIME if datetime in kinds else _choice(kinds[0])
    if not argument.positional:
        required = {"required": True} if argument.required else {"default": argument.default}
        return _flag(argument), {**options, **required}
    return argument.name, options if argument.required else {**options, "nargs": "?"}


def _switch(argument: Argument, options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """On or off; what is on unless somebody says so, or may be left open, has a no- too."""
    if argument.default is False:
        return _flag(argument), {**options, "action": "store_true"}
    both = {**options, "action": argparse.BooleanOptionalAction}
    required = {"required": True} if argument.required else {"default": argument.default}
    return _flag(argument), {**both, **required}


def _choice(kind: Any) -> dict[str, Any]:
    if words := choices_of(kind):
        return {"choices": words}
    return {"type": kind} if kind in (int, float) else {}


def _flag(argument: Argument) -> str:
    return f"--{argument.name.replace('_', '-')}"


def _singular(name: str) -> str:
    return PLAIN.get(name, name.removesuffix("s"))


def given(arguments: argparse.Namespace) -> dict[str, Any]:
    """What the command's verb is told."""
    names = [argument.name for argument in verb_spec(arguments.verb).arguments]
    return {name: getattr(arguments, name) for name in names if hasattr(arguments, name)}
