"""A model of the same build as the real one, small enough to train in a test."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from training.rows import Weights

HEADS, LAYERS = 12, 6
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


def weights(vocabulary: int, width: int = 24, seed: int = 1) -> Weights:
    rng = np.random.default_rng(seed)

    def matrix(*shape: int) -> NDArray[np.float32]:
        return rng.normal(0, 0.1, shape).astype(np.float32)

    found = {
        "embeddings.word_embeddings.weight": matrix(vocabulary, width),
        "embeddings.position_embeddings.weight": matrix(512, width),
        "embeddings.token_type_embeddings.weight": matrix(2, width),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        prefix = f"encoder.layer.{layer}."
        norms += [prefix + "attention.output.LayerNorm", prefix + "output.LayerNorm"]
        sizes = {
            "attention.self.query": (width, width),
            "attention.self.key": (width, width),
            "attention.self.value": (width, width),
            "attention.output.dense": (width, width),
            "intermediate.dense": (4 * width, width),
            "output.dense": (width, 4 * width),
        }
        for name, shape in sizes.items():
            found[f"{prefix}{name}.weight"] = matrix(*shape)
            found[f"{prefix}{name}.bias"] = matrix(shape[0])
    for name in norms:
        found[name + ".weight"] = np.ones(width, np.float32)
        found[name + ".bias"] = np.zeros(width, np.float32)
    return found


def tokenizer(words: Sequence[str]) -> bytes:
    """One token a word, the texts between [CLS] and [SEP]."""
    vocabulary = {word: number for number, word in enumerate((*SPECIAL, *words))}
    ends = [{"SpecialToken": {"id": token, "type_id": 0}} for token in ("[CLS]", "[SEP]")]
    text = {"Sequence": {"id": "A", "type_id": 0}}
    return json.dumps(
        {
            "version": "1.0",
            "added_tokens": [
                {"id": vocabulary[token], "content": token, "special": True, "single_word": False,
                 "lstrip": False, "rstrip": False, "normalized": False}
                for token in SPECIAL
            ],
            "normalizer": {"type": "Lowercase"},
            "pre_tokenizer": {"type": "Whitespace"},
            "post_processor": {
                "type": "TemplateProcessing",
                "single": [ends[0], text, ends[1]],
                "pair": [ends[0], text, ends[1]],
                "special_tokens": {
                    token: {"id": token, "ids": [vocabulary[token]], "tokens": [token]}
                    for token in ("[CLS]", "[SEP]")
                },
            },
            "decoder": None,
            "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"},
        }
    ).encode()  # fmt: skip
