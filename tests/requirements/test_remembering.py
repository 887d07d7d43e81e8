"""remember: what is kept, merged, superseded and refused."""

from __future__ import annotations

import pytest

from standfast import Invalid, Memory, NotFound
from tests.requirements.asking import statuses, stored, texts


def test_O1_entries_are_stored_with_a_vector_and_found_by_meaning(memory: Memory) -> None:
    stored(memory, "The production database runs on PostgreSQL", scope="org:acme")
    stored(memory, "Lunch is at noon", scope="org:acme")
    answer = memory.recall("production databases", scope="org:acme")
    assert answer.hits[0].record.text.startswith("The production database")
    assert answer.hits[0].similarity is not None
    assert "vector (hashing/384)" in answer.notes[0]


def test_O3_a_saved_entry_keeps_its_tags(memory: Memory) -> None:
    id_ = stored(memory, "We chose Postgres", scope="org:acme", tags=["decision", "database"])
    assert memory.get([id_])[0].tags == ("database", "decision")


def test_M3_facts_carry_category_confidence_and_source(memory: Memory) -> None:
    id_ = stored(
        memory,
        "The user prefers dark mode",
        scope="user:ann",
        type="preference",
        confidence=0.8,
        source="tool",
    )
    record = memory.get([id_])[0]
    assert (record.type, record.confidence, record.source) == ("preference", 0.8, "tool")
    assert record.trust < memory.get([stored(memory, "Tea", scope="user:ann")])[0].trust


def test_M4_a_near_duplicate_is_merged_into_what_is_known(memory: Memory) -> None:
    text = "The team meeting takes place every week in the large conference room downstairs"
    first = stored(memory, text, scope="org:acme", tags=["a"])
    again = memory.remember(
        "The team meeting takes place every week in a large conference room, now downstairs",
        scope="org:acme",
        tags=["b"],
        importance=0.9,
    )
    assert again.items[0].status == "merged"
    assert again.items[0].id == first
    record = memory.get([first])[0]
    assert (record.tags, record.importance, record.text) == (("a", "b"), 0.9, text)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            "The nightly backup of the main customer database server starts at 3 in the morning",
            "The nightly backup of the main customer database server starts at 4 in the morning",
        ),
        (
            "Ann really likes the strong black coffee from the small shop nearby",
            "Ann really does not like the strong black coffee from the small shop nearby",
        ),
        ("Ann Miller works together with Bob Smith", "Bob Smith works together with Ann Miller"),
    ],
)
def test_M4_numbers_negations_and_names_are_never_merged(
    memory: Memory, first: str, second: str
) -> None:
    stored(memory, first, scope="org:acme")
    receipt = memory.remember(second, scope="org:acme")
    assert receipt.items[0].status in ("stored", "disputed")
    assert sorted(texts(memory, first, scope="org:acme")) == sorted((first, second))


def test_L2_the_same_text_is_kept_once_among_live_records(memory: Memory) -> None:
    first = stored(memory, "Ann lives in Berlin", scope="user:ann")
    again = memory.remember("  ann lives in BERLIN. ", scope="user:ann")
    assert (again.items[0].status, again.items[0].id) == ("merged", first)
    second = memory.remember("Ann lives in Hamburg", scope="user:ann", supersedes=first)
    third = memory.remember("Ann lives in Berlin", scope="user:ann", supersedes=second.items[0].id)
    assert statuses(second) == statuses(third) == ["stored"]
    assert len({first, second.items[0].id, third.items[0].id}) == 3
    assert texts(memory, "where does Ann live", scope="user:ann") == ["Ann lives in Berlin"]


def test_L2_a_record_carries_everything_the_specification_names(memory: Memory) -> None:
    id_ = stored(memory, "Acme sells anvils", scope="org:acme", importance=0.7)
    record = memory.get([id_])[0]
    assert record.hash
    assert (record.scope, record.type, record.durability) == ("org:acme", "fact", "standard")
    assert record.importance == 0.7


@pytest.mark.parametrize(
    "type_",
    ["fact", "preference", "interaction", "summary", "user_request", "entity", "interest"],
)
def test_L3_every_type_of_the_specification_can_be_kept(memory: Memory, type_: str) -> None:
    id_ = stored(memory, f"something of type {type_}", scope="org:acme", type=type_)
    assert memory.get([id_])[0].type == type_
    found = memory.recall("something", scope="org:acme", types=[type_]).hits
    assert [hit.record.id for hit in found] == [id_]


