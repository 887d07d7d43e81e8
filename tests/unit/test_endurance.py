"""Sentences that no rule reads: kept where the vectors of the model in the box say that they
last."""

from __future__ import annotations

import pytest

pytest.importorskip("onnxruntime", reason="the local model needs the extra `local`")

from standfast import Memory
from standfast.models.providers.minilm import box
from standfast.upkeep.learn.endurance import endurance_in

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


def test_the_weights_are_those_of_the_model_in_the_box() -> None:
    found = endurance_in(f"{box.NAME}/384")
    assert found is not None
    assert len(found.weights) == 384
    assert endurance_in("hashing/384") is None
