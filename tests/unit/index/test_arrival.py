"""The index is the same, and as quick, in whatever order and portions its rows come."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from standfast.index.cache import IndexCache
from standfast.index.derived import quantised
from standfast.index.feed import index_row
from standfast.index.keys import KeyRows
from standfast.index.search import listing, search
from standfast.index.turns import TurnChains
from standfast.ports import FeedChanges, FeedRecord, FeedStamps, LaterRecord
from standfast.testing.values import NOW, ROOT, make_record, make_search, unit
from standfast.types import Listing, Record, Vector, Where

TURNS = 20_000


def key_of(id_: str) -> int:
    """Turns have the numbers in their names."""
    return int(id_.rpartition("-")[2])


def turn(number: int, text: str = "", **fields: Any) -> Record:
    given = {
        "session": f"s{number % 3}",
        "author": "ann" if number % 2 else "bob",
        "valid_from": NOW + timedelta(minutes=number // 2),  # two turns of each moment
        **fields,
    }
    return make_record(
        f"turn-{number:06}", text or f"word{number % 50} soup", type_="turn", **given
    )


class ListFeed:
    """``standfast.ports.Feed`` over records in the order in which they came."""

    def __init__(self) -> None:
        self.log: list[tuple[int, Record | None, int]] = []  # stamp, record (None: gone), key
        self.vector: dict[int, Vector] = {}

    def say(self, *records: Record) -> None:
        stamp = len(self.log) + 1
        self.log += [(stamp, record, key_of(record.id)) for record in records]

    def drop(self, id_: str) -> None:
        self.log.append((len(self.log) + 1, None, key_of(id_)))

    def _newest(self) -> dict[int, tuple[int, Record | None]]:
        return {key: (stamp, record) for stamp, record, key in self.log}

    def stamps(self, scopes: Sequence[str], below: Sequence[str], space: str) -> FeedStamps:
        assert ROOT in scopes
        assert not below
        stamp = self.log[-1][0] if self.log else 0
        return FeedStamps({ROOT: stamp}, 3 if space and self.vector else None)

    def changes(self, scope: str, after: int) -> FeedChanges:
        assert scope == ROOT
        rows = [
            index_row(key, record)
            for key, (stamp, record) in self._newest().items()
            if record is not None and stamp > after
        ]
        gone = [key for stamp, record, key in self.log if record is None and stamp > after]
        return FeedChanges(_parts(rows), gone if after else None)

    def vectors(
        self,
        scope: str,  # noqa: ARG002
        space: str,  # noqa: ARG002
        keys: Sequence[int] | None,
    ) -> Iterable[Sequence[tuple[int, bytes]]]:
        wanted = self.vector if keys is None else [key for key in keys if key in self.vector]
        return _parts([(key, quantised(self.vector[key])) for key in wanted])

    def records(self, keys: Sequence[int], space: str) -> Mapping[int, FeedRecord]:  # noqa: ARG002
        newest = self._newest()
        return {
            key: LaterRecord(lambda record=record: record, self.vector.get(key))  # type: ignore[misc]
            for key in keys
            if (record := newest[key][1]) is not None
        }


def _parts(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(rows), 7):
        yield rows[start : start + 7]


def answers(feed: ListFeed, cache: IndexCache) -> object:
    asked = {"vector": unit(1, 2, 3), "space": "test/3"} if feed.vector else {}
    hits = search(feed, cache, make_search(text="soup word7", around=True, limit=40, **asked))
    where = Where(scopes=(ROOT,), now=NOW, authors=("ann",))
    listed = listing(feed, cache, Listing(where=where, order="newest", limit=30))
    scores = [
        (hit.record.id, hit.keyword, hit.keyword_around, hit.after_question, hit.similarity)
        for hit in hits
    ]
    lifts = [hit.lift_around or 0.0 for hit in hits]
    return scores, np.round(lifts, 9).tolist(), [record.id for record in listed]


@pytest.mark.parametrize("seed", range(6))
def test_L8_any_order_and_any_portions_give_the_same_answers(seed: int) -> None:
    chance = random.Random(seed)
    records = [turn(number) for number in range(300)]
    plain = ListFeed()
    plain.say(*records)
    feed, cache = ListFeed(), IndexCache(1 << 30)
    for one in (plain, feed):
        one.vector = {key_of(r.id): unit(len(r.text), n % 7, 1) for n, r in enumerate(records)}
    chance.shuffle(records)
    while records:
        some, records = records[: (n := chance.choice([1, 3, 40, 90]))], records[n:]
        feed.say(*some)
        answers(feed, cache)  # so that it is refreshed now
    assert answers(feed, cache) == answers(plain, IndexCache(1 << 30))


@pytest.mark.parametrize("seed", range(4))
def test_L8_changed_and_erased_rows_leave_no_trace(seed: int) -> None:
    """What is said of a record later counts: its time, its speaker, its end; made again too."""
    chance = random.Random(seed)
    feed, cache = ListFeed(), IndexCache(1 << 30)
    alive = {record.id: record for record in (turn(number) for number in range(80))}
    feed.say(*alive.values())
    for _ in range(60):
        id_ = chance.choice(sorted(alive))
        match chance.choice(["move", "speak", "drop", "again"]):
            case "move":
                moved = NOW + timedelta(minutes=chance.randrange(60))
                alive[id_] = replace(alive[id_], valid_from=moved)
                feed.say(alive[id_])
            case "speak":
                alive[id_] = replace(alive[id_], source=chance.choice(["user", "tool"]))
                feed.say(alive[id_])
            case "drop" if len(alive) > 40:
                del alive[id_]
                feed.drop(id_)
            case _:
                feed.drop(id_)
                alive[id_] = replace(alive[id_], text=f"soup again {chance.randrange(9)}")
                feed.say(alive[id_])
        anew = ListFeed()
        anew.say(*sorted(alive.values(), key=lambda record: record.id))
        assert answers(feed, cache) == answers(anew, IndexCache(1 << 30))


def chained_in(order: Sequence[int], portion: int) -> float:
    """The least processor time of several tries."""
    times = keys = np.array(order, dtype=np.int64)
    speakers = times % 2

    def once() -> float:
        chains = TurnChains()
        begun = time.process_time()
        for first in range(0, len(order), portion):
            part = slice(first, first + portion)
            talk = ["chat"] * len(times[part])
            chains.add(first, talk, speakers[part], times[part], keys[: first + portion])
        chains.settle(keys)
        return time.process_time() - begun

    return min(once() for _ in range(7))


def test_shuffled_turns_are_chained_as_quickly_as_sorted_ones() -> None:
    order = list(range(TURNS))
    shuffled = random.Random(3).sample(order, len(order))
    backwards = order[::-1]
    # The first try warms up; a hundredth of a second is noise.
    sorted_seconds = chained_in(order, 8192)
    for other in (shuffled, backwards):
        assert chained_in(other, 8192) <= 1.3 * sorted_seconds + 0.01


def test_chains_of_shuffled_turns_are_those_of_sorted_ones() -> None:
    order = random.Random(5).sample(range(500), 500)
    keys = np.array(order, dtype=np.int64)
    times = np.array([number // 4 for number in order], dtype=np.int64)
    chains = TurnChains()
    for first in range(0, 500, 20):
        part = slice(first, first + 20)
        chains.add(first, ["chat"] * 20, times[part], times[part], keys[: first + 20])
        if chains.in_session(np.array([0]))[0]:
            chains.settle(keys[: first + 20])
    row = order.index(0)
    walked = []
    while row != -1:
        walked.append(order[row])
        row = int(chains.after(np.array([row]), None)[0])
    assert walked == list(range(500))


@pytest.mark.parametrize("ascending", [True, False])
def test_keys_are_found_in_any_order(ascending: bool) -> None:
    chance = random.Random(7)
    keys = sorted(chance.sample(range(10**9), 5000))
    if not ascending:
        chance.shuffle(keys)
    found, column = KeyRows(), np.array(keys, dtype=np.int64)
    for end in range(50, 5001, 50):
        found.add(column[:end], end - 50)
    rows, held = found.find(column, np.array([*keys, -1, 10**9 + 1], dtype=np.int64))
    assert rows[:5000].tolist() == list(range(5000))
    assert held.tolist() == [True] * 5000 + [False] * 2
