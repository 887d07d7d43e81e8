"""``config.yml``: the few lines of it that concern memory. Pure.

It is an agent's whole configuration: any YAML may stand there, and what does not concern memory is
named and left alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from standfast.errors import Invalid
from standfast.types.frozen import frozen

MEMORY_WINDOW = 50
WINDOW_MAX = 1_000_000
NODES_MAX = 100_000
DEFAULT_TEXT = f"""\
agents:
  defaults:
    memory_window: {MEMORY_WINDOW}  # fold a session above so many messages; 0: never, only trim
"""


@frozen
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
    return {str(key): one for key, one in value.items()}


def parse(text: str) -> dict[str, Any]:
    """What a document of YAML holds; {} if it is empty."""
    import yaml

    plain = text.removeprefix("\ufeff")
    try:
        node = yaml.compose(plain, yaml.SafeLoader)
        _check_keys(node)
        if _size(node, {}) > NODES_MAX:
            raise Invalid(f"config.yml holds more than {NODES_MAX:,} values when it is written out")
        found = yaml.safe_load(plain)
    except yaml.YAMLError as error:
        raise _unreadable(error) from None
    except (ValueError, TypeError, RecursionError, OverflowError) as error:
        raise Invalid(f"config.yml holds what cannot be read: {error}") from None
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise Invalid("config.yml, line 1: write it as `key: value`")
    return {str(key): value for key, value in found.items()}


def _check_keys(node: Any) -> None:
    """A key that stands twice means that one of them does not count: which?"""
    waiting, seen = [node], set()
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        if one.id == "sequence":
            waiting += one.value
        elif one.id == "mapping":
            names = set()
            for key, value in one.value:
                if key.id == "scalar" and key.value in names:
                    line = key.start_mark.line + 1
                    raise Invalid(f"config.yml, line {line}: {key.value} stands here twice")
                names.add(key.value if key.id == "scalar" else id(key))
                waiting += [key, value]


def _size(node: Any, known: dict[int, int]) -> int:
    """How many values there are once everything that is only named (``*a``) is written out: a few
    lines that name each other twice make more of them than fit anywhere. Each is looked at once;
    one that is inside of itself is endless."""
    if node is None or node.id == "scalar":
        return 1
    if id(node) not in known:
        known[id(node)] = NODES_MAX + 1
        pairs = node.value if node.id == "mapping" else [(one,) for one in node.value]
        total = 1 + sum(_size(one, known) for pair in pairs for one in pair)
        known[id(node)] = min(total, NODES_MAX + 1)
    return known[id(node)]


def _unreadable(error: Any) -> Invalid:
    mark = getattr(error, "problem_mark", None)
    where = f", line {mark.line + 1}" if mark else ""
    why = getattr(error, "problem", None) or getattr(error, "reason", None) or "it is no YAML"
    return Invalid(f"config.yml{where}: {why}")


def is_mapping(text: str) -> bool:
    """Is it YAML that says something of something, as a page may begin with?"""
    import yaml

    try:
        node = yaml.compose(text, yaml.SafeLoader)
        return node is not None and node.id == "mapping"
    except (yaml.YAMLError, ValueError, TypeError, RecursionError, OverflowError):
        return False
