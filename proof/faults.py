"""Faults of the world around it: a disk that is full, broken or slow, a clock that jumps. Under
each, the same promises."""

from __future__ import annotations

import asyncio
import errno
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import apsw

from proof.family import Broken, ProofFamily, Trial
from recollect import AsyncMemory, RecollectError
from recollect.stores.sqlite import doctor

SCOPE = "user:ann"
STEPS = 14
INVARIANTS = (
    "what was acknowledged is there",
    "nothing is there twice",
    "what could not be kept was said",
    "a look is answered or refused aloud",
    "the file is sound afterwards",
    "afterwards it writes again",
)


@dataclass(slots=True)
class Trouble:
    """What is wrong right now; the file system below asks it before every write."""

    kind: str = ""
    dice: random.Random = field(default_factory=random.Random)
    hits: int = 0

    def strikes(self, kind: str) -> bool:
        struck = self.kind == kind and self.dice.random() < 0.3
        self.hits += struck
        return struck


NOW = Trouble()


class FaultyFile(apsw.VFSFile):
    """A file on a disk that may fail."""

    def __init__(self, vfs: str, name: Any, flags: list[int]) -> None:
        super().__init__(vfs, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - SQLite's name
        if NOW.strikes("full disk"):
            raise apsw.FullError(f"no space left ({errno.ENOSPC})")
        if NOW.strikes("write error"):
            raise apsw.IOError("input/output error")
        if NOW.strikes("short write"):
            super().xWrite(data[: len(data) // 2], offset)
            raise apsw.IOError("short write")
        if NOW.strikes("slow disk"):
            time.sleep(0.003)
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802
        if NOW.strikes("sync error"):
            raise apsw.IOError("fsync failed")
        super().xSync(flags)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        if NOW.strikes("read error"):
            raise apsw.IOError("input/output error")
        return super().xRead(amount, offset)


class FaultyDisk(apsw.VFS):
    """Over the one that this machine uses."""

    def __init__(self, base: str) -> None:
        super().__init__("recollect-proof", base)
        self._base = base

    def xOpen(self, name: Any, flags: list[int]) -> FaultyFile:  # noqa: N802
        return FaultyFile(self._base, name, flags)


DISK = ("full disk", "write error", "short write", "sync error", "slow disk", "read error")
CLOCK = ("clock jumps ahead", "clock jumps back")
KINDS = (*DISK, *CLOCK)


def attempt(seed: int, folder: Path) -> Trial:
    kind = KINDS[seed % len(KINDS)]
    NOW.dice = random.Random(seed)
    NOW.hits = 0
    with faulty_disk():
        asyncio.run(_live(kind, folder / "memory.db", random.Random(seed)))
    if kind in DISK and not NOW.hits:
        return Trial(units=0)
    return Trial(units=len(INVARIANTS), figures=((kind, 1),))


@contextmanager
def faulty_disk() -> Iterator[None]:
    before = apsw.vfs_names()[0]
    disk = FaultyDisk(before)
    apsw.set_default_vfs("recollect-proof")
    try:
        yield
    finally:
        NOW.kind = ""
        apsw.set_default_vfs(before)
        disk.unregister()


async def _live(kind: str, file: Path, dice: random.Random) -> None:
    shift = timedelta()
    base = datetime(2026, 5, 3, tzinfo=UTC)
    ticks = iter(range(10**9))

    def clock() -> datetime:
        return base + shift + timedelta(seconds=next(ticks))

    kept: dict[str, str] = {}
    memory = await AsyncMemory.open(str(file), embedder="hashing", background=False, clock=clock)
    async with memory:
        await _write(memory, kept, "before")
        for step in range(STEPS):
            NOW.kind = kind if kind in DISK else ""
            if kind in CLOCK:
                sign = 1 if kind.endswith("ahead") else -1
                shift += sign * timedelta(days=dice.choice((1, 40, 400)))
            await _write(memory, kept, f"step{step}")
            await _look(memory)
        NOW.kind = ""
        if not await _write(memory, kept, "after"):
            raise Broken(f"{kind}: it does not write again")
    await _check(kind, file, kept, clock)


async def _write(memory: AsyncMemory, kept: dict[str, str], name: str) -> bool:
    """Whether it was acknowledged as durable; only our own errors may say no."""
    text = f"Fact {name} of Ann is number {len(name)}"
    try:
        receipt = await memory.remember(text, scope=SCOPE)
    except RecollectError as error:
        if not str(error):
            raise Broken("refused without a word") from None
        return False
    item = receipt.items[0]
    if item.status == "stored":
        kept[item.id] = text
    elif item.status not in ("volatile", "merged"):
        raise Broken(f"{name}: {item.status}, {item.reason}")
    return item.status == "stored"


async def _look(memory: AsyncMemory) -> None:
    try:
        await memory.recall("fact of Ann", scope=SCOPE)
    except RecollectError as error:
        if not str(error):
            raise Broken("refused to look without a word") from None


async def _check(
    kind: str, file: Path, kept: dict[str, str], clock: Callable[[], datetime]
) -> None:
    async with await AsyncMemory.open(
        str(file), embedder="hashing", background=False, clock=clock
    ) as memory:
        found = {record.id: record.text for record in await memory.get(list(kept))}
        lost = kept.keys() - found.keys()
        if lost:
            raise Broken(f"{kind}: {len(lost)} of {len(kept)} acknowledged are lost")
        page = await memory.records(scope=SCOPE, statuses=["active"], limit=200)
        texts = Counter(record.text for record in page.items)
        if max(texts.values(), default=1) > 1:
            raise Broken(f"{kind}: {texts.most_common(1)[0][0]!r} is there twice")
    report = doctor.check(file)
    if not report.is_sound:
        raise Broken(f"{kind}: {report.findings[0].text}")


@contextmanager
def careless_commit() -> Iterator[None]:
    """Errors of the disk are taken for success."""
    from recollect.stores.sqlite import writer

    honest = writer.Writer._recover

    def careless(self: Any, error: Exception, committing: bool) -> Any:
        honest(self, error, committing)
        return None

    with mock.patch.object(writer.Writer, "_recover", careless):
        yield


FAMILY = ProofFamily(
    name="faults",
    promise="Under every fault of disk and clock tried, the six invariants hold.",
    unit="cells",
    target=3_000,
    attempt=attempt,
    mutant=careless_commit,
    mutant_said="a writer that takes an error of the disk for success",
)
