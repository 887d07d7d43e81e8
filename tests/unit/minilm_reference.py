"""all-MiniLM-L6-v2 in plain numpy and 32-bit floats: slow, short, and the measure of the graph."""

from __future__ import annotations

from math import erf, sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]

gelu = np.vectorize(lambda value: value * (1 + erf(value / sqrt(2))) / 2, otypes=[np.float32])


class Reference:
    """One text at a time, so there is no padding and no mask to get wrong."""

    def __init__(self, folder: Path) -> None:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        self.weights: dict[str, Array] = load_file(folder / "model.safetensors")
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_truncation(max_length=256)
        self.tokenizer.no_padding()

    @classmethod
    def of(cls, weights: dict[str, Array], tokenizer: bytes) -> Reference:
        """Of weights that are no file."""
        from tokenizers import Tokenizer

        made = cls.__new__(cls)
        made.weights = weights
        made.tokenizer = Tokenizer.from_str(tokenizer.decode())
        return made

    def vectors(self, texts: list[str]) -> Array:
        return np.stack([self.vector(text) for text in texts])

    def vector(self, text: str) -> Array:
        ids = self.tokenizer.encode(text).ids
        table = {
            kind: self.weights[f"embeddings.{kind}_embeddings.weight"]
            for kind in ("word", "position", "token_type")
        }
        hidden = table["word"][ids] + table["position"][: len(ids)] + table["token_type"][0]
        hidden = self.normal(hidden, "embeddings")
        for layer in range(6):
            hidden = self.layer(hidden, f"encoder.layer.{layer}")
        mean = hidden.mean(axis=0)
        return np.asarray(mean / np.linalg.norm(mean), dtype=np.float32)

    def layer(self, hidden: Array, name: str) -> Array:
        mixed = self.linear(self.attended(hidden, name), f"{name}.attention.output.dense")
        hidden = self.normal(mixed + hidden, f"{name}.attention.output")
        wide = gelu(self.linear(hidden, f"{name}.intermediate.dense"))
        return self.normal(self.linear(wide, f"{name}.output.dense") + hidden, f"{name}.output")

    def attended(self, hidden: Array, name: str) -> Array:
        query, key, value = (
            self.linear(hidden, f"{name}.attention.self.{part}").reshape(-1, 12, 32).swapaxes(0, 1)
            for part in ("query", "key", "value")
        )
        scores = query @ key.swapaxes(1, 2) / np.float32(sqrt(32))
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        return (weights @ value).swapaxes(0, 1).reshape(len(hidden), 384)

    def linear(self, value: Array, name: str) -> Array:
        return value @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def normal(self, value: Array, name: str) -> Array:
        centred = value - value.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
        weight, bias = (self.weights[f"{name}.LayerNorm.{part}"] for part in ("weight", "bias"))
        return np.asarray(centred / spread * weight + bias, dtype=np.float32)
