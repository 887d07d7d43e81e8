"""The packet is the product: the budget is used, nothing is said twice, nothing that matters is
missing, and what was left out is named."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from standfast import Memory
from standfast.packet.said import normal
from standfast.packet.text import NO_ROOM
from standfast.testing.provider_rules import anthropic_problems, gemini_problems, openai_problems
from standfast.text.coverage import covers
from standfast.text.tokens import estimate
from tests.requirements.asking import stored
from tests.requirements.conftest import MovableClock, OpenMemory

ANN = "user:ann"


@pytest.mark.parametrize("profile", ["default", "otto", "agtos", "openmotoko"])
def test_A7_questions_asked_again_and_again_do_not_push_out_the_answer(
    open_memory: OpenMemory, profile: str
) -> None:
    memory = open_memory("dict:", profile=profile)
    stored(memory, "Ann's favourite cake is carrot cake", scope=ANN, type="preference")
    for day in range(7):
        memory.observe(f"d{day}", ["Which cake do I like?"], scope=ANN)
    packet = memory.context(session="d6", scope=ANN, tokens=1500)
    assert "carrot cake" in packet.text
    assert packet.text.count("Which cake") <= 1


def test_A7_everything_that_fits_comes_in(memory: Memory) -> None:
    for number in range(25):
        stored(memory, f"Ann keeps fact number {number} about gardens", scope=ANN)
    packet = memory.context(query="gardens", scope=ANN, tokens=2000)
    assert sum(f"number {n} " in packet.text for n in range(25)) == 25
    assert packet.tokens <= 2000


def test_A7_a_small_scope_comes_whole(memory: Memory) -> None:
    for what in ("is vegetarian", "has two cats", "plays the oboe", "was born in Graz"):
        stored(memory, f"Ann {what}", scope=ANN)
    packet = memory.context(query="Book a table for our anniversary dinner", scope=ANN)
    assert "vegetarian" in packet.text
    assert "oboe" in packet.text


def test_A7_a_line_costs_its_text_and_little_more(memory: Memory) -> None:
    for number in range(60):
        stored(memory, f"Ann has {number} as a short fact", scope=ANN)
    packet = memory.context(query="short fact", scope=ANN, tokens=4000)
    lines = [line for line in packet.text.splitlines() if line.startswith('- "')]
    assert len(lines) == 60
    for line, hit in zip(lines, packet.hits, strict=True):
        text = next(h.record.text for h in packet.hits if h.record.text in line)
        assert estimate(line + "\n") - estimate(text) <= 12
        assert hit.record.id not in packet.text


def test_L9_a_persons_own_core_memories_come_before_those_above(
    memory: Memory, clock: MovableClock
) -> None:
    stored(memory, "Bo needs a step-free entrance", scope="org:a:user:bo", durability="core")
    for number in range(40):
        clock.forward(minutes=1)
        text = f"The organisation's core rule number {number} is this long sentence about work"
        stored(memory, text, scope="org:a", durability="core", importance=1.0)
    memory.maintain()
    for tokens in (None, 700, 8000):
        packet = memory.context(query="hello", scope="org:a:user:bo", tokens=tokens)
        assert "step-free" in packet.stable_text
    small = memory.context(query="hello", scope="org:a:user:bo", tokens=700)
    assert any("core rule" in hit.record.text for hit in small.near_misses)


def test_X9_nothing_below_a_persons_trust_is_always_there(memory: Memory) -> None:
    for source in ("web", "tool", "assistant", "import"):
        stored(memory, f"A rule that {source} wrote", scope=ANN, durability="core", source=source)
    stored(memory, "A rule that Ann wrote", scope=ANN, durability="core")
    packet = memory.context(query="rule", scope=ANN)
    assert "that Ann wrote" in packet.stable_text
    assert packet.stable_text.count('- "') == 1
    assert "that web wrote" in packet.text


def test_A7_a_pending_message_and_its_turn_are_said_once(memory: Memory) -> None:
    memory.observe("chan", ["The deploy moved to Friday"], scope=ANN, pending=True)
    packet = memory.context(query="When is the deploy?", scope=ANN)
    assert packet.text.count("deploy moved to Friday") == 1


def test_A7_an_episode_and_its_own_turns_are_said_once(memory: Memory) -> None:
    memory.observe(
        "task",
        [
            "Please rename the billing table to invoices in the database",
            {"role": "assistant", "content": "I renamed the billing table to invoices and ran it."},
        ],
        scope=ANN,
    )
    memory.end("task", scope=ANN, outcome="renamed")
    packet = memory.context(query="billing table", scope=ANN)
    assert packet.text.count("rename the billing table") == 1


TOLD = (
    ("My daughter Mia is nine.", "For her party she wants a pirate cake."),
    ("Meine Tochter Mia ist neun.", "Zur Feier wünscht sie sich einen Piratenkuchen."),
    ("Ma fille Mia a neuf ans.", "Pour sa fête elle veut un gâteau de pirate."),
    ("Mi hija Mia tiene nueve años.", "Para su fiesta quiere un pastel de pirata."),
    ("我女儿美亚九岁。", "她的派对想要一个海盗蛋糕。"),
)


@pytest.mark.parametrize(("first", "second"), TOLD)
def test_A7_a_fact_removes_no_message_that_says_more(
    memory: Memory, first: str, second: str
) -> None:
    memory.observe("chat", [f"{first} {second}"], scope=ANN)
    memory.maintain()
    facts = [one for one in memory.records(scope=ANN).items if one.kind == "semantic"]
    assert facts, "nothing was learned: this test would show nothing"
    packet = memory.context(query=second, scope=ANN)
    assert second in packet.text
    assert any(hit.record.kind == "semantic" for hit in packet.hits)


def test_A7_X7_a_covered_message_is_named_among_what_was_left_out(memory: Memory) -> None:
    memory.observe("chat", ["I live in Hamburg."], scope=ANN, author="Ann")
    memory.maintain()
    packet = memory.context(query="Where does Ann live?", scope=ANN)
    assert packet.text.count("Hamburg") == 1
    [hit] = [hit for hit in packet.near_misses if hit.record.type == "turn"]
    assert "what was learned from it is shown" in hit.why[-1].detail


def test_A7_a_message_comes_where_its_fact_finds_no_room(memory: Memory) -> None:
    said = "My wifi at the cabin is called Moosehead, after the lake behind it."
    memory.observe("chat", [said], scope=ANN, author="Ann")
    memory.maintain()
    [fact] = [one for one in memory.records(scope=ANN).items if one.kind == "semantic"]
    assert len(fact.text) > len(said), "a fact shorter than its message fits wherever that does"
    shown = set()
    for tokens in range(40, 120):
        packet = memory.context(query="What is the wifi called?", scope=ANN, tokens=tokens)
        shown.add(tuple(hit.record.type for hit in packet.hits))
        if not packet.hits:
            assert {hit.record.type for hit in packet.near_misses} == {"turn", fact.type}
            assert {hit.why[-1].detail for hit in packet.near_misses} == {NO_ROOM}
    assert shown == {(), ("turn",), (fact.type,)}


FRAGMENTS = st.sampled_from(
    """the blue kettle leaks|Paul sells his boat|dinner was cold|rent goes up in May
    |the cellar floods|Oma kommt am Montag|le train part à midi|猫在钢琴上睡觉|鍵は玄関に""".split(
        "|"
    )
)


@hypothesis_settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(FRAGMENTS, min_size=1, max_size=3), min_size=1, max_size=5))
def test_A7_X7_no_message_vanishes_unnamed(fragments: list[list[str]]) -> None:
    """Whatever is learned: every word of what recall finds is in the packet, or its message is
    named among what was left out."""
    learned = ("I live in Hamburg.", "My daughter Mia is nine.", "I am allergic to nuts.")
    with Memory.open("dict:", embedder="hashing", background=False) as memory:
        for number, more in enumerate(fragments):
            text = " ".join([learned[number % 3], *(f"{one}." for one in more)])
            memory.observe(f"s{number}", [text], scope=ANN, author="Ann")
        memory.maintain()
        asked = fragments[0][0]
        packet = memory.context(query=asked, scope=ANN, tokens=4000)
        named = {hit.record.id for hit in (*packet.hits, *packet.near_misses)}
        for hit in memory.recall(asked, scope=ANN, limit=20).hits:
            assert hit.record.id in named
            told = " ".join(shown.record.text for shown in packet.hits)
            assert covers([told], hit.record.text)


def test_A11_a_threshold_keeps_noise_out_of_the_packet(memory: Memory) -> None:
    stored(memory, "The office plants are watered on Mondays", scope=ANN)
    stored(memory, "Ann plays tennis on Thursdays with Kim", scope=ANN)
    packet = memory.context(query="When does Ann play tennis?", scope=ANN, threshold=0.3)
    assert "tennis" in packet.text
    assert "plants" not in packet.text


def test_X7_what_was_left_out_says_why(memory: Memory) -> None:
    for number in range(40):
        stored(memory, f"A fact about tea, number {number}, with a few words more", scope=ANN)
    packet = memory.context(query="tea", scope=ANN, tokens=300)
    assert packet.near_misses
    for hit in packet.near_misses:
        assert hit.why[-1].stage == "left out"
        assert hit.why[-1].detail


def test_X5_a_packet_of_another_moment(memory: Memory, clock: MovableClock) -> None:
    stored(memory, "Ann lives in Berlin", scope=ANN)
    before = clock()
    clock.forward(days=30)
    stored(memory, "Ann plays the oboe", scope=ANN)
    then = memory.context(query="Ann", scope=ANN, known_at=before)
    assert "Berlin" in then.text
    assert "oboe" not in then.text


# The conversation


def talk(memory: Memory, count: int, words: int) -> None:
    for number in range(count):
        role = "user" if number % 2 == 0 else "assistant"
        text = f"m{number} " + "word " * words
        memory.observe("s", [{"role": role, "content": text}], scope=ANN)


@pytest.mark.parametrize(("profile", "count", "expected"), [("openmotoko", 39, 39), ("otto", 8, 8)])
def test_M2_O9_no_hidden_budget_overrules_a_published_number(
    open_memory: OpenMemory, profile: str, count: int, expected: int
) -> None:
    memory = open_memory("dict:", profile=profile)
    talk(memory, count, 130)
    assert len(memory.context(session="s", scope=ANN, query="").messages) == expected


@pytest.mark.parametrize("shape", ["openai", "anthropic", "gemini"])
def test_A7_the_newest_message_is_there_cut_if_it_must_be(memory: Memory, shape: str) -> None:
    memory.observe("s", ["Summarise: " + "line of log text number seven " * 800], scope=ANN)
    packet = memory.context(session="s", scope=ANN, tokens=500, shape=shape)
    assert packet.tokens <= 500
    assert "Summarise: line of log" in str(packet.messages)
    assert "characters cut" in str(packet.messages)
    assert any("is cut" in note for note in packet.notes)


def test_A7_a_huge_tool_answer_does_not_hide_the_question(memory: Memory) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    memory.observe(
        "s",
        [
            "What is in the log?",
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "data " * 5000},
        ],
        scope=ANN,
    )
    packet = memory.context(session="s", scope=ANN, tokens=400)
    assert packet.messages[0]["content"] == "What is in the log?"
    assert openai_problems(packet.messages) == []
    assert any("did not fit" in note for note in packet.notes)


@hypothesis_settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(0, 2500))
def test_A7_X23_the_packet_keeps_its_promises(seed: int, tokens: int) -> None:
    """Nothing twice, the budget kept, the newest message there, the provider's rules held."""
    dice = random.Random(seed)
    words = "tea garden Berlin nuts deploy rule pilot bread house plan cake".split()
    clock = MovableClock()
    with Memory.open("dict:", clock=clock, embedder="hashing", background=False) as memory:
        for n in range(dice.randrange(0, 12)):
            text = f"{' '.join(dice.choices(words, k=4))} number {n}"
            memory.remember(text, scope=ANN, durability=dice.choice(["core", "standard"]))
        for n in range(dice.randrange(1, 10)):
            text = dice.choice([" ".join(dice.choices(words, k=5)), "Which cake do I like?"])
            who = dice.choice(["user", "assistant"])
            memory.observe(dice.choice("st"), [{"role": who, "content": text}], scope=ANN)
            if dice.random() < 0.2:
                memory.observe("p", [f"pending {n}"], scope=ANN, pending=True)
            clock.forward(minutes=3)
        memory.observe("s", ["the newest words about cake"], scope=ANN)
        memory.maintain()
        for shape, problems in (
            ("openai", openai_problems),
            ("anthropic", anthropic_problems),
            ("gemini", gemini_problems),
        ):
            packet = memory.context(session="s", scope=ANN, tokens=tokens, shape=shape)  # type: ignore[arg-type]
            assert packet.tokens <= tokens
            assert problems(packet.messages) == []
            lines = [normal(x) for x in packet.text.splitlines() if x.startswith('- "')]
            assert len(lines) == len(set(lines))
            if tokens >= 60:
                assert "newest words" in str(packet.messages)
            again = memory.context(session="s", scope=ANN, tokens=tokens, shape=shape)  # type: ignore[arg-type]
            assert again.stable_text == packet.stable_text


def test_X23_what_says_nothing_by_itself_takes_no_line(memory: Memory) -> None:
    for text in ("My boat is called Petrel.", "Got it.", "Good call, noted!", "Ok."):
        memory.observe("chat", [{"role": "user", "content": text}], scope="user:ann")
    packet = memory.context(query="boat", scope="user:ann")
    assert "Petrel" in packet.text
    for small in ("Got it", "Good call", "Ok."):
        assert small not in packet.text
