"""What is kept beside a record, and the arrays over it, against their plain definitions."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from standfast.index.codes import NEVER_BEGAN, NEVER_ENDS
from standfast.index.derived import COUNT_MAX, TERM, hash_of, terms_blob
from standfast.index.postings import among, distinct
from standfast.index.scope import ScopeIndex
from standfast.ports import FeedChanges, IndexRow
from standfast.text import analysis

TEXTS = st.lists(
    st.sampled_from(
        ["the", "dogs", "dog's", "Ärzte", "lääkkeet", "больнице", "北京", "is", "und", "🙂"]
    ),
    max_size=40,
).map(" ".join) | st.text(max_size=60)


@given(TEXTS, st.sampled_from(["", "Ann", "Zoë"]), st.booleans())
def test_words_are_counted_by_hash_and_sorted(text: str, author: str, asks: bool) -> None:
    text += "?" if asks else ""
    found = analysis.document_terms(text, author)
    counts = Counter(map(hash_of, found))
    words, blob = terms_blob(text, author)
    assert np.frombuffer(blob, dtype=TERM).tolist() == sorted(counts.items())
    assert words == sum(not one.startswith(analysis.STEM) for one in found)


def test_a_word_that_comes_too_often_is_counted_as_often_as_fits() -> None:
    _, blob = terms_blob("a " * (COUNT_MAX + 10), "")
    assert np.frombuffer(blob, dtype=TERM)["count"].max() == COUNT_MAX


@given(st.lists(st.integers(-5, 5)), st.lists(st.integers(-5, 5)))
def test_what_is_among_others_is_what_numpy_finds(values: list[int], wanted: list[int]) -> None:
    these, those = np.array(values, dtype=np.int64), np.array(wanted, dtype=np.int64)
    assert among(these, those).tolist() == np.isin(these, those).tolist()
    assert distinct(these).tolist() == np.unique(these).tolist()


WRITE_AND_ASK = """
import sys, tempfile
from standfast import Memory
with tempfile.TemporaryDirectory() as folder:
    with Memory.open(folder + "/memory.db", embedder="hashing") as memory:
        memory.remember("I live in Oslo", scope="user:a", tags=["home"])
        memory.remember("I moved to Bergen", scope="user:a")
        assert memory.recall("where do I live", scope="user:a", tags=["home"])
print("numpy.ma" in sys.modules)
"""


def test_neither_writing_nor_asking_loads_masked_arrays() -> None:
    """They take longer to load than a question to answer."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", WRITE_AND_ASK], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False", done.stderr


def row_of(key: int, *, status: int = 0, author: str = "", importance: float = 0.5) -> IndexRow:
    _, terms = terms_blob(f"word{key} same", "")
    return IndexRow(
        key, f"r{key:03}".encode(), 1, 4, status, 0, 1, importance, key, NEVER_ENDS, NEVER_BEGAN,
        NEVER_ENDS, NEVER_ENDS, 2, author, "", "", b"", terms,
    )  # fmt: skip


class Rows:
    """A feed of one scope."""

    def __init__(self) -> None:
        self.rows: list[IndexRow] = []

    def changes(self, _: str, __: int) -> FeedChanges:
        rows, self.rows = self.rows, []
        return FeedChanges([rows] if rows else [], [])

    def vectors(self, *_: object) -> list[object]:
        return []


@given(
    st.lists(
        st.lists(
            st.tuples(st.integers(1, 9), st.sampled_from([0, 0, 0, 1]), st.sampled_from(["", "a"])),
            min_size=1,
            max_size=4,
            unique_by=lambda one: one[0],
        ),
        min_size=1,
        max_size=4,
    )
)
def test_a_column_whose_rows_are_alike_is_one_value_until_one_differs(
    steps: list[list[tuple[int, int, str]]],
) -> None:
    feed, index = Rows(), ScopeIndex("user:a")
    known: dict[int, tuple[int, str]] = {}
    for stamp, step in enumerate(steps, start=1):
        for key, status, author in step:  # the author of a record never changes
            known[key] = status, known.get(key, (0, author))[1]
        feed.rows = [row_of(key, status=known[key][0], author=known[key][1]) for key, *_ in step]
        index.refresh(feed, stamp)
        keys = index.column("key").tolist()
        assert index.column("status").tolist() == [known[key][0] for key in keys]
        assert index.column("importance").tolist() == [0.5] * len(keys)
        assert index.named("author", ["a"]).tolist() == [known[key][1] == "a" for key in keys]
        assert index.happened_at().tolist() == keys
        assert index.same("valid_from") == NEVER_BEGAN
        assert index.same("status") in (None, known[keys[0]][0])
    whole = ScopeIndex("user:a")
    feed.rows = [row_of(key) for key in range(1, 200)]
    whole.refresh(feed, 1)
    alike = whole.nbytes
    feed.rows = [row_of(1, importance=0.25)]
    whole.refresh(feed, 2)
    assert whole.nbytes == alike + 8 * whole.size, "what all rows have in common takes no room"
