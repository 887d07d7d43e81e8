"""Sentence vectors from all-MiniLM-L6-v2, in this process."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from standfast.errors import Unavailable
from standfast.models.local import box
from standfast.models.local.files import ModelFiles
from standfast.models.local.runtime import LoadedNetwork, readable, shared_network
from standfast.models.local.sentences import DIMENSIONS, LocalEmbedder, Row, SentenceNetwork
from standfast.models.providers.minilm.weights import load_files

TOKENS_MAX = 256  # what the model was trained for; the rest of a longer text is not read


class MiniLmEmbedder(LocalEmbedder):
    space = f"minilm/{DIMENSIONS}"

    def _shared(self) -> SentenceNetwork:
        return shared_network(_Network, lambda: load_files(self._folder), self._threads)


class FormerEmbedder(MiniLmEmbedder):
    """A model that was in the box before: it reads questions for a store that still has its
    space, where somebody has kept its files."""

    def __init__(self, name: str, folder: Path, threads: int) -> None:
        super().__init__(folder, threads=threads)
        self._name = name
        self.space = f"{name}/{DIMENSIONS}"

    @property
    def is_kept(self) -> bool:
        return (self._folder / f"{self._name}.onnx").is_file()

    def _shared(self) -> SentenceNetwork:
        read = partial(box.load_former, self._folder, self._name)
        return shared_network(_Network, read, self._threads)


def former_models(kept: Path, threads: int) -> dict[str, FormerEmbedder]:
    """By space. ``kept`` holds a folder for each of them."""
    found = (FormerEmbedder(name, kept / name, threads) for name in box.FORMER)
    return {one.space: one for one in found if one.is_kept}


class _Network(LoadedNetwork):
    width = DIMENSIONS

    def __init__(self, files: ModelFiles, threads: int) -> None:
        super().__init__(files, threads)
        self.tokenizer.enable_truncation(max_length=TOKENS_MAX)
        self.tokenizer.no_padding()
        special = ("[CLS]", "[SEP]", "[UNK]", "[PAD]")
        self._silent = {self.tokenizer.token_to_id(token) for token in special}

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids per text; none for a text that says nothing to the model."""
        found = self.tokenizer.encode_batch([readable(text) for text in texts])
        return [[] if self._silent.issuperset(text.ids) else text.ids for text in found]

    def run(self, tokens: Sequence[Sequence[int]]) -> list[Row]:
        ids = np.zeros((len(tokens), max(map(len, tokens))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for place, found in enumerate(tokens):
            ids[place, : len(found)] = found
            mask[place, : len(found)] = 1
        try:
            answer = self.session.run(None, {"input_ids": ids, "attention_mask": mask})
        except Exception as error:
            raise Unavailable(f"minilm failed: {error}") from error
        vectors: NDArray[np.float32] = answer[0]
        return [tuple(vector) for vector in vectors.tolist()]
