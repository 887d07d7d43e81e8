"""Does a statement say that something is over, or is otherwise now?

The words alone do not say what the change is about; that is for whoever compares it with what is
known (``lifecycle.merge.changes``). A cue is strong if it says a change by itself ("sold",
"switched to"), and weak if a statement may have it without any change ("now", "new").
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, NamedTuple

from standfast.lifecycle.merge.claims.clauses import expanded
from standfast.lifecycle.merge.claims.fields import events_in
from standfast.text.words import pattern, word_set

ChangeKind = Literal["", "ends", "changes", "turns", "may change"]


class ChangeCue(NamedTuple):
    """``kind`` is "" where nothing changes; ``cue`` are the words that say it. "turns": no word
    of change, but of something that changes a life ("took early retirement")."""

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
        if found := pattern(f"changes.{section}").search(words):
            return ChangeCue(kind, found[0])
    turn = next(iter(events_in(words).values()), "")
    return ChangeCue("turns" if turn else "", turn)


def is_turn(text: str) -> bool:
    """Whether a statement says a change, or tells one that is worth knowing by itself."""
    if change_in(text).kind in ("ends", "changes"):
        return True
    return not word_set("fields.turning").isdisjoint(events_in(expanded(text)))


_KINDS: Mapping[ChangeKind, str] = {"ends": "ends", "changes": "changes", "may change": "may"}
