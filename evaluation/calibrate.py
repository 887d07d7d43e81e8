"""``python -m evaluation.calibrate [DATA]``: measure what the cosines of recall-2 say.

Prints the cosines of related and unrelated pairs, then chooses the calibration, one parameter
after the other: by search in thirteen languages, by the half of the precision cases that may be
tuned on and, where DATA holds LoCoMo, the weight of similarity by its turns too. Writes
``recall-2.json`` and prints its SHA-256, which ``standfast.models.local.box`` pins. All of these
are development sets.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from evaluation import languages
from evaluation.asking import Task, Variant, ask_case
from evaluation.cases import DataError
from evaluation.precision.__main__ import HALVED, judge
from evaluation.scores import measured
from evaluation.sets import SETS
from standfast.errors import StandfastError, Unavailable
from standfast.models.local import box
from standfast.models.local.layers import Floats
from standfast.models.local.recall import SearchNetwork, calibration_of, subtract_common
from standfast.models.local.runtime import batches
from standfast.profiles import UNCALIBRATED
from training import labelled
from training.languages.pairs import Asked, parse

PAIRS = ("p1.jsonl", "p2.jsonl", "p3.jsonl")
# All of it would take away a little of what tells texts of different languages apart.
COMMON_SHARE = 0.8
DIGITS = 4
FLOOR = 0.0  # where texts that have nothing to do with each other lie
QUERIES = ("same", "english")
WEIGHT = "similarity_weight"
# What is tried, in this order, beginning with the first of each.
CHOICES: Mapping[str, Sequence[float]] = {
    "least": (0.2, 0.25, 0.3),
    WEIGHT: (0.3, 0.25, 0.2, 0.35),
}
# By hand: at 1.8 and 0.7 about half a point more is found, and 7 of 436 precision cases are lost.
LIFT_LEAST = 2.0
STATEMENT = {"share": 0.6, "clear": 0.45, "share_of_far": 0.75}
TURN = {"share": 0.33, "least": 0.15}

Values = dict[str, float]


@dataclass(frozen=True, slots=True)
class Cosines:
    """Of questions and memories that belong together, and of others."""

    pair: str
    related: Floats
    unrelated: Floats

    def __str__(self) -> str:
        cells = [f"{self.pair:<24}"]
        for values in (self.unrelated, self.related):
            cells.append(
                f"{values.mean():>8.3f} ±{values.std():.3f}" if len(values) else f"{'-':>15}"
            )
        return "  ".join(cells)


class Candidate:
    """Implements ``ports.Embedder``: recall-2 with another calibration. It keeps its vectors."""

    local = True
    space, dimensions = f"{box.NAME}/{SearchNetwork.width}", SearchNetwork.width

    def __init__(self, network: SearchNetwork) -> None:
        self._network = network
        self._rows: dict[str, Floats] = {}
        self.common = np.zeros(self.dimensions, np.float32)
        self.calibration = UNCALIBRATED

    def plain(self, texts: Sequence[str]) -> Floats:
        """As the network gives them."""
        new = [text for text in dict.fromkeys(texts) if text not in self._rows]
        tokens = self._network.tokens(new)
        self._rows |= {text: np.zeros(self.dimensions, np.float32) for text in new}
        for batch in batches([len(one) for one in tokens]):
            rows = self._network.run([tokens[place] for place in batch])
            self._rows |= {new[place]: row for place, row in zip(batch, rows, strict=True)}
        return np.array([self._rows[text] for text in texts])

    async def embed(self, texts: Sequence[str]) -> Any:
        return list(subtract_common(self.plain(texts), self.common))


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evaluation.calibrate", description=__doc__)
    add = parser.add_argument
    add("data", type=Path, nargs="?", metavar="DATA", help="the folder that holds LoCoMo")
    add("--out", type=Path, help="the file to write (default: beside the weights)")
    add("--cosines", action="store_true", help="print the cosines and write nothing")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    try:
        found = list(labelled.read([languages.DATA / name for name in PAIRS], parse))
        asyncio.run(_main(options, found))
    except (DataError, StandfastError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


async def _main(options: argparse.Namespace, pairs: Sequence[Asked]) -> None:
    folder = box.place()
    if folder is None:
        raise Unavailable(box.status().detail)
    candidate = Candidate(SearchNetwork(box.load_files(folder), 1))
    candidate.common = common_of(candidate, pairs)
    print("cosines: question and memory", f"{'unrelated':>12}{'related':>17}", sep="")
    print(*cosines_of(candidate, pairs), sep="\n", flush=True)
    if options.cosines:
        return
    values = await chosen(candidate, options.data)
    content = json.dumps(file_of(candidate.common, values), indent=1) + "\n"
    out = options.out or folder / box.CALIBRATION
    out.write_text(content)
    print(f"{out.name}: {sha256(content.encode()).hexdigest()}")


def common_of(candidate: Candidate, pairs: Sequence[Asked]) -> Floats:
    """What the memories of all languages have in common: the point nearest to the origin at which
    the means of the languages weigh the same, so that taking it away favours none of them."""
    by_language: dict[str, list[str]] = {}
    for one in pairs:
        by_language.setdefault(one.language, []).append(one.memory)
    means = np.array([candidate.plain(texts).mean(axis=0) for texts in by_language.values()])
    between = (means[1:] - means[0]).T
    shares = np.linalg.lstsq(between, -means[0], rcond=None)[0]
    common: Floats = np.round(COMMON_SHARE * (means[0] + between @ shares), DIGITS)
    return common.astype(np.float32)


def cosines_of(candidate: Candidate, pairs: Sequence[Asked]) -> list[Cosines]:
    """By the languages of question and memory, all but English together."""
    groups = {
        "English": [one for one in pairs if one.language == languages.ENGLISH],
        "other": [one for one in pairs if one.language != languages.ENGLISH],
    }
    found = [_cosines(candidate, "English, English", groups["English"], "same")]
    for question in QUERIES:
        name = "English, other" if question == "english" else "other, itself"
        found.append(_cosines(candidate, name, groups["other"], question))
    asked = subtract_common(
        candidate.plain([one.same for one in groups["other"]]), candidate.common
    )
    told = subtract_common(
        candidate.plain([one.memory for one in groups["English"]]), candidate.common
    )
    return [*found, Cosines("other, English", np.zeros(0, np.float32), (asked @ told.T).ravel())]


def _cosines(candidate: Candidate, name: str, pairs: Sequence[Asked], question: str) -> Cosines:
    """Unrelated are those within a language."""
    asked = subtract_common(
        candidate.plain([getattr(one, question) for one in pairs]), candidate.common
    )
    told = subtract_common(candidate.plain([one.memory for one in pairs]), candidate.common)
    spoken = np.array([one.language for one in pairs])
    others = (spoken[:, None] == spoken) & ~np.eye(len(pairs), dtype=bool)
    cosines = asked @ told.T
    return Cosines(name, np.diag(cosines), cosines[others])


def file_of(common: Floats, values: Values) -> Mapping[str, Any]:
    return {
        "calibration": {
            WEIGHT: values[WEIGHT],
            "similarity_floor": FLOOR,
            "lift_least": LIFT_LEAST,
        },
        "cuts": {"statement": {**STATEMENT, "least": values["least"]}, "turn": TURN},
        "common": [round(float(one), DIGITS) for one in common],
    }


async def chosen(candidate: Candidate, data: Path | None) -> Values:
    """The best of each parameter, given the others; within a tenth of a point the first."""
    values = {name: tried[0] for name, tried in CHOICES.items()}
    for name, tried in CHOICES.items():
        totals = {}
        for value in tried:
            given = file_of(candidate.common, {**values, name: value})
            candidate.calibration = calibration_of(given)
            scores = await scores_of(candidate, data if name == WEIGHT else None)
            totals[value] = round(sum(scores.values()) / len(scores), 3)
            told = ", ".join(f"{key} {100 * score:.1f}" for key, score in scores.items())
            print(f"{name} {value:g}: {100 * totals[value]:.1f} ({told})", flush=True)
        values[name] = max(totals, key=totals.__getitem__)
    return values


async def scores_of(candidate: Candidate, data: Path | None) -> Values:
    pairs = labelled.read([languages.DATA / name for name in languages.FILES], parse)
    judged = await languages.judge(candidate, "default", languages.stores_of(list(pairs)))
    found = {
        question: _share([one.place is not None for one in languages.of(judged, question)])
        for question in languages.QUESTIONS
    }
    cases = [await judge(candidate, "default", file=file) for file in HALVED]
    passed = [one.passed for some in cases for one in some if not one.asked.held_back]
    found["precision"] = _share(passed)
    if data is not None:
        found["LoCoMo"] = await _locomo(candidate, data)
    return found


def _share(values: Sequence[bool]) -> float:
    return sum(values) / len(values)


async def _locomo(candidate: Candidate, data: Path) -> float:
    """Recall@10 of turns."""
    locomo = SETS["locomo"]
    task = Task(profile="default", k=locomo.k, variants=[Variant()], baselines=False)
    values = []
    for case in locomo.load(locomo.files(data)):
        with TemporaryDirectory() as folder:
            found = await ask_case("locomo", case, task, candidate, f"{folder}/case.db")
        values += [measured(outcome)["turn recall@10"] for outcome in found]
    return float(np.mean(values))


if __name__ == "__main__":
    sys.exit(main())
