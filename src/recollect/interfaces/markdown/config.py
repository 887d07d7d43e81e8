"""``config.yml``: the few lines of it that concern memory. Pure.

Only the plainest YAML is read: keys, nesting by blanks, whole numbers, words, comments. Whatever
else stands there is refused with its line, rather than misread.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recollect.errors import Invalid

MEMORY_WINDOW = 50
WINDOW_MAX = 1_000_000
DEFAULT_TEXT = f"""\
agents:
  defaults:
    memory_window: {MEMORY_WINDOW}  # fold a session above so many messages; 0: never, only trim
"""

_ENTRY = re.compile(r"(?P<key>[A-Za-z_][\w.-]*)[ ]*:(?:[ ]+(?P<value>\S.*?))?[ ]*$")
_NUMBER = re.compile(r"[+-]?\d{1,18}$")
_PLAIN = re.compile(r"[^\s\[\]{}&*!|>%@`\"',#-][^\[\]{}#]*$")
_QUOTED = re.compile(r"\"[^\"\\]*\"$|'[^']*'$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    memory_window: int = MEMORY_WINDOW
    notes: tuple[str, ...] = ()


def read_config(text: str) -> Config:
    """Invalid names the line that cannot be read."""
    found = parse(text)
    agents = _table(found.get("agents"), "agents")
    defaults = _table(agents.get("defaults"), "agents.defaults")
    window = defaults.get("memory_window", MEMORY_WINDOW)
    if isinstance(window, bool) or not isinstance(window, int) or not 0 <= window <= WINDOW_MAX:
        raise Invalid(
            f"config.yml: agents.defaults.memory_window must be a whole number from 0 to "
            f"{WINDOW_MAX}, not {window!r}"
        )
    unknown = [
        *(key for key in found if key != "agents"),
        *(f"agents.{key}" for key in agents if key != "defaults"),
        *(f"agents.defaults.{key}" for key in defaults if key != "memory_window"),
    ]
    notes = tuple(f"config.yml: {key} is not known here and was ignored" for key in unknown)
    return Config(memory_window=window, notes=notes)


def _table(value: Any, name: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise Invalid(f"config.yml: {name} must hold indented keys, not {value!r}")
    return value


def parse(text: str) -> dict[str, Any]:
    """Keys with their values; a key without one holds what is indented below it, or None."""
    top: dict[str, Any] = {}
    open_tables: list[tuple[int, dict[str, Any]]] = [(0, top)]
    waiting: tuple[int, dict[str, Any], str] | None = None  # a key that may get a table
    for number, raw in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        line = _without_comment(raw.rstrip("\r")).rstrip()
        if not line.strip() or (line == "---" and not top):
            continue
        indent = len(line) - len(line.lstrip(" "))
        if waiting and indent > waiting[0]:
            table: dict[str, Any] = {}
            waiting[1][waiting[2]] = table
            open_tables.append((indent, table))
        while len(open_tables) > 1 and indent < open_tables[-1][0]:
            open_tables.pop()
        if indent != open_tables[-1][0]:
            raise _unreadable(number, "the indentation fits no line above")
        table = open_tables[-1][1]
        key, value = _entry(line.strip(" "), number)
        if key in table:
            raise _unreadable(number, f"{key} stands here twice")
        table[key] = value
        waiting = (indent, table, key) if value is None else None
    return top


def _without_comment(line: str) -> str:
    """A # begins a comment at the start or behind a blank, but not inside quotes."""
    quote = ""
    for place, character in enumerate(line):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'" and line[:place].rstrip().endswith(":"):
            quote = character
        elif character == "#" and (place == 0 or line[place - 1] in " \t"):
            return line[:place]
    return line


def _entry(line: str, number: int) -> tuple[str, Any]:
    match = _ENTRY.match(line)
    if match is None:
        raise _unreadable(number, "write it as `key: value`")
    value = match["value"]
    if value is None:
        return match["key"], None
    if _NUMBER.match(value):
        return match["key"], int(value)
    if _QUOTED.match(value):
        return match["key"], value[1:-1]
    if _PLAIN.match(value) and ": " not in value:
        return match["key"], value
    raise _unreadable(number, "only whole numbers and plain or quoted words are read here")


def _unreadable(number: int, why: str) -> Invalid:
    return Invalid(f"config.yml, line {number}: {why}")
