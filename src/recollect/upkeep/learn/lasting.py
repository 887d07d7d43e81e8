"""Does the vector of a sentence say that it is a lasting statement?

Rules read what people say in known forms, and keep what surely lasts. "Dog is Duke. Blue heeler."
has no form that they know. The vectors of the model in the box tell such sentences from the talk
around them; a few hundred weights, fitted by ``python -m evaluation.learning.lasting``, are enough.
The rules stay the guards: what passes, jokes, asks or supposes is never asked about.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from recollect.types import Vector

WEIGHTS = Path(__file__).with_name("lasting.json")


@dataclass(frozen=True, slots=True)
class Lasting:
    """``least``: what a sum must be above. For vectors of one space only."""

    space: str
    bias: float
    least: float
    weights: Sequence[float]

    def holds(self, vector: Vector) -> bool:
        values = np.frombuffer(vector, dtype="<f4").astype(np.float64)
        length = float(np.linalg.norm(values)) or 1.0
        return float(values @ np.asarray(self.weights)) / length + self.bias > self.least


@cache
def _read() -> Lasting:
    read = json.loads(WEIGHTS.read_text("utf-8"))
    weights = [one * read["scale"] for one in read["weights"]]
    return Lasting(read["space"], read["bias"], read["least"], weights)


def lasting_in(space: str) -> Lasting | None:
    """What tells it in a space; None if nothing was fitted there."""
    known = _read()
    return known if known.space == space else None
