"""Questions of teachers about fairy tales, each with the sentence that answers it."""

from __future__ import annotations

import csv
import io
import random
import re
from collections.abc import Iterator, Mapping, Sequence

from training.invented.people import NAMES
from training.sources.mirror import Mirror, Pin
from training.sources.sentences import sentences
from training.stores import Asked, Place, Session, Store, joined, voiced

TALES = Pin("uci-soe/FairytaleQAData", "a24ddc17364666b7c13a425b9970c87368b03417", "Apache-2.0")
FOLDER = "data-by-train-split"
TURNS = 140
ASKED_SHARE = 0.5  # what a word of the question counts beside one of the answer

_WORD = re.compile(r"[a-z']+")
_COMMON = frozenset(
    "a an and are as at be but by did do does for from had has have he her him his how in is it "
    "its of on or she so that the their them they this to was were what when where which who whom "
    "why will with would".split()
)


def tales(mirror: Mirror, rng: random.Random) -> Iterator[Store]:
    """The answer is known with its section; the sentence is the one that shares most words with
    answer and question. Answers that have to be concluded are left out."""
    sessions: list[Session] = []
    for path in mirror.paths(TALES, rf"{FOLDER}/questions/(train|val|test)/.*\.csv"):
        story = path.replace("/questions/", "/section-stories/").replace("-questions", "-story")
        sections = {row["section"]: row["text"] for row in _table(mirror.text(TALES, story))}
        sessions += _sessions(sections, _table(mirror.text(TALES, path)), rng)
    return joined("tales", sessions, TURNS)


def _table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def _sessions(
    sections: Mapping[str, str], questions: Sequence[Mapping[str, str]], rng: random.Random
) -> Iterator[Session]:
    for number, text in sections.items():
        parts = [part for _, part in sentences(" ".join(text.split()))]
        if len(parts) < 2:
            continue
        asked = [
            Asked(row["question"], [Place(0, _best(parts, row["answer1"], row["question"]))])
            for row in questions
            if row["cor_section"] == number and row["ex-or-im1"] == "explicit"
        ]
        yield Session(voiced(parts, NAMES, rng), asked)


def _best(parts: Sequence[str], answer: str, question: str) -> int:
    wanted, hint = _words(answer), _words(question)
    scores = [len(wanted & words) + ASKED_SHARE * len(hint & words) for words in map(_words, parts)]
    return scores.index(max(scores))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower())) - _COMMON
