"""``python -m evaluation.learning.effects``: fit what tells that one statement changes another
(``standfast.lifecycle.effect``).

Changing are the last turns of the open ``pairs`` to what they change, the lines marked ``+`` in
``sets/effects.txt``, ``sets/sequels/open.txt`` and ``plain.txt`` to the statement above them, and
the pairs of lines in ``lives/changes.tsv``. Not changing are the open ``harmless`` follow-ups,
``sets/beside.jsonl``, the lines marked ``-``, all other pairs of lines of a life, and changes
beside statements of other cases. Nothing that is held back is used. Prints how well it tells them
apart in messages that it was not fitted on, and writes the weights.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.learning.cases import FOLDER, START, Case, SetName, load_all
from evaluation.learning.lives import FOLDER as LIVES
from evaluation.learning.matching import matches_any
from evaluation.learning.report import OPEN
from evaluation.learning.sequels import OPEN as SEQUELS_OPEN
from evaluation.learning.sequels import PLAIN, SEQUELS
from evaluation.running import embedder_named
from standfast.lifecycle.effect import SPACE, WEIGHTS, WORDS
from standfast.lifecycle.merge.changes import replaces
from standfast.lifecycle.merge.phrases import phrases
from standfast.lifecycle.merge.topic import Topic, told, topic_of
from standfast.lifecycle.merge.traits import traits
from standfast.ports import Embedder
from standfast.testing.reader import statements_in
from standfast.types import Message
from standfast.wiring.reader import boxed_reader

ROUNDS, STEP, SHRINK, FOLDS = 200, 0.06, 3.0, 8
OTHERS = 3  # statements of other cases beside each change
WRONG_MAX = {WEIGHTS: 0.05, WORDS: 0.025}  # of harmless messages that are taken for a change
DENIED_MAX = 0.01  # of changes that a rule sees, and that are taken for none
MEANT, PHRASED = 2.0, 4.0  # how much a number of a vector and a run of words count beside a trait
SEEN_MIN = 3  # messages that have a run of words
LIGHT = 0.02  # what a run of words weighs at least to be kept
WEIGHT = {"harmless": 1.5, "lives": 1.0, "others": 0.4}  # of what changes nothing; else 1


Vectors = NDArray[np.float64]


def small(weights: Vectors) -> dict[str, object]:
    """As whole numbers of a byte and what one of them counts."""
    scale = float(np.abs(weights).max()) / 127
    return {"scale": scale, "weights": [round(float(one) / scale) for one in weights]}


@dataclass(frozen=True)
class Pair:
    """``message``: what it is part of; one of its pairs is enough. ``group``: what is never on
    both sides of a fold."""

    new: str
    old: str
    author: str
    changes: bool
    source: str
    group: str
    message: str

    @cached_property
    def traits(self) -> dict[str, float]:
        return traits(*self._topics)

    @cached_property
    def phrases(self) -> frozenset[str]:
        return phrases(*self._topics)

    @property
    def _topics(self) -> tuple[Topic, Topic]:
        return told(self.new, self.author, ""), topic_of(self.old, self.author)

    @cached_property
    def decided(self) -> bool:
        return bool(replaces(self.new, self.author, self.old, self.author))


def statements_of(text: str, author: str, at: datetime) -> list[str]:
    """What a message says, as far as it is kept."""
    message = Message(
        id="m", scope="user:x", session="s", role="user", text=text, at=at, author=author
    )
    found = statements_in(boxed_reader(), [message])
    return list(dict.fromkeys(one.text for one in found if one.type != "user_request"))


def open_cases(name: SetName) -> Iterator[tuple[Case, list[str], list[str]]]:
    """Cases with what their first and last turn say."""
    for case in load_all(name):
        told = [turn for turn in case.turns if turn.role == "user"]
        if case.lang == "en" and (not case.later or case.half in OPEN) and len(told) > 1:
            olds = statements_of(told[0].text, case.author, told[0].at)
            yield case, olds, statements_of(told[-1].text, case.author, told[-1].at)


def _pairs(
    news: Sequence[str], olds: Sequence[str], author: str, changes: bool, source: str, group: str
) -> Iterator[Pair]:
    message = f"{group} {source} {changes} {' '.join(news)}"
    for new in news:
        yield from (Pair(new, old, author, changes, source, group, message) for old in olds)


def _of_cases() -> Iterator[Pair]:
    for case, olds, news in open_cases("pairs"):
        gone = [old for old in olds if matches_any(case.gone, old)]
        yield from _pairs(news, gone, case.author, True, "pairs", case.id)
    for case, olds, news in open_cases("harmless"):
        yield from _pairs(news, olds, case.author, False, "harmless", case.id)


def _of_lines(file: Path, source: str) -> Iterator[Pair]:
    """Told by somebody with a name and by somebody without, in turn."""
    olds: list[str] = []
    author, known = "", ""
    for line in file.read_text("utf-8").splitlines():
        mark, text = line[0], line[2:]
        if mark == "=":
            known, author = text, "" if author else "Ann"
            olds = statements_of(text, author, START)
            continue
        news = statements_of(text, author, START + timedelta(days=31))
        yield from _pairs(
            news, olds, author, mark == "+", source if mark == "+" else "harmless", known
        )


def _beside() -> Iterator[Pair]:
    for line in (FOLDER / "beside.jsonl").read_text("utf-8").splitlines():
        given = json.loads(line)
        known = given["known"]
        news = statements_of(given["said"], "", START + timedelta(days=2))
        yield from _pairs(news, statements_of(known, "", START), "", False, "harmless", known)


def marked_lives() -> Iterator[tuple[str, str, str, list[tuple[list[str], bool]]]]:
    """Of each line of an open life: whose it is, what is said, and what was said before it, with
    whether it changes that. ``~`` marks pairs of lines of which it may be said either way."""
    for row in (LIVES / "changes.tsv").read_text("utf-8").splitlines():
        name, _, listed = row.partition("\t")
        marks = {one.lstrip("~"): one[0] for one in listed.split()}
        who, *lines = (LIVES / f"{name}.txt").read_text("utf-8").splitlines()
        said: list[tuple[int, list[str]]] = []
        for number, line in enumerate(lines, 2):
            if line.startswith(">"):
                found = [(olds, marks.get(f"{before},{number}", "")) for before, olds in said]
                before = [(olds, bool(mark)) for olds, mark in found if mark != "~"]
                yield name, who, line[2:], before
                said.append((number, statements_of(line[2:], who, START)))


def _of_lives() -> Iterator[Pair]:
    for name, who, said, before in marked_lives():
        news = statements_of(said, who, START)
        for olds, changes in before:
            yield from _pairs(news, olds, who, changes, "lives", name)


def pairs() -> list[Pair]:
    """All that no guard holds back."""
    found = [
        *_of_cases(),
        *_of_lines(FOLDER / "effects.txt", "effects"),
        *_of_lines(SEQUELS / SEQUELS_OPEN, "sequels"),
        *_of_lines(SEQUELS / PLAIN, "sequels"),
        *_beside(),
    ]
    changing = [one for one in found if one.changes]
    for place, one in enumerate(changing):
        for step in range(1, OTHERS + 1):
            other = changing[(place + 37 * step) % len(changing)]
            if other.author == one.author and other.group != one.group:
                found += _pairs([one.new], [other.old], one.author, False, "others", one.group)
    return [one for one in dict.fromkeys([*found, *_of_lives()]) if one.traits]


@dataclass(frozen=True, slots=True)
class Rows:
    """A row for each pair: numbers, and the places of those runs of words that it has."""

    dense: Vectors
    starts: NDArray[np.int64]  # where the runs of each pair begin
    runs: NDArray[np.int64]
    each: Vectors  # what a run of a pair counts

    def of(self, chosen: Sequence[int]) -> Rows:
        parts = [slice(self.starts[row], self.starts[row + 1]) for row in chosen]
        sizes = [part.stop - part.start for part in parts]
        return Rows(
            self.dense[chosen],
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.concatenate([self.runs[part] for part in parts]),
            np.concatenate([self.each[part] for part in parts]),
        )

    def times(self, weights: Vectors, said: Vectors) -> Vectors:
        sums = np.concatenate([[0.0], np.cumsum(said[self.runs] * self.each)])
        found: Vectors = self.dense @ weights + sums[self.starts[1:]] - sums[self.starts[:-1]]
        return found

    def slopes(self, error: Vectors, many: int) -> tuple[Vectors, Vectors]:
        spread = np.repeat(error, np.diff(self.starts)) * self.each
        of_runs = np.bincount(self.runs, spread, minlength=many).astype(np.float64)
        return self.dense.T @ error, of_runs


def _rows(found: Sequence[Pair], dense: Vectors, names: Sequence[str]) -> Rows:
    places = {name: place for place, name in enumerate(names)}
    runs = [sorted(places[run] for run in one.phrases if run in places) for one in found]
    each = [
        np.full(len(held), PHRASED / math.sqrt(len(one.phrases)))
        for held, one in zip(runs, found, strict=True)
    ]
    return Rows(
        dense,
        np.concatenate([[0], np.cumsum([len(held) for held in runs])]).astype(np.int64),
        np.array([place for held in runs for place in held], dtype=np.int64),
        np.concatenate(each),
    )


def fit(rows: Rows, changes: Vectors, weight: Vectors, many: int) -> tuple[Vectors, Vectors]:
    """A logistic regression by steps that shrink (Adam); the last number of a row is one.
    ``many``: how many runs of words there are."""
    weights = [np.zeros(rows.dense.shape[1]), np.zeros(many)]
    mean, spread = ([np.zeros_like(one) for one in weights] for _ in range(2))
    for turn in range(1, ROUNDS + 1):
        guess = 1 / (1 + np.exp(-np.clip(rows.times(*weights), -30, 30)))
        slopes = rows.slopes((guess - changes) * weight / len(changes), many)
        step = STEP * (1 - turn / ROUNDS) + 1e-3
        for place, slope in enumerate(slopes):
            slope = slope + SHRINK * weights[place] / len(changes)
            mean[place] = 0.9 * mean[place] + 0.1 * slope
            spread[place] = 0.99 * spread[place] + 0.01 * slope**2
            moved = mean[place] / (1 - 0.9**turn)
            weights[place] -= step * moved / (np.sqrt(spread[place] / (1 - 0.99**turn)) + 1e-8)
    return weights[0], weights[1]


async def _embedded(embedder: Embedder, texts: Sequence[str]) -> dict[str, Vectors]:
    vectors = np.array(await embedder.embed(texts), dtype=np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return dict(zip(texts, vectors, strict=True))


@dataclass(frozen=True, slots=True)
class Judged:
    """A message, and the highest sum of its pairs."""

    source: str
    changes: bool
    decided: bool
    score: float


def _judged(score: Vectors, found: Sequence[Pair]) -> list[Judged]:
    messages: dict[str, list[int]] = {}
    for place, one in enumerate(found):
        messages.setdefault(one.message, []).append(place)
    return [
        Judged(
            found[places[0]].source,
            found[places[0]].changes,
            any(found[place].decided for place in places),
            float(score[places].max()),
        )
        for places in messages.values()
    ]


def _report(told_: Sequence[Judged], likely: float, least: float) -> None:
    for source in ("pairs", "effects", "sequels", "harmless", "lives", "others"):
        for changes in (True, False):
            of = [one for one in told_ if one.source == source and one.changes == changes]
            left = [one.score > likely for one in of if not one.decided]
            ruled = [one.score < least for one in of if one.decided]
            if of:
                kind = "changes" if changes else "changes nothing"
                print(
                    f"{source:9} {kind:16} {len(left):5} undecided, {np.mean(left):.1%} taken for"
                    f" one; {len(ruled):4} decided by rules, {np.mean(ruled or [False]):.1%} denied"
                )


def main() -> int:
    embedder = asyncio.run(embedder_named("auto", None, os.cpu_count() or 1))
    if embedder is None or embedder.space != SPACE:
        print("error: vectors that know no meaning tell nothing here", file=sys.stderr)
        return 2
    found = pairs()
    vectors = asyncio.run(
        _embedded(embedder, sorted({text for one in found for text in (one.new, one.old)}))
    )
    news, olds = (np.array([vectors[getattr(one, at)] for one in found]) for at in ("new", "old"))
    cosine = (news * olds).sum(axis=1, keepdims=True)
    print("by meaning and words")
    _fit_and_write(found, np.hstack([cosine, news * MEANT]), WEIGHTS)
    print("by words alone")
    _fit_and_write(found, np.zeros((len(found), 0)), WORDS)
    return 0


def _fit_and_write(found: Sequence[Pair], meant: Vectors, file: Path) -> None:
    """``meant``: the cosine of each pair and the vector of what is new, or nothing."""
    names = sorted({name for one in found for name in one.traits})
    seen = Counter(run for said in {one.new: one for one in found}.values() for run in said.phrases)
    runs = sorted(run for run, count in seen.items() if count >= SEEN_MIN)
    shared = np.array([[one.traits.get(name, 0.0) for name in names] for one in found])
    rows = _rows(found, np.hstack([shared, meant, np.ones((len(found), 1))]), runs)
    changes = np.array([float(one.changes) for one in found])
    weight = _weight(found)
    told_ = _judged(_unfitted(found, rows, changes, weight, len(runs)), found)
    quiet = [one.score for one in told_ if one.source == "harmless" and not one.decided]
    ruled = [one.score for one in told_ if one.changes and one.decided]
    likely = float(np.quantile(quiet, 1 - WRONG_MAX[file]))
    least = float(np.quantile(ruled, DENIED_MAX))
    _report(told_, likely, least)
    weights, said = fit(rows, changes, weight, len(runs))
    of_meaning = weights[len(names) : -1]
    written = {
        "bias": round(float(weights[-1]), 4),
        "likely": round(likely, 4),
        "least": round(least, 4),
        "cosine": round(float(of_meaning[0]), 4) if of_meaning.size else 0.0,
        "traits": {name: round(float(one), 3) for name, one in zip(names, weights, strict=False)},
        "phrases": {
            run: round(float(one) * PHRASED, 2)
            for run, one in zip(runs, said, strict=True)
            if abs(one) > LIGHT
        },
        **(small(of_meaning[1:] * MEANT) if of_meaning.size else {"scale": 1.0, "weights": []}),
    }
    file.write_text(json.dumps(written, ensure_ascii=False) + "\n", "utf-8")


def _unfitted(
    found: Sequence[Pair], rows: Rows, changes: Vectors, weight: Vectors, many: int
) -> Vectors:
    """The sum of each pair, by weights that were fitted without its group."""
    folds = np.array([int(sha256(one.group.encode()).hexdigest(), 16) % FOLDS for one in found])
    score = np.zeros(len(found))
    for fold in range(FOLDS):
        ours, theirs = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        fitted = fit(rows.of(ours.tolist()), changes[ours], weight[ours], many)
        score[theirs] = rows.of(theirs.tolist()).times(*fitted)
    return score


def _weight(found: Sequence[Pair]) -> Vectors:
    """A message of many pairs counts little more than one of few; changes as much as half of the
    rest."""
    many = Counter(one.message for one in found)
    weight = np.array(
        [
            (1.0 if one.changes else WEIGHT[one.source]) / math.sqrt(many[one.message])
            for one in found
        ]
    )
    changes = np.array([one.changes for one in found])
    weight[changes] *= weight[~changes].sum() / 2 / weight[changes].sum()
    weight /= weight.mean()
    return weight


if __name__ == "__main__":
    sys.exit(main())
