"""``python -m evaluation.learning.lasting``: fit what tells lasting statements from the rest.

Where no rule reads a sentence, its vector may still say that it is a lasting statement
(``standfast.upkeep.learn.endurance``). Lasting are the first statements of the open sets and what
the open lives must know; not lasting are the tricky turns, everyday turns without a fact, and
``sets/moments.txt``. Nothing that is held back is used. Prints how well it tells them apart in
sentences that it was not fitted on, and writes the weights.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from evaluation.learning.cases import FOLDER, SetName, load_all
from evaluation.learning.lives import BEGUN, lives
from evaluation.learning.report import OPEN
from evaluation.running import embedder_named
from standfast.text.claims import extract
from standfast.text.claims.permanence import may_last
from standfast.text.claims.sentences import plain, sentences
from standfast.text.claims.voice import own_words
from standfast.types import Message
from standfast.upkeep.learn.endurance import WEIGHTS

STATED: tuple[SetName, ...] = ("pairs", "corrections", "harmless")
ROUNDS, STEP, SHRINK, FOLDS = 500, 10.0, 3.0, 8
ASKED = 4.0  # how much more a sentence counts that no rule reads
WRONG_MAX = 0.08  # of the others among those that no rule reads
Vectors = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Said:
    """``asked``: no rule reads it, so that the vector is asked."""

    text: str
    lasts: bool
    group: str

    @property
    def asked(self) -> bool:
        message = Message(
            id="m",
            scope="user:x",
            session="s",
            role="user",
            text=self.text,
            at=BEGUN,
            author="Ann",
        )
        return may_last(self.text) and not extract([message]).lessons


def statements(text: str) -> list[str]:
    return [one.text for one in sentences(plain(own_words(text))) if not one.question]


def _open(name: SetName) -> Iterator[tuple[str, bool]]:
    """The first words of the user's in each open case, and whether a fact is in them."""
    for case in load_all(name):
        if case.lang == "en" and (not case.later or case.half in OPEN):
            told = [turn.text for turn in case.turns if turn.role == "user"]
            if len(told) == 1 or name in STATED:
                yield told[0], bool(case.believe or case.also)


def examples() -> list[Said]:
    found: list[Said] = []
    for name in (*STATED, "everyday"):
        for text, fact in _open(name):
            parts = statements(text)
            if len(parts) == 1 or not (fact or name in STATED):
                lasts = fact or name in STATED
                found += [Said(part, lasts, part) for part in parts]
    found += [Said(part, False, part) for text, _ in _open("tricky") for part in statements(text)]
    moments = (FOLDER / "moments.txt").read_text("utf-8").splitlines()
    found += [Said(line, False, line) for line in moments]
    for life in lives():
        lines = [text for _, said in life.sessions for role, text in said if role == "user"]
        for part in (part for line in lines for part in statements(line)):
            if any(re.search(form, part) for form in (*life.holds, *life.gone)):
                found.append(Said(part, True, life.name))
    return found


def fit(vectors: Vectors, lasts: Vectors, weight: Vectors) -> tuple[Vectors, float]:
    """A logistic regression; both sides count the same."""
    ours, theirs = (lasts * weight).mean(), ((1 - lasts) * weight).mean()
    weight = weight * np.where(lasts > 0, 0.5 / ours, 0.5 / theirs)
    weights, bias = np.zeros(vectors.shape[1]), 0.0
    for _ in range(ROUNDS):
        error = (1 / (1 + np.exp(-(vectors @ weights + bias))) - lasts) * weight
        weights -= STEP * (vectors.T @ error + weights / SHRINK) / len(lasts)
        bias -= STEP * error.mean()
    return weights, bias


def small(weights: Vectors) -> dict[str, object]:
    """As whole numbers of a byte and what one of them counts."""
    scale = float(np.abs(weights).max()) / 127
    return {"scale": scale, "weights": [round(float(one) / scale) for one in weights]}


def main() -> int:
    embedder = asyncio.run(embedder_named("auto", None, os.cpu_count() or 1))
    if embedder is None or embedder.space.startswith("hashing"):
        print("error: vectors that know no meaning tell nothing here", file=sys.stderr)
        return 2
    said = examples()
    vectors = np.array(asyncio.run(embedder.embed([one.text for one in said])), dtype=np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    lasts = np.array([float(one.lasts) for one in said])
    asked = np.array([one.asked for one in said])
    weight = np.where(asked, ASKED, 1.0)
    folds = np.array([int(sha256(one.group.encode()).hexdigest(), 16) % FOLDS for one in said])
    score = np.zeros(len(said))
    for fold in range(FOLDS):
        others = folds != fold
        weights, bias = fit(vectors[others], lasts[others], weight[others])
        score[~others] = vectors[~others] @ weights + bias
    known, rest = score[asked & (lasts > 0)], score[asked & (lasts == 0)]
    least = float(np.quantile(rest, 1 - WRONG_MAX))
    print(
        f"{len(said):,} sentences, {len(known)} lasting and {len(rest)} others that no rule reads;"
        f" of those {np.mean(known > least):.0%} and {np.mean(rest > least):.0%} are kept"
    )
    weights, bias = fit(vectors, lasts, weight)
    written = {
        "space": embedder.space,
        "bias": round(float(bias), 4),
        "least": round(least, 4),
        **small(weights),
    }
    WEIGHTS.write_text(json.dumps(written) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
