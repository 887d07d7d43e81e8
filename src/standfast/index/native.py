"""Scores from what an engine found by itself.

An engine knows candidates, how common a word is, and who stands beside a turn. The scores that
everybody compares follow from that here, by the same formulas as over the arrays of an exact
store: so a hit's scores are right, and only which records are hits may differ a little.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from standfast.index.filters import check_asked, passes
from standfast.index.neighbours import AFTER, BEFORE, Around, around, share, usual_length
from standfast.index.spread import Spread
from standfast.ports import NativeArms, NativeHit, NativeHits, NativeSearch
from standfast.text import analysis
from standfast.types import Hit, Record, Search
from standfast.types.frozen import frozen

# A turn beside a hit is a candidate too, and has neighbours itself.
WORDS_KEPT = 5000  # texts
REACH = len(BEFORE) + max(len(BEFORE), len(AFTER))


async def search(engine: NativeSearch, asked: Search) -> list[Hit]:
    """``standfast.ports.Store.search`` of a store whose engine searches by itself."""
    if not check_asked(asked) or not (asked.text or asked.vector is not None):
        return []
    terms = analysis.search_terms(asked.text)
    arms = await engine.arms(asked, terms)
    talks: Mapping[str, Sequence[NativeHit]] = {}
    if asked.around:
        found = {hit.record.id: hit.record for hit in (*arms.by_word, *arms.by_meaning)}
        turns = [id_ for id_, one in found.items() if one.type == "turn" and one.session]
        talks = await engine.turns(asked, turns, REACH) if turns else {}
    return NativeHits(hits_of(arms, talks, asked, terms))


def hits_of(
    arms: NativeArms,
    talks: Mapping[str, Sequence[NativeHit]],
    asked: Search,
    terms: Sequence[str],
) -> list[Hit]:
    """The best of both arms, every hit with all scores. What the engine should not have found is
    no hit: a filter, and above all a scope, does not depend on the engine."""
    scorer = _NativeScorer(arms, talks.values(), asked, terms)
    worded = [hit.record.id for hit in arms.by_word if passes(hit.record, asked.where)]
    by_word = _best(worded, lambda id_: scorer.keyword(id_) or None, asked)
    if asked.around:
        by_word = _best(
            scorer.with_neighbours(by_word), lambda id_: scorer.keyword_around(id_) or None, asked
        )
    near = {
        hit.record.id: hit.similarity
        for hit in arms.by_meaning
        if hit.similarity is not None
        and hit.similarity > asked.similar_above
        and passes(hit.record, asked.where)
    }
    by_meaning = _best(near, near.get, asked)
    hits = [scorer.hit(id_) for id_ in dict.fromkeys((*by_word, *by_meaning))]
    return sorted(hits, key=_rank)


def _best(ids: Iterable[str], score: Callable[[str], float | None], asked: Search) -> list[str]:
    scored = [(-value, id_) for id_ in dict.fromkeys(ids) if (value := score(id_)) is not None]
    return [id_ for _, id_ in sorted(scored)[: asked.limit]]


def _rank(hit: Hit) -> tuple[float, float, str]:
    similarity = -2.0 if hit.similarity is None else hit.similarity
    return -hit.keyword, -similarity, hit.record.id


def _spread(arms: NativeArms) -> Spread:
    """That of all, taken from the sample: the mean and the squares of as many."""
    if not arms.sample:
        return Spread.of(0, 0.0, 0.0)
    scale = max(arms.documents, len(arms.sample)) / len(arms.sample)
    squares = sum(one * one for one in arms.sample)
    return Spread.of(round(scale * len(arms.sample)), scale * sum(arms.sample), scale * squares)


@lru_cache(maxsize=WORDS_KEPT)
def _words_of(text: str, author: str) -> tuple[Mapping[str, int], int]:
    """A text's words with their number, and its length: a conversation is asked about again and
    again, and cutting its turns into words takes most of the time of an answer."""
    found = analysis.document_terms(text, author)
    return Counter(found), analysis.length_of(found)


class _Counted(NamedTuple):
    """A record with its words."""

    record: Record
    similarity: float | None
    counts: Mapping[str, int]
    length: int


@frozen(kw_only=False)
class _Talk:
    """Where a turn stands in a conversation, as far as it was read."""

    turns: Sequence[str]
    place: int

    @property
    def room(self) -> int:
        return min(self.place, len(BEFORE)) + min(len(self.turns) - self.place - 1, len(AFTER))


class _NativeScorer:
    def __init__(
        self,
        arms: NativeArms,
        talks: Iterable[Sequence[NativeHit]],
        asked: Search,
        terms: Sequence[str],
    ) -> None:
        self._asked = asked
        containing = [arms.frequencies.get(term, 0) for term in terms]
        weights = analysis.weights(terms, arms.documents, containing)
        self._weights = dict(zip(terms, weights, strict=True))
        self._average = arms.words / arms.documents if arms.documents else 0.0
        self._spread = _spread(arms)
        self._counted: dict[str, _Counted] = {}
        self._talks: dict[str, _Talk] = {}
        self._known_around: dict[str, Around] = {}
        for talk in talks:
            self._read(talk)
        for hit in (*arms.by_word, *arms.by_meaning):
            self._count(hit)

    def _read(self, talk: Sequence[NativeHit]) -> None:
        """Of several readings of one conversation the one counts that shows more around a turn."""
        ids = [self._count(hit) for hit in talk]
        for place, id_ in enumerate(ids):
            found = _Talk(ids, place)
            if id_ not in self._talks or self._talks[id_].room < found.room:
                self._talks[id_] = found

    def _count(self, hit: NativeHit) -> str:
        id_ = hit.record.id
        if id_ not in self._counted:
            counts, length = _words_of(hit.record.text, hit.record.author)
            self._counted[id_] = _Counted(hit.record, hit.similarity, counts, length)
        return id_

    def _around(self, id_: str) -> Around:
        found = self._known_around.get(id_)
        if found is None:
            found = self._known_around[id_] = self._looked_around(id_)
        return found

    def _looked_around(self, id_: str) -> Around:
        talk = self._talks.get(id_)
        if talk is None:
            return Around()
        first = max(0, talk.place - len(BEFORE))
        turns = talk.turns[first : talk.place + len(AFTER) + 1]
        found = around([self._counted[one].record for one in turns], talk.place - first)
        return Around(*([(weight, first + at) for weight, at in side] for side in found))

    def _placed(self, id_: str, places: Sequence[tuple[float, int]]) -> list[tuple[float, str]]:
        return [(weight, self._talks[id_].turns[place]) for weight, place in places]

    def with_neighbours(self, ids: Sequence[str]) -> list[str]:
        """These records and every turn that has one of them as a neighbour and passes."""
        chosen = set(ids)
        beside = [
            id_
            for id_ in self._talks
            if passes(self._counted[id_].record, self._asked.where)
            and any(other in chosen for _, other in self._placed(id_, self._around(id_).places))
        ]
        return [*ids, *beside]

    def keyword(self, id_: str) -> float:
        one = self._counted[id_]
        return self._bm25(one.counts, one.length, self._average)

    def keyword_around(self, id_: str) -> float:
        one = self._counted[id_]
        counts: dict[str, float] = {term: one.counts.get(term, 0) for term in self._weights}
        length: float = one.length
        places = self._placed(id_, self._around(id_).places)
        for weight, other_id in places:
            other = self._counted[other_id]
            part = share(weight, other.length)
            length += part * other.length
            for term in counts:
                counts[term] += part * other.counts.get(term, 0)
        weights = analysis.total(weight for weight, _ in places)
        return self._bm25(counts, length, usual_length(self._average, weights))

    def _lift_around(self, id_: str) -> float | None:
        one = self._counted[id_]
        if one.similarity is None:
            return None
        similar, weights = one.similarity, 1.0
        for weight, other_id in self._placed(id_, self._around(id_).places):
            other = self._counted[other_id]
            if other.similarity is not None:
                part = share(weight, other.length)
                similar += part * other.similarity
                weights += part
        return self._spread.lift(similar / weights)

    def hit(self, id_: str) -> Hit:
        one, asks = self._counted[id_], self._asked.around
        held = [weight for term, weight in self._weights.items() if one.counts.get(term)]
        total = analysis.total(self._weights.values())
        before = self._placed(id_, self._around(id_).before[:1]) if asks else []
        return Hit(
            record=one.record,
            similarity=one.similarity,
            keyword=self.keyword(id_),
            coverage=analysis.total(held) / total if total else 0.0,
            lift=None if one.similarity is None else self._spread.lift(one.similarity),
            keyword_around=self.keyword_around(id_) if asks else 0.0,
            lift_around=self._lift_around(id_) if asks else None,
            after_question=any(
                analysis.QUESTION in self._counted[other].counts for _, other in before
            ),
        )

    def _bm25(self, counts: Mapping[str, float], length: float, average: float) -> float:
        return analysis.total(
            analysis.bm25(weight, counts[term], length, average)
            for term, weight in self._weights.items()
            if counts.get(term)
        )
