"""Messages of every common API go in without loss and come out as their provider takes them."""

from __future__ import annotations

import random
from typing import Any

import pytest

from standfast.errors import Invalid
from standfast.packet.shapes import Shape, shaped
from standfast.testing.provider_rules import anthropic_problems, gemini_problems, openai_problems
from standfast.text.dialects import bodies_of, parts_of
from standfast.types import Message
from tests.unit.conversations import conversation, kept

CONVERSATIONS, CONVERSATIONS_PROVING = 2_000, 10_000
PARTS = 10
RULES: dict[Shape, Any] = {
    "openai": openai_problems,
    "anthropic": anthropic_problems,
    "gemini": gemini_problems,
}


def cuts(messages: list[Message], seed: int) -> list[list[Message]]:
    """The whole, and a window that somebody might have left of it."""
    dice = random.Random(seed)
    begin = dice.randint(0, len(messages))
    return [messages, messages[begin : dice.randint(begin, len(messages))]]


@pytest.mark.parametrize("part", range(PARTS))
def test_X23_no_provider_refuses_a_conversation_wherever_it_is_cut(
    part: int, proving: bool
) -> None:
    for seed in range(part, CONVERSATIONS_PROVING if proving else CONVERSATIONS, PARTS):
        for window in cuts(conversation(seed), seed):
            for shape, problems in RULES.items():
                listed = shaped(window, shape)
                assert problems(listed) == [], (seed, shape, listed)


def test_X23_every_word_of_user_and_assistant_is_still_there() -> None:
    for seed in range(500):
        messages = conversation(seed)
        for shape in RULES:
            written = str(shaped(messages, shape))
            for message in messages:
                if message.role in ("user", "assistant") and not message.answers:
                    for line in filter(str.strip, message.text.splitlines()):
                        assert repr(line.strip())[1:-1] in written, (seed, shape, line)


def test_the_rules_catch_what_providers_refuse() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    orphan = {"role": "tool", "tool_call_id": "c", "content": "x"}
    asked = {"role": "assistant", "content": None, "tool_calls": [call]}
    said = {"role": "user", "content": "hm"}
    assert openai_problems([orphan])
    assert openai_problems([asked, said, orphan])
    assert openai_problems([asked])
    assert not openai_problems([said, asked, orphan])
    use = {"type": "tool_use", "id": "c", "name": "f", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": "x"}
    words = {"type": "text", "text": "hm"}
    user = {"role": "user", "content": [words]}
    assert anthropic_problems([{"role": "user", "content": [result]}])
    assert anthropic_problems([{"role": "assistant", "content": [words]}])
    called = {"role": "assistant", "content": [use]}
    assert anthropic_problems([user, called, {"role": "user", "content": [words, result]}])
    assert not anthropic_problems([user, called, {"role": "user", "content": [result, words]}])
    made = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}
    assert gemini_problems([made])
    assert gemini_problems([{"role": "user", "parts": [{"text": "x"}]}, made])
    assert gemini_problems([{"role": "user", "parts": [{"text": ""}]}])


@pytest.mark.parametrize(
    "raw",
    [
        {"content": "I live in Rome"},
        {"text": "I live in Rome"},
        {"parts": [{"text": "I live in Rome"}]},
        {"type": "bot", "content": "I live in Rome"},
        {},
    ],
)
def test_X23_a_message_without_a_role_is_refused_with_the_remedy(raw: dict[str, Any]) -> None:
    with pytest.raises(Invalid, match=r'"role": "user"'):
        bodies_of(raw)


