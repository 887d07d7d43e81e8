"""MEMORY.md as text, and what an edit of it asks for: properties of the pure parts."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast.errors import Invalid
from standfast.interfaces.markdown.config import MEMORY_WINDOW, read_config
from standfast.interfaces.markdown.edits import EditPlan, KnownLine, Written, flat, plan_edits
from standfast.interfaces.markdown.history import HistoryEntry, ids_in, torn_end, without
from standfast.interfaces.markdown.pages import (
    HEADINGS,
    FactLine,
    PageLine,
    escaped,
    fact_line,
    parse,
    read_id,
    render,
    unescaped,
    written_id,
)
from standfast.interfaces.markdown.workspace import session_file
from standfast.text.compare import text_hash
from standfast.types import Record

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
STORABLE = st.characters(exclude_categories=("Cs",), exclude_characters="\0")
TEXTS = st.text(STORABLE, min_size=1, max_size=60).filter(lambda text: bool(text.strip()))
PIECES = "<!-- --> standfast: & #10; amp; lt; - 1. # a > ` x".split(" ")
TRICKY = (
    st.lists(st.sampled_from([*PIECES, " ", "\n", "\r", "\t", "\u2028"]), min_size=1, max_size=14)
    .map("".join)
    .filter(lambda text: bool(text.strip()))
)
IDS = st.text(STORABLE, min_size=1, max_size=20)
TYPES = st.sampled_from(list(HEADINGS.values()))


@given(st.one_of(TEXTS, TRICKY))
def test_any_text_is_one_line_and_comes_back(text: str) -> None:
    line = escaped(text)
    assert len(line.splitlines()) == 1
    assert line == line.strip()
    assert unescaped(line) == text


@given(IDS)
def test_any_id_fits_into_a_comment(id_: str) -> None:
    written = written_id(id_)
    assert "--" not in written
    assert read_id(written) == id_


@given(
    st.lists(st.tuples(IDS, st.one_of(TEXTS, TRICKY), TYPES), max_size=8, unique_by=lambda f: f[0]),
    st.integers(0, 4),
    st.lists(st.just("something is held"), max_size=1),
)
def test_B1_what_is_rendered_is_parsed_again(
    listed: list[tuple[str, str, Any]], apart: int, notices: list[str]
) -> None:
    facts = [FactLine(id=id_, text=text, type=type_) for id_, text, type_ in listed]
    page = render(facts[apart:], [facts[:apart]] if facts[:apart] else [], notices)
    found = {(line.id, line.text) for line in parse(page)}
    assert found == {(fact.id, fact.text) for fact in facts}
    spoiled = "\ufeff" + page.replace("\n", "  \r\n")
    assert {(line.id, line.text) for line in parse(spoiled)} == found
    types = {line.id: line.type for line in parse(page)}
    assert all(types[fact.id] == fact.type for fact in facts[apart:])


@given(st.text(max_size=400))
def test_whatever_stands_in_the_file_can_be_read(text: str) -> None:
    assert all(line.text.strip() or line.id for line in parse(text))


def test_a_page_of_blanks_and_dashes_is_read_in_no_time() -> None:
    for text in (" " * 300_000, "- " * 150_000, "#" + " #" * 150_000, "<!--" * 75_000):
        assert isinstance(parse(text), list)
    assert parse("- - -\n***\n===\n-->\n") == []


def test_a_comment_that_nobody_closed_hides_no_fact() -> None:
    page = "<!-- to do: check these\n" + fact_line(FactLine(id="a", text="Ann", type="fact"))
    assert [line.id for line in parse(page)] == ["a"]


# Random edits


def record_of(id_: str, text: str) -> Record:
    return Record(id=id_, scope="user:ann", kind="semantic", type="fact", text=text, learned_at=NOW)


def plan_of(lines: list[PageLine], records: dict[str, Record], **graves: datetime) -> EditPlan:
    last = {id_: Written(hash=text_hash(r.text), at=NOW) for id_, r in records.items()}
    known = KnownLine(facts=records, records=records, heads={}, graves=graves)
    return plan_edits(lines, last, known, saved_at=NOW, now=NOW)


@given(st.integers(0, 2**32), st.integers(0, 12))
def test_B9_random_edits_are_understood_exactly(seed: int, size: int) -> None:
    dice = random.Random(seed)
    records = {f"r{n}": record_of(f"r{n}", f"fact number {n} stands") for n in range(size)}
    lines = [PageLine(text=record.text, id=id_) for id_, record in records.items()]
    wanted: dict[str, set[str]] = {"new": set(), "changed": set(), "retired": set()}
    edited: list[PageLine] = []
    for number, line in enumerate(lines):
        what = dice.choice(["keep", "keep", "change", "delete", "lose", "copy", "blank"])
        if what == "delete":
            wanted["retired"].add(line.id)
        elif what == "change":
            changed = PageLine(text=f"{line.text} no more {number}", id=line.id)
            wanted["changed"].add(line.id)
            edited.append(changed)
        elif what == "lose":
            edited.append(PageLine(text=line.text))
        elif what == "copy":
            edited += [line, line]
        elif what == "blank":
            edited.append(PageLine(text=f"  {line.text.replace(' ', '   ')} ", id=line.id))
        else:
            edited.append(line)
    for number in range(dice.randrange(4)):
        edited.append(PageLine(text=f"something new {number}"))
        wanted["new"].add(f"something new {number}")
    dice.shuffle(edited)
    plan = plan_of(edited, records)
    assert {wish.line.text for wish in plan.new} == wanted["new"]
    assert {wish.old.id for wish in plan.changed} == wanted["changed"]
    assert set(plan.retired) == wanted["retired"]
    assert plan.dropped == []
    assert plan.lines_known == size


@given(st.integers(0, 12), st.integers(0, 12))
def test_B9_more_than_three_and_more_than_a_third_is_drastic(size: int, kept: int) -> None:
    records = {f"r{n}": record_of(f"r{n}", f"fact number {n} stands") for n in range(size)}
    lines = [PageLine(text=r.text, id=id_) for id_, r in list(records.items())[:kept]]
    gone = max(size - kept, 0)
    assert plan_of(lines, records).is_drastic is (gone > 3 and gone > size / 3)


def test_X10_a_line_is_stale_only_if_it_was_saved_before_the_erasure() -> None:
    line = PageLine(text="Ann lives in Berlin")
    hashed = text_hash(line.text)
    later, earlier = NOW + timedelta(seconds=1), NOW - timedelta(seconds=1)
    assert plan_of([line], {}, **{hashed: later}).dropped
    assert plan_of([line], {}, **{hashed: earlier}).new


def test_blanks_and_accents_make_no_difference() -> None:
    assert flat("Cafe\u0301  on\n Sunday ") == flat("Café on Sunday")


# The log


def test_B2_a_torn_entry_is_finished_and_not_doubled() -> None:
    entries = [
        HistoryEntry(id=f"summary:{n}", at=NOW, text=f"It was {n}. So it was.") for n in (1, 2)
    ]
    for cut in range(1, len(entries[1].line)):
        text = entries[0].line + entries[1].line[:cut]
        assert ids_in(text) in (["summary:1"], ["summary:1", "summary:2"])
        if ids_in(text) == ["summary:1"]:
            assert torn_end(text, entries[1:]) == entries[1].line[:cut]
    assert torn_end("my own note", entries) == ""


def test_B2_entries_are_removed_without_touching_the_rest() -> None:
    entries = [
        HistoryEntry(id=f"summary:{n}", at=NOW, text=f"It was {n}. So it was.") for n in (1, 2, 3)
    ]
    text = "# History\n\nmy note\n" + "".join(entry.line for entry in entries)
    assert without(text, {"summary:2"}) == text.replace(entries[1].line, "")


# File names


@pytest.mark.parametrize(
    "session",
    ["../../etc/passwd", "..", ".", ".hidden", "a/b", "a\\b", "nul\x7f", "Ä ö", "x" * 600, "/"],
)
def test_B3_no_session_name_leads_out_of_the_folder(session: str) -> None:
    name = session_file(session)
    assert "/" not in name
    assert not name.startswith(".")
    assert len(name.encode()) < 200
    assert name.isascii()


@given(st.lists(st.text(STORABLE, min_size=1, max_size=200), unique=True, min_size=2, max_size=6))
def test_B3_every_session_has_a_file_of_its_own(sessions: list[str]) -> None:
    assert len({session_file(session) for session in sessions}) == len(sessions)


# config.yml


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("agents:\n  defaults:\n    memory_window: 20\n", 20),
        ("agents:\n  defaults:\n    memory_window: 0  # off\n", 0),
        ("# nothing\n\n", MEMORY_WINDOW),
        ("agents:\n", MEMORY_WINDOW),
        ("\ufeff---\nname: 'a # b'\nagents:\r\n    defaults:\r\n        memory_window: 7\r\n", 7),
        ("agents:\n  defaults:\n    model: gpt-4o\n    memory_window: 9\nlog: debug\n", 9),
        ("agents: {defaults: {memory_window: 8}}\n", 8),
        ("tools:\n  - exec\n  - web\nagents:\n  defaults:\n    memory_window: 6\n", 6),
        ("prompt: |\n  agents:\n    - be kind\nagents: {defaults: {memory_window: 5}}\n", 5),
        ("x: &w 4\nagents:\n  defaults:\n    memory_window: *w\n", 4),
        ('at: 2026-05-03\nname: "a: b"\n? long\n: 1\n', MEMORY_WINDOW),
    ],
)
def test_K8_B8_the_window_is_read_from_yaml(text: str, window: int) -> None:
    assert read_config(text).memory_window == window


def test_B8_unknown_keys_are_named_and_ignored() -> None:
    notes = read_config("log: debug\nagents:\n  other: 1\n  defaults:\n    model: x\n").notes
    assert [note.split()[1] for note in notes] == ["log", "agents.other", "agents.defaults.model"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("agents:\n  defaults:\n    memory_window: many\n", "memory_window"),
        ("agents:\n  defaults:\n    memory_window: -1\n", "memory_window"),
        ("agents:\n  defaults:\n    memory_window: '5'\n", "memory_window"),
        ("agents:\n  defaults:\n    memory_window: 99999999999999999999999\n", "memory_window"),
        ("agents:\n\tdefaults: 1\n", "line 2"),
        ("agents:\n  - defaults\n", "agents must hold indented keys"),
        ("agents: {defaults: 1}\n", "agents.defaults must hold indented keys"),
        ("a: [1, 2\n", "line 2"),
        ("a: *nowhere\n", "line 1"),
        ("a: 1\n  b: 2\n", "line 2"),
        ("a:\n    b: 1\n  c: 2\n", "line 3"),
        ("a: 1\na: 2\n", "line 2"),
        ("just words\n", "line 1"),
        ("agents: 5\n", "agents"),
    ],
)
def test_B8_what_cannot_be_read_is_named(text: str, said: str) -> None:
    with pytest.raises(Invalid, match=said):
        read_config(text)


@given(st.text(max_size=200))
def test_B8_any_text_is_read_or_refused_by_name(text: str) -> None:
    said = ""
    try:
        assert read_config(text).memory_window >= 0
    except Invalid as error:
        said = str(error)
    assert not said or "config.yml" in said


@pytest.mark.parametrize(
    ("first", "next_", "last"),
    [
        ("[x]", "[*a{0}, *a{0}, *a{0}]", "agents: *a{0}"),
        ("{{x: 1}}", "{{p: *a{0}, q: *a{0}}}", "agents: {{defaults: {{memory_window: *a{0}}}}}"),
        ("{{k: v}}", "{{<<: [*a{0}, *a{0}]}}", "b: {{<<: *a{0}}}"),
    ],
)
def test_X12_a_few_lines_of_a_config_are_not_written_out_to_gigabytes(
    first: str, next_: str, last: str
) -> None:
    lines = [f"a0: &a0 {first.format()}"]
    lines += [f"a{n}: &a{n} {next_.format(n - 1)}" for n in range(1, 60)]
    with pytest.raises(Invalid, match="written out"):
        read_config("\n".join([*lines, last.format(59)]))
