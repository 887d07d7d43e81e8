"""The base that the networks of the box share, and the graphs written for it."""

from __future__ import annotations

import asyncio
import json
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast.errors import Incompatible, Unavailable
from standfast.models.local import base, box
from standfast.models.local.recall import BoxedEmbedder
from tests.unit.minilm_reference import Reference
from training.encoder.published import unpacked

PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁tea", "▁at", "▁four", "▁in", "▁Oslo", "▁"]
LAYERS = 6  # as many as the reference has


def weights() -> dict[str, np.ndarray]:
    dice = np.random.default_rng(1)
    found: dict[str, np.ndarray] = {
        "embeddings.position_embeddings.weight": dice.normal(0, 0.1, (64, 384)),
        "embeddings.token_type_embeddings.weight": dice.normal(0, 0.1, (2, 384)),
        "embeddings.LayerNorm.weight": np.ones(384),
        "embeddings.LayerNorm.bias": np.zeros(384),
    }
    sizes = {
        "attention.self.query": (384, 384), "attention.self.key": (384, 384),
        "attention.self.value": (384, 384), "attention.output.dense": (384, 384),
        "intermediate.dense": (1536, 384), "output.dense": (384, 1536),
    }  # fmt: skip
    for layer in range(LAYERS):
        prefix = f"encoder.layer.{layer}."
        for name, size in sizes.items():
            found[f"{prefix}{name}.weight"] = dice.normal(0, 0.05, size)
            found[f"{prefix}{name}.bias"] = dice.normal(0, 0.05, size[0])
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            found[f"{prefix}{name}.weight"] = np.ones(384)
            found[f"{prefix}{name}.bias"] = np.zeros(384)
    return {name: value.astype(np.float32) for name, value in found.items()}


def tokenizer() -> bytes:
    model = {
        "type": "Unigram", "unk_id": 3, "vocab": [[piece, -1.0] for piece in PIECES],
        "byte_fallback": False,
    }  # fmt: skip
    marks = {
        "type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True,
    }  # fmt: skip
    whole = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [],
        "normalizer": None, "pre_tokenizer": marks, "post_processor": None, "decoder": None,
        "model": model,
    }  # fmt: skip
    return json.dumps(whole).encode()


@pytest.fixture(scope="module")
def blocks() -> np.ndarray:
    dice = np.random.default_rng(2)
    raw = dice.integers(0, 256, (len(PIECES), 12, 18), dtype=np.uint8)
    raw[..., :2] = np.full(raw.shape[:2], 0.02, np.float16)[..., None].view(np.uint8)
    return raw.reshape(-1)


@pytest.fixture(scope="module")
def shared(blocks: np.ndarray) -> base.Base:
    return base.Base(tokenizer(), blocks)


def network(
    kind: str, shared: base.Base, more: dict[str, np.ndarray], width: int
) -> base.BaseNetwork:
    content = getattr(base, kind)({**weights(), **more})

    class Made(base.BaseNetwork):
        pass

    Made.width = width
    return Made(base.BaseFiles(onnx=content, tokenizer=b"", origin="", base=shared), 1)


@given(st.lists(st.lists(st.integers(0, len(PIECES) - 1), min_size=3, max_size=3), min_size=1))
def test_X24_rows_of_the_table_are_the_published_numbers(
    shared: base.Base, blocks: np.ndarray, ids: list[list[int]]
) -> None:
    table = unpacked(blocks).reshape(len(PIECES), 384)
    assert np.array_equal(shared.rows(np.array(ids)), table[np.array(ids)])


def test_X24_the_graph_gives_what_plain_arithmetic_gives(
    shared: base.Base, blocks: np.ndarray
) -> None:
    """Up to the rounding of its integer products; company changes nothing."""
    encoder = network("onnx_of_encoder", shared, {}, 384)
    texts = ["tea at four", "in Oslo"]
    tokens = [[0, *one.ids, 2] for one in shared.encode(texts)]
    found = np.asarray(encoder.run(tokens))
    table = {"embeddings.word_embeddings.weight": unpacked(blocks).reshape(len(PIECES), 384)}
    plain = Reference.of({**weights(), **table}, tokenizer())
    plain.tokenizer = _Marked(shared)  # type: ignore[assignment]
    for vector, text in zip(found, texts, strict=True):
        assert float(vector @ plain.vector(text)) > 0.99
    assert np.allclose(found[1], np.asarray(encoder.run(tokens[1:]))[0], atol=1e-6)


class _Marked:
    """Encodes as the networks read it."""

    def __init__(self, shared: base.Base) -> None:
        self._shared = shared

    def encode(self, text: str) -> base.Encoding:
        (one,) = self._shared.encode([text])
        return base.Encoding([0, *one.ids, 2], [])


def test_X24_a_head_gives_numbers_for_each_piece(shared: base.Base) -> None:
    dice = np.random.default_rng(3)
    more = {
        "head.weight": dice.normal(0, 1, (5, 384)).astype(np.float32),
        "head.bias": np.arange(5, dtype=np.float32),
    }
    found = network("onnx_of_head", shared, more, 5).run([[0, 4, 5, 2], [0, 6, 2]])
    assert np.asarray(found).shape == (2, 4, 5)


def test_X24_offsets_point_into_the_text(shared: base.Base) -> None:
    (found,) = shared.encode(["tea at four"])
    assert ["tea at four"[a:b].strip() for a, b in found.offsets] == ["tea", "at", "four"]


def test_X24_a_table_of_another_tokenizer_is_refused(blocks: np.ndarray) -> None:
    with pytest.raises(Incompatible, match="do not belong together"):
        base.Base(tokenizer(), blocks[: 12 * 18])


def test_X24_a_changed_table_is_refused_and_a_missing_one_said(
    tmp_path: Path, blocks: np.ndarray
) -> None:
    path = tmp_path / "words.q4"
    with pytest.raises(Unavailable, match="cannot read"):
        base.shared_base(tokenizer(), path, "0" * 64, "is damaged")
    path.write_bytes(blocks.tobytes())
    with pytest.raises(Incompatible, match="is damaged"):
        base.shared_base(tokenizer(), path, "0" * 64, "is damaged")
    expected = sha256(blocks.tobytes()).hexdigest()
    one = base.shared_base(tokenizer(), path, expected, "is damaged")
    assert one is base.shared_base(tokenizer(), path, expected, "is damaged"), "loaded once"


@pytest.mark.parametrize(
    ("question", "memory", "other"),
    [
        (
            "Was darf unser Haustier fressen?",
            "Unser Kater bekommt Nierenfutter.",
            "Der Zug war spät.",
        ),
        ("ペットは何を食べますか", "うちの猫は腎臓用のフードだけです。", "電車が遅れました。"),
        ("What may the pet eat?", "Наш кот ест только лечебный корм.", "Поезд опоздал."),
    ],
)  # fmt: skip
def test_X24_a_question_lies_nearer_to_its_answer_in_any_language(
    question: str, memory: str, other: str
) -> None:
    folder = box.place()
    assert folder is not None
    asked, told, beside = map(
        np.array, asyncio.run(BoxedEmbedder(folder, threads=1).embed([question, memory, other]))
    )
    assert asked @ told > asked @ beside
