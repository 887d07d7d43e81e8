"""Checking what callers hand in: every error here says what to write instead."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, get_args

from standfast.errors import Invalid
from standfast.text.expressions import later
from standfast.types.arguments import LIMIT_MAX, NAME_LENGTH_MAX, TAGS_MAX
from standfast.types.arguments import When as When

RECORD_BYTES_MAX = 1 << 20
MESSAGE_BYTES_MAX = 16 << 20
DATA_BYTES_MAX = 64 << 10
ANSWER_BYTES_MAX = 16 << 20  # of the texts and data in one answer, near enough


NAIVE_NOTE = "time without offset read as UTC"
REPAIRED_NOTE = "unstorable characters replaced by U+FFFD"

_UNSTORABLE = later("[\x00\ud800-\udfff]")
_CONTROL = later("[\x00-\x1f\ud800-\udfff]")
_MILLISECONDS_FROM = 100_000_000_000  # a Unix time this large counts milliseconds


def clean_text(text: Any, what: str, bytes_max: int = RECORD_BYTES_MAX) -> tuple[str, str]:
    """The text as it can be stored, and a note if it had to be repaired."""
    if not isinstance(text, str):
        raise Invalid(f"{what} must be text, not {type(text).__name__}")
    cleaned = _UNSTORABLE.sub("\ufffd", text)
    if len(cleaned) * 4 > bytes_max and len(cleaned.encode()) > bytes_max:
        raise Invalid(
            f"{what} is longer than {bytes_max >> 20} MiB; split it, or keep it in a file "
            "and remember where"
        )
    return cleaned, REPAIRED_NOTE if cleaned is not text and cleaned != text else ""


def clean_value(value: Any, what: str) -> Any:
    """JSON-like data with every text storable; anything else is Invalid."""
    if isinstance(value, str):
        return clean_text(value, what, MESSAGE_BYTES_MAX)[0]
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise Invalid(f"{what} holds {value}, which JSON cannot carry")
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    try:
        if isinstance(value, Mapping):
            return {
                clean_name(k, f"a key in {what}"): clean_value(v, what) for k, v in value.items()
            }
        if isinstance(value, list | tuple | set | frozenset):
            return [clean_value(part, what) for part in value]
    except RecursionError:
        raise Invalid(f"{what} is nested too deeply") from None
    raise Invalid(f"{what} holds a {type(value).__name__}; only JSON values can be stored")


def clean_data(value: Mapping[str, Any], what: str) -> dict[str, Any]:
    """The same for what stands beside a text: it has a size too."""
    cleaned: dict[str, Any] = clean_value(value, what)
    if cleaned and len(json.dumps(cleaned, ensure_ascii=False).encode()) > DATA_BYTES_MAX:
        raise Invalid(
            f"{what} is longer than {DATA_BYTES_MAX >> 10} KiB; keep it in a file, "
            "and remember where"
        )
    return cleaned


def clean_name(name: Any, what: str) -> str:
    """A short identifier: no control characters, not empty, not endless."""
    if not isinstance(name, str) or not name.strip():
        raise Invalid(f"{what} must be text that is not empty")
    if len(name) > NAME_LENGTH_MAX:
        raise Invalid(f"{what} is longer than {NAME_LENGTH_MAX} characters")
    if _CONTROL.search(name):
        raise Invalid(
            f"{what} {name[:80]!r} has a control character or half a surrogate pair in it"
        )
    return name


def clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Sorted, each once."""
    if isinstance(tags, str):
        raise Invalid(f'tags must be a list: write ["{tags[:40]}"]')
    cleaned = sorted({clean_name(tag, "a tag").strip() for tag in tags})
    if len(cleaned) > TAGS_MAX:
        raise Invalid(f"{len(cleaned)} tags are more than {TAGS_MAX}")
    return tuple(cleaned)


def moment(value: When | None, what: str) -> tuple[datetime | None, str]:
    """An aware time, and a note if the offset had to be assumed."""
    if value is None:
        return None, ""
    if isinstance(value, bool):
        raise Invalid(f"{what} must be a time, not {value}")
    try:
        if isinstance(value, int | float):
            seconds = value / 1000 if abs(value) >= _MILLISECONDS_FROM else value
            return datetime.fromtimestamp(seconds, UTC), ""
        found = datetime.fromisoformat(value.strip()) if isinstance(value, str) else value
        if not isinstance(found, datetime):
            raise ValueError
        if found.tzinfo is None:
            return found.replace(tzinfo=UTC), NAIVE_NOTE
        found.astimezone(UTC)  # a time next to year 1 or 9999 may not fit
    except (ValueError, OverflowError, OSError):
        raise Invalid(
            f'{what}={value!r} is no time; write ISO 8601 such as "2026-05-03T10:00:00+02:00"'
        ) from None
    return found, ""


def utc_moment(value: When | None, what: str) -> tuple[datetime | None, str]:
    """The same in UTC, for the times of records; only messages keep their own offset."""
    found, note = moment(value, what)
    return found and found.astimezone(UTC), note


def expiry(value: When | None, now: datetime) -> tuple[datetime | None, str]:
    """When something is to vanish: in the time to come."""
    until, note = utc_moment(value, "expires_at")
    if until is not None and until <= now:
        raise Invalid(
            f"expires_at {until.isoformat()} has passed already; give a time to come, "
            "or leave it out"
        )
    return until, note


def share(value: Any, what: str) -> float:
    """A number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise Invalid(f"{what} must be a number from 0 to 1, not {value!r}")
    return float(value)


def count(value: Any, what: str, *, most: int = LIMIT_MAX) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise Invalid(f"{what} must be a whole number from 1 to {most}, not {value!r}")
    return value


def one_of(value: Any, allowed: Any, what: str) -> Any:
    """``value`` if it is one of a Literal's words."""
    choices = get_args(allowed)
    if value not in choices:
        raise Invalid(f"{what} {value!r} is unknown; use one of {', '.join(choices)}")
    return value


def several_of(values: Any, allowed: Any, what: str) -> tuple[Any, ...]:
    if isinstance(values, str):
        values = (values,)
    try:
        return tuple(one_of(value, allowed, what) for value in values)
    except TypeError:
        raise Invalid(f"{what} must be a list of words, not {values!r}") from None
