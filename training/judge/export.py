"""``python -m training.judge.export WEIGHTS FOLDER PAIRS UNRELATED``: the files of judge-1.

WEIGHTS is an ``.npz`` of ``training.judge.train``, beside it ``judge-1.json``. FOLDER holds the
base of the box and receives ``judge-1.onnx`` and ``judge-1.json``; their SHA-256 are printed.
PAIRS is the folder with judged pairs: the thresholds are found on the files of it that training
left out, and on those of the same names in UNRELATED (``training.judge.unrelated``), with the
network as it runs.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from standfast.models.local import box
from standfast.models.local.base import Base, onnx_of_pair
from standfast.understanding.judging.judge import JudgedStatement, Thresholds
from standfast.understanding.judging.network import JudgeFiles, PairNetwork
from training.judge.labels import Pair, parse

TESTED = ("j11", "j13", "k3")  # as in training: corrections, lives, twelve languages
CHANGES = ("REPLACES", "ENDS")
QUIET = ("SAME", "REFINES", "ADDS", "TOUCHES")
APART = ""  # the relation of two statements of different people
AT_ONCE = 16
APART_ALARMS = 2.0  # of a hundred: a new statement is held against eight
# False alarms of a hundred pairs that are something else.
ALARMS = {"same": 1.0, "refines": 2.0, "change": 2.0, "change_unclear": 1.0, "contradicts": 0.5}

Shares = Mapping[str, float]


def network_of(onnx: bytes, folder: Path, described: Mapping[str, Any]) -> PairNetwork:
    pieces = box.read_file(folder, box.PIECES)
    files = JudgeFiles(
        onnx=onnx,
        tokenizer=pieces,
        origin=str(folder),
        base=Base(pieces, np.fromfile(folder / box.WORDS, np.uint8)),
        relations=tuple(described["relations"]),
        temperature=described["temperature"],
        thresholds=Thresholds(**dict.fromkeys(ALARMS, 1.0)),
    )
    return PairNetwork(files, threads=2)


def shares_of(network: PairNetwork, pairs: Sequence[Pair]) -> list[dict[str, float]]:
    found: list[dict[str, float]] = [{}] * len(pairs)
    order = sorted(range(len(pairs)), key=lambda at: len(pairs[at].new) + len(pairs[at].before))
    for start in range(0, len(order), AT_ONCE):
        some = order[start : start + AT_ONCE]
        asked = [
            (JudgedStatement(text=one.old), JudgedStatement(text=one.new, before=one.before))
            for one in (pairs[at] for at in some)
        ]
        for at, shares in zip(some, network.shares(asked), strict=True):
            found[at] = shares
    return found


def threshold(
    of: Callable[[Shares], float],
    wrong: Collection[str],
    alarms: float,
    found: Sequence[tuple[Pair, Shares]],
) -> float:
    near = sorted((of(shares) for one, shares in found if one.relation in wrong), reverse=True)
    apart = sorted((of(shares) for one, shares in found if one.relation == APART), reverse=True)
    least = near[int(len(near) * alarms / 100)]
    return round(max(least, apart[int(len(apart) * APART_ALARMS / 100)]), 4)


def thresholds(found: Sequence[tuple[Pair, Shares]]) -> dict[str, float]:
    everything = {*QUIET, *CHANGES, "DOUBT"}
    asked: dict[str, tuple[Callable[[Shares], float], Collection[str]]] = {
        "same": (lambda one: one["SAME"], everything - {"SAME"}),
        "refines": (lambda one: one["REFINES"], everything - {"REFINES", "SAME"}),
        "change": (change, QUIET),
        "change_unclear": (change, QUIET),
        "contradicts": (lambda one: one["DOUBT"], QUIET),
    }
    return {name: threshold(*asked[name], ALARMS[name], found) for name in asked}


def change(shares: Shares) -> float:
    return sum(shares[name] for name in CHANGES)


def main(arguments: Sequence[str] | None = None) -> int:
    named = [Path(one) for one in (sys.argv[1:] if arguments is None else arguments)]
    if len(named) != 4:
        print("error: say WEIGHTS, FOLDER, PAIRS, UNRELATED (see the docstring)", file=sys.stderr)
        return 2
    source, folder, pairs, unrelated = named
    with np.load(source) as stored:
        onnx = onnx_of_pair({name: stored[name].astype(np.float32) for name in stored.files})
    described = json.loads(source.with_name(f"{box.JUDGE}.json").read_text("utf-8"))
    lines = [line for name in TESTED for line in (pairs / f"{name}.jsonl").open(encoding="utf-8")]
    tested = [one for line in lines if line.strip() for one in parse(line)]
    lines = [
        line for name in TESTED for line in (unrelated / f"{name}.jsonl").open("r", -1, "utf-8")
    ]
    apart = [json.loads(line) for line in lines if line.strip()]
    tested += [Pair(old, "", new, APART, "") for old, new in apart]
    shares = shares_of(network_of(onnx, folder, described), tested)
    found = list(zip(tested, shares, strict=True))
    described["thresholds"] = thresholds(found)
    seen = [change(one) for pair, one in found if pair.relation in CHANGES]
    least = described["thresholds"]["change"]
    print(f"{len(tested)} pairs: {json.dumps(described['thresholds'])}")
    print(f"changes seen: {100 * sum(one > least for one in seen) / len(seen):.1f} %")
    (folder / f"{box.JUDGE}.onnx").write_bytes(onnx)
    (folder / f"{box.JUDGE}.json").write_text(json.dumps(described) + "\n", "utf-8")
    for file in (f"{box.JUDGE}.onnx", f"{box.JUDGE}.json"):
        content = (folder / file).read_bytes()
        print(f"{file}: {len(content):,} bytes, {sha256(content).hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
