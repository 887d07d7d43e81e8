"""``python -m training.encoder.train PACKED BASE OUT``: trains recall-2; needs torch and numpy.

PACKED is what ``training.encoder.pack`` wrote, BASE what ``training.encoder.base`` wrote. OUT
receives ``SEED.npz`` for each run, and its figures on the stores kept for checking. A run whose
file is there already is not done again. ``mean.npz`` is the mean of all of them.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import random
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from training.encoder import base
from training.encoder.network import TABLE, Layers, sentence
from training.encoder.published import Floats
from training.examples import Example, Numbers, Visit, visits

RATE = 4e-5
SHARPNESS = 50.0  # of cosines: the base's lie close together
STORES_AT_ONCE = 8
QUESTIONS_PER_STORE = 32
NAMED_SHARE = 0.85  # of visits that read turns with their speakers
KEEP = 0.3  # of the base's own ranking, in stores of several languages
FOUND_MAX = 10  # recall@10
WIDTH_STEP = 8
SIZE_STEP = 128
# Sources in which another store may well hold an answer to "What do I collect?".
PERSONAL = frozenset(("lives-assistant", "wishes", "sgd", "open"))
MULTILINGUAL = frozenset(("xquad", "cmrc", "tatoeba", "parallel", "across", "asked"))
SHARES: Mapping[str, float] = {
    "selqa": 2, "molweni": 0.5, "irc": 0.4, "qamr": 0.7, "faq": 0.5, "xquad": 0.6, "cmrc": 0.6,
    "tatoeba": 0.5, "across": 0.5, "parallel": 0.5, "qmsum": 2, "lives": 0.7, "wishes": 0.7,
    "open": 1, "asked": 3, "answers": 3,
}  # fmt: skip

FAR = -1e4

FAR = -1e4

BEGAN = time.monotonic()


def say(text: str) -> None:
    print(f"[{time.monotonic() - BEGAN:6.1f}] {text}", flush=True)


@dataclass(slots=True)
class Learned:
    """Everything that does not change between runs."""

    texts: Texts
    examples: Sequence[Example]
    checks: Sequence[Example]
    weights: Mapping[str, Floats]
    before: Any  # the base's own vectors of every text


class Texts:
    """Every text once, by number, on the device where it is read."""

    def __init__(self, path: Path, device: str, tokens_at_once: int) -> None:
        with np.load(path) as stored:
            pieces, lengths = stored["pieces"].astype(np.int64), stored["lengths"].astype(np.int64)
        self.lengths = lengths
        self.device = device
        self._at_once = tokens_at_once
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        self._pieces = torch.from_numpy(pieces).to(device)
        self._starts = torch.from_numpy(starts).to(device)
        self._lengths = torch.from_numpy(lengths).to(device)

    def vectors(self, model: Layers, numbers: Numbers) -> Any:
        """One row a number, in the order given. Texts of similar length run together, in tables
        of few different shapes: a shape that is new costs a GPU more than the work itself."""
        model.renew()
        order = np.argsort(-self.lengths[numbers], kind="stable")
        rows = []
        start = 0
        while start < len(order):
            width = -(-int(self.lengths[numbers[order[start]]]) // WIDTH_STEP) * WIDTH_STEP
            count = max(1, self._at_once // width)
            part = numbers[order[start : start + count]]
            ids, mask = self._table(part, count, width)
            rows.append(sentence(model(ids, mask), mask)[: len(part)])
            start += count
        return torch.cat(rows)[torch.from_numpy(np.argsort(order)).to(self.device)]

    def _table(self, numbers: Numbers, count: int, width: int) -> tuple[Any, Any]:
        """So many rows, the first ones twice where there are too few."""
        chosen = torch.from_numpy(np.resize(numbers, count)).to(self.device)
        lengths = self._lengths[chosen]
        columns = torch.arange(width, device=self.device)[None, :]
        places = self._starts[chosen][:, None] + columns.clamp_max(lengths[:, None] - 1)
        mask = columns < lengths[:, None]
        return torch.where(mask, self._pieces[places], 1), mask


def load(packed: Path, folder: Path, limit: int | None) -> Learned:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    with gzip.open(packed / "stores.json.gz", "rt", encoding="utf-8") as file:
        rows = json.load(file)
    random.Random(0).shuffle(rows)
    found = [(_example(row), bool(row["check"])) for row in rows]
    weights = base.load(folder)
    texts = Texts(packed / "texts.npz", device, 16_384 if device == "cuda" else 2_048)
    model = Layers(weights, rounding=False).to(device)
    examples = [one for one, check in found if not check][:limit]
    checks = [one for one, check in found if check][:limit]
    if limit:
        return Learned(texts, examples, checks, weights, _some_vectors(texts, model, examples))
    return Learned(
        texts, examples, checks, weights, vectors(texts, model, np.arange(len(texts.lengths)))
    )


def _some_vectors(texts: Texts, model: Layers, examples: Sequence[Example]) -> Any:
    """A rehearsal needs few of them."""
    needed = np.unique(
        np.concatenate([part for one in examples for part in (one.plain, one.named, one.questions)])
    )
    found = torch.zeros(len(texts.lengths), 384, device=texts.device)
    found[torch.from_numpy(needed).to(texts.device)] = vectors(texts, model, needed).float()
    return found


def _example(row: Mapping[str, Any]) -> Example:
    evidence = np.zeros((len(row["questions"]), len(row["plain"])), np.bool_)
    for number, places in enumerate(row["evidence"]):
        evidence[number, places] = True
    plain, named, questions, kinds = (
        np.array(row[name]) for name in ("plain", "named", "questions", "kinds")
    )
    return Example(row["source"], plain, named, questions, kinds, evidence)


def vectors(texts: Texts, model: Layers, numbers: Numbers) -> Any:
    model.eval()
    with torch.no_grad(), _precision(texts.device):
        return texts.vectors(model, numbers).half()


def _precision(device: str) -> Any:
    return torch.autocast(device, torch.bfloat16, enabled=device == "cuda")


def train(learned: Learned, seed: int, epochs: float, steps_max: int | None) -> Layers:
    torch.manual_seed(seed)
    rng = random.Random(seed)
    device = learned.texts.device
    model = Layers(learned.weights)
    model.to(device)
    batches = list(_batches(learned.examples, epochs, rng))[:steps_max]
    chosen = list(model.parameters())
    optimiser = torch.optim.AdamW(chosen, lr=RATE, weight_decay=0.01, fused=device == "cuda")
    warm = 0.06 * len(batches) + 1
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1.0, (step + 1) / warm) * max(0.0, 1 - step / len(batches))
    )
    for step, batch in enumerate(batches):
        model.train()
        with _precision(device):
            loss = step_loss(model, batch, learned, rng)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(chosen, 1.0)
        optimiser.step()
        schedule.step()
        if step % 200 == 0:
            say(f"seed {seed}: {step}/{len(batches)} loss {float(loss.detach()):.3f}")
    return model


def _batches(
    examples: Sequence[Example], epochs: float, rng: random.Random
) -> Iterator[list[Visit]]:
    for number in range(math.ceil(epochs)):
        part = min(1.0, epochs - number)
        some = list(visits(examples, dict(SHARES), QUESTIONS_PER_STORE, rng))
        some = some[: round(len(some) * part)]
        yield from (some[at : at + STORES_AT_ONCE] for at in range(0, len(some), STORES_AT_ONCE))


def step_loss(model: Layers, batch: Sequence[Visit], learned: Learned, rng: random.Random) -> Any:
    """Of several stores at once: every piece of evidence is nearer to its question than all other
    turns. What was told in another store counts as no evidence, unless both are of a kind where
    everybody asks about themselves."""
    device = learned.texts.device
    turns = _padded(
        [v.example.named if rng.random() < NAMED_SHARE else v.example.plain for v in batch]
    )
    questions = _padded([v.example.questions[v.rows] for v in batch])
    both = learned.texts.vectors(model, np.concatenate([turns, questions]))
    told, asked = both[: len(turns)], both[len(turns) :]
    evidence, own, others, weight, real = _given(batch, (len(questions), len(turns)), device)
    before = learned.before[torch.from_numpy(questions).to(device)].float()
    before = before @ learned.before[torch.from_numpy(turns).to(device)].float().T
    with torch.autocast(device, enabled=False):
        similar = (asked @ told.T) * SHARPNESS
        against = similar.masked_fill(~others, FAR).logsumexp(1, keepdim=True)
        losses = (torch.logaddexp(similar, against) - similar) * evidence
        found = losses.sum(1) / evidence.sum(1).clamp_min(1)
        now = similar.masked_fill(~own, FAR).log_softmax(1)
        then = (before * SHARPNESS).masked_fill(~own, FAR).log_softmax(1)
        found = found + weight * (then.exp() * (then - now) * own).sum(1)
        return (found * real).sum() / real.sum()


def _padded(parts: Sequence[Numbers]) -> Numbers:
    """Together, and so many more that there are few different lengths."""
    whole = np.concatenate(parts)
    return np.resize(whole, -(-len(whole) // SIZE_STEP) * SIZE_STEP)


def _given(batch: Sequence[Visit], shape: tuple[int, int], device: str) -> tuple[Any, ...]:
    """The stores of a batch as blocks of large matrices: the evidence, each store's own turns,
    what is no evidence; of each question how much of the base is kept, and whether it is one."""
    evidence, own, others = (np.zeros(shape, np.bool_) for _ in range(3))
    keep, real = (np.zeros(shape[0], np.float32) for _ in range(2))
    sizes = np.cumsum([0, *(len(v.example.plain) for v in batch)])
    row = 0
    for number, visit in enumerate(batch):
        one = visit.example
        rows, columns = slice(row, row + len(visit.rows)), slice(sizes[number], sizes[number + 1])
        evidence[rows, columns] = one.evidence[visit.rows]
        own[rows, columns] = True
        others[rows, : sizes[-1]] = True
        if one.source in PERSONAL:
            for place, other in enumerate(batch):
                if other.example.source == one.source and place != number:
                    others[rows, sizes[place] : sizes[place + 1]] = False
        keep[rows] = KEEP * (one.source.partition("-")[0] in MULTILINGUAL)
        real[rows] = 1
        row = rows.stop
    arrays = (evidence, own, others & ~evidence, keep, real)
    return tuple(torch.from_numpy(one).to(device) for one in arrays)


def check(learned: Learned, model: Layers) -> dict[str, float]:
    """Recall@10 by similarity alone, by source, in percent."""
    found: dict[str, list[float]] = {}
    for one in learned.checks:
        both = vectors(learned.texts, model, np.concatenate([one.named, one.questions])).float()
        told, asked = both[: len(one.named)], both[len(one.named) :]
        scores = (asked @ told.T).cpu().numpy()
        best = np.argsort(-scores, axis=1, kind="stable")[:, :FOUND_MAX]
        hits = np.take_along_axis(one.evidence, best, 1).sum(1)
        wanted = np.minimum(one.evidence.sum(1), FOUND_MAX).clip(1)
        found.setdefault(one.source.partition("-")[0], []).extend(hits / wanted)
    return {source: round(100 * float(np.mean(found[source])), 1) for source in sorted(found)}


def mean(paths: Sequence[Path]) -> dict[str, Floats]:
    parts = [np.load(path) for path in paths]
    return {
        name: np.mean([part[name].astype(np.float32) for part in parts], axis=0)
        for name in parts[0].files
    }


def write(weights: Mapping[str, Floats], path: Path) -> None:
    halves = {name: value.astype(np.float16) for name, value in weights.items()}
    with path.with_suffix(".part").open("wb") as file:
        np.savez(file, **halves)  # type: ignore[arg-type,unused-ignore]
    path.with_suffix(".part").replace(path)


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m training.encoder.train", description=__doc__)
    add = parser.add_argument
    add("packed", type=Path, metavar="PACKED")
    add("base", type=Path, metavar="BASE")
    add("out", type=Path, metavar="OUT")
    add("--seeds", default="1,2,3", help="one run each")
    add("--epochs", type=float, default=1.0)
    add("--limit", type=int, help="only so many stores: a rehearsal")
    add("--steps", type=int, help="only so many steps of each run: a rehearsal")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    learned = load(options.packed, options.base, options.limit)
    options.out.mkdir(parents=True, exist_ok=True)
    say(f"{len(learned.examples)} stores, {len(learned.texts.lengths)} texts")
    seeds = [int(one) for one in options.seeds.split(",")]
    paths = [options.out / f"{seed}.npz" for seed in seeds]
    for seed, path in zip(seeds, paths, strict=True):
        if not path.exists():
            model = train(learned, seed, options.epochs, options.steps)
            say(f"seed {seed}: {json.dumps(check(learned, model))}")
            write(model.weights(), path)
    whole = mean(paths)
    table = {TABLE: learned.weights[TABLE]}
    found = check(learned, Layers({**whole, **table}).to(learned.texts.device))
    say(f"mean: {json.dumps(found)}")
    write(whole, options.out / "mean.npz")
    (options.out / "check.json").write_text(json.dumps(found, indent=1), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
