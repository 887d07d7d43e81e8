"""``python -m evaluation.learning.fitting``: fit the weights of ``standfast.lifecycle.merge.odds``.

Positive are the changes of ``pairs`` with what they change; negative are the follow-ups of
``harmless`` and of ``sets/beside.jsonl``, and changes beside statements of other cases. Nothing
that is held back in the later sets is used. Prints the weights as they stand in the module.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence

import numpy as np

from evaluation.learning.cases import FOLDER, Case, SetName, load_all
from evaluation.learning.living import SCOPE, Lived, live
from evaluation.learning.matching import matches_any
from evaluation.learning.report import OPEN
from standfast.lifecycle.merge.changes import evidence
from standfast.testing.reader import statements_in
from standfast.types import Message
from standfast.wiring.reader import boxed_reader

ROUNDS, STEP, SHRINK = 20_000, 0.5, 0.0005
OTHERS = 3  # statements of other cases beside each change
HARMLESS = 8.0  # how much more a harmless follow-up counts than one of those
Example = tuple[dict[str, float], int, float]


async def _lived(name: SetName) -> list[tuple[Case, Lived]]:
    """Of the first sets and of what is for tuning in the later ones."""
    cases = [case for case in load_all(name) if not case.later or case.half in OPEN]
    return [(case, await live(case, None)) for case in cases]


def _told(case: Case) -> list[str]:
    """What the last turn says, as far as it would be compared with what is known."""
    turn = case.turns[-1]
    message = Message(
        id="m",
        scope=SCOPE,
        session="s",
        role="user",
        text=turn.text,
        at=turn.at,
        author=case.author,
    )
    return [one.text for one in statements_in(boxed_reader(), [message])]


def _examples(
    pairs: Sequence[tuple[Case, Lived]], harmless: Sequence[tuple[Case, Lived]]
) -> Iterator[Example]:
    """Only of what tells a change: nothing else is weighed."""
    for place, (case, lived) in enumerate(pairs):
        olds = [one for one in lived.first if matches_any(case.gone, one.text)]
        for told in _told(case):
            for old in olds:
                yield evidence(told, case.author, old.text, case.author), 1, 1.0
            for step in range(1, OTHERS + 1):
                other, then = pairs[(place + 7 * step) % len(pairs)]
                for old in then.first[:1]:
                    yield evidence(told, case.author, old.text, other.author), 0, 1.0
    for line in (FOLDER / "beside.jsonl").read_text("utf-8").splitlines():
        given = json.loads(line)
        yield evidence(given["said"], "", given["known"], ""), 0, HARMLESS
    for case, lived in harmless:
        for told in _told(case):
            for old in lived.first:
                yield evidence(told, case.author, old.text, case.author), 0, HARMLESS


def fitted(examples: Sequence[Example]) -> dict[str, float]:
    """A logistic regression by plain gradient descent; both answers weigh the same."""
    names = ["always", *sorted({name for found, _, _ in examples for name in found})]
    rows = np.array(
        [[1.0, *(found.get(name, 0.0) for name in names[1:])] for found, _, _ in examples]
    )
    wanted = np.array([label for _, label, _ in examples], dtype=float)
    counts = np.array([count for _, _, count in examples])
    balance = np.where(
        wanted == 1, counts / (wanted * counts).sum(), counts / ((1 - wanted) * counts).sum()
    )
    weights = np.zeros(len(names))
    for _ in range(ROUNDS):
        guess = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ ((guess - wanted) * balance) + SHRINK * weights
        weights -= STEP * slope
    return {name: round(float(weight), 2) for name, weight in zip(names, weights, strict=True)}


def main() -> None:
    pairs, harmless = asyncio.run(_lived("pairs")), asyncio.run(_lived("harmless"))
    examples = [example for example in _examples(pairs, harmless) if example[0]]
    for name, weight in fitted(examples).items():
        print(f'    "{name}": {weight},')


if __name__ == "__main__":
    main()
