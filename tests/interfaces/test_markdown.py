"""The Markdown workspace: files that mirror the store, and edits that are taken in."""

from __future__ import annotations

import json
import re
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollect.types import Receipt
from tests.interfaces.workspaces import SCOPE, Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "workspace")


def reasons(receipt: Receipt) -> str:
    return " | ".join(f"{item.status} {item.reason}" for item in receipt.items)


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
    assert f"## Facts\n\n- Ann lives in Berlin <!-- recollect:{berlin} -->\n" in text
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
    odd = "first\nsecond <!-- recollect:x --> &#10; R&D  "
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


# Edits


def test_B9_a_new_line_becomes_a_fact(desk: Desk) -> None:
    desk.add("- Ann lives in Berlin", "", "## Preferences", "- Ann prefers tea", "## Work", "* vim")
    receipt = desk.sync()
    assert [item.status for item in receipt.items] == ["stored"] * 3
    with desk.open() as memory:
        records = {r.text: r for r in memory.get([line.id for line in desk.lines()])}
    assert records["Ann lives in Berlin"].source == "file"
    assert records["Ann prefers tea"].type == "preference"
    assert records["vim"].tags == ("Work",)
    assert desk.sync().items == ()


def test_B9_a_changed_line_supersedes_its_fact(desk: Desk) -> None:
    (old,) = desk.remember("Ann prefers tea", type="preference", tags=["drinks"])
    desk.sync()
    desk.edit("prefers tea", "prefers coffee")
    receipt = desk.sync()
    with desk.open() as memory:
        (before,) = memory.get([old])
        (after,) = memory.get([desk.id_of("Ann prefers coffee")])
        assert before.status == "superseded"
        assert (after.type, after.tags, after.source) == ("preference", ("drinks",), "file")
        memory.undo(receipt.change)
    desk.sync()
    assert desk.texts() == ["Ann prefers tea"]


def test_B9_a_deleted_line_retires_its_fact_and_can_be_undone(desk: Desk) -> None:
    (old, _) = desk.remember("Ann lives in Berlin", "Bob likes chess")
    desk.sync()
    desk.delete("Berlin")
    receipt = desk.sync()
    assert desk.texts() == ["Bob likes chess"]
    with desk.open() as memory:
        (record,) = memory.get([old])
        assert record.status == "archived"
        assert record.retired_at is not None
        memory.undo(receipt.change)
    desk.sync()
    assert desk.texts() == ["Ann lives in Berlin", "Bob likes chess"]


def test_B9_edits_made_while_nobody_looked_meet_changes_of_the_store(desk: Desk) -> None:
    tea, berlin, chess = desk.remember("Ann prefers tea", "Ann lives in Berlin", "Bob likes chess")
    desk.sync()
    desk.remember("Ann drives a Volvo")
    with desk.open() as memory:
        memory.archive([chess])
    desk.edit("prefers tea", "prefers coffee")
    desk.delete("Berlin")
    desk.add("- Carl plays the flute")
    desk.sync()
    assert sorted(desk.texts()) == [
        "Ann drives a Volvo",
        "Ann prefers coffee",
        "Carl plays the flute",
    ]
    with desk.open() as memory:
        assert [r.status for r in memory.get([tea, berlin, chess])] == [
            "superseded",
            "archived",
            "archived",
        ]


def test_B9_X6_when_both_sides_changed_a_fact_both_survive_and_it_shows(desk: Desk) -> None:
    (old,) = desk.remember("Ann lives in Berlin")
    desk.remember("Bob likes chess")
    desk.sync()
    desk.remember("Ann lives in Hamburg", supersedes=old)
    desk.edit("Ann lives in Berlin", "Ann lives in Munich")
    receipt = desk.sync()
    assert "conflict" in reasons(receipt)
    assert any(note.startswith("conflict: ") for note in receipt.notes)
    conflicts = desk.page.read_text().split("## Conflicts")[1].split("## Facts")[0]
    assert "Ann lives in Hamburg" in conflicts
    assert "Ann lives in Munich" in conflicts
    assert "Bob likes chess" not in conflicts
    assert sorted(desk.texts()) == [
        "Ann lives in Hamburg",
        "Ann lives in Munich",
        "Bob likes chess",
    ]
    assert "stored" not in reasons(desk.sync())
    desk.delete("Hamburg")  # the person decides
    desk.sync()
    assert "Conflicts" not in desk.page.read_text()
    assert sorted(desk.texts()) == ["Ann lives in Munich", "Bob likes chess"]


