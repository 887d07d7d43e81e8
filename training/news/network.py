"""The network of recall-1's base with two answers instead of a vector, rounded as it will run."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.nn import functional

from standfast.models.providers.minilm.convert import DIMENSIONS, LAYERS, TABLE
from standfast.models.providers.minilm.news import HEAD, HEAD_BIAS, TASKS
from training.network import DROPOUT, Encoder
from training.rows import Weights

HEAD_SPREAD = 0.02


class Reader(Encoder):
    """Token ids in, one number for each question out. The table of words stays as it was: it is
    half of the weights, and learns nothing from so few texts."""

    def __init__(self, weights: Weights) -> None:
        dice = np.random.default_rng(0)  # the same in all runs, so that their mean has a meaning
        head = dice.normal(0, HEAD_SPREAD, (len(TASKS), DIMENSIONS)).astype(np.float32)
        super().__init__({HEAD: head, HEAD_BIAS: np.zeros(len(TASKS), np.float32), **weights})
        self.get_parameter(TABLE.replace(".", "/")).requires_grad_(False)

    def forward(self, ids: Any, lengths: Any, kinds: Any = None) -> Any:
        """``kinds``: 0 for the tokens of what is known, 1 for those of what is said."""
        mask = torch.arange(ids.shape[1], device=ids.device)[None, :] < lengths[:, None]
        prefix = "embeddings."
        words = functional.embedding(ids, self._matrices[TABLE])
        places = self._get(prefix + "position_embeddings.weight")[: ids.shape[1]]
        sides = functional.embedding(kinds, self._get(prefix + "token_type_embeddings.weight"))
        hidden = self._norm(words + places + sides, prefix + "LayerNorm")
        hidden = functional.dropout(hidden, DROPOUT, self.training)
        for layer in range(LAYERS):
            hidden = self._layer(hidden, mask[:, None, None, :], f"encoder.layer.{layer}.")
        shares = mask.unsqueeze(-1).to(hidden.dtype)
        mean = ((hidden * shares).sum(1) / shares.sum(1)).float()
        mean = functional.dropout(mean, DROPOUT, self.training)
        return functional.linear(mean, self._get(HEAD), self._get(HEAD_BIAS))
