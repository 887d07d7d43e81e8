"""Commands that the server of the same store answers, and those that it leaves to the command."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from standfast import AsyncMemory, Memory
from standfast.interfaces import nearby
from standfast.interfaces.cli import main, verbs
from standfast.interfaces.cli.nearby import UNREAD
from standfast.interfaces.http.commands import answering
from standfast.interfaces.nearby import asked, socket_of, told
from standfast.stores.sqlite.cipher import CAN_ENCRYPT, set_key
from standfast.wiring.cipher import key_from

SCOPE = "user:ann"

pytestmark = pytest.mark.skipif(
    not hasattr(socket, "AF_UNIX"), reason="this system has no sockets that are files"
)


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A short one: names of sockets are."""
    folder = tempfile.mkdtemp()
    monkeypatch.setenv("XDG_DATA_HOME", folder)
    yield Path(folder)
    shutil.rmtree(folder)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    file = tmp_path / "memory.db"
    with Memory.open(file, embedder="hashing", background=False) as memory:
        memory.remember("Ann lives in Oslo", scope=SCOPE, tags=["home"])
        memory.remember("Ann's boat is called Maud", scope=SCOPE)
        memory.observe("s", ["The boat is at the north pier"], scope=SCOPE)
        memory.maintain()  # what is learned has one id, whoever is asked
    return file


@contextmanager
def running(store: Path, **options: Any) -> Iterator[None]:
    """What ``standfast serve`` does beside listening on a port."""
    loop, ready, over = asyncio.new_event_loop(), threading.Event(), asyncio.Event()

    async def serve() -> None:
        memory = await AsyncMemory.open(str(store), embedder="hashing", background=False)
        said = told(options.get("profile"), options.get("embedder", "hashing"))
        key = key_from(os.environ.get("STANDFAST_KEY_FILE", ""))
        async with memory, answering(memory, store, said, key):
            ready.set()
            await over.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    assert ready.wait(30)
    try:
        yield
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
        loop.close()


def standfast(store: Path, *arguments: str) -> int:
    return main([*arguments, "--store", str(store), "--embedder", "hashing", "--no-background"])


ASKED = (
    ("recall", "Where does Ann live?", "--scope", SCOPE),
    ("recall", "boat", "--scope", SCOPE, "--limit", "1", "--tag", "home", "--explain"),
    ("recall", "Where does Ann live?", "--json"),
    ("recall", "", "--scope", SCOPE, "--since", "2020-01-01"),
    ("recall", "nothing of the kind", "--scope", "user:bob", "--quiet"),
    ("context", "Where is the boat?", "--scope", SCOPE, "--session", "s", "--json"),
    ("context", "Where is the boat?", "--scope", SCOPE),
)


