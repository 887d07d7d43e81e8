"""The simple retrievers that standfast must beat, on the same messages and the same vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evaluation.cases import Case, Question
from standfast.ports import Embedder
from standfast.text.analysis import is_stop_word, terms, words

K1, B = 1.2, 0.75
BM25, VECTORS, SUM = "BM25 alone", "vectors alone", "weighted sum"
MEANING_SHARE = 0.5  # of the weighted sum

Scores = NDArray[np.float64]


class Bm25:
    """Every message with its speaker, by the same analyser as standfast's."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._postings: dict[str, list[tuple[int, int]]] = {}
        lengths = np.zeros(len(texts))
        for place, text in enumerate(texts):
            counts = Counter(content_terms(text))
            lengths[place] = sum(counts.values())
            for term, count in counts.items():
                self._postings.setdefault(term, []).append((place, count))
        self._norms = K1 * (1 - B + B * lengths / max(lengths.mean(), 1e-9))
        self._count = len(texts)

    def scores(self, query: str) -> Scores:
        found = np.zeros(self._count)
        for term in set(content_terms(query)):
            postings = self._postings.get(term, [])
            rarity = np.log(1 + (self._count - len(postings) + 0.5) / (len(postings) + 0.5))
            for place, count in postings:
                found[place] += rarity * count * (K1 + 1) / (count + self._norms[place])
        return found


def content_terms(text: str) -> list[str]:
    """Stems without stop words, unless there are only those."""
    found = list(words(text))
    kept = [word for word in found if not is_stop_word(word.replace("'", ""))]
    return [term for word in kept or found for term in terms(word)]


class Baselines:
    """All of them for one case; without an embedder only BM25."""

    def __init__(self, case: Case, embedder: Embedder | None) -> None:
        self._ids = np.array([said.id for said in case.messages], dtype=object)
        self._texts = [said.spoken for said in case.messages]
        self._words = Bm25(self._texts)
        self._embedder = embedder
        self._matrix: NDArray[np.float32] | None = None

    async def rank(self, question: Question, k: int) -> Mapping[str, Sequence[str]]:
        words = self._words.scores(question.text)
        scores = {BM25: words}
        if self._embedder is not None:
            meanings = await self._meanings(question.text, self._embedder)
            scores[VECTORS] = meanings
            parts = (1 - MEANING_SHARE) * _scaled(words), MEANING_SHARE * _scaled(meanings)
            scores[SUM] = parts[0] + parts[1]
        return {name: self._best(found, k) for name, found in scores.items()}

    async def _meanings(self, query: str, embedder: Embedder) -> Scores:
        if self._matrix is None:
            self._matrix = np.asarray(await embedder.embed(self._texts), dtype=np.float32)
        (vector,) = await embedder.embed([query])
        product: Scores = (self._matrix @ np.asarray(vector, dtype=np.float32)).astype(np.float64)
        return product

    def _best(self, scores: Scores, k: int) -> list[str]:
        order = np.argsort(-scores, kind="stable")[:k]
        return [str(self._ids[place]) for place in order]


def _scaled(scores: Scores) -> Scores:
    low, high = float(np.min(scores)), float(np.max(scores))
    return (scores - low) / (high - low) if high > low else np.zeros_like(scores)
