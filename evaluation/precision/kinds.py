"""``python -m evaluation.precision.kinds DATA``: what is lost by asking for the right kind.

A statement that holds nothing of the kind that a question asks for is left out
(``standfast.rank.sought``). Here the questions of the training data are held against the sentences
that answer them, which must stay, and against others of the same text, which may go. The forms were
widened after a look at some of what was lost, so nothing here is held back. DATA is what
``python -m training.prepare`` wrote.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from evaluation.scores import score
from standfast.rank.contrast import READ_MAX
from standfast.rank.sought import kind_of, without_it
from training.stores import ANSWER, Asked, Store, read

SOURCES = ("squad", "selqa", "qamr", "xquad-en")  # plain sentences, in English
OTHERS_MAX = 8  # sentences of the same text, for each question


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m evaluation.precision.kinds")
    parser.add_argument("data", type=Path, metavar="DATA", help="the folder of prepared data")
    file = parser.parse_args(arguments).data / "train.jsonl.gz"
    if not file.is_file():
        print(
            f"error: there is no {file.name} there; run python -m training.prepare", file=sys.stderr
        )
        return 2
    lost: dict[str, list[float]] = {}
    gone: dict[str, list[float]] = {}
    untold: Counter[str] = Counter()
    for store in read(file):
        for asked in store.questions if store.source in SOURCES else ():
            kind = kind_of(asked.text)
            answers, others = _sentences(store, asked)
            if asked.kind != ANSWER or not kind:
                untold[asked.kind] += 1
                continue
            lost.setdefault(kind, []).extend(map(float, map(bool, without_it(asked.text, answers))))
            gone.setdefault(kind, []).extend(map(float, map(bool, without_it(asked.text, others))))
    print(f"{sum(map(len, lost.values())):,} answers; {untold[ANSWER]:,} questions ask for no kind")
    print(f"  {'asked for':<12}{'answers':>9}{'lost, %':>20}{'others':>9}{'left out, %':>20}")
    for kind in sorted(lost, key=lambda one: -len(lost[one])):
        ours, theirs = lost[kind], gone[kind]
        told = f"{score(ours)!s:>20}{len(theirs):>9}{score(theirs)!s:>20}"
        print(f"  {kind:<12}{len(ours):>9}{told}")
    everything = [value for found in lost.values() for value in found]
    print(f"  {'all':<12}{len(everything):>9}{score(everything)!s:>20}")
    return 0


def _sentences(store: Store, asked: Asked) -> tuple[list[str], list[str]]:
    """Those that answer, and others of the same text."""
    answers = [store.sessions[at.session][at.turn].text for at in asked.evidence]
    sessions = {at.session for at in asked.evidence}
    others = [turn.text for number in sessions for turn in store.sessions[number]]
    short = [text for text in others if text not in answers and len(text) < READ_MAX]
    return [text for text in answers if len(text) < READ_MAX], short[:OTHERS_MAX]


if __name__ == "__main__":
    sys.exit(main())
