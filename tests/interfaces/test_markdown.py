"""The Markdown workspace: files that mirror the store, and edits that are taken in."""

from __future__ import annotations

import json
import re
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.interfaces.workspaces import SCOPE, Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "workspace")


def sentences(entry: str) -> int:
    told = re.sub(r"^\[.*?\] | <!--.*$", "", entry)
    return len(re.findall(r"[.!?](?:\s|$)", told))


# The files


def test_B1_memory_md_holds_the_facts_and_follows_them(desk: Desk) -> None:
    (berlin,) = desk.remember("Ann lives in Berlin")
    desk.remember("Ann prefers tea", type="preference")
    desk.chat(4)
    desk.sync()
    text = desk.page.read_text()
    assert f"## Facts\n\n- Ann lives in Berlin <!-- standfast:{berlin} -->\n" in text
    assert "## Preferences\n\n- Ann prefers tea" in text
    assert "line 1 of the talk" not in text
    desk.remember("Ann lives in Hamburg", supersedes=berlin)
    desk.sync()
    assert sorted(desk.texts()) == ["Ann lives in Hamburg", "Ann prefers tea"]


def test_B1_the_facts_are_in_every_request(desk: Desk) -> None:
    desk.add("- Ann lives in Berlin", "- The deploy key is kept by Bob")
    desk.sync()
    with desk.open() as memory:
        packet = memory.context(session="any", query="what about the weather?", scope=SCOPE)
    assert "Ann lives in Berlin" in packet.stable_text
    assert "The deploy key is kept by Bob" in packet.stable_text


def test_B1_a_file_that_says_the_right_thing_is_not_written_again(desk: Desk) -> None:
    desk.remember("Ann lives in Berlin")
    desk.sync()
    before = desk.page.stat()
    snapshot = (desk.path / "memory" / ".last.json").stat()
    assert desk.sync().items == ()
    after = desk.page.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert (desk.path / "memory" / ".last.json").stat().st_ino == snapshot.st_ino


def test_B1_line_breaks_and_comments_in_a_fact_stay_in_its_line(desk: Desk) -> None:
    odd = "first\nsecond <!-- standfast:x --> &#10; R&D  "
    desk.remember(odd)
    desk.sync()
    assert desk.texts() == [odd]
    assert desk.sync().items == ()


def test_B2_each_fold_and_each_end_is_one_entry(desk: Desk) -> None:
    desk.chat(51)
    desk.sync()
    (entry,) = desk.entries()
    assert re.match(r"\[\d{4}-\d\d-\d\d \d\d:\d\d\] ", entry)
    assert 2 <= sentences(entry) <= 5
    assert "messages 1 to 41 of session chat" in entry
    with desk.open() as memory:
        memory.end("chat", scope=SCOPE, outcome="The deployment works")
    desk.sync()
    desk.sync()
    fold, end = desk.entries()
    assert fold == entry
    assert "The deployment works" in end
    assert 2 <= sentences(end) <= 5
    found = subprocess.run(
        ["grep", "-i", "deployment", desk.history], capture_output=True, text=True, check=True
    )
    assert found.stdout.startswith(end[:18])  # the date is on the line that is found


def test_B2_later_entries_tell_what_is_new(desk: Desk) -> None:
    desk.chat(51)
    desk.sync()
    desk.chat(45, start=51)
    desk.sync()
    first, second = desk.entries()
    assert "line 0 of the talk" in first
    assert "line 0 of the talk" not in second
    assert "messages 42 to" in second


def test_B2_the_log_is_only_added_to(desk: Desk) -> None:
    desk.chat(51)
    desk.sync()
    with desk.history.open("a") as file:
        file.write("My own note, without a line break at its end")
    before = desk.history.read_text()
    inode = desk.history.stat().st_ino
    desk.chat(45, start=51)
    desk.sync()
    assert desk.history.read_text().startswith(before + "\n[")
    assert desk.history.stat().st_ino == inode


def test_B2_X10_what_is_forgotten_leaves_the_log_and_nothing_else_does(desk: Desk) -> None:
    desk.chat(51)
    desk.chat(51, session="other")
    desk.sync()
    with desk.history.open("a") as file:
        file.write("My own note\n")
    with desk.open() as memory:
        memory.forget(session="other", scope=SCOPE)
    desk.sync()
    assert len(desk.entries()) == 1
    assert "of session chat" in desk.entries()[0]
    assert "My own note" in desk.history.read_text()
    assert not (desk.path / "sessions" / "other.jsonl").exists()
    assert (desk.path / "sessions" / "chat.jsonl").exists()


