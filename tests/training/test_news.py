"""What news-1 learns from: nothing that is held back, and nothing twice."""

from __future__ import annotations

import pytest

from evaluation.learning.sequels import HELD, NEWS, SEQUELS
from training.news.examples import Example, Message, marked_voices, weighed


def lines(folder: str) -> set[str]:
    """The statements; near misses may be what somebody else states."""
    return {
        line
        for file in (NEWS / folder).glob("*.txt")
        for line in file.read_text("utf-8").splitlines()
        if not line.startswith(("+", "-", "~", ">"))
    }


def test_nothing_that_is_held_apart_is_open() -> None:
    assert lines("").isdisjoint(lines("held"))
    assert lines("lives").isdisjoint(lines("lives/held"))
    held = (SEQUELS / HELD).read_text("utf-8").splitlines()
    assert lines("").isdisjoint(line for line in held if line.startswith("= "))


@pytest.mark.parametrize("folder", ["", "held"])
def test_every_block_has_a_statement_and_both_kinds_of_messages(folder: str) -> None:
    for file in (NEWS / folder).glob("*.txt"):
        marks = "".join(line[0] for line in file.read_text("utf-8").splitlines())
        # What is said right after a statement is a correction of it, or none.
        assert set(marks) == set("=+-" if file.name == "corrections.txt" else "=+-~"), file.name
        for block in marks.removeprefix("=").split("="):
            assert "+" in block, file.name


def test_a_message_is_read_with_what_the_rules_keep_and_with_what_was_said() -> None:
    message = Message("we've a dog", "The dog died.", True, "block", "we've a dog", "Ann")
    found = list(message.examples(["Ann owns a dog."], ["Ann's dog died."]))
    assert [(one.known, one.said, one.again) for one in found] == [
        ("I owns a dog.", "The dog died.", False),
        ("I owns a dog.", "My dog died.", True),
        ("we've a dog", "The dog died.", True),
    ]


def test_changes_count_half_as_much_as_the_rest_together() -> None:
    yes = [Example("changes", "a", f"b{n}", True, "block", "g", f"m{n}") for n in range(3)]
    no = [Example("changes", "a", f"c{n}", False, "block", "g", f"n{n}") for n in range(30)]
    found = list(weighed([*yes, *no, *no]))
    assert len(found) == 33
    sums = [sum(one.weight for one in found if one.answer == so) for so in (True, False)]
    assert sums[0] == pytest.approx(sums[1] / 2, rel=0.01)


def test_in_a_message_what_is_shown_stands_between_marks() -> None:
    for file in (NEWS / "voices").glob("*.txt"):
        for message in file.read_text("utf-8").split("\n====\n"):
            assert message.count("⟦") == message.count("⟧"), (file.name, message)
    text, others = marked_voices("Too long? ⟦I am Ann.⟧")
    assert text == "Too long? I am Ann."
    assert "".join(char for char, other in zip(text, others, strict=True) if other) == "I am Ann."


def test_what_lasts_and_what_does_not_stand_below_each_other() -> None:
    for file in (NEWS / "lasting").glob("*.txt"):
        marks = "".join(line[0] for line in file.read_text("utf-8").splitlines())
        assert set(marks) == set("=+-"), file.name
