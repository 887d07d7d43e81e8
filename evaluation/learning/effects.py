"""``python -m evaluation.learning.effects``: fit what tells by their meaning that one statement
changes another (``recollect.lifecycle.effect``).

Changing are the last turns of the open ``pairs`` to what they change, the lines marked ``+`` in
``sets/effects.txt`` to the statement above them, and the pairs of lines in ``lives/changes.tsv``.
Not changing are the open ``harmless`` follow-ups, ``sets/beside.jsonl``, the lines marked ``-``,
all other pairs of lines of a life, and changes beside statements of other cases. Nothing that is
held back is used. Prints how well it tells them apart in pairs that it was not fitted on, and
writes the weights.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

import numpy as np

from evaluation.learning.cases import FOLDER, START, Case, SetName, load_all
from evaluation.learning.lasting import Vectors, small
from evaluation.learning.lives import FOLDER as LIVES
from evaluation.learning.matching import matches_any
from evaluation.learning.report import OPEN
from evaluation.running import embedder_named
from recollect.lifecycle.effect import WEIGHTS
from recollect.lifecycle.merge.changes import replaces
from recollect.lifecycle.merge.traits import traits
from recollect.ports import Embedder
from recollect.text.claims import extract
from recollect.types import Message

ROUNDS, SHRINK, FOLDS = 40, 1.0, 8
OTHERS = 3  # statements of other cases beside each change
WRONG_MAX = 0.025  # of harmless follow-ups that are taken for a change
MEANT = 2.0  # how much a number of a vector counts beside a trait
WEIGHT = {"harmless": 2.0, "lives": 0.3, "others": 0.3}  # of what changes nothing; else 1


@dataclass(frozen=True, slots=True)
class Pair:
    """``group``: what is never on both sides of a fold."""

    new: str
    old: str
    author: str
    changes: bool
    source: str
    group: str

    @property
    def traits(self) -> dict[str, float]:
        return traits(self.new, self.author, self.old, self.author)

    @property
    def decided(self) -> bool:
        return bool(replaces(self.new, self.author, self.old, self.author))


def _told(text: str, author: str, at: datetime, *, first: bool = False) -> list[str]:
    """What a message says, as far as it is kept (``first``) or compared with what is known."""
    message = Message(
        id="m", scope="user:x", session="s", role="user", text=text, at=at, author=author
    )
    found = extract([message])
    tidings = () if first else found.tidings
    lessons = [*found.lessons, *tidings, *(lesson for _, lesson in found.unread)]
    return list(dict.fromkeys(lesson.text for lesson in lessons if lesson.type != "user_request"))


def _open(name: SetName) -> Iterator[tuple[Case, list[str], list[str]]]:
    """Cases with what their first and last turn say."""
    for case in load_all(name):
        told = [turn for turn in case.turns if turn.role == "user"]
        if case.lang == "en" and (not case.later or case.half in OPEN) and len(told) > 1:
            olds = _told(told[0].text, case.author, told[0].at, first=True)
            yield case, olds, _told(told[-1].text, case.author, told[-1].at)


def _of_cases() -> Iterator[Pair]:
    for case, olds, news in _open("pairs"):
        gone = [old for old in olds if matches_any(case.gone, old)]
        for new in news:
            yield from (Pair(new, old, case.author, True, "pairs", case.id) for old in gone)
    for case, olds, news in _open("harmless"):
        for new in news:
            yield from (Pair(new, old, case.author, False, "harmless", case.id) for old in olds)


def _of_lines() -> Iterator[Pair]:
    """Told by somebody with a name and by somebody without, in turn."""
    olds: list[str] = []
    author, known = "", ""
    for line in (FOLDER / "effects.txt").read_text("utf-8").splitlines():
        mark, text = line[0], line[2:]
        if mark == "=":
            known, author = text, "" if author else "Ann"
            olds = _told(text, author, START, first=True)
            continue
        source = "effects" if mark == "+" else "harmless"
        for new in _told(text, author, START + timedelta(days=31)):
            yield from (Pair(new, old, author, mark == "+", source, known) for old in olds)
    for line in (FOLDER / "beside.jsonl").read_text("utf-8").splitlines():
        given = json.loads(line)
        known = given["known"]
        olds = _told(known, "", START, first=True)
        for new in _told(given["said"], "", START + timedelta(days=2)):
            yield from (Pair(new, old, "", False, "harmless", known) for old in olds)


def _of_lives() -> Iterator[Pair]:
    """``~`` marks pairs of lines of which it may be said either way."""
    for row in (LIVES / "changes.tsv").read_text("utf-8").splitlines():
        name, _, listed = row.partition("\t")
        marks = {one.lstrip("~"): one[0] for one in listed.split()}
        who, *lines = (LIVES / f"{name}.txt").read_text("utf-8").splitlines()
        said: list[tuple[int, list[str]]] = []
        for number, line in enumerate(lines, 2):
            if not line.startswith(">"):
                continue
            for new in _told(line[2:], who, START):
                for before, olds in said:
                    mark = marks.get(f"{before},{number}", "")
                    if mark != "~":
                        yield from (Pair(new, old, who, bool(mark), "lives", name) for old in olds)
            said.append((number, _told(line[2:], who, START, first=True)))


def pairs() -> list[Pair]:
    found = [*_of_cases(), *_of_lines()]
    changing = [one for one in found if one.changes]
    for place, one in enumerate(changing):
        for step in range(1, OTHERS + 1):
            other = changing[(place + 37 * step) % len(changing)]
            if other.author == one.author and other.group != one.group:
                found.append(Pair(one.new, other.old, one.author, False, "others", one.group))
    return [one for one in dict.fromkeys([*found, *_of_lives()]) if one.traits]


def fit(rows: Vectors, changes: Vectors, weight: Vectors) -> Vectors:
    """A logistic regression by Newton's method; the last weight is the bias."""
    rows = np.hstack([rows, np.ones((len(rows), 1))])
    shrink = np.full(rows.shape[1], SHRINK)
    shrink[-1] = 1e-6
    weights = np.zeros(rows.shape[1])
    for _ in range(ROUNDS):
        guess = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ ((guess - changes) * weight) + shrink * weights
        bent = (rows * (weight * guess * (1 - guess))[:, None]).T @ rows + np.diag(shrink)
        step = np.linalg.solve(bent, slope)
        weights -= step
        if np.abs(step).max() < 1e-4:
            break
    return weights


