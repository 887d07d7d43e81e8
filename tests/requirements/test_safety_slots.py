"""Safety slots: an allergy, a medicine, a dose, a diagnosis, an access need or an emergency contact
is ended by the person it is about, in a plain statement of their own; all else needs review."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from standfast import AsyncMemory, Invalid, Memory, Record
from standfast.access import keys
from standfast.text.safety_slots import denies_slot, safety_slots, slot_words
from standfast.types import ALL_RIGHTS
from standfast.wiring.judge import boxed_judge
from tests.interfaces.mcp_world import agent_of
from tests.requirements.conftest import MovableClock

ANN, ORG = "user:ann", "org:farm"
LANGUAGES = {"en", "de", "fr", "es", "it", "pt", "nl", "pl", "tr", "ru", "zh", "ja", "ko"}
SLOTS = {"allergy", "medicine", "dose", "diagnosis", "access_need", "emergency_contact"}
EVERY = ("active", "disputed", "superseded", "archived", "quarantined")

# Of each slot: what Ann says of herself, how she ends it, and how somebody else would.
DENIALS = {
    "allergy": (
        "I am allergic to nuts.",
        "I'm no longer allergic to nuts.",
        "Ann is not allergic to nuts.",
    ),
    "diagnosis": ("I have diabetes.", "I don't have diabetes.", "Ann does not have diabetes."),
    "medicine": (
        "I take warfarin.",
        "I don't take warfarin any more.",
        "Ann does not take warfarin any more.",
    ),
    "access_need": (
        "I use a wheelchair.",
        "I don't use a wheelchair any more.",
        "Ann does not use a wheelchair any more.",
    ),
}


@pytest.fixture(autouse=True)
def _network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("standfast.wiring._judge", lambda _: (boxed_judge(), ""))


@pytest.fixture
def memory(clock: MovableClock) -> Iterator[Memory]:
    with Memory.open("dict:", embedder="hashing", background=False, clock=clock) as opened:
        yield opened


def say(
    memory: Memory, text: str, *, by: str = "Ann", scope: str = ANN, role: str = "user"
) -> None:
    memory.observe("chat", [{"role": role, "content": text}], scope=scope, author=by)
    memory.maintain()


def facts(memory: Memory, scope: str = ANN) -> list[Record]:
    page = memory.records(scope=scope, statuses=EVERY, kinds=["semantic"], limit=100)
    return [one for one in page.items if one.type != "turn"]


def with_status(memory: Memory, status: str, scope: str = ANN) -> list[str]:
    return [one.text for one in facts(memory, scope) if one.status == status]


def stands_first(memory: Memory, asserted: str, scope: str = ANN) -> bool:
    """Whether a statement is active and opens every context, before whatever speaks against it."""
    text = memory.context(query=f"What about: {asserted}", scope=scope).text
    opening = text.partition("</pre-seeded-memories>")[0]
    return asserted in with_status(memory, "active", scope) and asserted in opening


# The data file


def test_X6_the_words_of_each_slot_are_there_in_thirteen_languages() -> None:
    assert set(slot_words()) == SLOTS
    for slot, languages in slot_words().items():
        assert set(languages) == LANGUAGES, slot
        for language, words in languages.items():
            for word in words:
                plain = word.replace("*", "")
                for text in (plain, plain.upper(), f"abc {plain}."):
                    assert slot in safety_slots(text), (slot, language, word)


@pytest.mark.parametrize(
    "text",
    [
        "Ann lives in Berlin.",
        "The deadline moved to May.",
        "Ich wohne in Ulm.",
        "Ann keeps her sourdough starter in a sordid jar.",
        "私は東京に住んでいます",
        "",
    ],
)
def test_X6_ordinary_statements_are_of_no_slot(text: str) -> None:
    assert safety_slots(text) == frozenset()


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("Ann is not allergic to nuts", True),
        ("Ich nehme kein Insulin mehr", True),
        ("Ann must not take penicillin", False),
        ("Never give Ann penicillin", False),
        ("Ann can't eat nuts, she is allergic", False),
        ("Ann takes insulin", False),
    ],
)
def test_X6_what_is_forbidden_is_no_denial(text: str, denied: bool) -> None:
    assert denies_slot(text) == denied


# Denied by the person it is about


@pytest.mark.parametrize("slot", DENIALS)
@pytest.mark.parametrize("name", ["Ann", ""])
def test_X6_the_person_it_is_about_ends_it(
    memory: Memory, clock: MovableClock, slot: str, name: str
) -> None:
    asserted, denied, _ = DENIALS[slot]
    say(memory, asserted, by=name)
    before = with_status(memory, "active")
    clock.forward(days=30)
    say(memory, denied, by=name)
    assert set(before) <= set(with_status(memory, "superseded"))
    assert with_status(memory, "disputed") == []
    [now] = [one for one in facts(memory) if one.status == "active"]
    assert now.durability != "core"
    text = memory.context(query=asserted, scope=ANN).text
    who = '"Ann"' if name else "the user"
    said = f"{slot.replace('_', ' ')}: ended on {clock.now:%Y-%m-%d}, said by {who}"
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    assert lines, text
    assert all(said in line for line in lines), text


def test_X6_what_another_had_saved_is_ended_by_the_person_it_is_about(
    memory: Memory, clock: MovableClock
) -> None:
    memory.remember("Ann is allergic to nuts", scope=ANN)
    clock.forward(days=1)
    say(memory, "I'm not allergic to nuts any more.")
    assert with_status(memory, "superseded").count("Ann is allergic to nuts") >= 1
    assert "Ann is allergic to nuts" not in with_status(memory, "active")


def test_X6_nobody_writes_that_a_slot_has_ended(memory: Memory) -> None:
    memory.remember("Ann is allergic to nuts", scope=ANN)
    memory.remember("Ann likes nuts, no allergy there", scope=ANN, data={"ends": ["allergy"]})
    assert "ended on" not in memory.context(query="allergy nuts", scope=ANN).text


@pytest.mark.parametrize("hedged", ["Maybe I'm not allergic to nuts.", "Am I not allergic to nuts?",
                                    "I think I'm not allergic to nuts."])  # fmt: skip
def test_X6_what_is_not_plain_ends_nothing(memory: Memory, hedged: str) -> None:
    say(memory, "I am allergic to nuts.")
    say(memory, hedged)
    assert stands_first(memory, "Ann is allergic to nuts.")


def test_X6_a_parent_does_not_end_it_for_the_child(memory: Memory) -> None:
    say(memory, "My son is allergic to peanuts.")
    say(memory, "My son is not allergic to peanuts.")
    assert stands_first(memory, "Ann's son is allergic to peanuts.")


# Denied by anybody else


def test_X6_remember_does_not_replace_an_allergy(memory: Memory) -> None:
    memory.remember("Ann is allergic to nuts", scope=ANN)
    [denied] = memory.remember("Ann is not allergic to nuts", scope=ANN).items
    assert denied.status == "disputed"
    [kept] = [one for one in facts(memory) if one.id == denied.id]
    assert kept.durability != "core"
    assert stands_first(memory, "Ann is allergic to nuts")
    assert len(memory.review(scope=ANN)) == 1


def test_X6_a_person_who_reviews_it_decides(memory: Memory) -> None:
    memory.remember("Ann is allergic to nuts", scope=ANN)
    [denied] = memory.remember("Ann is not allergic to nuts", scope=ANN).items
    memory.resolve(denied.id, "approve")
    assert "Ann is allergic to nuts" not in with_status(memory, "active")
    assert with_status(memory, "active") == ["Ann is not allergic to nuts"]


def test_X6_who_says_that_there_is_an_allergy_after_all_is_believed(
    memory: Memory, clock: MovableClock
) -> None:
    memory.remember("Ann is not allergic to nuts", scope=ANN)
    clock.forward(days=1)
    memory.remember("Ann is allergic to nuts", scope=ANN)
    assert with_status(memory, "active") == ["Ann is allergic to nuts"]


@pytest.mark.parametrize("slot", DENIALS)
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_X6_what_somebody_else_says_needs_review(memory: Memory, slot: str, role: str) -> None:
    asserted, _, denied = DENIALS[slot]
    say(memory, asserted, scope=ORG)
    [first] = with_status(memory, "active", ORG)
    say(memory, denied, by="Bob", scope=ORG, role=role)
    assert stands_first(memory, first, ORG)
    if role == "user":
        assert len(with_status(memory, "disputed", ORG)) == 1
        assert len(memory.review(scope=ORG)) == 1


@pytest.mark.parametrize(
    ("asserted", "changed"),
    [
        ("My emergency contact is Bob.", "Ann's emergency contact is Carl now."),
        ("My emergency contact is Bob.", "The emergency contact is Carl now."),
        ("I take warfarin every morning.", "Ann stopped taking warfarin."),
        ("I take 5 mg of warfarin daily.", "Ann takes 10 mg of warfarin daily now."),
    ],
)
@pytest.mark.parametrize("way", ["observed", "remembered"])
def test_X6_what_another_person_changes_needs_review(
    memory: Memory, asserted: str, changed: str, way: str
) -> None:
    say(memory, asserted, scope=ORG)
    [first] = with_status(memory, "active", ORG)
    if way == "observed":
        say(memory, changed, by="Ben", scope=ORG)
    else:
        memory.remember(changed, scope=ORG, author="Ben")
    assert with_status(memory, "active", ORG) == [first]
    assert len(with_status(memory, "disputed", ORG)) == 1
    assert stands_first(memory, first, ORG)


@pytest.mark.parametrize(
    "text",
    ["Ann is allergic to shellfish now.", "Ann stopped taking ibuprofen.", "I take warfarin now."],
)
def test_X6_what_another_person_says_of_something_else_stands_beside_it(
    memory: Memory, text: str
) -> None:
    say(memory, "I am allergic to nuts.", scope=ORG)
    say(memory, "I take warfarin.", scope=ORG)
    say(memory, text, by="Ben", scope=ORG)
    assert len(with_status(memory, "active", ORG)) == 3
    assert with_status(memory, "disputed", ORG) == []


def test_X6_a_person_changes_their_own_emergency_contact(
    memory: Memory, clock: MovableClock
) -> None:
    say(memory, "My emergency contact is Bob.", scope=ORG)
    clock.forward(days=1)
    say(memory, "My emergency contact is Carl now.", scope=ORG)
    [contact] = with_status(memory, "active", ORG)
    assert "Carl" in contact


def test_X6_who_may_end_one_of_two_puts_the_other_in_no_doubt(
    memory: Memory, clock: MovableClock
) -> None:
    say(memory, "My emergency contact is Bob.", scope=ORG)
    clock.forward(days=1)
    say(memory, "My brother's emergency contact is Dora now.", scope=ORG)
    clock.forward(days=1)
    say(memory, "My emergency contact is Carl now.", scope=ORG)
    active = with_status(memory, "active", ORG)
    assert sorted("Carl" in one or "Dora" in one for one in active) == [True, True]
    assert with_status(memory, "disputed", ORG) == []


def test_X6_what_another_said_in_the_same_words_is_carried_out_by_the_person(
    memory: Memory, clock: MovableClock
) -> None:
    say(memory, "I am allergic to nuts.", scope=ORG)
    clock.forward(days=1)
    say(memory, "Ann is not allergic to nuts.", by="Bob", scope=ORG)
    assert stands_first(memory, "Ann is allergic to nuts.", ORG)
    clock.forward(days=1)
    say(memory, "I'm not allergic to nuts.", scope=ORG)
    assert with_status(memory, "active", ORG) == ["Ann is not allergic to nuts."]
    assert with_status(memory, "disputed", ORG) == []
    assert 'said by "Ann"' in memory.context(query="nuts", scope=ORG).text


@pytest.mark.parametrize("way", ["supersedes", "key", "edit", "relate", "dispute"])
def test_X6_no_other_verb_ends_it(memory: Memory, way: str) -> None:
    [kept] = memory.remember("Ann is allergic to nuts", scope=ANN, key="allergy").items
    denial = "Ann is not allergic to nuts"
    for _ in range(2):  # the second time the denial waits for review already
        if way == "supersedes":
            memory.remember(denial, scope=ANN, supersedes=kept.id)
        elif way == "key":
            memory.remember(denial, scope=ANN, key="allergy")
            memory.remember("Ann has no allergy", scope=ANN, key="allergy")
        elif way == "edit":
            memory.edit(kept.id, denial)
        elif way == "dispute":
            memory.dispute(kept.id, text=denial)
        else:
            [other] = memory.remember("Ann was tested for an allergy", scope=ANN).items
            with pytest.raises(Invalid, match="safety statement"):
                memory.relate(other.id, "supersedes", kept.id)
    assert stands_first(memory, "Ann is allergic to nuts")
    assert all("not" not in text for text in with_status(memory, "active"))
    if way != "relate":
        assert memory.review(scope=ANN)


def test_X6_a_dose_that_a_program_changes_needs_review(memory: Memory) -> None:
    [first] = memory.remember("Ann takes 5 mg of warfarin", scope=ANN).items
    memory.edit(first.id, "Ann takes 50 mg of warfarin")
    assert with_status(memory, "active") == ["Ann takes 5 mg of warfarin"]
    [waits] = [one for one in facts(memory) if one.status == "disputed"]
    memory.resolve(waits.id, "approve")
    assert with_status(memory, "active") == ["Ann takes 50 mg of warfarin"]


def test_X6_what_is_restored_stands_before_its_denial(memory: Memory, clock: MovableClock) -> None:
    [kept] = memory.remember("Ann is allergic to nuts", scope=ANN).items
    gone = memory.archive([kept.id])
    clock.forward(days=1)
    memory.remember("Ann is not allergic to nuts", scope=ANN)
    assert with_status(memory, "active") == ["Ann is not allergic to nuts"]
    memory.undo(gone.change)
    assert stands_first(memory, "Ann is allergic to nuts")
    assert with_status(memory, "disputed") == ["Ann is not allergic to nuts"]


def test_X6_consolidation_decides_nothing_against_it(memory: Memory, clock: MovableClock) -> None:
    memory.remember("Ann is allergic to nuts", scope=ANN)
    clock.forward(days=1)
    memory.remember("Ann is not allergic to nuts", scope=ANN)
    for _ in range(3):
        clock.forward(days=200)
        memory.maintain(force=True)
        assert stands_first(memory, "Ann is allergic to nuts")


def test_X6_more_words_end_nothing(memory: Memory) -> None:
    [first] = memory.remember("Ann is allergic to nuts", scope=ANN).items
    memory.edit(first.id, "Ann is allergic to nuts since 2019")
    assert with_status(memory, "active") == ["Ann is allergic to nuts since 2019"]


def test_X6_what_another_says_with_more_words_stands_beside_it(memory: Memory) -> None:
    say(memory, "I am allergic to nuts.", scope=ORG)
    say(memory, "Ann is allergic to nuts in cakes.", by="Bob", scope=ORG)
    assert stands_first(memory, "Ann is allergic to nuts.", ORG)


# Keys, over HTTP and MCP


async def _with_key(memory: AsyncMemory, holder: str, *scopes: str) -> AsyncMemory:
    _, secret = await keys.create_key(memory.engine, scopes=scopes, rights=ALL_RIGHTS - {"admin"},
                                      holder=holder)  # fmt: skip
    _, engine = await keys.with_key(memory.engine, secret)
    return AsyncMemory(engine)


async def _active(memory: AsyncMemory) -> list[str]:
    page = await memory.records(scope=ANN, statuses=("active",), kinds=("semantic",), limit=100)
    return [one.text for one in page.items if one.type != "turn"]


@pytest.mark.parametrize(
    ("holder", "scopes", "ended"),
    [
        ("person", [ANN], True),
        ("agent", [ANN], False),
        ("service", [ANN], False),
        ("person", [ANN, "user:bob"], False),
    ],
)
def test_X6_only_a_persons_own_key_ends_it(holder: str, scopes: list[str], ended: bool) -> None:
    """A key for more than one user's scope says nothing about who speaks."""

    async def scenario() -> None:
        async with await AsyncMemory.open("dict:", embedder="hashing", background=False) as memory:
            await memory.remember("I am allergic to nuts", scope=ANN)
            keyed = await _with_key(memory, holder, *scopes)
            await keyed.remember("I am not allergic to nuts any more", scope=ANN, source="user")
            assert ("I am allergic to nuts" in await _active(memory)) is not ended
            assert len(await memory.review(scope=ANN)) == (0 if ended else 1)

    asyncio.run(scenario())


