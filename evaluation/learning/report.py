"""Rows for people, and the same for programs. Of what is held back only totals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from evaluation.learning.cases import HALVES, LANGUAGES, PARTS, SETS, Part
from evaluation.learning.judging import Verdict

NAME, LANGUAGE, CASES, CELL = 14, 10, 7, 20
# The second was held back once.
OPEN: tuple[Part, ...] = (
    "tune",
    "second",
    "third, tune",
    "fourth, tune",
    "fifth, tune",
    "seventh, tune",
    "eighth, tune",
)
Count = tuple[int, int]


def render(verdicts: Sequence[Verdict]) -> str:
    return "\n".join(_lines(verdicts))


def _lines(verdicts: Sequence[Verdict]) -> Iterator[str]:
    yield _row("set", "language", "cases", *(f"right, {part}" for part in PARTS))
    for name in SETS:
        found = [verdict for verdict in verdicts if verdict.case.set == name]
        if not found:
            continue
        for language in LANGUAGES:
            spoken = [verdict for verdict in found if verdict.case.lang == language]
            if spoken:
                yield _counted(name, language, spoken, _right)
        yield _counted(name, "all", found, _right)
        for label, counts in _besides(found):
            yield _row("", label, "", *(_share(count) for count in counts), wide=True)


def _besides(found: Sequence[Verdict]) -> Iterator[tuple[str, list[Count]]]:
    """What else is worth knowing of a set."""
    if any(verdict.first_learned is not None for verdict in found):
        yield "first learned", [_first(_of(found, half)) for half in PARTS]
    if any(verdict.by_doubt for verdict in found):
        yield "right by doubt", [_doubts(_of(found, half)) for half in PARTS]
    if found[0].case.set in ("everyday", "talks"):
        yield "facts found", [_sum(_of(found, half), "facts") for half in PARTS]
        right = "records right" if found[0].case.set == "everyday" else "wrong avoided"
        yield right, [_sum(_of(found, half), "records") for half in PARTS]


def _counted(
    name: str, language: str, found: Sequence[Verdict], count: Callable[[Sequence[Verdict]], Count]
) -> str:
    cells = [_share(count(_of(found, half))) for half in PARTS]
    return _row(name, language, str(len(found)), *cells)


def _of(found: Sequence[Verdict], half: Part) -> list[Verdict]:
    return [verdict for verdict in found if verdict.case.half == half]


def _open(found: Sequence[Verdict]) -> list[Verdict]:
    return [verdict for part in OPEN for verdict in _of(found, part)]


def _right(found: Sequence[Verdict]) -> Count:
    return sum(verdict.right for verdict in found), len(found)


def _first(found: Sequence[Verdict]) -> Count:
    told = [verdict.first_learned for verdict in found if verdict.first_learned is not None]
    return sum(told), len(told)


def _doubts(found: Sequence[Verdict]) -> Count:
    return sum(verdict.by_doubt for verdict in found), len(found)


def _sum(found: Sequence[Verdict], field: str) -> Count:
    counts: list[Count] = [getattr(verdict, field) for verdict in found]
    return sum(part for part, _ in counts), sum(whole for _, whole in counts)


def _share(count: Count) -> str:
    part, whole = count
    return f"{part} of {whole}, {100 * part / whole:.0f} %" if whole else "-"


def _row(name: str, language: str, cases: str, *cells: str, wide: bool = False) -> str:
    if wide:
        head = f"{'':<{NAME}}{language:<{LANGUAGE + CASES}}"
    else:
        head = f"{name:<{NAME}}{language:<{LANGUAGE}}{cases:>{CASES}}"
    return (head + "".join(f"{cell:>{CELL}}" for cell in cells)).rstrip()


def failures(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """What went wrong in the parts for tuning, with all that is needed to see why."""
    for verdict in _open(verdicts):
        if verdict.right:
            continue
        yield f"{verdict.case.id} (said by {verdict.case.author or 'the user'}): {verdict.why}"
        yield from (
            f"    {turn.at:%Y-%m-%d} {turn.role}: {turn.text}" for turn in verdict.case.turns
        )
        yield from (f"    -> {belief}" for belief in verdict.after)


def as_json(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Totals of all parts; single cases of those for tuning only."""
    return {
        "totals": [
            {"set": name, "half": half, **_totals(_of(found, half))}
            for name in SETS
            if (found := [verdict for verdict in verdicts if verdict.case.set == name])
            for half in PARTS
            if half in HALVES or _of(found, half)
        ],
        "tune": [
            {
                "id": verdict.case.id,
                "right": verdict.right,
                "why": verdict.why,
                "after": [str(belief) for belief in verdict.after],
            }
            for verdict in _open(verdicts)
        ],
    }


def _totals(found: Sequence[Verdict]) -> dict[str, Count]:
    return {
        "right": _right(found),
        "first_learned": _first(found),
        "right_by_doubt": _doubts(found),
        "facts_found": _sum(found, "facts"),
        "records_right": _sum(found, "records"),
    }
