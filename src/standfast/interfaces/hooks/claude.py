"""Hooks in the settings of Claude Code: put in without touching a byte of the rest, and taken out
again so that the file is what it was."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

from standfast import compat
from standfast.errors import Invalid
from standfast.interfaces.hooks import client
from standfast.types.frozen import frozen
from standfast.wiring.configuration import variable

HOOK_SECONDS = 10
# Which events, and of which tools.
EVENTS = {
    "SessionStart": "",
    "UserPromptSubmit": "",
    "PostToolUse": "Bash|Edit|MultiEdit|NotebookEdit|Task|Write",
    "Stop": "",
    "PreCompact": "",
    "SessionEnd": "",
}
MARK = f"{os.path.join('hooks', 'client.py')}"
BEGUN = "\n}\n\n"  # how a file ends that was made for hooks alone
_DECODER = json.JSONDecoder()


def settings_file(*, project: bool) -> Path:
    """The user's settings, or those of the project in this folder that are not committed."""
    if project:
        return Path.cwd() / ".claude" / "settings.local.json"
    folder = variable("CLAUDE_CONFIG_DIR") or "~/.claude"
    return Path(folder).expanduser() / "settings.json"


def command_of(*, start: bool, store: str | None) -> str:
    """What Claude Code's shell runs. It cannot fail: an exit code of 2 would stop a prompt."""
    words = [sys.executable, "-IS", client.__file__]
    if start:
        words += ["--start", *(("--store", os.path.abspath(store)) if store else ())]
    return f"{shlex.join(words)} || true"


def install(file: Path, command: str) -> bool:
    """Is it new there? What is not JSON is left alone, and said."""
    before = _text(file)
    if before is None:
        body = _indented("hooks", {name: [_entry(name, command)] for name in EVENTS})
        _write(file, f"{{{body}{BEGUN}")
        return True
    after = _with_hooks(_without_hooks(before, file), command, file)
    if after != before:
        _write(file, after)
    return after != before


def uninstall(file: Path) -> bool:
    """Were there any? A file that was only made for them is gone afterwards."""
    before = _text(file)
    if before is None:
        return False
    after = _without_hooks(before, file)
    if after == before:
        return False
    if after == "{" + BEGUN:  # as ``install`` begins a file, and nobody else
        os.remove(os.path.realpath(file))
        _remove_empty(file.parent)
    else:
        _write(file, after)
    return True


def _remove_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return  # there is more in it


def _text(file: Path) -> str | None:
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"cannot read {file}: {error}") from None


def _write(file: Path, text: str) -> None:
    """All of it or nothing; where the file is a link, what it leads to."""
    target = Path(os.path.realpath(file))
    fresh = target.with_name(f"{target.name}.{os.getpid()}.standfast")
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as out:
            out.write(text.encode())
        os.chmod(fresh, mode)
        os.replace(fresh, target)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise Invalid(f"cannot write {target}: {error.strerror}; nothing was changed") from None


def _entry(event: str, command: str) -> dict[str, Any]:
    hook = {"type": "command", "command": command, "timeout": HOOK_SECONDS}
    return {**({"matcher": EVENTS[event]} if EVENTS[event] else {}), "hooks": [hook]}


def _is_ours(entry: Any) -> bool:
    hooks = entry.get("hooks") if isinstance(entry, dict) else None
    return isinstance(hooks, list) and any(
        isinstance(hook, dict)
        and MARK in str(hook.get("command"))
        and any(mark in str(hook.get("command")) for mark in compat.HOOK_MARKS)
        for hook in hooks
    )


# The text of the file, of which only our own parts change


@frozen(kw_only=False)
class JsonPart:
    """A member of an object, or an element of a list: from its first character to behind its
    last, and what it says."""

    name: str
    start: int
    value_start: int
    end: int
    value: Any


