"""The published weights as an ONNX graph: tokens in, one normalised sentence vector out.

Runs once, after the download. The matrix products work on 8-bit integers; everything else,
the embedding table included, stays in 32-bit floats.

The usual dynamic quantisation takes one scale for all activations of a batch, so that a text's
vector would depend on its neighbours. Here every token has its own scale: the same text gives
the same vector alone and in any company.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load

from standfast.errors import Incompatible
from standfast.models.providers.minilm.graph import FLOAT, INT32, Graph

# Goes up whenever the graph changes, so that a cached one is built anew.
VERSION = 1
DIMENSIONS = 384
LAYERS = 6
HEADS = 12
TABLE = "embeddings.word_embeddings.weight"

# 7 bits: on processors without VNNI two products are added in 16 bits, and 2 * 255 * 64 is the
# most that fits. With 127 such processors would silently saturate.
WEIGHT_LEVEL_MAX = 64
TABLE_LEVEL_MAX = 127  # the table is only looked up, never multiplied
ACTIVATION_LEVEL_MAX = 127
ACTIVATION_ZERO = 128
# GELU never goes below this, so its output is stored from here upwards with all 8 bits.
GELU_FLOOR = -0.17
SHIFTED_LEVEL_MAX = 255
# Of a row of zeros: any scale will do, except zero.
ROW_MAX_MIN = 1e-8

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
    graph = _Graph(weights)
    hidden = _encoded(graph, small=small)
    graph.op("LpNormalization", _mean(graph, hidden), axis=1, p=2, output="embedding")
    inputs = ("input_ids", "attention_mask")
    return graph.file("minilm", inputs, "embedding", DIMENSIONS, VERSION)


def onnx_of_reader(weights: Mapping[str, Floats]) -> bytes:
    """For weights that read two texts at once: tokens and the side of each in, one number for each
    row of the weights ``head`` out."""
    graph = _Graph(weights)
    hidden = _encoded(graph, small=True, sides=True)
    head = graph.constant("head", np.ascontiguousarray(weights["head.weight"].T))
    product = graph.op("MatMul", _mean(graph, hidden), head)
    graph.op("Add", product, graph.weight("head.bias"), output="answers")
    inputs = ("input_ids", "attention_mask", "token_type_ids")
    return graph.file("reader", inputs, "answers", len(weights["head.weight"]), VERSION)


def _encoded(graph: _Graph, *, small: bool, sides: bool = False) -> str:
    mask = graph.op("Cast", "attention_mask", to=INT32)
    words = _words_small(graph) if small else _words(graph)
    hidden = _embeddings(graph, words, sides=sides)
    for layer in range(LAYERS):
        prefix = f"encoder.layer.{layer}."
        hidden = _attention(graph, hidden, mask, prefix + "attention.")
        hidden = _feed_forward(graph, hidden, prefix)
    return hidden


class _Graph(Graph):
    """A graph that knows the published weights by their names."""

    def __init__(self, weights: Mapping[str, Floats]) -> None:
        super().__init__()
        self.weights = weights

    def weight(self, name: str) -> str:
        return self.constant(name, self.weights[name])


def _words(graph: _Graph) -> str:
    return graph.op("Gather", graph.weight(TABLE), "input_ids")


def _words_small(graph: _Graph) -> str:
    levels, steps = table_rows(graph.weights[TABLE])
    found = graph.op("Gather", graph.constant(TABLE, levels, np.int8), "input_ids")
    step = graph.op("Gather", graph.constant(TABLE + ".steps", steps), "input_ids")
    return graph.op("Mul", graph.op("Cast", found, to=FLOAT), step)


def table_rows(table: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Integer levels and one step size per word, as a column. Rounding twice changes nothing."""
    largest = np.abs(table).max(axis=1, keepdims=True)
    steps = (np.maximum(largest, np.float32(ROW_MAX_MIN)) / TABLE_LEVEL_MAX).astype(np.float32)
    return np.rint(table / steps).astype(np.int8), steps


def _embeddings(graph: _Graph, words: str, *, sides: bool = False) -> str:
    """Word + position + type, normalised. Where there are no sides all tokens are of type 0, so it
    joins the positions."""
    prefix = "embeddings."
    kinds = graph.weights[prefix + "token_type_embeddings.weight"]
    places = graph.constant(
        "positions", graph.weights[prefix + "position_embeddings.weight"] + (not sides) * kinds[0]
    )
    start = graph.constant("start", [0], np.int64)
    length = graph.op("Shape", "input_ids", start=1, end=2)
    added = graph.op("Add", words, graph.op("Slice", places, start, length, start))
    if sides:
        side = graph.op("Gather", graph.constant("sides", kinds), "token_type_ids")
        added = graph.op("Add", added, side)
    return graph.op(
        "LayerNormalization",
        added,
        graph.weight(prefix + "LayerNorm.weight"),
        graph.weight(prefix + "LayerNorm.bias"),
        axis=-1,
        epsilon=1e-12,
    )


