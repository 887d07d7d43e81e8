"""A program that writes until it is killed: what it was told is kept must be there after."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

HEAD = """
import asyncio, sys
from standfast import Memory
memory = Memory.open(sys.argv[1], background=False, embedder="none")
"""


def killed_writer(body: str, store: str, *, after: int = 8) -> int:
    """Run ``body``, which prints the number of each thing when it is kept, and kill it; how many
    numbers it had told by then, at least."""
    writer = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", HEAD + body, store],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert writer.stdout is not None
    with writer.stdout as told:
        answered = [told.readline().strip() for _ in range(after)]
        os.kill(writer.pid, signal.SIGKILL)
        answered += told.read().split()  # what it told before it was gone
        writer.wait()
    assert answered[:after] == [str(number) for number in range(after)]
    return len(answered)
