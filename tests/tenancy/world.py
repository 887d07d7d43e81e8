"""Two worlds that differ in one thing: in the first, others live beside the attacker.

What an attacker is told must be the same in both. Then nothing that is answered depends on others:
no text, no id, no count, no score, and a foreign id is exactly like one that never was.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from standfast import Memory
from tests.conftest import PROVING
from tests.tenancy.estates import MARK, Estate, exported, keep_books, settle

ANN = "user:ann"
CTO = "org:x:agent:a"  # shares its root with others
ABOVE = "org:x"  # its parent: read by all of them, changed by none
SPARES = 240 if PROVING else 14

# Others, by how they resemble the attackers.
NEIGHBOURS: dict[str, tuple[str, ...]] = {
    "foreign": ("user:bob", "org:a", "org:x:agent:b"),  # org:a comes before both by name
    "prefix": ("user:anna", "user:an", "org:x:agent:ab", "org:xx:agent:a"),
    "look-alike": (
        "user:ANN",
        "user:\u0430nn",  # a Cyrillic a
        "user:\uff41nn",  # full width
        "users:ann",
        "user:ann%3Aproject",
        "org:x:agent:A",
    ),
    "below": ("user:bob:project:web", "org:x:agent:b:project:web"),
}
# Scopes that nobody can have: they must not be read as somebody's.
MALFORMED = {
    "prefix": ("user", "user:", "user:an*", "user:an_", "user:a%"),
    "look-alike": ("USER:ANN", "user:ann ", "user:ann\u200b", "user:ann\x00", "user:ann:", "%"),
}


@dataclass(frozen=True)
class World:
    """``crowded`` and ``empty`` are files. ``own`` is what each attacker has, in both of them,
    ``spare`` small memories of theirs to be used up."""

    crowded: Path
    empty: Path
    own: dict[str, Estate]
    others: dict[str, Estate]
    spare: dict[str, tuple[str, ...]]

    def copied(self, folder: Path) -> World:
        for file in (self.crowded, self.empty):
            shutil.copy(file, folder / file.name)
        return World(
            crowded=folder / self.crowded.name,
            empty=folder / self.empty.name,
            own=self.own,
            others=self.others,
            spare=self.spare,
        )


def build(folder: Path) -> World:
    empty, crowded = folder / "empty.db", folder / "crowded.db"
    with opened(empty) as memory:
        spare = {scope: tuple(_spares(memory, scope)) for scope in (ANN, CTO)}
        memory.remember("Ann works on the vault", scope=f"{ANN}:project:work")
        memory.remember("Everybody at X may read this", scope=ABOVE)
        own = settle(memory, {ANN: "annsword", CTO: "ctosword"})
    shutil.copy(empty, crowded)
    with opened(crowded) as memory:
        scopes = [scope for some in NEIGHBOURS.values() for scope in some]
        others = settle(memory, {scope: f"{MARK}{n}x" for n, scope in enumerate(scopes)})
        for estate in others.values():
            keep_books(memory, estate)
    for file in (empty, crowded):
        with opened(file) as memory:
            for estate in own.values():
                keep_books(memory, estate)
    return World(crowded=crowded, empty=empty, own=own, others=others, spare=spare)


def opened(file: Path, scope: str | None = None, **options: Any) -> Memory:
    return Memory.open(str(file), embedder="hashing", background=False, scope=scope, **options)


def _spares(memory: Memory, scope: str) -> list[str]:
    said = (f"Locker {n} is empty" for n in range(SPARES))
    return [memory.remember(text, scope=scope).items[0].id for text in said]


def state_of(memory: Memory, estates: dict[str, Estate]) -> list[bytes]:
    """Everything that others have, as bytes."""
    return [line for scope in estates for line in exported(memory, scope)]
