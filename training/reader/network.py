"""The reader in torch: the layers of the base, marks of structure, and one linear head."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from standfast.understanding.reading.layout import PAD
from standfast.understanding.reading.structure import MARKS
from training.encoder.network import TABLE, Layers
from training.encoder.published import Floats

HEAD, HEAD_BIAS = "head.weight", "head.bias"
STRUCTURE = "structure.weight"  # one row for each mark; as exported, for each combination
BITS = 4
HEAD_SPREAD = 0.02

Weights = Mapping[str, Floats]


class Reader(Layers):
    """Piece ids and marks in, the numbers of the head for every piece out."""

    def forward(self, ids: Any, marks: Any) -> Any:
        bits = (marks[..., None] >> torch.arange(BITS, device=marks.device)) & 1
        prefix = "embeddings."
        hidden = (
            functional.embedding(ids, self.table)
            + self._get(prefix + "position_embeddings.weight")[: ids.shape[1]]
            + self._get(prefix + "token_type_embeddings.weight")[0]
            + bits.float() @ self._get(STRUCTURE)
        )
        hidden = self._dropped(self._norm(hidden, prefix + "LayerNorm"))
        mask = (ids != PAD)[:, None, None, :]
        for layer in range(self.depth):
            hidden = self._layer(hidden, mask, f"encoder.layer.{layer}.")
        return functional.linear(self._dropped(hidden), self._get(HEAD), self._get(HEAD_BIAS))

    def groups(self, rate: float, head_rate: float, decay: float) -> list[dict[str, Any]]:
        """The parameters by how they learn: what is new learns faster, vectors do not decay."""
        found: dict[tuple[bool, bool], list[nn.Parameter]] = {}
        for name, value in self.named_parameters():
            new = name.startswith(("head", "structure"))
            found.setdefault((new, value.ndim > 1), []).append(value)
        return [
            {
                "params": values,
                "lr": head_rate if new else rate,
                "weight_decay": decay if matrix else 0.0,
            }
            for (new, matrix), values in found.items()
        ]


def initial(base: Weights, size: int, seed: int = 0) -> dict[str, Floats]:
    """The base with a new head; the same for every run, so that runs can be averaged."""
    dice = np.random.default_rng(seed)
    width = base[TABLE].shape[1]
    return {
        **base,
        HEAD: dice.normal(0, HEAD_SPREAD, (size, width)).astype(np.float32),
        HEAD_BIAS: np.zeros(size, np.float32),
        STRUCTURE: np.zeros((BITS, width), np.float32),
    }


def combinations(structure: Floats) -> Floats:
    """A row for each combination of marks, as the product adds them to the rows of the pieces."""
    bits = (np.arange(MARKS)[:, None] >> np.arange(BITS)) & 1
    return np.asarray(bits @ structure, np.float32)
