"""Searching: turns together with their neighbours, and how far a similarity stands out."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from standfast.index.neighbours import AFTER, BEFORE, share, usual_length
from standfast.index.spread import Spread
from standfast.ports import Store
from standfast.testing.harness import Contract, clause
from standfast.testing.values import (
    ROOT,
    SPACE,
    found_ids,
    make_record,
    make_search,
    moment,
    one_record,
    put,
    unit,
)
from standfast.text.analysis import bm25, idf
from standfast.types import Erase, Hit, Record

COMPASS = {"east": (1, 0, 0), "north": (0, 1, 0), "west": (-1, 0, 0), "between": (1, 1, 0)}


async def _plant_compass(store: Store) -> None:
    vectors = {id_: unit(*numbers) for id_, numbers in COMPASS.items()}
    await put(store, *(make_record(id_) for id_ in COMPASS), vectors=vectors, space=SPACE)


async def _hits(store: Store, **fields: Any) -> dict[str, Hit]:
    return {hit.record.id: hit for hit in await store.search(make_search(**fields))}


def _turn(id_: str, text: str, minute: float = 0, speaker: str = "ann", **fields: Any) -> Record:
    given = {"session": "chat", "lineage": (f"m-{id_}",), "author": speaker, **fields}
    return make_record(id_, text, type_="turn", valid_from=moment(minute), **given)


async def _plant_talk(store: Store) -> None:
    """Ann and Bob in turns, nine minutes; the ids say nothing about the order."""
    await put(
        store,
        _turn("z", "shall we meet for soup", 0),
        _turn("y", "yes on friday", 1, "bob"),
        _turn("x", "fine with me", 2),
        _turn("w", "bring bread", 3, "bob"),
        _turn("v", "and butter", 4),
        _turn("u", "nothing else", 5, "bob"),
    )


class SurroundingsClauses(Contract):
    """A turn is scored together with its neighbours, if the query asks for that."""

    @clause
    async def test_L8_a_turn_is_found_by_the_words_before_it(self, store: Store) -> None:
        """Three turns behind the word and two before it, and no others."""
        await _plant_talk(store)
        assert await found_ids(store, text="soup") == ["z"]
        found = await _hits(store, text="soup", around=True)
        assert set(found) == {"z", "y", "x", "w"}
        scores = [found[id_].keyword_around for id_ in "zyxw"]
        assert scores == sorted(scores, reverse=True)
        assert [found[id_].keyword for id_ in "yxw"] == [0, 0, 0]
        assert set(await _hits(store, text="butter", around=True)) == {"v", "w", "u", "x"}

    @clause
    async def test_L8_the_score_is_bm25_of_turn_and_neighbours(self, store: Store) -> None:
        """By the book: neighbours' words counted by their share, length likewise."""
        await put(store, _turn("a", "soup soup bread"), _turn("b", "soup", 1, "bob"))
        found = await _hits(store, text="soup", around=True)
        lengths = {"a": 4, "b": 2}  # an author's name is a word too
        average, weight = 3.0, idf(2, 2)
        for id_, frequency, place in (("a", 2 + 0.6 * 1, AFTER[0]), ("b", 1 + 0.6 * 2, BEFORE[0])):
            other = "b" if id_ == "a" else "a"
            length = lengths[id_] + share(place, lengths[other]) * lengths[other]
            expected = bm25(weight, frequency, length, usual_length(average, place))
            assert math.isclose(found[id_].keyword_around, expected, rel_tol=1e-6), id_

    @clause
    async def test_L8_an_answer_to_a_question_is_known(self, store: Store) -> None:
        """The turn just before it asks; another one further away does not count."""
        await put(
            store,
            _turn("a", "shall we have soup? "),
            _turn("b", "soup, yes", 1, "bob"),
            _turn("c", "soup it is", 2),
            _turn("d", "soup?", 24 * 60, "bob"),
        )
        found = await _hits(store, text="soup", around=True)
        assert {id_ for id_, hit in found.items() if hit.after_question} == {"b"}
        plain = await _hits(store, text="soup")
        assert not any(hit.after_question for hit in plain.values())
        assert await found_ids(store, text="?") == []

    @clause
    async def test_L8_only_conversations_have_neighbours(self, store: Store) -> None:
        """Not another session, not behind a pause, not one's own notes, not facts."""
        await put(
            store,
            _turn("a", "soup", 0),
            _turn("b", "next day", 24 * 60, "bob"),
            _turn("c", "elsewhere", 1, "bob", session="other"),
            make_record("d", "a fact", valid_from=moment(1)),
            _turn("e", "my notes on soup", 0, session="notes"),
            _turn("f", "more notes", 1, session="notes"),
        )
        found = await _hits(store, text="soup", around=True)
        assert set(found) == {"a", "e"}
        for hit in found.values():
            assert math.isclose(hit.keyword_around, hit.keyword, rel_tol=1e-9)

    @clause
    async def test_L8_neighbours_pass_no_filter_for_the_hit(self, store: Store) -> None:
        """A hit passes the filters itself; its neighbours only have to be there to be seen."""
        await _plant_talk(store)
        found = await _hits(store, text="soup", around=True, authors=("bob",))
        assert set(found) == set()
        await put(store, _turn("t", "soup again", 6))
        found = await _hits(store, text="soup", around=True, authors=("ann",))
        assert set(found) == {"z", "x", "v", "t"}

    @clause
    async def test_L8_what_was_erased_is_nobodys_neighbour(self, store: Store) -> None:
        """The turns beside it close up; so it is with what expired."""
        await _plant_talk(store)
        await put(store, root=ROOT, erase=(Erase(kind="record", id="z"),))
        assert await _hits(store, text="soup", around=True) == {}
        await put(store, _turn("s", "soup for two", 4.5, "bob", expires_at=moment(60)))
        found = await _hits(store, text="soup", around=True)
        assert set(found) == {"s", "v", "w", "u"}
        assert await _hits(store, text="soup", around=True, now=moment(61)) == {}

    @clause
    async def test_L8_order_is_that_of_time(self, store: Store) -> None:
        """Whatever came in first; turns of one moment stand as they came."""
        await put(store, _turn("late", "bread", 9, "bob"))
        await put(store, _turn("early", "soup", 1), _turn("reply", "hot please", 1, "bob"))
        found = await _hits(store, text="soup", around=True)
        scores = [found[id_].keyword_around for id_ in ("early", "reply", "late")]
        assert scores == sorted(scores, reverse=True)

    @clause
    async def test_L8_turns_of_one_moment_stand_as_they_came(self, store: Store) -> None:
        """Whatever their ids are, in one commit or in several, and after a change too."""
        await put(store, _turn("z", "which soup?"), _turn("k", "the red one", 0, "bob"))
        await put(store, _turn("a", "thanks a lot"))
        await put(store, _turn("m", "nothing", 0, "bob"))
        expected = {"z": False, "k": True, "a": False, "m": False}
        for _ in ("as made", "as changed"):
            found = await _hits(store, text="soup red thanks nothing", around=True)
            assert {id_: hit.after_question for id_, hit in found.items()} == expected
            await put(store, replace(await one_record(store, "z"), importance=0.9))

    @clause
    async def test_O1_lift_says_how_far_a_similarity_stands_out(self, store: Store) -> None:
        """In standard deviations from the average of all that passes."""
        await _plant_compass(store)
        found = await _hits(store, vector=unit(1, 0, 0), space=SPACE)
        cosines = [1.0, math.sqrt(0.5), 0.0, -1.0]
        spread = Spread.of(4, sum(cosines), sum(one * one for one in cosines))
        for hit in found.values():
            assert hit.similarity is not None
            assert hit.lift is not None
            assert abs(hit.lift - spread.lift(hit.similarity)) < 0.05
            assert hit.lift_around is None

    @clause
    async def test_L8_lift_around_is_that_of_the_conversation(self, store: Store) -> None:
        """Between the turn's own and its neighbours'; without vectors there is none."""
        await put(
            store,
            _turn("a", "one"),
            _turn("b", "two", 1, "bob"),
            _turn("c", "three", 2),
            vectors={"a": unit(1, 0, 0), "b": unit(0, 1, 0)},
            space=SPACE,
        )
        asked = {"vector": unit(1, 0, 0), "space": SPACE, "text": "three"}
        found = await _hits(store, **asked, around=True)
        lifts = {id_: (hit.lift, hit.lift_around) for id_, hit in found.items()}
        assert lifts["c"] == (None, None)
        assert lifts["a"][0] > lifts["a"][1] > lifts["b"][1] > lifts["b"][0]  # type: ignore[operator]
