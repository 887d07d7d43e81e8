"""The file of settings: the same names as the environment's, in TOML. What the environment says
counts before it, and what a caller says before both."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from standfast import compat
from standfast.errors import Invalid, NotFound
from standfast.settings import PREFIX, Settings
from standfast.types.arguments import StorePath
from standfast.types.files import check_is_file
from standfast.types.own import OwnTypes, own_types_of

VARIABLE = f"{PREFIX}CONFIG"
FILE = "config.toml"
LINE_CHARACTERS_MAX, FILE_CHARACTERS_MAX = 2_000, 200_000

_NAMES = tuple(field.name for field in fields(Settings))


# Not settings: the file of them, and what the project's own tests ask for.
_OTHERS = frozenset((VARIABLE, f"{PREFIX}PROOF", f"{PREFIX}CHROMIUM"))
_OF_TESTS = f"{PREFIX}TEST_"
_LIKE_OURS = PREFIX[:4]  # somebody may misspell the first word too


def misspelt(environ: Mapping[str, str] = os.environ) -> list[str]:
    """A line for each variable that looks like a setting of ours and is none: what it says does
    not count."""
    known = {PREFIX + name.upper() for name in _NAMES} | _OTHERS
    renamed = _renamed(environ)
    # A variable that holds a key may be called anything.
    named = {environ.get(f"{PREFIX}{of}_KEY_ENV", "") for of in ("MODEL", "EMBEDDER")}
    lines = [f"{name} does not count any more; rename it to {now}" for name, now in renamed.items()]
    for name in sorted(environ.keys() - renamed.keys()):
        like_ours = name.upper().startswith(_LIKE_OURS)
        if not like_ours or name in known | named or name.startswith(_OF_TESTS):
            continue
        near = _nearest(name, known)
        if near or name.startswith(PREFIX):
            hint = f"did you mean {near}?" if near else "`standfast config` lists all there are"
            lines.append(f"{name} is no setting and does not count; {hint}")
    return lines


def _renamed(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that are called as they were in version 0.1, and their names of today."""
    first = compat.FIRST_VARIABLES
    if first == PREFIX:
        return {}
    return {name: PREFIX + name[len(first) :] for name in sorted(environ) if name.startswith(first)}


def _nearest(name: str, known: Iterable[str]) -> str:
    """The word that all of them begin with tells nothing, where it is right."""
    start = PREFIX if name.startswith(PREFIX) else ""
    rests = [other.removeprefix(start) for other in known]
    near = get_close_matches(name.removeprefix(start), rests, n=1, cutoff=0.7 if start else 0.85)
    return start + near[0] if near else ""


def variable(name: str) -> str:
    """What the environment says for another program's sake, such as a token of Slack's; "" if
    nothing."""
    return os.environ.get(name, "").strip()


def choose_file(path: str) -> None:
    """Which file counts in this process from now on."""
    os.environ[VARIABLE] = path


def config_file(environ: Mapping[str, str] = os.environ) -> Path:
    """Where the file is, or would be."""
    if environ.get(VARIABLE):
        return Path(environ[VARIABLE]).expanduser()
    return compat.existing(config_folder(environ) / FILE)


def config_folder(environ: Mapping[str, str], platform: str = sys.platform) -> Path:
    if platform == "win32":
        base = Path(environ.get("APPDATA") or "~/AppData/Roaming")
    elif platform == "darwin":
        base = Path("~/Library/Application Support")
    else:
        base = Path(environ.get("XDG_CONFIG_HOME") or "~/.config")
    return base.expanduser() / compat.FOLDER


def from_file(environ: Mapping[str, str]) -> dict[str, str]:
    """What the file says, under the names of the environment; {} if there is none. One that was
    named must be there."""
    path = config_file(environ)
    try:
        check_is_file(path)
        text = path.read_text("utf-8")
    except FileNotFoundError:
        if environ.get(VARIABLE):
            raise NotFound(
                f"there is no file {path}; `standfast config --init` writes one, or name another"
            ) from None
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"cannot read {path}: {error}") from None
    try:
        found = _loaded(text)
    except ValueError as error:
        raise Invalid(f"{path} is not TOML: {error}") from None
    return {PREFIX + name.upper(): _text(path, name, value) for name, value in found.items()}


def _loaded(text: str) -> dict[str, Any]:
    """ValueError if it is no TOML, or none that a person wrote: the time for a name with dots in it
    grows with the square of its length."""
    longest = max(map(len, text.split("\n")))
    if longest > LINE_CHARACTERS_MAX or len(text) > FILE_CHARACTERS_MAX:
        raise ValueError(
            f"it is longer than {FILE_CHARACTERS_MAX:,} characters, or a line of it than "
            f"{LINE_CHARACTERS_MAX:,}"
        )
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _text(path: Path, name: str, value: object) -> str:
    if name not in _NAMES:
        near = get_close_matches(name, _NAMES, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "; `standfast config` lists all"
        raise Invalid(f"{path}: there is no setting {name!r}{hint}")
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Invalid(f"{path}: {name} must be a text or a number")
    return str(value)


def sources(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Where each setting that is not the default comes from."""
    file = from_file(environ)
    found = {}
    for name in _NAMES:
        variable = PREFIX + name.upper()
        if environ.get(variable):
            found[name] = variable
        elif variable in file:
            found[name] = str(config_file(environ))
    return found


def merged(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment, with the file below it."""
    said = {name: value for name, value in environ.items() if value}
    return {**from_file(environ), **said}


def own_types_from(given: Mapping[str, Any] | StorePath) -> OwnTypes:
    """Types of one's own: as they are, or from a TOML file; none without a name of one."""
    if not isinstance(given, str | os.PathLike):
        return own_types_of(given)
    if not str(given):
        return OwnTypes()
    try:
        return own_types_of(_loaded(Path(given).read_text("utf-8")))
    except OSError as error:
        raise Invalid(f"cannot read own types from {given}: {error.strerror}") from None
    except (ValueError, UnicodeDecodeError) as error:
        raise Invalid(f"{given} is no TOML: {error}") from None


def unit_folder() -> str:
    """The state folder that systemd gives a unit; "" elsewhere."""
    return os.environ.get("STATE_DIRECTORY", "").partition(":")[0]


def is_journal(device: int, inode: int) -> bool:
    """Is this file the journal of systemd?"""
    return os.environ.get("JOURNAL_STREAM") == f"{device}:{inode}"
