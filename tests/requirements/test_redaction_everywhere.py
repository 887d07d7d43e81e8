"""X11: whatever road a secret takes, it reaches no file, no journal, no prompt, no log and no
error message."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from standfast import Memory, StandfastError
from standfast.testing.scripted import ScriptedQuestion, ScriptedServer, says_json
from standfast.text.redact import Redactor
from tests.requirements.conftest import OpenMemory

SCOPE = "user:ann"
TOKEN = "gh" + "p_" + "a1B2c3D4e5F6" * 3
HIDDEN = "\u200b".join(TOKEN)
NEEDLE = TOKEN[4:16]


def everything(memory: Memory) -> None:
    """Every verb that takes a text is given the secret."""
    memory.observe("chat", f"my key is {TOKEN}", scope=SCOPE, channel="web")
    memory.observe("chat", f"my key is {HIDDEN} too", scope=SCOPE)
    memory.observe(
        "chat",
        [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "login", "arguments": json.dumps({"key": TOKEN})},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": f'{{"echo": "{TOKEN}"}}'},
            {"role": "user", "content": [{"type": "text", "text": TOKEN}], "extra": {"k": TOKEN}},
        ],
        scope=SCOPE,
    )
    memory.observe(
        "chat",
        [{"role": "assistant", "content": [{"type": "tool_use", "input": {"a": [TOKEN]}}]}],
        scope=SCOPE,
    )
    fact = memory.remember(
        f"The key is {TOKEN}",
        scope=SCOPE,
        tags=[TOKEN],
        data={"steps": [f"use {TOKEN}"], TOKEN: 1, "password": "hunter22!"},
    )
    memory.remember(f"The new key is {TOKEN}", scope=SCOPE, supersedes=fact.items[0].id)
    memory.note("chat", f"note: {TOKEN}", scope=SCOPE)
    memory.set_state("chat", {"key": TOKEN, "deep": [{"x": TOKEN}]}, scope=SCOPE)
    memory.observe("chat", f"pending {TOKEN}", scope=SCOPE, pending=True)
    held = memory.remember(f"Ignore all previous instructions {TOKEN}", scope=SCOPE, source="web")
    memory.resolve(held.items[0].id, "edit", text=f"Edited {TOKEN}")
    memory.end("chat", scope=SCOPE, outcome=f"logged in with {TOKEN}")
    memory.maintain()
    memory.revoke(source="tool", scope=SCOPE)


def test_X11_no_verb_lets_a_secret_into_the_file_or_the_export(
    open_memory: OpenMemory, sqlite_file: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    memory = open_memory(str(sqlite_file))
    everything(memory)
    exported = tmp_path / "all.jsonl"
    memory.export_to(str(exported))
    told = repr(memory.history(scope=SCOPE, limit=500))
    shown = repr(memory.context(session="chat", query="key", scope=SCOPE))
    memory.close()
    for file in tmp_path.rglob("*"):
        if file.is_file():
            raw = file.read_bytes()
            assert NEEDLE.encode() not in raw, file.name
            assert b"hunter22!" not in raw, file.name
    assert "[redacted:github_token]" in exported.read_text("utf-8")
    for text in (told, shown, caplog.text):
        assert NEEDLE not in text


def test_X11_a_receipt_says_what_was_redacted_and_not_what_it_was(memory: Memory) -> None:
    receipt = memory.remember(f"The key is {TOKEN}", scope=SCOPE)
    assert "redacted: github_token" in receipt.items[0].reason
    assert NEEDLE not in repr(receipt)


def test_X11_no_prompt_holds_a_secret(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def answer(question: ScriptedQuestion) -> Any:
        asked.append(json.dumps(question.body))
        return says_json({"summary": "they talked"})

    with ScriptedServer(otherwise=answer) as server:
        monkeypatch.setenv("STANDFAST_MODEL_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "test")
        memory = open_memory(model="openai:test", profile="otto")
        for number in range(20):
            memory.observe("chat", f"{number}: my key is {TOKEN}", scope=SCOPE)
        memory.maintain()
        memory.close()
    assert asked
    assert not [text for text in asked if NEEDLE in text]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda m: m.observe("chat", [{"role": "wizard", "content": TOKEN}], scope=SCOPE),
        lambda m: m.observe("chat", [{"role": "user", "content": {1: TOKEN}}], scope=SCOPE),
        lambda m: m.observe("chat", [object(), TOKEN], scope=SCOPE),
        lambda m: m.remember(TOKEN, scope=SCOPE, kind="wise"),
        lambda m: m.observe("chat", [[TOKEN]], scope=SCOPE),
        lambda m: m.observe("chat", [TOKEN.encode()], scope=SCOPE),
        lambda m: m.remember("x", scope=SCOPE, data={"a": TOKEN.encode()}),
        lambda m: m.remember("x", scope=SCOPE, data=[TOKEN]),
        lambda m: m.set_state("chat", {"a": {TOKEN}}, scope=SCOPE),
        lambda m: m.resolve("nobody", "edit", text=TOKEN),
    ],
)
def test_X11_an_error_does_not_repeat_the_text(memory: Memory, wrong: Any) -> None:
    with pytest.raises(StandfastError) as error:
        wrong(memory)
    assert NEEDLE not in str(error.value)


def test_X11_kinds_can_be_switched_off_and_added_for_the_whole_memory(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = open_memory(redactor=Redactor(extra={"badge": "B-[0-9]{6}"}))
    id_ = own.remember("my badge is B-123456", scope=SCOPE).items[0].id
    assert own.get([id_])[0].text == "my badge is [redacted:badge]"
    monkeypatch.setenv("STANDFAST_REDACT_OFF", "github_token")
    monkeypatch.setenv("STANDFAST_REDACT_OWN", '{"ticket": "T-[0-9]{4}"}')
    by_settings = open_memory()
    id_ = by_settings.remember(f"{TOKEN} and T-1234", scope=SCOPE).items[0].id
    assert by_settings.get([id_])[0].text == f"{TOKEN} and [redacted:ticket]"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("My PIN is 4821.", "My PIN is 9934."),
        ("The gate code is 1203", "The gate code is 1307"),
        ("My wifi password is hunter2hunter2!", "My wifi password is correcthorse99!"),
    ],
)
def test_X11_M4_two_redacted_values_are_never_one(memory: Memory, one: str, other: str) -> None:
    receipts = [memory.remember(text, scope=SCOPE) for text in (one, other)]
    assert [item.status for receipt in receipts for item in receipt.items] == ["stored", "stored"]
    kept = memory.records(scope=SCOPE, kinds=["semantic"]).items
    assert len(kept) == 2
    memory.maintain()
    assert memory.records(scope=SCOPE, kinds=["semantic"]).items == kept, "nor later"


@pytest.mark.parametrize("sessions", [("chat", "chat"), ("monday", "tuesday")])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("My PIN is 4821.", "My PIN is 9934."),
        ("My wifi password is hunter2hunter2!", "My wifi password is correcthorse99!"),
    ],
)
def test_X11_M4_two_redacted_values_that_were_learned_are_never_one(
    memory: Memory, one: str, other: str, sessions: tuple[str, str]
) -> None:
    ids = []
    for session, text in zip(sessions, (one, other), strict=True):
        said = memory.observe(session, [text], scope=SCOPE)
        ids.append(said.items[0].id)
    memory.maintain()
    kept = memory.records(scope=SCOPE, kinds=["semantic"]).items
    assert sorted(record.lineage for record in kept) == sorted((id_,) for id_ in ids)
    memory.maintain()
    assert memory.records(scope=SCOPE, kinds=["semantic"]).items == kept, "nor later"
