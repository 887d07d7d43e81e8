"""Writers, servers and long work that are killed, on every store: nothing acknowledged is lost or
doubled, nothing forgotten is back."""

from __future__ import annotations

import atexit
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from proof import jobs
from proof.family import Broken, ProofFamily, Trial
from standfast import Memory
from standfast.access import keys
from tests import postgres, redis, servers
from tests.interfaces.http.starts import started
from tests.simulation import test_kill as world

KILLS = 4  # on one file, then everything is checked
Victim = Callable[[random.Random, Path], Trial]
Engine = Callable[[], AbstractContextManager[str]]


@dataclass(frozen=True, slots=True)
class Database:
    """A server of our own that may be killed and begun again."""

    address: str
    kill: Callable[[], None]
    begin: Callable[[], None]


# Says "forgotten" only after forget() came back.
FORGETTER = """
import sys
from standfast import Memory
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

# The same over HTTP: an id is said when the server has answered.
CLIENT = """
import sys
from standfast import Memory
url, secret, name = sys.argv[1:]
with Memory.connect(url, secret, timeout=5) as memory:
    print("ready", flush=True)
    for n in range(100_000):
        id_ = f"{name}-{n}"
        message = {"role": "user", "content": f"message {id_} says hello", "id": id_}
        memory.observe("shared", [message], scope="org:acme")
        print("message", id_, flush=True)
        receipt = memory.remember(f"Fact {id_} is number {n} of writer {name}", scope="org:acme")
        print("record", receipt.items[0].id, flush=True)
