"""What a run of consolidation wants to do, decided from values alone. Pure.

A plan is a list of small steps that name records by id and version. Nothing in it destroys: it
retires, joins, weighs and adds, and every step can be taken back. What has not been looked at
for long, what says the same twice and what contradicts itself is found here; reading the store
and writing to it is done by ``recollect.consolidating``.
"""

from __future__ import annotations

from recollect.consolidation.aging import Age, idle_days, is_pinned, look_at, moved_importance
from recollect.consolidation.clashes import clashes
from recollect.consolidation.disputes import Dispute, Evidence, agree, settled
from recollect.consolidation.doubles import better_first, doubles
from recollect.consolidation.drafts import Draft
from recollect.consolidation.portraits import Portrait, extract, grounded, portrait
from recollect.consolidation.stable import chosen_block
from recollect.consolidation.values import (
    RETIRING,
    Plan,
    Step,
    What,
    diff_line,
    done_words,
    plain_step,
    step_from,
    would_words,
)

__all__ = [
    "RETIRING",
    "Age",
    "Dispute",
    "Draft",
    "Evidence",
    "Plan",
    "Portrait",
    "Step",
    "What",
    "agree",
    "better_first",
    "chosen_block",
    "clashes",
    "diff_line",
    "done_words",
    "doubles",
    "extract",
    "grounded",
    "idle_days",
    "is_pinned",
    "look_at",
    "moved_importance",
    "plain_step",
    "portrait",
    "settled",
    "step_from",
    "would_words",
]
