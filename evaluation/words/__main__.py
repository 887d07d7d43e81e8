"""Print R@1 and R@5 of the keyword search, by language."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from evaluation.words import LANGUAGES, Question, pairs, questions, ranks, share


def report(asked: Sequence[Question], beside: Sequence[str]) -> str:
    lines = [f"{'':<6}{'cases':>6}{'R@1':>7}{'R@5':>7}"]
    columns: list[tuple[float, float]] = []
    for language in LANGUAGES:
        found = ranks(asked, language, beside)
        if found:
            columns.append((share(found, 1), share(found, 5)))
            lines.append(
                f"{language:<6}{len(found):>6}{columns[-1][0]:>7.0f}{columns[-1][1]:>7.0f}"
            )
    means = [sum(column) / len(columns) for column in zip(*columns, strict=True)]
    return "\n".join([*lines, f"{'mean':<6}{'':>6}{means[0]:>7.1f}{means[1]:>7.1f}"])


def main(files: Sequence[str]) -> int:
    print(report(pairs(map(Path, files)), ["en"]) if files else report(questions(), ()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
