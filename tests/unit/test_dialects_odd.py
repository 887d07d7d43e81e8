"""Messages whose parts have another type than their format says: refused in one line, or taken."""

from __future__ import annotations

import io
from contextlib import suppress

import pytest

from recollect.errors import RecollectError
from recollect.text.dialects import bodies_of
from recollect.verbs.import_.file import lines_of


@pytest.mark.parametrize("odd", [[], {}, ["human"], 7, None, True])
@pytest.mark.parametrize("name", ["type", "role", "kind", "parts", "id", "data", "kwargs", "lc"])
def test_M1_a_part_of_another_type_never_crashes(name: str, odd: object) -> None:
    for raw in (
        {"type": "human", "data": {"content": "hi"}},
        {"lc": 1, "id": ["HumanMessage"], "kwargs": {"content": "hi"}},
        {"role": "user", "parts": [{"text": "hi"}]},
        {"role": "user", "content": "hi"},
    ):
        with suppress(RecollectError):  # refused is fine; anything else fails
            bodies_of({**raw, name: odd})


def test_X13_a_line_whose_type_is_a_list_is_one_bad_line() -> None:
    lines = list(lines_of(io.BytesIO(b'{}\n{"type": ["record"], "value": {}}\n')))
    assert [(line.type, bool(line.error)) for line in lines] == [("line", True)]
