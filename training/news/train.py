"""``python -m training.news.train EXAMPLES OUT --base BASE``: fine-tunes the reader; needs torch.

EXAMPLES is what ``training.news.examples`` wrote. With ``--fold N`` the groups of that fold are
left out, and OUT/fold-N.npy receives the answers to them, from which ``training.news.bounds`` sets
the bounds. Without it all examples are learned from, and OUT/seed-N.npz receives the weights.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch.nn import functional

from standfast.models.providers.minilm.convert import TABLE
from standfast.models.providers.minilm.news import TASKS, joined, placed
from training import base, rows
from training.news.network import Reader

FOLDS = 5
EPOCHS, RATE, AT_ONCE = 4, 1.7e-4, 192
WARM_UP, RATE_LEAST, DECAY, CLIP = 0.06, 0.02, 0.01, 1.0
SMOOTH = 0.04  # nobody is quite sure of an answer
SHUFFLED = 20  # batches among which texts of one length are put together
READ_AT_ONCE = 256
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

Tokens = tuple[list[int], list[int]]
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Learned:
    """``tasks``: the place of the question that each example answers."""

    tokens: Sequence[Tokens]
    tasks: NDArray[np.int64]
    answers: Floats
    weights: Floats
    folds: NDArray[np.int64]


def load(file: Path, tokenizer: bytes) -> Learned:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    reader = Tokenizer.from_str(tokenizer.decode())
    reader.no_padding()
    reader.no_truncation()
    texts = (
        [
            one.ids
            for one in reader.encode_batch([row[at] for row in found], add_special_tokens=False)
        ]
        for at in ("known", "said", "behind")
    )
    return Learned(
        tokens=[
            placed(*read) if row["task"] == "own" else joined(*read[:2])
            for row, read in zip(found, zip(*texts, strict=True), strict=True)
        ],
        tasks=np.array([TASKS.index(row["task"]) for row in found]),
        answers=np.array([row["answer"] for row in found], np.float32),
        weights=np.array([row["weight"] for row in found], np.float32),
        folds=np.array([_fold(row["group"]) for row in found]),
    )


def _fold(group: str) -> int:
    return int(sha256(group.encode()).hexdigest(), 16) % FOLDS


def _table(tokens: Sequence[Tokens]) -> tuple[Any, Any, Any]:
    width = max(len(ids) for ids, _ in tokens)
    ids, kinds = (torch.zeros(len(tokens), width, dtype=torch.long) for _ in range(2))
    for row, (found, sides) in enumerate(tokens):
        ids[row, : len(found)] = torch.tensor(found)
        kinds[row, : len(sides)] = torch.tensor(sides)
    lengths = torch.tensor([len(found) for found, _ in tokens])
    return ids.to(DEVICE), lengths.to(DEVICE), kinds.to(DEVICE)


def _batches(places: Sequence[int], learned: Learned, dice: random.Random) -> Iterator[list[int]]:
    """In any order; texts of similar length together, so that little is padding."""
    order = list(places)
    dice.shuffle(order)
    batches: list[list[int]] = []
    for start in range(0, len(order), AT_ONCE * SHUFFLED):
        part = sorted(
            order[start : start + AT_ONCE * SHUFFLED], key=lambda at: len(learned.tokens[at][0])
        )
        batches += [part[at : at + AT_ONCE] for at in range(0, len(part), AT_ONCE)]
    dice.shuffle(batches)
    yield from batches


def train(
    weights: rows.Weights, learned: Learned, places: Sequence[int], seed: int, epochs: int
) -> Reader:
    torch.manual_seed(seed)
    dice = random.Random(seed)
    model: Reader = Reader(weights).to(DEVICE)
    trained = [one for one in model.parameters() if one.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=RATE, weight_decay=DECAY)
    total = math.ceil(len(places) / AT_ONCE) * epochs
    step = 0
    for _ in range(epochs):
        model.train()
        for batch in _batches(places, learned, dice):
            slope = min(1.0, (step + 1) / (WARM_UP * total)) * max(RATE_LEAST, 1 - step / total)
            for group in optimizer.param_groups:
                group["lr"] = RATE * slope
            loss = _loss(model, learned, batch)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(trained, CLIP)
            optimizer.step()
            step += 1
    return model


def _loss(model: Reader, learned: Learned, batch: Sequence[int]) -> Any:
    model.renew()
    with torch.autocast(DEVICE, torch.bfloat16, enabled=DEVICE == "cuda"):
        found = model(*_table([learned.tokens[at] for at in batch]))
    tasks = torch.from_numpy(learned.tasks[batch]).to(DEVICE)
    wanted = torch.from_numpy(learned.answers[batch]).to(DEVICE) * (1 - 2 * SMOOTH) + SMOOTH
    each = functional.binary_cross_entropy_with_logits(
        found.float().gather(1, tasks[:, None])[:, 0], wanted, reduction="none"
    )
    return (each * torch.from_numpy(learned.weights[batch]).to(DEVICE)).mean()


def answered(model: Reader, learned: Learned, places: Sequence[int]) -> Floats:
    """To each of these its own question."""
    model.eval()
    model.renew()
    found = np.zeros(len(places), np.float32)
    order = sorted(range(len(places)), key=lambda at: len(learned.tokens[places[at]][0]))
    for start in range(0, len(order), READ_AT_ONCE):
        part = order[start : start + READ_AT_ONCE]
        with torch.no_grad(), torch.autocast(DEVICE, torch.bfloat16, enabled=DEVICE == "cuda"):
            both = model(*_table([learned.tokens[places[at]] for at in part])).float().cpu().numpy()
        found[part] = both[np.arange(len(part)), learned.tasks[[places[at] for at in part]]]
    return found


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m training.news.train", description=__doc__)
    add = parser.add_argument
    add("examples", type=Path, metavar="EXAMPLES", help="what training.news.examples wrote")
    add("out", type=Path, metavar="OUT", help="where weights and answers are written")
    add("--base", type=Path, required=True, help=base.HELP)
    add("--fold", type=int, choices=range(FOLDS), help="leave it out, and answer it")
    add("--seed", type=int, default=1)
    add("--epochs", type=int, default=EPOCHS)
    add("--limit", type=int, help="only so many examples: a rehearsal")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    began = time.monotonic()
    published = base.read(options.base)
    learned = load(options.examples, published.tokenizer)
    step = -(-len(learned.tokens) // (options.limit or len(learned.tokens)))
    places = np.arange(len(learned.tokens))[::step]
    options.out.mkdir(parents=True, exist_ok=True)
    ours = places if options.fold is None else places[learned.folds[places] != options.fold]
    model = train(published.weights, learned, ours.tolist(), options.seed, options.epochs)
    if options.fold is None:
        kept = {name: one for name, one in model.weights().items() if name != TABLE}
        written = rows.write(kept, options.out, f"seed-{options.seed}")
        print(", ".join(path.name for path in written), f"{time.monotonic() - began:.0f} s")
        return 0
    theirs = places[learned.folds[places] == options.fold]
    found = np.full(len(learned.tokens), np.nan, np.float32)
    found[theirs] = answered(model, learned, theirs.tolist())
    np.save(options.out / f"fold-{options.fold}.npy", found)
    print(f"fold {options.fold}: {len(ours):,} learned, {len(theirs):,} answered,"
          f" {time.monotonic() - began:.0f} s")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
