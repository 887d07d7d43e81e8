"""What a person wrote in MEMORY.md stays as it is, byte for byte, however often it is synced."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from standfast.interfaces.markdown.pages import HEADINGS, own_parts, split_lines
from tests.interfaces.workspaces import SCOPE, Desk

COMMENT = re.compile(r" <!-- standfast:[^\s<>]+ -->")
OURS = {f"## {heading}" for heading in HEADINGS}

WORDS = st.text(
    st.characters(categories=("Lu", "Ll", "Nd", "So"), max_codepoint=0x1FAFF),
    min_size=1,
    max_size=8,
)
PHRASES = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
INDENTS = st.sampled_from(["  ", "    ", "\t", "\t\t"])


@st.composite
def nested(draw: st.DrawFn) -> list[str]:
    lines = [f"- {draw(PHRASES)}{draw(st.sampled_from(['', ':']))}"]
    for _ in range(draw(st.integers(1, 3))):
        lines.append(f"{draw(INDENTS)}{draw(st.sampled_from('-*+'))} {draw(PHRASES)}")
    return lines


@st.composite
def table(draw: st.DrawFn) -> list[str]:
    width = draw(st.integers(1, 3))
    rows = draw(st.lists(st.lists(PHRASES, min_size=width, max_size=width), min_size=1, max_size=3))
    head = ["".join(f"| {draw(WORDS)} " for _ in range(width)) + "|", "|" + "---|" * width]
    return [*head, *("| " + " | ".join(row) + " |" for row in rows)]


@st.composite
def code(draw: st.DrawFn) -> list[str]:
    fence = draw(st.sampled_from(["```", "~~~", "````"]))
    inside = draw(st.lists(st.one_of(PHRASES, st.sampled_from(
        ["- no item", "# no heading", "## Facts", "<!-- no comment", "    deep", "\ttab", ""])),
        max_size=4))  # fmt: skip
    return [f"{fence}{draw(st.sampled_from(['', 'python']))}", *inside, fence]


BLOCKS = st.one_of(
    PHRASES.map(lambda text: [f"## {text}"]),
    PHRASES.map(lambda text: [f"### {text}  "]),
    st.lists(PHRASES, min_size=1, max_size=3),
    PHRASES.map(lambda text: [f"- {text}"]),
    PHRASES.map(lambda text: [f"1. {text}\t"]),
    PHRASES.map(lambda text: [f"> {text}"]),
    PHRASES.map(lambda text: [f"<!-- {text}", "and more -->"]),
    st.just(["---"]),
    st.just(["## Facts", ""]),
    st.just(["# Memory"]),
    nested(),
    table(),
    code(),
)


@st.composite
def documents(draw: st.DrawFn) -> str:
    blocks = draw(st.lists(BLOCKS, min_size=1, max_size=6))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    lines: list[str] = ["---", "title: mine", "tags: [a, b]", "---"] if draw(st.booleans()) else []
    for block in blocks:
        lines += [*([""] * draw(st.integers(1, 2))), *block]
    return end.join(lines) + draw(st.sampled_from(["", end, end * 3]))


def kept(theirs: str, now: str) -> str:
    """Why what they wrote is not there as it was; "" if it is. Comments behind their lines, and
    lines of ours between them, are no change."""
    wanted = split_lines(theirs)
    place = 0
    for line in split_lines(now):
        plain = COMMENT.sub("", line)
        bare = plain.rstrip("\r\n")
        if place < len(wanted) and _same(plain, line, wanted[place], place == len(wanted) - 1):
            place += 1
        elif bare.strip() and bare not in OURS and plain == line:
            return f"{line!r} is neither theirs nor ours"
    return "" if place == len(wanted) else f"{wanted[place]!r} is gone"


def _same(plain: str, line: str, wanted: str, is_last: bool) -> bool:
    if plain != line:  # blanks at the end of a line that got its comment are no words
        plain, wanted = plain.rstrip(), wanted.rstrip()
    if is_last:
        plain, wanted = plain.rstrip("\r\n"), wanted.rstrip("\r\n")
    return plain == wanted


@given(documents())
@example("## P\r\n\r\n- a\r\n\t- b\r\n\r\n| x |\r\n|---|\r\n| 1 |\r\n\r\n```\r\n- c\r\n```")
@example("\n## Home\n\n- tea\n\n## Work\n\n- tea")
@settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None
)
def test_K8_B9_a_persons_text_survives_every_round(theirs: str) -> None:
    survives(theirs)


@pytest.mark.proof
@given(documents())
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_K8_B9_a_persons_text_survives_in_many_files(theirs: str) -> None:
    survives(theirs)


def survives(theirs: str) -> None:
    assume(own_parts(theirs))  # a file of plain items alone is ours to write
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(Path(folder) / "w")
        desk.page.write_bytes(theirs.encode())
        assert "failed" not in {item.status for item in desk.sync().items}
        (learned, _) = desk.remember("Zoe plays the tuba", "Zoe lives in Uppsala")
        desk.sync()
        now = desk.page.read_bytes().decode()
        assert "tuba" in now
        assert kept(theirs, now) == ""
        with desk.open() as memory:
            memory.forget(ids=[learned])
        desk.sync()
        again = desk.page.read_bytes()
        assert b"tuba" not in again
        assert kept(theirs, again.decode()) == ""
        assert desk.sync().items == ()
        assert desk.page.read_bytes() == again


PROJECT = """\
# Memory

