"""The command line: readable for people, JSON for machines, clear errors, exit codes."""

from __future__ import annotations

import json
import stat
import subprocess
from pathlib import Path

import pytest

from tests.interfaces.conftest import Run, parsed

COMMANDS = (
    *("remember", "observe", "relate", "recall", "context", "get", "history"),
    *("forget", "undo", "policy", "maintain", "doctor", "serve"),
    *("export", "import", "backup", "restore"),
)


def remembered(standfast: Run, text: str, *options: str) -> str:
    return str(parsed(standfast("remember", text, "--json", *options))["items"][0]["id"])


def test_O3_remember_and_recall_as_the_readme_says(standfast_process: Run) -> None:
    standfast = standfast_process
    done = standfast(
        "remember", "Deploys go out on Tuesdays", "--scope", "org:acme", "--tag", "deploy"
    )
    assert done.returncode == 0
    assert done.stdout.startswith("stored")
    answer = parsed(standfast("recall", "when do we deploy?", "--scope", "org:acme", "--json"))
    (hit,) = answer["hits"]
    assert hit["text"] == "Deploys go out on Tuesdays"
    assert hit["score"] > 0
    assert hit["tags"] == ["deploy"]
    assert any("arms" in note for note in answer["notes"])


def test_recall_is_readable_without_json(standfast: Run) -> None:
    remembered(standfast, "Deploys go out on Tuesdays", "--scope", "org:acme")
    done = standfast("recall", "deploys", "--scope", "org:acme", "--explain")
    assert "Deploys go out on Tuesdays" in done.stdout
    assert "org:acme · fact" in done.stdout
    assert "keyword +" in done.stdout
    assert "\x1b[" not in done.stdout


def test_observe_reads_json_lines_from_a_file_and_from_stdin(
    standfast: Run, tmp_path: Path
) -> None:
    lines = [
        {"role": "user", "content": "I moved to Berlin in May", "id": "m1"},
        {"role": "assistant", "content": "Noted!", "id": "m2"},
    ]
    text = "\n".join(map(json.dumps, lines)) + "\n\n"
    (tmp_path / "chat.jsonl").write_text(text)
    first = parsed(standfast("observe", "chat/42", "chat.jsonl", "--scope", "user:ann", "--json"))
    again = parsed(standfast("observe", "chat/42", "--scope", "user:ann", "--json", stdin=text))
    assert [item["status"] for item in first["items"]] == ["stored", "stored"]
    assert [item["status"] for item in again["items"]] == ["skipped", "skipped"]
    hit = parsed(standfast("recall", "Berlin", "--scope", "user:ann", "--json"))["hits"][0]
    assert hit["lineage"] == ["m1"]


def test_observe_takes_plain_lines_too(standfast: Run) -> None:
    done = parsed(standfast("observe", "chat", "--text", "--json", stdin="one thing\nanother\n"))
    assert len(done["items"]) == 2


def test_X10_forget_history_and_undo_from_the_command_line(standfast: Run) -> None:
    id_ = remembered(standfast, "Ann lives in Berlin", "--scope", "user:ann")
    newer = parsed(
        standfast(
            "remember", "Ann lives in Hamburg", "--scope", "user:ann", "--supersedes", id_, "--json"
        )
    )
    assert parsed(standfast("undo", newer["change"], "--json"))["items"]
    history = parsed(standfast("history", id_, "--json"))["entries"]
    assert [entry["reason"].split()[0] for entry in history] == ["remember", "supersede", "undo"]
    assert history[0]["actor"] == "cli"
    dry = parsed(standfast("forget", "--id", id_, "--dry-run", "--json"))
    assert dry["items"][0]["status"] == "pending"
    gone = parsed(standfast("forget", "--id", id_, "--yes", "--json"))
    assert gone["items"][0]["status"] == "erased"
    assert standfast("get", id_).returncode == 3


