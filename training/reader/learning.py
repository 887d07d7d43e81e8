"""One run: the base with a new head learns from labelled messages, and from teachers if any."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from standfast.understanding.reading.decoding import TAGS
from training.reader import batches
from training.reader.batches import Batch, Floats
from training.reader.examples import Example
from training.reader.losses import loss_of
from training.reader.network import Reader, Weights
from training.reader.weights import plain_head

WARM_UP, DECAY, CLIP = 0.1, 0.01, 1.0
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@dataclass(frozen=True, slots=True)
class Settings:
    epochs: int = 8
    rate: float = 8e-5
    head_rate: float = 4e-4
    soft_share: float = 0.7
    unrelated: float = 0.3
    structure: bool = True
    rounding: bool = True
    layers: int = 12


@dataclass(frozen=True, slots=True)
class Data:
    """``unrelated``: those to test on, each behind a line that has nothing to do with it.
    ``soft``: what teachers say about the tags of the messages to learn from."""

    learned: Sequence[Example]
    calibrated: Sequence[Example] = ()
    tested: Sequence[Example] = ()
    unrelated: Sequence[Example] = ()
    soft: Sequence[Floats] = ()


def train(start: Weights, data: Data, share: float, seed: int, settings: Settings) -> Reader:
    """``share`` of the messages, the same for every seed."""
    torch.manual_seed(seed)
    dice = random.Random(seed)
    places = list(range(len(data.learned)))
    random.Random(0).shuffle(places)  # so that a smaller share is a part of a larger one
    places = places[: round(share * len(places))]
    lengths = [len(data.learned[at].window.ids) for at in places]
    model: Reader = Reader(start, rounding=settings.rounding).to(DEVICE)
    for name, value in model.named_parameters():
        value.requires_grad_(settings.structure or "structure" not in name)
    optimizer = torch.optim.AdamW(
        model.groups(settings.rate, settings.head_rate, DECAY), fused=DEVICE == "cuda"
    )
    total = settings.epochs * len(batches.shuffled(lengths, dice))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _slope(step, total))
    began = time.monotonic()
    for epoch in range(settings.epochs):
        model.train()
        losses = []
        for batch in batches.shuffled(lengths, dice):
            losses.append(_step(model, data, [places[at] for at in batch], settings))
            torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad(set_to_none=True)
        mean = float(torch.stack(losses).mean())
        print(f"  epoch {epoch + 1}: loss {mean:.3f}, {time.monotonic() - began:.0f} s", flush=True)
    return model


def _slope(step: int, total: int) -> float:
    return min((step + 1) / (WARM_UP * total), max(0.0, (total - step) / ((1 - WARM_UP) * total)))


def _step(model: Reader, data: Data, places: Sequence[int], settings: Settings) -> Any:
    batch = batches.batch_of([data.learned[at] for at in places], DEVICE)
    model.renew()
    with batches.precision(DEVICE):
        found = model(batch.ids, batch.marks)
    soft = _soft(data, places, batch) if data.soft else None
    parts = plain_head().parts
    loss = loss_of(found.float(), batch, parts, soft, settings.soft_share)
    loss.backward()
    return loss.detach()


def _soft(data: Data, places: Sequence[int], batch: Batch) -> Any:
    table = torch.zeros(*batch.ids.shape, TAGS)
    for row, at in enumerate(places):
        start, stop = data.learned[at].window.message
        table[row, start:stop] = torch.from_numpy(data.soft[at][start:stop])
    return table.to(DEVICE)


def taught(runs: Sequence[Weights], given: Sequence[Example]) -> list[Floats]:
    """The mean of the teachers' probabilities of the tags, for each example."""
    total = [np.zeros((len(one.window.ids), TAGS), np.float32) for one in given]
    for run in runs:
        for at, numbers in batches.outputs(Reader(run).to(DEVICE), given, DEVICE):
            total[at] += probabilities(numbers[:, :TAGS]) / len(runs)
    return total


def probabilities(scores: Floats) -> NDArray[np.float32]:
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True), np.float32)