@pytest.mark.parametrize("source", ["user", "assistant"])
@pytest.mark.parametrize("replaces", [False, True])
def test_X6_no_model_ends_it_over_mcp(source: str, replaces: bool) -> None:
    async def scenario() -> None:
        async with await AsyncMemory.open("dict:", embedder="hashing", background=False) as memory:
            [kept] = (await memory.remember("I take 5 mg of insulin", scope=ANN)).items
            person = await _with_key(memory, "person", ANN)
            more: dict[str, Any] = {"replaces": kept.id} if replaces else {}
            async with agent_of(person, ANN) as agent:
                await agent.saves("I do not take insulin any more", source=source, **more)
                if replaces:
                    await agent.saves("I take 50 mg of insulin", source=source, **more)
            assert await _active(memory) == ["I take 5 mg of insulin"]
            assert await memory.review(scope=ANN)

    asyncio.run(scenario())


# Whatever is said by whom, in whatever order

_STEPS = st.tuples(
    st.sampled_from(["observe", "remember", "supersede", "edit", "assistant"]),
    st.sampled_from(["Bob", "Eve", ""]),
    st.sampled_from(
        [
            *(denied for _, _, denied in DENIALS.values()),
            "Ann can eat nuts again.",
            "Ann stopped taking warfarin.",
            "Ann never had diabetes.",
            "Ann ist nicht mehr allergisch gegen Nüsse.",
            "Ann no es alérgica a las nueces.",
            "I'm not allergic to nuts.",
            "I moved to Faro last month.",
            "Ann lives in Porto now, not in Faro.",
            "Actually, no: she sold the wheelchair.",
        ]
    ),
)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=st.lists(_STEPS, min_size=1, max_size=5), slot=st.sampled_from(sorted(DENIALS)))
def test_X6_nobody_else_ends_it_whatever_they_do(steps: list[Any], slot: str) -> None:
    with Memory.open("dict:", embedder="hashing", background=False) as memory:
        say(memory, DENIALS[slot][0], scope=ORG)
        [first] = [one for one in facts(memory, ORG) if one.status == "active"]
        for way, who, text in steps:
            if way in ("observe", "assistant"):
                role = "user" if way == "observe" else "assistant"
                say(memory, text, by=who or "Cleo", scope=ORG, role=role)
            elif way == "remember":
                memory.remember(text, scope=ORG, author=who)
            elif way == "supersede":
                memory.remember(text, scope=ORG, author=who, supersedes=first.id)
            else:
                memory.edit(first.id, text)
            assert stands_first(memory, first.text, ORG), (way, who, text)


def test_X21_what_confirms_an_allergy_ends_nothing() -> None:
    """Without a denial no judgment ends an allergy, however sure it is."""
    with Memory.open("dict:", background=False) as memory:
        memory.observe("one", ["I'm allergic to peanuts."], scope="user:ann", author="Ann")
        memory.maintain()
        text = "I carry an EpiPen now because of the peanuts."
        memory.observe("two", [text], scope="user:ann", author="Ann")
        memory.maintain()
        found = memory.records(scope="user:ann", types=["fact"]).items
        peanuts = [one for one in found if "allergic" in one.text]
        assert [one.status for one in peanuts] == ["active"]