"""


def attempt(seed: int, folder: Path) -> Trial:
    """Who is killed goes round: the mutant, whose seeds are below 0, is a writer."""
    dice = random.Random(seed)
    return _writing(dice, folder) if seed < 0 else VICTIMS[seed % len(VICTIMS)](dice, folder)


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
    return Trial(units=KILLS, figures=(("kills of a writer", KILLS), *_writes(messages, records)))


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


def _served(dice: random.Random, folder: Path) -> Trial:
    """The server is killed while a client writes; what the client was told is in the file."""
    file = folder / "memory.db"
    with Memory.open(str(file), embedder="hashing", background=False) as memory:
        secret = memory._loop.run(keys.create_key(memory._memory.engine, scopes=["org:acme"]))[1]
    messages: list[str] = []
    records: list[str] = []
    for kill in range(KILLS):
        with started(folder, "--store", str(file), "--embedder", "hashing") as server:
            command = [sys.executable, "-c", CLIENT, server.address, secret, f"s{kill}"]
            client = subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0)
            first = _begun(client, dice)
            server.process.kill()
            server.process.wait(30)
            client.kill()
            told = world.acknowledged(first + client.communicate(timeout=60)[0])
        messages += told[0]
        records += told[1]
    world.check_everything(file, messages, records)
    return Trial(units=KILLS, figures=(("kills of a server", KILLS), *_writes(messages, records)))


def _engine(name: str, engine: Engine) -> Victim:
    def victim(dice: random.Random, folder: Path) -> Trial:
        """Writers into a database, killed: their commits are there, whole, once."""
        messages: list[str] = []
        records: list[str] = []
        with _place(engine, folder) as address:
            for kill in range(KILLS):
                writer = world.start_writer(address, f"k{kill}", 100_000)
                told = world.acknowledged(_killed(writer, dice))
                messages += told[0]
                records += told[1]
            _check_engine(address, messages, records)
        figures = ((f"kills on {name}", KILLS), *_writes(messages, records))
        return Trial(units=KILLS, figures=figures)

    return victim


@contextmanager
def _place(engine: Engine, folder: Path) -> Iterator[str]:
    if not servers._folder:  # one server of each kind for the whole proof
        servers.begin_run(worker=False)
        atexit.register(servers.end_run)
    with engine() as address:
        yield address.replace("FOLDER", str(folder))


@contextmanager
def _surreal() -> Iterator[str]:
    yield "surrealkv://FOLDER/memory"


def _check_engine(address: str, messages: list[str], records: list[str]) -> None:
    log = world.log_of(address)
    times = Counter(message.id for message in log)
    wrong = [id_ for id_ in messages if times[id_] != 1]
    if wrong or max(times.values(), default=1) > 1:
        raise Broken(f"{len(wrong)} acknowledged messages are lost or doubled")
    if [message.seq for message in log] != list(range(1, len(log) + 1)):
        raise Broken("the log has a gap")
    with Memory.open(address, background=False) as memory:
        lost = set(records) - {record.id for record in memory.get(records)}
        if lost:
            raise Broken(f"{len(lost)} acknowledged records are lost")
        for message in log[-3:]:  # a message and its turn are written together or not at all
            hits = memory.recall(f"message {message.id}", scope="org:acme", types=["turn"]).hits
            if message.id not in {hit.record.lineage[0] for hit in hits}:
                raise Broken(f"message {message.id} has no turn")


@contextmanager
def _redis_server(_: Path) -> Iterator[Database]:
    server = redis.own_server("--appendfsync", "always")
    try:
        yield Database(server.url, server.kill, server.start)
    finally:
        server.remove()


@contextmanager
def _postgres_server(_: Path) -> Iterator[Database]:
    from tests.simulation.test_postgres_faults import StrictServer

    with tempfile.TemporaryDirectory(prefix="standfast-strict-") as folder:
        server = StrictServer(Path(folder))
        try:
            yield Database(server.address, server.kill, server.begin)
        finally:
            server.kill()


def _database(name: str, own: Callable[[Path], AbstractContextManager[Database]]) -> Victim:
    def victim(dice: random.Random, folder: Path) -> Trial:
        """The server of the database is killed under a writer, and started again."""
        messages: list[str] = []
        records: list[str] = []
        with own(folder) as database:
            for kill in range(KILLS):
                writer = world.start_writer(database.address, f"d{kill}", 100_000)
                first = _begun(writer, dice)
                database.kill()
                writer.kill()
                told = world.acknowledged(first + writer.communicate(timeout=60)[0])
                messages += told[0]
                records += told[1]
                database.begin()
            _check_engine(database.address, messages, records)
        figures = ((f"kills of a {name} server", KILLS), *_writes(messages, records))
        return Trial(units=KILLS, figures=figures)

    return victim


def _job_on(name: str, engine: Engine, verb: str) -> Victim:
    def victim(dice: random.Random, folder: Path) -> Trial:
        with _place(engine, folder) as address:
            met = jobs.killed(verb, dice, folder, KILLS, address)
        figures = ((f"kills on {name}", KILLS), (f"kills of {verb}", KILLS), ("met at work", met))
        return Trial(units=KILLS, figures=figures)

    return victim


def _job(verb: str) -> Victim:
    def victim(dice: random.Random, folder: Path) -> Trial:
        met = jobs.killed(verb, dice, folder, KILLS)
        return Trial(units=KILLS, figures=((f"kills of {verb}", KILLS), ("met at work", met)))

    return victim


def _writes(messages: list[str], records: list[str]) -> tuple[tuple[str, int], ...]:
    return (("acknowledged writes", len(messages) + len(records)),)


ENGINES: dict[str, Engine] = {
    "PostgreSQL": postgres.database,
    "Redis": redis.database,
    "SurrealDB": _surreal,
}
VICTIMS: tuple[Victim, ...] = (
    _writing,
    _forgetting,
    _served,
    *(_engine(name, engine) for name, engine in ENGINES.items()),
    _database("PostgreSQL", _postgres_server),
    _database("Redis", _redis_server),
    *(_job(verb) for verb in jobs.JOBS),
    *(_job_on(name, engine, verb) for name, engine in ENGINES.items() for verb in jobs.EVERYWHERE),
)


def _killed(child: subprocess.Popen[bytes], dice: random.Random) -> bytes:
    """What it said before it was killed at a random moment."""
    first = _begun(child, dice)
    os.kill(child.pid, signal.SIGKILL)
    said, _ = child.communicate(timeout=60)
    return first + said


def _begun(child: subprocess.Popen[bytes], dice: random.Random) -> bytes:
    """What it said until a random moment, at work or just before."""
    assert child.stdout is not None
    if child.stdout.readline() != b"ready\n":
        raise Broken("the writer did not start")
    first = b"".join(child.stdout.readline() for _ in range(dice.choice((0, 2, 2, 4))))
    time.sleep(dice.uniform(0.0, 0.12))
    return first


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
    promise="Whoever is killed at any moment loses and doubles nothing; the forgotten stays so.",
    unit="kills",
    target=1_000,
    attempt=attempt,
    mutant=lying_writer,
    mutant_said="a writer that acknowledges before it has written",
)
