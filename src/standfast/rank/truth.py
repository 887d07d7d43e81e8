"""Was it true then? What a record says about since when it holds. Pure."""

from __future__ import annotations

from datetime import datetime

from standfast.text.dates import time_spans
from standfast.types import Record


def holds_at(record: Record, as_of: datetime) -> bool:
    """Whether a record that nobody gave a beginning may be told of that moment: it was known by
    then, or its own words name a time that had begun. "Ann lives in Berlin", told today, says
    nothing about 1990; "Ann was born in 1991" is true ever since."""
    if record.valid_from is not None or record.learned_at <= as_of:
        return True
    return any(span.start <= as_of for span in time_spans(record.text, record.learned_at))
