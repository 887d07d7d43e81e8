"""Time: what was true, what we believed, and what has expired."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from standfast.errors import Conflict, Invalid
from standfast.ports import Store
from standfast.testing.harness import Contract, clause, refusal
from standfast.testing.values import (
    CHAT,
    EVERY_STATUS,
    NOW,
    ROOT,
    SPACE,
    found_ids,
    make_batch,
    make_item,
    make_message,
    make_record,
    make_relation,
    make_search,
    moment,
    one_record,
    put,
    scores_of,
    unit,
)


async def _plant_moves(store: Store) -> None:
    """Berlin until 0, Hamburg since; learned at 10 that Berlin was over."""
    await put(
        store,
        make_record(
            "berlin",
            "lives in Berlin",
            valid_from=moment(-100),
            valid_to=moment(0),
            learned_at=moment(-90),
            retired_at=moment(10),
            status="superseded",
        ),
        make_record(
            "hamburg",
            "lives in Hamburg",
            valid_from=moment(0),
            learned_at=moment(10),
        ),
        make_record("always", "lives on earth", learned_at=moment(-50)),
        make_record("bad", "lives nowhere", learned_at=moment(-90), status="quarantined"),
    )


async def _agreed_ids(store: Store, **fields: Any) -> set[str]:
    """What a listing says, checked against a search."""
    given = {"now": moment(100), **fields}
    listed = await found_ids(store, **given)
    assert sorted(await found_ids(store, text="lives", **given)) == sorted(listed)
    return set(listed)


class TwoAxesClauses(Contract):
    """``as_of`` asks the world, ``known_at`` asks our books."""

    @clause
    async def test_X5_today(self, store: Store) -> None:
        """Without a time, today's status decides."""
        await _plant_moves(store)
        assert await _agreed_ids(store) == {"hamburg", "always"}

    @clause
    async def test_X5_known_at(self, store: Store) -> None:
        """What the books said then: learned by then, not yet retired."""
        await _plant_moves(store)
        assert await _agreed_ids(store, known_at=moment(-95)) == set()
        assert await _agreed_ids(store, known_at=moment(-90)) == {"berlin"}
        assert await _agreed_ids(store, known_at=moment(5)) == {"berlin", "always"}
        assert await _agreed_ids(store, known_at=moment(10)) == {"hamburg", "always"}

    @clause
    async def test_X5_as_of(self, store: Store) -> None:
        """What we now believe was true then; a retired belief is not one."""
        await _plant_moves(store)
        assert await _agreed_ids(store, as_of=moment(-1)) == {"always"}
        assert await _agreed_ids(store, as_of=moment(0)) == {"hamburg", "always"}
        before_retiring = moment(9)
        assert await _agreed_ids(store, as_of=moment(-1), now=before_retiring) == {
            "berlin",
            "always",
        }

    @clause
    async def test_X5_as_of_and_known_at(self, store: Store) -> None:
        """What the books then said about the world at another time."""
        await _plant_moves(store)
        known = moment(5)
        assert await _agreed_ids(store, as_of=moment(-1), known_at=known) == {"berlin", "always"}
        assert await _agreed_ids(store, as_of=moment(0), known_at=known) == {"always"}
        assert await _agreed_ids(store, as_of=moment(-101), known_at=known) == {"always"}
        assert await _agreed_ids(store, as_of=moment(0), known_at=moment(10)) == {
            "hamburg",
            "always",
        }

    @clause
    async def test_X5_status_does_not_count_in_the_past(self, store: Store) -> None:
        """Only the four times decide, and quarantined records stay out whatever is asked."""
        await _plant_moves(store)
        for statuses in (("active",), EVERY_STATUS, ("quarantined",)):
            found = await _agreed_ids(store, known_at=moment(5), statuses=statuses)
            assert found == {"berlin", "always"}

    @clause
    async def test_M6_since_and_until(self, store: Store) -> None:
        """On the time it happened, else learned; the start counts, the end does not."""
        await put(
            store,
            make_record("a", "lives", valid_from=moment(-10)),
            make_record("b", "lives", learned_at=moment(-5)),
            make_record("c", "lives", valid_from=moment(0), learned_at=moment(-99)),
        )
        assert await _agreed_ids(store, since=moment(-5)) == {"b", "c"}
        assert await _agreed_ids(store, until=moment(-5)) == {"a"}
        assert await _agreed_ids(store, since=moment(-10), until=moment(0)) == {"a", "b"}
        assert await _agreed_ids(store, since=moment(0), until=moment(0)) == set()

    @clause
    async def test_X5_microseconds_and_offsets_count(self, store: Store) -> None:
        """Times are compared as instants, exactly."""
        on_time = datetime.fromisoformat("2026-05-03T14:00:00.000001+02:00")
        utc = datetime.fromisoformat("2026-05-03T12:00:00.000001+00:00")
        just_before = datetime.fromisoformat("2026-05-03T12:00:00+00:00")
        await put(store, make_record("a", "lives", valid_from=on_time))
        assert await _agreed_ids(store, since=utc) == {"a"}
        assert await _agreed_ids(store, as_of=just_before) == set()
        assert await _agreed_ids(store, as_of=utc) == {"a"}
        assert (await one_record(store, "a")).valid_from == utc

    @clause
    async def test_very_old_and_far_times(self, store: Store) -> None:
        """Birthdays before 1970 and dates of the next century are times like others."""
        old = datetime.fromisoformat("1899-12-31T23:59:59.999999+00:00")
        far = datetime.fromisoformat("2199-01-01T00:00:00.000001+00:00")
        await put(store, make_record("old", valid_from=old), make_record("far", valid_from=far))
        assert (await one_record(store, "old")).valid_from == old
        assert (await one_record(store, "far")).valid_from == far
        assert await found_ids(store, until=NOW) == ["old"]
        assert await found_ids(store) == ["far", "old"]


