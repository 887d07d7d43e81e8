"""Spans for OpenTelemetry: one for each verb, named after it, with nothing of what was asked.

Only the interface is used, and only where the program around has loaded it: whoever traces nothing
pays one look into a table.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any

_NOTHING = nullcontext()


def span(verb: str) -> AbstractContextManager[Any]:
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return _NOTHING
    opened: AbstractContextManager[Any] = trace.get_tracer("recollect").start_as_current_span(
        f"recollect.{verb}"
    )
    return opened
