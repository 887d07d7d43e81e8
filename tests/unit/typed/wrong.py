"""What a caller may not write: mypy refuses every marked line. Read by ``test_types.py``."""

from __future__ import annotations

from standfast import AsyncMemory, Memory

memory = Memory.open("memory.db", embeder="hashing")  # wrong: a misspelt option
memory.open("memory.db", profil="otto")  # wrong: a misspelt option
Memory.connect("http://127.0.0.1:4777", keys="rck_x")  # wrong: a misspelt option
memory.remember("x", kind="semantics")  # wrong: no such kind
memory.remember("x", type="facts")  # wrong: no such type
memory.remember("x", durability="forever")  # wrong: no such durability
memory.remember("x", source="hearsay")  # wrong: no such source
memory.recall("x", statuses=["alive"])  # wrong: no such status
memory.recall("x", limits=3)  # wrong: a misspelt argument
memory.recall("x", limit="three")  # wrong: no number
memory.context(shape="mistral")  # wrong: no such shape
memory.resolve("id", "maybe")  # wrong: no such action
memory.relate("a", "likes", "b")  # wrong: no such relation


async def awaited() -> None:
    await AsyncMemory.open("dict:", backgrund=False)  # wrong: a misspelt option
    await (await AsyncMemory.open()).observe("s", "m", pendin=True)  # wrong: a misspelt argument
