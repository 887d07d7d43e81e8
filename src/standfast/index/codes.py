"""Names and times as the numbers that arrays and files hold. The place of a name in these lists is
its number: new names go to the end, and none ever moves."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from standfast.errors import Invalid
from standfast.types import Durability, Kind, Source, Status, Type

KINDS: tuple[Kind, ...] = ("episodic", "semantic", "procedural")
TYPES: tuple[Type, ...] = (
    "turn",
    "episode",
    "summary",
    "interaction",
    "fact",
    "preference",
    "user_request",
    "entity",
    "interest",
    "procedure",
)
STATUSES: tuple[Status, ...] = ("active", "superseded", "archived", "disputed", "quarantined")
SOURCES: tuple[Source, ...] = ("user", "assistant", "tool", "web", "import", "file", "system")
DURABILITIES: tuple[Durability, ...] = ("core", "standard", "ephemeral")

# Of a time that is not set: always before, and never reached.
NEVER_BEGAN = -(2**63)
NEVER_ENDS = 2**63 - 1

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_EARLIEST = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
_LATEST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND


def code(names: Sequence[str], name: str) -> int:
    try:
        return names.index(name)
    except ValueError:
        raise Invalid(f"{name!r} is none of {', '.join(names)}") from None


def micros(moment: datetime) -> int:
    """Microseconds since 1970."""
    if moment.tzinfo is None:
        raise Invalid(f"the time {moment} has no time zone; add one")
    span = moment - _EPOCH
    number = (span.days * 86_400 + span.seconds) * 1_000_000 + span.microseconds
    if not _EARLIEST <= number <= _LATEST:
        raise Invalid(f"the time {moment} is outside the years 1 to 9999 in UTC")
    return number


def micros_or_none(moment: datetime | None) -> int | None:
    return None if moment is None else micros(moment)


def moment(number: int) -> datetime:
    return _EPOCH + timedelta(microseconds=number)


def moment_or_none(number: int | None) -> datetime | None:
    return None if number is None else moment(number)
