"""M8: local hash embeddings of 384 dimensions, normalised, without any call."""

from __future__ import annotations

import asyncio
import math
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast.errors import Invalid
from standfast.models.providers.hashing import HashingEmbedder
from standfast.ports import Embedder

SENTENCE = "Ann moved to Berlin in May"
# Stored vectors depend on these numbers: if they must change, the space needs another name.
GOLDEN = {10: -0.40961596026, 51: 0.40961596026, 78: -0.40961596026, 365: 0.40961596026}
GOLDEN_PLACES = 21


def embed(*texts: str, dimensions: int = 384) -> list[list[float]]:
    return asyncio.run(HashingEmbedder(dimensions).embed(texts))


def cosine(a: str, b: str) -> float:
    left, right = embed(a, b)
    return math.fsum(x * y for x, y in zip(left, right, strict=True))


def test_M8_the_embedder_has_384_dimensions_and_is_local() -> None:
    embedder: Embedder = HashingEmbedder()
    assert embedder.dimensions == 384
    assert embedder.space == "hashing/384"
    assert embedder.local
    assert [len(vector) for vector in embed("one", "two words")] == [384, 384]


def test_M8_other_dimensions_are_another_space() -> None:
    assert HashingEmbedder(64).space == "hashing/64"
    assert len(embed("tea", dimensions=64)[0]) == 64
    with pytest.raises(Invalid):
        HashingEmbedder(0)


def test_M8_a_breve_changes_no_stored_vector() -> None:
    assert embed("зелёный чай") == embed("зеленыи чаи")


@given(st.text(max_size=80))
def test_M8_every_vector_has_length_one_or_is_zero(text: str) -> None:
    (vector,) = embed(text)
    length = math.sqrt(math.fsum(value * value for value in vector))
    assert length == 0 or math.isclose(length, 1, abs_tol=1e-9)


@pytest.mark.parametrize("text", ["", "   ", "?!", "\u200b", "😀"])
def test_M8_text_without_words_gives_the_zero_vector(text: str) -> None:
    assert embed(text) == [[0.0] * 384]


def test_M8_a_text_of_stop_words_only_still_has_a_vector() -> None:
    assert any(embed("what is this")[0])


def test_M8_lone_surrogates_are_embedded() -> None:
    assert len(embed("broken \ud800 text")[0]) == 384


def test_M8_the_numbers_never_change() -> None:
    (vector,) = embed(SENTENCE)
    strongest = sorted(range(384), key=lambda place: -abs(vector[place]))[:4]
    assert {place: round(vector[place], 12) for place in strongest} == GOLDEN
    assert sum(1 for value in vector if value) == GOLDEN_PLACES


def test_M8_another_process_gives_the_same_numbers() -> None:
    program = (
        "import asyncio; from standfast.models.providers.hashing import HashingEmbedder;"
        f"print(asyncio.run(HashingEmbedder().embed([{SENTENCE!r}]))[0])"
    )
    for seed in ("1", "2"):
        environment = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        answer = subprocess.run(
            [sys.executable, "-c", program],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert answer.stdout.strip() == str(embed(SENTENCE)[0])


@pytest.mark.parametrize(
    ("a", "near", "far"),
    [
        ("Ann likes green tea", "green tea is what Ann likes", "the server was restarted"),
        ("deploys go out on Tuesdays", "we deploy every Tuesday", "my sister is a nurse"),
        ("favourite restaurant in Hamburg", "favorite restaurants of Hamburg", "cats and dogs"),
        ("the kubernetes cluster", "the kubernets cluster", "the garden party"),
        ("我住在北京市", "北京市很大", "他喜欢喝茶"),
        ("Café Müller", "cafe muller", "train station"),
    ],
)
def test_M8_texts_that_share_words_or_letters_are_closer(a: str, near: str, far: str) -> None:
    assert cosine(a, near) > cosine(a, far) + 0.2


def test_M8_case_accents_and_punctuation_do_not_matter() -> None:
    assert cosine("Ann likes the Café!", "ann LIKES the cafe") == pytest.approx(1)


def test_M8_a_repeated_word_weighs_less_each_time() -> None:
    once, often = cosine("tea milk", "tea"), cosine("tea tea tea tea milk", "tea")
    assert once < often < 0.97


def test_M8_a_long_text_without_blanks_is_embedded() -> None:
    (vector,) = embed("茶" * 100_000)
    assert any(vector)
