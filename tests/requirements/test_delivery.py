"""Pending messages: first in, first out, each delivered once, whatever their times and sizes, and
whoever dies between reading and confirming."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from standfast import Memory

WEB = "project:web"
NOW = datetime(2026, 5, 3, 12, 0, tzinfo=UTC)

# A message that comes (minutes by which its own time is off, words), or a reader with a budget
# that confirms what it got, or dies before it does.
COMES = st.tuples(st.just("comes"), st.integers(-5000, 5000), st.sampled_from([1, 3, 40, 900]))
READS = st.tuples(
    st.sampled_from(["confirms", "dies", "confirms twice"]), st.integers(0, 1500), st.just(0)
)


@given(st.lists(st.one_of(COMES, COMES, READS), min_size=3, max_size=16), st.booleans())
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_S1_O14_pending_messages_come_once_in_their_order(
    steps: list[tuple[str, int, int]], on_disk: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "m.db") if on_disk else "dict:"
        memory = opened(store)
        arrived: list[str] = []
        done: set[str] = set()
        for what, number, words in steps:
            if what == "comes":
                text = f"note {len(arrived)} " + "word " * words
                at = (NOW + timedelta(minutes=number)).isoformat()
                said = {"role": "user", "content": text, "at": at, "id": str(len(arrived))}
                memory.observe("chan", [said], scope=WEB, pending=True)
                arrived.append(str(len(arrived)))
                continue
            packet = memory.context(scope=WEB, query="", tokens=number)
            got = [message.id for message in packet.pending]
            assert packet.tokens <= number
            assert got == sorted(got, key=arrived.index), "first in, first out"
            assert not set(got) & done, "what was confirmed does not come again"
            for _ in range({"dies": 0, "confirms": 1, "confirms twice": 2}[what]):
                memory.confirm(packet)
                done |= set(got)
            if what == "dies" and on_disk:
                memory.close()
                memory = opened(store)
        rest = memory.context(scope=WEB, query="", tokens=100_000)
        left = [message.id for message in rest.pending]
        assert left == [id_ for id_ in arrived if id_ not in done], "nothing is lost"
        memory.confirm(rest)
        assert memory.context(scope=WEB, query="", tokens=100_000).pending == ()
        memory.close()


def opened(store: str) -> Memory:
    return Memory.open(store, embedder="hashing", background=False, clock=lambda: NOW)
