"""Work that is killed half way: imports, restores, rekeys, moves between stores, upgrades of an old
file, upkeep. Whatever moment it was, the file is sound and holds all it held; the same work again
completes it."""

from __future__ import annotations

import contextlib
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from proof.family import Broken
from standfast import Memory
from standfast.errors import StandfastError
from standfast.stores.sqlite import doctor
from standfast.stores.sqlite.cipher import CAN_ENCRYPT, set_key
from standfast.stores.sqlite.rekey import rekey
from standfast.wiring.cipher import key_from
from tests.simulation import test_kill_files as world
from tests.unit.stores.old_file import make_old_file

SCOPE = world.SCOPE
MANY = 600
# Everything is loaded before it says "ready", so that the kill hits the work itself.
CHILD = """
import asyncio, sys
import standfast.verbs.import_, standfast.stores.sqlite.backup, standfast.models.providers.hashing
from standfast import Memory
from standfast.wiring import files
verb, store, other = sys.argv[1:]
print("ready", flush=True)
if verb == "import":
    with Memory.open(store, embedder="hashing", background=False) as memory:
        memory.import_from(other)
elif verb == "restore":
    asyncio.run(files.restore_store(store, None, other))
elif verb == "rekey":
    files.rekey_store(store, None, other)
elif verb == "move":
    asyncio.run(files.migrate_store(other, store, None, embedder="hashing"))
elif verb == "upgrade":
    Memory.open(store, embedder="hashing", background=False).close()
else:
    with Memory.open(store, embedder="hashing", background=False) as memory:
        memory.maintain(force=True)
print("done", flush=True)
"""
_seconds: dict[str, float] = {}  # how long each takes when it is left alone


@dataclass(frozen=True, slots=True)
class Job:
    """``make`` prepares a folder, and a store at an address if one is given, and says on what to
    work, with what; ``holds`` is asked after each kill, ``ends`` when the work was done to its
    end."""

    make: Callable[[Path, str], tuple[str, str]]
    holds: Callable[[str, str], None]
    ends: Callable[[str, str], None]


def killed(verb: str, dice: random.Random, folder: Path, kills: int, address: str = "") -> int:
    """So many kills of one work on one store, a file or what is at the address; how many of them
    met it at work."""
    job = JOBS[verb]
    if verb not in _seconds:
        alone = folder / "alone"
        alone.mkdir()
        _seconds[verb] = _run(verb, *job.make(alone, ""))
    target, other = job.make(folder, address)
    met = 0
    for _ in range(kills):
        child = _start(verb, target, other)
        time.sleep(dice.uniform(0, 0.6 * _seconds[verb]))
        child.kill()
        said, _ = child.communicate(timeout=60)
        met += b"done" not in said
        job.holds(target, other)
    _run(verb, target, other)
    job.ends(target, other)
    return met


def _start(verb: str, target: str, other: str) -> subprocess.Popen[bytes]:
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, verb, target, other],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    )
    assert child.stdout is not None
    if child.stdout.readline() != b"ready\n":
        raise Broken(f"{verb} does not start: {child.communicate()[1].decode()[-300:]}")
    return child


def _run(verb: str, target: str, other: str) -> float:
    child = _start(verb, target, other)
    begun = time.monotonic()
    said, errors = child.communicate(timeout=120)
    if not said.endswith(b"done\n"):
        raise Broken(f"{verb} does not complete: {errors.decode()[-300:]}")
    return time.monotonic() - begun


def _nothing(_: str, __: str) -> None:
    """What is half there is completed by doing it again; ``ends`` looks at it."""


def _sound(target: str, count: int | None = None) -> None:
    """Of a file; a server looks after itself."""
    if "://" in target:
        return
    report = doctor.check(target)
    if not report.is_sound:
        raise Broken(f"{report.findings[0].text}")
    if count is not None and report.records != count:
        raise Broken(f"the file has {report.records} records, not {count}")


def _full(folder: Path) -> Path:
    """Filled once for all trials of this process."""
    file = folder / "memory.db"
    if not _FULL:
        world.fill(file, MANY)
        _FULL.append(file.read_bytes())
    else:
        file.write_bytes(_FULL[0])
        file.chmod(0o600)
    return file


_FULL: list[bytes] = []


