"""Knowledge updates through the public interface: the labelled updates and hard negatives are said
in a conversation, learned, and asked for. Nothing but the verbs is used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.unit.test_extraction_labels import labelled

from standfast import Memory, Record
from standfast.text.claim import SPEAKER, Claim, claim_from_data
from tests.requirements.conftest import MovableClock

SCOPE = "user:somebody"
EVERY_STATUS = ["active", "superseded", "archived", "disputed", "quarantined"]
PRECISION_MIN, RECALL_MIN = 0.9, 0.6
LIMIT = 50


@contextmanager
def fresh_memory(clock: MovableClock) -> Iterator[Memory]:
    with Memory.open("dict:", embedder="hashing", background=False, clock=clock) as memory:
        yield memory


def noon(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(hour=12, tzinfo=UTC)


def play(update: dict[str, Any], memory: Memory, clock: MovableClock) -> None:
    """Say each turn on its day, and let it be learned before the next one is said."""
    clock.now = noon("2025-01-01")
    for day, text in update["turns"]:
        clock.now = max(noon(day), clock.now + timedelta(minutes=1))
        memory.observe("chat", text, scope=SCOPE, author=update["who"])
        memory.maintain()
    clock.forward(hours=1)


def believed(update: dict[str, Any], memory: Memory, **when: Any) -> list[Record]:
    """What is found about the slot in question by somebody who asks with everything said."""
    subject = update.get("subject") or update["who"].casefold() or SPEAKER
    asked = " ".join(text for _, text in update["turns"])
    answer = memory.recall(asked, scope=SCOPE, kinds=["semantic"], limit=LIMIT, **when)
    found = [(hit.record, claim_from_data(hit.record.data)) for hit in answer.hits]
    wanted = (subject, update["slot"])
    return [one for one, claim in found if claim and (claim.subject, claim.slot) == wanted]


@dataclass
class Score:
    """Answers: how many were wanted, how many were given, how many of those were right."""

    wanted: int = 0
    given: int = 0
    right: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, what: str, given: list[tuple[str, bool]], wanted: tuple[str, bool]) -> None:
        self.wanted += 1
        self.given += len(given)
        self.right += given.count(wanted)
        if given != [wanted]:
            self.wrong.append(f"{what}: {given}, not {wanted}")

    def check(self, what: str) -> None:
        precision, recall = self.right / max(self.given, 1), self.right / self.wanted
        print(f"{what}: precision {precision:.3f}, recall {recall:.3f} of {self.wanted}")
        print("\n".join(self.wrong))
        assert precision >= PRECISION_MIN, self.wrong
        assert recall >= RECALL_MIN, self.wrong


def values_of(records: list[Record]) -> list[tuple[str, bool]]:
    claims = [claim_from_data(record.data) for record in records if record.status == "active"]
    return [(claim.value, claim.negated) for claim in claims if claim]


def test_X5_X6_M4_updates_are_believed_and_the_past_is_still_known(clock: MovableClock) -> None:
    now, then = Score(), Score()
    for update in labelled("updates"):
        with fresh_memory(clock) as memory:
            play(update, memory, clock)
            told = (update["value"], update.get("negated", False))
            now.add(update["id"], values_of(believed(update, memory)), told)
            for day, value in update.get("as_of", ()):
                held = believed(update, memory, as_of=noon(day))
                claims = [claim for one in held if (claim := claim_from_data(one.data))]
                given = [(claim.value, claim.negated) for claim in claims]
                then.add(f"{update['id']} as of {day}", given, (value, False))
    now.check("now")
    then.check("as of an earlier day")


def test_X5_M4_what_was_replaced_is_neither_lost_nor_believed(clock: MovableClock) -> None:
    replaced = 0
    for update in labelled("updates"):
        with fresh_memory(clock) as memory:
            play(update, memory, clock)
            told = believed(update, memory, statuses=EVERY_STATUS)
            claims = {(c.value, c.negated) for r in told if (c := claim_from_data(r.data))}
            turns = memory.recall("", scope=SCOPE, types=["turn"], limit=LIMIT).hits
            assert len(turns) == len(update["turns"]), "a raw turn is gone"
            assert not [one for one in turns if one.record.status != "active"]
            replaced += len(claims) >= 2 and any(one.status == "superseded" for one in told)
    print(f"{replaced} of 60 keep the old value as superseded")
    assert replaced >= RECALL_MIN * 60


# Hard negatives


def learn_together(texts: list[str], memory: Memory) -> list[str]:
    """Said in one breath, so that none of them is the later one; statuses of the receipt."""
    memory.observe("chat", texts, scope=SCOPE, author="Ann")
    return [item.status for item in memory.maintain().items]


def remember_together(texts: list[str], memory: Memory) -> list[str]:
    return [memory.remember(text, scope=SCOPE, author="Ann").items[0].status for text in texts]


def statuses(memory: Memory) -> list[str]:
    hits = memory.recall("", scope=SCOPE, kinds=["semantic"], statuses=EVERY_STATUS, limit=LIMIT)
    return sorted(hit.record.status for hit in hits.hits)


NEGATIVES = labelled("negatives")
STATEMENTS = [case for case in NEGATIVES if case["kind"] != "nothing"]
NO_STATEMENTS = [case for case in NEGATIVES if case["kind"] == "nothing"]


@pytest.mark.parametrize("case", NO_STATEMENTS, ids=lambda case: case["id"])
def test_L6_X6_what_states_nothing_teaches_nothing(
    case: dict[str, Any], clock: MovableClock
) -> None:
    with fresh_memory(clock) as memory:
        learn_together(case["texts"], memory)
        assert statuses(memory) == []


@pytest.mark.parametrize("tell", [learn_together, remember_together])
@pytest.mark.parametrize("case", STATEMENTS, ids=lambda case: case["id"])
def test_X5_X6_what_must_not_be_merged_or_replaced_is_not(
    case: dict[str, Any], tell: Any, clock: MovableClock
) -> None:
    with fresh_memory(clock) as memory:
        told = tell(case["texts"], memory)
        assert not {"merged", "superseded"} & set(told)
        wanted = "active" if case["kind"] == "apart" else "disputed"
        assert set(statuses(memory)) == {wanted}
        assert len(statuses(memory)) >= 2


def test_X5_a_wrong_answer_would_be_seen() -> None:
    score = Score()
    score.add("stale", [("berlin", False)], ("hamburg", False))
    score.add("both", [("berlin", False), ("hamburg", False)], ("hamburg", False))
    assert (score.wanted, score.given, score.right, len(score.wrong)) == (2, 3, 1, 2)
    with pytest.raises(AssertionError):
        score.check("bad")
    claim = Claim(subject="ann", slot="home", value="rome")
    assert claim_from_data({"subject": "ann", "slot": "home", "value": "rome"}) == claim
