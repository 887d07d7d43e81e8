"""Rows for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evaluation.scores import MEASURES, SESSION, TURN, Score, Summary, compare

LABEL, CELL = 26, 27


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything found on one set."""

    name: str
    ours: Summary
    baselines: Sequence[Summary]
    variants: Sequence[Summary]
    messages: int
    stores: int
    k: int
    setting: str  # "minilm/384, default"
    has_sessions: bool

    @property
    def levels(self) -> Sequence[str]:
        return (TURN, SESSION) if self.has_sessions else (TURN,)


def render(found: Measured) -> str:
    return "\n".join(_lines(found))


def _lines(found: Measured) -> Iterator[str]:
    ours = found.ours
    yield (
        f"== {found.name}: {len(ours.values):,} questions, {found.messages:,} messages in "
        f"{found.stores:,} stores; {found.setting}; {found.k} memories asked for; recall took "
        f"{ours.ms_median:.1f} ms (median), {ours.ms_p95:.1f} ms (p95), the question's vector given"
    )
    for level in found.levels:
        yield from _table(level, ours)
    if found.baselines:
        yield "standfast beside the simple retrievers, paired: theirs, then the gain [95 %]"
        yield from _beside(found)
    if found.variants:
        yield "variants, paired: what the change adds to standfast [95 %], then ms (median)"
        yield from _variants(found)


def _table(level: str, summary: Summary) -> Iterator[str]:
    yield _row(f"{level}s", ["n", *MEASURES])
    for row in summary.rows:
        scores = [row.scores.get(f"{level} {name}") for name in MEASURES]
        if any(scores):
            count = next(score.count for score in scores if score)
            yield _row(
                row.category, [f"{count:,}", *("-" if s is None else str(s) for s in scores)]
            )


def _beside(found: Measured) -> Iterator[str]:
    names = [f"{level} {name}" for level in found.levels for name in MEASURES]
    best = {name: max(_mean(one, name) for one in found.baselines) for name in names}
    for level in found.levels:
        yield _row(f"{level}s", MEASURES)
        for one in found.baselines:
            gains = compare(found.ours, one)
            cells = [
                _gain(
                    _mean(one, f"{level} {name}"), gains.get(f"{level} {name}"), best, level, name
                )
                for name in MEASURES
            ]
            yield _row(one.system, cells)


def _gain(mean: float, gain: Score | None, best: Mapping[str, float], level: str, name: str) -> str:
    if gain is None:
        return "-"
    star = "*" if mean == best[f"{level} {name}"] else ""
    return f"{100 * mean:.1f}{star} {signed(gain)}"


def _variants(found: Measured) -> Iterator[str]:
    for level in found.levels:
        yield _row(f"{level}s", [*MEASURES, "ms"])
        for one in found.variants:
            gains = compare(one, found.ours)
            cells = [signed(gains[f"{level} {name}"]) for name in MEASURES]
            ms = f"{one.ms_median:.1f} ({one.ms_median - found.ours.ms_median:+.1f})"
            yield _row(one.system, [*cells, ms])


def _mean(summary: Summary, name: str) -> float:
    found = summary.whole.scores.get(name)
    return found.mean if found else 0.0


def signed(gain: Score) -> str:
    return f"{100 * gain.mean:+.1f} [{100 * gain.low:+.1f}..{100 * gain.high:+.1f}]"


def _row(label: str, cells: Sequence[str] | Mapping[str, object]) -> str:
    return f"  {label:<{LABEL}}" + "".join(f"{cell:>{CELL}}" for cell in cells).rstrip()
