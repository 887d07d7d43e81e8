"""Files that are no exports, broken exports, and lines that cannot be right."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from standfast import Incompatible, Invalid, Memory, NotFound
from standfast.testing.values import make_relation
from standfast.types.serial import to_plain
from tests.conftest import PROVING
from tests.requirements.asking import stored, texts
from tests.requirements.conftest import OpenMemory
from tests.requirements.exports import exported, header, import_, lines_of, reasons, record_line


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (b"", Invalid, "is empty"),
        (b"\x00\xff\xfe\x89PNG" * 1000, Invalid, "not an export"),
        (b"dear diary", Invalid, "not an export"),
        (b'{"role": "user", "content": "hi"}\n', Invalid, "not an export"),
        (b"[" * 100_000, Invalid, "not an export"),
        (b"null\n", Invalid, "not an export"),
        (json.dumps(header(version="1")).encode(), Invalid, "which version"),
        (json.dumps(header(version=True)).encode(), Invalid, "which version"),
        (json.dumps(header(version=2)).encode() + b"\n", Incompatible, "newer standfast"),
        (json.dumps(header(scopes="user:ann")).encode() + b"\n", Invalid, "which scopes"),
        (json.dumps(header()).encode() + b"\n", Invalid, "cut off"),
    ],
)
def test_X13_a_file_that_is_none_is_refused(
    memory: Memory, tmp_path: Path, content: bytes, error: type[Exception], message: str
) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(content)
    with pytest.raises(error, match=message):
        memory.import_from(path)
    with pytest.raises(NotFound):
        memory.import_from(tmp_path / "missing")


def test_X13_a_file_that_was_cut_off_or_changed_is_refused_unless_asked(
    memory: Memory, open_memory: OpenMemory
) -> None:
    for text in ("Ann likes tea", "She takes it with milk"):
        stored(memory, text, scope="user:ann")
    whole = exported(memory).getvalue()
    for broken in (whole[:-20], whole[: len(whole) // 2], whole.replace(b"tea", b"gin")):
        other = open_memory("dict:")
        with pytest.raises(Invalid, match="Nothing was imported"):
            other.import_from(io.BytesIO(broken))
        assert lines_of(exported(other))[1:-1] == []
        receipt = other.import_from(io.BytesIO(broken), partial=True)
        assert receipt.notes[0].startswith("imported only in part")
        assert any(item.status == "stored" for item in receipt.items)
        other.import_from(io.BytesIO(whole))
        assert "She takes it with milk" in texts(other, "milk", scope="user:ann")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("not an object", "not a JSON object"),
        ({"type": "recipe", "value": {}}, "the type 'recipe' is unknown"),
        ({"value": {}}, "the type None is unknown"),
        ({"type": "record"}, "a type and a value"),
        ({"type": "record", "value": 7}, "must be an object"),
        ({"type": "record", "value": {"id": "r"}}, "has no 'scope'"),
        (record_line("r", 5), "text must be text"),  # type: ignore[arg-type]
        (record_line("r", "t", importance="high"), "importance must be a finite number"),
        (record_line("r", "t", importance=7), "importance must be a number from 0 to 1"),
        (record_line("r", "t", uses=-1), "uses must be a whole number"),
        (record_line("r", "t", uses=10**30), "uses must be a whole number"),
        (record_line("r", "t", trust=99), "trust goes from 0 to 3"),
        (record_line("r", "t", learned_at="yesterday"), "learned_at must be a time"),
        (record_line("r", "t", learned_at="2026-01-01T00:00:00"), "learned_at must be a time"),
        (record_line("r", "t", status="undead"), "status must be one of active"),
        (record_line("r", "t", mood="good"), "the unknown field 'mood'"),
        (record_line("r", "\ud800"), "half a surrogate pair"),
        (record_line("r\x00", "t"), "control character"),
        (record_line("r", "t" * (1 << 21)), "longer than 1 MiB"),
        (record_line("r", "t", scope="nonsense"), "not made of kind:id pairs"),
        (record_line("r", "t", scope="system:store"), "reserved"),
        (record_line("r", "t", session_scope="user:bob"), "not in the root"),
        (record_line("r", "t", data={"n": 1e999}), "not a JSON object"),
    ],
)
def test_X13_a_bad_line_fails_alone_with_its_number_and_reason(
    memory: Memory, line: Any, reason: str
) -> None:
    receipt = import_(memory, header(), record_line("good", "fine"), line, record_line("z", "last"))
    failed = [item for item in receipt.items if item.status == "failed"]
    assert len(failed) == 1
    assert failed[0].reason.startswith("line 3: ")
    assert reason in failed[0].reason
    assert len(memory.get(["good", "z"])) == 2


def test_X13_a_hundred_thousand_copies_of_one_line_are_one_record(memory: Memory) -> None:
    many = 100_000 if PROVING else 12_000
    receipt = import_(memory, header(), *[record_line("r", "the same")] * many)
    assert len(receipt.items) == 10_000
    assert receipt.notes[0] == f"record: {many - 1} skipped (already there), 1 stored"
    assert len(memory.get(["r"])) == 1


def test_X13_a_relation_without_its_records_is_left_out(memory: Memory) -> None:
    edge = {"type": "relation", "value": to_plain(make_relation("a", "b", "user:ann"))}
    receipt = import_(memory, header(), edge)
    assert reasons(receipt) == [("skipped", "one of its records is not here")]


def test_X13_an_id_that_belongs_to_somebody_else_is_refused(memory: Memory) -> None:
    import_(memory, header("user:bob"), record_line("r", "bobs", scope="user:bob"))
    receipt = import_(memory, header(), record_line("r", "anns"), record_line("s", "fine"))
    assert sorted(item.status for item in receipt.items) == ["failed", "stored"]
    assert memory.get(["r"])[0].text == "bobs"


def test_X13_an_id_that_says_something_else_here_is_left_as_it_is(memory: Memory) -> None:
    import_(memory, header(), record_line("r", "first"))
    receipt = import_(memory, header(), record_line("r", "second"))
    assert reasons(receipt) == [("skipped", "this id already says something else here")]
    assert memory.get(["r"])[0].text == "first"
