"""Does the meaning of a statement bear on a known one: is that over, or otherwise now?

People tell changes in words that no list has: "Biscuit is buried under the pear tree". Where the
rules of ``lifecycle.merge`` decide nothing, a sum over what two statements have in common
(``merge.traits``), the cosine of their vectors and the vector of the new one says how likely it is.
What is likely is disputed in the open; nothing is replaced for it. The weights are fitted by
``python -m evaluation.learning.effects`` and belong to the vectors of one model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from recollect.index.vectors import weighed_sum
from recollect.lifecycle.merge.traits import traits
from recollect.types import Record, Vector
from recollect.types.frozen import frozen

SPACE = "recall-1/384"  # with other vectors nothing here is asked
WEIGHTS = Path(__file__).with_name("effect.json")


@frozen(kw_only=False)
class Effect:
    """``likely``: what a sum must be above. For vectors of one space only."""

    space: str
    bias: float
    likely: float
    cosine: float
    traits: Mapping[str, float]
    weights: Sequence[float]

    def told(self, vector: Vector) -> float:
        """What the new statement says by itself."""
        return self.bias + weighed_sum(vector, self.weights)

    def of(self, told: float, record: Record, known: Record, cosine: float, cue: str) -> float:
        """The sum for a known statement; minus infinity where a guard holds."""
        found = traits(record.text, record.author, known.text, known.author, cue)
        if not found:
            return float("-inf")
        shared = sum(self.traits.get(name, 0.0) * value for name, value in found.items())
        return told + self.cosine * cosine + shared


@cache
def _read() -> Effect:
    read = json.loads(WEIGHTS.read_text("utf-8"))
    scale = read.pop("scale")
    weights = [one * scale for one in read.pop("weights")]
    return Effect(weights=weights, **read)


def effect_in(space: str) -> Effect | None:
    """What tells it in a space; None if nothing was fitted there."""
    known = _read()
    return known if known.space == space else None