def _attention(graph: _Graph, hidden: str, mask: str, prefix: str) -> str:
    rows = _rows_around_zero(graph, hidden)
    query, key, value = (
        graph.op(
            "Add",
            _product(graph, rows, f"{prefix}self.{part}"),
            graph.weight(f"{prefix}self.{part}.bias"),
        )
        for part in ("query", "key", "value")
    )
    mixed = graph.contrib("MultiHeadAttention", query, key, value, "", mask, num_heads=HEADS)
    name = prefix + "output.dense"
    product = _product(graph, _rows_around_zero(graph, mixed), name)
    return _residual(graph, product, hidden, graph.weight(name + ".bias"), prefix)


def _feed_forward(graph: _Graph, hidden: str, prefix: str) -> str:
    name = prefix + "intermediate.dense"
    wide = _product(graph, _rows_around_zero(graph, hidden), name)
    active = graph.contrib("BiasGelu", wide, graph.weight(name + ".bias"))
    name = prefix + "output.dense"
    product = _product(graph, _rows_above_floor(graph, active), name)
    bias = graph.constant(name + ".bias", graph.weights[name + ".bias"] + _floor_part(graph, name))
    return _residual(graph, product, hidden, bias, prefix)


def _residual(graph: _Graph, product: str, hidden: str, bias: str, prefix: str) -> str:
    return graph.contrib(
        "SkipLayerNormalization",
        product,
        hidden,
        graph.weight(prefix + "output.LayerNorm.weight"),
        graph.weight(prefix + "output.LayerNorm.bias"),
        bias,
        epsilon=1e-12,
    )


Rows = tuple[str, str, str]  # 8-bit values, which of them means zero, the scale of each row


def _rows_around_zero(graph: _Graph, value: str) -> Rows:
    """Each row in -127..127 of its own largest amount."""
    zero = graph.constant("zero_at_128", ACTIVATION_ZERO, np.uint8)
    return _rows(graph, value, graph.op("Abs", value), ACTIVATION_LEVEL_MAX, zero)


def _rows_above_floor(graph: _Graph, value: str) -> Rows:
    """Each row in 0..255, where 0 is GELU's lowest value; ``_floor_part`` makes up for it."""
    lifted = graph.op("Sub", value, graph.constant("gelu_floor", GELU_FLOOR))
    zero = graph.constant("zero_at_0", 0, np.uint8)
    return _rows(graph, lifted, lifted, SHIFTED_LEVEL_MAX, zero)


def _rows(graph: _Graph, value: str, amounts: str, levels: int, zero: str) -> Rows:
    last_axis = graph.constant("last_axis", [-1], np.int64)
    largest = graph.op("ReduceMax", amounts, last_axis, keepdims=1)
    largest = graph.op("Max", largest, graph.constant("row_max_min", ROW_MAX_MIN))
    steps = graph.op("Div", graph.constant(f"levels_{levels}", levels), largest)
    scaled = graph.op("Mul", value, steps)
    quantised = graph.op("QuantizeLinear", scaled, graph.constant("one", 1), zero)
    scale = graph.op("Mul", largest, graph.constant(f"one_of_{levels}", 1 / levels))
    return quantised, zero, scale


def _product(graph: _Graph, rows: Rows, name: str) -> str:
    """rows @ weights, without the bias. The row scales are multiplied in afterwards, because
    the integer product knows only one scale for all rows."""
    quantised, zero, scale = rows
    levels, steps = weight_rows(graph.weights[name + ".weight"])
    product = graph.contrib(
        "MatMulIntegerToFloat",
        quantised,
        graph.constant(name + ".levels", levels, np.int8),
        graph.constant("one", 1),
        graph.constant(name + ".steps", steps),
        zero,
    )
    return graph.op("Mul", product, scale)


def weight_rows(weight: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Integer levels (in x out) and one step size per output channel."""
    steps = np.maximum(np.abs(weight).max(axis=1), np.float32(ROW_MAX_MIN)) / WEIGHT_LEVEL_MAX
    levels = np.rint(weight.T / steps).astype(np.int8)
    return levels, steps.astype(np.float32)


def _floor_part(graph: _Graph, name: str) -> Floats:
    """What the product misses because its rows were lifted by GELU_FLOOR."""
    levels, steps = weight_rows(graph.weights[name + ".weight"])
    return np.asarray(GELU_FLOOR * levels.sum(axis=0, dtype=np.int64) * steps, dtype=np.float32)


def _mean(graph: _Graph, hidden: str) -> str:
    """Over real tokens."""
    counts = graph.op("Cast", "attention_mask", to=FLOAT)
    tokens = graph.constant("token_axis", [1], np.int64)
    column = graph.op("Unsqueeze", counts, graph.constant("last_axis", [-1], np.int64))
    total = graph.op("ReduceSum", graph.op("Mul", hidden, column), tokens, keepdims=0)
    return graph.op("Div", total, graph.op("ReduceSum", counts, tokens, keepdims=1))
