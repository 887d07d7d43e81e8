"""Does the vector of a sentence say that it is a lasting statement?

Rules read what people say in known forms, and keep what surely lasts. "Dog is Duke. Blue heeler."
has no form that they know. The vectors of the model in the box tell such sentences from the talk
around them; a few hundred weights, fitted by ``python -m evaluation.learning.lasting``, are enough.
The rules stay the guards: what passes, jokes, asks or supposes is never asked about.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from standfast.index.vectors import weighed_sum
from standfast.types import Vector
from standfast.types.frozen import frozen

WEIGHTS = Path(__file__).with_name("endurance.json")


@frozen(kw_only=False)
class Endurance:
    """``least``: what a sum must be above. For vectors of one space only."""

    space: str
    bias: float
    least: float
    weights: Sequence[float]

    def holds(self, vector: Vector) -> bool:
        return weighed_sum(vector, self.weights) + self.bias > self.least


@cache
def _read() -> Endurance:
    read = json.loads(WEIGHTS.read_text("utf-8"))
    weights = [one * read["scale"] for one in read["weights"]]
    return Endurance(read["space"], read["bias"], read["least"], weights)


def endurance_in(space: str) -> Endurance | None:
    """What tells it in a space; None if nothing was fitted there."""
    known = _read()
    return known if known.space == space else None
