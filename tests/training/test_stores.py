"""Stores of training data: put together, cleaned, written and read."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

from training import stores
from training.stores import TOPIC, Asked, Place, Session, Store, Turn


def session(*texts: str) -> Session:
    return Session([Turn("", text) for text in texts], [Asked(f"{texts[0]}?", [Place(0, 0)])])


def test_sessions_are_joined_up_to_a_size_and_places_follow() -> None:
    found = list(stores.joined("s", [session("a", "b"), session("c"), session("d", "e")], 3))
    assert [[turn.text for part in one.sessions for turn in part] for one in found] == [
        ["a", "b", "c"],
        ["d", "e"],
    ]
    assert [asked.evidence for asked in found[0].questions] == [[Place(0, 0)], [Place(1, 0)]]


def test_a_session_larger_than_the_size_is_kept_whole() -> None:
    (found,) = stores.joined("s", [session("a", "b", "c")], 1)
    assert found.turns == 3


def test_cleaning_drops_what_cannot_be_learned() -> None:
    store = Store(
        "s",
        [[Turn("Ida", "  I sail.\n"), Turn("Olaf", " ")]],
        [
            Asked("Who sails?", [Place(0, 0), Place(0, 0), Place(7, 7)]),
            Asked("Who said nothing?", [Place(0, 1)]),
            Asked(" ", [Place(0, 0)]),
        ],
    )
    found = stores.cleaned(store)
    assert found is not None
    assert found.sessions[0][0] == Turn("Ida", "I sail.")
    assert [(asked.text, asked.evidence) for asked in found.questions] == [
        ("Who sails?", [Place(0, 0)])
    ]
    assert stores.cleaned(Store("s", store.sessions, store.questions[1:])) is None


def test_what_is_written_is_read_again_and_is_the_same_bytes(tmp_path: Path) -> None:
    store = Store("s", [[Turn("Ida", "Ich segle 🌊")]], [Asked("Wer?", [Place(0, 0)], TOPIC)])
    for name in ("a", "b"):
        stores.write([store, store], tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert list(stores.read(tmp_path / "a")) == [store, store]
    assert b"\xf0\x9f\x8c\x8a" in gzip.decompress((tmp_path / "a").read_bytes())


def test_text_that_nobody_said_gets_two_voices_or_none() -> None:
    rng = random.Random(1)
    seen = {
        tuple(turn.speaker for turn in stores.voiced(["a", "b", "c"], ["X", "Y", "Z"], rng))
        for _ in range(50)
    }
    assert ("", "", "") in seen
    assert all(one[0] == one[2] != one[1] for one in seen - {("", "", "")})
