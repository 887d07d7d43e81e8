"""Commit gate: subjects say ``area: imperative``, and no commit loosens a gate without a reason."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

from scripts.gates.project import BUDGETS, ROOT, flattened

SUBJECT_MAX = 72
# The last commit before this gate; what is older keeps its subject.
BASELINE = "8b8a142c"
SUBJECT = re.compile(r"[a-z0-9][a-z0-9_./, -]*: (\S+)( .*)?")
REASON = re.compile(r"^Budget: \S", re.MULTILINE)
# Base forms that look like another form of a verb.
BASE_FORMS = frozenset(
    """need speed seed feed embed shed address process pass focus discuss bring ring string express
    suppress compress access bypass""".split()
)


def subject_problem(subject: str) -> str | None:
    """Why a subject is not ``area: imperative`` of at most 72 characters; None where it is."""
    if subject.startswith("Merge "):
        return None
    match = SUBJECT.fullmatch(subject)
    if match is None:
        return "write 'area: imperative'"
    if len(subject) > SUBJECT_MAX:
        return f"{len(subject)} characters, at most {SUBJECT_MAX}"
    verb = match[1].lower()
    if verb not in BASE_FORMS and verb.endswith(("ed", "ing", "s")):
        return f"{match[1]!r} is no imperative"
    return None


def problems(root: Path = ROOT) -> list[str]:
    """Of every commit since the gate; of the newest alone where older ones are not there."""
    since = f"{BASELINE}..HEAD" if _has(root, BASELINE) else "-1"
    log = _git(root, "log", "--no-merges", "--format=%h%x00%s", since)
    if log is None:  # an unpacked archive has no history
        return []
    found = []
    for line in log.splitlines():
        commit, _, subject = line.partition("\0")
        if problem := subject_problem(subject):
            found.append(f"commit {commit} ({subject!r}): {problem}")
    return found + list(_loosened(root, since))


def _loosened(root: Path, since: str) -> Iterator[str]:
    path = str(BUDGETS.relative_to(ROOT))
    commits = _git(root, "log", "--no-merges", "--format=%h", since, "--", path) or ""
    for commit in commits.split():
        before, after = (_git(root, "show", f"{at}:{path}") for at in (f"{commit}^", commit))
        if before and after and (raised := raised_budgets(before, after)):
            body = _git(root, "log", "-1", "--format=%B", commit) or ""
            if not REASON.search(body):
                yield f"commit {commit} raises {', '.join(raised)} without 'Budget: <reason>'"


def raised_budgets(before: str, after: str) -> list[str]:
    old, new = (dict(flattened(tomllib.loads(text))) for text in (before, after))
    return [name for name, value in sorted(new.items()) if value > old.get(name, value)]


def _has(root: Path, commit: str) -> bool:
    return _git(root, "cat-file", "-e", f"{commit}^{{commit}}") is not None


def _git(root: Path, *command: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *command], capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None
