"""What is kept beside a record, and the arrays over it, against their plain definitions."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recollect.index.derived import COUNT_MAX, TERM, hash_of, terms_blob
from recollect.index.postings import among, distinct
from recollect.text import analysis

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
from recollect import Memory
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