@pytest.mark.parametrize(
    ("raw", "role"),
    [
        ({"type": "ai", "content": "I live in Rome"}, "assistant"),
        ({"type": "human", "data": {"content": "hi", "type": "human"}}, "user"),
        ({"lc": 1, "type": "constructor", "id": ["langchain", "AIMessage"],
          "kwargs": {"content": "hi"}}, "assistant"),
        ({"role": "model", "parts": [{"text": "hi"}]}, "assistant"),
        ({"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}, "assistant"),
        ({"type": "function_call_output", "call_id": "1", "output": "x"}, "tool"),
        ({"type": "reasoning", "summary": []}, "assistant"),
        ({"kind": "response", "parts": []}, "assistant"),
    ],
)  # fmt: skip
def test_X23_whose_words_they_are_is_read_in_every_dialect(raw: dict[str, Any], role: str) -> None:
    assert [body.role for body in bodies_of(raw)] == [role]


def test_X23_one_request_that_speaks_for_several_becomes_several() -> None:
    request = {
        "kind": "request",
        "parts": [
            {"part_kind": "system-prompt", "content": "be short"},
            {"part_kind": "tool-return", "tool_call_id": "1", "tool_name": "f", "content": "42"},
            {"part_kind": "user-prompt", "content": "and now?"},
        ],
    }
    found = bodies_of(request)
    assert [body.role for body in found] == ["system", "tool", "user"]
    assert [parts_of(body.original)[0].text for body in found] == ["be short", "42", "and now?"]


def test_X23_anthropic_thoughts_go_back_as_they_came() -> None:
    thought = {"type": "thinking", "thinking": "I should look", "signature": "abc"}
    use = {"type": "tool_use", "id": "t1", "name": "look", "input": {"q": "tea"}}
    result = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": [{"type": "text", "text": "x"}],
    }
    talk = [
        {"role": "user", "content": "look for tea"},
        {"role": "assistant", "content": [thought, use]},
        {"role": "user", "content": [result]},
    ]
    from standfast.text.messages import Intake, take_in
    from tests.unit.conversations import NOW, REDACTOR

    intake = Intake(
        scope="user:a", session="s", now=NOW, redactor=REDACTOR, new_id=iter("abc").__next__
    )
    listed = shaped([taken.message for taken in take_in(talk, intake)], "anthropic")
    assert listed[1]["content"] == [thought, use]
    assert listed[2]["content"] == [result]


def test_X23_the_types_of_the_providers_own_packages_take_them() -> None:
    """The packages themselves know the shapes that their services take."""
    pydantic = pytest.importorskip("pydantic")
    chat = pytest.importorskip("openai.types.chat")
    claude = pytest.importorskip("anthropic.types")
    gemini = pytest.importorskip("google.genai.types")
    of_openai = pydantic.TypeAdapter(list[chat.ChatCompletionMessageParam])
    of_anthropic = pydantic.TypeAdapter(list[claude.MessageParam])
    for seed in range(150):
        messages = conversation(seed)
        of_openai.validate_python(shaped(messages, "openai"))
        of_anthropic.validate_python(shaped(messages, "anthropic"))
        for content in shaped(messages, "gemini"):
            gemini.Content.model_validate(content)


def test_X23_messages_of_pydantic_ai_are_taken_as_objects() -> None:
    ai = pytest.importorskip("pydantic_ai.messages")
    asked = ai.ModelRequest(parts=[ai.SystemPromptPart("be short"), ai.UserPromptPart("weather?")])
    call = ai.ToolCallPart(tool_name="weather", args={"city": "Rome"}, tool_call_id="w1")
    called = ai.ModelResponse(parts=[ai.ThinkingPart(content="hm"), call])
    told = ai.ToolReturnPart(tool_name="weather", content={"sky": "blue"}, tool_call_id="w1")
    messages = kept([asked, called, ai.ModelRequest(parts=[told])])
    assert [message.role for message in messages] == ["system", "user", "assistant", "tool"]
    assert messages[1].text == "weather?"
    assert [call.name for call in messages[2].calls] == ["weather"]
    assert messages[3].answers == ("w1",)
    assert "blue" in messages[3].text
    assert shaped(messages, "gemini")[1]["parts"][-1]["functionCall"]["args"] == {"city": "Rome"}
