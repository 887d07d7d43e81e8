"""What was proved for a commit so far: one JSON file, written after every trial."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

FOLDER = Path(__file__).parent / "results"


@dataclass(slots=True, kw_only=True)
class Entry:
    """Of one family: the next seed, what was done, what broke, whether its mutant was caught."""

    seed: int = 0
    trials: int = 0
    units: int = 0
    seconds: float = 0.0
    figures: dict[str, int] = field(default_factory=dict)
    broken: list[dict[str, str | int]] = field(default_factory=list)
    mutant_caught_after: int | None = None


@dataclass(slots=True, kw_only=True)
class Ledger:
    commit: str
    at: str = ""
    entries: dict[str, Entry] = field(default_factory=dict)

    @classmethod
    def of(cls, commit: str, folder: Path = FOLDER) -> Ledger:
        file = folder / f"{commit}.json"
        if not file.exists():
            return cls(commit=commit)
        found = json.loads(file.read_text("utf-8"))
        entries = {name: Entry(**entry) for name, entry in found["entries"].items()}
        return cls(commit=commit, at=found["at"], entries=entries)

    def save(self, folder: Path = FOLDER, at: str = "") -> Path:
        """Whole or not at all: a proof may be stopped at any moment. What another process has
        tried meanwhile stays."""
        self.at = at or datetime.now(UTC).isoformat(timespec="seconds")
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{self.commit}.json"
        with _alone(folder):
            for name, entry in Ledger.of(self.commit, folder).entries.items():
                if name not in self.entries or self.entries[name].trials < entry.trials:
                    self.entries[name] = entry
            beside = file.with_suffix(".part")
            beside.write_text(json.dumps(asdict(self), indent=1) + "\n", "utf-8")
            os.replace(beside, file)
        return file


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def commit_now() -> str:
    """The commit that is tried, and whether the tree differs from it. A page of the docs that was
    changed since makes no other code of it."""
    head = _git("log", "-1", "--format=%h", "--abbrev=12", "--", "src") or "unknown"
    changed = _git("status", "--porcelain", "--", "src")
    return f"{head}-changed" if changed else head


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def latest(folder: Path = FOLDER) -> Iterator[Ledger]:
    """The ledgers, the newest first."""
    found = [Ledger.of(file.stem, folder) for file in folder.glob("*.json")]
    yield from sorted(found, key=lambda ledger: ledger.at, reverse=True)
