"""A person edits MEMORY.md: what is new, changed or gone is taken in, and nothing is lost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from standfast.interfaces.markdown import folders
from standfast.types import Receipt
from tests.interfaces.workspaces import SCOPE, Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "workspace")


def reasons(receipt: Receipt) -> str:
    return " | ".join(f"{item.status} {item.reason}" for item in receipt.items)


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
    desk.page.write_text(re.sub(r" <!-- standfast:\S+ -->", "", desk.page.read_text()))
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
        lambda text: "\n".join(reversed(text.split("\n"))),
        lambda text: re.sub(r" <!-- standfast:\S+ -->", "", text),
        lambda text: text.replace("lives in", "lives\n  in"),
        lambda text: text.replace("# Memory", "") + "\n\n\n",
    ],
    ids=["crlf", "bom", "blanks", "order", "comments", "wrapped", "title"],
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


@pytest.mark.parametrize(
    "write",
    [
        lambda text: text.replace("\n- ", "\n * ").replace("## Facts", "# Things I know"),
        lambda text: text + "\n---\n\n<!-- my own remark\nover two lines -->\n",
    ],
    ids=["headings", "remark"],
)
def test_K8_B9_what_a_person_wrote_around_the_facts_stays(desk: Desk, write: object) -> None:
    ids = desk.remember("Ann lives in Berlin", "Bob likes chess", "Carl plays the flute")
    desk.sync()
    assert callable(write)
    theirs = write(desk.page.read_text())
    desk.page.write_text(theirs)
    receipt = desk.sync()
    assert receipt.items == (), reasons(receipt)
    assert desk.page.read_text() == theirs
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


def test_B9_a_line_edited_twice_around_a_stopped_round_is_no_conflict(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.remember("Ann lives in Berlin")
    desk.sync()
    desk.edit("in Berlin", "in Hamburg")
    desk.add("- Bob likes chess")
    real = folders.Folder.replace

    def stop_before_the_page(folder: folders.Folder, name: str, data: bytes) -> None:
        if name == "MEMORY.md":
            raise KeyboardInterrupt
        real(folder, name, data)

    with monkeypatch.context() as patch:
        patch.setattr(folders.Folder, "replace", stop_before_the_page)
        with pytest.raises(KeyboardInterrupt):
            desk.sync()
    desk.edit("in Hamburg", "in Munich")
    desk.delete("chess")
    desk.sync()
    assert desk.texts() == ["Ann lives in Munich"]
    with desk.open() as memory:
        hits = memory.recall("Ann Bob chess", scope=SCOPE, types=["fact"]).hits
    assert [hit.record.text for hit in hits] == ["Ann lives in Munich"]
