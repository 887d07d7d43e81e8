"""The last recorded run: aggregate numbers only, and whether a new run is worse.

Scores are compared where the questions are the same ones; a mark of their ids tells, the ids and
texts themselves are never written.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

from evaluation.cases import DataError
from evaluation.report import Measured
from evaluation.scores import Summary

FOLDER = Path(__file__).resolve().parent / "results"
TOLERANCE = 0.5  # points


@dataclass(frozen=True, slots=True)
class Drop:
    measure: str
    before: float
    now: float

    def __str__(self) -> str:
        return f"{self.measure}: {100 * self.before:.1f} -> {100 * self.now:.1f}"


def path_of(found: Measured, folder: Path) -> Path:
    setting = found.setting.replace("/", "-").replace(", ", "-")
    return folder / f"{found.name}-{setting}-k{found.k}.json"


def record(found: Measured, folder: Path, command: str) -> Path:
    path = path_of(found, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "set": found.name,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "commit": commit(),
        "command": command,
        "setting": found.setting,
        "k": found.k,
        "questions": len(found.ours.values),
        "mark": mark(found.ours),
        "ms": {"median": round(found.ours.ms_median, 2), "p95": round(found.ours.ms_p95, 2)},
        "scores": _scores(found.ours),
        "baselines": {one.system: _scores(one)["all"] for one in found.baselines},
    }
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return path


def _scores(summary: Summary) -> dict[str, dict[str, list[float]]]:
    """category -> measure -> [mean, low, high, count]"""
    return {
        row.category: {
            name: [round(one.mean, 4), round(one.low, 4), round(one.high, 4), one.count]
            for name, one in row.scores.items()
        }
        for row in summary.rows
    }


def mark(summary: Summary) -> str:
    ids = "\0".join(sorted(summary.values))
    return blake2b(ids.encode(), digest_size=8).hexdigest()


def commit() -> str:
    """Of the working tree, with a + if it differs from it."""
    here = Path(__file__).resolve().parent
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--abbrev=12"],
            cwd=here, capture_output=True, text=True, check=False,
        )  # fmt: skip
    except OSError:
        return "unknown"
    return done.stdout.strip() or "unknown"


def last(found: Measured, folder: Path) -> Mapping[str, Any] | None:
    """The recorded run of the same set, setting and questions; None if there is none."""
    path = path_of(found, folder)
    if not path.exists():
        return None
    try:
        content: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
        content["scores"]["all"], content["mark"]
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path} is no recorded run: {error!r}; record one anew") from error
    return content if content["mark"] == mark(found.ours) else None


def drops(found: Measured, before: Mapping[str, Any], tolerance: float) -> Sequence[Drop]:
    """What fell by more than the tolerance (points) and by more than one question is worth."""
    fallen = []
    for name, one in found.ours.whole.scores.items():
        old = before["scores"]["all"].get(name)
        allowed = max(tolerance / 100, 1 / one.count) + 1e-4  # recorded numbers are rounded
        if old is not None and old[0] - one.mean > allowed:
            fallen.append(Drop(name, old[0], one.mean))
    return fallen