def test_B2_an_expired_episode_leaves_the_log(tmp_path: Path) -> None:
    now = [datetime.now(UTC)]
    desk = Desk(tmp_path / "w", clock=lambda: now[0])
    until = (now[0] + timedelta(days=1)).isoformat()
    desk.remember("We met in Bonn", type="episode", expires_at=until)
    desk.sync()
    assert len(desk.entries()) == 1
    now[0] += timedelta(days=2)
    desk.sync()
    assert desk.entries() == []


def test_B3_the_session_file_holds_recent_messages_only(desk: Desk) -> None:
    desk.chat(50)
    desk.sync()
    file = desk.path / "sessions" / "chat.jsonl"
    assert len(file.read_text().splitlines()) == 50
    desk.chat(1, start=50)
    desk.sync()
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["content"] for line in lines] == [f"line {n} of the talk" for n in range(41, 51)]
    assert lines[0]["role"] == "assistant"
    assert lines[0]["id"] == "chat-41"
    with desk.open() as memory:  # the store keeps all
        assert memory.recall("line 3 of the talk", scope=SCOPE, types=["turn"]).hits


def test_B3_tool_calls_come_out_as_they_went_in(desk: Desk) -> None:
    call = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "c1", "function": {"name": "exec", "arguments": "{}"}}],
    }
    answer = {"role": "tool", "tool_call_id": "c1", "content": "a\u2028b"}
    with desk.open() as memory:
        memory.observe("chat", [call, answer], scope=SCOPE)
    desk.sync()
    lines = (desk.path / "sessions" / "chat.jsonl").read_text().splitlines()
    assert len(lines) == 2
    assert json.loads(lines[0])["tool_calls"] == call["tool_calls"]
    assert json.loads(lines[1])["content"] == "a\u2028b"


def test_B4_B8_the_window_of_the_config_decides(desk: Desk) -> None:
    desk.window(20)
    desk.chat(20)
    desk.sync()
    assert desk.entries() == []
    desk.chat(1, start=20)
    desk.sync()
    assert "messages 1 to 11 of" in desk.entries()[0]
    assert len((desk.path / "sessions" / "chat.jsonl").read_text().splitlines()) == 10


def test_B4_a_window_of_zero_trims_and_updates_no_file(desk: Desk) -> None:
    desk.window(0)
    page, history = desk.page.read_text(), desk.history.read_text()
    desk.chat(60)
    desk.remember("Ann lives in Berlin")
    with desk.open() as memory:
        memory.end("chat", scope=SCOPE, outcome="done")
    desk.sync()
    assert (desk.page.read_text(), desk.history.read_text()) == (page, history)
    lines = (desk.path / "sessions" / "chat.jsonl").read_text().splitlines()
    assert [json.loads(line)["content"] for line in lines] == [
        f"line {n} of the talk" for n in range(50, 60)
    ]
    desk.add("- Bob likes chess")  # a person's edit counts all the same
    desk.sync()
    assert sorted(desk.texts()) == ["Ann lives in Berlin", "Bob likes chess"]
    desk.window(50)
    desk.sync()
    assert len(desk.entries()) == 1  # the end of the session was not logged then


def test_B6_the_conversation_does_not_wait_and_nothing_is_trimmed_unsummarised(
    desk: Desk,
) -> None:
    desk.chat(80)  # nobody folds while it is said
    with desk.open() as memory:
        assert len(memory.context(session="chat", scope=SCOPE, tokens=50_000).messages) == 80
    desk.sync()
    said = (desk.path / "sessions" / "chat.jsonl").read_text()
    (entry,) = desk.entries()
    assert "line 69 of the talk" not in said
    assert "messages 1 to 70 of session chat" in entry


def test_B2_B3_files_that_were_removed_are_written_again(desk: Desk) -> None:
    desk.remember("Ann lives in Berlin")
    desk.chat(51)
    desk.chat(5, session="other")
    desk.sync()
    files = [desk.page, desk.history, desk.path / "sessions" / "chat.jsonl"]
    before = [file.read_bytes() for file in files]
    for file, data in zip(files, before, strict=True):
        file.unlink()
        desk.sync()
        assert file.read_bytes() == data


