"""What the reader finds in a message: labelled clauses."""

from __future__ import annotations

from typing import Literal, get_args

from standfast.types.frozen import frozen

Label = Literal["FACT", "PREF", "ORDER", "TASK", "PASSING", "UNREAL", "FOREIGN", "QUESTION"]
SubjectSource = Literal["fixed", "message", "previous"]

LABELS: tuple[Label, ...] = get_args(Label)
KEPT: frozenset[Label] = frozenset(("FACT", "PREF", "ORDER"))  # labels that become memories


@frozen
class Clause:
    """One statement of a message. ``subject``, ``category``, ``lasts`` and ``answers`` are empty
    (False) for labels that are not kept."""

    start: int  # characters of the message
    end: int
    label: Label
    subject: str = ""  # me, we, you, or the words that name it
    subject_in: SubjectSource = "fixed"  # where those words stand
    subject_share: float = 1.0  # how sure it is
    category: str = ""
    lasts: str = ""  # always, years, months, weeks, days
    answers: bool = False  # not understood without the line before
    confidence: float = 0.0  # calibrated probability that label and borders are right
