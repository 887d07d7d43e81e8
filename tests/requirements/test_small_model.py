"""A real small model drives the whole path once: what is said is learned, asked for and chosen.
It shows that the wire format is right and that nothing a model says is believed unseen; what a
model of this size knows is not the point."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from standfast import Memory, Receipt, Record
from tests.requirements.conftest import MovableClock
from tests.requirements.learning_world import facts, log, place, session
from tests.requirements.small_model import NAME, serving

pytestmark = pytest.mark.proof

SCOPE = "user:ann"
SAID = [
    "Hello!",
    "I live in Berlin and I work at Siemens.",
    "I am allergic to peanuts.",
    "We decided to use Postgres for the shop.",
    "Thanks, that is all for today.",
]
TRIES = 5
_NAMES = re.compile(r"\b(?:[A-Z]\w+|\d+)\b")


@pytest.fixture(scope="module")
def model_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("model") / "log.txt") as url:
        yield url


@pytest.fixture
def memory(
    model_url: str, tmp_path: Path, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Memory]:
    monkeypatch.setenv("STANDFAST_MODEL", f"openai-compatible:{NAME}")
    monkeypatch.setenv("STANDFAST_MODEL_URL", model_url)
    monkeypatch.setenv("STANDFAST_MODEL_TIMEOUT_SECONDS", "300")
    with Memory.open(
        str(tmp_path / "memory.db"), embedder="hashing", background=False, clock=clock
    ) as opened:
        yield opened


def test_L6_X3_a_real_model_drives_the_whole_path(memory: Memory, clock: MovableClock) -> None:
    memory.observe("chat", SAID, scope=SCOPE, author="Ann")
    memory.end("chat", scope=SCOPE, outcome="the database was chosen")
    receipts = [receipt for receipt in learned(memory, clock) if show(receipt)]
    assert sum(receipt.usage.calls for receipt in receipts) >= 1, "nobody was asked"
    assert max(receipt.usage.tokens_in for receipt in receipts) > 100, "the model did not count"
    check_nothing_is_lost(memory, stuck=any_failed(receipts[-1]))
    known = facts(memory, SCOPE)
    for record in known:
        check_grounded(record)
    if not any_failed(receipts[-1]):
        texts = {record.text for record in known}
        assert {"Ann lives in Berlin.", "Ann is allergic to peanuts."} <= texts or any(
            record.data["how"] == "model" for record in known
        ), "what the rules are sure of is learned, whatever the model says"
    check_recall(memory)


def learned(memory: Memory, clock: MovableClock) -> list[Receipt]:
    """Rounds of upkeep until one goes through, or until it is given up."""
    receipts = []
    for _ in range(TRIES):
        receipts.append(memory.maintain())
        if not any_failed(receipts[-1]):
            break
        clock.forward(hours=1)
    return receipts


def any_failed(receipt: Receipt) -> bool:
    return any(item.status == "failed" for item in receipt.items)


def show(receipt: Receipt) -> bool:
    print(receipt.usage)
    for item in receipt.items:
        print(f"  {item.status}: {item.reason}")
    return True


def check_nothing_is_lost(memory: Memory, *, stuck: bool) -> None:
    assert log(memory, "chat", SCOPE) == SAID
    turns = memory.recall("", scope=SCOPE, types=["turn"], limit=50).hits
    assert sorted(hit.record.text for hit in turns) == sorted(SAID)
    if stuck:
        assert place(memory, "chat", SCOPE) == 0, "what was not learned waits"
        assert [item.kind for item in memory.review(scope=SCOPE)] == ["stuck"]
        return
    assert place(memory, "chat", SCOPE) == session(memory, "chat", SCOPE).last_seq
    assert all(hit.record.data["learning"] for hit in turns)


def check_grounded(record: Record) -> None:
    """Every name and number of a fact was said, by a look of its own."""
    ground = " ".join([*SAID, "Ann. The user. It was decided."]).casefold()
    invented = [name for name in _NAMES.findall(record.text) if name.casefold() not in ground]
    assert not invented, record.text
    assert record.lineage
    assert record.trust <= 3


def check_recall(memory: Memory) -> None:
    """The model may choose among candidates, and can do nothing else to them."""
    plain = memory.recall("Where does Ann live?", scope=SCOPE, limit=12, fast=True)
    chosen = memory.recall("Where does Ann live?", scope=SCOPE, limit=2, fast=False)
    print(chosen.notes, chosen.usage)
    assert chosen.usage.calls >= 1
    assert len(chosen.hits) == 2
    assert {hit.record.id for hit in chosen.hits} <= {hit.record.id for hit in plain.hits}
    assert "Berlin" in plain.hits[0].record.text
