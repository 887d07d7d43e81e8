"""``python -m training.judge.train PAIRS BASE OUT``: trains judge-1.

Needs torch, numpy, tokenizers. PAIRS is the folder with judged pairs, BASE what
``training.encoder.base`` wrote. ``--coarse``: files of statements with later texts of which only is
known whether they change it (``=``, ``+``, ``-``, ``~``); they are read once, before.
``--unrelated``: what ``training.judge.unrelated`` wrote, read in each pass: without it a judge
takes what it has never seen for a change. For each seed OUT receives ``seed-N.npz`` (a run whose
file is there is not done again), of all of them ``mean.npz`` and ``results.json``: how the files
that were left out are judged.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from tokenizers import Tokenizer
from torch.nn import functional

from standfast.understanding.judging.layout import pair
from training.encoder import base
from training.encoder.network import TABLE, Layers
from training.encoder.published import PAD, Floats
from training.judge.labels import RELATIONS, Pair, parse

TESTED = ("j11", "j13", "k3")  # corrections; lives; twelve languages
RATES = (6e-5, 5e-5)  # of the coarse pass, and of those that follow
HEAD_RATE = 4e-4
AT_ONCE = 32
EPOCHS = 4
SMOOTHING = 0.05
CHANGES = tuple(RELATIONS.index(one) for one in ("REPLACES", "ENDS", "DOUBT"))
DECIDED = tuple(RELATIONS.index(one) for one in ("REPLACES", "ENDS"))
NEITHER = tuple(RELATIONS.index(one) for one in ("ADDS", "TOUCHES"))
SOME_CHANGE, NO_CHANGE, UNRELATED = 100, 101, 102
ALARMS = (1, 2, 4, 8)  # of a hundred pairs that change nothing
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
BEGAN = time.monotonic()


class Row(NamedTuple):
    ids: Sequence[int]
    kind: int


class Judge(Layers):
    """Pieces of a pair in, a number for each relation out."""

    def forward(self, ids: Any, mask: Any) -> Any:
        hidden = super().forward(ids, mask)
        shares = mask.unsqueeze(-1).to(hidden.dtype)
        mean = self._dropped((hidden * shares).sum(1) / shares.sum(1))
        return functional.linear(mean, self._get("head.weight"), self._get("head.bias"))


def say(text: str) -> None:
    print(f"[{time.monotonic() - BEGAN:6.1f}] {text}", flush=True)


def initial(published: Mapping[str, Floats]) -> dict[str, Floats]:
    """The same head for every run, so that runs can be averaged."""
    width = published[TABLE].shape[1]
    head = np.random.default_rng(0).normal(0, 0.02, (len(RELATIONS), width))
    bias = np.zeros(len(RELATIONS), np.float32)
    return {**published, "head.weight": head.astype(np.float32), "head.bias": bias}


def judged(folder: Path) -> dict[str, list[Pair]]:
    return {
        path.stem: [
            one
            for line in path.read_text("utf-8").splitlines()
            if line.strip()
            for one in parse(line)
        ]
        for path in sorted(folder.glob("*.jsonl"))
    }


def coarse(paths: Sequence[Path]) -> Iterator[tuple[Pair, int]]:
    for path in paths:
        old = ""
        for line in path.read_text("utf-8").splitlines():
            mark, text = line[:1], line[2:].strip()
            if mark == "=":
                old = text
            elif mark and mark in "+-~" and old and text:
                yield Pair(old, "", text, "", ""), SOME_CHANGE if mark == "+" else NO_CHANGE


def unrelated(folder: Path, but: Collection[str]) -> Iterator[tuple[Pair, int]]:
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines() if path.stem not in but else ():
            old, new, *before = json.loads(line)
            yield Pair(old, before[0] if before else "", new, "", ""), UNRELATED


def rows_of(reader: Any, given: Sequence[tuple[Pair, int]]) -> list[Row]:
    texts = [text for one, _ in given for text in (one.old, one.before, one.new)]
    ids = [one.ids for one in reader.encode_batch(texts, add_special_tokens=False)]
    return [Row(pair(*ids[3 * n : 3 * n + 3]), kind) for n, (_, kind) in enumerate(given)]


def table(some: Sequence[Row]) -> tuple[Any, Any]:
    width = -(-max(len(one.ids) for one in some) // 8) * 8
    ids = torch.tensor([[*one.ids, *[PAD] * (width - len(one.ids))] for one in some])
    return ids.to(DEVICE), (ids != PAD).to(DEVICE)


def loss_of(scores: Any, kinds: Sequence[int]) -> Any:
    """Of the coarse and the unrelated pairs only the sum of some relations is known."""
    logs = scores.float().log_softmax(-1)
    change = logs[:, list(CHANGES)].logsumexp(-1)
    rest = [one for one in range(len(RELATIONS)) if one not in CHANGES]
    none = logs[:, rest].logsumexp(-1)
    neither = logs[:, list(NEITHER)].logsumexp(-1)
    given = torch.tensor(kinds, device=scores.device)
    exact = logs.gather(1, given.clamp(max=len(RELATIONS) - 1)[:, None])[:, 0]
    exact = (1 - SMOOTHING) * exact + SMOOTHING * logs.mean(-1)
    for kind, sum_ in ((SOME_CHANGE, change), (NO_CHANGE, none), (UNRELATED, neither)):
        exact = torch.where(given == kind, sum_, exact)
    return -exact.mean()


def train(start: Mapping[str, Floats], plan: Sequence[Sequence[Row]], seed: int) -> Judge:
    torch.manual_seed(seed)
    dice = random.Random(seed)
    model: Judge = Judge(start).to(DEVICE)
    head = [value for name, value in model.named_parameters() if name.startswith("head")]
    rest = [value for name, value in model.named_parameters() if not name.startswith("head")]
    optimiser = torch.optim.AdamW(
        [{"params": rest, "share": 1.0}, {"params": head, "share": HEAD_RATE / RATES[1]}],
        weight_decay=0.01,
    )
    steps, done = sum(-(-len(rows) // AT_ONCE) for rows in plan), 0
    for number, rows in enumerate(plan):
        model.train()
        total: list[Any] = []
        for batch in batches(rows, dice):
            done += 1
            slope = min(done / (0.1 * steps), max(0.02, (steps - done) / (0.9 * steps)))
            for group in optimiser.param_groups:
                group["lr"] = RATES[min(number, 1)] * slope * group["share"]
            model.renew()
            with torch.autocast(DEVICE, torch.bfloat16, enabled=DEVICE == "cuda"):
                loss = loss_of(model(*table(batch)), [one.kind for one in batch])
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            total.append(loss.detach())
        say(f"seed {seed}, pass {number + 1}: loss {float(torch.stack(total).mean()):.3f}")
    return model


def batches(rows: Sequence[Row], dice: random.Random) -> list[list[Row]]:
    order = sorted(rows, key=lambda one: (len(one.ids) // 8, dice.random()))
    found = [order[at : at + AT_ONCE] for at in range(0, len(order), AT_ONCE)]
    dice.shuffle(found)
    return found


def probabilities(model: Judge, rows: Sequence[Row]) -> Floats:
    model.eval()
    model.renew()
    order = sorted(range(len(rows)), key=lambda at: len(rows[at].ids))
    found = np.zeros((len(rows), len(RELATIONS)), np.float32)
    with torch.no_grad():
        for start in range(0, len(order), 128):
            some = order[start : start + 128]
            scores = model(*table([rows[at] for at in some]))
            found[some] = scores.float().softmax(-1).cpu().numpy()
    return found


def measured(found: Floats, rows: Sequence[Row], given: Sequence[Pair]) -> dict[str, Any]:
    """How often each relation is found, and the changes that are seen where so many of a hundred
    that change nothing are taken for one."""
    kinds = np.array([one.kind for one in rows])
    change = found[:, list(DECIDED)].sum(1)
    decided = np.isin(kinds, DECIDED)
    quiet = ~np.isin(kinds, CHANGES)
    falsely = np.sort(change[quiet])[::-1]
    seen = {}
    for alarms in ALARMS:
        least = falsely[min(len(falsely) - 1, int(len(falsely) * alarms / 100))]
        seen[alarms] = [round(100 * float((change[decided] > least).mean()), 1), float(least)]
    best = found.argmax(1)
    right = {
        name: round(100 * float((best[kinds == place] == place).mean()), 1)
        for place, name in enumerate(RELATIONS)
        if (kinds == place).any()
    }
    languages = Counter(one.language for one in given)
    by_language = {
        name: round(100 * float((best == kinds)[[one.language == name for one in given]].mean()), 1)
        for name in languages
    }
    confusion = [
        [int(((kinds == row) & (best == column)).sum()) for column in range(len(RELATIONS))]
        for row in range(len(RELATIONS))
    ]
    return {
        "pairs": len(rows), "right": round(100 * float((best == kinds).mean()), 1),
        "by relation": right, "by language": by_language, "changes seen at false alarms": seen,
        "confusion": confusion,
    }  # fmt: skip


def calibrated(found: Floats, rows: Sequence[Row]) -> dict[str, Any]:
    """The temperature under which the probabilities are worth most, and the bounds of change by
    the share of false alarms."""
    kinds = np.array([one.kind for one in rows])
    logs = np.log(found + 1e-9)

    def cost(heat: float) -> float:
        scaled = logs / heat
        scaled -= np.log(np.exp(scaled).sum(1, keepdims=True))
        return float(-scaled[np.arange(len(kinds)), kinds].mean())

    heat = min((round(0.5 + 0.05 * step, 2) for step in range(51)), key=cost)
    scaled = np.exp(logs / heat)
    change = (scaled / scaled.sum(1, keepdims=True))[:, list(DECIDED)].sum(1)
    falsely = np.sort(change[~np.isin(kinds, CHANGES)])[::-1]
    bounds = {str(one): float(falsely[int(len(falsely) * one / 100)]) for one in ALARMS}
    return {"relations": list(RELATIONS), "temperature": heat, "bounds": bounds}


def weights_of(model: Judge) -> dict[str, Floats]:
    return {name: value.astype(np.float16) for name, value in model.weights().items()}


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m training.judge.train", description=__doc__)
    add = parser.add_argument
    add("pairs", type=Path, metavar="PAIRS")
    add("base", type=Path, metavar="BASE")
    add("out", type=Path, metavar="OUT")
    add("--coarse", type=Path, nargs="*", default=[])
    add("--unrelated", type=Path, metavar="FOLDER")
    add("--seeds", default="1,2,3")
    add("--epochs", type=int, default=EPOCHS)
    add("--share", type=float, default=1.0, help="of the judged pairs: for a learning curve")
    add("--test", nargs="*", default=list(TESTED), help="files that nothing is learned from")
    add("--limit", type=int, help="only so many pairs: a rehearsal")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    files = judged(options.pairs)
    if missing := set(options.test) - set(files):
        print(f"error: {options.pairs} has no {min(missing)}.jsonl", file=sys.stderr)
        return 2
    reader = Tokenizer.from_file(str(options.base / "pieces.json"))
    known = [
        (one, RELATIONS.index(one.relation))
        for name, found in files.items()
        if name not in options.test
        for one in found
    ]
    random.Random(0).shuffle(known)
    known = known[: round(len(known) * options.share)][: options.limit]
    rough = list(coarse(options.coarse))[: options.limit]
    tested = [one for name in options.test for one in files[name]][: options.limit]
    test_rows = rows_of(reader, [(one, RELATIONS.index(one.relation)) for one in tested])
    apart = list(unrelated(options.unrelated, options.test)) if options.unrelated else []
    fine, wide = rows_of(reader, [*known, *apart[: options.limit]]), rows_of(reader, rough)
    say(f"{len(fine)} judged pairs, {len(wide)} coarse ones, {len(test_rows)} to test on")
    start = initial(base.load(options.base))
    plan = [[*wide, *fine]] * bool(wide) + [fine] * options.epochs
    options.out.mkdir(parents=True, exist_ok=True)
    results, runs = {}, []
    for seed in map(int, options.seeds.split(",")):
        path = options.out / f"seed-{seed}.npz"
        if not path.exists():
            np.savez(path, **weights_of(train(start, plan, seed)))  # type: ignore[arg-type]
        with np.load(path) as stored:
            runs.append({name: stored[name].astype(np.float32) for name in stored.files})
        results[path.stem] = _result({**start, **runs[-1]}, test_rows, tested)
    mean = {name: np.mean([one[name] for one in runs], axis=0) for name in runs[0]}
    np.savez(options.out / "mean.npz", **{n: v.astype(np.float16) for n, v in mean.items()})
    whole: Judge = Judge({**start, **mean}).to(DEVICE)
    found = probabilities(whole, test_rows)
    results["mean"] = measured(found, test_rows, tested)
    say(f"mean: {json.dumps(results['mean'])}")
    (options.out / "results.json").write_text(json.dumps(results, indent=1), "utf-8")
    described = json.dumps(calibrated(found, test_rows), indent=1)
    (options.out / "judge-1.json").write_text(described + "\n", "utf-8")
    return 0


def _result(
    weights: Mapping[str, Floats], rows: Sequence[Row], given: Sequence[Pair]
) -> dict[str, Any]:
    model: Judge = Judge(weights).to(DEVICE)
    found = measured(probabilities(model, rows), rows, given)
    say(json.dumps({key: found[key] for key in ("right", "changes seen at false alarms")}))
    return found


if __name__ == "__main__":
    sys.exit(main())