def test_L5_a_copy_in_an_agents_scope_shares_its_origin_and_is_shown_once(memory: Memory) -> None:
    stored(memory, "The launch is in May", scope="org:acme")
    copy = memory.remember("The launch is in May", scope="org:acme:agent:cto")
    assert copy.items[0].status == "stored"
    assert "copy" in copy.items[0].reason
    assert texts(memory, "launch", scope="org:acme:agent:cto") == ["The launch is in May"]


def test_X3_every_write_says_what_became_of_it(memory: Memory) -> None:
    receipt = memory.remember("Deploys go out on Tuesdays", scope="org:acme")
    assert statuses(receipt) == ["stored"]
    assert receipt.change
    merged = memory.remember("Deploys go out on Tuesdays", scope="org:acme")
    assert (merged.items[0].status, merged.items[0].reason) == ("merged", "the same text is known")
    empty = memory.recall("zebra crossing", scope="org:acme")
    assert empty.hits == ()
    assert empty.notes


def test_X11_secrets_are_redacted_before_the_first_write(memory: Memory) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    receipt = memory.remember(f"The deploy token is {secret}", scope="org:acme")
    record = memory.get([receipt.items[0].id])[0]
    assert secret not in record.text
    assert "[redacted:" in record.text
    assert "redacted" in receipt.items[0].reason
    memory.observe("chat", [{"role": "user", "content": f"use {secret} please"}], scope="org:acme")
    assert all(secret not in text for text in texts(memory, "deploy token use", scope="org:acme"))


def test_a_correction_of_a_foreign_or_missing_record_is_not_found(memory: Memory) -> None:
    with pytest.raises(NotFound):
        memory.remember("new", scope="user:ann", supersedes="no-such-id")
    other = stored(memory, "something of Bob's", scope="user:bob")
    with pytest.raises(NotFound):
        memory.remember("new", scope="user:ann", supersedes=other)


@pytest.mark.not_served("the server words what is misshapen in its own way")
@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("", {}, "empty"),
        ("   \n ", {}, "empty"),
        (42, {}, "must be text"),
        ("x", {"scope": "ann"}, "kind:id"),
        ("x", {"scope": "User:ann"}, "kind"),
        ("x", {"scope": "user:"}, "empty id"),
        ("x", {"scope": "user:a\u200bb"}, "invisible"),
        ("x", {"scope": "system:store"}, "reserved"),
        ("x", {"kind": "vague"}, "one of"),
        ("x", {"type": "turn"}, "observe"),
        ("x", {"tags": "deploy"}, "must be a list"),
        ("x", {"tags": [""]}, "not empty"),
        ("x", {"importance": 2}, "from 0 to 1"),
        ("x", {"confidence": float("nan")}, "from 0 to 1"),
        ("x", {"durability": "eternal"}, "one of"),
        ("x", {"valid_from": "yesterday"}, "ISO 8601"),
        ("x", {"valid_from": "2026-02-01T00:00Z", "valid_to": "2026-01-01T00:00Z"}, "not after"),
        ("x", {"data": {"when": object()}}, "JSON"),
        ("x", {"source": "rumour"}, "one of"),
        ("y" * 10_000_000, {}, "split it"),
    ],
)
def test_bad_input_is_refused_with_the_remedy_and_nothing_is_written(
    memory: Memory, text: str, options: dict[str, object], said: str
) -> None:
    with pytest.raises(Invalid, match=said):
        memory.remember(text, **{"scope": "user:ann", **options})  # type: ignore[arg-type]
    assert memory.recall("", scope="user:ann").hits == ()


@pytest.mark.parametrize(
    "text",
    [
        "👩‍🚀 flew to Mars",
        "مرحبا بالعالم",
        "a" * 1_000_000,
        "e\u0301clair",
        "\u202eevil",
        "line\nbreak\ttab",
    ],
    ids=["emoji", "right to left", "one megabyte", "combining", "direction mark", "white space"],
)
def test_odd_text_comes_back_as_it_went_in(memory: Memory, text: str) -> None:
    id_ = stored(memory, text, scope="user:ann")
    assert memory.get([id_])[0].text == text


@pytest.mark.parametrize("broken", ["nul \x00 here", "half a pair \ud83d here"])
def test_unstorable_characters_are_replaced_and_the_receipt_says_so(
    memory: Memory, broken: str
) -> None:
    receipt = memory.remember(broken, scope="user:ann")
    assert "U+FFFD" in receipt.items[0].reason
    assert "\ufffd" in memory.get([receipt.items[0].id])[0].text
