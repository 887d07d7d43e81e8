"""Acknowledged means durable: writers killed at random moments, and many writers at once."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

from standfast import AsyncMemory, Memory
from standfast.stores.sqlite import doctor
from standfast.types import Message, SessionKey

# Says each id only after the call that wrote it came back.
WRITER = """
import sys
from standfast import Memory
file, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with Memory.open(file, embedder="hashing", background=False) as memory:
    print("ready", flush=True)
    for n in range(count):
        id_ = f"{name}-{n}"
        message = {"role": "user", "content": f"message {id_} says hello", "id": id_}
        receipt = memory.observe("shared", [message], scope="org:acme")
        assert receipt.items[0].status == "stored", receipt
        print("message", id_, flush=True)
        receipt = memory.remember(f"Fact {id_} is number {n} of writer {name}", scope="org:acme")
        assert receipt.items[0].status == "stored", receipt
        print("record", receipt.items[0].id, flush=True)
"""


def start_writer(file: Path, name: str, count: int) -> subprocess.Popen[bytes]:
    """Unbuffered: what readline() took in advance, communicate() would not see."""
    command = [sys.executable, "-c", WRITER, str(file), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)


def acknowledged(output: bytes) -> tuple[list[str], list[str]]:
    """Message ids and record ids whose writing was acknowledged; half a line is none."""
    lines = [line.split() for line in output.decode().split("\n")[:-1]]
    messages = [line[1] for line in lines if line[0] == "message"]
    return messages, [line[1] for line in lines if line[0] == "record"]


def log_of(file: Path) -> list[Message]:
    async def read() -> list[Message]:
        async with await AsyncMemory.open(str(file), background=False) as memory:
            engine = memory._engine
            key = SessionKey("org:acme", "shared")
            found: list[Message] = []
            while page := await engine.store.messages(
                key, now=engine.now(), after=found[-1].seq if found else 0, limit=1000
            ):
                found += page
            return found

    return asyncio.run(read())


def check_everything(file: Path, messages: list[str], records: list[str]) -> None:
    log = log_of(file)
    times = Counter(message.id for message in log)
    assert not [id_ for id_ in messages if times[id_] != 1], "an acknowledged message is not there"
    assert max(times.values(), default=1) == 1
    assert [message.seq for message in log] == list(range(1, len(log) + 1))
    with Memory.open(str(file), background=False) as memory:
        found = {record.id for record in memory.get(records)}
        assert found == set(records), "an acknowledged record is not there"
        # A message and its searchable turn are written together or not at all.
        for message in log[-3:]:
            hits = memory.recall(f"message {message.id}", scope="org:acme", types=["turn"]).hits
            assert message.id in {hit.record.lineage[0] for hit in hits}
    report = doctor.check(file)
    assert report.is_sound, report.findings


def test_X2_nothing_acknowledged_is_lost_when_the_writer_is_killed(
    tmp_path: Path, proving: bool
) -> None:
    file = tmp_path / "memory.db"
    dice = random.Random(20261115)
    messages: list[str] = []
    records: list[str] = []
    for kill in range(500):
        # A busy machine needs more of them until enough is acknowledged.
        if not proving and kill >= 6 and len(messages) > 15:
            break
        writer = start_writer(file, f"k{kill}", 100_000)
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
        # Most are killed at work, however slow the machine is; some before they have begun.
        first = b"".join(writer.stdout.readline() for _ in range(dice.choice((0, 2, 2, 4))))
        time.sleep(dice.uniform(0.0, 0.12))
        os.kill(writer.pid, signal.SIGKILL)
        said, _ = writer.communicate(timeout=30)
        new_messages, new_records = acknowledged(first + said)
        messages += new_messages
        records += new_records
    assert len(messages) > 15
    check_everything(file, messages, records)


def test_X2_eight_processes_share_one_file_and_lose_nothing(tmp_path: Path, proving: bool) -> None:
    file = tmp_path / "memory.db"
    count = 200 if proving else 20
    writers = [start_writer(file, f"w{n}", count) for n in range(8)]
    said: list[bytes] = [b""] * 8

    def listen(n: int) -> None:
        said[n], errors = writers[n].communicate(timeout=300)
        assert writers[n].returncode == 0, errors

    threads = [threading.Thread(target=listen, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    messages = [id_ for output in said for id_ in acknowledged(output)[0]]
    records = [id_ for output in said for id_ in acknowledged(output)[1]]
    assert (len(messages), len(records)) == (8 * count, 8 * count)
    check_everything(file, messages, records)


def test_X2_processes_see_each_others_writes_at_once(tmp_path: Path) -> None:
    file = str(tmp_path / "memory.db")
    with Memory.open(file) as first, Memory.open(file) as second:
        for n in range(20):
            writer, reader = (first, second) if n % 2 else (second, first)
            id_ = writer.remember(f"Item {n} of the list is {n * n}", scope="org:acme").items[0].id
            hits = reader.recall(f"item {n} of the list", scope="org:acme", limit=50).hits
            assert id_ in {hit.record.id for hit in hits}
            if n % 5 == 0:
                writer.forget(ids=[id_])
                hits = reader.recall(f"item {n} of the list", scope="org:acme", limit=50).hits
                assert id_ not in {hit.record.id for hit in hits}


def test_X2_two_processes_creating_the_file_at_once_both_succeed(
    tmp_path: Path, proving: bool
) -> None:
    for attempt in range(20 if proving else 1):
        file = tmp_path / f"new-{attempt}.db"
        writers = [start_writer(file, f"c{n}", 2) for n in range(4)]
        outputs = [writer.communicate(timeout=60) for writer in writers]
        assert [writer.returncode for writer in writers] == [0] * 4, outputs
        messages = [id_ for said, _ in outputs for id_ in acknowledged(said)[0]]
        assert len(messages) == 8
        check_everything(file, messages, [])
