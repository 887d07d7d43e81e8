"""What stands in for a model that learns reads a question as it is really put."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from standfast.models.prompts import extract, extract_schema
from standfast.models.providers.llm.answers import fit
from standfast.testing.learner import answer_for, learns_by_reading
from standfast.testing.reader import ScriptedClause, ScriptedReader
from standfast.testing.scripted import ScriptedQuestion
from standfast.types import Message, Role
from standfast.upkeep.learn.answers import messages_as_text, show

AT = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


def said(number: int, text: str, role: Role = "user", author: str = "Ann") -> Message:
    return Message(
        id=f"m{number}", scope="s", session="c", role=role, text=text, at=AT, author=author
    )


def question(*messages: Message) -> str:
    shown = show(messages, (), ())
    teaching = frozenset(message.id for message in messages)
    return extract(known="", messages=messages_as_text(shown, teaching)).user


READER = ScriptedReader(
    {
        "Hello again.\nI moved to Hamburg last month.": [
            ScriptedClause("I moved to Hamburg last month", category="home")
        ],
        "I don't like tea.": [ScriptedClause("I don't like tea", "PREF", category="food")],
        "I like tea.": [ScriptedClause("I like tea", "PREF", category="food")],
    }
)


def test_it_answers_with_what_the_messages_say() -> None:
    asked = question(
        said(1, "Hello!"),
        said(2, "Hello again.\nI moved to Hamburg last month."),
        said(3, "You live in Rome.", role="assistant", author=""),
        said(4, "I don't like tea."),
    )
    answer = asyncio.run(answer_for(asked, READER))
    assert fit(answer, extract_schema(episode=False)) == answer
    assert [fact["from"] for fact in answer["facts"]] == ["t2", "t4"]
    home, taste = answer["facts"]
    assert (home["text"], home["when"]) == ("Ann moved to Hamburg in October 2026.", "2026-10-01")
    assert (taste["text"], taste["type"]) == ("Ann doesn't like tea.", "preference")
    assert answer["skip"] == "t1: nothing lasting; t3: nothing lasting"


def test_it_counts_what_was_asked_and_answers_every_kind_of_question() -> None:
    short, long = (
        learns_by_reading(READER)(
            ScriptedQuestion(
                dialect="openai",
                path="/v1",
                headers={},
                body={},
                user=question(said(1, text)),
                schema=extract_schema(episode=False),
            )
        )
        for text in ("I like tea.", "I like tea. " + "It was a very long day. " * 50)
    )
    assert short.usage is not None
    assert long.usage is not None
    assert 0 < short.usage[0] < long.usage[0]
    summary = {"properties": {"summary": {"type": "string"}}}
    other = ScriptedQuestion(
        dialect="openai", path="", headers={}, body={}, user="a b c", schema=summary
    )
    assert learns_by_reading(READER)(other).text == '{"summary": "a b c"}'
