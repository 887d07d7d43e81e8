"""Markdown pages as data: their fenced blocks, and the remarks that steer how they are run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PAGES = [
    PROJECT / "README.md",
    PROJECT / "CONTRIBUTING.md",
    *sorted((PROJECT / "docs").rglob("*.md")),
]

_BLOCK = re.compile(
    r"(?:<!--\s*(?P<remark>[^>]*?)\s*-->[ \t]*\n\s*)?"
    r"^```(?P<language>\w*)[^\n]*\n(?P<code>.*?)^```[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
_NOT_RUN = re.compile(r"not run:\s*(?P<reason>\S.*)", re.DOTALL)


@dataclass(frozen=True)
class Block:
    language: str
    code: str
    line: int  # of the page, where the code begins
    remark: str = ""

    @property
    def not_run(self) -> str:
        """Why it is not run; empty if it is."""
        match = _NOT_RUN.match(self.remark)
        return match.group("reason") if match else ""

    @property
    def compares_output(self) -> bool:
        return self.remark == "output is compared"

    @property
    def runs(self) -> bool:
        if self.language == "console":
            return self.code.startswith("$ standfast") and not self.not_run
        return self.language == "python" and not self.not_run


@dataclass(frozen=True)
class Command:
    line: str
    output: str


def blocks_of(text: str) -> list[Block]:
    return [
        Block(
            language=match["language"],
            code=match["code"],
            line=text.count("\n", 0, match.start("code")) + 1,
            remark=match["remark"] or "",
        )
        for match in _BLOCK.finditer(text)
    ]


def commands_of(console: str) -> list[Command]:
    """The lines behind "$ " (a backslash continues them), each with the output shown below it."""
    joined = console.replace("\\\n", " ")
    commands = re.split(r"^\$ ", joined, flags=re.MULTILINE)[1:]
    return [Command(*command.partition("\n")[::2]) for command in commands]


def matches(expected: str, actual: str) -> bool:
    """Equal, where "..." stands for anything."""
    pattern = ".*".join(re.escape(part) for part in expected.strip().split("..."))
    return re.fullmatch(pattern, actual.strip(), re.DOTALL) is not None
