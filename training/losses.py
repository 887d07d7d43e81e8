"""What is asked of the vectors: to find what they should, and else to stay what they were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional

SHARPNESS = 20.0  # of cosines
FAR = -1e4


@dataclass(frozen=True, slots=True)
class Amounts:
    """What each part of the loss counts."""

    find: float = 1.0
    keep: float = 0.3  # the base model's ranking of the same turns
    shape: float = 10.0  # the base model's cosines between turns
    # How much more of the base model's ranking is kept where the evidence is no answer.
    keep_topic: float = 2.0


def find(similar: Any, evidence: Any, others: Any) -> Any:
    """Every piece of evidence against all that is none. ``others``: what counts as none."""
    logits = similar * SHARPNESS
    against = logits.masked_fill(~others, FAR).logsumexp(1, keepdim=True)
    losses = torch.logaddexp(logits, against) - logits
    return (losses * evidence).sum(1) / evidence.sum(1).clamp_min(1)


def keep(similar: Any, before: Any, own: Any) -> Any:
    """How far the ranking of a question's own store is from what it was."""
    now = (similar * SHARPNESS).masked_fill(~own, FAR).log_softmax(1)
    then = (before * SHARPNESS).masked_fill(~own, FAR).log_softmax(1)
    return (then.exp() * (then - now) * own).sum(1)


def shape(vectors: Any, before: Any) -> Any:
    """How far the cosines between turns are from what they were."""
    return functional.mse_loss(vectors @ vectors.T, before @ before.T)
