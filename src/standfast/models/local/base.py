"""What every network of the box shares: the tokenizer, and the table of its pieces.

A text is cut into pieces, each piece has 384 numbers in the table, and a network reads those. The
table keeps them in blocks of 32 with 4 bits each and one scale, as they were published.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from standfast.errors import Incompatible, Unavailable
from standfast.models.local.files import ModelFiles
from standfast.models.local.layers import (
    Floats,
    NamedGraph,
    add_first_norm,
    add_layers,
    add_mean,
    add_places,
)
from standfast.models.local.runtime import LoadedNetwork, libraries, readable, session
from standfast.types.frozen import frozen

WIDTH = 384
BLOCK = 32
BLOCK_BYTES = 18  # a scale in 16 bits and 32 numbers of 4
START, PAD, END, UNKNOWN = range(4)
WORDS, MASK = "words", "attention_mask"
EMBEDDING, HEAD = "embedding", "head"
VERSION = 1

Ids = NDArray[np.int64]


class Encoding(NamedTuple):
    """The pieces of a text, and where in it each of them stands."""

    ids: list[int]
    offsets: list[tuple[int, int]]


class Base:
    """The tokenizer and the table of a folder, checked by whoever gives their content."""

    def __init__(self, pieces: bytes, table: NDArray[np.uint8]) -> None:
        _, reader = libraries()
        self._tokenizer = reader.from_str(pieces.decode())
        self.space = self._tokenizer.token_to_id("▁")  # of a space that nothing follows
        self._blocks = table.reshape(-1, WIDTH // BLOCK, BLOCK_BYTES)
        if self._tokenizer.get_vocab_size() != len(self._blocks):
            raise Incompatible("the tokenizer and the table of the model do not belong together")

    def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Without the marks of beginning and end. Each text is read up to a bound."""
        found = self._tokenizer.encode_batch(
            [readable(text) for text in texts], add_special_tokens=False
        )
        return [Encoding(one.ids, one.offsets) for one in found]

    def rows(self, ids: Ids) -> Floats:
        """The numbers of each piece."""
        raw = self._blocks[ids]
        scale = raw[..., :2].copy().view(np.float16).astype(np.float32)
        whole = np.concatenate([raw[..., 2:] & 15, raw[..., 2:] >> 4], -1).astype(np.float32)
        return ((whole - 8) * scale).reshape(*ids.shape, WIDTH)


_bases: WeakValueDictionary[str, Base] = WeakValueDictionary()


def shared_base(pieces: bytes, table: Path, expected: str, damaged: str) -> Base:
    """One for all networks of a process. Incompatible: the table is another."""
    key = f"{sha256(pieces).hexdigest()}-{expected}"
    found = _bases.get(key)
    if found is None:
        found = _bases[key] = Base(pieces, _mapped(table, expected, damaged))
    return found


def _mapped(table: Path, expected: str, damaged: str) -> NDArray[np.uint8]:
    try:
        content: NDArray[np.uint8] = np.memmap(table, np.uint8, mode="r")
    except (OSError, ValueError) as error:
        raise Unavailable(f"cannot read {table}: {error}") from error
    if (actual := sha256(content.data).hexdigest()) != expected:
        raise Incompatible(
            f"{table} {damaged} (SHA-256 {actual[:12]}… instead of {expected[:12]}…)"
        )
    return content


@frozen(kw_only=False)
class BaseFiles(ModelFiles):
    base: Base


class BaseNetwork(LoadedNetwork):
    """A network of the base: pieces of texts in, ``width`` numbers for each text or piece out."""

    def __init__(self, files: BaseFiles, threads: int) -> None:
        onnxruntime, _ = libraries()
        self.base = files.base
        self.session = session(onnxruntime, files.onnx, threads, self.width)

    def run(self, tokens: Sequence[Sequence[int]]) -> Any:
        """Of texts as pieces; what is beyond the end of a shorter one means nothing."""
        ids = np.full((len(tokens), max(map(len, tokens))), PAD, dtype=np.int64)
        mask = np.zeros_like(ids)
        for place, found in enumerate(tokens):
            ids[place, : len(found)] = found
            mask[place, : len(found)] = 1
        try:
            return self.session.run(None, {WORDS: self.base.rows(ids), MASK: mask})[0]
        except Exception as error:
            raise Unavailable(f"the model in the box failed: {error}") from error


def onnx_of_encoder(weights: Mapping[str, Floats]) -> bytes:
    """One vector of length 1 for each text; the same bytes each time."""
    graph = NamedGraph(weights)
    mean = add_mean(graph, _hidden(graph))
    graph.op("LpNormalization", mean, axis=1, p=2, output=EMBEDDING)
    return graph.file(EMBEDDING, [MASK], EMBEDDING, ["texts", WIDTH], VERSION, wide={WORDS: WIDTH})


def onnx_of_head(weights: Mapping[str, Floats]) -> bytes:
    """For each piece as many numbers as ``head.weight`` has rows."""
    graph = NamedGraph(weights)
    matrix = graph.constant("head.matrix", np.ascontiguousarray(weights["head.weight"].T))
    product = graph.op("MatMul", _hidden(graph), matrix)
    graph.op("Add", product, graph.weight("head.bias"), output=HEAD)
    shape: list[str | int] = ["texts", "tokens", len(weights["head.bias"])]
    return graph.file(HEAD, [MASK], HEAD, shape, VERSION, wide={WORDS: WIDTH})


def onnx_of_pair(weights: Mapping[str, Floats]) -> bytes:
    """For each text, which is a pair of statements, as many numbers as ``head.weight`` has
    rows."""
    graph = NamedGraph(weights)
    matrix = graph.constant("head.matrix", np.ascontiguousarray(weights["head.weight"].T))
    product = graph.op("MatMul", add_mean(graph, _hidden(graph)), matrix)
    graph.op("Add", product, graph.weight("head.bias"), output=HEAD)
    shape: list[str | int] = ["texts", len(weights["head.bias"])]
    return graph.file(HEAD, [MASK], HEAD, shape, VERSION, wide={WORDS: WIDTH})


def _hidden(graph: NamedGraph) -> str:
    first = add_first_norm(graph, add_places(graph, WORDS))
    return add_layers(graph, first, depth(graph.weights))


def depth(weights: Mapping[str, Floats]) -> int:
    prefix = "encoder.layer."
    return 1 + max(int(name.split(".")[2]) for name in weights if name.startswith(prefix))
