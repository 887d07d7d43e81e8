"""Sessions in real use: one order, every window, what goes with an episode, short processes."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from standfast import Memory
from standfast.testing.judge import ScriptedJudge
from tests.requirements.asking import statuses
from tests.requirements.conftest import MovableClock, OpenMemory

ANN = "user:ann"


def contents(memory: Memory, session: str = "chat") -> list[str]:
    return [str(one["content"]) for one in memory.context(session=session, scope=ANN).messages]


def test_A1_a_conversation_has_one_order_whatever_part_of_it_is_volatile(memory: Memory) -> None:
    memory.set_policy(ANN, persist=False, author="Bob")
    for number in range(3):
        memory.observe(
            "chat",
            [
                {"role": "user", "content": f"question {number}", "author": "Bob"},
                {"role": "assistant", "content": f"answer {number}"},
            ],
            scope=ANN,
        )
    memory.set_policy(ANN, persist=True, author="Bob")
    memory.observe("chat", [{"role": "user", "content": "last", "author": "Bob"}], scope=ANN)
    wanted = [f"{what} {n}" for n in range(3) for what in ("question", "answer")]
    assert contents(memory) == [*wanted, "last"]
    pages, cursor = [], ""
    while True:
        page = memory.messages("chat", scope=ANN, limit=2, cursor=cursor)
        pages += [one.text for one in page.items]
        cursor = page.next
        if not cursor:
            break
    assert pages == [*wanted, "last"]


def test_A10_only_the_opted_out_authors_own_messages_are_volatile(memory: Memory) -> None:
    memory.set_policy(ANN, persist=False, author="Bob")
    receipt = memory.observe(
        "chat",
        [
            {"role": "user", "content": "from Cleo", "author": "Cleo"},
            {"role": "user", "content": "from Bob", "author": "Bob"},
            {"role": "assistant", "content": "to both"},
        ],
        scope=ANN,
    )
    assert statuses(receipt) == ["stored", "volatile", "stored"]
    assert contents(memory) == ["from Cleo", "from Bob", "to both"]


def test_A1_the_state_of_an_opted_out_scope_is_volatile_and_says_so(memory: Memory) -> None:
    memory.observe("chat", ["hello there, a task"], scope=ANN)
    memory.set_policy(ANN, persist=False)
    receipt = memory.set_state("chat", {"step": 2}, scope=ANN)
    assert statuses(receipt) == ["volatile"]
    assert "opted out" in receipt.items[0].reason
    assert '"step' in memory.context(session="chat", scope=ANN).text.replace("\\", "")


def test_A2_an_episode_is_of_the_day_of_its_talk_however_late_it_is_told(memory: Memory) -> None:
    said = {"role": "user", "content": "Please plan our trip to Oslo", "at": "2023-11-14T10:00:00Z"}
    memory.observe("old", [said], scope=ANN)
    memory.end("old", scope=ANN, outcome="planned")
    (episode,) = memory.records(scope=ANN, types=["episode"]).items
    assert episode.at == datetime(2023, 11, 14, 10, tzinfo=UTC)
    assert "2023-11-14" in memory.context(query="the trip to Oslo", scope=ANN).text


@pytest.mark.parametrize("turns", [1, 2, 5, 9, 10, 19])
def test_A4_every_number_of_turns_works(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch, turns: int
) -> None:
    monkeypatch.setenv("AGTOS_WORKING_MEMORY_MAX_TURNS", str(turns))
    memory = open_memory(profile="agtos")
    for number in range(turns + 1):
        talk = [{"role": "user", "content": f"line {number}"},
                {"role": "assistant", "content": "yes"}]  # fmt: skip
        memory.observe("chat", talk, scope=ANN)
    memory.maintain()
    packet = memory.context(session="chat", scope=ANN)
    shown = [one for one in packet.messages if one["role"] == "user"]
    assert 1 <= len(shown) <= turns
    assert "<session-summary>" in packet.text


def test_A2_the_words_of_an_episode_go_when_it_goes_and_what_was_learned_stays(
    open_memory: OpenMemory, clock: MovableClock
) -> None:
    memory = open_memory(profile="agtos")
    memory.observe("chat", ["I live in Hamburg.", "Please plan a trip to Rome."], scope=ANN)
    memory.end("chat", scope=ANN, outcome="planned")
    memory.maintain()
    kept = [one for one in memory.records(scope=ANN).items if one.kind == "semantic"]
    assert kept
    clock.forward(days=31)
    assert [one for one in memory.recall("Rome", scope=ANN).hits if one.record.type == "turn"] == []
    memory.maintain()
    assert memory.messages("chat", scope=ANN).items == ()
    (fact,) = memory.get([kept[0].id])
    assert fact.data["sources"] == "expired"
    episode = memory.remember("A trip to Oslo", type="episode", scope=ANN).items[0].id
    assert memory.get([episode])[0].expires_at is not None


def test_A2_a_session_that_nobody_ends_is_learned_from_after_a_long_silence(
    open_memory: OpenMemory, clock: MovableClock
) -> None:
    memory = open_memory(profile="agtos")
    memory.observe("chat", ["I live in Hamburg."], scope=ANN)
    memory.maintain()
    facts = [one for one in memory.records(scope=ANN).items if one.kind == "semantic"]
    assert facts == []
    clock.forward(hours=13)
    memory.maintain()
    facts = [one for one in memory.records(scope=ANN).items if one.kind == "semantic"]
    assert [one.text for one in facts] == ["The user lives in Hamburg."]


@pytest.mark.parametrize(
    ("opening", "wanted"),
    [
        ("Hi there! Could you please migrate our Postgres to 16?", "migrate our Postgres"),
        ("Good morning. Hope you are well. I need a backup script.", "a backup script"),
        ("Hallo! Kannst du den Server umziehen?", "Server umziehen"),
    ],
)
def test_O2_the_request_is_kept_and_not_the_greeting(
    memory: Memory, opening: str, wanted: str
) -> None:
    memory.observe("task", [opening, {"role": "assistant", "content": "Yes."}], scope=ANN)
    id_ = memory.end("task", scope=ANN, outcome="done").items[0].id
    first = memory.get([id_])[0].text.split("\n")[0]
    assert first.startswith("Requested: ")
    assert wanted in first


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("Translate the README to French", "Here is the translation."),
        ("Don't use emojis when you answer me.", "Understood."),
        ("I'd rather have tea.", "Noted."),
        ("Could you rename the branch?", "Renamed."),
    ],
)
def test_A3_finished_tasks_and_wishes_are_not_trivial(
    memory: Memory, asked: str, answered: str
) -> None:
    memory.observe("task", [asked, {"role": "assistant", "content": answered}], scope=ANN)
    assert statuses(memory.end("task", scope=ANN)) == ["stored"]


def test_L10_a_note_that_was_folded_keeps_its_role(memory: Memory) -> None:
    for number in range(16):
        memory.note("launch", f"point {number}", role="chief", scope="org:acme")
    memory.maintain()
    text = memory.context(session="launch", scope="org:acme", query="", tokens=4000).text
    assert "chief: point 0; point 1" in text
    assert "said: point" not in text


def test_L6_a_short_process_learns_before_it_ends(tmp_path: Path) -> None:
    program = (
        "from standfast import Memory\n"
        f"memory = Memory.open({str(tmp_path / 'memory.db')!r}, embedder='hashing')\n"
        "memory.observe('chat', ['I live in Hamburg.'], scope='user:ann')\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
    with Memory.open(str(tmp_path / "memory.db"), embedder="hashing", background=False) as memory:
        facts = [one for one in memory.records(scope=ANN).items if one.kind == "semantic"]
    assert [one.text for one in facts] == ["The user lives in Hamburg."]


def test_L6_a_process_that_only_reads_learns_what_it_reads_and_no_more(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    with Memory.open(path, embedder="hashing", background=False) as memory:
        memory.observe("chat", ["I live in Hamburg."], scope=ANN)
        memory.observe("chat", ["I live in Bremen."], scope="user:bob")
    with Memory.open(path, embedder="hashing") as memory:
        memory.recall("Bremen", scope="user:bob")
    with Memory.open(path, embedder="hashing", background=False) as memory:
        assert [one for one in memory.records(scope=ANN).items if one.kind == "semantic"] == []
        (fact,) = memory.records(scope="user:bob", kinds=["semantic"]).items
    assert "Bremen" in fact.text


def test_X3_a_memory_that_is_forgotten_ends_its_thread() -> None:
    before = set(threading.enumerate())
    memory = Memory.open("dict:", embedder="hashing")
    (thread,) = [one for one in set(threading.enumerate()) - before if one.name == "standfast"]
    del memory
    gc.collect()
    until = time.monotonic() + 20
    while thread.is_alive() and time.monotonic() < until:
        time.sleep(0.01)
    assert not thread.is_alive()


@pytest.mark.parametrize(
    "said_",
    [
        "I'm allergic to hazelnuts.",
        "I'm vegan.",
        "I use a wheelchair.",
        "I take insulin twice a day.",
        "Never call me before nine.",
    ],
)
def test_L14_what_must_not_be_overlooked_is_in_every_packet(memory: Memory, said_: str) -> None:
    memory.observe("chat", [said_], scope=ANN)
    memory.maintain()
    packet = memory.context(query="Book a table for our anniversary", scope=ANN)
    assert said_.split()[-1].strip(".") in packet.stable_text


def test_L14_decisions_architecture_and_requirements_are_core_under_lota(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory(profile="lota")
    lines = [
        "We decided to use Postgres for orders.",
        "Our architecture is a modular monolith with an event bus.",
        "Confirmed requirement: exports must be in English.",
        "We agreed to ship every week.",
    ]
    memory.observe("chat", lines, scope="org:acme")
    memory.maintain()
    facts = [one for one in memory.records(scope="org:acme").items if one.kind == "semantic"]
    assert len(facts) == len(lines)
    assert {one.durability for one in facts} == {"core"}
    assert {one.status for one in facts} == {"active"}


@pytest.fixture
def femi(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = ScriptedJudge({("Lagos", "Accra"): ("contradicts", 0.95)})
    monkeypatch.setattr("standfast.wiring._judge", lambda _: (judge, ""))


@pytest.mark.usefixtures("femi")
def test_K3_a_change_that_cannot_be_placed_disputes_what_it_is_likely_about(
    memory: Memory, clock: MovableClock
) -> None:
    memory.observe("one", ["My brother Femi is in Lagos."], scope=ANN)
    memory.maintain()
    clock.forward(days=31)
    memory.observe("two", ["Femi's been in Accra since January."], scope=ANN)
    memory.maintain()
    (item,) = memory.review(scope=ANN)
    texts = {one.text for one in (item.record, *item.touches) if one}
    assert any("Lagos" in text for text in texts)
    assert any("Accra" in text for text in texts)


def test_L13_the_search_functions_exist_by_their_names(open_memory: OpenMemory) -> None:
    from standfast.memory.lota import MemoryService

    memory = open_memory(profile="lota")
    memory.remember("Deploys go out on Tuesdays", scope="org:acme", durability="core")
    memory.remember("The cto reviews deploys", scope="org:acme:agent:cto")
    service = MemoryService(memory)
    ours = service.searchOrganizationMemories("acme", "deploys")
    assert [hit.record.text for hit in ours.hits] == ["Deploys go out on Tuesdays"]
    both = {"Deploys go out on Tuesdays", "The cto reviews deploys"}
    for found in (
        service.searchAgentMemories("acme", "cto", "deploys"),
        service.searchAllMemoriesBatched(
            orgId="acme", agentName="cto", query="deploys", fastMode=True
        ),
    ):
        assert {hit.record.text for hit in found.hits} == both
    assert "Tuesdays" in service.getTopMemories("acme").stable_text