class ExpiryClauses(Contract):
    """The reader's clock decides; what expired is absent, for writers too."""

    @clause
    async def test_A10_expired_record_is_absent(self, store: Store) -> None:
        """Not by id, word, vector or listing, from the moment of its expiry on."""
        record = make_record("a", "short lived", expires_at=moment(1))
        await put(store, record, vectors={"a": unit(1, 0, 0)}, space=SPACE)

        async def ways(now: datetime) -> list[int]:
            return [
                len(await store.records(ROOT, ["a"], now=now)),
                len(await store.records(None, ["a"], now=now)),
                len(await found_ids(store, now=now)),
                len(await found_ids(store, now=now, text="lived")),
                len(await found_ids(store, now=now, vector=unit(1, 0, 0), space=SPACE)),
                len(await found_ids(store, now=now, known_at=NOW)),
            ]

        assert await ways(moment(0.9)) == [1] * 6
        assert await ways(moment(1)) == [0] * 6

    @clause
    async def test_A10_expired_record_blocks_nothing(self, store: Store) -> None:
        """Neither its id nor its hash is taken any more, and nothing of it is left behind."""
        old = make_record("a", "old words", hash="h", expires_at=moment(1))
        await put(store, old, make_record("b"), vectors={"a": unit(1, 0, 0)}, space=SPACE)
        await put(store, make_relation("a", "b"))
        await put(store, make_record("a", "new", hash="h"), at=moment(1))
        assert await one_record(store, "a", moment(1)) == replace(
            make_record("a", "new", hash="h"), version=1
        )
        assert await found_ids(store, text="old words", now=moment(1)) == []
        assert await store.relations(ROOT, ["a", "b"]) == []
        near = make_search(vector=unit(1, 0, 0), space=SPACE, now=moment(1))
        assert await store.search(near) == []

    @clause
    async def test_A10_expired_hash_is_free(self, store: Store) -> None:
        """Another id may take the text of an expired record."""
        await put(store, make_record("a", hash="h", expires_at=moment(1)))
        early = make_batch(make_record("b", hash="h"), at=moment(0.9))
        assert (await refusal(store, early, Conflict)).kind == "hash"
        await put(store, make_record("b", hash="h"), at=moment(1))
        assert await found_ids(store, now=moment(1)) == ["b"]
        assert await store.due(moment(1)) == []  # it was dropped to make room

    @clause
    async def test_expired_record_cannot_be_updated(self, store: Store) -> None:
        """It is gone: updates conflict, vectors and relations are invalid, uses not counted."""
        await put(store, make_record("a", expires_at=moment(1)), make_record("b"))
        read = await one_record(store, "a")
        late = moment(2)
        revive = make_batch(replace(read, expires_at=None), at=late)
        assert (await refusal(store, revive, Conflict)).kind == "record"
        await refusal(store, make_batch(make_relation("a", "b"), at=late), Invalid)
        vector = make_batch(root=ROOT, vectors={"a": unit(1, 0)}, space="s", at=late)
        await refusal(store, vector, Invalid)

    @clause
    async def test_A10_expired_message_is_absent(self, store: Store) -> None:
        """Its number is not given again; its id may be used anew."""
        await put(store, make_message("m1", expires_at=moment(1)), make_message("m2"))
        assert len(await store.messages(CHAT, now=NOW)) == 2
        late = moment(1)
        assert [message.id for message in await store.messages(CHAT, now=late)] == ["m2"]
        assert await store.messages(CHAT, now=late, ids=["m1"]) == []
        await put(store, make_message("m1", "again"), at=late)
        stored = await store.messages(CHAT, now=late)
        assert [(message.id, message.seq) for message in stored] == [("m2", 2), ("m1", 3)]

    @clause
    async def test_A10_expired_item_is_absent(self, store: Store) -> None:
        """A lease that ran out can be taken by creating it again."""
        await put(store, make_item("lease", "ann", expires_at=moment(1)))
        taken = make_batch(make_item("lease", "bob"), at=moment(0.9))
        await refusal(store, taken, Conflict)
        late = moment(1)
        assert await store.items(ROOT, "policy", now=late) == []
        stale = make_batch(make_item("lease", "ann", version=1), at=late)
        assert (await refusal(store, stale, Conflict)).kind == "item"
        await put(store, make_item("lease", "bob"), at=late)
        [item] = await store.items(ROOT, "policy", now=late)
        assert (item.value, item.version, item.expires_at) == ("bob", 1, None)

    @clause
    async def test_A10_sweep_drops_what_expired(self, store: Store) -> None:
        """Even an old clock does not see it then; other roots and the rest stay."""
        soon: dict[str, Any] = {"expires_at": moment(1)}
        await put(
            store,
            make_record("gone", "gone words", **soon),
            make_record("stays", expires_at=moment(9)),
            make_message("gone", **soon),
            make_message("stays"),
            make_item("gone", **soon),
            make_item("stays"),
            make_relation("gone", "stays"),
        )
        await put(store, make_record("other", scope="org:other", **soon))
        assert await put(store, root=ROOT, sweep=True, at=moment(1)) == 1
        assert await found_ids(store) == ["stays"]
        assert await found_ids(store, text="words") == []
        assert [message.id for message in await store.messages(CHAT, now=NOW)] == ["stays"]
        assert [item.key for item in await store.items(ROOT, "policy", now=NOW)] == ["stays"]
        assert await store.relations(ROOT, ["gone", "stays"]) == []
        assert len(await store.records(None, ["other"], now=NOW)) == 1
        assert len(await store.journal(ROOT)) == 1

    @clause
    async def test_expired_rows_count_in_no_statistic(self, store: Store) -> None:
        """Scores are as if the expired rows had never been."""
        await put(store, make_record("a", "apple pie"), make_record("b", "blue sky"))
        query = make_search(text="apple", now=moment(2))
        alone = await scores_of(store, query)
        old = [make_record(f"o{n}", "apple", expires_at=moment(1)) for n in range(9)]
        await put(store, *old)
        assert await scores_of(store, query) == alone
