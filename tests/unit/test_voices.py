"""Whose words are in a message, and what a remark corrects, by who reads them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast import AsyncMemory
from standfast.models.local import box
from standfast.text.claims.passages import in_its_place, passages
from standfast.text.claims.voice import OwnWords, own_words
from standfast.upkeep.learn.voices import own_part

POEM = "I have never liked bread.\nI married for the oven,\nand my three sons are named for flour."


class Told:
    """Takes for shown what has one of these words."""

    trouble = ""

    def __init__(self, *shown: str) -> None:
        self.shown = shown

    async def own(self, given: Sequence[tuple[str, str, str]]) -> list[float]:
        return [-9.0 if any(word in one for word in self.shown) else 9.0 for _, one, _ in given]

    async def changes(self, *asked: object) -> list[float]:
        raise AssertionError(asked)

    lasts = changes


def part(text: str, *shown: str) -> str:
    return asyncio.run(own_part(Told(*shown), text))  # type: ignore[arg-type]


def test_X22_what_is_only_shown_is_left_out_though_no_rule_sees_it() -> None:
    assert own_words(f"{POEM}\n\nDoes the last line work?") != "Does the last line work?"
    heard = part(f"{POEM}\n\nDoes the last line work?", "bread", "oven", "sons")
    assert heard == "Does the last line work?"
    assert isinstance(heard, OwnWords)


def test_X22_own_words_beside_something_shown_are_given_back() -> None:
    text = "Any typos in here?\n\nDear all, I am the coach.\n\nI'm dyslexic, by the way."
    assert "dyslexic" not in own_words(text)
    assert "dyslexic" in part(text, "coach")
    assert own_words(part(text, "coach")) == part(text, "coach")


def test_X22_what_a_rule_cuts_stays_cut_where_nothing_is_shown() -> None:
    text = "Translate this: I live in Leeds."
    assert part(text) == text
    assert "Leeds" not in own_words(part(text))


def test_a_plain_message_is_not_asked_about() -> None:
    assert part("I live in Leeds and I like it.", "Leeds") == "I live in Leeds and I like it."
    assert not isinstance(part("I live in Leeds.", "Leeds"), OwnWords)


def test_a_long_list_of_somebody_is_theirs() -> None:
    text = "Some context:\n- I am 71\n- I live in Hull\n- no stairs please\n- I take lithium"
    assert "lithium" in part(text)
    assert "Hull" in own_words(part(text))


def test_what_stands_behind_the_last_passage_that_is_read_is_not_lost() -> None:
    lines = "\n".join(f"- I own {number} hens" for number in range(60))
    assert "59 hens" in own_words(part(lines))
    assert "59 hens" in own_words(part(f"{lines}\n- I own a goat", "goat"))
    assert "own 7 hens" not in part(f"{lines}\n- I own a goat", "own 7 hens")


@given(st.text(alphabet="ab .:!?\n\"'", max_size=80))
def test_passages_are_in_order_and_apart(text: str) -> None:
    places = passages(text)
    flat = [at for place in places for at in place]
    assert flat == sorted(flat)
    for place in places:
        before, said, behind = in_its_place(text, place)
        assert said.strip()
        whole = "".join((before + said + behind).split()).replace("|", "")
        assert whole == "".join(text.split())


def believed(*said: str, apart: timedelta = timedelta(minutes=1)) -> dict[str, str]:
    """With the models in the box: the records after these messages of one talk."""
    pytest.importorskip("onnxruntime", reason="the local model needs the extra `local`")

    async def tell() -> dict[str, str]:
        now = [datetime(2026, 5, 4, 9, tzinfo=UTC)]
        opened = AsyncMemory.open(
            "dict:", embedder=box.NAME, background=False, clock=lambda: now[0]
        )
        async with await opened as memory:
            for text in said:
                await memory.observe("talk", [text], scope="user:ann", author="Ann")
                now[0] += apart
            await memory.maintain()
            found = await memory.records(scope="user:ann", types=["fact"])
            return {record.text: record.status for record in found.items}

    return asyncio.run(tell())


def test_X22_a_poem_a_scene_and_a_letter_teach_nothing() -> None:
    for shown in (
        f"{POEM}\n\nDoes the last line work?",
        "MARGOT\nI've got a law degree, you know.\n\nDEV\nI've got a rash.\n\nbetter last line?",
        "Hi all! I'm Tendai, the new office manager. My two girls go to St Anne's.\n\nToo chatty?",
    ):
        assert believed(shown) == {}, shown


def test_X22_a_fact_beside_a_pasted_text_is_learned() -> None:
    text = 'I teach Year 5 in Plymouth. Make a worksheet of this:\n"Dear Kitty, I moved to a boat."'
    found = believed(text)
    assert any("Plymouth" in one for one in found)
    assert not any("boat" in one for one in found)


@pytest.mark.parametrize(
    ("told", "correction", "wrong", "right"),
    [
        ("My band's first album came out in 2003.", "2004, my wife just shouted", "2003", "2004"),
        ("I'm an anaesthetist, working 75 percent.", "85, sorry, wrong key", "75", "85"),
        ("I'm a junior dev at a bank.", "s/junior/senior/ lol", "junior", "senior"),
        ("My grandparents came from Slovakia.", "Slovenia! I always mix them up", "akia", "enia"),
    ],
)
def test_X22_a_correction_without_a_mark_is_heard(
    told: str, correction: str, wrong: str, right: str
) -> None:
    """Nobody puts its words into the statement before: it is kept as it was said, with what it is
    about, and that stands no longer as if nobody had spoken against it."""
    found = believed(told, correction)
    kept = [text for text in found if text.startswith(f'Ann said: "{correction}" (about: "')]
    assert len(kept) == 1
    assert right in kept[0]
    assert found.pop(kept[0]) in ("active", "disputed")
    assert not any(wrong in text for text, status in found.items() if status == "active")


@pytest.mark.parametrize(
    ("told", "remark"),
    [
        ("Our backend runs on postgres 13.", "sorry for the terse message, on my phone"),
        ("I have a cabin by a lake in Värmland.", "No wifi either, obviously."),
        ("My father was a tram driver in Lisbon.", "Actually that reminds me, do trams still run?"),
        ("My boss is called Tamsin.", "sorry she's just really hard to reach"),
    ],
)
def test_X22_a_remark_in_the_form_of_a_correction_garbles_nothing(told: str, remark: str) -> None:
    (first,) = believed(told)
    found = believed(told, remark)
    assert found[first] == "active"
    assert all(text == first or text.startswith('Ann said: "') for text in found)
