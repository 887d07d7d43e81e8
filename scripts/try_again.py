"""Try the few tests that failed in a run once more, alone, and say aloud which then passed.

A machine with two busy cores now and then starves a test that starts processes. Who reads a red run
has to know which it was: a test that fails twice fails the run; one that passes alone is named as
unsteady, and is a defect to be mended all the same. More than a few failures are never tried again.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

FEW = 3
FAILED = 1  # pytest's exit code for "tests ran, and some failed"
LAST = Path(".pytest_cache/v/cache/lastfailed")


def main(code: int) -> int:
    try:
        names = sorted(json.loads(LAST.read_text()))
    except (OSError, ValueError):
        return code
    if code != FAILED or not 1 <= len(names) <= FEW:
        return code
    print(f"\n{len(names)} failed; once more, alone:", *names, sep="\n  ", flush=True)
    again = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *names], check=False
    ).returncode
    if again == 0:
        print("\nUNSTEADY: failed among the others and passed alone:", *names, sep="\n  ")
    return again


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
