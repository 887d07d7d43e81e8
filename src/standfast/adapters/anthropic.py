"""A backend for Anthropic's memory tool (``memory_20250818``): files under ``/memories`` that are
records.

    from standfast.adapters.anthropic import StandfastMemoryTool

    client.beta.messages.run_tools(..., tools=[StandfastMemoryTool(memory, scope="user:ann")])

There is no folder on a disk: a path is a name, so none can lead outside. What a model writes is
redacted like everything else, found by ``memory.recall``, kept in its versions, and erased when it
is deleted. Answers and errors are worded like those of the SDK's own tool, which models know.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from anthropic.lib.tools import (
    BetaAbstractMemoryTool,
    BetaAsyncAbstractMemoryTool,
    ToolError,
)

from standfast.adapters.contention import write_attempts
from standfast.adapters.shelf import KeyShelf, Placed, tag_of
from standfast.errors import Conflict, StandfastError
from standfast.memory.sync import Memory
from standfast.types import Record

NAME = "anthropic-memory"
ROOT = "/memories"
LINES_MAX = 999_999
NUMBER_WIDTH = 6
DEPTH_SHOWN = 2
TEXT_CHARACTERS_MAX = 100_000
PATH_PARTS_MAX = 40
SIZES = ("B", "K", "M", "G")


class MemoryFiles:
    """Files by path, with the six commands of the tool."""

    def __init__(self, memory: Memory, *, scope: str | None = None) -> None:
        self._shelf = KeyShelf(memory, NAME, fits=_is_file)
        self._scope = scope

    def view(self, command: Any) -> str:
        path = _checked(command.path)
        record = self._shelf.get(self._scope, path)
        if record is not None:
            return _numbered(command.path, _content(record), command.view_range)
        below = self._below(path)
        if not below and path != ROOT:
            raise ToolError(f"The path {command.path} does not exist. Please provide a valid path.")
        return _listing(command.path, path, below)

    def create(self, command: Any) -> str:
        path = _checked(command.path)
        if path == ROOT or self._exists(path):
            raise ToolError(f"File {command.path} already exists")
        self._make(path, command.file_text, f"File {command.path} already exists")
        return f"File created successfully at: {command.path}"

    def str_replace(self, command: Any) -> str:
        return self._edited(_checked(command.path), command, self._replace)

    def _replace(self, path: str, record: Record, command: Any) -> str:
        old, new = command.old_str, command.new_str or ""
        content = _content(record)
        places = _places(content, old)
        if not places:
            raise ToolError(
                f"No replacement was performed, old_str `{old}` did not appear verbatim in "
                f"{command.path}."
            )
        if len(places) > 1:
            lines = ", ".join(str(content[:place].count("\n") + 1) for place in places)
            raise ToolError(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: "
                f"{lines}. Please ensure it is unique"
            )
        changed = content.replace(old, new)
        self._write(path, changed, expect=record.id)
        line = content[: places[0]].count("\n")
        first = max(0, line - 2)
        shown = changed.split("\n")[first : line + 3]
        return (
            "The memory file has been edited. Here is the snippet showing the change (with line "
            "numbers):\n" + _lines(shown, first + 1)
        )

    def insert(self, command: Any) -> str:
        return self._edited(_checked(command.path), command, self._insert)

    def _insert(self, path: str, record: Record, command: Any) -> str:
        lines = _content(record).split("\n")
        if lines and lines[-1] == "":
            lines.pop()
        if not 0 <= command.insert_line <= len(lines):
            raise ToolError(
                f"Invalid `insert_line` parameter: {command.insert_line}. "
                f"It should be within the range [0, {len(lines)}]."
            )
        lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
        self._write(path, "\n".join(lines) + "\n", expect=record.id)
        return f"The file {command.path} has been edited."

    def delete(self, command: Any) -> str:
        path = _checked(command.path)
        if path == ROOT:
            raise ToolError("Cannot delete the /memories directory itself")
        gone = [path] if self._shelf.get(self._scope, path) else list(self._below(path))
        if not gone:
            raise ToolError(f"The path {command.path} does not exist")
        for one in gone:
            self._shelf.remove(self._scope, one)
        return f"Successfully deleted {command.path}"

    def rename(self, command: Any) -> str:
        old, new = _checked(command.old_path), _checked(command.new_path)
        if old == ROOT:
            raise ToolError("Cannot rename the /memories directory itself")
        if self._exists(new):
            raise ToolError(f"The destination {command.new_path} already exists")
        record = self._shelf.get(self._scope, old)
        moved = {old: record} if record is not None else self._below(old)
        if not moved:
            raise ToolError(f"The path {command.old_path} does not exist")
        if new.startswith(f"{old}/"):
            raise ToolError(f"Cannot move {command.old_path} into itself")
        for path, found in moved.items():  # first there, then gone: a crash leaves both
            taken = f"The destination {command.new_path} already exists"
            self._make(new + path[len(old) :], _content(found), taken)
        for path in moved:
            self._shelf.remove(self._scope, path)
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear_all_memory(self) -> str:
        for path in self._below(ROOT):
            self._shelf.remove(self._scope, path)
        return "All memory cleared"

    def _exists(self, path: str) -> bool:
        return self._shelf.get(self._scope, path) is not None or bool(self._below(path))

    def _edited(self, path: str, command: Any, edit: Callable[[str, Record, Any], str]) -> str:
        """Edits of one file at the same time happen one after the other; none is lost."""
        for _ in write_attempts():
            try:
                with self._shelf.lock(self._scope, path):
                    return edit(path, self._file(path, command), command)
            except Conflict:
                continue  # another process was faster
        raise ToolError(f"{command.path} changes faster than it can be edited; try again")

    def _file(self, path: str, command: Any) -> Record:
        record = self._shelf.get(self._scope, path)
        if record is None and self._below(path):
            raise ToolError(f"The path {command.path} is not a file.")
        if record is None:
            raise ToolError(f"The path {command.path} does not exist. Please provide a valid path.")
        return record

    def _below(self, folder: str) -> dict[str, Record]:
        found = self._shelf.tagged(self._scope, tag_of(NAME, "in", folder))
        newest = {one.data[NAME]["path"]: one for one in found}
        return dict(sorted(newest.items()))

    def _make(self, path: str, content: str, taken: str) -> None:
        """A file that is not there yet: of several who make it at once, one does."""
        try:
            self._write(path, content, new=True)
        except Conflict:
            raise ToolError(taken) from None

    def _write(
        self, path: str, content: str, *, expect: str | None = None, new: bool = False
    ) -> None:
        parts = path.split("/")
        folders = ["/".join(parts[:depth]) for depth in range(2, len(parts))]
        for folder in folders[1:]:
            if self._shelf.get(self._scope, folder) is not None:
                raise ToolError(f"{folder} is a file, so nothing can be below it")
        told = f"{path.removeprefix(ROOT + '/')}\n{content}"
        self._shelf.put(
            Placed(
                scope=self._scope,
                key=path,
                text=told[:TEXT_CHARACTERS_MAX],
                data={NAME: {"path": path, "content": content}},
                tags=tuple(tag_of(NAME, "in", folder) for folder in folders),
            ),
            expect=expect,
            new=new,
        )


class StandfastMemoryTool(BetaAbstractMemoryTool):
    """Anthropic's memory tool on a memory."""

    def __init__(self, memory: Memory, *, scope: str | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.files = MemoryFiles(memory, scope=scope)

    def view(self, command: Any) -> str:
        return _told(self.files.view, command)

    def create(self, command: Any) -> str:
        return _told(self.files.create, command)

    def str_replace(self, command: Any) -> str:
        return _told(self.files.str_replace, command)

    def insert(self, command: Any) -> str:
        return _told(self.files.insert, command)

    def delete(self, command: Any) -> str:
        return _told(self.files.delete, command)

    def rename(self, command: Any) -> str:
        return _told(self.files.rename, command)

    def clear_all_memory(self) -> str:
        return self.files.clear_all_memory()


class AsyncStandfastMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for asynchronous clients."""

    def __init__(self, memory: Memory, *, scope: str | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.files = MemoryFiles(memory, scope=scope)

    async def view(self, command: Any) -> str:
        return await asyncio.to_thread(_told, self.files.view, command)

    async def create(self, command: Any) -> str:
        return await asyncio.to_thread(_told, self.files.create, command)

    async def str_replace(self, command: Any) -> str:
        return await asyncio.to_thread(_told, self.files.str_replace, command)

    async def insert(self, command: Any) -> str:
        return await asyncio.to_thread(_told, self.files.insert, command)

    async def delete(self, command: Any) -> str:
        return await asyncio.to_thread(_told, self.files.delete, command)

    async def rename(self, command: Any) -> str:
        return await asyncio.to_thread(_told, self.files.rename, command)

    async def clear_all_memory(self) -> str:
        return await asyncio.to_thread(self.files.clear_all_memory)


def _told(work: Callable[[Any], str], command: Any) -> str:
    """What goes wrong here is told to the model like what goes wrong there."""
    try:
        return work(command)
    except StandfastError as error:
        raise ToolError(str(error)) from None


def _checked(path: object) -> str:
    """A path in its only form: no way leads out of ``/memories``, and no two lead to one file."""
    if not isinstance(path, str) or not (path == ROOT or path.startswith(f"{ROOT}/")):
        raise ToolError(f"Path must start with /memories, got: {path}")
    parts = [part for part in path.split("/")[2:] if part not in ("", ".")]
    if ".." in parts or "%2e%2e" in path.lower() or "\\" in path:
        raise ToolError(f"Path {path} would escape /memories directory")
    if any(ord(character) < 32 for character in path) or len(path) > 512:
        raise ToolError("a path has at most 512 characters and no control characters")
    if len(parts) > PATH_PARTS_MAX:
        raise ToolError(f"Path {path[:80]}... has more than {PATH_PARTS_MAX} parts")
    return "/".join([ROOT, *parts])


def _is_file(part: Mapping[str, Any]) -> bool:
    return isinstance(part.get("path"), str) and isinstance(part.get("content"), str)


def _content(record: Record) -> str:
    return str(record.data[NAME]["content"])


def _places(content: str, part: str) -> list[int]:
    """Where a text begins in another; overlapping ones count, too."""
    if not part:
        return []
    found: list[int] = []
    place = content.find(part)
    while place >= 0:
        found.append(place)
        place = content.find(part, place + 1)
    return found


def _numbered(shown: str, content: str, wanted: Any) -> str:
    lines = content.split("\n")
    if len(lines) > LINES_MAX:
        raise ToolError(f"File {shown} exceeds maximum line limit of {LINES_MAX:,} lines.")
    first = 1
    if wanted and len(wanted) == 2:
        first = max(1, wanted[0])
        lines = lines[first - 1 : None if wanted[1] == -1 else wanted[1]]
    return f"Here's the content of {shown} with line numbers:\n{_lines(lines, first)}"


def _lines(lines: list[str], first: int) -> str:
    return "\n".join(f"{n:>{NUMBER_WIDTH}}\t{line}" for n, line in enumerate(lines, first))


def _listing(shown: str, path: str, below: dict[str, Record]) -> str:
    """Two levels; hidden files are left out. A folder is as large as what is in it."""
    sizes: dict[str, int] = {}
    total = 0
    for one, record in below.items():
        parts = one[len(path) + 1 :].split("/")
        size = len(_content(record).encode())
        total += size
        if any(part.startswith(".") for part in parts):
            continue
        for depth in range(1, min(len(parts), DEPTH_SHOWN) + 1):
            name = "/".join(parts[:depth]) + ("/" if depth < len(parts) else "")
            sizes[name] = sizes.get(name, 0) + size
    head = (
        f"Here're the files and directories up to 2 levels deep in {shown}, excluding hidden items:"
    )
    base = shown.rstrip("/")
    rows = [f"{_size(total)}\t{shown}"]
    rows += [f"{_size(size)}\t{base}/{name}" for name, size in sorted(sizes.items())]
    return "\n".join([head, *rows])


def _size(count: int) -> str:
    step = min(max(count.bit_length() - 1, 0) // 10, len(SIZES) - 1)
    size = count / 1024**step
    return f"{size:.0f}{SIZES[step]}" if size == int(size) else f"{size:.1f}{SIZES[step]}"