## Project

We build a web shop. It is called heron.

- Stack:
  - PostgreSQL 17
  - FastAPI
- Flat fact about deploys

| Host | Address |
|------|---------|
| db-1 | 10.0.0.3 |

```sh
make deploy  # on Tuesdays
```
"""


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path / "workspace")
    desk.page.write_text(PROJECT)
    return desk


def test_K8_B9_what_a_person_wrote_is_known_and_stays(desk: Desk) -> None:
    desk.sync()
    text = desk.page.read_text()
    assert COMMENT.sub("", text) == PROJECT
    assert COMMENT.findall(text) != []
    with desk.open() as memory:
        known = {hit.record.text for hit in memory.recall("", scope=SCOPE, limit=50).hits}
    assert known == {
        "We build a web shop. It is called heron.",
        "Stack: PostgreSQL 17",
        "Stack: FastAPI",
        "Flat fact about deploys",
        "Host: db-1; Address: 10.0.0.3",
        "make deploy  # on Tuesdays",
    }


def test_K8_B9_an_edit_of_their_text_changes_what_is_known(desk: Desk) -> None:
    desk.sync()
    desk.edit("FastAPI", "Flask")
    desk.edit("| db-1 | 10.0.0.3 |\n", "")
    desk.sync()
    with desk.open() as memory:
        known = {hit.record.text for hit in memory.recall("", scope=SCOPE, limit=50).hits}
    assert "Stack: Flask" in known
    assert not known & {"Stack: FastAPI", "Host: db-1; Address: 10.0.0.3"}
    assert "  - Flask\n" in desk.page.read_text()


def test_K8_X10_what_is_forgotten_leaves_their_text_too(desk: Desk) -> None:
    desk.sync()
    with desk.open() as memory:
        ids = {
            hit.record.text: hit.record.id for hit in memory.recall("", scope=SCOPE, limit=50).hits
        }
        memory.forget(ids=[ids["Stack: FastAPI"], ids["make deploy  # on Tuesdays"]])
    desk.sync()
    desk.sync()
    text = desk.page.read_text()
    assert "FastAPI" not in text
    assert "make deploy" not in text
    assert "  - PostgreSQL 17\n" in text
    with desk.open() as memory:
        assert not [
            h for h in memory.recall("", scope=SCOPE, limit=50).hits if "Fast" in h.record.text
        ]


def test_K8_X6_their_text_does_not_bring_back_what_was_replaced_since(desk: Desk) -> None:
    desk.sync()
    with desk.open() as memory:
        ids = {
            hit.record.text: hit.record.id for hit in memory.recall("", scope=SCOPE, limit=50).hits
        }
        memory.remember("Stack: PostgreSQL 18", scope=SCOPE, supersedes=ids["Stack: PostgreSQL 17"])
    for _ in range(2):
        receipt = desk.sync()
        assert any("is yours to change" in note for note in receipt.notes)
        assert receipt.items == ()
    text = desk.page.read_text()
    assert "  - PostgreSQL 17\n" in text
    assert "- Stack: PostgreSQL 18 <!--" in text


def test_K8_X6_a_conflict_shows_and_goes_without_touching_their_text(desk: Desk) -> None:
    desk.sync()
    before = desk.page.read_text()
    one, two = desk.remember("Bob likes chess", "Cid sails on Sundays")
    with desk.open() as memory:
        memory.relate(one, "contradicts", two)
    desk.sync()
    shown = desk.page.read_text()
    assert "## Conflicts" in shown
    assert COMMENT.sub("", shown).endswith(PROJECT.partition("## Project")[2])
    desk.delete("Sundays")
    desk.sync()
    after = desk.page.read_text()
    assert "## Conflicts" not in after
    assert after.startswith(before)
    assert desk.texts()[-1] == "Bob likes chess"
