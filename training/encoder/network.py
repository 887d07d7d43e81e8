"""The layers of the base in torch, their matrices rounded as they will run.

Every network of the box is trained on it: token ids in, one vector of 384 for each piece out.
The table of pieces is shared by all of them and never changes. Parameters have the published
names, with "/" for "." (torch reserves the dot).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from training.encoder.published import HEADS, Floats

TABLE = "embeddings.word_embeddings.weight"
MATRIX = re.compile(r"encoder\.layer\.\d+\..*(query|key|value|dense)\.weight")
LEVELS = 64  # as the ONNX graph has it: products of 7-bit weights fit 16-bit sums everywhere
DROPOUT = 0.1
NORM = 1e-12


class Layers(nn.Module):  # type: ignore[misc,unused-ignore]  # torch may be missing
    """``rounding``: the matrices are used as the 8-bit rows that will run."""

    def __init__(self, weights: Mapping[str, Floats], *, rounding: bool = True) -> None:
        super().__init__()
        self._rounding = rounding
        self._matrices: dict[str, Any] = {}
        for name, value in weights.items():
            numbers = torch.tensor(np.asarray(value, np.float32))
            if name == TABLE:
                self.register_buffer("table", numbers, persistent=False)
            else:
                self.register_parameter(name.replace(".", "/"), nn.Parameter(numbers))
        found = (re.match(r"encoder\.layer\.(\d+)\.", name) for name in weights)
        self.depth = 1 + max(int(one[1]) for one in found if one)

    def weights(self) -> dict[str, Floats]:
        """Without the table, by published names."""
        return {
            name.replace("/", "."): value.detach().float().cpu().numpy()
            for name, value in self.named_parameters()
        }

    def renew(self) -> None:
        """Rounds the matrices as they are now; to be called before texts are read."""
        self._matrices = {
            name: self._rounded(value)
            for name, value in self.named_parameters()
            if MATRIX.fullmatch(name.replace("/", "."))
        }

    def forward(self, ids: Any, mask: Any) -> Any:
        """Both are texts x pieces; ``mask`` is true where there is one."""
        prefix = "embeddings."
        words = functional.embedding(ids, self.table)
        places = self._get(prefix + "position_embeddings.weight")[: ids.shape[1]]
        kind = self._get(prefix + "token_type_embeddings.weight")[0]
        hidden = self._dropped(self._norm(words + places + kind, prefix + "LayerNorm"))
        for layer in range(self.depth):
            hidden = self._layer(hidden, mask[:, None, None, :], f"encoder.layer.{layer}.")
        return hidden

    def _layer(self, hidden: Any, mask: Any, prefix: str) -> Any:
        attention = prefix + "attention."
        query, key, value = (
            self._linear(hidden, f"{attention}self.{part}")
            .unflatten(-1, (HEADS, -1))
            .transpose(1, 2)
            for part in ("query", "key", "value")
        )
        dropout = DROPOUT if self.training else 0.0
        mixed = functional.scaled_dot_product_attention(
            query, key, value, attn_mask=mask, dropout_p=dropout
        )
        hidden = self._added(hidden, mixed.transpose(1, 2).flatten(2), attention + "output.")
        wide = functional.gelu(self._linear(hidden, prefix + "intermediate.dense"))
        return self._added(hidden, wide, prefix + "output.")

    def _added(self, hidden: Any, value: Any, prefix: str) -> Any:
        return self._norm(
            self._dropped(self._linear(value, prefix + "dense")) + hidden, prefix + "LayerNorm"
        )

    def _dropped(self, value: Any) -> Any:
        return functional.dropout(value, DROPOUT, self.training)

    def _linear(self, value: Any, name: str) -> Any:
        matrix = self._matrices[name.replace(".", "/") + "/weight"]
        return functional.linear(value, matrix, self._get(name + ".bias"))

    def _norm(self, value: Any, name: str) -> Any:
        weight, bias = self._get(name + ".weight"), self._get(name + ".bias")
        return functional.layer_norm(value, weight.shape, weight, bias, NORM)

    def _rounded(self, value: nn.Parameter) -> Any:
        """Forward the value that will run, backward as if nothing had been rounded."""
        if not self._rounding:
            return value
        with torch.no_grad():
            steps = value.abs().amax(1, keepdim=True).clamp_min(1e-8) / LEVELS
            error = torch.round(value / steps) * steps - value
        return value + error

    def _get(self, name: str) -> Any:
        return self.get_parameter(name.replace(".", "/"))


def sentence(hidden: Any, mask: Any) -> Any:
    """The mean of the pieces, of length 1."""
    shares = mask.unsqueeze(-1).to(hidden.dtype)
    mean = (hidden * shares).sum(1) / shares.sum(1)
    return functional.normalize(mean.float(), dim=-1)
