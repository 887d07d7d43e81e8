"""``python -m training.train DATA OUT --base BASE``: fine-tunes the embedder; needs torch.

DATA is what ``training.prepare`` wrote. OUT receives the weights (``NAME.npz``, in parts where it
is large) and ``NAME.json`` with the settings and what was found on the stores kept for checking.
Of several runs the mean of their weights is written too, as ``mean``.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from standfast.errors import StandfastError
from standfast.models.providers.minilm.convert import TABLE
from training import base, losses, rows, stores
from training.examples import Example, Library, Numbers, Visit, example, visits
from training.losses import Amounts
from training.network import Encoder
from training.stores import KINDS, TOPIC
from training.texts import Texts

FOUND_MAX = 10  # recall@10
SIZE_STEP = 128
# Sources in which another store may well hold an answer to "What do I collect?".
PERSONAL = frozenset(("lives-assistant", "wishes", "sgd", "open", "t_frames_a"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    name: str = "model"
    seed: int = 1
    epochs: int = 3
    rate: float = 4e-5
    stores_at_once: int = 12
    questions_per_store: int = 32
    named_share: float = 0.85  # of visits that read turns with their speakers
    frozen_table: bool = False
    seconds_max: float = 1e9
    amounts: Amounts = field(default_factory=Amounts)
    shares: dict[str, float] = field(
        default_factory=lambda: {
            "selqa": 2, "molweni": 0.5, "irc": 0.4, "qamr": 0.7, "faq": 0.5, "xquad": 0.6,
            "cmrc": 0.6, "tatoeba": 0.5, "qmsum": 2, "lives": 0.7, "wishes": 0.7, "open": 1,
        }
    )  # fmt: skip


@dataclass(slots=True)
class Learned:
    """Everything that does not change between runs."""

    texts: Texts
    examples: Sequence[Example]
    checks: Sequence[Example]
    before: Any  # the base model's vectors of every text
    device: str


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m training.train", description=__doc__)
    add = parser.add_argument
    add("data", type=Path, metavar="DATA", help="the folder with train.jsonl.gz")
    add("out", type=Path, metavar="OUT", help="where the weights are written")
    add("--base", type=Path, required=True, help=base.HELP)
    add("--runs", type=Path, help="a JSON list of settings, one run each (default: one run)")
    add("--limit", type=int, help="only so many stores: a rehearsal")
    add("--steps", type=int, help="only so many steps of each run: a rehearsal")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    try:
        published = base.read(options.base)
        runs = json.loads(options.runs.read_text("utf-8")) if options.runs else [{}]
        planned = [settings_of(one) for one in runs]
        learned = load(options.data, published, options.limit)
    except (StandfastError, OSError, ValueError, TypeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    say(f"{len(learned.examples)} stores, {len(learned.texts.ids)} texts on {learned.device}")
    say(f"base {json.dumps(check(learned, lambda numbers: learned.before[numbers]))}")
    kept: list[rows.Weights] = []
    for settings in planned:
        model = train(settings, learned, published, options.steps)
        found = check(learned, partial(vectors, learned.texts, model))
        say(f"{settings.name} {json.dumps(found)}")
        kept.append(changed(model, settings))
        written = rows.write(kept[-1], options.out, settings.name)
        note = {"settings": asdict(settings), "check": found}
        (options.out / f"{settings.name}.json").write_text(json.dumps(note, indent=1), "utf-8")
        say(f"wrote {', '.join(path.name for path in written)}")
    if len(kept) > 1 and len({frozenset(one) for one in kept}) == 1:
        rows.write(rows.mixed(*((1.0, one) for one in kept)), options.out, "mean")
    return 0


BEGAN = time.monotonic()


def say(text: str) -> None:
    print(f"[{time.monotonic() - BEGAN:6.1f}] {text}", flush=True)


def settings_of(raw: dict[str, Any]) -> Settings:
    """TypeError: there is no such setting."""
    given = dict(raw)
    amounts = Amounts(**given.pop("amounts", {}))
    shares = {**Settings().shares, **given.pop("shares", {})}
    return Settings(**given, amounts=amounts, shares=shares)


def encoder(published: base.Published, device: str, rounding: bool = True) -> Encoder:
    model = Encoder(published.weights, rounding=rounding)
    model.to(device)
    return model


def changed(model: Encoder, settings: Settings) -> rows.Weights:
    """Without the table where it is still the published one."""
    found = model.weights()
    if settings.frozen_table:
        del found[TABLE]
    return found


def load(folder: Path, published: base.Published, limit: int | None) -> Learned:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    library = Library()
    parts = []
    for name in ("train", "check"):
        found = list(stores.read(folder / f"{name}.jsonl.gz"))
        random.Random(0).shuffle(found)
        parts.append([example(store, library) for store in found[:limit]])
    texts = Texts(published.tokenizer, library.texts, device)
    say(f"read {len(library.texts)} texts")
    model = encoder(published, device, rounding=False)
    before = vectors(texts, model, np.arange(len(texts.ids)))
    return Learned(texts, parts[0], parts[1], before, device)


def vectors(texts: Texts, model: Encoder, numbers: Numbers) -> Any:
    model.eval()
    with torch.no_grad(), _precision(texts):
        return texts.vectors(model, numbers)


def _precision(texts: Texts) -> Any:
    kind = texts.device
    return torch.autocast(kind, torch.bfloat16, enabled=kind == "cuda")


def train(
    settings: Settings, learned: Learned, published: base.Published, steps_max: int | None
) -> Encoder:
    began = time.monotonic()
    torch.manual_seed(settings.seed)
    rng = random.Random(settings.seed)
    model = encoder(published, learned.device)
    if settings.frozen_table:
        model.get_parameter(TABLE.replace(".", "/")).requires_grad_(False)
    batches = list(_batches(settings, learned, rng))[:steps_max]
    optimiser, schedule = _optimiser(model, settings, len(batches))
    recent: list[float] = []
    for step, batch in enumerate(batches):
        model.train()
        with _precision(learned.texts):
            loss = step_loss(model, batch, learned, settings, rng)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        if step % 20 == 0:
            recent = [*recent[-9:], float(loss.detach())]
        if step % 200 == 0:
            say(f"{settings.name} {step}/{len(batches)} loss {np.mean(recent):.3f}")
        if time.monotonic() - began > settings.seconds_max:
            say(f"{settings.name} stopped at {step}/{len(batches)}: out of time")
            break
    return model


def _batches(settings: Settings, learned: Learned, rng: random.Random) -> Iterator[list[Visit]]:
    for _ in range(settings.epochs):
        some = list(visits(learned.examples, settings.shares, settings.questions_per_store, rng))
        size = settings.stores_at_once
        yield from (some[at : at + size] for at in range(0, len(some), size))


def _optimiser(model: Encoder, settings: Settings, steps: int) -> tuple[Any, Any]:
    chosen = [one for one in model.parameters() if one.requires_grad]
    fused = chosen[0].is_cuda
    optimiser = torch.optim.AdamW(chosen, lr=settings.rate, weight_decay=0.01, fused=fused)
    warm = 0.06 * steps + 1
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1.0, (step + 1) / warm) * max(0.0, 1 - step / steps)
    )
    return optimiser, schedule


def step_loss(
    model: Encoder, batch: Sequence[Visit], learned: Learned, settings: Settings, rng: random.Random
) -> Any:
    """Of several stores at once. What was told in another store counts as no evidence, unless
    both are of a kind where everybody asks about themselves."""
    device, amounts = learned.device, settings.amounts
    turns = _padded(
        [v.example.named if rng.random() < settings.named_share else v.example.plain for v in batch]
    )
    questions = _padded([v.example.questions[v.rows] for v in batch])
    both = learned.texts.vectors(model, np.concatenate([turns, questions]))
    told, asked = both[: len(turns)], both[len(turns) :]
    then = learned.before[torch.from_numpy(turns).to(device)].float()
    then_asked = learned.before[torch.from_numpy(questions).to(device)].float()
    given = _given(batch, (len(questions), len(turns)), device)
    with torch.autocast(device, enabled=False):
        similar = asked @ told.T
        before = then_asked @ then.T
        found = amounts.find * losses.find(similar, given.evidence, given.others)
        more = 1 + (amounts.keep_topic - 1) * given.topic
        found = found + amounts.keep * more * losses.keep(similar, before, given.own)
        mean = (found * given.real).sum() / given.real.sum()
        return mean + amounts.shape * losses.shape(told, then)


def _padded(parts: Sequence[Numbers]) -> Numbers:
    """Together, and so many more that there are few different lengths."""
    whole = np.concatenate(parts)
    return np.resize(whole, -(-len(whole) // SIZE_STEP) * SIZE_STEP)


@dataclass(slots=True)
class Given:
    """The stores of a batch as blocks of large matrices."""

    evidence: Any
    own: Any
    others: Any
    topic: Any
    real: Any  # 1 for a question, 0 for what fills up


def _given(batch: Sequence[Visit], shape: tuple[int, int], device: str) -> Given:
    evidence, own, others = (np.zeros(shape, np.bool_) for _ in range(3))
    topic, real = (np.zeros(shape[0], np.float32) for _ in range(2))
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
        topic[rows] = one.kinds[visit.rows] == KINDS.index(TOPIC)
        real[rows] = 1
        row = rows.stop
    arrays = (evidence, own, others & ~evidence, topic, real)
    return Given(*(torch.from_numpy(one).to(device) for one in arrays))


def check(learned: Learned, embed: Callable[[Numbers], Any]) -> dict[str, float]:
    """Recall@10 by similarity alone, by source, in percent. ``embed`` gives the vectors of texts
    by number."""
    found: dict[str, list[float]] = {}
    for one in learned.checks:
        both = embed(np.concatenate([one.named, one.questions])).float()
        told, asked = both[: len(one.named)], both[len(one.named) :]
        similar = (asked @ told.T).cpu().numpy()
        values = [_recall(*pair) for pair in zip(similar, one.evidence, strict=True)]
        found.setdefault(one.source, []).extend(values)
    return {source: round(100 * float(np.mean(found[source])), 1) for source in sorted(found)}


def _recall(scores: np.ndarray[Any, Any], evidence: np.ndarray[Any, Any]) -> float:
    best = np.argsort(-scores, kind="stable")[:FOUND_MAX]
    return float(evidence[best].sum() / min(evidence.sum(), FOUND_MAX))


if __name__ == "__main__":
    sys.exit(main())
