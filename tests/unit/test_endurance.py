"""Sentences that no rule reads: kept where the vectors of the model in the box say that they
last."""

from __future__ import annotations

import pytest

pytest.importorskip("onnxruntime", reason="the local model needs the extra `local`")

from standfast import Memory
from standfast.models.local import box

SCOPE = "user:wade"
SAID = ["Knee replacement, Good Samaritan", "the printer is jammed again", "on my way home"]


def learned(embedder: str) -> list[str]:
    with Memory.open("dict:", embedder=embedder, background=False) as memory:
        for number, text in enumerate(SAID):
            memory.observe(f"chat {number}", [text], scope=SCOPE, author="Wade")
        memory.maintain()
        return [record.text for record in memory.records(scope=SCOPE, types=["fact"]).items]


def test_X22_what_no_rule_reads_is_kept_by_its_meaning_and_moments_are_not() -> None:
    assert learned("hashing") == []
    assert learned(box.NAME) == ['Wade said: "Knee replacement, Good Samaritan"']
