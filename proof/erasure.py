"""Forgotten means gone: every verb that stores, then forget, then the bytes of every file."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from proof.family import Broken, ProofFamily, Trial
from standfast import Memory
from standfast.wiring.files import backup_store, restore_store

SCOPE = "user:ann"
STEPS = 12

Store = Callable[[Memory, str], None]


def _remember(memory: Memory, word: str) -> None:
    memory.remember(
        f"The secret word is {word}", scope=SCOPE, tags=[word[:12]], data={"word": word}
    )


def _observe(memory: Memory, word: str) -> None:
    messages: list[Any] = [
        {"role": "user", "content": f"My favourite word is {word}", "author": word[:12]},
        {"role": "assistant", "content": f"{word}, noted"},
    ]
    memory.observe(f"chat-{word[:9]}", messages, scope=SCOPE)


def _procedure(memory: Memory, word: str) -> None:
    memory.save_procedure(f"how to {word}", steps=[f"take {word}", "wait"], scope=SCOPE)


def _note(memory: Memory, word: str) -> None:
    memory.note(f"chat-{word[:9]}", f"ask about {word}", scope=SCOPE)


def _state(memory: Memory, word: str) -> None:
    memory.observe(f"chat-{word[:9]}", ["hello"], scope=SCOPE)
    memory.set_state(f"chat-{word[:9]}", {"looking for": word}, scope=SCOPE)


def _change(memory: Memory, word: str) -> None:
    first = memory.remember(f"Ann's door code is {word}", scope=SCOPE).items[0].id
    memory.remember(f"Ann's door code is {word[::-1]}", scope=SCOPE, supersedes=first)


def _maintain(memory: Memory, word: str) -> None:
    _observe(memory, word)
    memory.maintain()


def _edit(memory: Memory, word: str) -> None:
    first = memory.remember(f"Ann's locker is {word}", scope=SCOPE).items[0].id
    memory.edit(first, f"Ann's locker is not {word}")


def _dispute(memory: Memory, word: str) -> None:
    first = memory.remember(f"Ann's desk is {word}", scope=SCOPE).items[0].id
    memory.dispute(first, text=f"Ann's desk was never {word}")


def _end(memory: Memory, word: str) -> None:
    session = f"chat-{word[:9]}"
    memory.observe(session, [f"Please look for {word}"], scope=SCOPE)
    memory.end(session, scope=SCOPE, outcome=f"{word} was found")


def _undo(memory: Memory, word: str) -> None:
    memory.undo(memory.remember(f"Ann's hat is {word}", scope=SCOPE).change, scope=SCOPE)


STORES: tuple[Store, ...] = (
    _remember, _observe, _procedure, _note, _state, _change, _maintain, _edit, _dispute, _end,
    _undo,
)  # fmt: skip


def attempt(seed: int, folder: Path) -> Trial:
    dice = random.Random(seed)
    file = folder / "memory.db"
    old = folder / "old" / "backup.db"  # holds them, as the receipt says: nobody looks in there
    old.parent.mkdir()
    words: list[str] = []
    with Memory.open(str(file), embedder="hashing", background=False) as memory:
        memory.remember("What stays is that the sky is blue", scope="user:bob")
        for step in range(STEPS):
            word = f"canary{seed % 100_000}q{step}q{dice.randrange(16**8):08x}"
            words += [word, word[::-1]]
            dice.choice(STORES)(memory, word)
            memory.recall(word, scope=SCOPE)
        backup_store(str(file), None, old)
        memory.forget(scope=SCOPE, descend=True, several_authors=True)
        if dice.random() < 0.5:
            memory.maintain()
        memory.export_to(folder / "export.jsonl")
    backup_store(str(file), None, folder / "backup.db")
    _search(folder, words)
    asyncio.run(restore_store(str(file), None, old))  # what was forgotten since stays forgotten
    _search(folder, words)
    with Memory.open(str(file), background=False) as memory:
        if not memory.recall("the sky", scope="user:bob").hits:
            raise Broken("what should have stayed is gone")
    return Trial(units=STEPS, figures=(("words looked for", len(words)),))


def _search(folder: Path, words: list[str]) -> None:
    for file in folder.iterdir():
        held = file.read_bytes() if file.is_file() else b""
        for word in words:
            if word.encode() in held or word[:12].encode() in held:
                raise Broken(f"{word} is still in {file.name}")


@contextmanager
def lazy_forgetting() -> Iterator[None]:
    """Rows are deleted, but what they held stays in the free pages of the file. Either of two
    things would hide that, zeroed cells and a small file that is written anew: both are off."""
    from standfast.stores.sqlite import store, writer

    honest = writer.connect_writer

    def lazy(*args: Any, **kwargs: Any) -> Any:
        db = honest(*args, **kwargs)
        db.execute("PRAGMA secure_delete=OFF")
        return db

    with (
        mock.patch.object(writer, "connect_writer", lazy),
        mock.patch.object(store, "WIPE_BYTES_MAX", 0),
    ):
        yield


FAMILY = ProofFamily(
    name="erasure",
    promise="What any verb stored and was then forgotten is in no file or export, nor in an old "
    "backup that is restored.",
    unit="stored and forgotten",
    target=3_000,
    attempt=attempt,
    mutant=lazy_forgetting,
    mutant_said="deleted rows whose bytes stay in the free pages",
    parallel=True,
)
