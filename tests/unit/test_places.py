"""Who has the places of an answer, whatever stands in which order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from standfast.rank.places import INSIDE, OUTSIDE, is_outside, placed
from standfast.testing.values import make_record
from standfast.types import TRUST_OF_SOURCE, Hit, Source

hits = st.lists(st.sampled_from(sorted(TRUST_OF_SOURCE)), max_size=30).map(
    lambda sources: [_hit(f"r{n}", source) for n, source in enumerate(sources)]
)


def _hit(id_: str, source: Source) -> Hit:
    return Hit(record=make_record(id_, source=source, trust=TRUST_OF_SOURCE[source]))


def _theirs(found: list[Hit]) -> int:
    return sum(is_outside(hit.record) for hit in found)


@given(hits, st.integers(0, 32))
def test_X9_pages_and_tools_have_half_at_most_while_others_wait(
    found: list[Hit], places: int
) -> None:
    kept, passed = placed(found, places)
    assert len(kept) == min(places, len(found))
    assert [hit for hit in found if hit in kept] == kept, "in the order they came"
    waiting = [hit for hit in found if hit not in kept and not is_outside(hit.record)]
    assert _theirs(kept) <= places // 2 or not waiting
    assert _theirs(passed) == len(passed)
    assert all(hit in found[:places] and hit not in kept for hit in passed)
    for group in (True, False):  # of each group the first
        mine = [hit for hit in found if is_outside(hit.record) is group]
        assert [hit for hit in kept if hit in mine] == mine[: len([h for h in kept if h in mine])]
    if _theirs(found[:places]) <= places // 2:
        assert (kept, passed) == (found[:places], [])


def test_X9_every_source_is_on_one_side() -> None:
    assert sorted((*INSIDE, *OUTSIDE)) == sorted(TRUST_OF_SOURCE)
    for source, trust in TRUST_OF_SOURCE.items():
        record = make_record("a", source=source, trust=trust)
        assert is_outside(record) is (source in ("web", "tool"))
        confirmed = make_record("a", source=source, trust=3)
        assert not is_outside(confirmed)
