"""Writers that are killed: nothing acknowledged is lost or doubled, nothing forgotten is back."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from proof.family import Broken, ProofFamily, Trial
from tests.simulation import test_kill as world

KILLS = 4  # on one file, then everything is checked

# Says "forgotten" only after forget() came back.
FORGETTER = """
import sys
from recollect import Memory
with Memory.open(sys.argv[1], embedder="hashing", background=False) as memory:
    print("ready", flush=True)
    for n in range(100_000):
        word = f"canary{sys.argv[2]}x{n}x"
        id_ = memory.remember(f"The password of Ann is {word}", scope="user:ann").items[0].id
        memory.observe("chat", [{"role": "user", "content": f"it is {word}"}], scope="user:ann")
        print("said", word, flush=True)
        memory.forget(ids=[id_])
        memory.forget(session="chat", scope="user:ann")
        print("forgotten", word, flush=True)
"""


def attempt(seed: int, folder: Path) -> Trial:
    dice = random.Random(seed)
    return _forgetting(dice, folder) if seed % 4 == 3 else _writing(dice, folder)


def _writing(dice: random.Random, folder: Path) -> Trial:
    file = folder / "memory.db"
    messages: list[str] = []
    records: list[str] = []
    for kill in range(KILLS):
        writer = world.start_writer(file, f"k{kill}", 100_000)
        said = _killed(writer, dice)
        new_messages, new_records = world.acknowledged(said)
        messages += new_messages
        records += new_records
    world.check_everything(file, messages, records)
    return Trial(units=KILLS, figures=(("acknowledged writes", len(messages) + len(records)),))


def _forgetting(dice: random.Random, folder: Path) -> Trial:
    file = folder / "memory.db"
    gone: list[str] = []
    for kill in range(KILLS):
        command = [sys.executable, "-c", FORGETTER, str(file), str(kill)]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0)
        said = _killed(child, dice).decode().split("\n")[:-1]
        gone += [line.split()[1] for line in said if line.startswith("forgotten")]
    world.doctor.check(file)
    found = b"".join(one.read_bytes() for one in folder.iterdir() if one.is_file())
    back = [word for word in gone if word.encode() in found]
    if back:
        raise Broken(f"{len(back)} forgotten words are in the files, such as {back[0]}")
    return Trial(units=KILLS, figures=(("acknowledged forgettings", len(gone)),))


def _killed(child: subprocess.Popen[bytes], dice: random.Random) -> bytes:
    """What it said before it was killed at a random moment."""
    assert child.stdout is not None
    if child.stdout.readline() != b"ready\n":
        raise Broken("the writer did not start")
    first = b"".join(child.stdout.readline() for _ in range(dice.choice((0, 2, 2, 4))))
    time.sleep(dice.uniform(0.0, 0.12))
    os.kill(child.pid, signal.SIGKILL)
    said, _ = child.communicate(timeout=60)
    return first + said


@contextmanager
def lying_writer() -> Iterator[None]:
    """Says what it will write before it has written it."""
    honest = world.WRITER
    lines = honest.split("\n")
    at = next(n for n, line in enumerate(lines) if "memory.observe(" in line)
    lines.insert(at, '        print("message", id_, flush=True)')
    world.WRITER = "\n".join(line for line in lines if line != lines[at] or lines.index(line) == at)
    try:
        yield
    finally:
        world.WRITER = honest


FAMILY = ProofFamily(
    name="kills",
    promise="A writer killed at any moment loses and doubles nothing; the forgotten stays so.",
    unit="kills",
    target=1_000,
    attempt=attempt,
    mutant=lying_writer,
    mutant_said="a writer that acknowledges before it has written",
)
