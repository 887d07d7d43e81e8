"""Measures of one ranking, their means, and how sure the means are."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from evaluation.asking import Outcome

SURE = 1.96  # standard deviations: 95 %
ROUNDS = 2000
SEED = 7
ALL = "all"

TURN, SESSION = "turn", "session"
Ranking = Sequence[str]
Measure = Callable[[Ranking, frozenset[str]], float]


def recall(k: int, ranked: Ranking, gold: frozenset[str]) -> float:
    """The share of the evidence in the first k."""
    return len(gold & set(ranked[:k])) / len(gold)


def any_of(k: int, ranked: Ranking, gold: frozenset[str]) -> float:
    return float(bool(gold & set(ranked[:k])))


def all_of(k: int, ranked: Ranking, gold: frozenset[str]) -> float:
    return float(gold <= set(ranked[:k]))


MEASURES: Mapping[str, Measure] = {
    "recall@5": partial(recall, 5),
    "recall@10": partial(recall, 10),
    "any@5": partial(any_of, 5),
    "all@5": partial(all_of, 5),
}


def measured(outcome: Outcome) -> dict[str, float]:
    """ "turn recall@5" and so on; a level without known evidence is left out."""
    levels = {
        TURN: (outcome.ranked, frozenset(outcome.gold)),
        SESSION: (outcome.sessions, frozenset(outcome.gold_sessions)),
    }
    return {
        f"{level} {name}": measure(ranked, gold)
        for level, (ranked, gold) in levels.items()
        if gold
        for name, measure in MEASURES.items()
    }


@dataclass(frozen=True, slots=True)
class Score:
    """A mean with its 95 % interval."""

    mean: float
    low: float
    high: float
    count: int

    def __str__(self) -> str:
        return f"{100 * self.mean:.1f} [{100 * self.low:.1f}-{100 * self.high:.1f}]"


def score(values: Sequence[float]) -> Score:
    """Wilson's interval where every value is 0 or 1, else a bootstrap."""
    mean = math.fsum(values) / len(values)
    low, high = _wilson(mean, len(values)) if set(values) <= {0.0, 1.0} else _bootstrap(values)
    return Score(mean, low, high, len(values))


def difference(ours: Sequence[float], theirs: Sequence[float]) -> Score:
    """Of paired values: mean(ours - theirs) and its interval."""
    gaps = [one - other for one, other in zip(ours, theirs, strict=True)]
    return Score(math.fsum(gaps) / len(gaps), *_bootstrap(gaps), len(gaps))


def _wilson(share: float, count: int) -> tuple[float, float]:
    z = SURE * SURE / count
    middle = (share + z / 2) / (1 + z)
    half = SURE / (1 + z) * math.sqrt(share * (1 - share) / count + z / (4 * count))
    return max(middle - half, 0.0), min(middle + half, 1.0)


def _bootstrap(values: Sequence[float]) -> tuple[float, float]:
    rng = np.random.default_rng(SEED)
    row = np.asarray(values)
    means = np.array([row[rng.integers(0, len(row), len(row))].mean() for _ in range(ROUNDS)])
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


Values = dict[str, dict[str, float]]  # question -> measure -> value


@dataclass(frozen=True, slots=True)
class Row:
    """One category, or all."""

    category: str
    scores: Mapping[str, Score]


@dataclass(frozen=True, slots=True)
class Summary:
    """One system on one set."""

    system: str
    rows: Sequence[Row]
    values: Values
    ms_median: float
    ms_p95: float

    @property
    def whole(self) -> Row:
        return self.rows[0]


def summarise(system: str, outcomes: Sequence[Outcome]) -> Summary:
    values = {outcome.question: measured(outcome) for outcome in outcomes}
    by_category: dict[str, list[str]] = {ALL: list(values)}
    for outcome in sorted(outcomes, key=lambda one: one.category):
        by_category.setdefault(outcome.category, []).append(outcome.question)
    if len(by_category) == 2:
        by_category = {ALL: by_category[ALL]}
    rows = [_row(category, values, ids) for category, ids in by_category.items()]
    times = sorted(outcome.ms for outcome in outcomes)
    return Summary(
        system, rows, values, times[len(times) // 2], times[math.ceil(0.95 * len(times)) - 1]
    )


def _row(category: str, values: Values, ids: Sequence[str]) -> Row:
    names = dict.fromkeys(name for id_ in ids for name in values[id_])
    return Row(
        category,
        {name: score([values[id_][name] for id_ in ids if name in values[id_]]) for name in names},
    )


def compare(ours: Summary, theirs: Summary) -> dict[str, Score]:
    """Per measure, over the questions that both answered."""
    return {
        name: difference(
            [found[name] for id_, found in ours.values.items() if name in found],
            [theirs.values[id_][name] for id_, found in ours.values.items() if name in found],
        )
        for name in ours.whole.scores
    }
