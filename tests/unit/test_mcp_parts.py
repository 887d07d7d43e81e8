"""The parts of the MCP server that need no server."""

from __future__ import annotations

import asyncio
import json
import os
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast.interfaces.mcp.lines import lines_of, split
from standfast.interfaces.mcp.results import done_lines, done_of
from standfast.interfaces.mcp.schemas import lean
from standfast.text.trust import PREFACE, without_recalled
from standfast.types import Receipt, ReceiptItem

LINES = st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])))


@given(LINES, st.integers(1, 7))
def test_lines_are_the_same_however_they_arrive(lines: list[str], size: int) -> None:
    raw = "".join(line + "\n" for line in lines).encode()
    pieces = (raw[start : start + size] for start in range(0, len(raw), size))
    assert list(split(pieces)) == lines


def test_a_line_without_an_end_is_a_line() -> None:
    assert list(split(iter([b"a\nb"]))) == ["a", "b"]


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_line_that_is_too_long_is_cut_and_the_next_is_whole(size: int) -> None:
    raw = b'{"x": "' + b"y" * 200 + b'"}\n{"z": 1}\n'
    pieces = (raw[start : start + size] for start in range(0, len(raw), size))
    first, second = split(pieces, longest=100)
    assert len(first) <= 100
    with pytest.raises(ValueError, match=r"."):
        json.loads(first)
    assert second == '{"z": 1}'


def test_lines_of_a_pipe_come_while_it_is_open() -> None:
    async def scenario() -> None:
        reading, writing = os.pipe()
        lines = lines_of(reading)
        os.write(writing, b"one\ntw")
        assert await anext(lines) == "one"
        os.write(writing, b"o\n")
        assert await anext(lines) == "two"
        os.close(writing)
        with pytest.raises(StopAsyncIteration):
            await anext(lines)
        os.close(reading)

    asyncio.run(scenario())


def test_a_schema_without_titles_and_nulls_says_the_same() -> None:
    schema = {
        "title": "Arguments",
        "type": "object",
        "properties": {
            "title": {"title": "Title", "type": "string", "default": "title"},
            "tags": {
                "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}],
                "default": None,
                "title": "Tags",
            },
            "scope": {
                "anyOf": [{"type": "string"}, {"type": "array"}, {"type": "null"}],
                "default": None,
            },
        },
        "required": ["title"],
    }
    assert lean(schema) == {
        "type": "object",
        "properties": {
            "title": {"type": "string", "default": "title"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "scope": {"anyOf": [{"type": "string"}, {"type": "array"}]},
        },
        "required": ["title"],
    }


RESULT = {"about": PREFACE, "memories": [{"id": "1", "text": 'Ann said "hi" {to} [Bob]'}]}


@pytest.mark.parametrize("indent", [None, 1, 4])
def test_X9_a_typed_result_is_known_when_it_comes_back(indent: int | None) -> None:
    result = json.dumps(RESULT, indent=indent)
    assert without_recalled(result) == ""
    said = without_recalled(f"Before it.\n{result}\nAfter it: {result} and on.")
    assert "Ann" not in said
    assert said.startswith("Before it.")
    assert said.endswith("and on.")


def test_X9_a_result_that_was_cut_off_goes_to_the_end_of_its_line() -> None:
    cut = json.dumps(RESULT)[:-20]
    assert without_recalled(f"Before.\n{cut}\nMy dog is called Bello.") == (
        "Before.\n\nMy dog is called Bello."
    )


def test_X9_what_only_looks_alike_is_kept() -> None:
    other = json.dumps({"about": "Stored memories", "memories": ["Ann"]})
    assert without_recalled(other) == other


def test_X9_many_broken_results_take_no_longer_than_one() -> None:
    broken = json.dumps({"about": PREFACE})[:-1] + ', "x": [\n'
    began = time.monotonic()
    without_recalled(broken * 20_000)
    assert time.monotonic() - began < 10


def test_A10_what_a_receipt_says_names_no_file_of_this_machine() -> None:
    reason = "kept in this process only: no space left for /home/ann/memory.db; free some"
    done = done_of(
        Receipt(
            items=(ReceiptItem(id="m1", status="volatile", reason=reason),),
            notes=("vectors pending: cannot read 'C:\\Users\\ann\\memory.db'",),
        )
    )
    told = done_lines(done)
    assert "memory.db" not in told
    assert "no space left for the file; free some" in told
    assert done.notes == ["vectors pending: cannot read 'the file'"]
