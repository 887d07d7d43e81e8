"""What a check of a language model found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from standfast.types import Usage
from standfast.types.frozen import frozen


@frozen
class Score:
    right: int = 0
    of: int = 0


@frozen
class Mistake:
    """``held``: the checks of learning keep it out of a memory."""

    case: str
    part: str
    what: str
    held: bool = False


@frozen
class Price1000:
    """What 1,000 messages take, as far as these questions show."""

    messages: int  # in one question
    calls: float
    tokens_in: float
    tokens_out: float
    cost: float
    seconds: float


@frozen
class ModelReport:
    """``scores`` by part: valid (answers that can be read), grounded (facts that their messages
    say), facts (found), the four verdicts, others (questions where nothing was made the user's
    that is not). ``stopped`` says why not all questions were asked; "": they were."""

    model: str
    questions: int
    scores: Mapping[str, Score]
    mistakes: tuple[Mistake, ...] = ()
    per_1000: Mapping[str, Price1000] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    priced: bool = True
    stopped: str = ""
    notes: tuple[str, ...] = ()
