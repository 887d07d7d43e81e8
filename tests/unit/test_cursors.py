"""Cursors are words that a command line takes as they are."""

from __future__ import annotations

import pytest

from standfast.errors import Invalid
from standfast.verbs.lists.cursors import cursor_of, place_of


def test_X13_no_cursor_looks_like_an_option() -> None:
    cursors = [cursor_of([number], "list") for number in range(500)]
    assert not any(cursor.startswith("-") for cursor in cursors)
    assert [place_of(cursor, "list", (int,)) for cursor in cursors] == [[n] for n in range(500)]


def test_X13_half_a_cursor_is_refused() -> None:
    with pytest.raises(Invalid, match="does not belong"):
        place_of(cursor_of([1], "list")[1:], "list", (int,))
