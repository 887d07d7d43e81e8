"""``python -m training.reader.train DATA OUT --base FOLDER``: train, calibrate and measure read-1.

DATA holds ``*.jsonl`` files of labelled messages, FOLDER what ``training.encoder.base`` wrote. For
each seed ``seed-N.npz`` with its description ``seed-N.json``; of several seeds also their mean.
``results.json`` says how each of them reads the files that were left out. Needs torch, numpy and
tokenizers alone.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from standfast.understanding.reading.clauses import Clause
from standfast.understanding.reading.decoding import CERTAIN, TAGS, Head, decode, head_of, joined
from training.encoder import base
from training.encoder.published import Floats
from training.reader import batches, weights
from training.reader.calibration import calibrate
from training.reader.examples import UNKNOWN, Example, examples, read, with_unrelated_lines
from training.reader.labels import Labelled
from training.reader.learning import DEVICE, Data, Settings, probabilities, taught, train
from training.reader.measure import Found, report
from training.reader.network import Reader, Weights, initial

TESTED = ("v5", "v8")  # one writer in English, one in twelve other languages
CALIBRATED_OF = 20  # one message in so many is kept back for the calibration
PARTS = ("calibrated", "tested", "unrelated")  # of the messages that nothing is learned from
TRANSITION_SHARE = 0.6  # of 0 to 1; best on files that were left out
CURVE = (0.125, 0.25, 0.5, 1.0)


def load(options: argparse.Namespace, tokenizer: Any) -> Data:
    """ValueError: a line is wrong, or a file is missing."""
    found = read(sorted(options.data.glob("*.jsonl")))
    names = {name for name, _ in found}
    if missing := set(options.test) - names:
        raise ValueError(f"{options.data} has no {', '.join(sorted(missing))}.jsonl to test on")
    tested = [one for name, one in found if name in options.test]
    rest = [one for name, one in found if name not in options.test][: options.limit]
    kept_back = [one for one in rest if is_calibrated(one)]
    learned = [one for one in rest if not is_calibrated(one)]
    learned = with_unrelated_lines(learned, options.unrelated)
    more = [one for _, one in read(options.unlabelled)]
    return Data(
        learned=examples(tokenizer, learned) + without_labels(examples(tokenizer, more)),
        calibrated=examples(tokenizer, kept_back),
        tested=examples(tokenizer, tested),
        unrelated=examples(tokenizer, with_unrelated_lines(tested, 1.0)),
    )


def without_labels(given: Sequence[Example]) -> list[Example]:
    """Only teachers say something about them."""
    return [replace(one, tags=(UNKNOWN,) * len(one.tags), targets=()) for one in given]


def is_calibrated(message: Labelled) -> bool:
    digest = sha256(f"{message.before}\n{message.text}".encode()).digest()
    return int.from_bytes(digest[:4], "big") % CALIBRATED_OF == 0


def measured(numbers: Sequence[Floats], given: Sequence[Example], head: Head) -> list[Found]:
    """The clauses of each message. ``numbers``: the outputs of the network for each example."""
    found: dict[int, tuple[Labelled, list[list[Clause]]]] = {}
    for one, outputs in zip(given, numbers, strict=True):
        _, clauses = found.setdefault(id(one.message), (one.message, []))
        clauses.append(decode(outputs, one.window, head))
    return [(message, joined(clauses)) for message, clauses in found.values()]


def transitions_of(given: Sequence[Example]) -> list[list[float]]:
    """How much more often each tag follows each other than it stands anywhere, as logarithms."""
    counts = np.full((TAGS, TAGS), 0.5)
    for one in given:
        tags = [tag for tag in one.tags if tag != UNKNOWN]
        np.add.at(counts, (tags[:-1], tags[1:]), 1)
    follows = counts / counts.sum(1, keepdims=True)
    table = TRANSITION_SHARE * (np.log(follows) - np.log(counts.sum(0) / counts.sum()))
    return [[round(float(one), 2) for one in row] for row in table]


def numbers_of(run: Weights, given: Sequence[Example]) -> list[Floats]:
    """The outputs of a network for each example."""
    found = dict(batches.outputs(Reader(run).to(DEVICE), given, DEVICE))
    return [found[at] for at in range(len(given))]


def together(runs: Sequence[list[Floats]]) -> list[Floats]:
    """Outputs whose tags are the mean of the runs; the rest is that of the first."""
    found = []
    for each in zip(*runs, strict=True):
        one = each[0].copy()
        mean = np.mean([probabilities(numbers[:, :TAGS]) for numbers in each], axis=0)
        one[:, :TAGS] = np.log(mean + CERTAIN)
        found.append(one)
    return found


class Results:
    """Calibrates, measures and writes what was trained, and prints a line about each."""

    def __init__(self, out: Path, data: Data, start: Weights, settings: Settings) -> None:
        self._out, self._data, self._start = out, data, start
        counts = {one.name: len(getattr(data, one.name)) for one in fields(data)}
        self._found: dict[str, Any] = {"settings": asdict(settings), "messages": counts, "runs": {}}
        self._numbers: dict[str, dict[str, list[Floats]]] = {}
        self._transitions = transitions_of(data.learned)

    def add(self, name: str, exported: Weights) -> None:
        """Measured as it is read back from its file: rounded as it will run."""
        path = self._out / f"{name}.npz"
        weights.write(path, exported)
        run = weights.trained(weights.read(path), self._start)
        self._numbers[name] = {part: numbers_of(run, getattr(self._data, part)) for part in PARTS}
        weights.describe(self._out / f"{name}.json", self._measure(name, self._numbers[name]),
                         self._transitions)  # fmt: skip

    def add_ensemble(self, names: Sequence[str]) -> None:
        """What several networks say together: no file, but a bound for one that they teach."""
        found = {part: together([self._numbers[name][part] for name in names]) for part in PARTS}
        self._measure("ensemble", found)

    def _measure(
        self, name: str, numbers: Mapping[str, list[Floats]]
    ) -> dict[str, dict[str, float]]:
        plain = head_of(weights.description({}, self._transitions))
        calibration = calibrate(measured(numbers["calibrated"], self._data.calibrated, plain))
        head = head_of(weights.description(calibration, self._transitions))
        said = {
            part: report(measured(numbers[part], getattr(self._data, part), head), head)
            for part in PARTS
        }
        self._found["runs"][name] = {"calibration": calibration, **said}
        for part, one in said.items():
            print(f"{name}, {part}: {json.dumps(one['all'])}", flush=True)
            print(f"  believed: {json.dumps(one['believed'])}", flush=True)
        text = json.dumps(self._found, indent=1, ensure_ascii=False)
        (self._out / "results.json").write_text(text + "\n", "utf-8")
        return calibration


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m training.reader.train", description=__doc__)
    usual = Settings()
    add = parser.add_argument
    add("data", type=Path, metavar="DATA", help="folder of labelled messages, *.jsonl")
    add("out", type=Path, metavar="OUT", help="where weights and results are written")
    add("--base", type=Path, required=True, help="what training.encoder.base wrote")
    add("--seeds", default="1", help="one run for each, and their mean: 1,2,3")
    add("--test", nargs="*", default=TESTED, metavar="NAME", help="files to leave out; none: all")
    add("--share", type=float, default=1.0, help="of the messages")
    add("--curve", action="store_true", help="one run for 1/8, 1/4, 1/2 and all of the messages")
    add("--limit", type=int, help="only so many messages: a rehearsal")
    add("--teacher", type=Path, nargs="*", default=(), metavar="FILE", help="runs to distil")
    add("--runs", type=Path, nargs="*", default=(), metavar="FILE",
        help="train nothing: write the mean of these runs")  # fmt: skip
    add(
        "--start", type=Path, metavar="FILE", help="weights of layers to begin with, not the base's"
    )
    add("--unlabelled", type=Path, nargs="*", default=(), metavar="FILE",
        help="more messages for the teachers, spans empty")  # fmt: skip
    add("--epochs", type=int, default=usual.epochs)
    add("--rate", type=float, default=usual.rate)
    add("--head-rate", type=float, default=usual.head_rate)
    add("--soft-share", type=float, default=usual.soft_share, help="of the teachers in the loss")
    add("--unrelated", type=float, default=usual.unrelated, metavar="SHARE",
        help="of the messages without a line before, that get any line")  # fmt: skip
    add("--layers", type=int, default=usual.layers, help="of the base, counted from the first")
    add("--no-structure", dest="structure", action="store_false", help="without marks")
    add("--no-rounding", dest="rounding", action="store_false", help="without 8-bit rounding")
    return parser


def settings_of(options: argparse.Namespace) -> Settings:
    return Settings(**{one.name: getattr(options, one.name) for one in fields(Settings)})


def first_layers(base: Weights, count: int) -> Weights:
    return {
        name: value
        for name, value in base.items()
        if not name.startswith("encoder.layer.") or int(name.split(".")[2]) < count
    }


def planned(options: argparse.Namespace) -> Iterator[tuple[str, int, float]]:
    """Name, seed and share of the messages of each run."""
    seeds = [int(one) for one in options.seeds.split(",")]
    if options.curve:
        yield from ((f"share-{share:g}", seeds[0], share) for share in CURVE)
    else:
        yield from ((f"seed-{seed}", seed, options.share) for seed in seeds)


def run(options: argparse.Namespace) -> None:
    """ValueError: a file is missing or wrong."""
    settings = settings_of(options)
    if options.unlabelled and not options.teacher:
        raise ValueError("messages without labels need --teacher")
    start = first_layers(base.load(options.base), settings.layers)
    if options.start:
        with np.load(options.start) as stored:
            start = {**start, **{name: stored[name].astype(np.float32) for name in stored.files}}
    tokenizer = Tokenizer.from_file(str(options.base / "pieces.json"))
    data = load(options, tokenizer)
    teachers = [weights.trained(weights.read(path), start) for path in options.teacher]
    if teachers:
        data = replace(data, soft=taught(teachers, data.learned))
    options.out.mkdir(parents=True, exist_ok=True)
    print(f"{len(data.learned)} to learn from, {len(data.calibrated)} to calibrate on,"
          f" {len(data.tested)} to test on, {DEVICE}", flush=True)  # fmt: skip
    results = Results(options.out, data, start, settings)
    if options.runs:
        results.add("mean", weights.average([weights.read(path) for path in options.runs]))
        return
    start = initial(start, weights.plain_head().size)
    trained_runs: dict[str, Weights] = {}
    for name, seed, share in planned(options):
        model = train(start, data, share, seed, settings)
        trained_runs[name] = weights.exported(model.weights())
        results.add(name, trained_runs[name])
    if len(trained_runs) > 1 and not options.curve:
        results.add("mean", weights.average(list(trained_runs.values())))
        results.add_ensemble(list(trained_runs))


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    began = time.monotonic()
    try:
        run(options)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{time.monotonic() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
