"""``python -m proof``: try the promises, keep the figures, write the page. Ends with 1 if one
broke."""

from __future__ import annotations

import argparse
import sys

from proof import load
from proof.families import FAMILIES
from proof.ledger import Ledger, commit_now, latest
from proof.page import write
from proof.runner import again, run


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m proof", description=__doc__)
    parser.add_argument("--minutes", type=float, default=240.0, help="how long in all")
    parser.add_argument("--family", action="append", choices=[one.name for one in FAMILIES])
    parser.add_argument("--page", action="store_true", help="only write the page of the last run")
    parser.add_argument("--again", action="store_true", help="only try what broke in the last run")
    options = parser.parse_args()
    if options.page or options.again:
        found = next(latest(), None)
        if found is None:
            parser.error("nothing was proved yet; run `make proof` first")
        held = again(FAMILIES, found, commit_now()) if options.again else True
        found.save(at=found.at)
        print(write(FAMILIES, latest()))
        return 0 if held else 1
    chosen = [one for one in FAMILIES if not options.family or one.name in options.family]
    load.PLAN.fit(options.minutes, len(chosen))
    ledger = Ledger.of(commit_now())
    held = run(chosen, ledger, options.minutes * 60)
    print(write(FAMILIES, latest()))
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
