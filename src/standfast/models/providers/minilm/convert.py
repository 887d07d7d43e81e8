"""The published weights as an ONNX graph: tokens in, one normalised sentence vector out.

Runs once, after the download. The matrix products work on 8-bit integers; everything else,
the embedding table included, stays in 32-bit floats.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load

from standfast.errors import Incompatible
from standfast.models.local.graph import FLOAT
from standfast.models.local.layers import (
    ROW_MAX_MIN,
    NamedGraph,
    add_first_norm,
    add_layers,
    add_mean,
    add_places,
)

# Goes up whenever the graph changes, so that a cached one is built anew.
VERSION = 1
DIMENSIONS = 384
LAYERS = 6
TABLE = "embeddings.word_embeddings.weight"

TABLE_LEVEL_MAX = 127  # the table is only looked up, never multiplied

Floats = NDArray[np.float32]


def onnx_from_safetensors(content: bytes) -> bytes:
    """The ONNX file for the weights of all-MiniLM-L6-v2; the same bytes each time."""
    try:
        weights = {
            name: np.asarray(value, dtype=np.float32)
            for name, value in load(content).items()
            if value.dtype.kind == "f"
        }
        return onnx_from_weights(weights)
    except (KeyError, ValueError, SafetensorError) as error:
        raise Incompatible(f"model.safetensors is not all-MiniLM-L6-v2: {error}") from error


def onnx_from_weights(weights: Mapping[str, Floats], *, small: bool = False) -> bytes:
    """The same for weights that are arrays already. ``small`` keeps the embedding table as
    8-bit rows too: less than half the file, for weights that were trained so. KeyError: a
    weight is missing."""
    graph = NamedGraph(weights)
    hidden = _encoded(graph, small=small)
    graph.op("LpNormalization", add_mean(graph, hidden), axis=1, p=2, output="embedding")
    inputs = ("input_ids", "attention_mask")
    return graph.file("minilm", inputs, "embedding", ["texts", DIMENSIONS], VERSION)


def onnx_of_reader(weights: Mapping[str, Floats]) -> bytes:
    """For weights that read two texts at once: tokens and the side of each in, one number for each
    row of the weights ``head`` out."""
    graph = NamedGraph(weights)
    hidden = _encoded(graph, small=True, sides=True)
    head = graph.constant("head", np.ascontiguousarray(weights["head.weight"].T))
    product = graph.op("MatMul", add_mean(graph, hidden), head)
    graph.op("Add", product, graph.weight("head.bias"), output="answers")
    inputs = ("input_ids", "attention_mask", "token_type_ids")
    return graph.file("reader", inputs, "answers", ["texts", len(weights["head.weight"])], VERSION)


def _encoded(graph: NamedGraph, *, small: bool, sides: bool = False) -> str:
    words = _words_small(graph) if small else _words(graph)
    return add_layers(graph, _embeddings(graph, words, sides=sides), LAYERS)


def _words(graph: NamedGraph) -> str:
    return graph.op("Gather", graph.weight(TABLE), "input_ids")


def _words_small(graph: NamedGraph) -> str:
    levels, steps = table_rows(graph.weights[TABLE])
    found = graph.op("Gather", graph.constant(TABLE, levels, np.int8), "input_ids")
    step = graph.op("Gather", graph.constant(TABLE + ".steps", steps), "input_ids")
    return graph.op("Mul", graph.op("Cast", found, to=FLOAT), step)


def table_rows(table: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Integer levels and one step size per word, as a column. Rounding twice changes nothing."""
    largest = np.abs(table).max(axis=1, keepdims=True)
    steps = (np.maximum(largest, np.float32(ROW_MAX_MIN)) / TABLE_LEVEL_MAX).astype(np.float32)
    return np.rint(table / steps).astype(np.int8), steps


def _embeddings(graph: NamedGraph, words: str, *, sides: bool = False) -> str:
    """Where there are no sides all tokens are of type 0."""
    added = add_places(graph, words, kind=not sides)
    if sides:
        kinds = graph.weights["embeddings.token_type_embeddings.weight"]
        side = graph.op("Gather", graph.constant("sides", kinds), "token_type_ids")
        added = graph.op("Add", added, side)
    return add_first_norm(graph, added)
