"""The layers of a transformer as an ONNX graph whose matrix products work on 8-bit integers.

The usual dynamic quantisation takes one scale for all activations of a batch, so that a text's
vector would depend on its neighbours. Here every token has its own scale: the same text gives
the same vector alone and in any company.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from standfast.models.local.graph import FLOAT, INT32, Graph

HEADS = 12
# 7 bits: on processors without VNNI two products are added in 16 bits, and 2 * 255 * 64 is the
# most that fits. With 127 such processors would silently saturate.
WEIGHT_LEVEL_MAX = 64
ACTIVATION_LEVEL_MAX = 127
ACTIVATION_ZERO = 128
# GELU never goes below this, so its output is stored from here upwards with all 8 bits.
GELU_FLOOR = -0.17
SHIFTED_LEVEL_MAX = 255
# Of a row of zeros: any scale will do, except zero.
ROW_MAX_MIN = 1e-8

Floats = NDArray[np.float32]


class NamedGraph(Graph):
    """A graph that knows the published weights by their names."""

    def __init__(self, weights: Mapping[str, Floats]) -> None:
        super().__init__()
        self.weights = weights

    def weight(self, name: str) -> str:
        return self.constant(name, self.weights[name])


def add_layers(graph: NamedGraph, hidden: str, count: int) -> str:
    mask = graph.op("Cast", "attention_mask", to=INT32)
    for layer in range(count):
        prefix = f"encoder.layer.{layer}."
        hidden = _attention(graph, hidden, mask, prefix + "attention.")
        hidden = _feed_forward(graph, hidden, prefix)
    return hidden


def add_places(graph: NamedGraph, words: str, *, kind: bool = True) -> str:
    """Word + position (+ type 0), before the norm. ``words`` is texts x tokens x numbers."""
    prefix = "embeddings."
    table = graph.weights[prefix + "position_embeddings.weight"]
    types = graph.weights[prefix + "token_type_embeddings.weight"]
    places = graph.constant("positions", table + kind * types[0])
    start = graph.constant("start", [0], np.int64)
    length = graph.op("Shape", "attention_mask", start=1, end=2)
    return graph.op("Add", words, graph.op("Slice", places, start, length, start))


def add_first_norm(graph: NamedGraph, added: str) -> str:
    return graph.op(
        "LayerNormalization",
        added,
        graph.weight("embeddings.LayerNorm.weight"),
        graph.weight("embeddings.LayerNorm.bias"),
        axis=-1,
        epsilon=1e-12,
    )


def add_mean(graph: NamedGraph, hidden: str) -> str:
    """Over real tokens."""
    counts = graph.op("Cast", "attention_mask", to=FLOAT)
    tokens = graph.constant("token_axis", [1], np.int64)
    column = graph.op("Unsqueeze", counts, graph.constant("last_axis", [-1], np.int64))
    total = graph.op("ReduceSum", graph.op("Mul", hidden, column), tokens, keepdims=0)
    return graph.op("Div", total, graph.op("ReduceSum", counts, tokens, keepdims=1))


def _attention(graph: NamedGraph, hidden: str, mask: str, prefix: str) -> str:
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


def _feed_forward(graph: NamedGraph, hidden: str, prefix: str) -> str:
    name = prefix + "intermediate.dense"
    wide = _product(graph, _rows_around_zero(graph, hidden), name)
    active = graph.contrib("BiasGelu", wide, graph.weight(name + ".bias"))
    name = prefix + "output.dense"
    product = _product(graph, _rows_above_floor(graph, active), name)
    bias = graph.constant(name + ".bias", graph.weights[name + ".bias"] + _floor_part(graph, name))
    return _residual(graph, product, hidden, bias, prefix)


def _residual(graph: NamedGraph, product: str, hidden: str, bias: str, prefix: str) -> str:
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


def _rows_around_zero(graph: NamedGraph, value: str) -> Rows:
    """Each row in -127..127 of its own largest amount."""
    zero = graph.constant("zero_at_128", ACTIVATION_ZERO, np.uint8)
    return _rows(graph, value, graph.op("Abs", value), ACTIVATION_LEVEL_MAX, zero)


def _rows_above_floor(graph: NamedGraph, value: str) -> Rows:
    """Each row in 0..255, where 0 is GELU's lowest value; ``_floor_part`` makes up for it."""
    lifted = graph.op("Sub", value, graph.constant("gelu_floor", GELU_FLOOR))
    zero = graph.constant("zero_at_0", 0, np.uint8)
    return _rows(graph, lifted, lifted, SHIFTED_LEVEL_MAX, zero)


def _rows(graph: NamedGraph, value: str, amounts: str, levels: int, zero: str) -> Rows:
    last_axis = graph.constant("last_axis", [-1], np.int64)
    largest = graph.op("ReduceMax", amounts, last_axis, keepdims=1)
    largest = graph.op("Max", largest, graph.constant("row_max_min", ROW_MAX_MIN))
    steps = graph.op("Div", graph.constant(f"levels_{levels}", levels), largest)
    scaled = graph.op("Mul", value, steps)
    quantised = graph.op("QuantizeLinear", scaled, graph.constant("one", 1), zero)
    scale = graph.op("Mul", largest, graph.constant(f"one_of_{levels}", 1 / levels))
    return quantised, zero, scale


def _product(graph: NamedGraph, rows: Rows, name: str) -> str:
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


def _floor_part(graph: NamedGraph, name: str) -> Floats:
    """What the product misses because its rows were lifted by GELU_FLOOR."""
    levels, steps = weight_rows(graph.weights[name + ".weight"])
    return np.asarray(GELU_FLOOR * levels.sum(axis=0, dtype=np.int64) * steps, dtype=np.float32)
