"""Random work on a workspace, stopped between any two steps: nothing is lost or doubled."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from standfast.interfaces.markdown import folders
from standfast.text.compare import text_hash
from tests.interfaces.workspaces import SCOPE, Desk

WORDS = "tea sun rain ink oak fog elm ash yew bay fir gum hop ivy jet kit log map net owl".split()


class Stopped(BaseException):
    """A process that ends here and now."""


class World:
    """A desk, and what must be true of it."""

    def __init__(self, path: Path, seed: int) -> None:
        self.desk = Desk(path)
        self.desk.window(6)
        self.desk.sync()
        self.dice = random.Random(seed)
        self.facts: set[str] = set()
        self.said = 0
        self.made = 0

    def fresh_fact(self) -> str:
        self.made += 1
        return f"The {WORDS[self.made % len(WORDS)]} of shelf {self.made} weighs {self.made} pounds"

    def edit(self) -> None:
        """As a person would. What a stopped round took in or wrote, and did not note yet, is
        left alone until the next: deleting it before that is not noticed, and it comes back."""
        noted = json.loads((self.desk.path / "memory" / ".last.json").read_bytes())["lines"]
        shown = [
            line.text
            for line in self.desk.lines()
            if line.text in self.facts
            and noted.get(line.id, {}).get("hash") == text_hash(line.text)
        ]
        what = self.dice.choice(["add", "add", "change", "delete"])
        if what == "add" or not shown:
            text = self.fresh_fact()
            self.desk.add(f"- {text}")
            self.facts.add(text)
            return
        text = self.dice.choice(shown)
        self.facts.discard(text)
        if what == "delete":
            self.desk.delete(f"- {text} <!--")
        else:
            changed = self.fresh_fact()
            self.desk.edit(f"- {text}", f"- {changed}")
            self.facts.add(changed)

    def work(self) -> None:
        text = self.fresh_fact()
        self.desk.remember(text)
        self.facts.add(text)

    def talk(self) -> None:
        self.desk.chat(5, start=self.said)
        self.said += 5

    def stopped_sync(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A round that ends at some step of its work on files."""
        left = self.dice.randrange(1, 30)

        def counted(real: Any) -> Any:
            def step(*arguments: Any, **named: Any) -> Any:
                nonlocal left
                left -= 1
                if left == 0:
                    raise Stopped
                return real(*arguments, **named)

            return step

        with monkeypatch.context() as patch:
            for name in ("open", "rename", "fsync"):
                patch.setattr(folders.os, name, counted(getattr(folders.os, name)))
            try:
                self.desk.sync()
            except Stopped:
                return

    def check(self) -> None:
        assert sorted(self.desk.texts()) == sorted(self.facts)
        with self.desk.open() as memory:
            hits = memory.recall("", scope=SCOPE, types=["fact"], limit=500).hits
        assert sorted(hit.record.text for hit in hits) == sorted(self.facts)
        ids = re.findall(r"<!-- standfast:(\S+) -->", self.desk.history.read_text())
        assert max(Counter(ids).values(), default=1) == 1
        spans = re.findall(r"messages (\d+) to (\d+) of", self.desk.history.read_text())
        file = self.desk.path / "sessions" / "chat.jsonl"
        recent = file.read_text().count("\n") if file.exists() else 0
        folded = max((int(end) for _, end in spans), default=0)
        assert folded + recent == self.said, "summaries and recent messages cover the log"


def test_B2_B6_B9_rounds_stopped_between_any_two_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, proving: bool
) -> None:
    for seed in range(200 if proving else 6):
        world = World(tmp_path / str(seed), seed)
        for _ in range(12):
            before = world.desk.history.read_text()
            step = world.dice.choice(["edit", "edit", "work", "talk", "stop", "stop", "sync"])
            if step == "stop":
                world.stopped_sync(monkeypatch)
            elif step == "sync":
                world.desk.sync()
                world.check()
            else:
                getattr(world, step)()
            assert world.desk.history.read_text().startswith(before)
        world.desk.sync()
        world.check()
        assert world.desk.sync().items == ()