def _parts(text: str, opening: int) -> tuple[list[JsonPart], int]:
    """What stands in the object or list that opens there, and where it closes."""
    found: list[JsonPart] = []
    is_object = text[opening] == "{"
    at = _skip(text, opening + 1)
    while text[at] not in "}]":
        start, name = at, ""
        if is_object:
            name, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        value, end = _DECODER.raw_decode(text, at)
        found.append(JsonPart(name, start, at, end, value))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found, at


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _top(text: str, file: Path) -> int:
    """Where the object of the whole file opens."""
    try:
        value = json.loads(text)
    except ValueError as error:
        raise Invalid(
            f"{file} is no JSON ({error}); repair it first, nothing was changed"
        ) from None
    hooks = value.get("hooks", {}) if isinstance(value, dict) else None
    if not isinstance(hooks, dict) or not all(isinstance(one, list) for one in hooks.values()):
        raise Invalid(f"{file} is not as Claude Code writes it; nothing was changed")
    return _skip(text, 0)


def _member(text: str, opening: int, name: str) -> JsonPart | None:
    return next((part for part in _parts(text, opening)[0] if part.name == name), None)


def _with_hooks(text: str, command: str, file: Path) -> str:
    top = _top(text, file)
    if _member(text, top, "hooks") is None:
        entries = {name: [_entry(name, command)] for name in EVENTS}
        return _inserted(text, top, _indented("hooks", entries))
    for event in EVENTS:
        hooks = _member(text, top, "hooks")
        assert hooks is not None
        listed = _member(text, hooks.value_start, event)
        entry = _entry(event, command)
        if listed is None:
            text = _inserted(text, hooks.value_start, f"\n    {_plain(event)}: {_plain([entry])}")
        else:
            text = _inserted(text, listed.value_start, f"\n      {_plain(entry)}")
    return text


def _inserted(text: str, opening: int, part: str) -> str:
    """As the first one behind an opening bracket."""
    there, _ = _parts(text, opening)
    return f"{text[: opening + 1]}{part}{',' if there else ''}{text[opening + 1 :]}"


def _plain(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _indented(name: str, value: Any) -> str:
    body = json.dumps(value, ensure_ascii=False, indent=2).replace("\n", "\n  ")
    return f"\n  {_plain(name)}: {body}"


def _without_hooks(text: str, file: Path) -> str:
    """Ours out of every list; a list, and the object of all hooks, that has nothing else and is
    written as ``install`` writes it, goes with them."""
    top = _top(text, file)
    while (cut := _ours(text, top)) is not None:
        start, end = cut
        text = text[:start] + text[end:]
    return text


def _ours(text: str, top: int) -> tuple[int, int] | None:
    """The next stretch that is ours; None: nothing is left."""
    hooks = _member(text, top, "hooks")
    if hooks is None:
        return None
    events, _ = _parts(text, hooks.value_start)
    mine = [part for part in events if any(map(_is_ours, part.value))]
    if not mine:
        return None
    if all(part.value and all(map(_is_ours, part.value)) for part in events) and (
        text.startswith(_indented("hooks", hooks.value), _line_start(text, hooks.start))
    ):
        return _stretch(text, top, hooks)
    event = mine[0]
    whole = f"\n    {_plain(event.name)}: {_plain(event.value)}"
    if all(map(_is_ours, event.value)) and text.startswith(whole, _line_start(text, event.start)):
        return _stretch(text, hooks.value_start, event)
    entries, _ = _parts(text, event.value_start)
    return _stretch(text, event.value_start, next(one for one in entries if _is_ours(one.value)))


def _line_start(text: str, start: int) -> int:
    """Where the white space before it begins, as far as it is of its own line."""
    at = start
    while text[at - 1] in " \t":
        at -= 1
    return at - 1 if text[at - 1] == "\n" else start


def _stretch(text: str, opening: int, part: JsonPart) -> tuple[int, int]:
    """With the white space before it and the comma behind it, or else the one before it."""
    there, _ = _parts(text, opening)
    start = _line_start(text, part.start)
    comma = _skip(text, part.end)
    if text[comma] == ",":
        return start, comma + 1
    if len(there) > 1:  # the last of several: somebody has moved it
        start = there[-2].end
    return start, part.end
