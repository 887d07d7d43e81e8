from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast.text.tokens import estimate

# Sentences of our own in eight languages, each with the larger of the counts that two widely
# used tokenizers (o200k and cl100k) gave for it.
SAMPLES: dict[str, list[tuple[str, int]]] = json.loads(
    (Path(__file__).parent / "data" / "token_samples.json").read_text("utf-8")
)


def test_A7_the_default_counter_overcounts_nearly_always_in_every_language() -> None:
    pairs = [pair for samples in SAMPLES.values() for pair in samples]
    over = sum(estimate(text) >= real for text, real in pairs)
    assert len(SAMPLES) >= 5
    assert over >= 0.95 * len(pairs)
    for language, samples in SAMPLES.items():
        share = sum(estimate(text) >= real for text, real in samples) / len(samples)
        assert share >= 0.9, language


def test_the_default_counter_is_not_absurd() -> None:
    for language, samples in SAMPLES.items():
        ratio = sum(estimate(text) for text, _ in samples) / sum(real for _, real in samples)
        assert 1.0 <= ratio < 2.0, language


@given(st.text(max_size=200), st.text(max_size=200))
def test_the_whole_never_costs_more_than_its_parts(first: str, second: str) -> None:
    # Packing adds up the prices of lines; the packet must not come out dearer than the sum.
    assert estimate(f"{first}\n{second}") <= estimate(f"{first}\n") + estimate(second)


@pytest.mark.parametrize("piece", ["x", "é", "x1", "ab é ", "中", "..", "\n \n"])
def test_a_text_of_a_million_characters_is_counted_in_linear_time(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    began = time.process_time()
    estimate(text)
    # Quadratic time would be hours; the bound is wide for slow and busy machines.
    assert time.process_time() - began < 20
