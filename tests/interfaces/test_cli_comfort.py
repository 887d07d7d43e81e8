"""Times as people write them, completions, the file of settings, bars, reads that make nothing."""

from __future__ import annotations

import io
import json
import os
import socket
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from standfast.interfaces.cli import build_parser, main
from standfast.interfaces.cli.completions import script
from standfast.interfaces.cli.progress import Progress
from standfast.interfaces.cli.times import human_time
from standfast.interfaces.render import Screen
from standfast.testing.values import make_record
from tests.interfaces.conftest import Run

NOW = datetime(2026, 3, 31, 15, 30, tzinfo=ZoneInfo("Europe/Berlin"))  # a Tuesday


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("now", "2026-03-31T15:30:00+02:00"),
        ("today", "2026-03-31T00:00:00+02:00"),
        ("Yesterday", "2026-03-30T00:00:00+02:00"),
        ("the day before yesterday", "2026-03-29T00:00:00+01:00"),
        ("monday", "2026-03-30T00:00:00+02:00"),
        ("tuesday", "2026-03-31T00:00:00+02:00"),
        ("last tuesday", "2026-03-24T00:00:00+01:00"),
        ("this week", "2026-03-30T00:00:00+02:00"),
        ("last week", "2026-03-23T00:00:00+01:00"),
        ("last month", "2026-02-01T00:00:00+01:00"),
        ("this year", "2026-01-01T00:00:00+01:00"),
        ("last year", "2025-01-01T00:00:00+01:00"),
        ("2 hours ago", "2026-03-31T13:30:00+02:00"),
        ("90min", "2026-03-31T14:00:00+02:00"),
        ("a month ago", "2026-02-28T15:30:00+01:00"),
        ("13 months ago", "2025-02-28T15:30:00+01:00"),
        ("ten years ago", "2016-03-31T15:30:00+02:00"),
    ],
)
def test_C5_people_say_times_in_their_own_words(said: str, meant: str) -> None:
    assert human_time(said, NOW) == meant


@pytest.mark.parametrize("said", ["2026-05-03", "soon", "9999999 years ago", "3 moons ago", ""])
def test_C5_what_is_not_understood_is_left_for_the_verb_to_refuse(said: str) -> None:
    assert human_time(said, NOW) == said


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_C5_completions_know_every_command(shell: str) -> None:
    written = script(shell, build_parser())
    for word in ("recall", "remember", "review", "approve", "since", "known-at"):
        assert word in written


def test_C5_bash_completes_commands_and_options() -> None:
    tried = script("bash", build_parser()) + (
        'COMP_WORDS=(standfast review appr); COMP_CWORD=2; _standfast; echo "${COMPREPLY[@]}"\n'
        'COMP_WORDS=(standfast recall tea --sin); COMP_CWORD=3; _standfast; echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", tried], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["approve", "--since"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("STANDFAST_EMBEDDER", "hashing")
    monkeypatch.setenv("STANDFAST_CONFIG", "")  # so that what a command sets is taken back
    return tmp_path


def test_C5_the_file_counts_below_the_environment_and_that_below_an_argument(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = home / "standfast" / "config.toml"
    file.parent.mkdir()
    file.write_text('profile = "otto"\nport = 4000\nrate = 7\n', "utf-8")
    monkeypatch.setenv("STANDFAST_PORT", "5000")
    assert main(["config", "--json", "--profile", "lota"]) == 0
    found = json.loads(capsys.readouterr().out)
    chosen = {name: found["settings"][name] for name in ("profile", "port", "rate")}
    assert chosen == {"profile": "lota", "port": "5000", "rate": "7"}
    assert found["from"]["port"] == "STANDFAST_PORT"
    assert found["from"]["rate"] == str(file)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("prot = 1", "did you mean 'port'?"),
        ("port = ", "is not TOML"),
        ("port = [1]", "must be a text or a number"),
        ('port = "many"', "STANDFAST_PORT='many'"),
    ],
)
def test_C5_a_wrong_file_of_settings_is_refused_in_one_line(
    home: Path, text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = home / "own.toml"
    file.write_text(text, "utf-8")
    assert main(["remember", "tea", "--config", str(file)]) == 2
    written = capsys.readouterr().err
    assert said in written
    assert written.count("\n") == 1


@pytest.mark.usefixtures("home")
def test_C5_config_init_writes_a_file_that_changes_nothing_and_never_overwrites(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["config", "--init"]) == 0
    assert main(["config", "--init"]) == 5
    capsys.readouterr()
    assert main(["config", "--json"]) == 0
    origins = json.loads(capsys.readouterr().out)["from"]
    assert {"embedder"} <= origins.keys() <= {"embedder", "local_model"}  # what the test set


@pytest.mark.parametrize(
    "command",
    [
        ["recall", "tea"],
        ["context", "tea"],
        ["records"],
        ["stats"],
        ["history"],
        ["export", "out.jsonl"],
        ["review"],
        ["pending"],
        ["due"],
    ],
)
def test_C3_a_look_never_makes_a_store(home: Path, command: list[str]) -> None:
    assert main([*command, "--store", str(home / "typo" / "memory.db")]) == 3
    assert not (home / "typo").exists()


@pytest.mark.usefixtures("home")
def test_C2_nothing_is_erased_where_nobody_can_be_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["remember", "I like tea"]) == 0
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert main(["forget", "--scope", "user:default"]) == 2
    assert "--yes" in capsys.readouterr().err
    assert main(["recall", "tea"]) == 0
    assert "I like tea" in capsys.readouterr().out
    assert main(["forget", "--scope", "user:default", "--yes"]) == 0


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("answer", ["n", "y"])
def test_X10_the_question_lists_the_texts_and_names_the_authors(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], answer: str
) -> None:
    for author, text in (("ann", "The hall is booked"), ("ben", "Cats sleep a lot")):
        assert main(["remember", text, "--author", author]) == 0
    terminal = io.StringIO(f"{answer}\n")
    terminal.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr(sys, "stdin", terminal)
    capsys.readouterr()
    assert main(["forget", "--scope", "user:default"]) == (0 if answer == "y" else 130)
    asked = capsys.readouterr().err
    for told in ("The hall is booked", "by ann", "Cats sleep a lot", "by ben"):
        assert told in asked
    assert "erase 2 things by ann, ben for good? [y/N]" in asked
    assert main(["recall", "hall"]) == 0
    assert ("The hall is booked" in capsys.readouterr().out) == (answer == "n")


