"""The page of stored names has every constant of `compat.py`, and no other."""

from __future__ import annotations

import re

from standfast import compat
from tests.docs.pages import PROJECT

PAGE = PROJECT / "docs" / "reference" / "stored-names.md"
CONSTANTS = {name for name in vars(compat) if re.fullmatch(r"[A-Z][A-Z_]+", name)}
FATES = ("stays", "migrates", "both are read", "is new", "is used where it is", "do not count")


def test_every_stored_name_is_on_the_page() -> None:
    page = PAGE.read_text("utf-8")
    assert {"NAMES", "REDIS_PREFIX", "EXPORT_FORMATS"} <= CONSTANTS
    named = set(re.findall(r"`([A-Z][A-Z_]+)`", page)) - {"LISTEN", "NOTIFY"}
    assert named == CONSTANTS


def test_every_row_says_what_becomes_of_it() -> None:
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    assert len(rows) > 20
    said = [row.rsplit("|", 2)[1].strip() for row in rows]
    assert [fate for fate in said if not any(word in fate for word in FATES)] == []
