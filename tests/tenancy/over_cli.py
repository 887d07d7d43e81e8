"""The command line. It has no key: whoever runs it owns the file, and an id names its record
wherever it is. What it promises is that whoever names a scope gets that scope and no other."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from standfast.interfaces.cli import main
from tests.tenancy.surfaces import Arguments, Call, Said

OWNER = "the command line owns the file: an id names its record wherever it is"

Words = list[str]


@dataclass(frozen=True)
class Command:
    """The words of a command, and which arguments of the verb it takes: as options, and behind
    them by place."""

    words: str
    options: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    more: tuple[str, ...] = ()

    def line(self, given: Arguments) -> Words:
        placed = [word for name in self.places for word in _several(given.get(name, []))]
        options = [word for name in self.options for word in _option(name, given.get(name))]
        ends = ["--", *placed] if placed else []
        return [*self.words.split(), *options, *self.more, *ends]

    def strange(self, given: Arguments) -> list[str]:
        return sorted(given.keys() - {*self.options, *self.places, "action", "success", "persist"})


def _option(name: str, value: Any) -> Words:
    """``--name=value``, once for each of several."""
    option = {"ids": "--id", "steps": "--step", "tags": "--tag", "authors": "--author"}.get(name)
    option = option or f"--{name.replace('_', '-')}"
    if value is True:
        return [option]
    return [f"{option}={one}" for one in _several(value)] if value else []


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


_CHOICE = ("ids", "scope", "session", "descend", "author", "source")
COMMANDS: dict[str, Command] = {
    "get": Command("get", places=("ids",)),
    "records": Command("records", ("scope", "descend", "tags", "authors", "session")),
    "sessions": Command("sessions", ("scope", "descend")),
    "messages": Command("messages", ("scope",), ("session",)),
    "stats": Command("stats", ("scope", "descend")),
    "recall": Command("recall --explain", ("scope", "descend", "limit", "tags"), ("query",)),
    "context": Command("context", ("scope", "session"), ("query",)),
    "pending": Command("context", ("scope",), (), ("--confirm", "vault")),
    "history": Command("history", ("scope", "limit"), ("id",)),
    "changes": Command("history", ("scope", "limit")),
    "forget": Command("forget --yes", (*_CHOICE, "sources")),
    "revoke": Command("revoke --yes", _CHOICE),
    "undo": Command("undo", ("scope", "dry_run"), ("change",)),
    "edit": Command("edit", (), ("id", "text")),
    "pin": Command("pin", (), ("ids",)),
    "dispute": Command("dispute", ("text", "by"), ("id",)),
    "summaries": Command("summaries", ("scope",), ("session",)),
    "why_not": Command("why-not", (), ("id", "query")),
    "scopes": Command("scopes", ("scope",)),
    "relate": Command("relate", (), ("source", "kind", "target")),
    "remember": Command("remember", ("scope", "supersedes"), ("text",)),
    "note": Command("note", ("scope",), ("session", "text")),
    "end": Command("end", ("scope",), ("session",)),
    "set_policy": Command("policy --opt-in", ("scope",)),
    "save_procedure": Command("procedure save", ("scope", "steps"), ("name",)),
    "find_procedures": Command("procedure find", ("scope",), ("query",)),
    "procedure_used": Command("procedure used", ("scope",), ("id_or_name",)),
    "review": Command("review", ("scope",)),
    "resolve": Command("review", ("text", "into"), ("id",)),
    "maintain": Command("maintain", ("scope", "dry_run", "retry")),
    "export_to": Command("export", ("scope",), (), ("-",)),
}


def lacks(asked: Call) -> str:
    """Why no command can be asked this; "" if one can."""
    if asked.verb not in COMMANDS:
        return f"no command does {asked.verb}"
    strange = COMMANDS[asked.verb].strange(asked.arguments)
    return f"{asked.verb} takes no {', '.join(strange)}" if strange else ""


class Cli:
    """Runs the command in this process; some times each, where that is asked for, in one of its
    own: that takes ten times as long."""

    def __init__(self, store: Path, *, apart: int) -> None:
        self._begin = ["--store", str(store), "--embedder", "hashing", "--no-background", "--json"]
        self._apart = apart
        self._run: Counter[str] = Counter()

    def ask(self, asked: Call) -> Said:
        line = COMMANDS[asked.verb].line(asked.arguments)
        if asked.verb == "resolve":
            line.insert(1, asked.arguments["action"])
        words = [*self._begin, *line]
        if any("\0" in word for word in words):
            return Said(False, "no command can be given such a word")
        self._run[asked.verb] += 1
        return _as_process(words) if self._run[asked.verb] <= self._apart else _here(words)

    def close(self) -> None:
        return


def _here(words: Words) -> Said:
    out, complaints = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with redirect_stdout(out), redirect_stderr(complaints):
        try:
            code: Any = main(words)
        except SystemExit as ended:
            code = ended.code
    out.flush()
    told = out.buffer.getvalue().decode()  # type: ignore[attr-defined]
    return Said(code == 0, f"{code}\n{told}\n{complaints.getvalue()}")


def _as_process(words: Words) -> Said:
    done = subprocess.run(
        [sys.executable, "-m", "standfast.interfaces.cli", *words],
        capture_output=True,
        env={**os.environ},
        timeout=60,
        check=False,
    )
    told = f"{done.stdout.decode()}\n{done.stderr.decode()}"
    return Said(done.returncode == 0, f"{done.returncode}\n{told}")
