"""When a clause holds: since when, until when, and by when it had surely begun."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from standfast.text.dates import Span, end_of_stay, told_times
from standfast.text.expressions import later
from standfast.types.frozen import frozen

_STOP = later(r"[.!?](?=\s)|[。！？\n]")
ENDING = ("until",)
BEGINNING = ("since", "")


@frozen
class Validity:
    """``changed_by``: for a beginning that is not exact, when it had surely begun."""

    since: datetime | None = None
    until: datetime | None = None
    changed_by: datetime | None = None


def spans_of(text: str, start: int, end: int, at: datetime) -> tuple[Span, ...]:
    """The times that a clause names. What stands around it may say which one is meant."""
    if alone := told_times(text[start:end], at):
        return alone
    first = max((one.end() for one in _STOP.finditer(text, 0, start)), default=0)
    last = _STOP.search(text, end)
    sentence = text[first : last.start() if last else None]
    spans = told_times(sentence, at)
    return tuple(one for one in spans if start <= first + one.begins < end)


def validity_of(clause: str, spans: Sequence[Span], at: datetime) -> Validity:
    """A plan is true from when it is told, not from when it will happen."""
    until = min(_ends(clause, spans, at), default=None)
    begun = [one for one in spans if one.relation in BEGINNING and one.start <= at]
    exact = [one for one in begun if not one.about]
    if not begun:
        return Validity(until=until)
    first = (exact or begun)[0]
    by = at if first.relation == "since" else min(first.end, at)
    since = _utc(first.start) if exact else None
    if until is not None and since is not None and until <= since:
        until = None
    return Validity(since=since, until=until, changed_by=_utc(by))


def _ends(clause: str, spans: Sequence[Span], at: datetime) -> Iterator[datetime]:
    yield from (_utc(one.end) for one in spans if one.relation in ENDING)
    if end := end_of_stay(clause, at):
        yield _utc(end)


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)
