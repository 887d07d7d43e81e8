"""Messages whose parts have another type than their format says: refused in one line, or taken."""

from __future__ import annotations

import io
from contextlib import suppress
from typing import get_args

import pytest

from standfast.errors import StandfastError
from standfast.text.dialects import bodies_of, parts_of
from standfast.types import Role
from standfast.verbs.import_.file import lines_of


@pytest.mark.parametrize("odd", [[], {}, ["human"], 7, None, True])
@pytest.mark.parametrize("name", ["type", "role", "kind", "parts", "id", "data", "kwargs", "lc"])
def test_M1_a_part_of_another_type_never_crashes(name: str, odd: object) -> None:
    for raw in (
        {"type": "human", "data": {"content": "hi"}},
        {"lc": 1, "id": ["HumanMessage"], "kwargs": {"content": "hi"}},
        {"role": "user", "parts": [{"text": "hi"}]},
        {"role": "user", "content": "hi"},
    ):
        with suppress(StandfastError):  # refused is fine; anything else fails
            bodies_of({**raw, name: odd})


def test_X13_a_line_whose_type_is_a_list_is_one_bad_line() -> None:
    lines = list(lines_of(io.BytesIO(b'{}\n{"type": ["record"], "value": {}}\n')))
    assert [(line.type, bool(line.error)) for line in lines] == [("line", True)]


@pytest.mark.parametrize("role", get_args(Role))
@pytest.mark.parametrize("content", ["Tea at five", ""])
def test_plain_text_is_read_as_it_is_among_other_fields(role: str, content: str) -> None:
    plain = {"role": role, "content": content, "id": "m1", "author": "ann"}
    (short,), (long,) = bodies_of(plain), bodies_of({**plain, "mood": "calm"})
    assert short.role == long.role
    assert short.original == plain
    assert parts_of(plain) == parts_of({**plain, "mood": "calm"})
