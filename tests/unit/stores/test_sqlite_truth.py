"""The store never lies: a row that is not as it was written is no answer, and a file that is no
longer there takes no writes."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from standfast import Memory
from standfast.errors import Unavailable
from standfast.memory.health import Health
from standfast.stores.sqlite.doctor import check
from standfast.stores.sqlite.heal import heal
from standfast.upkeep import inspection
from standfast.wiring.files import backup_store

FACT = "The door code of the studio is on the fridge"
# column, what becomes of it: each a byte that somebody changed behind the store's back.
CHANGED: dict[str, Any] = {
    "text": "The door code of the studio is on the floor",
    "trust": 1,
    "status": 2,
    "importance": 0.125,
    "author": "mallory",
    "tags": '["planted"]',
    "data": '{"planted":true}',
    "valid_to": 1,
    "source": 3,
    "kind": 77,
    "version": 9,
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def memory(file: Path) -> Iterator[Memory]:
    with Memory.open(file, embedder="hashing", background=False) as opened:
        yield opened


def damage(file: Path, id_: str, column: str, value: Any, table: str = "record") -> None:
    db = apsw.Connection(str(file))
    db.set_busy_timeout(5000)
    db.execute(f"UPDATE {table} SET {column} = ? WHERE id = ?", (value, id_))
    assert db.changes() == 1
    db.close()


@pytest.mark.parametrize("column", CHANGED)
def test_X1_a_changed_row_is_never_a_quiet_answer(memory: Memory, file: Path, column: str) -> None:
    id_ = memory.remember(FACT, scope="user:ann").items[0].id
    other = memory.remember("Tea is served at five", scope="user:ann").items[0].id
    damage(file, id_, column, CHANGED[column])
    with pytest.raises(Unavailable, match=id_) as told:
        memory.get([id_])
    assert "doctor --heal" in str(told.value)
    answer = memory.recall("door code studio fridge floor", scope="user:ann")
    assert id_ not in [hit.record.id for hit in answer.hits]
    if column not in ("status", "valid_to"):  # then the index leaves it out by itself
        assert any(id_ in note for note in answer.notes), answer.notes
    assert memory.get([other])[0].text == "Tea is served at five"
    with pytest.raises(Unavailable, match=id_):  # nor is it sealed again by changing it
        memory.archive([id_])


def test_what_was_changed_by_the_store_itself_is_sound(memory: Memory, file: Path) -> None:
    id_ = memory.remember(FACT, scope="user:ann").items[0].id
    memory.archive([id_])
    memory.recall("door code", scope="user:ann")
    assert memory.get([id_])[0].status == "archived"
    assert heal(file).lost == ()


def test_X1_a_changed_message_is_never_a_quiet_answer(memory: Memory, file: Path) -> None:
    memory.observe("s", [{"role": "user", "content": FACT, "id": "m1"}], scope="user:ann")
    damage(file, "m1", "text", "planted", table="message")
    with pytest.raises(Unavailable, match="message m1"):
        memory.messages("s", scope="user:ann")


@pytest.mark.parametrize(("column", "value"), {"trust": 3, "source": 0, "utc_offset": 60}.items())
def test_X1_nor_is_a_message_that_somebody_trusted_more(
    memory: Memory, file: Path, column: str, value: int
) -> None:
    said = {"role": "tool", "content": FACT, "id": "m1", "tool_call_id": "c"}
    memory.observe("s", [said], scope="user:ann")
    damage(file, "m1", column, value, table="message")
    with pytest.raises(Unavailable, match="message m1"):
        memory.messages("s", scope="user:ann")
    packet = memory.context(query="door code", session="s", scope="user:ann")
    assert any("message m1" in note for note in packet.notes)


# table -> column, what becomes of it, and what the row is called
SEALED: dict[str, tuple[str, Any, str]] = {
    "session": ("state", '{"planted":true}', "session s"),
    "summary": ("text", "planted", "summary "),
    "relation": ("retired_at", 1, "relation .* supports"),
    "item": ("value", '"planted"', "item policy/"),
}


def filled(memory: Memory) -> list[str]:
    """A row of every kind; the ids of two facts."""
    said = [{"role": "user", "content": f"Message {n} of the talk " * 150} for n in range(12)]
    memory.observe("s", said, scope="user:ann")
    memory.set_state("s", {"step": 1}, scope="user:ann")
    memory.maintain()
    ids = [memory.remember(text, scope="user:ann").items[0].id for text in (FACT, "Tea is hot")]
    memory.relate(ids[0], "supports", ids[1])
    memory.set_policy("user:ann:topic:diary", persist=False)
    return ids


def touch_row(file: Path, table: str) -> None:
    column, value, _ = SEALED[table]
    db = apsw.Connection(str(file))
    db.set_busy_timeout(5000)
    db.execute(f"UPDATE {table} SET {column} = ?", (value,))
    assert db.changes() >= 1
    db.close()


def damage_any(file: Path, table: str) -> None:
    """Any kind of row, also those whose text is what is changed."""
    if table in SEALED:
        touch_row(file, table)
        return
    db = apsw.Connection(str(file))
    db.execute(f"UPDATE {table} SET text = text || '!'")
    db.close()


@pytest.mark.parametrize("table", SEALED)
def test_X1_every_kind_of_row_is_checked_found_and_healed(
    memory: Memory, file: Path, tmp_path: Path, table: str
) -> None:
    ids = filled(memory)
    backup = tmp_path / "backup.db"
    backup_store(file, None, backup)
    asking: dict[str, Callable[[], Any]] = {
        "session": lambda: memory.sessions(scope="user:ann"),
        "summary": lambda: memory.summaries("s", scope="user:ann"),
        "relation": lambda: memory.relations(ids[0]),
        "item": lambda: memory.remember("Something", scope="user:ann:topic:diary"),
    }
    asked = asking[table]
    before = asked()
    touch_row(file, table)
    with pytest.raises(Unavailable, match=f"{SEALED[table][2]}.* is not as it was written"):
        asked()
    assert not check(file).is_sound
    if table in ("session", "summary"):
        notes = memory.context(query="talk", session="s", scope="user:ann").notes
        assert any("damaged, and left out" in note for note in notes)
    if table == "relation":
        notes = memory.recall(FACT, scope="user:ann").notes
        assert any("supports" in note for note in notes)
    assert heal(file).lost, "alone it cannot"
    assert heal(file, backup).healed
    assert check(file).is_sound
    assert table == "item" or asked() == before


def test_how_far_a_session_goes_is_healed_from_its_messages(memory: Memory, file: Path) -> None:
    said = [{"role": "user", "content": f"{FACT}, and {n} more"} for n in range(3)]
    memory.observe("s", said, scope="user:ann")
    damage(file, "s", "last_seq", 1, table="session")
    [more] = memory.observe("s", [{"role": "user", "content": "more"}], scope="user:ann").items
    assert more.status == "volatile"
    assert "session s is not as it was written" in more.reason
    assert heal(file).healed == ("s",)
    [more] = memory.observe("s", [{"role": "user", "content": "and more"}], scope="user:ann").items
    assert more.status == "stored"


@pytest.mark.parametrize("table", ["record", "message", *SEALED])
def test_what_nothing_can_heal_is_dropped_if_somebody_says_so(
    memory: Memory, file: Path, table: str
) -> None:
    filled(memory)
    damage_any(file, table)
    lost = heal(file).lost
    assert lost
    assert heal(file, drop_lost=True).dropped == lost
    assert check(file).is_sound
    memory.context(query="talk", session="s", scope="user:ann")
    memory.forget(scope="user:ann", descend=True)


@pytest.mark.parametrize("column", [name for name in CHANGED if name != "version"])
def test_a_backup_heals(memory: Memory, file: Path, tmp_path: Path, column: str) -> None:
    id_ = memory.remember(FACT, scope="user:ann", tags=["home"]).items[0].id
    before = memory.get([id_])[0]
    backup = tmp_path / "backup.db"
    backup_store(file, None, backup)
    damage(file, id_, column, CHANGED[column])
    assert heal(file).lost == (id_,), "alone it cannot"
    assert heal(file, backup).healed == (id_,)
    assert memory.get([id_])[0] == before
    found = memory.recall("door code studio", scope="user:ann")
    assert [hit.record.id for hit in found.hits] == [id_]
    assert heal(file, backup) == heal(file)


def test_a_turn_is_healed_from_its_message(memory: Memory, file: Path) -> None:
    memory.observe("s", [{"role": "user", "content": FACT}], scope="user:ann")
    turn = memory.records(scope="user:ann", types=["turn"]).items[0]
    damage(file, turn.id, "text", "planted")
    assert heal(file).healed == (turn.id,)
    assert memory.get([turn.id])[0].text == turn.text


def test_the_command_heals_and_says_what_it_could_not(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from standfast.interfaces.cli import main

    with Memory.open(file, embedder="hashing", background=False) as memory:
        id_ = memory.remember(FACT, scope="user:ann").items[0].id
    damage(file, id_, "text", "planted")
    assert main(["--store", str(file), "doctor", "--heal"]) == 8
    assert f"failed {id_}" in capsys.readouterr().out


@pytest.mark.parametrize("table", ["record", "message", *SEALED])
def test_X1_the_light_doctor_comes_to_every_kind_of_row(
    memory: Memory, file: Path, table: str
) -> None:
    """Also where nobody asks for it, a little at a time."""
    filled(memory)
    engine = memory._memory.engine

    def looked() -> str:
        told = [memory._loop.run(inspection.inspect(engine)) for _ in range(60)]
        return next(filter(None, told), "")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(inspection, "ROWS_PER_LOOK", 3)
        patched.setattr(inspection, "AT_ONCE", 2)
        assert looked() == ""
        damage_any(file, table)
        assert "is not as it was written" in looked()
    assert memory._loop.run(Health(memory._memory).look())[0] == "degraded"


# The file itself


@pytest.mark.skipif(os.name != "posix", reason="elsewhere an open file cannot be moved")
@pytest.mark.parametrize("what", ["moved", "deleted", "replaced", "log deleted"])
def test_X1_a_file_that_is_gone_takes_no_writes_and_answers_nothing(
    memory: Memory, file: Path, tmp_path: Path, what: str
) -> None:
    memory.remember(FACT, scope="user:ann")
    aside = tmp_path / "aside.db"
    if what == "moved":
        file.rename(aside)
    elif what == "deleted":
        file.unlink()
    elif what == "replaced":
        shutil.copy(file, aside)
        aside.replace(file)
    else:
        Path(f"{file}-wal").unlink()
    for number in range(12):
        with pytest.raises(Unavailable, match="while it was open"):
            memory.remember(f"Fact number {number} is lost", scope="user:ann")
    with pytest.raises(Unavailable, match="while it was open"):
        asyncio.run(Health(memory._memory).look())
    if what == "log deleted":  # nobody else can read what was committed
        assert [hit.record.text for hit in memory.recall("", scope="user:ann").hits] == [FACT]
        return
    for read in (memory.recall, memory.context):
        with pytest.raises(Unavailable, match="while it was open"):
            read(query="cat", scope="user:ann")
    with pytest.raises(Unavailable, match="while it was open"):
        memory.records(scope="user:ann")
    if what == "moved":
        aside.rename(file)
        assert [hit.record.text for hit in memory.recall("", scope="user:ann").hits] == [FACT]
        assert memory.remember("It is back", scope="user:ann").items[0].status == "stored"


@pytest.mark.skipif(os.name != "posix", reason="elsewhere an open file is locked otherwise")
def test_C8_pythons_own_sqlite3_in_the_same_process_is_said_and_loses_nothing(
    memory: Memory, file: Path
) -> None:
    import sqlite3

    memory.remember(FACT, scope="user:ann")
    other = sqlite3.connect(file)
    assert other.execute("SELECT count(*) FROM record").fetchone() == (1,)
    other.close()
    with pytest.raises(Unavailable, match="Python's own sqlite3 does that"):
        memory.remember("Bob likes milk", scope="user:ann")
    with Memory.open(file, embedder="hashing", background=False) as again:
        assert [hit.record.text for hit in again.recall("", scope="user:ann").hits] == [FACT]
