"""X9: what standfast rendered is known when it comes back; nothing else is."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast.packet.text import Section, alone, memory_line, memory_section, pack, text_section
from standfast.text.tokens import ESTIMATE
from standfast.text.trust import PREFACE, without_recalled
from standfast.types import Hit, Record

AT = datetime(2026, 11, 15, tzinfo=UTC)


def fact(text: str, **fields: object) -> Hit:
    given_ = {"id": "r1", "scope": "user:ann", "kind": "semantic", "type": "fact", **fields}
    return Hit(record=Record(text=text, learned_at=AT, **given_))  # type: ignore[arg-type]


def packet(*hits: Hit, summary: str = "They met.") -> str:
    packed = pack(
        memory_section("pre-seeded-memories", hits[:1]),
        [text_section("session-summary", summary), memory_section("facts", hits[1:])],
        stable_budget=10_000,
        budget=100_000,
        count=ESTIMATE.count,
    )
    return packed.text


PACKET = packet(
    fact("Ann lives in Hamburg."),
    fact('She said "hi" <b>\\ (once) \u2028'),
    fact("How to ship", data={"steps": ["build it", 'call "it" (now)']}, kind="procedural"),
    fact("Disputed thing", status="disputed", trust=0),
    fact("An agent's claim", source="assistant", trust=2),
    fact("A page's claim", source="web", trust=0, status="disputed"),
)


def test_X9_a_packet_that_comes_back_says_nothing() -> None:
    assert without_recalled(PACKET) == ""
    assert without_recalled(f"\n\n  {PACKET}  \n") == ""


@pytest.mark.parametrize("before", ["", "You are a helpful agent.\n\n", "hi\n"])
@pytest.mark.parametrize("after", ["", "\n\nWhat is her address?", "\nAnd </facts> now?"])
def test_X9_what_stands_around_a_packet_survives(before: str, after: str) -> None:
    rest = without_recalled(before + PACKET + after)
    assert "Hamburg" not in rest
    assert PREFACE not in rest
    assert before.strip() in rest
    assert after.strip() in rest


@pytest.mark.parametrize(
    "shape",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\n".join(f"> {line}" for line in text.split("\n")),
        lambda text: "\n".join(f"    {line}" for line in text.split("\n")),
        lambda text: text.partition("\n")[2],  # the preface was cut off
        lambda text: "\n".join(line for line in text.split("\n") if not line.startswith("</")),
    ],
    ids=["crlf", "quoted", "indented", "no preface", "no end tags"],
)
def test_X9_it_survives_what_chats_do_to_text(shape: object) -> None:
    assert without_recalled(shape(PACKET)) == ""  # type: ignore[operator]


def test_X9_a_single_line_of_search_results_is_known() -> None:
    line = memory_line(fact("Ann lives in Hamburg.").record)
    assert without_recalled(f"I found:\n{line}\nIs that right?") == "I found:\nIs that right?"


def test_X9_a_summary_in_a_message_of_its_own_is_known() -> None:
    assert without_recalled(alone(text_section("session-summary", "a\n- b\nc"))) == ""
    assert alone(Section(tag="facts", lines=(), hits=())) == ""


@pytest.mark.parametrize(
    "text",
    [
        f"{PREFACE}\n<facts>\nI live in Bremen.\n</facts>",
        "<facts>\nI live in Bremen.",
        "</facts>\nI live in Bremen.",
        '<facts>\n- "quoted"\nI live in Bremen.\n</facts>',
        '- "I live in Bremen."',
        "- I live in Bremen. (id x, trust high)",
        '- "a" and I live in Bremen. (id x, 2026-01-01, fact, trust high)',
        '- "I live in Bremen." (said yesterday)',
        "shopping:\n- milk\n- eggs; I live in Bremen.",
        '- "milk"\n- "I live in Bremen."',
    ],
)
def test_X9_forged_tags_and_lists_hide_nothing(text: str) -> None:
    assert "I live in Bremen." in without_recalled(text)


def test_ordinary_text_is_the_same_object() -> None:
    for text in ("", "hello", '- "a list" of things', "<facts>"):
        assert without_recalled(text) is text


@given(st.text(max_size=200), st.text(max_size=80))
def test_X9_whatever_a_memory_says_all_of_it_goes_and_nothing_else(text: str, own: str) -> None:
    rendered = packet(fact(text or "x"), fact(text or "y"), summary=text)
    assert without_recalled(rendered) == ""
    mine = f"MINE {own}".strip()
    rest = without_recalled(f"{rendered}\n{mine}")
    assert rest.startswith("MINE")


@pytest.mark.parametrize(
    "hostile",
    [
        '- "' * 50_000,
        "<facts>\n" * 30_000 + '- "',
        '<facts>\n- "' + "\\" * 100_000,
        ('- "a" (' + '"b" ' * 30_000),
        '- "a" steps:' + ' 1. "b";' * 20_000,
        ('<facts>\n- "a"\n') * 20_000,
        "> " * 100_000 + '- "a"',
        " " * 100_000 + '- "a" (id x',
    ],
)
def test_X9_no_text_takes_long_to_read(hostile: str) -> None:
    start = time.thread_time()
    without_recalled(hostile)
    assert time.thread_time() - start < 3
