"""How well clauses are read: by label and language, and what is kept that should not be.

Two clauses meet when they share at least half of the characters of the longer one. FACT and PREF
are one group ("told"), ORDER is one of its own; what a group keeps and no labelled clause of the
group meets is kept wrongly. Confidence plays no part, except in ``believed``.
"""

from __future__ import annotations

import string
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from standfast.understanding.reading.clauses import KEPT, LABELS, Clause
from standfast.understanding.reading.decoding import ADDRESSED, Head
from training.reader.labels import Labelled, Span

ENDS = string.whitespace + string.punctuation + "。，、！？；：「」『』（）…—–«»“”‘’„¡¿"
NOTHING = "nothing"
CONFIDENCES = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9)

Counts = Counter[str]
Found = tuple[Labelled, Sequence[Clause]]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a clause stands without the punctuation at its ends."""

    start: int
    end: int
    label: str


def group(label: str) -> str:
    return "told" if label in ("FACT", "PREF") else label


def place(text: str, clause: Clause | Span) -> Place:
    start, end = clause.start, clause.end
    while end > start and text[end - 1] in ENDS:
        end -= 1
    while start < end and text[start] in ENDS:
        start += 1
    return Place(start, end, clause.label)


def meets(one: Place, other: Place) -> bool:
    shared = min(one.end, other.end) - max(one.start, other.start)
    return shared > 0 and 2 * shared >= max(one.end - one.start, other.end - other.start)


def is_right(clause: Clause, message: Labelled) -> bool:
    """A labelled clause of its group meets it."""
    here = place(message.text, clause)
    return any(
        group(span.label) == group(clause.label) and meets(here, place(message.text, span))
        for span in message.spans
    )


def report(found: Sequence[Found], head: Head) -> dict[str, Any]:
    """Everything about these messages, as plain values."""
    by_language: dict[str, list[Found]] = defaultdict(list)
    for one in found:
        by_language[one[0].language].append(one)
    believed = [(message, [c for c in clauses if head.believes(c)]) for message, clauses in found]
    sure = {
        f"{least:.0%}": [(m, [c for c in clauses if c.confidence >= least]) for m, clauses in found]
        for least in CONFIDENCES
    }
    return {
        "messages": len(found),
        "all": summary(found),
        "believed": summary(believed),
        "by confidence": {least: summary(part) for least, part in sure.items()},
        "languages": {name: summary(part) for name, part in sorted(by_language.items())},
        "labels": {label: scores(found, label) for label in LABELS},
        "told about a clause": details(found),
        "confusion": confusion(found),
    }


def summary(found: Sequence[Found]) -> dict[str, Any]:
    total = _merged(_kept(message, clauses) for message, clauses in found)
    return {
        "exact": _percent(total["exact"] * 2, total["gold"] + total["marked"]),
        "overlap": _percent(total["met"] * 2, total["gold"] + total["marked"]),
        "told kept": f"{total['told found']} of {total['told']}",
        "orders kept": f"{total['ORDER found']} of {total['ORDER']}",
        "kept wrongly": f"{total['wrong']} of {total['kept']}",
        "orders made up": f"{total['wrong ORDER']} of {total['marked ORDER']}",
        "foreign kept": f"{total['FOREIGN kept']} of {total['FOREIGN']}",
    }


def _kept(message: Labelled, clauses: Sequence[Clause]) -> Counts:
    gold = [place(message.text, one) for one in message.spans]
    marked = [place(message.text, one) for one in clauses]
    n: Counts = Counter(gold=len(gold), marked=len(marked))
    for one in gold:
        n[group(one.label)] += 1
        n["exact"] += one in marked
        n["met"] += any(one.label == other.label and meets(one, other) for other in marked)
        near = [other for other in marked if meets(one, other)]
        n[f"{group(one.label)} found"] += any(group(x.label) == group(one.label) for x in near)
        n[f"{one.label} kept"] += any(_overlaps(one, x) for x in marked if x.label in KEPT)
    for one, clause in zip(marked, clauses, strict=True):
        if one.label in KEPT:
            wrong = not is_right(clause, message)
            n.update(kept=1, wrong=wrong)
            n.update({f"marked {one.label}": 1, f"wrong {one.label}": wrong})
    return n


def _overlaps(one: Place, other: Place) -> bool:
    return one.start < other.end and other.start < one.end


def scores(found: Iterable[Found], label: str) -> dict[str, Any]:
    """F1 of one label, with the same borders and with borders that meet."""
    n: Counts = Counter()
    for message, clauses in found:
        gold = [place(message.text, one) for one in message.spans if one.label == label]
        marked = [place(message.text, one) for one in clauses if one.label == label]
        n.update(
            gold=len(gold),
            marked=len(marked),
            exact=sum(one in marked for one in gold),
            met=sum(any(meets(one, other) for other in marked) for one in gold),
        )
    both = n["gold"] + n["marked"]
    return {
        "exact": _percent(2 * n["exact"], both),
        "overlap": _percent(2 * n["met"], both),
        "gold": n["gold"],
        "marked": n["marked"],
    }


def details(found: Iterable[Found]) -> dict[str, str]:
    """Of clauses that were found: is what is said about them right? Early files say less."""
    n: Counts = Counter()
    for span, clause in _pairs(found):
        if span.label != ADDRESSED:
            known = "fixed" if span.subject in ("me", "we", "you") else "named"
            n[f"subject {known}"] += 1
            n[f"subject {known} right"] += _same(span.subject, clause.subject)
            n[f"subject {known} near"] += _near(span.subject, clause.subject)
        if span.category:
            for name in ("category", "lasts", "answers"):
                n[name] += 1
                n[f"{name} right"] += getattr(span, name) == getattr(clause, name)
        if span.answers:
            n["answers true"] += 1
            n["answers true right"] += clause.answers
    names = ("subject fixed", "subject named", "category", "lasts", "answers", "answers true")
    right = {name: f"{n[f'{name} right']} of {n[name]}" for name in names}
    return {**right, "subject named, roughly": f"{n['subject named near']} of {n['subject named']}"}


def _pairs(found: Iterable[Found]) -> Iterator[tuple[Span, Clause]]:
    for message, clauses in found:
        for span in message.spans:
            for clause in clauses if span.label in KEPT else ():
                here, there = place(message.text, span), place(message.text, clause)
                if group(span.label) == group(clause.label) and meets(here, there):
                    yield span, clause


def _same(one: str, other: str) -> bool:
    return one.strip(ENDS).casefold() == other.strip(ENDS).casefold()


def _near(one: str, other: str) -> bool:
    short, long = sorted((one.strip(ENDS).casefold(), other.strip(ENDS).casefold()), key=len)
    return bool(short) and short in long and 2 * len(short) >= len(long)


def confusion(found: Iterable[Found]) -> dict[str, dict[str, int]]:
    """For each label the labels of what met it best; ``nothing`` on either side."""
    table: dict[str, Counts] = {label: Counter() for label in (*LABELS, NOTHING)}
    for message, clauses in found:
        gold = [place(message.text, one) for one in message.spans]
        marked = [place(message.text, one) for one in clauses]
        for one in gold:
            near = [other for other in marked if meets(one, other)]
            table[one.label][near[0].label if near else NOTHING] += 1
        for other in marked:
            if not any(meets(one, other) for one in gold):
                table[NOTHING][other.label] += 1
    return {label: dict(row.most_common()) for label, row in table.items()}


def _merged(parts: Iterable[Counts]) -> Counts:
    total: Counts = Counter()
    for part in parts:
        total.update(part)
    return total


def _percent(part: float, whole: float) -> float:
    return round(100 * part / whole, 1) if whole else 0.0
