"""observe: messages of every shape, losslessly, once."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from standfast import AsyncMemory, Invalid, Memory
from standfast.types import Message, SessionKey
from tests.requirements.asking import statuses, texts

OPENAI = [
    {"role": "system", "content": "You are terse."},
    {
        "role": "user",
        "content": [{"type": "text", "text": "What is in the repository?"}],
        "id": "u1",
    },
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "ls", "arguments": '{"path": "."}'},
            },
            {"id": "c2", "type": "function", "function": {"name": "cat", "arguments": "{}"}},
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "README.md"},
    {"role": "tool", "tool_call_id": "c2", "content": "nothing"},
]
ANTHROPIC = [
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": "anvils"}},
        ],
    },
    {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "t1",
                "content": [{"type": "text", "text": "3 anvils"}],
            },
            {"type": "text", "text": "and now?"},
        ],
    },
]


def log_of(memory: Memory, scope: str, session: str) -> list[Message]:
    async_memory: AsyncMemory = memory._memory
    engine = async_memory._engine
    key = SessionKey(scope, session)
    return memory._loop.run(engine.store.messages(key, now=engine.now(), limit=1000))


def test_a_message_is_searchable_at_once_and_its_turn_names_it(memory: Memory) -> None:
    memory.observe(
        "chat/42",
        [
            {
                "role": "user",
                "content": "I moved to Berlin in May",
                "id": "m1",
                "at": "2026-05-03T10:00:00+02:00",
            }
        ],
        scope="user:ann",
    )
    hit = memory.recall("Berlin", scope="user:ann").hits[0]
    assert hit.record.lineage == ("m1",)
    assert (hit.record.type, hit.record.session) == ("turn", "chat/42")
    assert hit.record.at.isoformat() == "2026-05-03T08:00:00+00:00"
    (message,) = log_of(memory, "user:ann", "chat/42")
    assert message.at.utcoffset() == timedelta(hours=2)


def parted(sent: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """What a tool answered inside of a user's message is a message of the tool's."""
    blocks = sent["content"] if isinstance(sent["content"], list) else []
    answers = [block for block in blocks if block["type"] == "tool_result"]
    if not answers:
        return [(sent["role"], sent)]
    rest = [block for block in blocks if block not in answers]
    return [("tool", {**sent, "content": answers}), (sent["role"], {**sent, "content": rest})]


@pytest.mark.parametrize("shape", [OPENAI, ANTHROPIC], ids=["openai", "anthropic"])
def test_shaped_messages_are_kept_without_loss(memory: Memory, shape: list[dict[str, Any]]) -> None:
    receipt = memory.observe("chat", shape, scope="user:ann")
    assert set(statuses(receipt)) == {"stored"}
    expected = [part for sent in shape for part in parted(sent)]
    for (role, sent), kept in zip(expected, log_of(memory, "user:ann", "chat"), strict=True):
        assert kept.role == role
        if kept.original:
            assert json.loads(kept.original) == sent
        else:
            assert kept.text == sent["content"]


def test_tool_calls_and_answers_are_read_from_both_shapes(memory: Memory) -> None:
    memory.observe("a", OPENAI, scope="user:ann")
    memory.observe("b", ANTHROPIC, scope="user:ann")
    openai, anthropic = log_of(memory, "user:ann", "a"), log_of(memory, "user:ann", "b")
    assert [(call.id, call.name) for call in openai[2].calls] == [("c1", "ls"), ("c2", "cat")]
    assert [message.answers for message in openai[3:]] == [("c1",), ("c2",)]
    assert anthropic[0].calls[0].name == "search"
    assert anthropic[1].answers == ("t1",)
    assert [(m.role, m.trust, m.text) for m in anthropic[1:]] == [
        ("tool", 1, "3 anvils"),
        ("user", 3, "and now?"),
    ]
    found = texts(memory, "ls path", scope="user:ann", limit=3)  # the answer stands beside its call
    assert any("ls(" in text for text in found)


def test_X3_the_same_message_twice_is_skipped_with_the_reason(memory: Memory) -> None:
    message = {"role": "user", "content": "hello there", "id": "m1"}
    memory.observe("chat", [message], scope="user:ann")
    again = memory.observe("chat", [message, "something new"], scope="user:ann")
    assert statuses(again) == ["skipped", "stored"]
    assert again.items[0].reason == "already stored"
    other = memory.observe("chat", [{**message, "content": "other text"}], scope="user:ann")
    assert "another text" in other.items[0].reason
    assert [m.text for m in log_of(memory, "user:ann", "chat")] == ["hello there", "something new"]


def test_X3_an_id_that_stands_twice_in_one_call_is_stored_once(memory: Memory) -> None:
    message = {"role": "user", "content": "x", "id": "a"}
    receipt = memory.observe(
        "chat", [message, message, {**message, "content": "y"}, "z"], scope="user:ann"
    )
    assert statuses(receipt) == ["stored", "skipped", "skipped", "stored"]
    assert "twice" in receipt.items[1].reason
    assert "another text" in receipt.items[2].reason
    assert [m.text for m in log_of(memory, "user:ann", "chat")] == ["x", "z"]


def test_two_scopes_may_use_the_same_session_and_message_names(memory: Memory) -> None:
    for user in ("ann", "bob"):
        receipt = memory.observe(
            "chat", [{"role": "user", "content": f"I am {user}", "id": "m1"}], scope=f"user:{user}"
        )
        assert statuses(receipt) == ["stored"]
    assert texts(memory, "I am", scope="user:bob") == ["I am bob"]


def test_M6_episodes_keep_their_channel_and_are_recalled_across_channels(memory: Memory) -> None:
    memory.observe("s1", ["the printer is broken"], scope="user:ann", channel="slack")
    memory.observe("s2", ["the printer works again"], scope="user:ann", channel="email")
    hits = memory.recall("printer", scope="user:ann").hits
    assert {hit.record.data["channel"] for hit in hits} == {"slack", "email"}


def test_a_time_without_offset_is_read_as_utc_and_said_so(memory: Memory) -> None:
    receipt = memory.observe(
        "chat", [{"role": "user", "content": "hi", "at": "2023-05-08T13:56:00"}], scope="user:ann"
    )
    assert "UTC" in receipt.items[0].reason


def test_an_empty_message_stays_in_the_log_without_a_turn(memory: Memory) -> None:
    receipt = memory.observe("chat", [{"role": "assistant", "content": ""}], scope="user:ann")
    assert (receipt.items[0].status, receipt.items[0].record) == ("stored", "")
    assert len(log_of(memory, "user:ann", "chat")) == 1


def test_many_messages_keep_their_order_over_several_commits(memory: Memory) -> None:
    receipt = memory.observe("chat", [f"line {n}" for n in range(250)], scope="user:ann")
    assert len(receipt.items) == 250
    log = log_of(memory, "user:ann", "chat")
    assert [message.text for message in log] == [f"line {n}" for n in range(250)]
    assert [message.seq for message in log] == list(range(1, 251))


def test_a_ten_megabyte_tool_result_is_kept_whole_and_its_beginning_is_searchable(
    memory: Memory,
) -> None:
    big = "needle " + "x" * 10_000_000
    receipt = memory.observe(
        "chat", [{"role": "tool", "tool_call_id": "c", "content": big}], scope="user:ann"
    )
    assert "searchable" in receipt.items[0].reason
    assert log_of(memory, "user:ann", "chat")[0].text == big
    assert len(memory.recall("needle", scope="user:ann").hits) == 1


@pytest.mark.not_served("the server words what is misshapen in its own way")
@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ([{"role": "wizard", "content": "x"}], "message 0: role 'wizard' is unknown"),
        ([{"role": "user", "content": 7}], "content must be text"),
        ([{"role": "user", "content": [3]}], "content holds a int"),
        (["fine", 12], "message 1"),
        ([{"role": "user", "content": "x", "at": "soon"}], "ISO 8601"),
        ([{"role": "user", "content": "x", "tool_calls": "c"}], "tool_calls"),
        ([{"role": "user", "content": "y" * 17_000_000}], "longer than 16 MiB"),
        (7, "messages must be"),
    ],
)
def test_bad_messages_are_refused_by_number_and_nothing_is_written(
    memory: Memory, messages: Any, said: str
) -> None:
    with pytest.raises(Invalid, match=said):
        memory.observe("chat", messages, scope="user:ann")
    assert log_of(memory, "user:ann", "chat") == []


@pytest.mark.parametrize("session", ["", "  ", "a\x00b", "x" * 600, 5])
def test_bad_session_names_are_refused(memory: Memory, session: Any) -> None:
    with pytest.raises(Invalid, match="session"):
        memory.observe(session, ["x"], scope="user:ann")


def test_A10_an_opted_out_user_leaves_nothing_in_the_store(
    open_memory: Any, tmp_path: Path
) -> None:
    memory = open_memory()
    memory.set_policy("user:ann", persist=False)
    seen = memory.observe("chat", ["my private plan"], scope="user:ann")
    kept = memory.remember("a private fact", scope="user:ann")
    assert statuses(seen) == statuses(kept) == ["volatile"]
    assert set(texts(memory, "private", scope="user:ann")) == {"my private plan", "a private fact"}
    memory.close()
    for file in tmp_path.iterdir():
        assert b"private" not in file.read_bytes()
    if (tmp_path / "memory.db").exists():
        assert texts(open_memory(), "private", scope="user:ann") == []


def test_A10_one_author_can_opt_out_of_a_shared_scope(memory: Memory) -> None:
    memory.set_policy("org:acme", persist=False, author="ann")
    ann = memory.observe(
        "room", [{"role": "user", "content": "hi", "author": "ann"}], scope="org:acme"
    )
    bob = memory.observe(
        "room", [{"role": "user", "content": "ho", "author": "bob"}], scope="org:acme"
    )
    assert (statuses(ann), statuses(bob)) == (["volatile"], ["stored"])
    memory.set_policy("org:acme", persist=True, author="ann")
    again = memory.observe(
        "room", [{"role": "user", "content": "hi", "author": "ann"}], scope="org:acme"
    )
    assert statuses(again) == ["stored"]


def test_observing_the_same_messages_at_once_stores_each_once(memory: Memory) -> None:
    async def race(inner: AsyncMemory) -> list[str]:
        messages = [{"role": "user", "content": f"line {n}", "id": f"m{n}"} for n in range(20)]
        receipts = await asyncio.gather(
            *(inner.observe("chat", messages, scope="user:ann") for _ in range(8))
        )
        return [item.status for receipt in receipts for item in receipt.items]

    found = memory._loop.run(race(memory._memory))
    assert found.count("stored") == 20
    assert found.count("skipped") == 140
    assert len(log_of(memory, "user:ann", "chat")) == 20