def test_X10_a_dry_run_lists_texts_and_authors_and_several_authors_need_agreement(
    standfast: Run,
) -> None:
    for author, text in (("ann", "The hall is booked"), ("ben", "Cats sleep a lot")):
        remembered(standfast, text, "--scope", "org:acme", "--author", author)
    chosen = ("forget", "--scope", "org:acme")
    listed = standfast(*chosen, "--dry-run").stdout
    assert "The hall is booked\n    by ann" in listed
    assert "Cats sleep a lot\n    by ben" in listed
    assert "by 2 authors (ann, ben)" in listed
    retired = standfast("revoke", "--author", "ben", "--dry-run").stdout
    assert "Cats sleep a lot\n    by ben" in retired
    refused = standfast(*chosen, "--yes")
    assert refused.returncode == 2
    assert "several_authors" in refused.stderr
    assert len(parsed(standfast("records", "--scope", "org:acme", "--json"))["items"]) == 2
    assert standfast(*chosen, "--yes", "--several-authors").returncode == 0
    assert parsed(standfast("records", "--scope", "org:acme", "--json"))["items"] == []


def test_C5_many_statements_from_a_file(standfast: Run, tmp_path: Path) -> None:
    lines = tmp_path / "statements.jsonl"
    lines.write_text('"Ann keeps bees"\n\n{"text": "Ann lives in Porto", "data": {"floor": 3}}\n')
    said = parsed(standfast("remember", "--lines", str(lines), "--scope", "user:ann", "--json"))
    assert [item["status"] for item in said["items"]] == ["stored", "stored"]
    porto = parsed(standfast("get", said["items"][1]["id"], "--json"))["records"][0]
    assert porto["data"]["floor"] == 3
    on_three = ("--where", '{"data": {"all": {"floor": {"gte": 3}}}}')
    listed = parsed(standfast("records", "--scope", "user:ann", *on_three, "--json"))
    assert [record["id"] for record in listed["items"]] == [said["items"][1]["id"]]
    lines.write_text('"Ann sells honey"\n{"txt": "Ann sells wax"}\n')
    bad = standfast("remember", "--lines", str(lines), "--scope", "user:ann")
    assert (bad.returncode, bad.stderr) == (
        2,
        "standfast: statement 2: there is no field 'txt'; did you mean 'text'?\n",
    )
    assert not parsed(standfast("recall", "honey", "--scope", "user:ann", "--json"))["hits"]


def test_X5_as_of_and_known_at_on_the_command_line(standfast: Run) -> None:
    remembered(
        standfast, "The office is in Bonn", "--scope", "org:acme",
        "--valid-from", "2020-01-01T00:00Z", "--valid-to", "2024-01-01T00:00Z",
    )  # fmt: skip
    ask = ("recall", "office", "--scope", "org:acme", "--json")
    assert len(parsed(standfast(*ask, "--as-of", "2022-01-01T00:00Z"))["hits"]) == 1
    assert parsed(standfast(*ask, "--as-of", "2025-01-01T00:00Z"))["hits"] == []
    assert parsed(standfast(*ask, "--known-at", "2022-01-01T00:00Z"))["hits"] == []


def test_A10_opting_out_from_the_command_line(standfast: Run, tmp_path: Path) -> None:
    parsed(standfast("policy", "--scope", "user:ann", "--opt-out", "--json"))
    said = parsed(standfast("remember", "my secret diary", "--scope", "user:ann", "--json"))
    assert said["items"][0]["status"] == "volatile"
    assert all(b"diary" not in file.read_bytes() for file in tmp_path.iterdir())


def test_relate_and_maintain(standfast: Run) -> None:
    first = remembered(standfast, "The disk was full", "--scope", "org:acme")
    second = remembered(standfast, "The site was down", "--scope", "org:acme")
    linked = parsed(standfast("relate", second, "caused_by", first, "--json"))
    assert linked["items"][0]["status"] == "stored"
    assert standfast("maintain").returncode == 0


def test_doctor_finds_a_healthy_file_and_rebuilds_it(standfast: Run) -> None:
    remembered(standfast, "Deploys go out on Tuesdays", "--scope", "org:acme")
    report = standfast("doctor")
    assert report.returncode == 0, report.stdout + report.stderr
    assert "SQLite" in report.stdout
    rebuilt = standfast("doctor", "--rebuild")
    assert rebuilt.returncode == 0
    assert parsed(standfast("recall", "deploys", "--scope", "org:acme", "--json"))["hits"]


