"""export and import: nothing is lost, nothing is doubled, and bad files do no harm."""

from __future__ import annotations

import asyncio
import errno
import io
import json
import os
import stat
import threading
from dataclasses import MISSING, fields, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from standfast import Denied, Invalid, Memory, Unavailable
from standfast.access.seal import signer
from standfast.engine import Engine
from standfast.testing.values import (
    NOW,
    make_item,
    make_message,
    make_record,
    make_relation,
    make_summary,
    moment,
)
from standfast.types import Entry, Session, ToolCall, Touch
from standfast.types.serial import TYPES, from_plain, to_plain
from standfast.verbs.export import export_to
from standfast.verbs.import_ import import_from
from standfast.wiring import open_engine
from tests.conftest import PROVING
from tests.requirements.asking import stored, texts
from tests.requirements.conftest import MovableClock, OpenMemory
from tests.requirements.exports import (
    PRIVATE_KEY,
    PUBLIC_KEY,
    comparable,
    exported,
    fill,
    header,
    import_,
    lines_of,
    reasons,
    record_line,
    values_of,
)

# One value of each type in which no field has its default.
FULL: dict[str, Any] = {
    "session": Session(
        scope="user:ann", id="s", cursors={"fold": 2}, last_seq=3, channel="web", policy="p",
        state={"a": [1, None]}, started_at=NOW, ended_at=moment(1), version=4,
    ),
    "message": make_message(
        "m", "t", "user:ann", original="{}", calls=(ToolCall(id="c", name="n", arguments="{}"),),
        answers=("c",), author="ann", source="tool", trust=1, seq=7, pending=True,
        expires_at=moment(9),
    ),
    "summary": make_summary("s", 1, 2, scope="user:ann", lineage=("m",), how="model"),
    "record": make_record(
        "r", "t", "user:ann", data={"a": {"b": [1.5]}}, tags=("x",), importance=0.25,
        confidence=0.75, durability="core", status="disputed", source="web", trust=0, author="ann",
        origin="o", session="s", session_scope="user:ann:a:b", lineage=("m",), derived_from=("q",),
        valid_from=moment(-9), valid_to=moment(-1), retired_at=moment(1), expires_at=moment(2),
        review_at=moment(3), uses=4, used_at=moment(5), hash="h", version=6,
    ),
    "relation": make_relation(
        "a", "b", "user:ann", lineage=("m",), retired_at=moment(1), version=2
    ),
    "item": make_item("k", {"v": None}, "user:ann", expires_at=moment(1), version=3),
    "entry": Entry(
        root="user:ann", seq=1, at=NOW, batch="b", change="c", reason="r", actor="a",
        touched=(Touch(kind="record", id="r", scope="user:ann", before={"a": 1}, after={"a": 2}),),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TYPES)
def test_X13_every_field_of_every_value_is_written_and_read(name: str) -> None:
    value = FULL[name]
    plain = json.loads(json.dumps(to_plain(value)))
    for field in fields(value):
        default = field.default if field.default_factory is MISSING else field.default_factory()
        assert getattr(value, field.name) != default, f"give FULL[{name!r}] a {field.name}"
    assert list(plain) == [field.name for field in fields(value)]
    assert from_plain(TYPES[name], plain) == value


async def round_trip(seed: int, path: Path) -> list[io.BytesIO]:
    """dict -> sqlite -> dict: three exports."""
    files: list[io.BytesIO] = []
    for address in ("dict:", str(path / "there.db"), "dict:"):
        engine: Engine = await open_engine(address, embedder="hashing", clock=lambda: moment(30))
        engine.sign = signer(PRIVATE_KEY, "a test")
        if files:
            receipt = await import_from(
                engine,
                files[-1],
                dry_run=False,
                partial=False,
                actor="test",
                trusted_key=PUBLIC_KEY,
            )
            assert [item for item in receipt.items if item.status != "stored"] == []
        else:
            await fill(engine.store, Random(seed))
        files.append(io.BytesIO())
        await export_to(engine, files[-1], scope=None, descend=True)
        await engine.store.close()
    return files


@settings(max_examples=60 if PROVING else 8)
@given(seed=st.integers(0, 2**32))
def test_X13_export_import_export_gives_the_same_lines(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    files = asyncio.run(round_trip(seed, tmp_path_factory.mktemp("trip")))
    first, second, third = map(comparable, files)
    assert first["record"]
    assert first["entry"] <= second["entry"] <= third["entry"]
    for name in set(TYPES) - {"entry"}:
        assert first[name] == second[name] == third[name], name
    namespaces = {item["namespace"] for item in values_of(files[0], "item")}
    assert namespaces == {"policy", "secret", "tombstone"}


def filled(memory: Memory) -> None:
    memory.observe(
        "chat",
        [
            {"role": "user", "content": "I moved to Berlin", "id": "m1"},
            {"role": "assistant", "content": "Noted", "id": "m2"},
        ],
        scope="user:ann",
    )
    tea = stored(memory, "Ann likes tea", scope="user:ann", tags=["drinks"])
    milk = stored(memory, "She takes it with milk", scope="user:ann")
    memory.relate(milk, "supports", tea)
    stored(memory, "Deploys go out on Tuesdays", scope="org:acme:team:web")


def test_X13_import_elsewhere_finds_everything_again_and_twice_changes_nothing(
    memory: Memory, open_memory: OpenMemory, tmp_path: Path
) -> None:
    filled(memory)
    other = open_memory(str(tmp_path / "other.db"))
    first = other.import_from(exported(memory))
    assert {item.status for item in first.items} == {"stored"}
    assert "Ann likes tea" in texts(other, "tea", scope="user:ann")
    assert "I moved to Berlin" in texts(other, "Berlin", scope="user:ann")
    assert other.context(session="chat", scope="user:ann").messages[0]["content"]
    before = exported(other)
    again = other.import_from(exported(memory))
    # Asking for a context has learned from the session since.
    learned = ("skipped", "this reader stands at 2 here")
    assert set(reasons(again)) == {("skipped", "already there"), learned}
    assert again.change == ""
    assert comparable(exported(other)) == comparable(before)
    assert set(reasons(memory.import_from(exported(memory)))) == {("skipped", "already there")}


def test_X13_records_are_found_by_meaning_after_an_import(
    memory: Memory, open_memory: OpenMemory
) -> None:
    filled(memory)
    other = open_memory("dict:")
    assert other.import_from(exported(memory)).usage.texts_embedded == 5
    (hit, *_) = other.recall("tea", scope="user:ann").hits
    assert hit.similarity is not None


def test_X4_an_import_is_one_change_that_can_be_undone(
    memory: Memory, open_memory: OpenMemory
) -> None:
    filled(memory)
    other = open_memory("dict:")
    change = other.import_from(exported(memory, scope="user:ann")).change
    other.undo(change)
    assert texts(other, "tea", scope="user:ann") == []
    assert other.recall("tea", scope="user:ann", statuses=["archived"]).hits


def test_X13_a_dry_run_says_what_would_happen_and_writes_nothing(
    memory: Memory, open_memory: OpenMemory
) -> None:
    filled(memory)
    other = open_memory("dict:")
    receipt = other.import_from(exported(memory), dry_run=True)
    assert set(reasons(receipt)) == {("pending", "dry run: would be stored")}
    assert receipt.change == ""
    assert lines_of(exported(other))[1:-1] == []


def test_X13_a_scope_is_exported_alone(memory: Memory) -> None:
    filled(memory)
    file = exported(memory, scope="org:acme:team:web")
    assert [record["text"] for record in values_of(file, "record")] == [
        "Deploys go out on Tuesdays"
    ]
    assert {
        line["value"]["scope"] for line in lines_of(file)[1:-1] if "scope" in line["value"]
    } == {"org:acme:team:web"}


def test_X13_the_file_is_private_and_there_complete_or_not_at_all(
    memory: Memory, tmp_path: Path
) -> None:
    filled(memory)
    target = tmp_path / "e.jsonl"
    target.write_text("old")
    memory.export_to(target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert lines_of(io.BytesIO(target.read_bytes()))[-1]["type"] == "end"
    for impossible, error in ((tmp_path, Invalid), (tmp_path / "no" / "e.jsonl", Unavailable)):
        with pytest.raises(error):
            memory.export_to(impossible)
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".part")]


def test_X13_a_full_disk_leaves_no_half_export(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(memory)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    class Full(io.BytesIO):
        def write(self, _: Any) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    for target in (tmp_path / "e.jsonl", Full()):
        with pytest.raises(Unavailable, match="No space left"):
            memory.export_to(target)
    assert not [name for name in os.listdir(tmp_path) if "jsonl" in name]


def test_X13_what_was_there_before_the_export_began_is_in_it_while_others_write(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory()
    before = [stored(memory, f"Fact number {n} of many", scope="user:ann") for n in range(30)]
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            memory.observe("chat", ["again"], scope="user:ann")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        files = [exported(memory) for _ in range(5)]
    finally:
        stop.set()
        writer.join()
    for file in files:
        assert set(before) <= {record["id"] for record in values_of(file, "record")}
        fresh = open_memory("dict:")
        assert {item.status for item in fresh.import_from(file).items} == {"stored"}


def test_X13_a_session_goes_on_where_it_ended_even_if_its_last_messages_are_gone(
    memory: Memory, open_memory: OpenMemory
) -> None:
    memory.observe("chat", ["one", {"role": "user", "content": "two", "id": "m2"}], scope="user:a")
    memory.forget(ids=["m2"], session="chat", scope="user:a")
    other = open_memory("dict:")
    file = exported(memory)
    other.import_from(file)
    (session,) = values_of(exported(other), "session")
    assert session["last_seq"] == 2
    assert set(reasons(other.import_from(file))) == {("skipped", "already there")}
    other.observe("chat", ["three"], scope="user:a")
    assert [m["seq"] for m in values_of(exported(other), "message")] == [1, 3]


def test_X13_a_session_that_went_on_differently_keeps_both_and_drops_positions(
    memory: Memory, open_memory: OpenMemory
) -> None:
    session = replace(FULL["session"], cursors={"reader": 2}, version=0)
    messages = [make_message(f"m{n}", f"text {n}", "user:ann", "s", seq=n) for n in (1, 2, 3)]
    summary = make_summary("sum", 1, 2, scope="user:ann", session="s")
    lines = [
        header(),
        *(
            {"type": name, "value": to_plain(value)}
            for name, value in [("session", session), *(("message", m) for m in messages)]
        ),
        {"type": "summary", "value": to_plain(summary)},
    ]
    memory.observe("s", ["something else"], scope="user:ann")
    receipt = import_(memory, *lines)
    said = {item.id: (item.status, item.reason) for item in receipt.items}
    assert said["m1"] == ("stored", "appended: the session has other messages here")
    assert "numbered anew" in said["sum"][1]
    assert "numbered anew" in said["s/reader"][1]
    kept = values_of(exported(memory), "message")
    assert [(m["seq"], m["text"]) for m in kept] == [
        (1, "something else"), (2, "text 1"), (3, "text 2"), (4, "text 3"),
    ]  # fmt: skip
    fresh = open_memory("dict:")
    assert {item.status for item in import_(fresh, *lines).items} == {"stored"}
    (again,) = values_of(exported(fresh), "session")
    assert again["cursors"]["reader"] == 2


def test_X13_what_is_said_here_already_is_merged_and_relations_follow(
    memory: Memory, open_memory: OpenMemory
) -> None:
    filled(memory)
    other = open_memory("dict:")
    here = stored(other, "Ann likes tea", scope="user:ann")
    receipt = other.import_from(exported(memory, scope="user:ann"))
    assert [item.id for item in receipt.items if item.status == "merged"] == [here]
    (edge,) = values_of(exported(other), "relation")
    assert edge["target"] == here


# Who may write what


def test_X13_a_bound_handle_takes_in_only_its_own_scope(open_memory: OpenMemory) -> None:
    bound = open_memory(scope="user:ann")
    receipt = import_(
        bound,
        header("user:ann", "user:bob"),
        record_line("r1", "mine"),
        record_line("r2", "not mine", scope="user:bob"),
        record_line("r3", "undeclared", scope="user:eve"),
    )
    assert [item.status for item in sorted(receipt.items, key=lambda i: i.id)] == [
        "stored", "failed", "failed",
    ]  # fmt: skip
    assert any("line 3: scope 'user:bob' is outside" in item.reason for item in receipt.items)
    assert any("not among those the header names" in item.reason for item in receipt.items)
    with pytest.raises(Denied):
        bound.export_to(io.BytesIO(), scope="user:bob")


def test_A10_who_opted_out_is_not_imported(memory: Memory, open_memory: OpenMemory) -> None:
    filled(memory)
    other = open_memory("dict:")
    other.set_policy("user:ann", persist=False)
    receipt = other.import_from(exported(memory, scope="user:ann"))
    assert ("skipped", "opted out of persistence") in reasons(receipt)
    kept = exported(other)
    assert not values_of(kept, "record")
    assert not values_of(kept, "message")


def test_X11_secrets_in_an_export_made_elsewhere_are_redacted(memory: Memory) -> None:
    key = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 3
    message = make_message(
        "m", f"my key is {key}", "user:ann", "s", seq=1,
        original=json.dumps({"role": "user", "content": f"my key is {key}", "x": 1}),
    )  # fmt: skip
    receipt = import_(
        memory,
        header(),
        {"type": "message", "value": to_plain(message)},
        record_line("r", f"the key is {key}", data={"k": key}, tags=[key]),
    )
    assert set(reasons(receipt)) == {("stored", "secrets were redacted")}
    assert key.encode() not in exported(memory).getvalue()
    assert b"[redacted:" in exported(memory).getvalue()


# Nothing comes back


def test_X10_what_was_forgotten_here_does_not_come_back_through_an_import(
    memory: Memory, clock: MovableClock
) -> None:
    filled(memory)
    copy = exported(memory)
    clock.forward(hours=1)
    memory.forget(session="chat", scope="user:ann")
    (tea,) = [h.record.id for h in memory.recall("tea", scope="user:ann").hits if h.record.tags]
    memory.forget(ids=[tea])
    receipt = memory.import_from(copy)
    said = {item.id: (item.status, item.reason) for item in receipt.items}
    assert said["m1"] == said[tea] == ("skipped", "forgotten here before")
    file = exported(memory).getvalue()
    for text in (b"Berlin", b"likes tea"):
        assert text not in file
    clock.forward(hours=1)
    stored(memory, "Ann likes tea", scope="user:ann")  # told again: wanted again


def test_X10_what_was_derived_from_something_forgotten_does_not_come_back(
    memory: Memory, clock: MovableClock
) -> None:
    lines = [
        header(),
        record_line("zz", "a secret romance", hash="h1"),
        record_line("aa", "gossip about it", derived_from=["zz"]),
        record_line("bb", "gossip about gossip", derived_from=["aa"]),
        record_line("cc", "the weather"),
    ]
    import_(memory, *lines)
    clock.forward(hours=1)
    memory.forget(ids=["zz"])
    said = {item.id: item.reason for item in import_(memory, *lines).items}
    forgotten = "forgotten here before"
    assert said == {"aa": forgotten, "bb": forgotten, "zz": forgotten, "cc": "already there"}


def test_X10_forgetting_reaches_the_journal_that_an_import_brought_along(
    memory: Memory, open_memory: OpenMemory
) -> None:
    one = stored(memory, "Ann likes tea", scope="user:ann")
    memory.remember("Ann likes tea", scope="user:ann", tags=["quokka"])
    other = open_memory("dict:")
    other.import_from(exported(memory))
    assert b"quokka" in exported(other).getvalue()
    other.forget(ids=[one])
    left = exported(other)
    assert b"quokka" not in left.getvalue()
    assert len(values_of(left, "entry")) > 2


def test_X10_tombstones_travel_and_keep_working(
    memory: Memory, open_memory: OpenMemory, clock: MovableClock
) -> None:
    filled(memory)
    copy = exported(memory)
    clock.forward(hours=1)
    memory.forget(scope="user:ann")
    other = open_memory("dict:")
    other.import_from(exported(memory))
    assert ("skipped", "forgotten here before") in reasons(other.import_from(copy))
    assert texts(other, "tea", scope="user:ann") == []


def test_X10_tombstones_made_with_another_key_are_left_out(
    memory: Memory, open_memory: OpenMemory
) -> None:
    other = open_memory("dict:")
    for one in (memory, other):
        one.forget(ids=[stored(one, "Ann likes tea", scope="user:ann")])
    said = reasons(other.import_from(exported(memory)))
    assert ("skipped", "this root has a key of its own") in said
    assert ("skipped", "tombstones made with another key mean nothing in this root") in said


def test_X13_an_export_names_the_space_and_an_import_tells_what_became_of_it(
    tmp_path: Path,
) -> None:
    lines = tmp_path / "all.jsonl"
    with Memory.open("dict:", embedder="hashing", background=False) as memory:
        stored(memory, "Ann lives in Bonn", scope="user:ann")
        memory.export_to(lines)
    assert json.loads(lines.read_text().splitlines()[0])["space"] == "hashing/384"
    with Memory.open("dict:", embedder="hashing/64", background=False) as memory:
        told = "the vectors of the export were in 'hashing/384'; here they are made in hashing/64"
        assert told in memory.import_from(lines).notes
        assert memory.recall("Bonn", scope="user:ann").hits[0].similarity is not None
    with Memory.open("dict:", embedder="hashing", background=False) as memory:
        assert not any("vectors" in note for note in memory.import_from(lines).notes)
