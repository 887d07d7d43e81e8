"""``standfast`` with a meter: whatever holds its loop for long is written down, in the time of the
loop's own thread. ``STANDFAST_TEST_METER`` names the file: a line for each, in seconds."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from standfast.interfaces.cli import main
from tests.simulation.loop import LoopMeter

NOTED_SECONDS = 0.005


class NotingMeter(LoopMeter):
    """For a process of which only its files are seen."""

    def note(self, seconds: float) -> None:
        if seconds >= NOTED_SECONDS:
            with Path(os.environ["STANDFAST_TEST_METER"]).open("a") as file:
                file.write(f"{seconds:.4f}\n")


if __name__ == "__main__":
    with NotingMeter(threading.get_ident(), kind="all").watching():
        sys.exit(main())