def test_the_store_file_is_private(standfast: Run, tmp_path: Path) -> None:
    remembered(standfast, "x", "--scope", "user:ann")
    assert stat.S_IMODE((tmp_path / "memory.db").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("remember", ""), 2, "empty"),
        (("remember", "x", "--scope", "nonsense"), 2, "kind:id"),
        (("remember", "x", "--valid-from", "soon"), 2, "ISO 8601"),
        (("recall", "x", "--limit", "-1"), 2, "limit"),
        (("recall", "x", "--since", "2026-13-45"), 2, "ISO 8601"),
        (("forget",), 2, "say what to forget"),
        (("forget", "--id", "no-such"), 3, ""),
        (("undo", "no-such"), 3, "no change"),
        (("history", "no-such"), 3, "no record"),
        (("get", "no-such"), 3, "no record"),
        (("relate", "a", "supports", "b"), 3, "no record"),
        (("observe", "chat", "missing.jsonl"), 2, "cannot read"),
        (("recall", "x", "--profile", "mars"), 2, "no profile"),
        (("recall", "x", "--embedder", "psychic"), 2, "unknown embedder"),
        (("serve", "--host", "0.0.0.0"), 2, "memory.db keys create"),
    ],
)
def test_bad_requests_end_with_a_documented_code_and_the_remedy(
    standfast: Run, arguments: tuple[str, ...], code: int, said: str
) -> None:
    remembered(standfast, "the store is there", "--scope", "user:ann")
    done = standfast(*arguments)
    assert done.returncode == code, done.stderr
    assert said in done.stderr


@pytest.mark.parametrize(
    ("stdin", "said"),
    [
        (b"\xff\xfe\x00broken", "not UTF-8"),
        (b'{"role": "user", "content": "ok"}\n{half', "line 2"),
        (b'{"role": "wizard", "content": "x"}', "role"),
        (b"[" * 100_000, "not JSON"),
        (b'{"role": "user", "content": "ok"}\n42\n', "message 1"),
    ],
    ids=["bytes", "half a line", "role", "deep", "number"],
)
def test_bad_lines_are_named_and_nothing_is_stored(standfast: Run, stdin: bytes, said: str) -> None:
    remembered(standfast, "the store is there", "--scope", "user:bob")
    done = standfast("observe", "chat", "--scope", "user:ann", stdin=stdin)
    assert done.returncode == 2
    assert said in done.stderr
    assert parsed(standfast("recall", "", "--scope", "user:ann", "--json"))["hits"] == []


def test_errors_are_json_too_when_asked(standfast: Run) -> None:
    done = standfast("undo", "no-such", "--json")
    assert done.returncode == 3
    assert json.loads(done.stdout)["error"] == "NotFound"


def test_a_foreign_file_is_refused_and_left_alone(standfast: Run, tmp_path: Path) -> None:
    file = tmp_path / "letter.txt"
    file.write_text("Dear Sir or Madam, this is no database. " * 100)
    done = standfast("recall", "x", store=str(file))
    assert done.returncode == 7
    assert "letter.txt" in done.stderr
    assert file.read_text().startswith("Dear Sir")


def test_control_characters_in_a_memory_cannot_drive_the_terminal(standfast: Run) -> None:
    remembered(standfast, "red \x1b[31m alert \u202e txet", "--scope", "user:ann")
    done = standfast("recall", "red alert", "--scope", "user:ann")
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout


def test_an_emoji_does_not_crash_an_ascii_pipe(standfast: Run, standfast_process: Run) -> None:
    remembered(standfast, "party 🎉 time", "--scope", "user:ann")
    done = standfast_process("recall", "party", "--scope", "user:ann", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "party" in done.stdout


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)])
def test_every_command_has_help(standfast: Run, command: tuple[str, ...]) -> None:
    done = standfast(*command, "--help")
    assert done.returncode == 0
    assert "usage: standfast" in done.stdout
    if not command:
        assert all(name in done.stdout for name in COMMANDS)


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    import sys

    command = (
        f"{sys.executable} -m standfast.interfaces.cli --store {tmp_path / 'm.db'} --help | head -1"
    )
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


