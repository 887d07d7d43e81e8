"""Examples as tensors: batches of similar length, and the outputs of a network for each."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from standfast.understanding.reading.layout import PAD
from training.reader.examples import UNKNOWN, Example, Target
from training.reader.network import Reader

AT_ONCE, READ_AT_ONCE = 32, 128
SIMILAR = 16  # pieces by which the messages of a batch may differ
# Tables of few different shapes: a shape that is new costs a GPU more than the work itself.
WIDTH_STEP, CLAUSES_STEP = 8, 32

NOTHING = Target(0, 0)  # of which nothing is known

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Batch:
    """``owner`` and what follows have a row for each labelled clause of the batch."""

    ids: Any
    marks: Any
    tags: Any
    candidates: Any  # pieces that a subject may begin with
    owner: Any  # the example of the clause
    shares: Any  # of each piece in the mean of the clause
    choice: Any
    end: Any
    category: Any
    lasts: Any
    answers: Any


def shuffled(lengths: Sequence[int], dice: random.Random, size: int = AT_ONCE) -> list[list[int]]:
    """Batches in any order; messages of similar length together, so that little is padding."""
    order = sorted(range(len(lengths)), key=lambda at: (lengths[at] // SIMILAR, dice.random()))
    found = [order[at : at + size] for at in range(0, len(order), size)]
    dice.shuffle(found)
    return found


def batch_of(examples: Sequence[Example], device: str) -> Batch:
    clauses = [(row, target) for row, one in enumerate(examples) for target in one.targets]
    ids = _table([one.window.ids for one in examples], PAD)
    width = ids.shape[1]
    clauses += [(0, NOTHING)] * (-len(clauses) % CLAUSES_STEP)
    shares = torch.zeros(len(clauses), width)
    candidates = torch.zeros(len(examples), width, dtype=torch.bool)
    for number, (_, target) in enumerate(clauses):
        length = target.last + 1 - target.first
        shares[number, target.first : target.last + 1] = 1 / length
    for row, one in enumerate(examples):
        candidates[row, one.window.candidates] = True

    def known(name: str) -> Any:
        return torch.tensor([getattr(target, name) for _, target in clauses]).long().to(device)

    return Batch(
        ids=ids.to(device),
        marks=_table([one.window.marks for one in examples], 0).to(device),
        tags=_table([one.tags for one in examples], UNKNOWN).to(device),
        candidates=candidates.to(device),
        owner=torch.tensor([row for row, _ in clauses]).long().to(device),
        shares=shares.to(device),
        choice=known("choice"),
        end=known("end"),
        category=known("category"),
        lasts=known("lasts"),
        answers=known("answers"),
    )


def outputs(
    model: Reader, examples: Sequence[Example], device: str
) -> Iterator[tuple[int, Floats]]:
    """The place of each example and the numbers of its pieces, the longest last."""
    model.eval()
    order = sorted(range(len(examples)), key=lambda at: len(examples[at].window.ids))
    with torch.no_grad():
        model.renew()
        for start in range(0, len(order), READ_AT_ONCE):
            part = order[start : start + READ_AT_ONCE]
            batch = batch_of([examples[at] for at in part], device)
            with precision(device):
                found = model(batch.ids, batch.marks).float().cpu().numpy()
            for at, numbers in zip(part, found, strict=True):
                yield at, numbers[: len(examples[at].window.ids)]


def precision(device: str) -> Any:
    return torch.autocast(device, torch.bfloat16, enabled=device == "cuda")


def _table(rows: Sequence[Sequence[int]], fill: int) -> Any:
    width = -(-max(map(len, rows)) // WIDTH_STEP) * WIDTH_STEP
    return torch.tensor([[*row, *[fill] * (width - len(row))] for row in rows])
