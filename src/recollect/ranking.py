"""Ranking: a tuple of pure stages from raw scores to one score, each saying what it did.

A profile names its stages. ``fuse`` is ours; ``cosine`` is Otto's, ``bre`` OpenMotoko's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.lexical import terms
from recollect.profiles import Profile
from recollect.scopes import root_of
from recollect.types import Hit, Why

SECONDS_PER_DAY = 86_400.0

Hits = tuple[Hit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The question and the moment of asking."""

    text: str
    now: datetime
    profile: Profile
    embedder: str = ""  # family of the vectors compared, such as "hashing"; "" = none
    threshold: float | None = None


Stage = Callable[[Hits, Asked], Hits]


def rank(hits: Iterable[Hit], asked: Asked) -> Hits:
    """All stages of the profile, best first."""
    ranked = _without_noise(hits, asked)
    for name in asked.profile.stages:
        ranked = STAGES[name](ranked, asked)
    return tuple(sorted(ranked, key=order))


def _without_noise(hits: Iterable[Hit], asked: Asked) -> Hits:
    """A hit has a word or a tag in common with the query, or means something like it."""
    if not asked.text.strip():
        return tuple(hits)
    floors = asked.profile.similarity_floor
    floor = floors.get(asked.embedder, floors[""])
    asked_terms = _terms_of_query(asked)
    return tuple(
        hit
        for hit in hits
        if hit.keyword > 0
        or (hit.similarity is not None and hit.similarity >= floor)
        or _tag_asked_for(hit, asked_terms)
    )


def order(hit: Hit) -> tuple[float, float, str]:
    """Best first; of equals the more recent."""
    return (-hit.score, -hit.record.at.timestamp(), hit.record.id)


def above_threshold(hits: Hits, asked: Asked) -> Hits:
    least = asked.profile.threshold if asked.threshold is None else asked.threshold
    if not asked.text.strip():
        return hits
    return tuple(hit for hit in hits if hit.score >= least)


def fuse(hits: Hits, asked: Asked) -> Hits:
    """A weighted sum of both arms. Inside a root each arm is measured against its best hit,
    which keeps a weak arm comparable; the whole is then scaled to the best calibrated
    relevance there, so that scores mean the same in every answer and a poor best stays poor.
    """
    by_root: dict[str, list[Hit]] = {}
    for hit in hits:
        by_root.setdefault(root_of(hit.record.scope), []).append(hit)
    return tuple(fused for group in by_root.values() for fused in _fuse_root(group, asked))


def _fuse_root(hits: list[Hit], asked: Asked) -> Iterable[Hit]:
    best_word = max((hit.keyword for hit in hits), default=0.0)
    best_meaning = max((hit.similarity or 0.0 for hit in hits), default=0.0)
    share = _similarity_share(asked, best_word, best_meaning)
    level = max(
        share * max(hit.similarity or 0.0, 0.0) + (1 - share) * hit.coverage for hit in hits
    )
    for hit in hits:
        meaning = max(hit.similarity or 0.0, 0.0) / best_meaning if best_meaning > 0 else 0.0
        word = hit.keyword / best_word if best_word > 0 else 0.0
        by_meaning, by_word = level * share * meaning, level * (1 - share) * word
        yield _with(
            hit,
            by_meaning + by_word,
            Why(stage="similarity", value=by_meaning, detail=_cosine_text(hit)),
            Why(stage="keyword", value=by_word, detail=f"bm25 {hit.keyword:.2f}"),
        )


def _similarity_share(asked: Asked, best_word: float, best_meaning: float) -> float:
    if best_meaning <= 0:
        return 0.0
    if best_word <= 0:
        return 1.0
    weights = asked.profile.similarity_weight
    return weights.get(asked.embedder, weights[""])


def cosine(hits: Hits, asked: Asked) -> Hits:  # noqa: ARG001 - every stage has this shape
    """Otto: the similarity itself; without vectors the share of the query's words found."""
    return tuple(
        _with(hit, _meaning(hit), Why(stage="cosine", value=_meaning(hit), detail=_arm(hit)))
        for hit in hits
    )