def test_X13_export_and_import_through_files_and_pipes(standfast: Run, tmp_path: Path) -> None:
    remembered(standfast, "Deploys go out on Tuesdays", "--scope", "org:acme")
    written = standfast("export", "all.jsonl")
    assert written.returncode == 0
    assert "record  1 written" in written.stdout
    piped = standfast("export", "-", "--scope", "org:acme")
    assert "record  1 written" in piped.stderr
    other = str(tmp_path / "other.db")
    dry = standfast("import", "-", "--dry-run", stdin=piped.stdout, store=other)
    assert "dry run: would be stored" in dry.stdout
    first = parsed(standfast("import", "all.jsonl", "--json", store=other))
    assert {item["status"] for item in first["items"]} == {"stored"}
    again = standfast("import", "-", stdin=piped.stdout, store=other)
    assert "record: 1 skipped (already there)" in again.stdout
    assert parsed(standfast("recall", "deploys", "--json", store=other))["hits"]


def test_X13_an_import_that_fails_says_where(standfast: Run, tmp_path: Path) -> None:
    remembered(standfast, "Deploys go out on Tuesdays", "--scope", "org:acme")
    whole = standfast("export", "-").stdout
    other = str(tmp_path / "other.db")
    cut = standfast("import", "-", stdin=whole[:-10], store=other)
    assert cut.returncode == 2
    assert "Nothing was imported" in cut.stderr
    partly = standfast("import", "-", "--partial", stdin=whole[:-10], store=other)
    assert partly.returncode == 9
    assert "imported only in part" in partly.stdout
    assert "it is cut off" in partly.stdout
    newer = whole.replace('"version":1', '"version":2', 1)
    assert standfast("import", "-", stdin=newer, store=other).returncode == 7
    assert standfast("import", "missing.jsonl", store=other).returncode == 3
    assert standfast("export", "no/such/folder.jsonl").returncode == 6


def test_X10_backup_and_restore_from_the_command_line(standfast: Run) -> None:
    id_ = remembered(standfast, "Deploys go out on Tuesdays", "--scope", "org:acme")
    kept = remembered(standfast, "Releases have code names", "--scope", "org:acme")
    assert "2 records, 0 messages, sound" in standfast("backup", "copy.db").stdout
    assert standfast("backup", "copy.db").returncode == 2
    assert parsed(standfast("backup", "copy.db", "--force", "--json"))["records"] == 2
    parsed(standfast("forget", "--id", id_, "--yes", "--json"))
    restored = parsed(standfast("restore", "copy.db", "--yes", "--json"))
    assert [item["status"] for item in restored["items"]] == ["restored", "erased"]
    assert standfast("get", kept).returncode == 0
    assert standfast("get", id_).returncode == 3
    assert standfast("restore", "missing.db", "--yes").returncode == 3


def test_lists_come_in_pages_from_either_end(standfast: Run) -> None:
    for number in range(3):
        remembered(standfast, f"Statement number {number} of three", "--scope", "user:ann")
    standfast("observe", "chat", "--scope", "user:ann", "--text", stdin="one\ntwo\nthree\n")
    options = ("--scope", "user:ann", "--type", "fact", "--newest", "--limit", "2")
    first = parsed(standfast("records", *options, "--json"))
    assert [record["text"][17] for record in first["items"]] == ["2", "1"]
    done = standfast("records", *options)
    assert f"more: --cursor {first['next']}" in done.stdout
    rest = parsed(standfast("records", *options, "--cursor", first["next"], "--json"))
    assert [record["text"][17] for record in rest["items"]] == ["0"]
    said = standfast("messages", "chat", "--scope", "user:ann", "--newest").stdout
    assert said.index("three") < said.index("two") < said.index("one")
    assert "chat" in standfast("sessions").stdout
    assert standfast("messages", "nothing", "--scope", "user:ann").returncode == 3
    counted = standfast("stats").stdout
    assert "6 records" in counted
    assert "by kind: 3 episodic, 3 semantic" in counted
    assert "1 session" in counted
    assert "nothing there" in standfast("records", "--scope", "user:nobody").stdout


def test_what_has_expired_already_is_refused_with_advice(standfast: Run) -> None:
    for command in (("remember", "x is y"), ("observe", "chat", "--text")):
        done = standfast(*command, "--expires-at", "2020-01-01", stdin="hello")
        assert done.returncode == 2
        assert "give a time to come" in done.stderr