def _make_import(folder: Path, address: str) -> tuple[str, str]:
    export = folder / "export.jsonl"
    with Memory.open(str(_full(folder)), background=False) as memory:
        memory.export_to(export)
    return address or str(folder / "other.db"), str(export)


def _is_complete(target: str, _: str) -> None:
    _sound(target, MANY + 1)
    with Memory.open(target, background=False) as memory:
        ids = Counter(m.id for m in _messages(memory))
        if len(ids) != MANY or max(ids.values()) > 1:
            raise Broken(f"{len(ids)} messages of {MANY}, the most of one {max(ids.values())}")


def _messages(memory: Memory) -> list[object]:
    found: list[object] = []
    cursor = ""
    while True:
        page = memory.messages("chat", scope=SCOPE, cursor=cursor, limit=1000)
        found += page.items
        if not (cursor := page.next):
            return found


def _make_restore(folder: Path, _: str) -> tuple[str, str]:
    file = _full(folder)
    copy = folder / "backup.db"
    shutil.copy(file, copy)
    with Memory.open(str(file), embedder="hashing", background=False) as memory:
        (home,) = memory.recall("Ann Berlin", scope=SCOPE, limit=1).hits
        memory.forget(ids=[home.record.id])
    return str(file), str(copy)


def _old_or_new(target: str, _: str) -> None:
    _sound(target, MANY)  # what was forgotten since the backup stays forgotten
    if b"lives in Berlin" in Path(target).read_bytes():
        raise Broken("the forgotten is back")


def _make_rekey(folder: Path, _: str) -> tuple[str, str]:
    key = folder / "new.key"
    key.write_text("k" * 44)
    key.chmod(0o600)
    return str(_full(folder)), str(key)


def _one_of_both(target: str, key: str) -> None:
    """It opens with the old key, which is none, or with the new one, and is whole."""
    if _opened_by(target, key) is not None:
        rekey(target, None)


def _has_new_key(target: str, key: str) -> None:
    if _opened_by(target, key) is None:
        raise Broken("it has its old key still")


def _opened_by(target: str, key: str) -> bytes | None:
    for one in (None, key_from(key)):
        set_key(target, one)
        with contextlib.suppress(StandfastError):
            _sound(target, MANY + 1)
            return one
    raise Broken("neither key opens it")


def _make_move(folder: Path, address: str) -> tuple[str, str]:
    return address or str(folder / "other.db"), str(_full(folder))


def _make_upgrade(folder: Path, _: str) -> tuple[str, str]:
    file = folder / "memory.db"
    make_old_file(file, records=200, leases=2000)
    return str(file), ""


def _upgraded(target: str, _: str) -> None:
    _sound(target, 200)


def _make_upkeep(folder: Path, address: str) -> tuple[str, str]:
    store = address or str(folder / "memory.db")
    with Memory.open(store, embedder="hashing", background=False, profile="otto") as memory:
        for n in range(8):
            said = [f"My locker {n} has the number {n * 37}"] + [f"line {k}" for k in range(20)]
            memory.observe(f"chat{n}", said, scope=SCOPE)
    return store, ""


def _kept(target: str, _: str) -> None:
    _sound(target)
    with Memory.open(target, embedder="hashing", background=False) as memory:
        for n in range(8):
            if len(memory.messages(f"chat{n}", scope=SCOPE).items) != 21:
                raise Broken(f"messages of chat{n} are lost")
        facts = memory.records(scope=SCOPE, types=["fact"], statuses=["active"], limit=200).items
        texts = Counter(record.text for record in facts)
        if texts and max(texts.values()) > 1:
            raise Broken(f"learned twice: {texts.most_common(1)[0][0]}")


EVERYWHERE = ("import", "move", "upkeep")  # what every engine can be asked for
JOBS: dict[str, Job] = {
    "import": Job(_make_import, _nothing, _is_complete),
    "restore": Job(_make_restore, _old_or_new, _old_or_new),
    "move": Job(_make_move, _nothing, _is_complete),
    "upgrade": Job(_make_upgrade, _nothing, _upgraded),
    "upkeep": Job(_make_upkeep, _kept, _kept),
    **({"rekey": Job(_make_rekey, _one_of_both, _has_new_key)} if CAN_ENCRYPT else {}),
}