def test_B9_both_sides_said_the_same(desk: Desk) -> None:
    (old,) = desk.remember("Ann lives in Berlin")
    desk.sync()
    desk.remember("Ann lives in Hamburg", supersedes=old)
    desk.edit("in Berlin", "in Hamburg")
    assert desk.sync().items == ()
    assert desk.texts() == ["Ann lives in Hamburg"]


def test_B9_a_line_deleted_while_the_store_changed_its_fact_leaves_the_newer_one(
    desk: Desk,
) -> None:
    (old,) = desk.remember("Ann lives in Berlin")
    desk.sync()
    desk.remember("Ann lives in Hamburg", supersedes=old)
    desk.delete("Berlin")
    receipt = desk.sync()
    assert any("meanwhile" in note for note in receipt.notes)
    assert desk.texts() == ["Ann lives in Hamburg"]


def test_B9_X10_a_stale_line_never_brings_back_what_was_forgotten(desk: Desk) -> None:
    ids = desk.remember("Ann lives in Berlin", "Ann has a scar", "Bob likes chess")
    desk.sync()
    stale = desk.page.read_text()
    with desk.open() as memory:
        memory.forget(ids=ids[:2])
    desk.page.write_text(stale.replace("a scar", "a scar on the left"))
    receipt = desk.sync()
    assert "forgotten" in reasons(receipt)
    assert desk.texts() == ["Bob likes chess"]
    desk.page.write_text(stale)  # a copy that somebody puts back much later
    desk.sync()
    assert desk.texts() == ["Bob likes chess"]
    with desk.open() as memory:
        assert not memory.recall("Berlin scar", scope=SCOPE).hits


def test_X10_a_forgotten_line_without_its_comment_is_recognised(desk: Desk) -> None:
    (berlin, _) = desk.remember("Ann lives in Berlin", "Bob likes chess")
    desk.sync()
    with desk.open() as memory:
        memory.forget(ids=[berlin])
    desk.page.write_text(re.sub(r" <!-- recollect:\S+ -->", "", desk.page.read_text()))
    receipt = desk.sync()
    assert "forgotten" in reasons(receipt)
    assert desk.texts() == ["Bob likes chess"]


def test_X10_who_writes_it_again_later_wants_it_known_again(desk: Desk) -> None:
    (berlin,) = desk.remember("Ann lives in Berlin")
    desk.sync()
    with desk.open() as memory:
        memory.forget(ids=[berlin])
    desk.sync()
    assert desk.texts() == []
    desk.add("- Ann lives in Berlin")
    desk.sync()
    assert desk.texts() == ["Ann lives in Berlin"]


def test_X10_a_forgotten_text_is_in_no_file_after_the_next_round(desk: Desk) -> None:
    (secret,) = desk.remember("Ann has a scar on her knee")
    desk.chat(51)
    desk.sync()
    with desk.open() as memory:
        memory.forget(ids=[secret])
    desk.sync()
    files = [path for path in desk.path.rglob("*") if path.is_file()]
    assert not [path for path in files if b"scar" in path.read_bytes()]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text.replace(" -->", " -->   "),
        lambda text: text.replace("\n- ", "\n * ").replace("## Facts", "# Things I know"),
        lambda text: "\n".join(reversed(text.split("\n"))),
        lambda text: re.sub(r" <!-- recollect:\S+ -->", "", text),
        lambda text: text.replace("lives in", "lives\n  in"),
        lambda text: text + "\n---\n\n<!-- my own remark\nover two lines -->\n",
        lambda text: text.replace("# Memory", "") + "\n\n\n",
    ],
    ids=["crlf", "bom", "blanks", "headings", "order", "comments", "wrapped", "remark", "title"],
)
def test_B9_what_editors_leave_behind_is_harmless(desk: Desk, spoil: object) -> None:
    ids = desk.remember("Ann lives in Berlin", "Bob likes chess", "Carl plays the flute")
    desk.sync()
    written = desk.page.read_text()
    assert callable(spoil)
    desk.page.write_bytes(spoil(written).encode())
    receipt = desk.sync()
    assert receipt.items == (), reasons(receipt)
    assert desk.page.read_text() == written
    with desk.open() as memory:
        assert {record.status for record in memory.get(ids)} == {"active"}


