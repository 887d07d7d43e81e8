"""Does a statement say that something is over, or is otherwise now?

The words alone do not say what the change is about; that is for whoever compares it with what is
known (``lifecycle.merge.changes``). A cue is strong if it says a change by itself ("sold",
"switched to"), and weak if a statement may have it without any change ("now", "new").
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, NamedTuple

from recollect.text.claims.clauses import expanded
from recollect.text.words import cues

ChangeKind = Literal["", "ends", "changes", "may change"]


class ChangeCue(NamedTuple):
    """``kind`` is "" where nothing changes; ``cue`` are the words that say it."""

    kind: ChangeKind
    cue: str = ""


STATEMENT_MAX = 1000  # characters of a text that are looked through: what is longer tells a tale


def change_in(text: str) -> ChangeCue:
    """What a statement says about what was so before it."""
    return _change_in(text[:STATEMENT_MAX])


@lru_cache(maxsize=4000)
def _change_in(text: str) -> ChangeCue:
    words = expanded(text)
    for kind, section in _KINDS.items():
        if found := cues(f"changes.{section}").search(words):
            return ChangeCue(kind, found[0])
    return ChangeCue("")


_KINDS: Mapping[ChangeKind, str] = {"ends": "ends", "changes": "changes", "may change": "may"}
