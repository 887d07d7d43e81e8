"""The local model gives the vectors of the published one, alone and in any company."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from standfast.errors import Invalid, Unavailable, install_command
from standfast.models.local import runtime, sentences
from standfast.models.local.runtime import batches
from standfast.models.providers.minilm import weights
from standfast.models.providers.minilm.model import MiniLmEmbedder
from tests.unit.minilm_reference import Reference

Matrix = NDArray[np.float32]

TEXTS = [
    "Ann moved from Berlin to Hamburg in spring",
    "She prefers tea",
    "The deployment failed because the certificate had expired the night before, and nobody "
    "was told until the first customers called in the morning",
    "dark mode",
    "¿Dónde está la biblioteca?",
]


def embedded(embedder: MiniLmEmbedder, texts: Sequence[str]) -> Matrix:
    return np.asarray(asyncio.run(embedder.embed(texts)), dtype=np.float32)


@pytest.fixture(scope="session")
def minilm(minilm_folder: Path) -> MiniLmEmbedder:
    return MiniLmEmbedder(minilm_folder)


@pytest.fixture
def damaged(minilm_folder: Path, tmp_path: Path) -> Path:
    """A copy of the model that a test may damage."""
    for name in (weights.BUILT, weights.TOKENIZER, weights.MANIFEST):
        (tmp_path / name).write_bytes((minilm_folder / name).read_bytes())
    return tmp_path


def test_it_says_what_it_is_without_loading_anything(tmp_path: Path) -> None:
    embedder = MiniLmEmbedder(tmp_path / "nowhere")
    assert (embedder.space, embedder.dimensions, embedder.local) == ("minilm/384", 384, True)
    assert asyncio.run(embedder.embed([])) == []


def test_no_thread_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="at least 1 thread"):
        MiniLmEmbedder(tmp_path, threads=0)


def test_a_missing_model_says_what_to_do(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="needs the extra `local`")
    pytest.importorskip("tokenizers", reason="needs the extra `local`")
    with pytest.raises(Unavailable, match="standfast model pull minilm"):
        embedded(MiniLmEmbedder(tmp_path), ["tea"])


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers"])
def test_a_missing_package_says_what_to_install(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(Unavailable, match=re.escape(install_command("local"))):
        embedded(MiniLmEmbedder(tmp_path), ["tea"])


@given(st.lists(st.integers(0, 256)))
def test_every_text_is_in_one_batch_with_its_like(lengths: list[int]) -> None:
    found = list(batches(lengths))
    places = [place for batch in found for place in batch]
    assert sorted(places) == [place for place, length in enumerate(lengths) if length]
    assert [lengths[place] for place in places] == sorted(filter(None, lengths))
    for batch in found:
        assert 0 < len(batch) <= runtime.BATCH_TEXTS_MAX
        assert len(batch) * max(lengths[place] for place in batch) <= runtime.BATCH_TOKENS_MAX


def test_the_vectors_are_those_of_the_published_weights(
    minilm: MiniLmEmbedder, published: Path
) -> None:
    expected = Reference(published).vectors(TEXTS[:3])
    actual = embedded(minilm, TEXTS[:3])
    cosines = (expected * actual).sum(axis=1)
    assert cosines.min() > 0.985, "8-bit integers cost a little, a wrong graph much more"
    assert cosines.mean() > 0.99


def test_meaning_is_near_and_noise_is_far(minilm: MiniLmEmbedder) -> None:
    mode, theme, train = embedded(
        minilm,
        ["The user prefers dark mode", "The user likes a dark theme", "The train was late again"],
    )
    assert mode @ theme > 0.6
    assert mode @ train < 0.2


def test_vectors_have_length_one(minilm: MiniLmEmbedder) -> None:
    assert np.linalg.norm(embedded(minilm, TEXTS), axis=1) == pytest.approx(1, abs=1e-5)


def test_order_is_kept_and_company_changes_nothing(minilm: MiniLmEmbedder) -> None:
    texts = [f"{text} {number}" for number in range(12) for text in TEXTS]
    together = embedded(minilm, texts)
    one_by_one = np.concatenate([embedded(minilm, [text]) for text in texts])
    backwards = embedded(minilm, texts[::-1])[::-1]
    assert np.abs(together - one_by_one).max() < 1e-5
    assert np.abs(together - backwards).max() < 1e-5


@pytest.mark.parametrize("text", ["", "   \n", "🜲", "\u200b", "x" * 1_000_000])
def test_a_text_without_a_known_word_is_the_zero_vector(text: str, minilm: MiniLmEmbedder) -> None:
    assert not embedded(minilm, [text]).any()
    assert not embedded(minilm, [text, "tea"])[0].any()


@pytest.mark.parametrize("text", ["tea 🍵 time", "\ud83d half a character", "naïve café", "漢字"])
def test_odd_characters_do_no_harm(text: str, minilm: MiniLmEmbedder) -> None:
    assert np.linalg.norm(embedded(minilm, [text])[0]) == pytest.approx(1, abs=1e-5)


def test_a_megabyte_is_read_as_far_as_the_model_reads(minilm: MiniLmEmbedder) -> None:
    words = "the certificate expired last night " * 30_000
    assert len(words) > 1_000_000
    whole, start = embedded(minilm, [words, words[:4_000]])
    assert np.abs(whole - start).max() < 1e-5


def test_many_at_once_get_their_own_vectors(minilm_folder: Path) -> None:
    embedder = MiniLmEmbedder(minilm_folder)

    async def all_at_once() -> list[Any]:
        return await asyncio.gather(*(embedder.embed([t, t[::-1]]) for t in TEXTS * 3))

    answers = asyncio.run(all_at_once())
    expected = embedded(embedder, TEXTS)
    for place, answer in enumerate(answers):
        assert np.abs(np.asarray(answer[0]) - expected[place % len(TEXTS)]).max() < 1e-5


def test_the_event_loop_goes_on_meanwhile(minilm: MiniLmEmbedder) -> None:
    async def ticks_while_embedding() -> int:
        work = asyncio.ensure_future(minilm.embed([TEXTS[2] * 4] * 64))
        ticks = 0
        while not work.done():
            await asyncio.sleep(0.001)
            ticks += 1
        return ticks

    assert asyncio.run(ticks_while_embedding()) > 10


def test_a_query_is_remembered_and_the_oldest_forgotten(
    minilm_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = MiniLmEmbedder(minilm_folder)
    embedded(embedder, ["tea"])
    network = embedder._network
    assert network is not None
    seen: list[str] = []
    tokens = network.tokens
    monkeypatch.setattr(network, "tokens", lambda texts: seen.extend(texts) or tokens(texts))
    for text in ["tea", *map(str, range(sentences.QUERIES_KEPT)), "tea"]:
        embedded(embedder, [text])
    assert seen.count("tea") == 1, "kept at first, pushed out by 256 others, embedded again"


def test_a_failing_session_is_unavailable(
    minilm_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        def run(self, *_: object) -> None:
            raise RuntimeError("out of memory")

    embedder = MiniLmEmbedder(minilm_folder)
    embedded(embedder, ["tea"])
    monkeypatch.setattr(embedder._network, "session", Broken())
    with pytest.raises(Unavailable, match="out of memory"):
        embedded(embedder, ["coffee"])


def test_a_truncated_model_is_refused_and_heals(damaged: Path, minilm_folder: Path) -> None:
    built = damaged / weights.BUILT
    built.write_bytes(built.read_bytes()[:-1000])
    embedder = MiniLmEmbedder(damaged)
    with pytest.raises(Unavailable, match=r"minilm\.onnx is damaged or changed; run"):
        embedded(embedder, ["tea"])
    built.write_bytes((minilm_folder / weights.BUILT).read_bytes())
    assert embedded(embedder, ["tea"]).any()


@pytest.mark.parametrize("name", [weights.BUILT, weights.TOKENIZER])
def test_one_changed_byte_is_refused(name: str, damaged: Path) -> None:
    content = bytearray((damaged / name).read_bytes())
    content[len(content) // 2] ^= 1
    (damaged / name).write_bytes(content)
    with pytest.raises(Unavailable, match=f"{name} is damaged or changed"):
        embedded(MiniLmEmbedder(damaged), ["tea"])


def test_a_model_of_another_dimension_is_refused(damaged: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="needs the extra `local`")
    content = other_model(onnx, 768)
    (damaged / weights.BUILT).write_bytes(content)
    manifest = json.loads((damaged / weights.MANIFEST).read_text())
    manifest["built"] = sha256(content).hexdigest()
    (damaged / weights.MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(Unavailable, match="768 dimensions, not 384"):
        embedded(MiniLmEmbedder(damaged), ["tea"])


def other_model(onnx: Any, dimensions: int) -> bytes:
    """A graph that onnxruntime loads gladly, with the wrong number of dimensions."""
    inputs = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.INT64, ["texts", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    output = onnx.helper.make_tensor_value_info(
        "embedding", onnx.TensorProto.INT64, ["texts", dimensions]
    )
    node = onnx.helper.make_node("Add", ["input_ids", "attention_mask"], ["embedding"])
    graph = onnx.helper.make_graph([node], "other", inputs, [output])
    opset = [onnx.helper.make_opsetid("", 18)]
    return bytes(
        onnx.helper.make_model(graph, opset_imports=opset, ir_version=9).SerializeToString()
    )


def test_where_one_batch_fails_no_more_are_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []

    class Failing:
        def tokens(self, texts: Sequence[str]) -> list[list[int]]:
            return [[7] * 200 for _ in texts]  # each is a batch of its own

        def run(self, tokens: Sequence[Sequence[int]]) -> list[tuple[float, ...]]:
            begun.append(len(tokens))
            raise Unavailable("it broke")

    embedder = MiniLmEmbedder(Path("nowhere"), threads=2)
    monkeypatch.setattr(embedder, "_load", Failing)
    with pytest.raises(Unavailable, match="it broke"):
        asyncio.run(embedder.embed([f"text {number}" for number in range(50)]))
    assert len(begun) <= 4
