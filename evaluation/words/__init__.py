"""Are memories found by their words alone? BM25 as every store computes it, without vectors.

``python -m evaluation.words`` asks the questions of ``questions.txt``, whose words stand in another
form than in what was said: another case, tense or particle, an accent left out, two words as one.
All thirteen languages are in one store. ``python -m evaluation.words FILE...`` asks those of other
files of pairs (``training/languages``), each language beside the English memories there.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from math import inf
from pathlib import Path
from typing import NamedTuple

from standfast.text.analysis import bm25, document_terms, length_of, search_terms, total, weights

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "pl", "tr", "ru", "zh", "ja", "ko")
QUESTIONS = Path(__file__).with_name("questions.txt")


class Question(NamedTuple):
    language: str
    said: str
    asked: str


def questions() -> list[Question]:
    lines = QUESTIONS.read_text("utf-8").splitlines()
    return [Question(*line.split(" | ")) for line in lines if not line.startswith("#")]


def pairs(paths: Iterable[Path]) -> list[Question]:
    """Memories with the question in their own language."""
    rows = (json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines())
    return [Question(row["lang"], row["memory"], row["same"]) for row in rows]


def ranks(asked: Sequence[Question], language: str, beside: Iterable[str] = ()) -> list[float]:
    """The place of what each question of a language asks for, among all that was said in these
    languages (all, if none is named); ``inf`` if it has no word of the question."""
    among = set(beside)
    told = [one for one in asked if not among or one.language in {language, *among}]
    texts = _Texts([one.said for one in told])
    return [
        texts.rank(place, one.asked) for place, one in enumerate(told) if one.language == language
    ]


class _Texts:
    def __init__(self, texts: Sequence[str]) -> None:
        terms = [document_terms(text, "") for text in texts]
        self._lengths = [length_of(one) for one in terms]
        self._average = total(self._lengths) / len(texts)
        self._holding: defaultdict[str, dict[int, int]] = defaultdict(dict)
        for place, one in enumerate(terms):
            for term, count in Counter(one).items():
                self._holding[term][place] = count

    def _scores(self, query: str) -> dict[int, float]:
        terms = search_terms(query)
        held = [self._holding.get(term, {}) for term in terms]
        found: defaultdict[int, float] = defaultdict(float)
        for weight, places in zip(
            weights(terms, len(self._lengths), [len(one) for one in held]), held, strict=True
        ):
            for place, count in places.items():
                found[place] += bm25(weight, count, self._lengths[place], self._average)
        return found

    def rank(self, place: int, query: str) -> float:
        """Of equal ones in the middle."""
        scores = self._scores(query)
        own = scores.get(place, 0.0)
        if not own:
            return inf
        equal = sum(one == own for one in scores.values())
        return sum(one > own for one in scores.values()) + (equal + 1) / 2


def share(found: Sequence[float], k: int) -> float:
    """R@k, in percent."""
    return 100 * sum(rank <= k for rank in found) / len(found)