def bre(hits: Hits, asked: Asked) -> Hits:
    """OpenMotoko: dot product minus a share of the magnitude. Stored vectors have length 1,
    so the penalty is the same for all and only lowers the score."""
    penalty = asked.profile.magnitude_penalty
    return tuple(
        _with(
            hit,
            _meaning(hit) - penalty,
            Why(stage="dot", value=_meaning(hit), detail=_arm(hit)),
            Why(stage="magnitude", value=-penalty),
        )
        for hit in hits
    )


def tag_boost(hits: Hits, asked: Asked) -> Hits:
    """A record one of whose tags appears in the query."""
    boost = asked.profile.tag_boost
    asked_terms = _terms_of_query(asked)

    def boosted(hit: Hit) -> Hit:
        tag = _tag_asked_for(hit, asked_terms)
        if not tag:
            return hit
        return _with(hit, hit.score + boost, Why(stage="tag", value=boost, detail=tag))

    return tuple(boosted(hit) for hit in hits)


def _terms_of_query(asked: Asked) -> frozenset[str]:
    return frozenset(terms(asked.text))


def _tag_asked_for(hit: Hit, asked_terms: frozenset[str]) -> str:
    for tag in hit.record.tags:
        tag_terms = terms(tag)
        if tag_terms and asked_terms.issuperset(tag_terms):
            return tag
    return ""


def importance(hits: Hits, asked: Asked) -> Hits:  # noqa: ARG001
    """Up to a tenth more or less; the middle changes nothing."""

    def weighed(hit: Hit) -> Hit:
        change = hit.score * 0.2 * (hit.record.importance - 0.5)
        if not change:
            return hit
        detail = f"{hit.record.importance:.2f}"
        return _with(hit, hit.score + change, Why(stage="importance", value=change, detail=detail))

    return tuple(weighed(hit) for hit in hits)


def decay(hits: Hits, asked: Asked) -> Hits:
    """Older counts less, down to a floor; core memories do not fade."""

    def faded(hit: Hit) -> Hit:
        rule = asked.profile.decay[hit.record.durability]
        days = max((asked.now - hit.record.at).total_seconds() / SECONDS_PER_DAY, 0.0)
        kept = rule.floor + (1 - rule.floor) * 0.5 ** (days / rule.half_life_days)
        change = hit.score * (kept - 1)
        if abs(change) < 0.0005:
            return hit
        detail = f"{days:.0f} days, {hit.record.durability}"
        return _with(hit, hit.score + change, Why(stage="decay", value=change, detail=detail))

    return tuple(faded(hit) for hit in hits)


def drop_copies(hits: Hits, asked: Asked) -> Hits:  # noqa: ARG001
    """Of copies in several scopes (same origin) and of equal texts, only the best stays."""
    kept: list[Hit] = []
    seen: set[str] = set()
    for hit in sorted(hits, key=order):
        keys = {key for key in (hit.record.origin, hit.record.hash) if key}
        if not keys & seen:
            kept.append(hit)
        seen |= keys
    return tuple(kept)


def related(hit: Hit, source: Hit, kind: str, asked: Asked) -> Hit:
    """A record that came along with a better one through a relation."""
    value = source.score * asked.profile.related_share
    detail = f"{kind} {source.record.id}"
    return replace(hit, score=value, why=(Why(stage="related", value=value, detail=detail),))


def _with(hit: Hit, score: float, *why: Why) -> Hit:
    return replace(hit, score=score, why=(*hit.why, *why))


def _meaning(hit: Hit) -> float:
    return hit.coverage if hit.similarity is None else hit.similarity


def _arm(hit: Hit) -> str:
    return "words, no vector" if hit.similarity is None else ""


def _cosine_text(hit: Hit) -> str:
    return "no vector" if hit.similarity is None else f"cosine {hit.similarity:.3f}"


STAGES: Mapping[str, Stage] = {
    "fuse": fuse,
    "cosine": cosine,
    "bre": bre,
    "tag_boost": tag_boost,
    "importance": importance,
    "decay": decay,
    "drop_copies": drop_copies,
}
