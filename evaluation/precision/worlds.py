"""The worlds of ``worlds.txt``, and which of their questions are held back from tuning."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

FILE = Path(__file__).with_name("worlds.txt")
LATER = Path(__file__).with_name("later.txt")
MISSES = Path(__file__).with_name("misses.txt")
SIDES = Path(__file__).with_name("sides.txt")
CHATS = Path(__file__).with_name("chats.txt")
BOTH = Path(__file__).with_name("both.txt")
SCOPE = "user:known"

_MEMORY = re.compile(r"\+ (\S+)(?: \[(.+?)\])?(?: \((.+?)\))? (.+)")


@dataclass(frozen=True, slots=True)
class Memory:
    id: str
    text: str
    tags: tuple[str, ...]
    scope: str


@dataclass(frozen=True, slots=True)
class Asked:
    """``wanted`` is everything that answers, by id; () where nothing does."""

    kind: str
    text: str
    wanted: tuple[str, ...]
    scope: str

    @property
    def held_back(self) -> bool:
        """Half of the questions: nothing was tuned on them."""
        return blake2b(self.text.encode(), digest_size=1).digest()[0] % 2 == 0


@dataclass(slots=True)
class World:
    name: str
    scope: str
    memories: list[Memory] = field(default_factory=list)
    replaced: list[tuple[str, str]] = field(default_factory=list)  # new, old
    questions: list[Asked] = field(default_factory=list)


def worlds(file: Path = FILE) -> list[World]:
    """ValueError names the line that does not fit."""
    found: list[World] = []
    for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("= "):
            name, _, scope = line[2:].partition(" [")
            found.append(World(name, scope.rstrip("]") or SCOPE))
        elif not found or not _taken(found[-1], line):
            raise ValueError(f"{file.name}, line {number}: {line!r} is neither memory nor question")
    return found


def _taken(world: World, line: str) -> bool:
    if memory := _MEMORY.fullmatch(line):
        id_, scope, tags, text = memory.groups()
        world.memories.append(
            Memory(id_, text, tuple((tags or "").replace(" ", "").split(",")) if tags else (),
                   scope or world.scope)
        )  # fmt: skip
        return True
    head, *parts = [part.strip() for part in line[2:].split("|")]
    if line.startswith("> "):
        new, old = head.split()
        world.replaced.append((new, old))
        return True
    if not line.startswith("? ") or len(parts) != 2:
        return False
    kind, _, scope = head.partition(" ")
    wanted = tuple(parts[1].split())
    known = {one.id for one in world.memories}
    world.questions.append(Asked(kind, parts[0], wanted, scope or world.scope))
    return known.issuperset(wanted)


def questions() -> Iterator[tuple[World, Asked]]:
    for world in worlds():
        for asked in world.questions:
            yield world, asked
