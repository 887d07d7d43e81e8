"""Commands that the server of the same store answers, and those that it leaves to the command."""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from recollect import AsyncMemory, Memory
from recollect.interfaces import nearby
from recollect.interfaces.cli import main, verbs
from recollect.interfaces.http.commands import answering
from recollect.interfaces.nearby import asked, socket_of, told

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
    return file


@contextmanager
def running(store: Path, **options: Any) -> Iterator[None]:
    """What ``recollect serve`` does beside listening on a port."""
    loop, ready, over = asyncio.new_event_loop(), threading.Event(), asyncio.Event()

    async def serve() -> None:
        memory = await AsyncMemory.open(str(store), embedder="hashing", background=False)
        said = told(options.get("profile"), options.get("embedder", "hashing"))
        async with memory, answering(memory, store, said):
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


def recollect(store: Path, *arguments: str) -> int:
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
    assert recollect(Path(copy), *question) == 0
    alone = capsys.readouterr()
    with running(store):
        monkeypatch.setattr(verbs, "open_memory", lambda _: pytest.fail("it opened the store"))
        assert recollect(store, *question) == 0
    assert _timeless(capsys.readouterr().out) == _timeless(alone.out)


def _timeless(said: str) -> str:
    """A packet says how old things are, to the second."""
    return "\n".join(one for one in said.splitlines() if "age" not in one and "ago" not in one)


def test_what_was_just_written_by_a_command_is_found_by_the_server(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with running(store):
        assert recollect(store, "remember", "Ann plays the cello", "--scope", SCOPE) == 0
        assert recollect(store, "recall", "What does Ann play?", "--scope", SCOPE) == 0
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
    [("RECOLLECT_SCOPE", "user:bob"), ("RECOLLECT_MODEL", "openai:x"), ("RECOLLECT_CONFIG", "c")],
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
    alone = recollect(store, *wrong)
    said = capsys.readouterr().err
    assert alone != 0
    with running(store):
        assert recollect(store, *wrong) == alone
    assert capsys.readouterr().err == said


def test_a_socket_that_a_killed_server_left_behind_stops_nobody(store: Path) -> None:
    place = socket_of(store)
    assert place is not None
    place.parent.mkdir(mode=0o700, parents=True)
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(place))
    left.close()
    assert recollect(store, "recall", "Ann", "--scope", SCOPE) == 0
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
        assert recollect(store, "recall", "Ann", "--scope", SCOPE) == 0


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
        said = caller.makefile("rb").read()
        assert said in (b"\n", b"\n{}\n")
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
        assert recollect(store, "recall", "Ann", "--scope", SCOPE) == 0


def _recalled(store: Path) -> Any:
    question = {
        "verb": "recall",
        "arguments": {"query": "Ann", "scope": SCOPE},
        "told": told(None, "hashing"),
    }
    found = asked(store, question)
    assert found is None or json.dumps(found)
    return found
