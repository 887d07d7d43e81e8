"""What is written for what was decided about known records, for any of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from standfast.lifecycle.settlement import Verdict, copies, settle, verdict_of
from standfast.text.compare import text_hash
from standfast.types import Durability, Record
from standfast.understanding.judging.decisions import Action

MAY = datetime(2026, 5, 1, tzinfo=UTC)
JULY = datetime(2026, 7, 1, tzinfo=UTC)
NOW = datetime(2026, 11, 15, tzinfo=UTC)


def fact(text: str, id_: str = "new", **fields: Any) -> Record:
    given_fields = {"scope": "org:acme", "kind": "semantic", "type": "fact", "learned_at": NOW}
    record = Record(**{**given_fields, "id": id_, "text": text, "hash": text_hash(text), **fields})
    return replace(record, origin=record.origin or record.id)


def ids() -> Callable[[], str]:
    numbers: Iterator[int] = count(1)
    return lambda: f"id{next(numbers)}"


@pytest.mark.parametrize(("action", "kind"), [("supersede", "supersedes"), ("end", "ends")])
def test_X5_what_is_over_leaves_a_closed_copy_and_dates_the_change(
    action: Action, kind: str
) -> None:
    old = fact("Ann lives in Berlin", "old", learned_at=MAY, version=3)
    record = fact("Ann lives in Hamburg", learned_at=JULY)
    outcome = settle(record, verdict_of([(old, action)]), now=NOW, new_id=ids())
    retired, closed, new = outcome.records
    assert (retired.id, retired.status, retired.retired_at) == ("old", "superseded", NOW)
    assert (closed.valid_to, closed.derived_from, closed.version) == (JULY, ("old",), 0)
    assert (new.id, new.valid_from) == ("new", JULY)
    assert [(edge.kind, edge.source, edge.target) for edge in outcome.relations] == [
        ("supersedes", "new", "old")
    ]
    assert (outcome.status, outcome.reason) == ("stored", f"{kind} old")


def test_X6_a_target_above_gets_an_edge_and_stays_as_it_is() -> None:
    for kind in ("supersedes", "contradicts"):
        old = fact("Ann lives in Berlin", "old", version=1)
        record = fact("Ann lives in Hamburg", scope="org:acme:agent:cto")
        verdict = Verdict(kind=kind, targets=(old,), reason="why")  # type: ignore[arg-type]
        outcome = settle(record, verdict, now=NOW, new_id=ids())
        assert [one.id for one in outcome.records] == ["new"]
        assert [(edge.kind, edge.target) for edge in outcome.relations] == [(kind, "old")]


def test_L5_copies_share_their_origin_and_are_replaced_together() -> None:
    record = fact("The launch is in May", "first")
    below = ("org:acme:agent:cto", "org:acme:agent:cfo")
    here, cto, cfo = copies(record, ("org:acme", *below, below[0]), ids())
    assert here.id == "first"
    assert {one.origin for one in (here, cto, cfo)} == {"first"}
    assert (cto.scope, cfo.scope) == below
    new = fact("The launch is in June", valid_from=NOW)
    verdict = verdict_of([(here, "supersede")])
    outcome = settle(new, verdict, now=NOW, new_id=ids(), copies=(cto, cfo))
    assert {one.id for one in outcome.records if one.retired_at} == {here.id, cto.id, cfo.id}


def test_a_less_trusted_repetition_raises_nothing() -> None:
    known = fact("Ann lives in Berlin", "old", trust=2, importance=0.5, version=1)
    again = fact("Ann lives in Berlin", trust=0, importance=1.0, tags=("web",), durability="core")
    verdict = verdict_of([(known, "merge")])
    (merged,) = settle(again, verdict, now=NOW, new_id=ids()).records
    assert merged == replace(known, tags=("web",))
    trusted = replace(again, trust=3)
    (raised,) = settle(trusted, verdict, now=NOW, new_id=ids()).records
    assert (raised.trust, raised.importance, raised.durability) == (3, 1.0, "core")


def test_X9_what_somebody_trusted_says_too_is_doubted_no_longer() -> None:
    held = fact("Ann lives in Rome", "old", trust=0, status="quarantined", version=1)
    held = replace(held, data={**held.data, "suspicion": "hides encoded text"})
    again = fact("Ann lives in Rome", trust=3)
    (freed,) = settle(again, verdict_of([(held, "merge")]), now=NOW, new_id=ids()).records
    assert (freed.status, freed.trust, "suspicion" in freed.data) == ("active", 3, False)


@pytest.mark.parametrize("durability", ["core", "standard", "ephemeral"])
def test_X9_nothing_is_put_in_doubt_by_somebody_trusted_less(durability: Durability) -> None:
    known = fact("Ann lives in Berlin", "old", durability=durability, version=1)
    record = fact("Ann lives in Hamburg", trust=0)
    outcome = settle(record, verdict_of([(known, "question_new")]), now=NOW, new_id=ids())
    assert [(one.id, one.status) for one in outcome.records] == [("new", "disputed")]


def test_X6_only_the_older_word_is_in_doubt_and_both_where_none_is_older() -> None:
    known = fact("The deploy is on Friday", "old", author="ann", version=1)
    record = fact("The deploy is on Tuesday", author="ben")
    for action, doubted in (("question_known", {"old"}), ("question_both", {"old", "new"})):
        outcome = settle(record, verdict_of([(known, action)]), now=NOW, new_id=ids())  # type: ignore[list-item]
        assert {one.id for one in outcome.records if one.status == "disputed"} == doubted


def test_X6_a_change_ends_one_statement_and_questions_another() -> None:
    home = fact("Ann lives in Berlin", "home", learned_at=MAY, version=1)
    way = fact("Ann cycles to work", "way", learned_at=MAY, version=1)
    decided: list[tuple[Record, Action]] = [(home, "supersede"), (way, "question_known")]
    outcome = settle(fact("Ann moved to Rome"), verdict_of(decided), now=NOW, new_id=ids())
    status = {one.id: one.status for one in outcome.records}
    assert (status["home"], status["way"], status["new"]) == ("superseded", "disputed", "active")
    assert {(one.kind, one.target) for one in outcome.relations} == {
        ("supersedes", "home"),
        ("contradicts", "way"),
    }


def test_X6_what_is_in_doubt_itself_ends_nothing() -> None:
    home = fact("Ann lives in Berlin", "home", version=1)
    safe = fact("Ann is allergic to nuts", "safe", version=1)
    decided: list[tuple[Record, Action]] = [(home, "supersede"), (safe, "question_new")]
    outcome = settle(fact("Ann left"), verdict_of(decided), now=NOW, new_id=ids())
    assert [(one.id, one.status) for one in outcome.records] == [("new", "disputed")]


# For any records


@st.composite
def facts(draw: st.DrawFn, id_: str) -> Record:
    when = st.one_of(st.none(), st.sampled_from([MAY, JULY, NOW + timedelta(days=5)]))
    return fact(
        draw(st.text(max_size=40)),
        id_,
        valid_from=draw(when),
        trust=draw(st.integers(0, 3)),
        author=draw(st.sampled_from(["", "ann"])),
        status=draw(st.sampled_from(["active", "disputed"])),
        durability=draw(st.sampled_from(["core", "standard"])),
        scope=draw(st.sampled_from(["org:acme", "org:acme:agent:cto"])),
        version=0 if id_ == "new" else 1,
    )


ACTIONS = st.sampled_from(get_args(Action))


@settings(max_examples=400, deadline=None)
@given(facts("new"), st.lists(st.tuples(facts("old"), ACTIONS), max_size=5))
def test_X6_what_is_kept_stays_and_the_trusted_are_not_in_doubt(
    record: Record, others: list[tuple[Record, Action]]
) -> None:
    decided = [(replace(one, id=f"old{at}"), action) for at, (one, action) in enumerate(others)]
    outcome = settle(record, verdict_of(decided), now=NOW, new_id=ids())
    written = {one.id: one for one in outcome.records}
    assert len(written) == len(outcome.records)
    for known, action in decided:
        if action in ("keep", "file", "question_new"):
            assert known.id not in written
        after = written.get(known.id, known)
        if after.status == "disputed" != known.status:
            assert record.trust >= known.trust
    assert all(one.scope.startswith(record.scope) for one in written.values() if one.version)
    assert outcome.id in {record.id, *(one.id for one, _ in decided)}
