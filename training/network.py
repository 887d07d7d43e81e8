"""The network of all-MiniLM-L6-v2 in torch, its matrices rounded as they will run.

Parameters have the names of the published weights, with "/" for "." (torch reserves the dot).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from standfast.models.providers.minilm.convert import (
    HEADS,
    LAYERS,
    TABLE,
    TABLE_LEVEL_MAX,
    WEIGHT_LEVEL_MAX,
)
from training.rows import PRODUCT, Floats, Weights

DROPOUT = 0.1
NORM = 1e-12


class Encoder(nn.Module):  # type: ignore[misc,unused-ignore]  # torch may be missing
    """Token ids in, one vector of length 1 a text out."""

    def __init__(self, weights: Mapping[str, Floats], *, rounding: bool = True) -> None:
        super().__init__()
        self._rounding = rounding
        self._matrices: dict[str, Any] = {}
        for name, value in weights.items():
            self.register_parameter(_inner(name), nn.Parameter(torch.tensor(np.asarray(value))))

    def weights(self) -> Weights:
        return {
            name.replace("/", "."): value.detach().float().cpu().numpy()
            for name, value in self.named_parameters()
        }

    def matrices(self) -> Iterator[tuple[str, nn.Parameter]]:
        """What is rounded: the table and the matrices of the products, by published name."""
        for name, value in self.named_parameters():
            if name == _inner(TABLE) or PRODUCT.fullmatch(name.replace("/", ".")):
                yield name.replace("/", "."), value

    def renew(self) -> None:
        """Rounds the matrices as they are now; to be called before texts are read."""
        self._matrices = {
            name: self._rounded(value, TABLE_LEVEL_MAX if name == TABLE else WEIGHT_LEVEL_MAX)
            for name, value in self.matrices()
        }

    def forward(self, ids: Any, lengths: Any) -> Any:
        """``ids`` is texts x tokens, anything beyond a text's length is not read."""
        mask = torch.arange(ids.shape[1], device=ids.device)[None, :] < lengths[:, None]
        prefix = "embeddings."
        words = functional.embedding(ids, self._matrices[TABLE])
        places = self._get(prefix + "position_embeddings.weight")[: ids.shape[1]]
        kind = self._get(prefix + "token_type_embeddings.weight")[0]
        hidden = self._norm(words + places + kind, prefix + "LayerNorm")
        hidden = functional.dropout(hidden, DROPOUT, self.training)
        for layer in range(LAYERS):
            hidden = self._layer(hidden, mask[:, None, None, :], f"encoder.layer.{layer}.")
        shares = mask.unsqueeze(-1).to(hidden.dtype)
        mean = (hidden * shares).sum(1) / shares.sum(1)
        return functional.normalize(mean.float(), dim=-1)

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
        mixed = mixed.transpose(1, 2).flatten(2)
        hidden = self._added(hidden, mixed, attention + "output.")
        wide = functional.gelu(self._linear(hidden, prefix + "intermediate.dense"))
        return self._added(hidden, wide, prefix + "output.")

    def _added(self, hidden: Any, value: Any, prefix: str) -> Any:
        new = functional.dropout(self._linear(value, prefix + "dense"), DROPOUT, self.training)
        return self._norm(new + hidden, prefix + "LayerNorm")

    def _linear(self, value: Any, name: str) -> Any:
        return functional.linear(value, self._matrices[name + ".weight"], self._get(name + ".bias"))

    def _norm(self, value: Any, name: str) -> Any:
        weight, bias = self._get(name + ".weight"), self._get(name + ".bias")
        return functional.layer_norm(value, weight.shape, weight, bias, NORM)

    def _rounded(self, value: nn.Parameter, levels: int) -> Any:
        """Forward the value that will run, backward as if nothing had been rounded."""
        if not (self._rounding and value.requires_grad):
            return value
        with torch.no_grad():
            steps = value.abs().amax(1, keepdim=True).clamp_min(1e-8) / levels
            error = torch.round(value / steps) * steps - value
        return value + error

    def _get(self, name: str) -> Any:
        return self.get_parameter(_inner(name))


def _inner(name: str) -> str:
    return name.replace(".", "/")
