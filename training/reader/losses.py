"""What is asked of the reader: tags of all pieces, and of each kept clause its subject and kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch.nn import functional

from training.reader.batches import Batch
from training.reader.examples import UNKNOWN

SUBJECT_SHARE, KIND_SHARE = 0.3, 0.2
NEVER = -1e4  # the score of a piece that no subject begins with

Parts = Mapping[str, tuple[int, int]]


def loss_of(found: Any, batch: Batch, parts: Parts, soft: Any = None, soft_share: float = 0) -> Any:
    """``found``: messages x pieces x rows of the head. ``soft``: probabilities of the tags that
    teachers give, zero where a piece has no tag."""

    def part(values: Any, name: str) -> Any:
        start, stop = parts[name]
        return values[..., start:stop]

    tags = part(found, "tags")
    total = _mean(tags.flatten(0, 1), batch.tags.flatten())
    if soft is not None:
        total = (1 - soft_share) * total + soft_share * _distance(tags, soft)
    if not len(batch.owner):
        return total
    own = found[batch.owner]
    mean = torch.einsum("ct,ctn->cn", batch.shares, own)
    candidates = batch.candidates[batch.owner]

    def pointed(edge: str) -> Any:
        query, keys = part(mean, f"{edge}_query"), part(own, f"{edge}_key")
        return torch.einsum("cd,ctd->ct", query, keys).masked_fill(~candidates, NEVER)

    choice = torch.cat([part(mean, "fixed"), pointed("start")], 1)
    subject = _mean(choice, batch.choice) + _mean(pointed("end"), batch.end)
    kind = _mean(part(mean, "category"), batch.category) + _mean(part(mean, "lasts"), batch.lasts)
    return total + SUBJECT_SHARE * subject + KIND_SHARE * (kind + _answers(part, mean, batch))


def _mean(scores: Any, wanted: Any) -> Any:
    """Cross-entropy of what is labelled; nothing where nothing is."""
    total = functional.cross_entropy(scores, wanted, ignore_index=UNKNOWN, reduction="sum")
    return total / (wanted != UNKNOWN).sum().clamp_min(1)


def _answers(part: Any, mean: Any, batch: Batch) -> Any:
    known = batch.answers != UNKNOWN
    each = functional.binary_cross_entropy_with_logits(
        part(mean, "answers")[:, 0], batch.answers.float(), reduction="none"
    )
    return (each * known).sum() / known.sum().clamp_min(1)


def _distance(tags: Any, soft: Any) -> Any:
    """Cross-entropy with the teachers' probabilities, over pieces that have one."""
    each = -(soft * functional.log_softmax(tags, -1)).sum(-1)
    return each.sum() / soft.sum().clamp_min(1)
