"""Whatever the program has, the reference describes."""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator

import pytest

from standfast import errors, profiles, settings
from standfast.memory import AsyncMemory
from standfast.profiles import PROFILES
from standfast.wiring import open_engine
from tests.docs.pages import PROJECT

REFERENCE = PROJECT / "docs" / "reference"


def page(name: str) -> str:
    return (REFERENCE / name).read_text("utf-8")


def row_of(text: str, first_cell: str) -> str:
    """The table row whose first cell is `first_cell`."""
    rows = [line for line in text.splitlines() if line.startswith(f"| `{first_cell}`")]
    assert len(rows) == 1, f"expected one row that begins with | `{first_cell}`, found {len(rows)}"
    return rows[0]


@pytest.mark.parametrize("field", dataclasses.fields(settings.Settings), ids=lambda f: f.name)
def test_every_setting_is_documented_with_its_default(field: dataclasses.Field[object]) -> None:
    row = row_of(page("settings.md"), settings.PREFIX + field.name.upper())
    if field.default != "":
        assert f"`{field.default}`" in row, f"the default is {field.default!r}"


def test_no_setting_is_documented_that_does_not_exist() -> None:
    known = {
        settings.PREFIX + field.name.upper() for field in dataclasses.fields(settings.Settings)
    }
    documented = set(re.findall(r"^\| `(STANDFAST_\w+)`", page("settings.md"), re.MULTILINE))
    assert documented <= known


@pytest.mark.parametrize("name", PROFILES)
def test_every_profile_is_documented_with_its_variables(name: str) -> None:
    text = page("profiles.md")
    section = re.search(rf"^## {name}$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert section, f"docs/reference/profiles.md has no section ## {name}"
    missing = [
        variable for variable in PROFILES[name].environment if f"`{variable}`" not in section[1]
    ]
    assert missing == []


@pytest.mark.parametrize("name", PROFILES)
def test_the_numbers_of_a_profile_are_those_in_the_table(name: str) -> None:
    text = page("profiles.md")
    header = next(line for line in text.splitlines() if line.startswith("| number |"))
    column = [cell.strip() for cell in header.split("|")].index(name)
    profile = PROFILES[name]
    for field in ("dimensions", "limit", "candidates", "compact_above", "keep_recent",
                  "context_records", "tag_boost", "duplicate_above"):  # fmt: skip
        cell = row_of(text, field).split("|")[column].strip()
        assert cell == f"{getattr(profile, field)}", f"{name}.{field}"


def error_classes() -> list[type[errors.StandfastError]]:
    return [
        found
        for _, found in inspect.getmembers(errors, inspect.isclass)
        if issubclass(found, errors.StandfastError)
    ]


@pytest.mark.parametrize("error", error_classes(), ids=lambda error: error.__name__)
def test_every_error_is_documented_with_its_exit_code(error: type[errors.StandfastError]) -> None:
    row = row_of(page("errors.md"), error.__name__)
    assert f"| {error.exit_code} |" in row


def subparsers() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    from standfast.interfaces.cli import build_parser

    parser = build_parser()
    yield "", parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def section_of_command(command: str) -> str:
    title = f"standfast {command}" if command else "Options of every command"
    pattern = rf"^## `?{re.escape(title)}`?$(.*?)(?=^## |\Z)"
    section = re.search(pattern, page("cli.md"), re.MULTILINE | re.DOTALL)
    assert section, f"docs/reference/cli.md has no section ## {title}"
    return section[1]


def test_every_command_and_option_is_documented() -> None:
    missing = [
        f"{command or 'standfast'} {option}"
        for command, parser in subparsers()
        for action in parser._actions
        for option in action.option_strings
        if option.startswith("--") and option not in ("--help", "--version")
        if action.help != argparse.SUPPRESS
        and f"`{option}" not in section_of_command(command) + section_of_command("")
    ]
    assert missing == []
    assert all(section_of_command(command) for command, _ in subparsers())


def test_every_command_has_help() -> None:
    silent = [command for command, parser in subparsers() if not parser.description]
    assert silent == [], "give the parser a description"


def verbs() -> list[str]:
    found = inspect.getmembers(AsyncMemory, inspect.iscoroutinefunction)
    return [name for name, _ in found if not name.startswith("_")]


def written(name: str, function: Callable[..., object]) -> str:
    """The call as the reference writes it: names and defaults, no types."""
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name != "self"
    ]
    return f"{name}{inspect.Signature(parameters)}".replace("'", '"')


@pytest.mark.parametrize("verb", verbs())
def test_every_verb_is_documented_with_its_arguments(verb: str) -> None:
    text = " ".join(page("library.md").split())
    if verb == "open":
        assert f"`Memory.{written(verb, open_engine)}`" in text
    else:
        assert f"**`{written(verb, getattr(AsyncMemory, verb))}`**" in text


def test_the_profiles_page_has_no_number_that_no_profile_has() -> None:
    names = {field.name for field in dataclasses.fields(profiles.Profile)}
    rows = re.findall(r"^\| `([a-z_]+)` \|", page("profiles.md"), re.MULTILINE)
    assert rows
    assert set(rows) <= names