def test_B2_a_store_that_was_replaced_is_mirrored_from_the_start(desk: Desk) -> None:
    desk.chat(51)
    desk.sync()
    for file in desk.path.glob("memory.db*"):
        file.unlink()
    desk.chat(51, session="anew")
    desk.sync()
    assert len(desk.entries()) == 1
    assert "of session anew" in desk.entries()[0]
    assert [path.name for path in (desk.path / "sessions").iterdir()] == ["anew.jsonl"]


# What was there before


def test_K8_B3_sessions_that_were_there_are_read_in_once(desk: Desk) -> None:
    file = desk.path / "sessions" / "session.jsonl"
    file.write_text(
        '{"role": "user", "content": "I asked about heron", "timestamp": "2025-01-15T10:30:00Z"}\n'
        '{"role": "assistant", "content": "It is staging", "timestamp": 1736937120}\n'
    )
    receipt = desk.sync()
    assert "sessions/session.jsonl was read in: 2 messages" in receipt.notes
    with desk.open() as memory:
        said = memory.messages("session", scope=SCOPE).items
    assert [(one.role, one.text) for one in said] == [
        ("user", "I asked about heron"),
        ("assistant", "It is staging"),
    ]
    assert said[0].at == datetime(2025, 1, 15, 10, 30, tzinfo=UTC)
    assert said[1].at == datetime(2025, 1, 15, 10, 32, tzinfo=UTC)
    (desk.path / "memory" / ".last.json").unlink()
    for _ in range(2):
        assert not [note for note in desk.sync().notes if "read in" in note]
    with desk.open() as memory:
        assert len(memory.messages("session", scope=SCOPE).items) == 2
    assert len(file.read_text().splitlines()) == 2


def test_K8_B3_lines_that_are_no_messages_are_kept_and_named(desk: Desk) -> None:
    file = desk.path / "sessions" / "old.jsonl"
    before = '{"_type": "metadata", "created": 1}\n{"role": "user", "content": "hi"}\nbroken {\n'
    file.write_text(before)
    receipt = desk.sync()
    assert any("2 lines are no messages" in note for note in receipt.notes)
    assert (desk.path / "sessions" / "old.jsonl.before").read_text() == before
    with desk.open() as memory:
        assert [one.text for one in memory.messages("old", scope=SCOPE).items] == ["hi"]
    assert desk.sync().notes == ()


def test_K8_B2_a_log_that_was_there_is_read_in_once(desk: Desk) -> None:
    desk.history.write_text(
        "# History\n\n"
        "[2025-01-15 10:30] User asked about deployment. Decided on GitHub Actions.\n"
        "They will try it on Monday.\n\n"
        "2025-02-01: The budget was cut to 40 euros.\n"
        "My own note\n"
    )
    receipt = desk.sync()
    assert "HISTORY.md was read in: 2 entries" in receipt.notes
    with desk.open() as memory:
        hits = memory.recall("", scope=SCOPE, types=["episode"], limit=20).hits
        by_text = {hit.record.text: hit.record for hit in hits}
    talk = "User asked about deployment. Decided on GitHub Actions. They will try it on Monday."
    assert set(by_text) == {talk, "The budget was cut to 40 euros. My own note"}
    assert by_text[talk].valid_from == datetime(2025, 1, 15, 10, 30, tzinfo=UTC)
    first = desk.history.read_text()
    assert first.startswith("# History\n\n[2025-01-15 10:30] User asked about deployment.")
    (desk.path / "memory" / ".last.json").unlink()
    assert not [note for note in desk.sync().notes if "HISTORY" in note]
    assert desk.history.read_text() == first
    with desk.open() as memory:
        memory.forget(ids=[by_text[talk].id])
    desk.sync()
    desk.sync()
    assert "deployment" not in desk.history.read_text()
    assert len(desk.entries()) == 1


def test_K8_B2_an_entry_carries_the_time_of_the_talk(desk: Desk) -> None:
    said = [
        {"role": "user", "content": f"line {n}", "at": f"2025-01-15T10:{n:02}:00+00:00"}
        for n in range(51)
    ]
    with desk.open() as memory:
        memory.observe("chat", said, scope=SCOPE)
    desk.sync()
    (entry,) = desk.entries()
    assert entry.startswith("[2025-01-15 10:40] ")
    with desk.open() as memory:
        memory.end("chat", scope=SCOPE, outcome="It works")
    desk.sync()
    assert desk.entries()[-1].startswith("[2025-01-15 10:50] ")