def test_B9_text_behind_the_comment_and_copied_lines_are_understood(desk: Desk) -> None:
    desk.remember("Ann lives in Berlin", "Bob likes chess")
    desk.sync()
    text = desk.page.read_text()
    chess = next(line for line in text.split("\n") if "chess" in line)
    desk.page.write_text(
        text.replace("Berlin <!--", "Berlin <!--").replace(chess, f"{chess} and go\n{chess}")
    )
    desk.sync()
    assert sorted(desk.texts()) == [
        "Ann lives in Berlin",
        "Bob likes chess",
        "Bob likes chess and go",
    ]


def test_B9_an_emptied_file_retires_nothing_until_it_is_accepted(desk: Desk) -> None:
    facts = [f"Fact {n} is about {word}" for n, word in enumerate("tea sun rain ink".split())]
    desk.remember(*facts)
    desk.sync()
    desk.page.write_text("")
    receipt = desk.sync()
    assert any("4 of 4 facts are missing" in note for note in receipt.notes)
    assert "4 of 4 facts are missing" in desk.page.read_text()
    assert desk.texts() == []
    desk.sync()  # still held, still nothing retired
    with desk.open() as memory:
        assert len(memory.recall("fact", scope=SCOPE, types=["fact"]).hits) == 4
    desk.sync(accept=True)
    assert "missing" not in desk.page.read_text()
    with desk.open() as memory:
        assert not memory.recall("fact", scope=SCOPE, types=["fact"]).hits


def test_B9_a_held_edit_is_taken_back_by_deleting_the_file(desk: Desk) -> None:
    desk.remember(*(f"Fact {n} is about {w}" for n, w in enumerate("tea sun rain ink".split())))
    desk.sync()
    before = desk.page.read_text()
    desk.page.write_text("- Ann lives in Berlin\n")
    desk.sync()
    assert desk.texts() == ["Ann lives in Berlin"]
    desk.page.unlink()
    desk.sync()
    assert len(desk.texts()) == 5
    assert set(before.split("\n")) <= set(desk.page.read_text().split("\n"))


def test_B9_a_few_deletions_are_no_reason_to_ask(desk: Desk) -> None:
    desk.remember("Ann lives in Berlin", "Bob likes chess", "Carl plays the flute")
    desk.sync()
    desk.page.write_text("# Memory\n")
    desk.sync()
    with desk.open() as memory:
        assert not memory.recall("Ann Bob Carl", scope=SCOPE, types=["fact"]).hits


def test_B9_a_line_that_cannot_be_stored_stays_in_the_file(desk: Desk) -> None:
    desk.add("- " + "x" * (2 << 20), "- Ann lives in Berlin")
    before = desk.page.read_text()
    receipt = desk.sync()
    assert sorted(item.status for item in receipt.items) == ["failed", "stored"]
    assert desk.page.read_text() == before
    assert [item.status for item in desk.sync().items] == ["failed"]


def test_X11_a_secret_in_the_file_is_redacted_there_too(desk: Desk) -> None:
    desk.add("- the key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKL")
    desk.sync()
    assert "abcdefghijklmnop" not in desk.page.read_text()
    assert len(desk.texts()) == 1


def test_A10_files_of_somebody_who_opted_out_are_left_alone(desk: Desk) -> None:
    with desk.open() as memory:
        memory.set_policy(SCOPE, persist=False)
    desk.add("- Ann lives in Berlin")
    before = desk.page.read_bytes()
    assert "opted out" in desk.sync().notes[0]
    assert desk.page.read_bytes() == before


def test_B9_a_store_that_lost_its_facts_gets_them_back_from_the_file(desk: Desk) -> None:
    desk.remember("Ann lives in Berlin", "Bob likes chess")
    desk.sync()
    for file in desk.path.glob("memory.db*"):
        file.unlink()
    desk.sync()
    assert sorted(desk.texts()) == ["Ann lives in Berlin", "Bob likes chess"]
    with desk.open() as memory:
        assert memory.recall("Berlin", scope=SCOPE, types=["fact"]).hits
