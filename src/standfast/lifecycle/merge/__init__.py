"""How a new statement meets what is known: judged by plain rules, written as one change.

``judge`` compares a record with its neighbours and says what it is to them; ``settle`` turns
that verdict into the rows and edges to write. Both are pure. Cosine never decides alone, and
nothing is replaced unless both statements are about the same slot of the same subject.
"""

from __future__ import annotations

from standfast.lifecycle.merge.changes import tags_of_change, tells_change
from standfast.lifecycle.merge.judgement import (
    AGAINST,
    NOBODY,
    Known,
    Named,
    Verdict,
    VerdictKind,
    between,
    by_meaning,
    claim_of,
    cue_of,
    judge,
    with_claim,
)
from standfast.lifecycle.merge.settlement import (
    Outcome,
    copies,
    joined_tags,
    repeated,
    replaced,
    settle,
)
from standfast.lifecycle.merge.topic import say_alike

__all__ = [
    "AGAINST",
    "NOBODY",
    "Known",
    "Named",
    "Outcome",
    "Verdict",
    "VerdictKind",
    "between",
    "by_meaning",
    "claim_of",
    "copies",
    "cue_of",
    "joined_tags",
    "judge",
    "repeated",
    "replaced",
    "say_alike",
    "settle",
    "tags_of_change",
    "tells_change",
    "with_claim",
]
