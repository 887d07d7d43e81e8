"""A workspace on a desk: its files, its store, and rounds between them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from standfast import Memory, Receipt
from standfast.interfaces.markdown.pages import PageLine, parse
from standfast.interfaces.markdown.sync import Mirror
from standfast.interfaces.markdown.watch import opened_mirror
from standfast.interfaces.markdown.workspace import Workspace

SCOPE = "user:default"


class Desk:
    def __init__(self, path: Path, clock: Callable[[], Any] | None = None) -> None:
        self.path = path
        self.clock = clock
        Workspace.at(path).create()

    @property
    def page(self) -> Path:
        return self.path / "memory" / "MEMORY.md"

    @property
    def history(self) -> Path:
        return self.path / "memory" / "HISTORY.md"

    def lines(self) -> list[PageLine]:
        return parse(self.page.read_text("utf-8"))

    def texts(self) -> list[str]:
        return [line.text for line in self.lines()]

    def id_of(self, text: str) -> str:
        return next(line.id for line in self.lines() if line.text == text)

    def entries(self) -> list[str]:
        return [line for line in self.history.read_text().split("\n") if line.startswith("[")]

    def edit(self, old: str, new: str) -> None:
        text = self.page.read_text("utf-8")
        assert old in text
        self.page.write_text(text.replace(old, new), "utf-8")

    def add(self, *lines: str) -> None:
        self.page.write_text(self.page.read_text("utf-8") + "\n" + "\n".join(lines) + "\n", "utf-8")

    def delete(self, *texts: str) -> None:
        kept = [
            line
            for line in self.page.read_text("utf-8").split("\n")
            if not any(text in line for text in texts)
        ]
        self.page.write_text("\n".join(kept), "utf-8")

    def window(self, size: int) -> None:
        (self.path / "config.yml").write_text(f"agents:\n  defaults:\n    memory_window: {size}\n")

    def open(self, **options: Any) -> Memory:
        chosen = {"profile": "autobot", "embedder": "hashing", "background": False, **options}
        return Memory.open(str(self.path / "memory.db"), **chosen)

    def sync(self, *, accept: bool = False, **options: Any) -> Receipt:
        return asyncio.run(self.synced(accept=accept, **options))

    async def synced(self, *, accept: bool = False, **options: Any) -> Receipt:
        async with opened_mirror(str(self.path), embedder="hashing", **options) as mirror:
            self._set_clock(mirror)
            return await mirror.sync(accept=accept)

    def _set_clock(self, mirror: Mirror) -> None:
        if self.clock is not None:
            mirror.engine.clock = self.clock

    def remember(self, *texts: str, **options: Any) -> list[str]:
        with self.open() as memory:
            return [
                memory.remember(text, **{"scope": SCOPE, **options}).items[0].id for text in texts
            ]

    def chat(
        self, count: int, *, start: int = 0, session: str = "chat", says: Mapping[int, str] = {}
    ) -> None:
        """So many messages; ``says`` are the words of some of them, by number."""
        said = [
            {
                "role": "user" if n % 2 == 0 else "assistant",
                "content": says.get(n, f"line {n} of the talk"),
                "id": f"{session}-{n}",
            }
            for n in range(start, start + count)
        ]
        with self.open() as memory:
            memory.observe(session, said, scope=SCOPE)
