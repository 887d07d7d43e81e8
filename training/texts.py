"""Texts as tokens, on the device where they are read, and their vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer

from training.groups import batched

Numbers = NDArray[np.int64]

TOKENS_MAX = 192  # of a text: few are longer, and the time they take is better spent
TOKENS_AT_ONCE = 16_384 if torch.cuda.is_available() else 2_048
WIDTH_STEP = 8
ENCODED_AT_ONCE = 20_000


class Texts:
    """Every text once, by number."""

    def __init__(self, tokenizer: bytes, texts: Sequence[str], device: str) -> None:
        reader = Tokenizer.from_str(tokenizer.decode())
        reader.enable_truncation(max_length=TOKENS_MAX)
        reader.no_padding()
        ids: list[NDArray[np.int32]] = []
        for group in batched(texts, ENCODED_AT_ONCE):
            ids += [np.asarray(one.ids, np.int32) for one in reader.encode_batch(list(group))]
        self.ids = ids
        self.lengths = np.array([len(one) for one in ids])
        starts = np.concatenate([[0], np.cumsum(self.lengths)[:-1]])
        self._tokens = torch.from_numpy(np.concatenate(ids)).to(device)
        self._starts = torch.from_numpy(starts).to(device)
        self._lengths = torch.from_numpy(self.lengths).to(device)
        self.device = device

    def vectors(self, model: Any, numbers: Numbers) -> Any:
        """One row a number, in the order given. Texts of similar length run together, in tables
        of few different shapes: a shape that is new costs a GPU more than the work itself."""
        model.renew()
        order = np.argsort(-self.lengths[numbers], kind="stable")
        rows = []
        start = 0
        while start < len(order):
            width = -(-int(self.lengths[numbers[order[start]]]) // WIDTH_STEP) * WIDTH_STEP
            count = max(1, TOKENS_AT_ONCE // width)
            part = numbers[order[start : start + count]]
            rows.append(model(*self._table(part, count, width))[: len(part)])
            start += count
        return torch.cat(rows)[torch.from_numpy(np.argsort(order)).to(self.device)]

    def _table(self, numbers: Numbers, count: int, width: int) -> tuple[Any, Any]:
        """So many rows, the first ones twice where there are too few."""
        chosen = torch.from_numpy(np.resize(numbers, count)).to(self.device)
        lengths = self._lengths[chosen]
        columns = torch.arange(width, device=self.device)[None, :]
        places = self._starts[chosen][:, None] + columns.clamp_max(lengths[:, None] - 1)
        return self._tokens[places].long() * (columns < lengths[:, None]), lengths
