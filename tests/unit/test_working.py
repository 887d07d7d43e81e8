from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from standfast.packet.shapes import shaped
from standfast.packet.window import fitting_tail, units
from standfast.types import Message, ToolCall

AT = datetime(2026, 1, 1, tzinfo=UTC)


def message(
    n: int, role: str, calls: tuple[str, ...] = (), answers: tuple[str, ...] = ()
) -> Message:
    return Message(
        id=f"m{n}",
        scope="user:ann",
        session="s",
        role=role,  # type: ignore[arg-type]
        text=f"text {n}",
        at=AT,
        calls=tuple(ToolCall(id=id_, name="run", arguments='{"x": 1}') for id_ in calls),
        answers=answers,
        seq=n,
    )


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """Any mixture of speech, calls and answers: parallel, missing, early, reused ids."""
    ids = st.lists(st.sampled_from("abcd"), max_size=3, unique=True)
    drawn: list[Message] = []
    for n in range(draw(st.integers(0, 14))):
        role = draw(st.sampled_from(["user", "assistant", "tool"]))
        calls = tuple(draw(ids)) if role == "assistant" else ()
        answers = (draw(st.sampled_from("abcd")),) if role == "tool" else ()
        drawn.append(message(n, role, calls, answers))
    return drawn


@given(conversations())
def test_O10_pieces_cover_the_log_in_order_and_keep_calls_with_answers(log: list[Message]) -> None:
    pieces = units(log)
    assert [index for piece in pieces for index in piece] == list(range(len(log)))
    place = {index: n for n, piece in enumerate(pieces) for index in piece}
    for index, one in enumerate(log):
        for id_ in one.answers:
            before = [i for i in range(index + 1) if any(call.id == id_ for call in log[i].calls)]
            if before:
                assert place[before[-1]] == place[index]


@given(conversations(), st.integers(0, 20))
def test_the_window_is_a_whole_tail_within_the_budget(log: list[Message], budget: int) -> None:
    kept, spent = fitting_tail(log, budget, lambda _: 1)
    assert spent == len(kept) <= budget
    assert kept == log[len(log) - len(kept) :]


@given(conversations(), st.integers(0, 14))
def test_openai_messages_never_have_half_a_tool_call(log: list[Message], budget: int) -> None:
    kept, _ = fitting_tail(log, budget, lambda _: 1)
    made = shaped(kept, "openai")
    called = {call["id"] for one in made for call in one.get("tool_calls", ())}
    answered = {one["tool_call_id"] for one in made if one["role"] == "tool"}
    assert called == answered
    json.dumps(made)


@given(conversations())
def test_anthropic_messages_alternate_and_begin_with_the_user(log: list[Message]) -> None:
    made = shaped(log, "anthropic")
    roles = [one["role"] for one in made]
    assert roles == ["user" if n % 2 == 0 else "assistant" for n in range(len(roles))]


def test_shapes_convert_into_each_other() -> None:
    log = [
        message(1, "user"),
        message(2, "assistant", calls=("a", "b")),
        message(3, "tool", answers=("a",)),
        message(4, "tool", answers=("b",)),
    ]
    openai: list[dict[str, Any]] = shaped(log, "openai")
    assert [one["role"] for one in openai] == ["user", "assistant", "tool", "tool"]
    assert openai[1]["tool_calls"][0]["function"] == {"name": "run", "arguments": '{"x": 1}'}
    anthropic: list[dict[str, Any]] = shaped(log, "anthropic")
    assert [one["role"] for one in anthropic] == ["user", "assistant", "user"]
    assert anthropic[1]["content"][1]["input"] == {"x": 1}
    assert [block["tool_use_id"] for block in anthropic[2]["content"]] == ["a", "b"]
