"""forget: gone for good, with what was derived, and it does not come back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from standfast import Invalid, Memory
from tests.requirements.asking import statuses, stored, texts
from tests.requirements.conftest import MovableClock, OpenMemory

CANARY = "xylophone-quokka"


def bytes_of(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(folder.iterdir()) if file.is_file())


def test_X10_erase_by_id_takes_everything_derived_along(memory: Memory) -> None:
    memory.observe(
        "chat", [{"role": "user", "content": "My cat is called Tom", "id": "m1"}], scope="user:ann"
    )
    (turn,) = memory.records(scope="user:ann").items
    assert "Tom" in memory.recall("cat", scope="user:ann", kinds=["semantic"]).hits[0].record.text
    receipt = memory.forget(ids=[turn.id])
    assert [item.status for item in receipt.items] == ["erased", "erased"]  # what it taught, too
    assert receipt.items[0].id == "m1"
    assert texts(memory, "cat Tom", scope="user:ann") == []


def test_X10_a_superseded_record_takes_its_closed_copy_along(memory: Memory) -> None:
    old = stored(memory, "Ann lives in Berlin", scope="user:ann")
    memory.remember(
        "Ann lives in Hamburg", scope="user:ann", supersedes=old, valid_from="2026-01-01T00:00Z"
    )
    assert len(memory.forget(ids=[old]).items) == 2
    assert texts(memory, "where", scope="user:ann", as_of="2025-01-01T00:00Z") == []


@pytest.mark.parametrize(
    ("selector", "left"),
    [
        ({"session": "s1", "scope": "user:ann"}, {"by bob", "other session", "bobs own"}),
        ({"scope": "user:ann"}, {"bobs own"}),
        ({"author": "ann"}, {"by bob", "other session", "bobs own"}),
        ({"author": "ann", "scope": "user:bob"}, {"by ann", "by bob", "other session", "bobs own"}),
        ({"source": "tool"}, {"by ann", "by bob", "bobs own"}),
        ({"until": "2026-02-01T00:00Z"}, {"by bob", "other session", "bobs own"}),
        ({"since": "2026-02-01T00:00Z", "scope": "user:ann"}, {"by ann", "bobs own"}),
    ],
    ids=["session", "scope", "author", "author elsewhere", "source", "until", "since"],
)
def test_X10_erase_by_session_scope_author_source_and_time(
    memory: Memory, selector: dict[str, Any], left: set[str]
) -> None:
    say = {"role": "user"}
    memory.observe(
        "s1",
        [{**say, "content": "by ann", "author": "ann", "at": "2026-01-05T00:00Z"}],
        scope="user:ann",
    )
    memory.observe(
        "s2",
        [{**say, "content": "by bob", "author": "bob", "at": "2026-03-05T00:00Z"}],
        scope="user:ann",
    )
    memory.observe(
        "s3",
        [{"role": "tool", "content": "other session", "at": "2026-03-06T00:00Z"}],
        scope="user:ann",
    )
    memory.observe("s1", [{**say, "content": "bobs own"}], scope="user:bob")
    memory.forget(**selector, several_authors=True)
    everything = set(texts(memory, "", limit=50))
    assert everything == left


def test_X10_descend_takes_the_scopes_below(memory: Memory) -> None:
    stored(memory, "company", scope="org:acme")
    stored(memory, "agent", scope="org:acme:agent:cto")
    memory.forget(scope="org:acme")
    assert texts(memory, "", scope="org:acme:agent:cto") == ["agent"]
    memory.forget(scope="org:acme", descend=True)
    assert texts(memory, "", scope="org:acme:agent:cto") == []


def test_X10_one_message_of_a_session_can_be_named(memory: Memory) -> None:
    memory.observe(
        "chat",
        [{"role": "user", "content": f"line {n}", "id": f"m{n}"} for n in range(3)],
        scope="user:ann",
    )
    receipt = memory.forget(session="chat", scope="user:ann", ids=["m1", "m9"])
    assert [(item.id, item.status) for item in receipt.items] == [
        ("m9", "skipped"),
        ("m1", "erased"),
    ]
    assert set(texts(memory, "line", scope="user:ann")) == {"line 0", "line 2"}


@pytest.mark.parametrize("verb", ["forget", "revoke"])
def test_X10_ids_are_narrowed_by_the_other_selectors(memory: Memory, verb: str) -> None:
    """Whoever names a scope reaches that scope, even if an id of another one slips in."""
    act = getattr(memory, verb)
    mine = stored(memory, "Ann likes tea", scope="user:ann")
    below = stored(memory, "Ann builds a shed", scope="user:ann:project:shed")
    theirs = stored(memory, "Bob likes tea", scope="user:bob")
    for narrow in (
        {"scope": "user:ann"},
        {"scope": "user:ann:project:shed", "descend": True},
        {"author": "nobody"},
        {"source": "web"},
        {"until": "2020-01-01T00:00:00Z"},
    ):
        receipt = act(ids=[theirs], **narrow)
        assert [item.reason for item in receipt.items] == ["there is no such record"]
    assert statuses(act(ids=[below], scope="user:ann")) == ["skipped"]
    assert {record.status for record in memory.get([mine, below, theirs])} == {"active"}
    act(ids=[mine, theirs], scope="user:ann")
    act(ids=[below], scope="user:ann", descend=True)
    assert [r.id for r in memory.get([mine, below, theirs]) if r.status == "active"] == [theirs]


def test_X10_a_dry_run_changes_nothing_and_shows_the_same(memory: Memory) -> None:
    id_ = stored(memory, "Deploys go out on Tuesdays", scope="org:acme")
    plan = memory.forget(ids=[id_], dry_run=True)
    assert [(item.id, item.status) for item in plan.items] == [(id_, "pending")]
    assert plan.change == ""
    assert len(memory.get([id_])) == 1
    assert [item.id for item in memory.forget(ids=[id_]).items] == [id_]


def test_X10_surviving_copies_are_named_and_erased_on_request(memory: Memory) -> None:
    first = stored(memory, "The launch is in May", scope="org:acme")
    copy = stored(memory, "The launch is in May", scope="org:acme:agent:cto")
    receipt = memory.forget(ids=[copy])
    assert receipt.survivors == (first,)
    assert any("still holding" in note for note in receipt.notes)
    again = stored(memory, "The launch is in May", scope="org:acme:agent:cto")
    whole = memory.forget(ids=[again], sources=True)
    assert whole.survivors == ()
    assert memory.get([first]) == ()


def test_X10_no_byte_of_the_text_is_left(open_memory: OpenMemory, tmp_path: Path) -> None:
    memory = open_memory()
    keep = stored(memory, "something harmless stays", scope="user:ann")
    ids = [
        stored(
            memory,
            f"{CANARY} number {n} " + "padding " * 50,
            scope="user:ann",
            tags=[f"{CANARY}-tag"],
            data={"note": CANARY},
        )
        for n in range(40)
    ]
    memory.remember(f"{CANARY} number 1 revised", scope="user:ann", supersedes=ids[1])
    memory.observe(
        "chat",
        [{"role": "user", "content": [{"type": "text", "text": f"{CANARY} said"}], "id": "m1"}],
        scope="user:ann",
    )
    found = [hit.record.id for hit in memory.recall(CANARY, scope="user:ann", limit=100).hits]
    receipt = memory.forget(ids=[*found, ids[1]])
    assert set(statuses(receipt)) == {"erased"}
    assert texts(memory, CANARY, scope="user:ann") == []
    assert CANARY.encode() not in bytes_of(tmp_path)
    assert CANARY[:8].encode() not in bytes_of(tmp_path)
    assert memory.get([keep])[0].text == "something harmless stays"


def test_X10_a_forgotten_session_takes_its_notes_summary_and_state_along(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    memory = open_memory(profile="otto")
    memory.observe("chat", [f"{CANARY} line {n}" for n in range(14)], scope="user:ann")
    memory.note("chat", f"{CANARY} noted", role="chief", scope="user:ann")
    memory.set_state("chat", {"doing": CANARY}, scope="user:ann")
    memory.set_state("chat", {"doing": f"{CANARY} still"}, scope="user:ann")
    memory.end("chat", scope="user:ann", outcome=f"{CANARY} done")
    memory.maintain()
    assert CANARY in memory.context(session="chat", scope="user:ann").text
    memory.forget(session="chat", scope="user:ann")
    packet = memory.context(session="chat", scope="user:ann")
    assert CANARY not in packet.text + str(packet.messages)
    assert CANARY.encode() not in bytes_of(tmp_path)


def test_X10_a_forgotten_scope_takes_its_sessions_along(memory: Memory) -> None:
    """Names and channels of sessions stayed in every list."""
    for scope in ("user:ann", "user:ann:project:x", "user:bob"):
        memory.observe(f"{CANARY} of {scope}", ["hello there"], scope=scope)
    memory.forget(scope="user:ann")
    below = [one.id for one in memory.sessions(scope="user:ann", descend=True).items]
    assert below == [f"{CANARY} of user:ann:project:x"]
    memory.forget(scope="user:ann", descend=True)
    assert list(memory.sessions(scope="user:ann", descend=True).items) == []
    assert len(memory.sessions(scope="user:bob").items) == 1
    again = memory.observe(f"{CANARY} of user:ann", ["good morning"], scope="user:ann")
    assert statuses(again) == ["stored"]
    assert len(memory.messages(f"{CANARY} of user:ann", scope="user:ann").items) == 1


def test_X10_no_name_of_a_forgotten_scopes_sessions_is_left_in_any_byte(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    """Nor those of its channels and messages, though they stood in the journal, in the books of
    upkeep and in the keys of indexes."""
    memory = open_memory(profile="agtos")
    for scope in ("user:bob", "user:ann"):
        whose = "bobs" if scope == "user:bob" else "anns"
        name = f"{whose}-talk-about-roses"
        said = [
            {"role": "user", "content": f"Tea {n} is green", "id": f"{whose}-mail-{n}"}
            for n in range(25)
        ]
        memory.observe(name, said, scope=scope, channel=f"{whose}-channel")
        memory.set_state(name, {"step": 1}, scope=scope)
        memory.note(name, "a note", role="chief", scope=scope)
        memory.observe(name, [{"role": "user", "content": "later"}], scope=scope, pending=True)
        memory.confirm(memory.context(session=name, scope=scope))
        memory.end(name, scope=scope)
        memory.maintain()
    receipt = memory.forget(scope="user:ann", descend=True)
    assert not any("unused parts" in note for note in receipt.notes)
    left = bytes_of(tmp_path)
    for trace in (b"anns-talk", b"anns-mail", b"anns-channel"):
        assert trace not in left
    for kept in (b"bobs-talk", b"bobs-mail", b"bobs-channel"):
        assert not left or kept in left  # some engines keep nothing in files of ours
    told = str(memory.changes(scope="user:ann").items)
    assert "anns-" not in told
    assert "forgotten" in told


def test_X10_a_replayed_message_does_not_bring_it_back(memory: Memory, clock: MovableClock) -> None:
    message = {"role": "user", "content": "My PIN hint is the dog", "id": "m1"}
    memory.observe("chat", [message], scope="user:ann")
    memory.forget(session="chat", scope="user:ann")
    replay = memory.observe("chat", [message], scope="user:ann")
    assert (replay.items[0].status, replay.items[0].reason) == ("skipped", "forgotten before")
    old_copy = {"role": "user", "content": "My PIN hint is the dog", "at": "2026-01-01T00:00Z"}
    assert statuses(memory.observe("import", [old_copy], scope="user:ann")) == ["skipped"]
    clock.forward(hours=1)
    told_again = memory.observe("chat", ["My PIN hint is the dog"], scope="user:ann")
    assert statuses(told_again) == ["stored"]


def test_X10_an_explicit_remember_is_not_stopped_by_a_tombstone(memory: Memory) -> None:
    id_ = stored(memory, "Ann likes tea", scope="user:ann")
    memory.forget(ids=[id_])
    assert statuses(memory.remember("Ann likes tea", scope="user:ann")) == ["stored"]


def test_X10_sessions_of_the_same_name_in_one_root_are_kept_apart(memory: Memory) -> None:
    for user in ("ann", "bob"):
        memory.observe(
            "chat",
            [{"role": "user", "content": f"I am {user}", "id": "m1"}],
            scope=f"org:acme:user:{user}",
        )
    memory.forget(session="chat", scope="org:acme:user:ann")
    assert texts(memory, "", scope="org:acme", descend=True) == ["I am bob"]


def test_a_missing_id_is_said_to_be_missing(memory: Memory) -> None:
    receipt = memory.forget(ids=["no-such"])
    assert [(i.status, i.reason) for i in receipt.items] == [("skipped", "there is no such record")]


@pytest.mark.not_served("the server words what is misshapen in its own way")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "say what to forget"),
        ({"ids": "abc"}, "must be a list"),
        ({"scope": "bad"}, "kind:id"),
        ({"source": "rumour"}, "one of"),
        ({"since": "never"}, "ISO 8601"),
    ],
)
def test_bad_selections_are_refused(memory: Memory, options: dict[str, Any], said: str) -> None:
    with pytest.raises(Invalid, match=said):
        memory.forget(**options)