def test_C5_many_messages_are_summed_up(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = home / "talk.txt"
    file.write_text("".join(f"message {number}\n" for number in range(300)), "utf-8")
    assert main(["observe", "s1", str(file), "--text", "--no-background"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert len(said) < 6
    assert any("300" in line for line in said)


def test_C5_a_bar_says_how_much_is_left() -> None:
    bar = Progress("importing", 200)
    line = bar.line(50, bar._begun + 30)
    assert "25%" in line
    assert "50 of 200" in line
    assert "1:30 left" in line
    assert Progress("counting").line(7, bar._begun + 3).startswith("counting: 7 in 0:0")


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("STANDFAST_MODLE", "did you mean STANDFAST_MODEL?"),
        ("STANDFAST_STORE_", "did you mean STANDFAST_STORE?"),
        ("STANFAST_PROFILE", "did you mean STANDFAST_PROFILE?"),
        ("standfast_store", ""),
        ("STANDFAST_WEATHER", "`standfast config` lists all there are"),
    ],
)
def test_C3_a_misspelt_variable_is_one_warning_and_no_failure(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    meant: str,
) -> None:
    monkeypatch.setenv(name, "x")
    assert main(["remember", "I like tea", "--no-background"]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if name in line]
    assert [meant in line for line in said] == ([True] if meant else [])
    monkeypatch.delenv(name)
    monkeypatch.setenv("STANDFAST_MODEL_KEY_ENV", "STANDFAST_OWN_KEY")
    monkeypatch.setenv("STANDFAST_OWN_KEY", "secret")
    assert main(["remember", "I like milk", "--no-background"]) == 0
    assert "warning" not in capsys.readouterr().err


@pytest.mark.usefixtures("home")
def test_C3_the_server_says_it_in_its_log(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STANDFAST_PROT", "4777")
    monkeypatch.setenv("STANDFAST_VOLATILE", "maybe")  # refused: nothing is opened
    assert main(["serve"]) == 2
    said = [line for line in capsys.readouterr().err.splitlines() if "STANDFAST_PROT" in line]
    assert len(said) == 1
    assert "did you mean STANDFAST_PORT?" in said[0]


def test_C5_a_narrow_terminal_cuts_no_id_in_two() -> None:
    record = make_record(
        "01a1e251-bbd5-7453-b944-11eaf03cddbb", "Ann lives in Porto, " * 9, tags=("home", "harbour")
    )
    lines = list(Screen(colour=False, width=44).record(record))
    assert max(map(len, lines)) <= 44
    assert lines[-1].endswith(record.id)


def test_C5_a_bar_fits_the_terminal_and_ends_with_its_work(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "30")
    with Progress("a long piece of work", 100) as progress:
        progress._begun -= 10
        progress(50)
    progress(60)  # a step of work that was stopped
    shown = capsys.readouterr().err
    assert shown.endswith("\r\x1b[K")
    assert max(len(part) for part in shown.split("\r\x1b[K")) < 30
    assert "50%" in shown


def test_C5_an_empty_list_says_so_and_whose(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = str(home / "m.db")
    main(["--store", store, "--no-background", "remember", "Tea", "--scope", "user:ann"])
    capsys.readouterr()
    for command, said in (("changes", "lists whose there are"), ("policies", "nothing there")):
        assert main(["--store", store, "--no-background", command]) == 0
        assert said in capsys.readouterr().out


def test_X15_a_link_to_where_nothing_listens_says_so(standfast: Run) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: nobody else listens there either
        port = taken.getsockname()[1]
        done = standfast("console", "--port", str(port))
        assert done.returncode == 0
        assert f"nothing listens at http://127.0.0.1:{port} now" in done.stderr
        taken.listen()
        assert not standfast("console", "--port", str(port)).stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("buffered", ["", "1"])
def test_an_answer_that_cannot_be_printed_is_one_line(tmp_path: Path, buffered: str) -> None:
    code = "from standfast.interfaces.cli import main; raise SystemExit(main())"
    command = (sys.executable, "-c", code, "completion", "bash")
    environ = {**os.environ, "PYTHONUNBUFFERED": buffered, "HOME": str(tmp_path)}
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=environ, text=True)
    assert done.returncode == 6
    assert done.stderr == "standfast: cannot print the answer: No space left on device\n"
