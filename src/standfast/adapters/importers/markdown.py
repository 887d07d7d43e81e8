"""Folders of Markdown: MEMORY.md, CLAUDE.md, AGENTS.md, and notes with front matter as Obsidian and
basic-memory write them.

Each list item and each paragraph becomes a statement of its own, with the headings above it; so a
note is found by what it says and not only as a whole. Code stays in one piece.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from standfast.adapters.importers.files import FOLDER_FILES_MAX, opened, whole_text
from standfast.adapters.importers.values import Foreign, ForeignRecord, LeftOut, words
from standfast.adapters.importers.values import ReaderWish as Wish
from standfast.errors import Invalid, NotFound

SUFFIXES = (".md", ".markdown", ".mdx")
NOT_ENTERED = {".git", ".obsidian", ".trash", "node_modules", ".venv", "__pycache__"}
FILE_BYTES_MAX = 8 << 20
TAGS_MAX = 32

# Each of them looks at a character a bounded number of times, whatever a note is made of.
_HEADING = re.compile(r"(#{1,6})\s(.*)$")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,4}[.)])\s+(?:\[[ xX]\]\s+)?(.*)$")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_HASHTAG = re.compile(r"(?<![\w&#/])#([A-Za-z][\w/-]{1,60})")
_LINK = re.compile(r"\[\[([^\[\]|#\n]{1,200})(?:#[^\[\]|\n]{0,200})?(?:\|[^\[\]\n]{0,200})?\]\]")
_CATEGORY = re.compile(r"\[([a-z][\w -]{0,40})\]\s(.*)$", re.DOTALL)
_NAMED = re.compile(r"([A-Za-z_][\w .-]{0,60}):(?:\s+(.*))?$")


def read_markdown(wish: Wish) -> Iterator[Foreign]:
    root = wish.path
    if not root.exists():
        raise NotFound(f"there is no folder {root}")
    base = root if root.is_dir() else root.parent
    found = 0
    for path in _files(root):
        if isinstance(path, LeftOut):
            yield path
            continue
        found += 1
        yield from _note(path, path.relative_to(base).as_posix())
    if not found:
        raise Invalid(f"{root} has no Markdown in it (.md)")


def _files(root: Path) -> Iterator[Path | LeftOut]:
    """In the order of their names; links are not followed, whatever they lead to."""
    if root.is_file():
        yield root
        return
    count = 0
    for folder, folders, names in os.walk(root, followlinks=False):
        folders[:] = sorted(name for name in folders if name not in NOT_ENTERED)
        for name in sorted(names):
            path = Path(folder) / name
            if path.suffix.lower() not in SUFFIXES:
                continue
            count += 1
            if count > FOLDER_FILES_MAX:
                raise Invalid(f"{root} has more than {FOLDER_FILES_MAX:,} notes; import its parts")
            if path.is_symlink():
                yield LeftOut(what=path.relative_to(root).as_posix(), why="a link to elsewhere")
            elif not path.is_file():  # a pipe would be waited for
                yield LeftOut(what=path.relative_to(root).as_posix(), why="no plain file")
            elif path.stat().st_size > FILE_BYTES_MAX:
                yield LeftOut(what=path.relative_to(root).as_posix(), why="larger than 8 MiB")
            else:
                yield path


def _note(path: Path, name: str) -> Iterator[Foreign]:
    with opened(path) as file:
        text = whole_text(file, name)
    about, body = front_matter(text)
    title = str(about.get("title") or path.stem)
    written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    created = _day(about, "created", "date", "created_at") or written
    tags = tuple(dict.fromkeys(words(about.get("tags"))))[:TAGS_MAX]
    seen: set[str] = set()
    for heading, told in statements(body):
        if told in seen:
            continue
        seen.add(told)
        category = _CATEGORY.match(told)
        said = category[2].strip() if category else told
        own = [*tags, *_HASHTAG.findall(said), *([category[1].lower()] if category else [])]
        yield ForeignRecord(
            id=f"{name}#{told}",
            text=said,
            tags=tuple(dict.fromkeys(own))[:TAGS_MAX],
            created=created,
            updated=_day(about, "updated", "modified", "updated_at") or created,
            author=str(about.get("author") or "")[:200],
            data={
                "note": name,
                "title": title,
                **({"heading": heading} if heading else {}),
                **({"links": links} if (links := _LINK.findall(said)) else {}),
            },
        )
    if not seen:
        yield LeftOut(what=name, why="there is no text in it")


def _day(about: dict[str, Any], *names: str) -> str | None:
    """The first of these that is a time."""
    for name in names:
        value = str(about.get(name) or "").strip()
        try:
            return datetime.fromisoformat(value).isoformat() if value else None
        except ValueError:
            continue
    return None


def front_matter(text: str) -> tuple[dict[str, Any], str]:
    """The names and values between two lines of dashes at the beginning, and what follows. Texts
    and lists of texts; what is nested deeper is not understood and not needed."""
    lines = text.lstrip("\ufeff").splitlines()
    if not lines or lines[0].strip() != "---":
        return {}, text
    ends = [n for n, line in enumerate(lines[1:400], 1) if line.strip() in ("---", "...")]
    if not ends:
        return {}, text
    about: dict[str, Any] = {}
    name = ""
    for line in lines[1 : ends[0]]:
        item = _ITEM.match(line)
        named = _NAMED.match(line) if not line.startswith((" ", "\t")) else None
        if named:
            name = named[1].strip().lower()
            about[name] = _scalar(named[2] or "")
        elif item and name:
            listed = about[name] if isinstance(about[name], list) else []
            about[name] = [*listed, str(_scalar(item[1]))]
    return about, "\n".join(lines[ends[0] + 1 :])


def _scalar(value: str) -> Any:
    value = value.strip()
    if value.startswith("[") and value.endswith("]"):
        return [part.strip().strip("'\"") for part in value[1:-1].split(",") if part.strip()]
    return value.strip("'\"")


def statements(text: str) -> Iterator[tuple[str, str]]:
    """The headings above each list item and paragraph, and the words of it."""
    headings: list[tuple[int, str]] = []
    block: list[str] = []
    fence = ""

    def done() -> Iterator[tuple[str, str]]:
        told = "\n".join(block).strip()
        block.clear()
        if told and told.strip("-*_= \n"):
            yield " > ".join(title for _, title in headings), told

    for line in text.splitlines():
        opening = _FENCE.match(line)
        if fence or opening:
            block.append(line)
            if fence and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            elif not fence and opening:
                fence = opening[1]
            continue
        heading, item = _HEADING.match(line), _ITEM.match(line)
        if heading or item or not line.strip():
            yield from done()
        if heading:
            level = len(heading[1])
            headings[:] = [one for one in headings if one[0] < level]
            headings.append((level, heading[2].strip().rstrip("#").rstrip()))
        elif item:
            block.append(item[1])
        elif line.strip():
            block.append(line.strip())
    yield from done()