@pytest.mark.parametrize("question", ASKED, ids=[" ".join(one) for one in ASKED])
def test_the_server_answers_as_the_store_would(
    question: tuple[str, ...],
    store: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    copy = shutil.copy(store, store.with_name("copy.db"))  # each answer counts as a use
    assert standfast(Path(copy), *question) == 0
    alone = capsys.readouterr()
    with running(store):
        monkeypatch.setattr(verbs, "open_memory", lambda _: pytest.fail("it opened the store"))
        assert standfast(store, *question) == 0
    assert _timeless(capsys.readouterr().out) == _timeless(alone.out)


def _timeless(said: str) -> str:
    """A packet says how old things are, to the second."""
    return "\n".join(one for one in said.splitlines() if "age" not in one and "ago" not in one)


def test_what_was_just_written_by_a_command_is_found_by_the_server(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with running(store):
        assert standfast(store, "remember", "Ann plays the cello", "--scope", SCOPE) == 0
        assert standfast(store, "recall", "What does Ann play?", "--scope", SCOPE) == 0
    assert "cello" in capsys.readouterr().out


@pytest.mark.parametrize(
    "more",
    [("--embedder", "none"), ("--profile", "otto"), ("--store", "other.db")],
    ids=["embedder", "profile", "store"],
)
def test_whoever_was_told_otherwise_asks_the_store_itself(
    more: tuple[str, ...], store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(store, store.with_name("other.db"))
    monkeypatch.chdir(store.parent)
    opened: list[str] = []
    open_memory = verbs.open_memory

    def counted(arguments: argparse.Namespace) -> Memory:
        opened.append(arguments.verb)
        return open_memory(arguments)

    monkeypatch.setattr(verbs, "open_memory", counted)
    usual = ["recall", "Ann", "--scope", SCOPE, "--store", str(store), "--embedder", "hashing"]
    with running(store):
        assert main(usual) == 0
        assert not opened
        assert main([*usual, *more]) == 0
    assert opened


@pytest.mark.parametrize(
    ("name", "value"),
    [("STANDFAST_SCOPE", "user:bob"), ("STANDFAST_MODEL", "openai:x"), ("STANDFAST_CONFIG", "c")],
)
def test_a_setting_that_makes_another_answer_is_heeded(
    name: str, value: str, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (store.parent / "c").write_text('scope = "user:carl"', "utf-8")
    monkeypatch.chdir(store.parent)
    with running(store):
        assert _recalled(store) is not None
        monkeypatch.setenv(name, value)
        assert _recalled(store) is None


def test_a_profiles_own_variable_is_heeded(monkeypatch: pytest.MonkeyPatch) -> None:
    before = told("otto", "hashing")
    monkeypatch.setenv("COMPACTION_THRESHOLD", "5")
    assert told("otto", "hashing") != before
    assert told(None, "hashing") == told("default", "hashing")


def test_a_wrong_question_is_refused_as_it_always_was(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = ("recall", "Ann", "--scope", "not a scope")
    alone = standfast(store, *wrong)
    said = capsys.readouterr().err
    assert alone != 0
    with running(store):
        assert standfast(store, *wrong) == alone
    assert capsys.readouterr().err == said


def test_a_socket_that_a_killed_server_left_behind_stops_nobody(store: Path) -> None:
    place = socket_of(store)
    assert place is not None
    place.parent.mkdir(mode=0o700, parents=True)
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(place))
    left.close()
    assert standfast(store, "recall", "Ann", "--scope", SCOPE) == 0
    with running(store):
        assert _recalled(store) is not None
    assert not place.exists()


def test_a_server_that_says_nothing_is_not_waited_for(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearby, "GREETED_SECONDS", 0.1)
    place = socket_of(store)
    assert place is not None
    place.parent.mkdir(mode=0o700, parents=True)
    with socket.socket(socket.AF_UNIX) as stopped:
        stopped.bind(str(place))
        stopped.listen()
        assert standfast(store, "recall", "Ann", "--scope", SCOPE) == 0


def test_of_two_servers_the_first_one_answers_until_it_ends(store: Path) -> None:
    place = socket_of(store)
    assert place is not None
    with running(store):
        with running(store):
            pass
        assert place.exists()
        assert _recalled(store) is not None
    assert not place.exists()
    assert _recalled(store) is None


def test_nobody_else_may_enter_and_no_open_folder_is_trusted(store: Path) -> None:
    place = socket_of(store)
    assert place is not None
    with running(store):
        for folder in (place.parent, place.parent.parent):
            assert folder.stat().st_mode & 0o077 == 0
        place.parent.chmod(0o755)
        assert _recalled(store) is None
        place.parent.chmod(0o700)
        assert _recalled(store) is not None


@pytest.mark.parametrize(
    "line",
    [
        b"\n",
        b"{\n",
        b"[]\n",
        b"7\n",
        b"[" * 100_000 + b"\n",
        b"{}\n",
        b"\xff\xfe\n",
        b'{"verb": "forget", "arguments": {}}\n',
    ],
)
def test_only_questions_are_answered(
    line: bytes, store: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = socket_of(store)
    with running(store), socket.socket(socket.AF_UNIX) as caller:
        caller.settimeout(10)
        caller.connect(str(place))
        caller.sendall(line)
        _, _, said = caller.makefile("rb").read().partition(b"\n")
        assert said in (b"", b"{}\n")
        assert _recalled(store) is not None, "and the next one is"
    assert not caplog.records, "nothing broke on it"


def test_no_verb_that_writes_can_be_asked_for(store: Path) -> None:
    with running(store):
        question = {
            "verb": "remember",
            "arguments": {"text": "Ann lives in Rome", "scope": SCOPE},
            "told": told(None, "hashing"),
        }
        assert asked(store, question) is None
    with Memory.open(store, embedder="hashing", background=False) as memory:
        assert not [one for one in memory.records(scope=SCOPE).items if "Rome" in one.text]


def test_a_home_that_is_too_deep_for_a_socket_has_none(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(store.parent / ("deep" * 30)))
    assert socket_of(store) is None
    with running(store):
        assert standfast(store, "recall", "Ann", "--scope", SCOPE) == 0


# The server knows no more than the command: the same file, and the key of it


REPLACED = ("moved", "deleted", "replaced", "overwritten", "log deleted")


def replace(store: Path, what: str) -> None:
    other = store.with_name("other.db")
    with Memory.open(other, embedder="hashing", background=False) as memory:
        memory.remember("Ann lives in Rome", scope=SCOPE)
    if what == "moved":
        store.rename(store.with_name("aside.db"))
    elif what == "deleted":
        store.unlink()
    elif what == "replaced":
        other.replace(store)
    elif what == "overwritten":
        shutil.copyfile(other, store)
    else:
        Path(f"{store}-wal").unlink()


@pytest.mark.parametrize("what", REPLACED)
def test_X2_a_server_does_not_answer_from_a_file_that_is_not_there(store: Path, what: str) -> None:
    with running(store):
        assert standfast(store, "remember", "Ann plays the cello", "--scope", SCOPE) == 0
        assert _recalled(store) is not None
        replace(store, what)
        assert _recalled(store) is None


@pytest.mark.parametrize("what", ["replaced", "deleted", "moved"])
def test_X2_a_command_shows_the_file_of_that_name(
    what: str, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with running(store):
        replace(store, what)
        standfast(store, "recall", "Where does Ann live?", "--scope", SCOPE)
    shown = capsys.readouterr().out
    assert "Oslo" not in shown
    assert ("Rome" in shown) is (what == "replaced")


needs_encryption = pytest.mark.skipif(
    not CAN_ENCRYPT, reason="this build of apsw cannot encrypt (apsw-sqlite3mc can)"
)


@pytest.fixture
def key_file(store: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Of a store that holds one fact, encrypted."""
    file = store.with_name("store.key")
    file.write_bytes(b"k" * 32)
    file.chmod(0o600)
    store.unlink()
    monkeypatch.setenv("STANDFAST_KEY_FILE", str(file))
    with Memory.open(store, embedder="hashing", background=False) as memory:
        memory.remember("Ann's canary is yellow", scope=SCOPE)
    yield file
    set_key(store, None)


def _unlocked(store: Path, *arguments: str) -> int:
    return standfast(store, "recall", "canary", "--scope", SCOPE, *arguments)


@needs_encryption
def test_X1_without_the_key_a_command_learns_nothing_of_an_encrypted_store(
    store: Path, key_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = key_file.with_name("wrong.key")
    wrong.write_bytes(b"w" * 32)
    wrong.chmod(0o600)
    monkeypatch.setattr(nearby, "SECONDS_MAX", 10)
    with running(store):
        for file in ("", str(wrong)):
            monkeypatch.setenv("STANDFAST_KEY_FILE", file)
            assert _unlocked(store) != 0
            said = capsys.readouterr()
            assert "yellow" not in said.out + said.err
            assert len(said.err.splitlines()) == 1


@needs_encryption
@pytest.mark.parametrize("how", ["environment", "option"])
def test_X1_with_the_key_the_server_of_an_encrypted_store_answers(
    how: str,
    store: Path,
    key_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with running(store):
        monkeypatch.setattr(verbs, "open_memory", lambda _: pytest.fail("it opened the store"))
        if how == "option":
            monkeypatch.delenv("STANDFAST_KEY_FILE")
            assert _unlocked(store, "--key-file", str(key_file)) == 0
        else:
            assert _unlocked(store) == 0
    assert "yellow" in capsys.readouterr().out


@needs_encryption
def test_X1_a_proof_is_good_for_one_question_of_one_greeting(store: Path, key_file: Path) -> None:
    place, key = socket_of(store), key_from(str(key_file))
    question = _question()
    asking = json.dumps({**question, "file": nearby.identity_of(store)}).encode()
    with running(store):
        nonces = []
        for nonce in (None, b"0" * 32):
            with socket.socket(socket.AF_UNIX) as caller:
                caller.settimeout(10)
                caller.connect(str(place))
                greeted = caller.recv(33).rstrip()
                nonces.append(greeted)
                proof = nearby.proof_of(key, nonce or greeted, asking)
                caller.sendall(proof + b" " + asking + b"\n")
                said = json.loads(caller.makefile("rb").read())
            assert bool(said) is (nonce is None)
        assert len({*nonces}) == 2, "each greeting has its own"
        assert asked(store, question) is None, "no proof"
        assert asked(store, question, key) is not None


# A server that answers anything


@contextmanager
def impostor(store: Path, answer: bytes, *, pause: float = 0.0) -> Iterator[None]:
    """It greets and answers with these bytes; with a pause, one by one, and without an end."""
    place = socket_of(store)
    assert place is not None
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(place))
    listener.listen()

    def serve() -> None:
        line, _ = listener.accept()
        with line:
            line.sendall(b"0" * 32 + b"\n")
            line.recv(1 << 16)
            try:
                for start in range(len(answer)) if pause else ():
                    line.sendall(answer[start : start + 1])
                    time.sleep(pause)
                line.sendall(b"" if pause else answer)
            except OSError:
                pass  # nobody waits any more

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        thread.join()
        listener.close()
        place.unlink()


MALFORMED = (
    b'{"answer": {"hits": "x"}}\n',
    b'{"answer": {"hits": [{"text": 7}]}}\n',
    b'{"answer": {"hits": [7]}}\n',
    b'{"answer": 7}\n',
    b'{"answer": {}}\n',
    b'["answer"]\n',
    b"7\n",
    b"nothing\n",
    b"\xff\xfe\n",
    b"[" * 200_000 + b"\n",
    b'{"answer": ' * 5_000 + b"\n",
)


@pytest.mark.parametrize("answer", MALFORMED, ids=[repr(one[:24]) for one in MALFORMED])
def test_X2_a_malformed_answer_ends_in_one_line_and_the_store_is_asked(
    answer: bytes, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with impostor(store, answer):
        assert standfast(store, "recall", "Where does Ann live?", "--scope", SCOPE) == 0
    said = capsys.readouterr()
    assert "Oslo" in said.out
    assert said.err.splitlines() == [f"standfast: warning: {UNREAD}"]


@pytest.mark.parametrize("seed", range(12))
def test_X2_a_damaged_answer_breaks_no_command(
    seed: int, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An answer of which a part was replaced at random."""
    with running(store):
        found = _recalled(store)
    dice = random.Random(seed)
    _damage(found, dice)
    with impostor(store, json.dumps({"answer": found}).encode() + b"\n"):
        assert standfast(store, "recall", "Where does Ann live?", "--scope", SCOPE) == 0
    assert "Traceback" not in capsys.readouterr().err


def _damage(value: Any, dice: random.Random) -> None:
    while isinstance(value, dict | list) and value:
        at = dice.choice(list(value) if isinstance(value, dict) else range(len(value)))
        inner = value[at]
        if not isinstance(inner, dict | list) or not inner or dice.random() < 0.2:
            value[at] = dice.choice([None, 7, -1, "x", [], {}, 1e308, True, "\u202e"])
            return
        value = inner


def test_X2_a_server_that_drips_its_answer_keeps_no_command(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearby, "SECONDS_MAX", 1.0)
    with impostor(store, b"x" * 100, pause=0.2):
        begun = time.monotonic()
        assert _recalled(store) is None
        assert time.monotonic() - begun < 5, "and not the twenty seconds that it drips"


def test_X2_an_endless_answer_is_read_up_to_a_limit(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearby, "ANSWER_BYTES_MAX", 1_000)
    with impostor(store, b"x" * 100_000), pytest.raises(ValueError, match="too long"):
        asked(store, _question())


def _question() -> dict[str, Any]:
    return {
        "verb": "recall",
        "arguments": {"query": "Ann", "scope": SCOPE},
        "told": told(None, "hashing"),
    }


def _recalled(store: Path) -> Any:
    found = asked(store, _question())
    assert found is None or json.dumps(found)
    return found
