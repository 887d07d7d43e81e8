"""What is made without a model (summaries, episodes and profiles) says what somebody said, as it
was said: every line stands in one message or fact, and ends where a sentence does."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from standfast import Memory
from tests.conftest import PROVING
from tests.requirements.asking import stored_all
from tests.requirements.conftest import OpenMemory

ANN = "user:ann"
SENTENCES = (
    "Please move the invoice job to the new queue.",
    "I'll start by asking Dr. Miller about it.",
    "Decision: we use Mr. Brown's list, e.g. the first half of it.",
    "No, I don't want that before Mrs. Smith calls.",
    "Do not deploy on Fridays unless St. Martin's is closed.",
    "If the build fails, roll it back.",
    "I might agree!",
    "What does Prof. Lee think?",
    "It failed with an error after 30.5 s.",
    "I deployed the shop to no. 5.",
    "We will wait, etc.",
)
LABEL = re.compile(r"(?:Requested|Approach|Outcome|intent|decision|error|outcome|user|said): ")

talks = st.lists(
    st.tuples(
        st.sampled_from(["user", "assistant"]),
        st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4),
    ),
    min_size=3,
    max_size=12,
)


def pieces(text: str) -> list[str]:
    """The parts of an extract that each come from one message."""
    lines = [line.removeprefix("- ") for line in text.split("\n")]
    parts = [part for line in lines for part in LABEL.sub("", line, count=1).split("; ")]
    return [part for part in parts if part]


def unsaid(text: str, said: Iterable[str]) -> list[str]:
    """Those that are not whole sentences of one message."""
    ends = [re.compile(re.escape(part) + r"(?=\Z| [A-Z])") for part in pieces(text)]
    return [
        end.pattern
        for part, end in zip(pieces(text), ends, strict=True)
        if part.endswith((" Dr.", " Mr.", " Mrs.", " Prof.", " St.", " e.g.", " no."))
        or not any(end.search(one) for one in said)
    ]


@settings(
    max_examples=300 if PROVING else 12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(talk=talks, profile=st.sampled_from(["default", "otto", "openmotoko"]))
def test_X3_extracts_say_what_was_said(talk: list[tuple[str, list[str]]], profile: str) -> None:
    said = [" ".join(sentences) for _, sentences in talk]
    messages = [{"role": role, "content": text} for (role, _), text in zip(talk, said, strict=True)]
    with Memory.open("dict:", embedder="hashing", background=False, profile=profile) as memory:
        for _ in range(3):
            memory.observe("chat", messages, scope=ANN)
        memory.end("chat", scope=ANN)
        made = memory.records(scope=ANN, types=["episode"]).items
        for record in made:
            assert unsaid(record.text, said) == []


def test_X3_a_summary_without_a_model_ends_no_sentence_at_a_title(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory(profile="openmotoko", background=False)
    talk = [
        {"role": "user", "content": "Please plan the visit."},
        {"role": "assistant", "content": "I'll start by asking Dr. Miller. Then I write."},
    ]
    for _ in range(30):
        memory.observe("chat", talk, scope=ANN)
    memory.maintain()
    text = memory.context(session="chat", scope=ANN).text
    assert "asking Dr. Miller." in text
    assert "asking Dr.\\n" not in text


@pytest.mark.parametrize("count", [30, 60])
def test_X3_a_profile_without_a_model_has_its_facts_as_they_stand(
    memory: Memory, count: int
) -> None:
    facts = [f"Ann may not buy item {n} before Dr. Miller agrees" for n in range(count)]
    stored_all(memory, facts, scope=ANN)
    memory.maintain()
    [profile] = memory.records(scope=ANN, types=["summary"], tags=["profile"]).items
    told = profile.text.partition(": ")[2]
    found = [f"{fact}." for fact in facts if f"{fact}." in told]
    assert found
    assert len("".join(found)) + len(found) - 1 == len(told), "nothing else stands in it"