async def _embedded(embedder: Embedder, texts: Sequence[str]) -> dict[str, Vectors]:
    vectors = np.array(await embedder.embed(texts), dtype=np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return dict(zip(texts, vectors, strict=True))


def _report(score: Vectors, found: Sequence[Pair], likely: float) -> None:
    for source in ("pairs", "effects", "harmless", "lives", "others"):
        for changes in (True, False):
            told = [
                value
                for value, one in zip(score, found, strict=True)
                if one.source == source and one.changes == changes and not one.decided
            ]
            if told:
                above = np.mean(np.array(told) > likely)
                kind = "changes" if changes else "changes nothing"
                print(f"{source:9} {kind:16} {len(told):5} undecided, {above:.1%} taken for one")


def main() -> int:
    embedder = asyncio.run(embedder_named("auto", None, os.cpu_count() or 1))
    if embedder is None or embedder.space.startswith("hashing"):
        print("error: vectors that know no meaning tell nothing here", file=sys.stderr)
        return 2
    found = pairs()
    vectors = asyncio.run(
        _embedded(embedder, sorted({text for one in found for text in (one.new, one.old)}))
    )
    told = [one.traits for one in found]
    names = sorted({name for one in told for name in one})
    news, olds = (np.array([vectors[getattr(one, at)] for one in found]) for at in ("new", "old"))
    shared = np.array([[one.get(name, 0.0) for name in names] for one in told])
    rows = np.hstack([shared, (news * olds).sum(axis=1, keepdims=True), news * MEANT])
    changes = np.array([float(one.changes) for one in found])
    weight = np.array([1.0 if one.changes else WEIGHT.get(one.source, 1.0) for one in found])
    weight[changes == 1] *= weight[changes == 0].sum() / 2 / weight[changes == 1].sum()
    folds = np.array([int(sha256(one.group.encode()).hexdigest(), 16) % FOLDS for one in found])
    score = np.zeros(len(found))
    for fold in range(FOLDS):
        others = folds != fold
        fitted = fit(rows[others], changes[others], weight[others])
        score[~others] = rows[~others] @ fitted[:-1] + fitted[-1]
    quiet = np.array([one.source == "harmless" and not one.decided for one in found])
    likely = float(np.quantile(score[quiet], 1 - WRONG_MAX))
    _report(score, found, likely)
    fitted = fit(rows, changes, weight)
    meant = fitted[len(names) + 1 : -1] * MEANT
    written = {
        "space": embedder.space,
        "bias": round(float(fitted[-1]), 4),
        "likely": round(likely, 4),
        "cosine": round(float(fitted[len(names)]), 4),
        "traits": {
            name: round(float(one), 3)
            for name, one in zip(names, fitted[: len(names)], strict=True)
        },
        **small(meant),
    }
    WEIGHTS.write_text(json.dumps(written) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
