"""``python -m scripts.gates``: print every problem; ``--tighten`` lowers what became smaller."""

from __future__ import annotations

import sys

from scripts.gates import commits, sizes, vocabulary


def main(arguments: list[str]) -> int:
    if arguments == ["--tighten"]:
        vocabulary.tighten()
        sizes.tighten()
        return 0
    found = [*vocabulary.problems(), *sizes.problems(), *commits.problems()]
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
