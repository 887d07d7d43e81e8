"""Does a statement bear on a known one: is that over, or otherwise now?

People tell changes in words that no list has: "Biscuit is buried under the pear tree"; and they
say words of change of what stays: "the guy next to my stand quit". A sum over what two statements
have in common (``merge.traits``), the turns of phrase in which the new one speaks of it
(``merge.phrases``), the cosine of their vectors and the vector of the new one says how likely a
change is. What is likely is disputed in the open; nothing is replaced for it. What is unlikely is
not replaced though a rule says so. The weights are fitted by
``python -m evaluation.learning.effects`` and belong to the vectors of one model; where there are
others or none, those that were fitted for the words alone tell it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path

from standfast.index.vectors import weighed_sum
from standfast.lifecycle.merge.phrases import phrases
from standfast.lifecycle.merge.topic import Topic
from standfast.lifecycle.merge.traits import is_foreign, traits
from standfast.types import Vector
from standfast.types.frozen import frozen

SPACE = "recall-1/384"  # with other vectors the words alone are asked
WEIGHTS = Path(__file__).with_name("effect.json")
WORDS = Path(__file__).with_name("effect_of_words.json")


# Where a rule says that it happened to something else, only the meaning may know better.
_ELSEWHERE = frozenset(("beside", "told of it", "two things"))


@frozen(kw_only=False)
class Effect:
    """``likely``: what a sum must be above for a doubt; ``least``: what it must be above for a
    rule to be heeded. ``weights``: for the vectors of one space; none where only words count."""

    bias: float
    likely: float
    least: float
    cosine: float
    traits: Mapping[str, float]
    phrases: Mapping[str, float]
    weights: Sequence[float]

    def told(self, vector: Vector | None) -> float:
        """What the new statement says by itself."""
        if vector is None or not self.weights:
            return self.bias
        return self.bias + weighed_sum(vector, self.weights)

    def of(self, told: float, new: Topic, old: Topic, cosine: float = 0.0) -> float | None:
        """The sum for a known statement; minus infinity where a guard holds, None where nothing
        can be said, because one of them is in another language."""
        if is_foreign(new, old):
            return None
        found = traits(new, old)
        if not found or not (self.weights or found.keys().isdisjoint(_ELSEWHERE)):
            return float("-inf")
        shared = sum(self.traits.get(name, 0.0) * value for name, value in found.items())
        return told + self.cosine * cosine + shared + self._said(phrases(new, old))

    def _said(self, runs: Collection[str]) -> float:
        return sum(self.phrases.get(run, 0.0) for run in runs) / math.sqrt(len(runs))


@cache
def _read(path: Path) -> Effect:
    read = json.loads(path.read_text("utf-8"))
    scale = read.pop("scale")
    weights = [one * scale for one in read.pop("weights")]
    return Effect(weights=weights, **read)


def effect_in(space: str) -> Effect:
    """What tells it by the vectors of a space, or by words where nothing was fitted for them."""
    return _read(WEIGHTS if space == SPACE else WORDS)
